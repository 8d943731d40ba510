/*
 * A game as docs/games.md has one: the address of its server is in the program and cannot be changed, nor can its calls.
 * ExternalInterface: `report(case, json)` for what came of each call, then `done()`; see page.html.
 */
import flash.Lib;
import flash.events.NetStatusEvent;
import flash.external.ExternalInterface;
import flash.net.NetConnection;
import flash.net.Responder;

class Game {
	static inline var GATEWAY = "http://highscores.example/flashservices/gateway";

	static function main() {
		var connection = new NetConnection();
		connection.addEventListener(NetStatusEvent.NET_STATUS, function(event:Dynamic) report("status", event.info.code));
		connection.connect(GATEWAY);
		call(connection, "HighScores.getTop", [3], function()
			call(connection, "highscores.SubmitScore", [{player: "ada", level: 4, score: 1200}], function()
				call(connection, "Ads.getBanner", ["468x60"], function() ExternalInterface.call("done"))));
	}

	static function call(connection:NetConnection, target:String, arguments:Array<Dynamic>, then:Void->Void) {
		var responder = new Responder(function(value:Dynamic) {
			report(target, {result: value});
			then();
		}, function(fault:Dynamic) {
			report(target, {fault: fault.code});
			then();
		});
		Reflect.callMethod(connection, connection.call, ([target, responder] : Array<Dynamic>).concat(arguments));
	}

	static function report(name:String, outcome:Dynamic) {
		ExternalInterface.call("report", name, haxe.Json.stringify(outcome));
	}
}
