/*
 * The Flash program of the client tests. It calls a gateway in every way that Flash Player's ActionScript 3 can and
 * says what came back. It judges nothing: the literals that count are in test_ruffle.py.
 *
 * FlashVars: `gateway`, the URL to call (with http: in front, else NetConnection is not connected); `give`, a
 * comma-separated list of methods of the service `give` to call.
 * ExternalInterface: `report(case, json)` for each case that has ended, then `done()`. The JSON is one of
 *   {"result": value}    the Responder's result function was called
 *   {"fault": value}     the Responder's status function was called
 *   {"status": code}     no Responder function, but a NetStatusEvent or an IOErrorEvent
 *   {"error": message}   the player raised an error
 *   {"silence": true}    nothing at all within SILENCE milliseconds
 * where value is written by describe(), which keeps apart what JSON alone does not: undefined, NaN, -0, dates, XML,
 * bytes, vectors, dictionaries, classes, and an object that was met before.
 */
import flash.Lib;
import flash.errors.Error;
import flash.events.Event;
import flash.events.IOErrorEvent;
import flash.events.NetStatusEvent;
import flash.external.ExternalInterface;
import flash.net.NetConnection;
import flash.net.ObjectEncoding;
import flash.net.Responder;
import flash.net.URLLoader;
import flash.net.URLLoaderDataFormat;
import flash.net.URLRequest;
import flash.net.URLRequestMethod;
import flash.utils.ByteArray;
import flash.utils.Dictionary;
import flash.xml.XML;

@:keep class Point {
	public var x:Dynamic;
	public var y:Dynamic;

	public function new(x:Dynamic = null, y:Dynamic = null) {
		this.x = x;
		this.y = y;
	}
}

class Main {
	static inline var SILENCE = 10000;

	static var url:String;
	static var steps:Array<Void->Void> = [];
	static var open:Map<String, Int> = []; // case -> timer of its SILENCE

	static function main() {
		var vars:Dynamic = Lib.current.loaderInfo.parameters;
		url = vars.gateway;
		(untyped __global__["flash.net.registerClassAlias"])("shop.Point", Point);
		XML.prettyPrinting = false;

		takes();
		typed();
		takesAmf3();
		var give:String = vars.give;
		for (name in give.split(","))
			step("give." + name, function(end) call(connect(), "give." + name, [], end));
		batch();
		faults();
		credentials();
		headers();
		Lib.current.addEventListener(Event.ENTER_FRAME, frame);
	}

	/* ---- the cases ---- */

	// A value as NetConnection writes it (AMF0). probe.take(case, value) keeps the value and returns it.
	static function takes() {
		var twice:Dynamic = {n: 1};
		var values:Array<Array<Dynamic>> = [
			["int", 7],
			["negative", -1],
			["beyond29", 268435456],
			["double", 1.5],
			["whole double", 4294967296.0],
			["minus zero", -0.0],
			["nan", Math.NaN],
			["infinity", Math.POSITIVE_INFINITY],
			["true", true],
			["false", false],
			["null", null],
			["undefined", untyped __global__["undefined"]],
			["string", "grüße ✓ 🎈"],
			["empty string", ""],
			["long string", longText()],
			["array", ([1, "two", null, true] : Array<Dynamic>)],
			["empty array", []],
			["nested arrays", ([[1, 2], [3], []] : Array<Dynamic>)],
			["hole", holed()],
			["associative array", associative()],
			["object", {name: "Ada", tags: ["x", "y"], born: {year: 1815}}],
			["empty object", {}],
			["array in object in array", [{list: [{deep: [1]}]}]],
			["date", Date.fromTime(1e12)],
			["early date", Date.fromTime(-86400000.0)],
			["xml", new XML("<a b=\"1\"><c>ü</c></a>")],
			["point", new Point(3, 4)],
			["twice", [twice, twice]],
			["bytes", bytes([1, 2, 3])],
			["rows", rows(500)],
		];
		for (pair in values)
			step("amf0." + pair[0], function(end) call(connect(), "probe.take", ["amf0." + pair[0], pair[1]], end));
	}

	// The service annotates its parameter with a class of its own.
	static function typed() {
		step("typed", function(end) call(connect(), "probe.area", [[{width: 3, height: 4}, {width: 1, height: 5}]], end));
	}

