package
{
import org.apache.royale.net.Responder;
import org.apache.royale.net.SimpleRemoteObject;
import org.apache.royale.net.remoting.amf.AMF0NetConnection;
import org.apache.royale.net.remoting.amf.AMFBinaryData;
import org.apache.royale.net.events.FaultEvent;
import org.apache.royale.net.events.ResultEvent;
import org.apache.royale.reflection.registerClassAlias;

/**
 * The calls of the tests, one after another; the page keeps what came of each (window.report) and describes values.
 */
public class Calls
{
    private var waiting:Array = [];

    public function start():void
    {
        registerClassAlias("shop.Point", Point);
        const page:Object = window;
        for each (var encoding:int in [0, 3])
        {
            const connection:AMF0NetConnection = new AMF0NetConnection();
            connection.objectEncoding = encoding;
            connection.connect(page["gateway"]);
            const name:String = "amf" + encoding + ".";
            for each (var pair:Array in values())
                add(connection, name + pair[0], "probe.take", [name + pair[0], pair[1]]);
            for each (var method:String in page["give"])
                add(connection, name + "give." + method, "give." + method, []);
            add(connection, name + "add", "probe.add", [2, 3]);
            add(connection, name + "slash", "probe/add", [2, 3]);
            add(connection, name + "fault", "probe.fail", ["no credit"]);
            add(connection, name + "unexpected", "probe.crash", []);
            add(connection, name + "unknown", "probe.nothing", []);
            add(connection, name + "few", "probe.add", [1]);
        }
        const user:AMF0NetConnection = new AMF0NetConnection();
        user.objectEncoding = 0;
        user.connect(page["gateway"]);
        user.addHeader("Credentials", false, {userid: "ada", password: "lovelace"});
        add(user, "credentials", "vault.open", []);
        next();
    }

    private function values():Array
    {
        const point:Point = new Point();
        point.x = 3;
        point.y = 4;
        const bytes:AMFBinaryData = new AMFBinaryData();
        for each (var byte:int in [0, 1, 127, 128, 255])
            bytes.writeByte(byte);
        const row:Object = {n: 1};
        const hole:Array = [1, 2];
        hole[3] = 4;
        const named:Array = [1, 2];
        named["color"] = "red";
        return [
            ["int", 7], ["negative", -1], ["beyond29", 268435456], ["double", 1.5], ["nan", NaN],
            ["true", true], ["false", false], ["null", null], ["undefined", undefined],
            ["string", "grüße ✓ 🎈"], ["empty string", ""], ["array", [1, "two", null, true]], ["empty array", []],
            ["nested arrays", [[1, 2], [3], []]], ["hole", hole], ["associative array", named],
            ["object", {name: "Ada", tags: ["x", "y"], born: {year: 1815}}], ["empty object", {}],
            ["date", new Date(1000000000000)], ["point", point], ["twice", [row, row]], ["bytes", bytes]
        ];
    }

    private function add(connection:AMF0NetConnection, name:String, target:String, parameters:Array):void
    {
        waiting.push(function():void
        {
            const responder:Responder = new Responder(
                function (value:*):void { window["report"](name, "result", value); next(); },
                function (fault:*):void { window["report"](name, "fault", fault); next(); });
            connection.call.apply(connection, [target, responder].concat(parameters));
        });
    }

    private function next():void
    {
        if (waiting.length)
            waiting.shift()();
        else
            window["done"]();
    }
}
}
