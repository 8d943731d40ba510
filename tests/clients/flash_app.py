"""The server of the client tests: a Flask app that serves the page, wrapped by the gateway that its program calls."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import io
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import as2
import flask

import amfgate
from amfgate.flex import ArrayCollection

HERE = Path(__file__).parent
CLASSES = amfgate.ClassRegistry()


@dataclass
class Point:
    """What ActionScript knows as shop.Point."""

    x: Any = None
    y: Any = None


CLASSES.register(Point, "shop.Point")


@dataclass
class Size:
    """A class without an alias: an anonymous object to the client."""

    width: int
    height: int


class Pair(NamedTuple):
    left: str
    right: str


class Color(enum.Enum):
    RED = "red"


@dataclass
class User:
    name: str
    roles: list[str]


class Probe:
    """Takes what the client sends: `arrived` is what the service got, by case."""

    def __init__(self) -> None:
        self.arrived: dict[str, Any] = {}

    def take(self, case: str, value: Any) -> Any:
        self.arrived[case] = value
        return value

    def add(self, a: int, b: int) -> int:
        return a + b

    def area(self, sizes: list[Size]) -> int:
        """Annotated with a class: the client's plain objects arrive as instances."""
        self.arrived["typed"] = sizes
        return sum(size.width * size.height for size in sizes)

    def fail(self, text: str) -> None:
        raise amfgate.Fault("Shop.Declined", text, details="ask the bank")

    def crash(self) -> None:
        raise KeyError("the text of an unexpected error is nobody's business")

    def _hidden(self) -> str:
        return "a private method"


class Give:
    """Results of every kind, one method each."""

    def none(self) -> None:
        return None

    def undefined(self) -> Any:
        return amfgate.undefined

    def true(self) -> bool:
        return True

    def int(self) -> int:
        return 7

    def big(self) -> int:
        return 2**53

    def too_big(self) -> int:
        return 2**53 + 1

    def float(self) -> float:
        return 1.5

    def minus_zero(self) -> float:
        return -0.0

    def nan(self) -> float:
        return float("nan")

    def infinity(self) -> float:
        return float("-inf")

    def text(self) -> str:
        return "grüße ✓ 🎈"

    def long_text(self) -> str:
        return "ü" * 40_000

    def list(self) -> Any:
        return [1, "two", None, True]

    def empty_list(self) -> Any:
        return []

    def tuple(self) -> Any:
        return (1, (2, 3))

    def set(self) -> Any:
        return {5}

    def range(self) -> Any:
        return range(3)

    def generator(self) -> Iterator[str]:
        return (text for text in "ab")

    def dict(self) -> Any:
        return {"name": "Ada", "born": {"year": 1815}, "": "without a name", "tags": ["x", "y"]}

    def empty_dict(self) -> Any:
        return {}

    def number_keys(self) -> Any:
        return {4: "four", 0: "zero"}

    def ecma_array(self) -> Any:
        return amfgate.EcmaArray({0: "a", 2: "c", "color": "red"})

    def moment(self) -> Any:
        return dt.datetime(2001, 9, 9, 3, 46, 40, 500_000, tzinfo=dt.timezone(dt.timedelta(hours=2)))

    def day(self) -> Any:
        return dt.date(1815, 12, 10)

    def invalid_date(self) -> Any:
        return amfgate.invalid_date

    def xml(self) -> Any:
        return amfgate.Xml('<a b="1">ü</a>')

    def element(self) -> Any:
        return ET.fromstring('<a b="1"><c>ü</c></a>')

    def bytes(self) -> bytes:
        return bytes([0, 1, 127, 128, 255])

    def photo(self) -> Any:
        return {"name": "me", "data": bytearray(b"\x01\x02"), "sizes": [1, 2]}

    def vector_int(self) -> Any:
        return amfgate.Vector("int", [1, -2], fixed=True)

    def vector_uint(self) -> Any:
        return amfgate.Vector("uint", [0, 4294967295])

    def vector_double(self) -> Any:
        return amfgate.Vector("double", [0.5, -1.5])

    def vector_object(self) -> Any:
        return amfgate.Vector("object", [Point(1, 2)], alias="shop.Point")

    def dictionary(self) -> Any:
        return amfgate.Dictionary([("k", 1), (2, "two"), (True, "yes")])

    def point(self) -> Any:
        return Point(3, 4)

    def points_and_bytes(self) -> Any:
        return [Point(1, 2), Point(3, b"\x04")]

    def unknown_class(self) -> Any:
        return amfgate.TypedObject("game.Hat", {"size": 10})

    def dataclass(self) -> Any:
        return Size(3, 4)

    def namedtuple(self) -> Any:
        return Pair("l", "r")

    def collection(self) -> Any:
        return ArrayCollection([1, 2])

    def decimal(self) -> Any:
        return decimal.Decimal("12.5")

    def uuid(self) -> Any:
        return uuid.UUID("12345678-1234-5678-1234-567812345678")

    def enum(self) -> Any:
        return Color.RED

    def duration(self) -> Any:
        return dt.timedelta(minutes=1, milliseconds=500)

    def rows(self) -> Any:
        columns = ("id", "name", "price", "sold")
        return amfgate.Rows(columns, [(i, f"row {i}", i / 4, i % 2 == 0) for i in range(500)])

    def shared(self) -> Any:
        row = {"n": 1}
        return [row, row]

    def ring(self) -> Any:
        ring: Any = {"n": 1}
        ring["self"] = ring
        return ring

    def shared_and_bytes(self) -> Any:
        row = {"n": b"\x01"}
        return [row, row]

    def ring_and_bytes(self) -> Any:
        ring: Any = {"n": b"\x01"}
        ring["self"] = ring
        return ring

    def unsendable(self) -> Any:
        return {"rows": [{"owner": object()}]}