	// The same service in a version-3 packet, as Flash Player in AMF3 mode and Flex write it: the argument behind
	// 11, in the bytes of ByteArray.writeObject; the answer is read by ByteArray.readObject. Ruffle's NetConnection
	// never sends version 3, so this program puts the packet around it and posts it by URLLoader.
	// Left out: values that hold themselves. Ruffle's writer knows no object references and overflows its stack.
	static function takesAmf3() {
		var twice:Dynamic = {n: 1};
		var dictionary = new Dictionary();
		untyped dictionary["text"] = 1;
		untyped dictionary[new Point(1, 2)] = "point key";
		var point = new Point(1.5, "up");
		var values:Array<Array<Dynamic>> = [
			["int", 7],
			["negative", -1],
			["least int29", -268435456],
			["beyond29", 268435456],
			["double", 1.5],
			["nan", Math.NaN],
			["true", true],
			["null", null],
			["undefined", untyped __global__["undefined"]],
			["string", "grüße ✓ 🎈"],
			["empty string", ""],
			["array", ([1, "two", null, true] : Array<Dynamic>)],
			["empty array", []],
			["hole", holed()],
			["associative array", associative()],
			["object", {name: "Ada", tags: ["x", "y"], born: {year: 1815}}],
			["date", Date.fromTime(1e12)],
			["xml", new XML("<a b=\"1\"><c>ü</c></a>")],
			["point", point],
			["points", [new Point(1, 2), new Point(3, 4)]],
			["twice", [twice, twice]],
			["text twice", ["again", "again"]],
			["bytes", bytes([0, 1, 127, 128, 255])],
			["vector int", flash.Vector.ofArray([1, -2, 3])],
			["vector uint", uints()],
			["vector double", flash.Vector.ofArray([0.5, -1.5])],
			["vector object", flash.Vector.ofArray([point, point])],
			["dictionary", dictionary],
			["rows", rows(500)],
		];
		for (pair in values)
			step("amf3." + pair[0], function(end) post("probe.take", ["amf3." + pair[0], pair[1]], end));
	}

	// Calls made in one frame share a packet: one of them good, one faulty, one good, and one without a Responder.
	static function batch() {
		steps.push(function() {
			var connection = connect();
			start("batch.first", function(end) call(connection, "probe.take", ["batch.first", 1], end));
			start("batch.second", function(end) call(connection, "probe.nothing", [], end));
			start("batch.third", function(end) call(connection, "probe.take", ["batch.third", 3], end));
			connection.call("probe.take", null, "batch.unanswered", 4);
		});
	}

	static function faults() {
		step("fault.unknown target", function(end) call(connect(), "nobody.here", [], end));
		step("fault.private", function(end) call(connect(), "probe._hidden", [], end));
		step("fault.raised", function(end) {
			var connection = connect();
			call(connection, "probe.fail", ["card expired"], function(outcome) {
				start("fault.after", function(end) call(connection, "probe.add", [1, 2], end));
				end(outcome);
			});
		});
		step("fault.crash", function(end) call(connect(), "probe.crash", [], end));
		step("fault.too few", function(end) call(connect(), "probe.add", [1], end));
		step("fault.too many", function(end) call(connect(), "probe.add", [1, 2, 3], end));
		step("fault.wrong type", function(end) call(connect(), "probe.add", [1, "two"], end));
		step("fault.slash", function(end) call(connect(), "probe/add", [2, 3], end));
		step("fault.http", function(end) {
			var nowhere = connect(url + "/not-there");
			nowhere.addEventListener(NetStatusEvent.NET_STATUS, function(event:NetStatusEvent) end({status: event.info.code}));
			call(nowhere, "probe.add", [2, 3], end);
		});
	}

	static function credentials() {
		step("credentials.none", function(end) call(connect(), "vault.open", [], end));
		step("credentials.good", function(end) call(login("ada", "lovelace"), "vault.open", [], end));
		step("credentials.wrong", function(end) call(login("ada", "wrong"), "vault.open", [], end));
		step("credentials.other role", function(end) call(login("bob", "builder"), "vault.open", [], end));
	}

	// A reply's header may change what its connection does next: the second call shows whether it did.
	static function headers() {
		var connection = connect();
		step("headers.append to url", function(end) call(connection, "headers.append_to_url", [], function(outcome) {
			start("headers.after", function(end) call(connection, "probe.take", ["headers.after", 1], end));
			end(outcome);
		}));
	}

	/* ---- running them ---- */

	// One case per frame, and nobody waits for the answer of the last one. Nearly every call has a connection of its
	// own and with it a packet of its own: Ruffle lets several frames pass before it sends anything.
	static function step(name:String, run:(Dynamic->Void)->Void) {
		steps.push(function() start(name, run));
	}

	static function frame(_) {
		if (steps.length > 0)
			return steps.shift()();
		for (_ in open)
			return;
		Lib.current.removeEventListener(Event.ENTER_FRAME, frame);
		ExternalInterface.call("done");
	}

	static function start(name:String, run:(Dynamic->Void)->Void) {
		open[name] = (untyped __global__["flash.utils.setTimeout"])(function() finish(name, {silence: true}), SILENCE);
		try {
			run(function(outcome) finish(name, outcome));
		} catch (error:Error) {
			finish(name, {error: error.message});
		}
	}

	static function finish(name:String, outcome:Dynamic) {
		if (!open.exists(name))
			return; // has ended: an answer after SILENCE, or a second one
		(untyped __global__["flash.utils.clearTimeout"])(open[name]);
		open.remove(name);
		ExternalInterface.call("report", name, haxe.Json.stringify(outcome));
	}

	/* ---- calling ---- */

	static function connect(other:String = null):NetConnection {
		var connection = new NetConnection();
		connection.connect(other == null ? url : other);
		return connection;
	}

	static function login(userid:String, password:String):NetConnection {
		var connection = connect();
		connection.addHeader("Credentials", false, {userid: userid, password: password});
		return connection;
	}

