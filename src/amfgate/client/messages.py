"""The Flex side of a client: RemotingMessages out of calls, and what a server's answers say of the conversation."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ..flex import messages as m
from ..types import TypedObject


def remoting_message(
    destination: str,
    operation: str,
    arguments: Sequence[Any] = (),
    *,
    source: str | None = None,
    client_id: str | None = None,
    headers: Mapping[str, Any] | None = None,
) -> TypedObject:
    """A RemotingMessage: RemoteObject's call of `operation` at `destination`.

    source: the class or service behind a destination that stands for many ("amfphp").
    client_id: what the server called this client in an earlier answer.
    headers: members of its `headers`; DSId is "nil", first contact, if it is not among them.

        Packet(3, [], [Body("null", "/1", [remoting_message("catalog", "page", [1])])]).to_bytes()
    """
    return TypedObject(
        m.PACKAGE + "RemotingMessage",
        {
            "operation": operation,
            "source": source,
            "body": list(arguments),
            "clientId": client_id,
            "destination": destination,
            "headers": {m.FLEX_CLIENT_ID: "nil", **(headers or {})},
            "messageId": m.new_id(),
            "timestamp": 0,
            "timeToLive": 0,
        },
    )


def command_message(operation: int, body: Any = None, *, headers: Mapping[str, Any] | None = None) -> TypedObject:
    """A CommandMessage: the channel's own business, such as `amfgate.flex.messages.PING` or `LOGIN`."""
    return TypedObject(
        m.PACKAGE + "CommandMessage",
        {
            "operation": operation,
            "correlationId": "",
            "body": body,
            "clientId": None,
            "destination": "",
            "headers": {m.FLEX_CLIENT_ID: "nil", **(headers or {})},
            "messageId": m.new_id(),
            "timestamp": 0,
            "timeToLive": 0,
        },
    )


def encoded_credentials(credentials: tuple[str, str]) -> str:
    """`user:password` in base64, as login and DSRemoteCredentials want it."""
    return base64.b64encode(":".join(credentials).encode("utf-8")).decode("ascii")


class Conversation:
    """What a Flex client keeps between packets: the id that the server gave it, and those of its destinations."""

    def __init__(self, flex: bool | str) -> None:
        self.destination = flex if isinstance(flex, str) else None
        self.client = "nil"  # DSId
        self.destinations: dict[str, str] = {}  # destination -> clientId
        self.logged_in = False

    def route(self, target: str) -> tuple[str, str | None, str]:
        """(destination, source, operation) of a target.

        `catalog.page` is the operation `page` of the destination `catalog`; where one destination stands for all
        services, `catalog` is the source.  ValueError for a target without a dot and no such destination.
        """
        name = target.replace("/", ".")
        service, _, operation = name.rpartition(".")
        if self.destination is not None:
            return self.destination, service or None, operation
        if not service or not operation:
            raise ValueError(
                f"{target!r}: with flex=True a target is destination.operation; "
                "flex='NAME' names one destination for everything"
            )
        return service, None, operation

    def message(self, target: str, args: Sequence[Any], credentials: tuple[str, str] | None) -> TypedObject:
        """The RemotingMessage of a call."""
        destination, source, operation = self.route(target)
        headers: dict[str, Any] = {m.FLEX_CLIENT_ID: self.client}
        if credentials is not None:
            # A gateway without sessions forgets a login: it reads the credentials that come with the call.
            headers[m.REMOTE_CREDENTIALS] = encoded_credentials(credentials)
            headers[m.REMOTE_CREDENTIALS_CHARSET] = "UTF-8"
        known = self.destinations.get(destination)
        return remoting_message(destination, operation, args, source=source, client_id=known, headers=headers)

    def learn(self, message: TypedObject, destination: str | None) -> None:
        """Keep what an answer says: the DSId among its headers, and the clientId for its destination."""
        headers = message.get("headers")
        if isinstance(headers, Mapping):
            known = headers.get(m.FLEX_CLIENT_ID)
            if isinstance(known, str) and known:
                self.client = known
        client_id = message.get("clientId")
        if destination is not None and isinstance(client_id, str) and client_id:
            self.destinations[destination] = client_id
