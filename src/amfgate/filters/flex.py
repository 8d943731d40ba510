"""Flex clients: a message in the place of a call, RemoteObject's and its channel's.

A Flex client calls the target `null` with one argument, a message that holds what is meant.  This filter turns a
RemotingMessage into an ordinary call and gives it an envelope that answers with messages, so that the actions and the
services do not know who called.  The commands of a channel (ping, connect, login) it answers itself.

    RemotingMessage(destination="catalog", operation="page", body=[1])          calls  catalog.page
    RemotingMessage(destination="amfphp", source="catalog", operation="page")   calls  catalog.page

The destination is the name of a service.  Where it is none, as the one "amfphp" or "zend" that some servers were
configured with for everything, the source is.

What a Flex channel does, and so what is answered here: it connects by a ping, or by a login if it was given credentials
before, with "nil" for a DSId; it keeps the DSId of that first answer and of none later.  In the same message it says
that it reads small messages (DSMessagingVersion); after an answer that says so too, its polls and the messages of
a Producer are small.  `ChannelSet.login` sends a login, with the credentials in ISO-8859-1 unless it was told UTF-8.
The credentials of `setRemoteCredentials` come with the next message alone, and again, or "" for none, after each
reconnection.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..envelope import PLAIN, root_cause, sent_result
from ..errors import Fault
from ..flex import messages as m
from ..log import printable
from ..packet import Body
from ..pipeline import Call, Exchange
from ..types import TypedObject
from .credentials import authenticated
from .packet_codec import describe

# What a command is called in a fault and in the log.
_OPERATIONS: Final = {
    m.SUBSCRIBE: "subscribe",
    m.UNSUBSCRIBE: "unsubscribe",
    m.POLL: "poll",
    m.CLIENT_SYNC: "client sync",
    m.PING: "ping",
    m.CLUSTER_REQUEST: "cluster request",
    m.LOGIN: "login",
    m.LOGOUT: "logout",
    m.SUBSCRIPTION_INVALIDATE: "subscription invalidate",
    m.MULTI_SUBSCRIBE: "multi-subscribe",
    m.DISCONNECT: "disconnect",
    m.TRIGGER_CONNECT: "trigger connect",
    m.UNKNOWN_OPERATION: "unknown operation",
}
_ACKNOWLEDGED: Final = (m.PING, m.CLIENT_SYNC, m.TRIGGER_CONNECT, m.DISCONNECT)

# The encodings that credentials may be in.  The name comes from the wire, and Python knows some codecs that do more
# than decode text.
_CHARSETS: Final = ("utf-8", "utf8", "iso-8859-1", "latin-1", "us-ascii", "ascii", "windows-1252", "cp1252")


class FlexEnvelope:
    """Answers a message with messages: an AcknowledgeMessage that has the result as its body, or an ErrorMessage.

    message: what is answered.
    headers: the headers of the answer.
    small: answer with a small acknowledgement (DSK); errors have no small form.
    """

    __slots__ = ("headers", "message", "small")

    def __init__(self, message: TypedObject, headers: dict[str, Any], small: bool = False) -> None:
        self.message = message
        self.headers = headers
        self.small = small

    def result(self, call: Call) -> Body:
        result = sent_result(call) if call.gateway.services.collects else call.result
        reply = m.acknowledge(self.message, result, headers=self.headers, small=self.small)
        return Body(call.uri + "/onResult", "null", reply)

    def fault(self, call: Call, fault: Fault) -> Body:
        reply = m.error(
            self.message,
            fault.code,
            fault.description,
            details=fault.details,
            root_cause=root_cause(fault, call.gateway),
            extended_data=fault.extended_data,
            headers=self.headers,
        )
        return Body(call.uri + "/onStatus", "null", reply)


class Flex:
    """Makes ordinary calls of Flex messages; plain calls pass it by.

    Ping, client sync, trigger connect and disconnect are acknowledged.  With a Credentials filter in front
    (`authenticate=`), login is checked and acknowledged ("success"), and the user is that of the messages behind it in
    the packet and, where sessions are kept, of the next requests; without sessions a login is not remembered, since any
    worker answers any request.  Logout is acknowledged always: whoever asks for it is logged out.  The credentials that
    come with a RemotingMessage (`setRemoteCredentials`) make the user of that call and, where sessions are kept, log in
    as a login does.  Messaging (subscribe, poll) is answered by an ErrorMessage.

    A client without a DSId is given one, a fresh random id or, where sessions are kept, what their keeper says; all
    messages of a packet are one client's.  Acknowledgements are small (DSK) for a client whose message, or one before
    it in the packet, shows that it reads small messages: see `amfgate.flex.messages.reads_small_messages`.
    """

    def envelope(self, call: Call) -> FlexEnvelope | None:
        """For a call that fails before it comes here: the envelope, if it is a Flex client's."""
        if (call.target == "null" or not call.target) and len(call.args) == 1 and m.kind_of(call.args[0]) is not None:
            return FlexEnvelope(call.args[0], {})
        return None

    def on_request(self, exchange: Exchange) -> None:
        client: str | None = None  # the id that is given to the client of this packet
        small = False
        for call in exchange.calls:
            if call.target != "null" and call.target:
                continue
            if call.response is not None:
                _reshape(call)
                continue
            try:
                args = call.args
                kind = m.kind_of(args[0]) if len(args) == 1 else None
                if kind is None:
                    raise _no_message(call)
                message = args[0]
                headers = message.get("headers")
                if type(headers) is not dict and not isinstance(headers, Mapping):
                    headers = {}
                if not small and (kind != "RemotingMessage" or m.MESSAGING_VERSION in headers):
                    small = _reads_small_messages(call, message)
                reply_headers: dict[str, Any] = {}
                call.envelope = FlexEnvelope(message, reply_headers, small)
                known = headers.get(m.FLEX_CLIENT_ID)
                # Who sends no DSId in a call does not come from a Flex channel, and has no use for one.
                if known is not None or kind == "CommandMessage":
                    if client is None and (exchange.sessions is not None or not known or known == "nil"):
                        client = _client_id(exchange, known)
                    if client is not None and client != known or kind == "CommandMessage":
                        reply_headers[m.FLEX_CLIENT_ID] = client or known
                if kind == "RemotingMessage":
                    _remoting(call, message, headers)
                elif kind == "CommandMessage":
                    _command(call, message, headers, reply_headers)
                else:
                    call.target = kind
                    raise Fault(
                        "Server.ResourceUnavailable",
                        f"{kind}: this gateway has no messaging; it answers RemoteObject calls",
                    )
            except Exception as error:
                call.fail(error)


