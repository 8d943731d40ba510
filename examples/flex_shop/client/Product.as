package
{
[RemoteClass(alias="shop.Product")]
public class Product
{
    public var id:int;
    public var name:String;
    public var unitPrice:Number;
    public var selected:Boolean; // of the view: the server knows no such member
}
}
