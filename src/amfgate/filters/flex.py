"""Flex clients: a message in the place of a call, RemoteObject's and its channel's.

A Flex client calls the target `null` with one argument, a message that holds what is meant.  This filter turns a
RemotingMessage into an ordinary call and gives it an envelope that answers with messages, so that the actions and the
services do not know who called.  The commands of a channel (ping, connect, login) it answers itself.

    RemotingMessage(destination="catalog", operation="page", body=[1])          calls  catalog.page
    RemotingMessage(destination="amfphp", source="catalog", operation="page")   calls  catalog.page

The destination is the name of a service.  Where it is none, as the one "amfphp" or "zend" that some servers were
configured with for everything, the source is.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from ..envelope import root_cause
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
    """Answers a message with messages: an AcknowledgeMessage that has the result as its body, or an ErrorMessage."""

    __slots__ = ("headers", "message")

    def __init__(self, message: TypedObject, headers: dict[str, Any]) -> None:
        self.message = message
        self.headers = headers

    def result(self, call: Call) -> Body:
        reply = m.acknowledge(self.message, call.result)
        reply["headers"] = dict(self.headers)
        return Body(call.uri + "/onResult", "null", reply)

    def fault(self, call: Call, fault: Fault) -> Body:
        reply = m.error(
            self.message,
            fault.code,
            fault.description,
            details=fault.details,
            root_cause=root_cause(fault, call.gateway),
            extended_data=fault.extended_data,
        )
        reply["headers"] = dict(self.headers)
        return Body(call.uri + "/onStatus", "null", reply)


class Flex:
    """Makes ordinary calls of Flex messages; plain calls pass it by.

    Ping, client sync, trigger connect and disconnect are acknowledged, with a DSId for a client that has none.  With a
    Credentials filter in front (`authenticate=`), login is checked and acknowledged, and the credentials that come with
    a RemotingMessage (`setRemoteCredentials`) make the user of that call.  Login itself is not remembered: any worker
    answers any request, and there is no session here to remember it in.  Messaging (subscribe, poll) is answered by an
    ErrorMessage.
    """

    def envelope(self, call: Call) -> FlexEnvelope | None:
        """For a call that fails before it comes here: the envelope, if it is a Flex client's."""
        if (call.target == "null" or not call.target) and len(call.args) == 1 and m.kind_of(call.args[0]) is not None:
            return FlexEnvelope(call.args[0], {})
        return None

    def on_request(self, exchange: Exchange) -> None:
        made: str | None = None
        for call in exchange.calls:
            if call.target != "null" and call.target or call.response is not None:
                continue
            try:
                message = _message(call)
                headers = message.get("headers")
                if not isinstance(headers, Mapping):
                    headers = {}
                kind = m.kind_of(message)
                known = headers.get(m.FLEX_CLIENT_ID)
                reply_headers: dict[str, Any] = {}
                if known == "nil" or known is None and kind == "CommandMessage":
                    # one client, one id, however many of its messages are in the packet
                    known = made = made or m.new_id()
                    reply_headers[m.FLEX_CLIENT_ID] = known
                call.envelope = FlexEnvelope(message, reply_headers)
                if kind == "RemotingMessage":
                    _remoting(call, message, headers)
                elif kind == "CommandMessage":
                    call.target = f"CommandMessage ({_operation(message)})"
                    reply_headers[m.FLEX_CLIENT_ID] = known
                    _command(call, message, headers, reply_headers)
                else:
                    call.target = kind or "null"
                    raise Fault(
                        "Server.ResourceUnavailable",
                        f"{kind}: this gateway has no messaging; it answers RemoteObject calls",
                    )
            except Exception as error:
                call.fail(error)


def _message(call: Call) -> TypedObject:
    args = call.args
    if len(args) == 1 and m.kind_of(args[0]) is not None:
        message: TypedObject = args[0]
        return message
    if len(args) != 1:
        found = f"{len(args)} arguments" if args else "no argument"
    elif isinstance(args[0], list) and len(args[0]) == 1 and m.kind_of(args[0][0]) is not None:
        found = f"an array that holds a {m.kind_of(args[0][0])}: the arguments were wrapped once too often"
    else:
        found = describe(args[0])
    raise Fault(
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
    call.target = _target(call, message.get("destination"), message.get("source"), operation)
    body = message.get("body")
    if body is None:
        call.args = []
    elif isinstance(body, list):
        call.args = body
    else:
        raise Fault(
            "Client.Message.Encoding", f"RemotingMessage: body has to be the array of arguments; found {describe(body)}"
        )
    credentials = headers.get(m.REMOTE_CREDENTIALS)
    check = call.exchange.check
    if credentials and check is not None:
        call.user = authenticated(check, *user_and_password(credentials, headers.get(m.REMOTE_CREDENTIALS_CHARSET)))


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
    name = (
        _OPERATIONS.get(int(operation)) if isinstance(operation, (int, float)) and operation == operation // 1 else None
    )
    return printable(f"operation {operation!r}", 60) if name is None else name


def _command(call: Call, message: TypedObject, headers: Mapping[Any, Any], reply_headers: dict[str, Any]) -> None:
    operation = message.get("operation")
    if operation in _ACKNOWLEDGED:
        if operation == m.PING:
            reply_headers[m.MESSAGING_VERSION] = 1
        call.answer(None)
        return
    check = call.exchange.check
    if operation in (m.LOGIN, m.LOGOUT):
        if check is None:
            raise Fault("Server.ResourceUnavailable", f"{_operation(message)}: this gateway asks nobody to log in")
        if operation == m.LOGIN:
            authenticated(check, *user_and_password(message.get("body"), headers.get("DSCredentialsCharset")))
        call.answer("success")
        return
    raise Fault(
        "Server.ResourceUnavailable",
        f"{_operation(message)}: this gateway has no messaging; it answers RemoteObject calls",
    )


def user_and_password(encoded: Any, charset: Any) -> tuple[str, str]:
    """What a client put into base64 as `user:password`."""
    charset = "utf-8" if charset is None else charset
    if not isinstance(charset, str) or charset.lower() not in _CHARSETS:
        raise Fault(
            "Client.Authentication", f"credentials are read in UTF-8, ISO-8859-1 and Windows-1252, not in {charset!r}"
        )
    try:
        text = base64.b64decode(encoded, validate=True).decode(charset)
    except (TypeError, ValueError, binascii.Error):
        raise Fault("Client.Authentication", "credentials have to be the base64 of user:password") from None
    userid, colon, password = text.partition(":")
    if not colon:
        raise Fault("Client.Authentication", "credentials have to be the base64 of user:password")
    return userid, password
