package
{
[RemoteClass(alias="shop.Customer")]
[Bindable]
public class Customer
{
    public var firstName:String;
    public var bornIn:int;
}
}
