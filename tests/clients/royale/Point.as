package
{
public class Point
{
    public var x:Number;
    public var y:Number;
}
}
