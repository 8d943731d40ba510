package
{
import mx.collections.ArrayCollection;
import mx.collections.ArrayList;
import mx.messaging.ChannelSet;
import mx.messaging.RoyaleClient;
import mx.messaging.channels.AMFChannel;
import mx.messaging.events.ChannelEvent;
import mx.messaging.events.ChannelFaultEvent;
import mx.messaging.messages.ErrorMessage;
import mx.rpc.AsyncToken;
import mx.rpc.Responder;
import mx.rpc.events.FaultEvent;
import mx.rpc.events.ResultEvent;
import mx.rpc.remoting.RemoteObject;
import org.apache.royale.net.remoting.amf.AMFBinaryData;
import org.apache.royale.reflection.getQualifiedClassName;
import org.apache.royale.reflection.registerClassAlias;

/**
 * The cases of the tests, one after another.  The page keeps what came of each (window.report) and describes values.
 */
public class Calls
{
    private var waiting:Array = [];
    private var main:ChannelSet = channels("/amf");

    public function start():void
    {
        registerClassAlias("shop.Point", Point);
        const probe:RemoteObject = remote("probe", main);
        const shop:RemoteObject = remote("shop", main);

        step("ping", function (end:Function):void
        {
            main.addEventListener(ChannelEvent.CONNECT, function (event:ChannelEvent):void
            {
                const channel:AMFChannel = event.channel as AMFChannel;
                window["report"]("connected", "result", {
                    id: RoyaleClient.getInstance().id,
                    smallMessages: channel.useSmallMessages
                });
            });
            call(probe, "add", [2, 3], end);
        });
        for each (var pair:Array in values())
            add(pair[0], probe, "take", [pair[0], pair[1]]);

        add("shop.place", shop, "place", [order()]);
        add("shop.ring", shop, "ring", [order()]);
        add("shop.wrong", shop, "place", [wrongOrder()]);
        add("shop.greet", shop, "greet", [customer()]);
        for each (var method:String in ["orders", "page", "nested", "search", "customer"])
            add("shop." + method, shop, method, []);
        add("shop.source", remote("anything", main, "shop"), "orders", []);

        step("fault", function (end:Function):void { fault(probe, "fail", ["no credit"], end); });
        step("fault.objects", function (end:Function):void { fault(shop, "decline", [], end); });
        step("fault.crash", function (end:Function):void { fault(probe, "crash", [], end); });
        step("fault.unknown", function (end:Function):void { fault(probe, "nothing", [], end); });
        step("fault.few", function (end:Function):void { fault(probe, "add", [1], end); });
        add("fault.after", probe, "add", [3, 4]);

        step("acknowledgement", function (end:Function):void
        {
            const token:AsyncToken = send(probe, "add", [1, 2]);
            token.addResponder(new Responder(
                function (event:ResultEvent):void
                {
                    end("result", {
                        message: getQualifiedClassName(event.message),
                        correlates: event.message["correlationId"] == token.message.messageId,
                        clientId: event.message.clientId
                    });
                },
                function (event:FaultEvent):void { end("fault", event.fault); }));
        });
        step("at once", function (end:Function):void
        {
            const results:Array = [];
            for each (var number:int in [10, 20, 30])
                call(probe, "add", [number, 1], function (outcome:String, value:*):void
                {
                    results.push(value);
                    if (results.length == 3)
                        end("result", results.sort());
                });
        });
        add("second channel", remote("probe", channels("/amf2")), "take", ["second channel", 1]);
        const other:RemoteObject = new RemoteObject("probe");
        other.endpoint = "/amf2";
        add("endpoint", other, "take", ["endpoint", 1]);
        failover("failover", "/gone", "/busy", "/amf2");
        failover("all dead", "/gone", "/busy");
        disconnecting();
        const headers:RemoteObject = remote("headers", main);
        add("append to url", headers, "append", []);
        add("after the header", probe, "take", ["after the header", 1]);
        add("header", headers, "persistent", []);
        new Logins(this, main).add();
        next();
    }

    /** As they are sent by probe.take(case, value), which keeps the value and returns it. */
    private function values():Array
    {
        const bytes:AMFBinaryData = new AMFBinaryData();
        for each (var byte:int in [0, 1, 127, 128, 255])
            bytes.writeByte(byte);
        const point:Point = new Point();
        point.x = 3;
        point.y = 4;
        return [
            ["int", 7], ["double", 1.5], ["true", true], ["null", null], ["undefined", undefined],
            ["string", "grüße ✓ 🎈"], ["array", [1, "two", null]], ["object", {name: "Ada"}],
            ["date", new Date(1000000000000)], ["bytes", bytes], ["point", point], ["customer", customer()],
            ["order", order()], ["collection", new ArrayCollection([1, "two", point])],
            ["list", new ArrayList(["a", "b"])],
            ["collections", new ArrayCollection([new ArrayCollection([1]), new ArrayCollection()])]
        ];
    }

    private function customer():Customer
    {
        const customer:Customer = new Customer();
        customer.firstName = "Ada";
        customer.bornIn = 1815;
        return customer;
    }

    private function order():Order
    {
        const order:Order = new Order();
        order.id = 7;
        order.customer = customer();
        order.placed = new Date(1000000000000);
        order.lines = new ArrayCollection([new Line("tea", 2, 3.5, order), new Line("cup", 1, 8, order)]);
        return order;
    }

    private function wrongOrder():Order
    {
        const wrong:Order = order();
        wrong.lines.getItemAt(1).sku = null;
        return wrong;
    }

    /** A set whose first channels do not connect: which of them faulted, and what came of the call. */
    private function failover(name:String, ...endpoints:Array):void
    {
        step(name, function (end:Function):void
        {
            const faults:Array = [];
            const all:ChannelSet = channels.apply(null, endpoints);
            all.addEventListener(ChannelFaultEvent.FAULT, function (event:ChannelFaultEvent):void
            {
                faults.push(event.channelId + " " + event.faultCode);
            });
            call(remote("probe", all), "take", [name, 1], function (outcome:String, value:*):void
            {
                const code:* = outcome == "fault" ? value.faultCode : value;
                end(outcome, {faults: faults, value: code});
            });
        });
    }

    /** The last one leaves, and comes again. */
    private function disconnecting():void
    {
        step("disconnect", function (end:Function):void
        {
            const other:ChannelSet = channels("/amf2");
            const service:RemoteObject = remote("probe", other);
            call(service, "take", ["before disconnect", 1], function (outcome:String, value:*):void
            {
                other.disconnectAll();
                const connected:Boolean = other.connected;
                call(service, "take", ["after disconnect", 2], function (outcome:String, value:*):void
                {
                    end(outcome, {connected: connected, value: value});
                });
            });
        });
    }

    /* ---- what the cases are made of ---- */

    public function channels(...endpoints:Array):ChannelSet
    {
        const all:ChannelSet = new ChannelSet();
        for each (var endpoint:String in endpoints)
            all.addChannel(new AMFChannel(endpoint, endpoint));
        return all;
    }

    public function remote(destination:String, channels:ChannelSet, source:String = null):RemoteObject
    {
        const service:RemoteObject = new RemoteObject(destination);
        service.channelSet = channels;
        service.source = source;
        return service;
    }

    public function send(service:RemoteObject, method:String, parameters:Array):AsyncToken
    {
        return service.getOperation(method).send.apply(service.getOperation(method), parameters);
    }

    /** end("result", value) or end("fault", an mx.rpc.Fault). */
    public function call(service:RemoteObject, method:String, parameters:Array, end:Function):void
    {
        answer(send(service, method, parameters), end);
    }

    public function answer(token:AsyncToken, end:Function):void
    {
        token.addResponder(new Responder(
            function (event:ResultEvent):void { end("result", event.result); },
            function (event:FaultEvent):void { end("fault", event.fault); }));
    }

    /** All that a program sees of a fault. */
    private function fault(service:RemoteObject, method:String, parameters:Array, end:Function):void
    {
        const token:AsyncToken = send(service, method, parameters);
        token.addResponder(new Responder(
            function (event:ResultEvent):void { end("result", event.result); },
            function (event:FaultEvent):void
            {
                const message:ErrorMessage = event.message as ErrorMessage;
                end("fault", {
                    code: event.fault.faultCode,
                    string: event.fault.faultString,
                    detail: event.fault.faultDetail,
                    rootCause: event.fault.rootCause,
                    extendedData: message.extendedData,
                    correlates: message.correlationId == token.message.messageId
                });
            }));
    }

    public function step(name:String, run:Function):void
    {
        waiting.push(function ():void
        {
            run(function (outcome:String, value:*):void
            {
                window["report"](name, outcome, value);
                next();
            });
        });
    }

    public function add(name:String, service:RemoteObject, method:String, parameters:Array):void
    {
        step(name, function (end:Function):void
        {
            call(service, method, parameters, function (outcome:String, value:*):void
            {
                end(outcome, outcome == "fault" ? value.faultCode + ": " + value.faultString : value);
            });
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
