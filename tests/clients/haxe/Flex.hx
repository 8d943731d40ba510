/*
 * A Flash program that does by hand what Flex does: it puts messages into packets, posts these, and says what came back.
 * The messages are of classes with aliases, written and read by the player (ByteArray.writeObject and readObject).  It
 * says nowhere that it reads small messages, and could not.
 *
 * FlashVars, ExternalInterface and values are those of Main.hx.  Messages are described as {"message": class, …} with
 * their members.
 */
import flash.Lib;
import flash.errors.Error;
import flash.events.Event;
import flash.events.IOErrorEvent;
import flash.external.ExternalInterface;
import flash.net.ObjectEncoding;
import flash.net.URLLoader;
import flash.net.URLLoaderDataFormat;
import flash.net.URLRequest;
import flash.net.URLRequestMethod;
import flash.utils.ByteArray;

@:keep class Message {
	public var body:Dynamic;
	public var clientId:String;
	public var destination:String;
	public var headers:Dynamic = {};
	public var messageId:String;
	public var timestamp:Float = 0;
	public var timeToLive:Float = 0;

	public function new() {}
}

@:keep class CommandMessage extends Message {
	public var correlationId:String;
	public var operation:Int;
}

@:keep class RemotingMessage extends Message {
	public var operation:String;
	public var source:String;
}

@:keep class AcknowledgeMessage extends Message {
	public var correlationId:String;
}

@:keep class ErrorMessage extends AcknowledgeMessage {
	public var faultCode:String;
	public var faultString:String;
	public var faultDetail:String;
	public var rootCause:Dynamic;
	public var extendedData:Dynamic;
}

/* A call that is no message. */
class Plain {
	public var target:String;
	public var arguments:Array<Dynamic>;

	public function new(target:String, arguments:Array<Dynamic>) {
		this.target = target;
		this.arguments = arguments;
	}
}

@:access(Main.describe)
class Flex {
	static var url:String;
	static var id = "nil"; // this client's, as the server gives it
	static var sent = 0;
	static var steps:Array<Void->Void> = [];

	static function main() {
		url = Lib.current.loaderInfo.parameters.gateway;
		var classes:Array<Dynamic> = [CommandMessage, RemotingMessage, AcknowledgeMessage, ErrorMessage];
		for (one in classes)
			alias("flex.messaging.messages." + Type.getClassName(one), one);
		alias("shop.Point", Main.Point);

		step("ping", [command(5)]);
		step("add", [remoting("probe", "add", [2, 3])]);
		step("point", [remoting("probe", "take", ["point", new Main.Point(3, "up")])]);
		step("points", [remoting("probe", "take", ["points", [new Main.Point(1, 2), {name: "Ada", tags: ["x"]}]])]);
		step("source", [remoting("anything", "add", [4, 5], "probe")]);
		step("fault", [remoting("probe", "fail", ["card expired"])]);
		step("unknown", [remoting("probe", "nothing", [])]);
		step("subscribe", [command(0, "news")]);
		step("several", [
			command(5),
			remoting("probe", "take", ["several", 1]),
			remoting("probe", "nothing", []),
			remoting("probe", "take", ["several again", 2])
		]);
		step("mixed", [new Plain("probe.add", [6, 7]), remoting("probe", "add", [8, 9])]);
		step("vault.nobody", [remoting("vault", "open", [])]);
		step("visits.first", [remoting("visits", "count", [])]);
		step("login", [command(8, "auth", "YWRhOmxvdmVsYWNl")]); // ada:lovelace
		step("vault.ada", [remoting("vault", "open", [])]);
		step("visits.second", [remoting("visits", "count", [])]);
		step("logout", [command(9, "auth")]);
		step("vault.logged out", [remoting("vault", "open", [])]);
		step("disconnect", [command(12)]);
		next();
	}

	static function alias(name:String, type:Dynamic) {
		(untyped __global__["flash.net.registerClassAlias"])(name, type);
	}

