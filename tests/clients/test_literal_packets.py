"""Packets as Flash's other clients write them, byte by byte, and the whole reply to each.

ActionScript 2 (Flash Player 6 to 8, and movies of that age in any player) sends AMF0 alone; AIR and Flash Player 9 and
later in AMF3 mode send AMF0 with AMF3 values behind `11`.  Neither runs on a test machine, so their packets stand here
as literals, written from the format.  The replies are literals too: nothing here is computed by the code under test.

In the notation of these literals, text between quotes stands for its own UTF-8 bytes; all else is hex.
"""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

import amfgate

NAN = math.nan


def raw(literal: str) -> bytes:
    """The bytes that a literal stands for."""
    pieces = literal.split("'")
    return b"".join(
        piece.encode() if quoted else bytes.fromhex(piece)
        for quoted, piece in ((i % 2 == 1, piece) for i, piece in enumerate(pieces))
    )


@dataclass
class Point:
    x: Any = None
    y: Any = None


class Service:
    """Keeps what arrived.  `all` gives its arguments back as a list, `same` its one argument as it is."""

    def __init__(self) -> None:
        self.arrived: list[Any] = []

    def all(self, *values: Any) -> list[Any]:
        self.arrived.append(values)
        return list(values)

    def same(self, value: Any) -> Any:
        self.arrived.append((value,))
        return value

    def bytes(self) -> bytes:
        return b"\x01\x02\x03"

    def photo(self) -> dict[str, Any]:
        return {"name": "me", "data": b"\x01\x02\x03", "sizes": [1, 2]}

    def shared(self) -> list[Any]:
        row = {"n": 1}
        return [row, row]

    def ring(self) -> dict[str, Any]:
        ring: dict[str, Any] = {}
        ring["self"] = ring
        return ring

    def user(self, call: amfgate.Call) -> Any:
        return call.user


def check(userid: str, password: str) -> str | None:
    return "Ada" if (userid, password) == ("ada", "lovelace") else None


@dataclass
class Reply:
    status: str
    headers: dict[str, str]
    body: bytes


