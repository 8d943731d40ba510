"""What a Flex client sends, and how its messages are answered: what the Flex filter's tests share."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from wsgi_client import Reply, post

from amfgate import Body, Call, Fault, Gateway, Header, Packet, TypedObject, flex
from amfgate.flex import messages

ID = "11111111-2222-3333-4444-555555555555"
UUID = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}")
MESSAGES = "flex.messaging.messages."


def check(userid: str, password: str) -> Any:
    return userid if (userid, password) == ("ada", "love:läce") else None


class Catalog:
    def page(self, number: int, size: int = 20) -> Any:
        return {"number": number, "size": size}

    def who(self, call: Call) -> Any:
        return call.user

    def fail(self) -> None:
        raise Fault("Shop.Closed", "until noon", details="d", root_cause="r", extended_data={"x": 1})

    def broken(self) -> None:
        raise KeyError("secret")

    def cannot(self) -> Any:
        return object()


def gateway(**options: Any) -> Gateway:
    return Gateway(
        None, {"catalog": Catalog(), "com.shop.basket": Catalog(), "math.add": lambda a, b: a + b}, **options
    )


def message(kind: str, **members: Any) -> TypedObject:
    common = {
        "body": None,
        "clientId": None,
        "destination": None,
        "headers": {"DSId": ID, "DSEndpoint": "my-amf"},
        "messageId": "AAAAAAAA-0000-0000-0000-000000000001",
        "timestamp": 0,
        "timeToLive": 0,
    }
    return TypedObject(MESSAGES + kind, {**common, **members})


def remoting(operation: Any, *args: Any, destination: Any = "catalog", **members: Any) -> TypedObject:
    more = {"operation": operation, "destination": destination, "source": None, "body": list(args)}
    return message("RemotingMessage", **{**more, **members})


def command(operation: Any, **members: Any) -> TypedObject:
    return message("CommandMessage", operation=operation, **members)


def send(app: Gateway, *messages: Any, version: int = 3, headers: list[Header] | None = None) -> Reply:
    bodies = [Body("null", f"/{number}", [one]) for number, one in enumerate(messages, 1)]
    return post(app, Packet(version, headers or [], bodies).to_bytes())


def answer(app: Gateway, one: Any, **options: Any) -> TypedObject:
    """The message that answers a message; its target has to fit its kind."""
    (body,) = send(app, one, **options).bodies
    kind = flex.kind_of(body.value)
    assert body.target == ("/1/onStatus" if kind == "ErrorMessage" else "/1/onResult")
    assert body.response == "null"
    value: TypedObject = body.value
    return value


def raw(literal: str) -> bytes:
    """The bytes that a literal stands for: text between quotes is its own UTF-8 bytes, all else is hex."""
    pieces = literal.split("'")
    return b"".join(
        piece.encode() if quoted else bytes.fromhex(piece)
        for quoted, piece in ((place % 2 == 1, piece) for place, piece in enumerate(pieces))
    )


def one_reply(target: str, value: str, version: int = 3) -> bytes:
    """The packet of one reply, its value a literal."""
    name, data = target.encode(), raw(value)
    return b"".join(
        (
            b"\0" + bytes([version]) + b"\0\0\0\1",
            len(name).to_bytes(2, "big") + name,
            b"\0\4null" + len(data).to_bytes(4, "big") + data,
        )
    )


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh ids and timestamps that are known beforehand, for whole replies as literals.

    An AcknowledgeMessage or ErrorMessage has the messageId MESSAGE and, if it is given one, the clientId CLIENT; a new
    DSId is DSID.  It is 2023-11-14T22:13:20Z.
    """
    fill, next_ids = messages._filled, []

    def filled(reply: Any, alias: str, request: Any, *rest: Any) -> Any:
        next_ids[:] = [MESSAGE] if request.get("clientId") else [MESSAGE, CLIENT]
        return fill(reply, alias, request, *rest)

    monkeypatch.setattr(messages, "_filled", filled)
    monkeypatch.setattr(messages, "new_id", lambda: next_ids.pop() if next_ids else DSID)
    monkeypatch.setattr(messages, "time", SimpleNamespace(time_ns=lambda: 1_700_000_000_000_000_000))


MESSAGE = DSID = "00010203-0405-4607-8809-0A0B0C0D0E0F"
CLIENT = "10111213-0405-4607-8809-0A0B0C0D0E0F"
NOW = "05 4278BCFE56800000"
