package
{
import mx.messaging.ChannelSet;
import mx.messaging.events.ChannelFaultEvent;
import mx.rpc.AsyncToken;
import mx.rpc.remoting.RemoteObject;

/**
 * Who calls, and what the server remembers of it: visits.count() counts in the session, visits.who() names the user.
 */
public class Logins
{
    private var calls:Calls;
    private var main:ChannelSet;
    private var visits:RemoteObject;
    private var vault:RemoteObject;
    private var other:RemoteObject;

    public function Logins(calls:Calls, main:ChannelSet)
    {
        this.calls = calls;
        this.main = main;
        visits = calls.remote("visits", main);
        vault = calls.remote("vault", main);
        other = calls.remote("vault", calls.channels("/amf2"));
    }

    public function add():void
    {
        calls.add("visits.first", visits, "count", []);
        calls.add("visits.second", visits, "count", []);
        calls.add("visits.other channel", calls.remote("visits", calls.channels("/amf2")), "count", []);

        calls.add("vault.nobody", vault, "open", []);
        login("login.wrong", "ada", "wrong");
        calls.add("vault.wrong", vault, "open", []);
        login("login.right", "ada", "lovelace");
        calls.add("vault.ada", vault, "open", []);
        calls.add("vault.ada again", vault, "open", []);
        calls.add("vault.ada, other channel", other, "open", []);
        calls.add("visits.logged in", visits, "count", []);
        logout("logout");
        calls.add("vault.logged out", vault, "open", []);
        calls.add("visits.logged out", visits, "count", []);
        login("login.other role", "bob", "builder");
        calls.add("vault.bob", vault, "open", []);
        logout("logout.bob");
        login("login.utf-8", "zoë", "pässwörd", "UTF-8");
        calls.add("who.utf-8", visits, "who", []);
        logout("logout.utf-8");
        login("login.latin-1", "zoë", "pässwörd");
        calls.add("who.latin-1", visits, "who", []);
        logout("logout.latin-1");

        connecting();
        remoteCredentials();
    }

    private function login(name:String, user:String, password:String, charset:String = null):void
    {
        calls.step(name, function (end:Function):void { answer(main.login(user, password, charset), end); });
    }

    private function logout(name:String):void
    {
        calls.step(name, function (end:Function):void { answer(main.logout(), end); });
    }

    private function answer(token:AsyncToken, end:Function):void
    {
        calls.answer(token, function (outcome:String, value:*):void
        {
            if (outcome == "fault")
                value = value.faultCode + ": " + value.faultString;
            end(outcome, {value: value, authenticated: main.authenticated});
        });
    }

    /** setCredentials: a channel that connects logs in in place of its ping; one that has connected logs in then. */
    private function connecting():void
    {
        const right:RemoteObject = calls.remote("visits", calls.channels("/amf2"));
        right.setCredentials("ada", "lovelace");
        calls.add("credentials.right", right, "who", []);
        calls.step("credentials.small messages", function (end:Function):void
        {
            end("result", right.channelSet.currentChannel.useSmallMessages);
        });
        calls.step("credentials.logout", function (end:Function):void { calls.answer(right.channelSet.logout(), end); });
        calls.add("credentials.logged out", visits, "who", []);

        const wrong:RemoteObject = calls.remote("visits", calls.channels("/amf2"));
        wrong.setCredentials("ada", "wrong");
        calls.step("credentials.wrong", function (end:Function):void
        {
            var code:String = "";
            wrong.channelSet.addEventListener(ChannelFaultEvent.FAULT, function (event:ChannelFaultEvent):void
            {
                code = event.faultCode + ": " + event.faultDetail;
            });
            calls.call(wrong, "who", [], function (outcome:String, value:*):void
            {
                end(outcome, {value: value, channel: code, authenticated: wrong.channelSet.authenticated});
            });
        });
    }

    /** setRemoteCredentials: they come with the next message of this RemoteObject, and with no other. */
    private function remoteCredentials():void
    {
        const service:RemoteObject = calls.remote("vault", main);
        service.setRemoteCredentials("ada", "lovelace");
        calls.add("remote.first", service, "open", []);
        calls.add("remote.second", service, "open", []);
        calls.add("remote.another object", visits, "who", []);
        calls.step("remote.none", function (end:Function):void
        {
            service.setRemoteCredentials(null, null);
            calls.call(service, "open", [], end);
        });
        const wrong:RemoteObject = calls.remote("vault", main);
        wrong.setRemoteCredentials("ada", "wrong");
        calls.add("remote.wrong", wrong, "open", []);
        logout("remote.logout");
        calls.add("remote.logged out", visits, "who", []);
    }
}
}