class Client:
    """Posts packets to a gateway as a WSGI server would."""

    def __init__(self) -> None:
        self.service = Service()
        self.classes = amfgate.ClassRegistry()
        self.classes.register(Point, "shop.Point")
        self.gateway = amfgate.Gateway(None, {"test": self.service}, classes=self.classes, authenticate=check)

    @property
    def arrived(self) -> list[Any]:
        return self.service.arrived

    def post(self, packet: bytes, content_type: str = "application/x-amf") -> Reply:
        reply = Reply("", {}, b"")

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            reply.status = status
            reply.headers = dict(headers)

        environ = {
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "",
            "PATH_INFO": "/amf",
            "QUERY_STRING": "",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_TYPE": content_type,
            "CONTENT_LENGTH": str(len(packet)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(packet),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        parts: Iterable[bytes] = self.gateway(environ, start_response)
        try:
            reply.body = b"".join(parts)
        finally:
            getattr(parts, "close", lambda: None)()
        return reply


@pytest.fixture
def client() -> Client:
    return Client()


@dataclass
class Case:
    """A packet, the arguments of each call as they reach the service, and the reply."""

    name: str
    packet: str
    arrived: list[tuple[Any, ...]]
    reply: str


AS2 = [
    Case(
        "four arguments",
        "0000 0000 0001 0008 'test.all' 0002 '/1'"
        "00000035 0A 00000004 02 000A 'Argument 1' 01 01 00 405EC00000000000"
        "03 0003 'key' 02 000C 'Hello World!' 000009",
        [("Argument 1", True, 123, {"key": "Hello World!"})],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000035 0A 00000004 02 000A 'Argument 1' 01 01 00 405EC00000000000"
        "03 0003 'key' 02 000C 'Hello World!' 000009",
    ),
    Case(
        "no arguments",
        "0000 0000 0001 0008 'test.all' 0002 '/1' 00000005 0A 00000000",
        [()],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000005 0A 00000000",
    ),
    Case(
        "a dense array is strict",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 00000017 0A 00000001 0A 00000002 00 3FF0000000000000 02 0001 'b'",
        [([1, "b"],)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000012 0A 00000002 00 3FF0000000000000 02 0001 'b'",
    ),
    Case(
        "an array within an object is an ECMA array",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "00000025 0A 00000001 03 0004 'list' 08 00000002 0001 '0' 02 0001 'a' 0001 '1' 02 0001 'b' 000009 000009",
        [({"list": ["a", "b"]},)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000017 03 0004 'list' 0A 00000002 02 0001 'a' 02 0001 'b' 000009",
    ),
    Case(
        "an empty ECMA array",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 0000000D 0A 00000001 08 00000000 000009",
        [([],)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000005 0A 00000000",
    ),
    Case(
        "an ECMA array whose count says nothing",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 00000012 0A 00000001 08 00000000 0001 '0' 01 01 000009",
        [([True],)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000007 0A 00000001 01 01",
    ),
    Case(
        "an associative array",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "00000021 0A 00000001 08 00000001 0001 '0' 02 0001 'a' 0005 'color' 02 0003 'red' 000009",
        [(amfgate.EcmaArray({0: "a", "color": "red"}, count=1),)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "0000001C 08 00000001 0001 '0' 02 0001 'a' 0005 'color' 02 0003 'red' 000009",
    ),
    Case(
        "holes in an array are undefined",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "0000001D 0A 00000001 0A 00000003 00 3FF0000000000000 06 00 4008000000000000",
        [([1, amfgate.undefined, 3],)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000018 0A 00000003 00 3FF0000000000000 06 00 4008000000000000",
    ),
    Case(
        "null, undefined, a movie clip, booleans",
        "0000 0000 0001 0008 'test.all' 0002 '/1' 0000000C 0A 00000005 05 06 0D 01 00 01 01",
        [(None, amfgate.undefined, amfgate.undefined, False, True)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 0000000C 0A 00000005 05 06 06 01 00 01 01",
    ),
    Case(
        "numbers: whole, broken, -0, infinite",
        "0000 0000 0001 0008 'test.all' 0002 '/1'"
        "00000032 0A 00000005 00 C008000000000000 00 3FF8000000000000 00 8000000000000000 00 7FF0000000000000"
        "00 4340000000000000",
        [(-3, 1.5, -0.0, math.inf, 9007199254740992)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000032 0A 00000005 00 C008000000000000 00 3FF8000000000000 00 8000000000000000 00 7FF0000000000000"
        "00 4340000000000000",
    ),
    Case(
        "Flash's own NaN",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 0000000E 0A 00000001 00 FFF8000000000000",
        [(NAN,)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000009 00 FFF8000000000000",
    ),
    Case(
        "text of more than one alphabet",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 00000019 0A 00000001 02 0011 'naïve Жук ✓'",
        [("naïve Жук ✓",)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000014 02 0011 'naïve Жук ✓'",
    ),
    Case(
        "a date at GMT+1: the milliseconds are UTC already, the zone says nothing",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 00000010 0A 00000001 0B 426D1A94A2000000 FFC4",
        [(datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC),)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 0000000B 0B 426D1A94A2000000 0000",
    ),
    Case(
        "an invalid date",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 00000010 0A 00000001 0B 7FF8000000000000 FFC4",
        [(amfgate.invalid_date,)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 0000000B 0B 7FF8000000000000 0000",
    ),
    Case(
        "XML",
        "0000 0000 0001 0009 'test.same' 0002 '/1' 0000000E 0A 00000001 0F 00000004 '<a/>'",
        [(amfgate.Xml("<a/>", legacy=True),)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000009 0F 00000004 '<a/>'",
    ),
    Case(
        "Object.registerClass with a class that the server knows",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "0000002D 0A 00000001 10 000A 'shop.Point' 0001 'y' 00 4000000000000000 0001 'x' 00 3FF0000000000000 000009",
        [(Point(1, 2),)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000028 10 000A 'shop.Point' 0001 'x' 00 3FF0000000000000 0001 'y' 00 4000000000000000 000009",
    ),
    Case(
        "Object.registerClass with a class that nobody knows",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "00000022 0A 00000001 10 0008 'game.Hat' 0004 'size' 00 4024000000000000 000009",
        [(amfgate.TypedObject("game.Hat", {"size": 10}),)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "0000001D 10 0008 'game.Hat' 0004 'size' 00 4024000000000000 000009",
    ),
    Case(
        "a shared value is written out twice, for a client that reads no references",
        "0000 0000 0001 000B 'test.shared' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000025 0A 00000002 03 0001 'n' 00 3FF0000000000000 000009 03 0001 'n' 00 3FF0000000000000 000009",
    ),
    Case(
        "a value that holds itself is a reference: the root of a reply is slot 0",
        "0000 0000 0001 0009 'test.ring' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 0000000D 03 0004 'self' 07 0000 000009",
    ),
    Case(
        "bytes have no place in AMF0: they go behind 11",
        "0000 0000 0001 000A 'test.bytes' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000006 11 0C 07 010203",
    ),
    Case(
        "what holds bytes goes behind one 11 as a whole",
        "0000 0000 0001 000A 'test.photo' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000025 11 0A 0B 01 09 'name' 06 05 'me' 09 'data' 0C 07 010203 0B 'sizes' 09 05 01 04 01 04 02 01",
    ),
    Case(
        "a slash in the target",
        "0000 0000 0001 0009 'test/same' 0002 '/1' 00000006 0A 00000001 05",
        [(None,)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000001 05",
    ),
    Case(
        "two calls in one packet",
        "0000 0000 0002 0009 'test.same' 0002 '/1' 00000009 0A 00000001 02 0001 'a'"
        "0009 'test.same' 0002 '/2' 00000009 0A 00000001 02 0001 'b'",
        [("a",), ("b",)],
        "0000 0000 0002 000B '/1/onResult' 0004 'null' 00000004 02 0001 'a'"
        "000B '/2/onResult' 0004 'null' 00000004 02 0001 'b'",
    ),
    Case(
        "two calls with one response URI: a reply for each, in order",
        "0000 0000 0002 0009 'test.same' 0002 '/1' 00000009 0A 00000001 02 0001 'a'"
        "0009 'test.same' 0002 '/1' 00000009 0A 00000001 02 0001 'b'",
        [("a",), ("b",)],
        "0000 0000 0002 000B '/1/onResult' 0004 'null' 00000004 02 0001 'a'"
        "000B '/1/onResult' 0004 'null' 00000004 02 0001 'b'",
    ),
    Case(
        "lengths nobody knows: FFFFFFFF, 1 and 0",
        "0000 0000 0003 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 02 0001 'a'"
        "0009 'test.same' 0002 '/2' 00000001 0A 00000001 02 0001 'b'"
        "0009 'test.same' 0002 '/3' 00000000 0A 00000001 02 0001 'c'",
        [("a",), ("b",), ("c",)],
        "0000 0000 0003 000B '/1/onResult' 0004 'null' 00000004 02 0001 'a'"
        "000B '/2/onResult' 0004 'null' 00000004 02 0001 'b'"
        "000B '/3/onResult' 0004 'null' 00000004 02 0001 'c'",
    ),
    Case(
        "version 1, of Flash Communication Server, is answered as version 0",
        "0001 0000 0001 0009 'test.same' 0002 '/1' 0000000D 0A 00000001 03 0001 'a' 05 000009",
        [({"a": None},)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000008 03 0001 'a' 05 000009",
    ),
    Case(
        "a header that nobody has to understand",
        "0000 0001 0010 'amf_server_debug' 00 0000000B 03 0003 'amf' 01 00 000009"
        "0001 0009 'test.same' 0002 '/1' 00000006 0A 00000001 05",
        [(None,)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000001 05",
    ),
    Case(
        "credentials in a header, as NetConnection.addHeader and setCredentials send them",
        "0000 0001 000B 'Credentials' 00 00000027 03 0006 'userid' 02 0003 'ada' 0008 'password'"
        " 02 0008 'lovelace' 000009"
        "0001 0009 'test.user' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000006 02 0003 'Ada'",
    ),
    Case(
        "a member without a name is a member: 09 alone ends an object",
        "0000 0000 0001 0009 'test.same' 0002 '/1'"
        "00000017 0A 00000001 03 0001 'a' 05 0000 02 0001 'x' 0001 'b' 05 000009",
        [({"a": None, "": "x", "b": None},)],
        "0000 0000 0001 000B '/1/onResult' 0004 'null' 00000012 03 0001 'a' 05 0000 02 0001 'x' 0001 'b' 05 000009",
    ),
]

AIR = [
    Case(
        "arguments of AMF3 mode: what is complex has its own 11",
        "0003 0000 0001 0008 'test.all' 0002 '/1'"
        "FFFFFFFF 0A 00000006 02 0001 's' 00 3FF0000000000000 01 01 05 11 09 05 01 04 01 06 03 'b'"
        "11 0A 0B 01 07 'key' 06 0B 'value' 01",
        [("s", 1, True, None, [1, "b"], {"key": "value"})],
        "0003 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000022 11 09 0D 01 06 03 's' 04 01 03 01 09 05 01 04 01 06 03 'b' 0A 0B 01 07 'key' 06 0B 'value' 01",
    ),
    Case(
        "text, a number, a boolean and null are answered without 11",
        "0003 0000 0004 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 02 0001 's'"
        "0009 'test.same' 0002 '/2' FFFFFFFF 0A 00000001 00 4004000000000000"
        "0009 'test.same' 0002 '/3' FFFFFFFF 0A 00000001 01 00"
        "0009 'test.same' 0002 '/4' FFFFFFFF 0A 00000001 05",
        [("s",), (2.5,), (False,), (None,)],
        "0003 0000 0004 000B '/1/onResult' 0004 'null' 00000004 02 0001 's' 000B '/2/onResult' 0004 'null'"
        "00000009 00 4004000000000000 000B '/3/onResult' 0004 'null' 00000002 01 00"
        "000B '/4/onResult' 0004 'null' 00000001 05",
    ),
    Case(
        "a date carries 11, going and coming",
        "0003 0000 0001 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 11 08 01 426D1A94A2000000",
        [(datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC),)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 0000000B 11 08 01 426D1A94A2000000",
    ),
    Case(
        "the arguments of a call share their tables: the second object's traits and member name are references",
        "0003 0000 0001 0008 'test.all' 0002 '/1'FFFFFFFF 0A 00000002 11 0A 13 01 03 'n' 04 01 11 0A 01 04 02",
        [({"n": 1}, {"n": 2})],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000012 11 09 05 01 0A 0B 01 03 'n' 04 01 01 0A 01 00 04 02 01",
    ),
    Case(
        "each call of a packet has tables of its own",
        "0003 0000 0002 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 11 0A 0B 01 03 'n' 06 03 'a' 01"
        "0009 'test.same' 0002 '/2' FFFFFFFF 0A 00000001 11 0A 0B 01 03 'n' 06 03 'a' 01",
        [({"n": "a"},), ({"n": "a"},)],
        "0003 0000 0002 000B '/1/onResult' 0004 'null' 0000000A 11 0A 0B 01 03 'n' 06 03 'a' 01"
        "000B '/2/onResult' 0004 'null' 0000000A 11 0A 0B 01 03 'n' 06 03 'a' 01",
    ),
    Case(
        "a class that the server knows",
        "0003 0000 0001 0009 'test.same' 0002 '/1'"
        "FFFFFFFF 0A 00000001 11 0A 23 15 'shop.Point' 03 'x' 03 'y' 04 01 05 3FF8000000000000",
        [(Point(1, 1.5),)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null'"
        "0000001D 11 0A 23 15 'shop.Point' 03 'x' 03 'y' 04 01 05 3FF8000000000000",
    ),
    Case(
        "a class that nobody knows",
        "0003 0000 0001 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 11 0A 13 11 'game.Hat' 09 'size' 04 0A",
        [(amfgate.TypedObject("game.Hat", {"size": 10}, sealed=("size",)),)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000013 11 0A 13 11 'game.Hat' 09 'size' 04 0A",
    ),
    Case(
        "an ArrayCollection reaches the service as a list, and a list is an Array to the client",
        "0003 0000 0001 0009 'test.same' 0002 '/1'"
        "FFFFFFFF 0A 00000001 11 0A 07 43 'flex.messaging.io.ArrayCollection' 09 05 01 04 01 04 02",
        [([1, 2],)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000008 11 09 05 01 04 01 04 02",
    ),
    Case(
        "a ByteArray",
        "0003 0000 0001 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 11 0C 09 00FF80 01",
        [(b"\x00\xff\x80\x01",)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000007 11 0C 09 00FF80 01",
    ),
    Case(
        "vectors",
        "0003 0000 0001 0008 'test.all' 0002 '/1' FFFFFFFF 0A 00000003 11 0D 05 01 00000001 FFFFFFFE"
        "11 0E 03 00 FFFFFFFF 11 0F 03 00 3FE0000000000000",
        [
            (
                amfgate.Vector("int", [1, -2], fixed=True),
                amfgate.Vector("uint", [4294967295]),
                amfgate.Vector("double", [0.5]),
            )
        ],
        "0003 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000021 11 09 07 01 0D 05 01 00000001 FFFFFFFE 0E 03 00 FFFFFFFF 0F 03 00 3FE0000000000000",
    ),
    Case(
        "a Dictionary with keys of two kinds",
        "0003 0000 0001 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 11 11 05 00 04 01 06 07 'one' 06 03 'k' 03",
        [(amfgate.Dictionary([(1, "one"), ("k", True)]),)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 0000000F 11 11 05 00 04 01 06 07 'one' 06 03 'k' 03",
    ),
    Case(
        "E4X and XMLDocument",
        "0003 0000 0001 0008 'test.all' 0002 '/1' FFFFFFFF 0A 00000002 11 0B 09 '<a/>' 11 07 09 '<b/>'",
        [(amfgate.Xml("<a/>"), amfgate.Xml("<b/>", legacy=True))],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000010 11 09 05 01 0B 09 '<a/>' 07 09 '<b/>'",
    ),
    Case(
        "a shared value is a reference",
        "0003 0000 0001 000B 'test.shared' 0002 '/1' FFFFFFFF 0A 00000000",
        [],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 0000000E 11 09 05 01 0A 0B 01 03 'n' 04 01 01 0A 02",
    ),
    Case(
        "a value that holds itself",
        "0003 0000 0001 0009 'test.ring' 0002 '/1' FFFFFFFF 0A 00000000",
        [],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 0000000C 11 0A 0B 01 09 'self' 0A 00 01",
    ),
    Case(
        "AMF3 mode with plain AMF0 arguments: version 3 tells what the client reads, not what it writes",
        "0003 0000 0001 0009 'test.same' 0002 '/1' FFFFFFFF 0A 00000001 03 0001 'a' 00 3FF0000000000000 000009",
        [({"a": 1},)],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000009 11 0A 0B 01 03 'a' 04 01 01",
    ),
    Case(
        "all arguments as one AMF3 array (Royale, RocketAMF)",
        "0003 0000 0001 0008 'test.all' 0002 '/1' FFFFFFFF 11 09 05 01 04 01 06 03 'b'",
        [(1, "b")],
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 00000009 11 09 05 01 04 01 06 03 'b'",
    ),
]

# What a fault holds, in the notation above: each member as older clients read it, and as newer ones do.
FAULTS = [
    Case(
        "a target that nobody has",
        "0000 0000 0001 000B 'nobody.here' 0002 '/1' 00000005 0A 00000000",
        [],
        "0000 0000 0001 000B '/1/onStatus' 0004 'null'"
        "000000F8 03 0004 'code' 02 0017 'Server.ResourceNotFound' 0005 'level' 02 0005 'error'"
        "000B 'description' 02 0025 'there is no method ' 27 'nobody.here' 27 ' here' 0007 'details' 02 0000"
        "0004 'type' 02 0005 'Fault' 0009 'rootcause' 05 0009 'faultCode' 02 0017 'Server.ResourceNotFound'"
        "000B 'faultString' 02 0025 'there is no method ' 27 'nobody.here' 27 ' here' 000B 'faultDetail' 02 0000"
        "000009",
    ),
    Case(
        "the same in version 3",
        "0003 0000 0001 000B 'nobody.here' 0002 '/1' FFFFFFFF 0A 00000000",
        [],
        "0003 0000 0001 000B '/1/onStatus' 0004 'null'"
        "000000AC 11 0A 0B 01 09 'code' 06 2F 'Server.ResourceNotFound' 0B 'level' 06 0B 'error'"
        "17 'description' 06 4B 'there is no method ' 27 'nobody.here' 27 ' here' 0F 'details' 06 01"
        "09 'type' 06 0B 'Fault' 13 'rootcause' 01 13 'faultCode' 06 02 17 'faultString' 06 0A 17 'faultDetail' 06 01"
        "01",
    ),
    Case(
        "a value of no known kind (04), in a body that says how long it is: the next call is served",
        "0000 0000 0002 0009 'test.same' 0002 '/1' 00000006 0A 00000001 04"
        "0009 'test.same' 0002 '/2' FFFFFFFF 0A 00000001 05",
        [(None,)],
        "0000 0000 0002 000B '/1/onStatus' 0004 'null'"
        "00000118 03 0004 'code' 02 0017 'Client.Message.Encoding' 0005 'level' 02 0005 'error'"
        "000B 'description' 02 0035 '0x04 is reserved in AMF0 and never sent, at offset 30' 0007 'details' 02 0000"
        "0004 'type' 02 0005 'Fault' 0009 'rootcause' 05 0009 'faultCode' 02 0017 'Client.Message.Encoding'"
        "000B 'faultString' 02 0035 '0x04 is reserved in AMF0 and never sent, at offset 30' 000B 'faultDetail' 02 0000"
        "000009"
        "000B '/2/onResult' 0004 'null' 00000001 05",
    ),
    Case(
        "wrong credentials: no call of the packet is served",
        "0000 0001 000B 'Credentials' 00 00000024 03 0006 'userid' 02 0003 'ada' 0008 'password' 02 0005 'wrong' 000009"
        "0002 0009 'test.user' 0002 '/1' 00000005 0A 00000000 0009 'test.same' 0002 '/2' 00000006 0A 00000001 05",
        [],
        "0000 0000 0002 000B '/1/onStatus' 0004 'null'"
        "000000F2 03 0004 'code' 02 0015 'Client.Authentication' 0005 'level' 02 0005 'error'"
        "000B 'description' 02 0024 'the user id or the password is wrong' 0007 'details' 02 0000"
        "0004 'type' 02 0005 'Fault' 0009 'rootcause' 05 0009 'faultCode' 02 0015 'Client.Authentication'"
        "000B 'faultString' 02 0024 'the user id or the password is wrong' 000B 'faultDetail' 02 0000 000009"
        "000B '/2/onStatus' 0004 'null'"
        "000000F2 03 0004 'code' 02 0015 'Client.Authentication' 0005 'level' 02 0005 'error'"
        "000B 'description' 02 0024 'the user id or the password is wrong' 0007 'details' 02 0000"
        "0004 'type' 02 0005 'Fault' 0009 'rootcause' 05 0009 'faultCode' 02 0015 'Client.Authentication'"
        "000B 'faultString' 02 0024 'the user id or the password is wrong' 000B 'faultDetail' 02 0000 000009",
    ),
]


@pytest.mark.parametrize("case", AS2 + AIR + FAULTS, ids=lambda case: case.name)
def test_reply(client: Client, case: Case) -> None:
    reply = client.post(raw(case.packet))

    assert reply.body.hex(" ") == raw(case.reply).hex(" ")
    assert reply.status == "200 OK"
    assert reply.headers["Content-Type"] == "application/x-amf"
    assert reply.headers["Content-Length"] == str(len(raw(case.reply)))
    # By their repr: 1, 1.0 and True are equal, and not the same to a service.
    assert repr(client.arrived) == repr(case.arrived)


def test_references_that_count_the_arguments(client: Client) -> None:
    # ActionScript 2: the arguments are slot 0, so the first object is slot 1.
    reply = client.post(
        raw(
            "0000 0000 0001 0008 'test.all' 0002 '/1'"
            "00000018 0A 00000002 03 0001 'n' 00 3FF0000000000000 000009 07 0001"
        )
    )

    assert reply.body == raw(
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000025 0A 00000002 03 0001 'n' 00 3FF0000000000000 000009 03 0001 'n' 00 3FF0000000000000 000009"
    )
    [(first, second)] = client.arrived
    assert first == {"n": 1}
    assert second is first


def test_references_that_do_not_count_the_arguments(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    # ActionScript 3 and PyAMF: the first object is slot 0. Under the other rule slot 0 would be the arguments
    # themselves, which can be read as well: which of the two was meant is a guess, and the log says so.
    packet = raw(
        "0000 0000 0001 0008 'test.all' 0002 '/1'00000018 0A 00000002 03 0001 'n' 00 3FF0000000000000 000009 07 0000"
    )
    with caplog.at_level(logging.WARNING, "amfgate"):
        reply = client.post(packet)

    assert reply.body == raw(
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000025 0A 00000002 03 0001 'n' 00 3FF0000000000000 000009 03 0001 'n' 00 3FF0000000000000 000009"
    )
    [(first, second)] = client.arrived
    assert first == {"n": 1}
    assert second is first
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_the_same_xml_document_twice(client: Client) -> None:
    # Flash 8 counts XML documents: the arguments are slot 0, the object 1, its document 2.
    reply = client.post(
        raw(
            "0000 0000 0001 0009 'test.same' 0002 '/1'"
            "00000027 0A 00000001 03 0005 'n_xml' 0F 00000004 '<a/>' 0009 'n_xml_ref' 07 0002 000009"
        )
    )

    assert reply.body == raw(
        "0000 0000 0001 000B '/1/onResult' 0004 'null'"
        "00000028 03 0005 'n_xml' 0F 00000004 '<a/>' 0009 'n_xml_ref' 0F 00000004 '<a/>' 000009"
    )
    [(value,)] = client.arrived
    assert repr(value) == "{'n_xml': Xml('<a/>', legacy=True), 'n_xml_ref': Xml('<a/>', legacy=True)}"
    assert value["n_xml_ref"] is value["n_xml"]


def test_an_object_that_holds_itself(client: Client) -> None:
    reply = client.post(
        raw("0000 0000 0001 0009 'test.same' 0002 '/1' 00000012 0A 00000001 03 0004 'self' 07 0001 000009")
    )

    assert reply.body == raw("0000 0000 0001 000B '/1/onResult' 0004 'null' 0000000D 03 0004 'self' 07 0000 000009")
    [(value,)] = client.arrived
    assert list(value) == ["self"]
    assert value["self"] is value


def test_an_object_shared_by_two_amf3_arguments(client: Client) -> None:
    reply = client.post(
        raw("0003 0000 0001 0008 'test.all' 0002 '/1' FFFFFFFF 0A 00000002 11 0A 0B 01 03 'n' 04 01 01 11 0A 00")
    )

    assert reply.body == raw(
        "0003 0000 0001 000B '/1/onResult' 0004 'null' 0000000E 11 09 05 01 0A 0B 01 03 'n' 04 01 01 0A 02"
    )
    [(first, second)] = client.arrived
    assert first == {"n": 1}
    assert second is first


def test_a_long_string(client: Client) -> None:
    text = b"0123456789" * 7000
    reply = client.post(raw("0000 0000 0001 0009 'test.same' 0002 '/1' 0001117A 0A 00000001 0C 00011170") + text)

    assert reply.body == raw("0000 0000 0001 000B '/1/onResult' 0004 'null' 00011175 0C 00011170") + text
    assert client.arrived == [(text.decode(),)]


@pytest.mark.parametrize(
    "content_type", ["application/x-amf", "text/plain;charset=UTF-8", "application/octet-stream", ""]
)
def test_any_content_type(client: Client, content_type: str) -> None:
    reply = client.post(raw("0000 0000 0001 0009 'test.same' 0002 '/1' 00000006 0A 00000001 05"), content_type)

    assert reply.body == raw("0000 0000 0001 000B '/1/onResult' 0004 'null' 00000001 05")