class Vault:
    @amfgate.requires("staff")
    def open(self, call: amfgate.Call) -> str:
        return f"open for {call.user.name}"


class Headers:
    """Replies that carry headers."""

    def append_to_url(self, exchange: amfgate.Exchange) -> str:
        exchange.append_to_gateway_url("?sid=42")
        return "appended"


USERS = {("ada", "lovelace"): User("Ada", ["staff"]), ("bob", "builder"): User("Bob", ["guest"])}


def authenticate(userid: str, password: str) -> User | None:
    return USERS.get((userid, password))


class Packet(NamedTuple):
    query: str
    request: bytes
    reply: bytes
    path: str
    cookie: str


class Recorder:
    """WSGI middleware around the gateway: keeps each POST and its reply."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self.app = app
        self.packets: list[Packet] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "POST":
            return self.app(environ, start_response)
        request = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = io.BytesIO(request)
        parts = self.app(environ, start_response)
        try:
            reply = b"".join(parts)
        finally:
            getattr(parts, "close", lambda: None)()
        packet = Packet(environ["QUERY_STRING"], request, reply, environ["PATH_INFO"], environ.get("HTTP_COOKIE", ""))
        self.packets.append(packet)
        return [reply]


def flask_app(swf: Path) -> flask.Flask:
    """Serves the page, the player and the program, as an app does that its gateway leaves alone."""
    app = flask.Flask("clients")

    @app.get("/")
    def page() -> flask.Response:
        return flask.send_file(HERE / "page.html")

    @app.get("/as3.swf")
    def as3_swf() -> flask.Response:
        return flask.send_file(swf)

    @app.get("/as2.swf")
    def as2_swf() -> flask.Response:
        return flask.send_file(io.BytesIO(as2.program()), "application/x-shockwave-flash")

    @app.get("/ruffle/<name>")
    def ruffle(name: str) -> flask.Response:
        return flask.send_from_directory(HERE / "node_modules/@ruffle-rs/ruffle", name)

    return app


def wrapped(swf: Path, probe: Probe) -> Recorder:
    """The whole: Flask, the gateway around it, the recorder around that."""
    app = flask_app(swf)
    services = {"probe": probe, "give": Give(), "vault": Vault(), "headers": Headers()}
    app.wsgi_app = amfgate.Gateway(app.wsgi_app, services, classes=CLASSES, authenticate=authenticate)
    return Recorder(app)


def give_methods() -> list[str]:
    return [name for name in vars(Give) if not name.startswith("_")]
