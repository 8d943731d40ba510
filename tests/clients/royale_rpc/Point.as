package
{
/** Has no [RemoteClass]: its alias is registered by the program. */
public class Point
{
    public var x:Number;
    public var y:Number;
}
}