def _client_id(exchange: Exchange, known: Any) -> str:
    """The DSId for a client that sent `known` for one: "nil" or null from a client that has none yet."""
    if exchange.sessions is None:
        return m.new_id()
    return exchange.sessions.flex_client_id(exchange, None if known == "nil" or not isinstance(known, str) else known)


def _reads_small_messages(call: Call, message: TypedObject) -> bool:
    """Whether the acknowledgement may be small: AMF0 has no form for it, so not in a packet of version 0."""
    packet = call.exchange.request
    return packet is not None and packet.version == 3 and m.reads_small_messages(message)


def _reshape(call: Call) -> None:
    """Answer a message that could not be decoded by an ErrorMessage too.

    A Flex channel takes an answer that is no message for a broken server, and its text is lost; an ErrorMessage without
    a correlationId it hands on to the program.
    """
    fault = call.fault
    packet = call.exchange.request
    if call.envelope is PLAIN and fault is not None and packet is not None and packet.version == 3:
        call.envelope = FlexEnvelope(TypedObject(), {})
        call.refuse(fault)


def _no_message(call: Call) -> Fault:
    args = call.args
    if len(args) != 1:
        found = f"{len(args)} arguments" if args else "no argument"
    elif isinstance(args[0], list) and len(args[0]) == 1 and m.kind_of(args[0][0]) is not None:
        found = f"an array that holds a {m.kind_of(args[0][0])}: the arguments were wrapped once too often"
    else:
        found = describe(args[0])
    return Fault(
        "Client.Message.Encoding",
        f"a call of the target {call.target!r} has one argument, a Flex message; found {found}",
    )


def _remoting(call: Call, message: TypedObject, headers: Mapping[Any, Any]) -> None:
    """Make the call that the message means."""
    operation = message.get("operation")
    if not isinstance(operation, str) or not operation:
        raise Fault(
            "Client.Message.Encoding",
            f"RemotingMessage: operation has to be the name of a method; found {describe(operation)}",
        )
    destination, source = message.get("destination"), message.get("source")
    if source or not destination or type(destination) is not str:
        call.target = _target(call, destination, source, operation)
    else:  # nearly all
        call.target = f"{destination}.{operation}"
    body = message.get("body")
    if body is None:
        call.args = []
    elif isinstance(body, list):
        call.args = body
    else:
        raise Fault(
            "Client.Message.Encoding", f"RemotingMessage: body has to be the array of arguments; found {describe(body)}"
        )
    if call.exchange.check is not None and headers.get(m.REMOTE_CREDENTIALS):
        if call.exchange.sessions is None or headers.get(m.FLEX_CLIENT_ID) is None:
            call.user = _remote_user(call, headers)[1]
        else:
            _in_turn(call, lambda call: _log_in_remotely(call, headers))


