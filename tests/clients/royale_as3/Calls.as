package
{
import com.example.Color;
import com.example.Item;
import com.example.Line;
import com.example.orders.Order;

import mx.rpc.AsyncToken;
import mx.rpc.Responder;
import mx.rpc.events.FaultEvent;
import mx.rpc.events.ResultEvent;

import org.apache.royale.reflection.getQualifiedClassName;
import org.apache.royale.utils.BinaryData;

/**
 * Calls each method of the generated proxy with generated value objects, one after another, and reports what came.
 * Types are checked here, by the compiler and by `is`.
 */
public class Calls
{
    private var service:OrdersService;
    private var waiting:Array = [];

    public function start():void
    {
        service = new OrdersService(window["gateway"]);
        const line:Line = new Line();
        line.id = 7;
        line.unitPrice = 2.5;
        line.quantity = 2;
        line.rating = 4.5;
        line.color = Color.default_;
        const order:Order = new Order();
        order.number = 4294967296;
        order.day = new Date(Date.UTC(2026, 2, 1));
        order.lines.push(line);
        order.first = line;
        order.note = new BinaryData();
        order.note.writeByte(255);
        waiting = [
            ["save", function ():AsyncToken { return service.save(order, Color.RED); }, ofOrder],
            ["unset", function ():AsyncToken { return service.save(new Order()); }, ofOrder],
            ["page", function ():AsyncToken { return service.page(1); }, ofLines],
            ["page of two", function ():AsyncToken { return service.page(1, 2, true); }, ofLines],
            ["join", function ():AsyncToken { return service.join("a", "b", "c"); }, asIs],
            ["delete", function ():AsyncToken { return service.delete_(1, new Money()); }, asIs]
        ];
        call();
    }

    private function call():void
    {
        if (!waiting.length)
        {
            window["done"]();
            return;
        }
        const next:Array = waiting.shift();
        const made:Function = next[1];
        const token:AsyncToken = made();
        const describe:Function = next[2];
        token.addResponder(new Responder(
            function (event:ResultEvent):void { window["report"](next[0], "result", describe(event.result)); call(); },
            function (event:FaultEvent):void
            {
                window["report"](next[0], "fault", [event.fault.faultCode, event.fault.faultString]);
                call();
            }));
    }

    private function asIs(value:*):*
    {
        return value;
    }

    private function ofLines(lines:Array):Array
    {
        return lines.map(ofLine);
    }

    private function ofLine(line:Line, index:int, lines:Array):Array
    {
        return [getQualifiedClassName(line), line is Item, line.id, line.name, line.unitPrice, line.rating, line.color];
    }

    private function ofOrder(order:Order):Object
    {
        return {
            order: order is Order, number: order.number, day: order.day, lines: ofLines(order.lines),
            same: order.first === order.lines[0], kind: order.kind, total: order.total, paid: order.paid,
            note: order.note
        };
    }
}
}
