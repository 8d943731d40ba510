"""The long Flex messages: their names and members, and the replies that a server makes.

A message is a `TypedObject` whose alias is one of the names below (or a `SmallMessage`), as the decoder gives it.
Clients leave members out and add others, so nothing here insists on any of them.

    def on_message(message):
        if kind_of(message) == "CommandMessage" and message.get("operation") == PING:
            return acknowledge(message, None)
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Final

from ..types import TypedObject
from .small import SmallMessage

PACKAGE: Final = "flex.messaging.messages."

# Operations of a CommandMessage.
SUBSCRIBE: Final = 0
UNSUBSCRIBE: Final = 1
POLL: Final = 2
CLIENT_SYNC: Final = 4
PING: Final = 5
CLUSTER_REQUEST: Final = 7
LOGIN: Final = 8
LOGOUT: Final = 9
SUBSCRIPTION_INVALIDATE: Final = 10
MULTI_SUBSCRIBE: Final = 11
DISCONNECT: Final = 12
TRIGGER_CONNECT: Final = 13
UNKNOWN_OPERATION: Final = 10000

# Names in a message's `headers`.
FLEX_CLIENT_ID: Final = "DSId"
ENDPOINT: Final = "DSEndpoint"
MESSAGING_VERSION: Final = "DSMessagingVersion"
CREDENTIALS_CHARSET: Final = "DSCredentialsCharset"
REMOTE_CREDENTIALS: Final = "DSRemoteCredentials"
REMOTE_CREDENTIALS_CHARSET: Final = "DSRemoteCredentialsCharset"

_COMMON: Final[dict[str, Any]] = {
    "body": None,
    "clientId": None,
    "destination": None,
    "headers": None,
    "messageId": None,
    "timestamp": 0,
    "timeToLive": 0,
}
_ASYNC: Final[dict[str, Any]] = {**_COMMON, "correlationId": None}
_HTTP: Final[dict[str, Any]] = {
    **_COMMON,
    "contentType": "application/x-www-form-urlencoded",
    "httpHeaders": None,
    "method": "GET",
    "recordHeaders": False,
    "remotePassword": None,
    "remoteUsername": None,
    "url": None,
}

DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "AsyncMessage": _ASYNC,
    "AcknowledgeMessage": _ASYNC,
    "CommandMessage": {**_ASYNC, "operation": UNKNOWN_OPERATION, "messageRefType": None},
    "ErrorMessage": {
        **_ASYNC,
        "extendedData": None,
        "faultCode": None,
        "faultDetail": None,
        "faultString": None,
        "rootCause": None,
    },
    "HTTPMessage": _HTTP,
    "RemotingMessage": {**_COMMON, "operation": None, "source": None},
    "SOAPMessage": _HTTP,
}
"""The members of each kind of message, with what a Flex client gives them when it is made."""

_KINDS: Final[dict[str, str]] = {PACKAGE + kind: kind for kind in DEFAULTS}
_SMALL: set[str] = set()
for _short, _kind in (("DSA", "AsyncMessage"), ("DSC", "CommandMessage"), ("DSK", "AcknowledgeMessage")):
    for _alias in (_short, f"{PACKAGE}{_kind}Ext", f"flex.messaging.io.{_kind}Ext"):
        _KINDS[_alias] = _kind
        _SMALL.add(_alias)
del _short, _kind, _alias


def kind_of(value: Any) -> str | None:
    """ "RemotingMessage", "CommandMessage" and so on, for a small message too; None for what is no Flex message."""
    return _KINDS.get(value.alias) if isinstance(value, TypedObject) else None


def reads_small_messages(message: TypedObject) -> bool:
    """Whether a message shows that its sender reads small messages.

    It does if it is one itself, in whichever form, or if DSMessagingVersion among its headers is 1 or more: a Flex
    channel says so when it connects, with its ping or, if it has credentials by then, its login.
    """
    if message.alias in _SMALL:
        return True
    headers = message.get("headers")
    version = headers.get(MESSAGING_VERSION) if isinstance(headers, Mapping) else None
    return isinstance(version, (int, float)) and version >= 1


def complete(message: TypedObject) -> TypedObject:
    """Give a message the members that it came without, with their defaults; the same object again.

    ValueError for what is no Flex message.
    """
    kind = kind_of(message)
    if kind is None:
        raise ValueError(f"not a Flex message: {getattr(message, 'alias', message)!r}")
    for name, default in DEFAULTS[kind].items():
        message.setdefault(name, default)
    return message


def new_id() -> str:
    """A fresh random id (UUID version 4) as Flex writes it: upper case."""
    try:
        return _ahead.pop()
    except IndexError:
        return _more_ids()


def _more_ids() -> str:
    """Make ids ahead, and return one: asking the system for each would be a tenth of a whole call."""
    digits = os.urandom(16 * IDS_AHEAD).hex().upper()
    made = [id_of(digits[at : at + 32]) for at in range(0, len(digits), 32)]
    first = made.pop()
    _ahead.extend(made)
    return first


def id_of(digits: str) -> str:
    """32 random digits, hexadecimal and upper case, as a UUID: RFC 9562, 5.4.

    The third group begins with the version, 4; the fourth with the variant, of which two bits are random.
    """
    variant = _VARIANT[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


IDS_AHEAD: Final = 32
_VARIANT: Final = {digit: "89AB"[int(digit, 16) & 3] for digit in "0123456789ABCDEF"}

_ahead: list[str] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ahead.clear)  # two processes that gave the same ids would mix up their clients


def acknowledge(
    request: TypedObject, body: Any, *, headers: dict[str, Any] | None = None, small: bool = False
) -> TypedObject:
    """The AcknowledgeMessage that answers `request` with the result `body`.

    It correlates to the request's messageId, keeps its clientId (a new one if it had none), and goes to no destination.
    `small` makes it a DSK, for clients that said they read small messages.
    """
    reply = SmallMessage.__new__(SmallMessage) if small else TypedObject.__new__(TypedObject)
    return _filled(reply, "DSK" if small else _ACKNOWLEDGE, request, body, headers)


def error(
    request: TypedObject,
    code: str,
    description: str,
    *,
    details: str = "",
    root_cause: Any = None,
    extended_data: Any = None,
    headers: dict[str, Any] | None = None,
) -> TypedObject:
    """The ErrorMessage that answers `request`; the arguments are those of `amfgate.Fault`."""
    reply = _filled(TypedObject.__new__(TypedObject), _ERROR, request, None, headers)
    reply["extendedData"] = extended_data
    reply["faultCode"] = code
    reply["faultDetail"] = details
    reply["faultString"] = description
    reply["rootCause"] = root_cause
    return reply


_ACKNOWLEDGE: Final = PACKAGE + "AcknowledgeMessage"
_ERROR: Final = PACKAGE + "ErrorMessage"


def _filled(
    reply: TypedObject, alias: str, request: TypedObject, body: Any, headers: dict[str, Any] | None
) -> TypedObject:
    """A reply with what all replies have.  It comes bare, from `__new__`: this is once per call."""
    reply.alias = alias
    reply.sealed = None
    reply.dynamic = False
    reply.update(
        {
            "body": body,
            "clientId": request.get("clientId") or new_id(),
            "correlationId": request.get("messageId"),
            "destination": None,
            "headers": {} if headers is None else headers,
            "messageId": new_id(),
            "timestamp": time.time_ns() // 1_000_000,
            "timeToLive": 0,
        }
    )
    return reply
