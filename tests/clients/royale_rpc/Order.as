package
{
import mx.collections.ArrayCollection;

[RemoteClass(alias="shop.Order")]
public class Order
{
    public var id:int;
    public var customer:Customer;
    public var placed:Date;
    public var lines:ArrayCollection;
    public var selected:Boolean = true;  // of the view: the server knows no such member
}
}