	static function call(connection:NetConnection, target:String, arguments:Array<Dynamic>, end:Dynamic->Void) {
		var responder = new Responder(function(value:Dynamic) end({result: describe(value, [])}),
			function(value:Dynamic) end({fault: describe(value, [])}));
		var all:Array<Dynamic> = [target, responder];
		Reflect.callMethod(connection, connection.call, all.concat(arguments));
	}

	static function post(target:String, arguments:Array<Dynamic>, end:Dynamic->Void) {
		var packet = new ByteArray();
		for (word in [3, 0, 1])
			packet.writeShort(word);
		packet.writeUTF(target);
		packet.writeUTF("/1");
		packet.writeInt(-1); // length unknown, as Flash Player writes it
		packet.writeByte(0x0A);
		packet.writeInt(arguments.length);
		packet.objectEncoding = ObjectEncoding.AMF3;
		for (argument in arguments) {
			if (Std.isOfType(argument, String)) {
				packet.writeByte(0x02); // text stays AMF0
				packet.writeUTF(argument);
			} else {
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

	// A reply of one body, without headers.
	static function read(reply:ByteArray):Dynamic {
		try {
			reply.position = 6;
			var target = reply.readUTF();
			reply.readUTF();
			reply.readInt();
			reply.objectEncoding = ObjectEncoding.AMF0;
			if (reply[reply.position] == 0x11) {
				reply.position++;
				reply.objectEncoding = ObjectEncoding.AMF3;
			}
			var value = describe(reply.readObject(), []);
			if (reply.bytesAvailable != 0)
				return {status: reply.bytesAvailable + " bytes after the value"};
			return target == "/1/onResult" ? {result: value} : {fault: value, target: target};
		} catch (error:Error) {
			return {error: error.message};
		}
	}

	/* ---- values ---- */

	static function describe(value:Dynamic, seen:Array<Dynamic>):Dynamic {
		var name:String = (untyped __global__["flash.utils.getQualifiedClassName"])(value);
		switch (name) {
			case "void":
				return {undefined: true};
			case "null", "Boolean", "String":
				return value;
			case "int", "uint", "Number":
				if (Math.isNaN(value) || !Math.isFinite(value))
					return {Number: Std.string(value)};
				return value == 0 && 1 / value < 0 ? {Number: "-0"} : value;
			default:
		}
		var before = untyped seen.indexOf(value);
		if (before >= 0)
			return {seen: before};
		seen.push(value);
		var inner = function(item:Dynamic) return describe(item, seen);
		var keys:Array<Dynamic> = untyped __keys__(value);
		switch (name) {
			case "Date":
				return {Date: inner(untyped value.getTime())};
			case "XML":
				return {XML: untyped value.toXMLString()};
			case "flash.utils::ByteArray":
				var bytes:ByteArray = value;
				return {ByteArray: [for (i in 0...bytes.length) StringTools.hex(bytes[i], 2)].join("")};
			case "flash.utils::Dictionary":
				return {Dictionary: [for (key in keys) [inner(key), inner(untyped value[key])]]};
			case "Point":
				return {"class": "shop.Point", x: inner(value.x), y: inner(value.y)};
			case "Array":
				var length:Int = untyped value.length;
				var dense = keys.length == length;
				for (i in 0...length)
					dense = dense && untyped value.hasOwnProperty(i);
				if (dense)
					return [for (i in 0...length) inner(untyped value[i])];
				return {Array: members(value, keys, inner), length: length};
			case "Object":
				return members(value, keys, inner);
			default:
		}
		if (StringTools.startsWith(name, "__AS3__.vec::Vector.")) {
			var items = [for (i in 0...(untyped value.length : Int)) inner(untyped value[i])];
			return {Vector: name.substr("__AS3__.vec::".length), items: items, fixed: untyped value.fixed};
		}
		return {"class": name, members: members(value, keys, inner)};
	}

	static function members(value:Dynamic, keys:Array<Dynamic>, inner:Dynamic->Dynamic):Dynamic {
		var all:Dynamic = {};
		for (key in keys)
			Reflect.setField(all, Std.string(key), inner(untyped value[key]));
		return all;
	}

	static function longText():String {
		var text = "0123456789";
		while (text.length < 70000)
			text += text;
		return text.substr(0, 70000);
	}

	static function holed():Array<Dynamic> {
		var array:Array<Dynamic> = [1, 2, 3];
		untyped array[4] = 5;
		return array;
	}

	static function associative():Array<Dynamic> {
		var array:Array<Dynamic> = [1, 2];
		untyped array["color"] = "red";
		return array;
	}

	static function bytes(items:Array<Int>):ByteArray {
		var all = new ByteArray();
		for (item in items)
			all.writeByte(item);
		return all;
	}

	static function uints():flash.Vector<UInt> {
		var all = new flash.Vector<UInt>(2, true);
		all[0] = 0;
		all[1] = 0xFFFFFFFF;
		return all;
	}

	static function rows(n:Int):Array<Dynamic> {
		return [for (i in 0...n) {id: i, name: "row " + i, price: i / 4, sold: i % 2 == 0}];
	}

}
