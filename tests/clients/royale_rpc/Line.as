package
{
[RemoteClass(alias="shop.Line")]
public class Line
{
    public var sku:String;
    public var quantity:int;
    public var unitPrice:Number;
    public var order:Order;

    public function Line(sku:String = null, quantity:int = 0, unitPrice:Number = 0, order:Order = null)
    {
        this.sku = sku;
        this.quantity = quantity;
        this.unitPrice = unitPrice;
        this.order = order;
    }
}
}