	static function command(operation:Int, destination = "", body:Dynamic = null):Message {
		var message = new CommandMessage();
		message.operation = operation;
		return fill(message, destination, body);
	}

	static function remoting(destination:String, operation:String, arguments:Array<Dynamic>, source:String = null):Message {
		var message = new RemotingMessage();
		message.operation = operation;
		message.source = source;
		return fill(message, destination, arguments);
	}

	// Ids need not be random for a program that is alone; they have to have the form of one.
	static function fill(message:Message, destination:String, body:Dynamic):Message {
		message.destination = destination;
		message.body = body;
		message.messageId = "00000000-0000-4000-8000-" + StringTools.hex(++sent, 12);
		return message;
	}

	/* ---- packets ---- */

	static function step(name:String, calls:Array<Dynamic>) {
		steps.push(function() post(calls, function(outcome:Dynamic) {
			ExternalInterface.call("report", name, haxe.Json.stringify(outcome));
			next();
		}));
	}

	static function next() {
		if (steps.length > 0)
			steps.shift()();
		else
			ExternalInterface.call("done");
	}

	static function post(calls:Array<Dynamic>, end:Dynamic->Void) {
		var packet = new ByteArray();
		packet.objectEncoding = ObjectEncoding.AMF3;
		for (word in [3, 0, calls.length])
			packet.writeShort(word);
		for (i in 0...calls.length) {
			var plain = Std.isOfType(calls[i], Plain);
			if (!plain)
				calls[i].headers = {DSId: id};
			packet.writeUTF(plain ? calls[i].target : "null");
			packet.writeUTF("/" + (i + 1));
			packet.writeInt(-1); // length unknown
			packet.writeByte(0x0A);
			var arguments:Array<Dynamic> = plain ? calls[i].arguments : [calls[i]];
			packet.writeInt(arguments.length);
			for (argument in arguments) {
				packet.writeByte(0x11);
				packet.writeObject(argument);
			}
		}
		var request = new URLRequest(url);
		request.method = URLRequestMethod.POST;
		request.contentType = "application/x-amf";
		request.data = packet;
		var loader = new URLLoader();
		loader.dataFormat = URLLoaderDataFormat.BINARY;
		loader.addEventListener(IOErrorEvent.IO_ERROR, function(event:IOErrorEvent) end({status: event.text}));
		loader.addEventListener(Event.COMPLETE, function(_) end(read(loader.data)));
		loader.load(request);
	}

	static function read(reply:ByteArray):Dynamic {
		try {
			reply.position = 2; // behind the version
			for (_ in 0...reply.readUnsignedShort()) {
				reply.readUTF();
				reply.readByte();
				var length = reply.readInt();
				reply.position += length;
			}
			var bodies:Array<Dynamic> = [];
			for (_ in 0...reply.readUnsignedShort()) {
				var target = reply.readUTF();
				reply.readUTF();
				var length = reply.readInt();
				var start:Int = reply.position;
				reply.objectEncoding = ObjectEncoding.AMF0;
				if (reply[start] == 0x11) {
					reply.position++;
					reply.objectEncoding = ObjectEncoding.AMF3;
				}
				var value:Dynamic = reply.readObject();
				if ((reply.position : Int) != start + length)
					return {status: "the value ends at " + reply.position + ", not at " + (start + length)};
				if (id == "nil" && Std.isOfType(value, AcknowledgeMessage) && value.headers.DSId != null)
					id = value.headers.DSId;
				bodies.push({target: target, value: describe(value)});
			}
			return {result: bodies};
		} catch (error:Error) {
			return {error: error.message};
		}
	}

	static function describe(message:Dynamic):Dynamic {
		if (!Std.isOfType(message, AcknowledgeMessage))
			return Main.describe(message, []);
		var all:Dynamic = {message: Type.getClassName(Type.getClass(message))};
		for (name in Type.getInstanceFields(Type.getClass(message)))
			Reflect.setField(all, name, Main.describe(Reflect.field(message, name), []));
		return all;
	}
}