def _target(call: Call, destination: Any, source: Any, operation: str) -> str:
    services = call.gateway.services
    if isinstance(destination, str) and destination:
        target = f"{destination}.{operation}"
        if (
            not isinstance(source, str)
            or not source
            or services.knows(destination)
            or services.find(target) is not None
        ):
            return target
    if isinstance(source, str) and source:
        return f"{source}.{operation}"
    return operation


def _operation(message: TypedObject) -> str:
    operation = message.get("operation")
    name = None
    if isinstance(operation, (int, float)) and operation == operation // 1:
        name = _OPERATIONS.get(int(operation))
    return f"operation {_shown(operation)}" if name is None else name


def _shown(value: Any) -> str:
    """A value in the place of a number or a name, for a fault; of an array or object not what is inside.

    Arrays that are each twice in the next take a hundred bytes on the wire, and their `repr` takes all memory.
    """
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    return f"'{printable(value, 60)}'" if isinstance(value, str) else describe(value)


def _command(call: Call, message: TypedObject, headers: Mapping[Any, Any], reply_headers: dict[str, Any]) -> None:
    operation = message.get("operation")
    name = _operation(message)
    call.target = f"CommandMessage ({name})"
    if operation in (m.PING, m.LOGIN):  # either opens a channel, and its answer says what the server can
        reply_headers[m.MESSAGING_VERSION] = 1
    if operation in _ACKNOWLEDGED:
        call.answer(None)
    elif operation == m.LOGIN:
        _in_turn(call, lambda call: _log_in(call, message.get("body"), headers.get(m.CREDENTIALS_CHARSET)))
    elif operation == m.LOGOUT:
        _in_turn(call, _log_out)
    else:
        raise Fault(
            "Server.ResourceUnavailable", f"{name}: this gateway has no messaging; it answers RemoteObject calls"
        )


def _log_in(call: Call, credentials: Any, charset: Any) -> None:
    exchange = call.exchange
    if exchange.check is None:
        raise Fault("Server.ResourceUnavailable", "login: this gateway asks nobody to log in")
    userid, password = user_and_password(credentials, charset)
    exchange.log_in(userid, authenticated(exchange.check, userid, password))
    call.answer("success")


def _log_out(call: Call) -> None:
    call.exchange.log_out()
    call.answer("success")


def _remote_user(call: Call, headers: Mapping[Any, Any]) -> tuple[str, Any]:
    """The user whose credentials came with the call, and the user id.

    A Flex channel sends them once, and takes it that the server remembers them: where sessions are kept they are a
    login.  Who sends no DSId is no channel, and sends them each time.
    """
    check = call.exchange.check
    assert check is not None
    userid, password = user_and_password(headers[m.REMOTE_CREDENTIALS], headers.get(m.REMOTE_CREDENTIALS_CHARSET))
    return userid, authenticated(check, userid, password)


def _log_in_remotely(call: Call, headers: Mapping[Any, Any]) -> None:
    userid, user = _remote_user(call, headers)
    if call.exchange.user != user:  # each RemoteObject sends them, and each time that it connects
        call.exchange.log_in(userid, user)


def _in_turn(call: Call, act: Callable[[Call], None]) -> None:
    """Log in or out now, or, if calls stand in front in the packet, when these are answered.

    A Flex channel sends in one packet what is called in one frame: `cart.save(); channelSet.logout()`.
    """
    exchange = call.exchange
    for earlier in exchange.calls:
        if earlier is call:
            act(call)
            return
        if earlier.response is None:
            break
    exchange.put_off = exchange.put_off or {}
    exchange.put_off[call] = act


def user_and_password(encoded: Any, charset: Any) -> tuple[str, str]:
    """What a client put into base64 as `user:password`.

    Without a charset it is UTF-8 if it can be, else ISO-8859-1, which is what Flex sends unless it is told UTF-8.
    Flex breaks base64 into lines of 76 characters.
    """
    if charset is not None and (not isinstance(charset, str) or charset.lower() not in _CHARSETS):
        raise Fault(
            "Client.Authentication",
            f"credentials are read in UTF-8, ISO-8859-1 and Windows-1252, not in {_shown(charset)}",
        )
    wrong = Fault("Client.Authentication", "credentials have to be the base64 of user:password")
    if not isinstance(encoded, str):
        raise wrong
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
        text = data.decode(charset or "utf-8")
    except UnicodeDecodeError:
        if charset is not None:
            raise wrong from None
        text = data.decode("iso-8859-1")
    except ValueError:  # binascii.Error is one, and what b64decode raises for a character beyond ASCII
        raise wrong from None
    userid, colon, password = text.partition(":")
    if not colon:
        raise wrong
    return userid, password
