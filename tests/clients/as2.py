"""The ActionScript 2 program of the client tests, and the assembler that makes a SWF of it.

No compiler for ActionScript 2 is to be had any more, so the program is written as Python expressions, and each becomes
the actions of the SWF file format (chapter "Actions"; a stack machine, arguments pushed last to first):

    str, int, float, bool, None, [..], {..}     literals
    Name("x")                                   the variable x; Name("x", "y") is x.y
    New("Date", 1e12)                           new Date(1e12)
    Call("add", 1, on=Name("x"))                x.add(1)
    Set(Name("x", "y"), 1)                      x.y = 1
    Function(("a",), statement, ...)            function (a) { ... }
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

GET_VARIABLE, SET_VARIABLE, GET_MEMBER, SET_MEMBER = b"\x1c", b"\x1d", b"\x4e", b"\x4f"
NEW_OBJECT, CALL_METHOD, INIT_ARRAY, INIT_OBJECT = b"\x40", b"\x52", b"\x42", b"\x43"
POP, PUSH, DEFINE_FUNCTION, END = b"\x17", b"\x96", b"\x9b", b"\x00"


class Name:
    def __init__(self, *path: str) -> None:
        self.path = path


class New:
    def __init__(self, name: str, *arguments: Any) -> None:
        self.name, self.arguments = name, arguments


class Call:
    def __init__(self, method: str, *arguments: Any, on: Name) -> None:
        self.method, self.arguments, self.on = method, arguments, on


@dataclass
class Set:
    name: Name
    value: Any


class Function:
    def __init__(self, parameters: tuple[str, ...], *statements: Any) -> None:
        self.parameters, self.statements = parameters, statements


def push(kind: int, data: bytes) -> bytes:
    return PUSH + struct.pack("<HB", 1 + len(data), kind) + data


def text(value: str) -> bytes:
    return value.encode() + b"\0"


def expression(value: Any) -> bytes:
    """The actions that leave `value` on the stack."""
    match value:
        case bool():
            return push(5, bytes([value]))
        case None:
            return push(2, b"")
        case int() | float():
            high, low = struct.unpack(">4s4s", struct.pack(">d", value))
            return push(6, high[::-1] + low[::-1])
        case str():
            return push(0, text(value))
        case list():
            return arguments(value) + INIT_ARRAY
        case dict():
            members = b"".join(expression(name) + expression(item) for name, item in value.items())
            return members + expression(len(value)) + INIT_OBJECT
        case Name(path=[name]):
            return expression(name) + GET_VARIABLE
        case Name(path=[*owner, name]):
            return expression(Name(*owner)) + expression(name) + GET_MEMBER
        case New():
            return arguments(value.arguments) + expression(value.name) + NEW_OBJECT
        case Call():
            return arguments(value.arguments) + expression(value.on) + expression(value.method) + CALL_METHOD
        case Function():
            body = b"".join(map(statement, value.statements))
            parameters = b"".join(map(text, value.parameters))
            head = text("") + struct.pack("<H", len(value.parameters)) + parameters + struct.pack("<H", len(body))
            return DEFINE_FUNCTION + struct.pack("<H", len(head)) + head + body
    raise TypeError(f"no actions for {value!r}")


def arguments(values: Any) -> bytes:
    return b"".join(map(expression, reversed(values))) + expression(len(values))


def statement(value: Any) -> bytes:
    match value:
        case Set(name=Name(path=[name])):
            return expression(name) + expression(value.value) + SET_VARIABLE
        case Set(name=Name(path=[*owner, name])):
            return expression(Name(*owner)) + expression(name) + expression(value.value) + SET_MEMBER
    return expression(value) + POP


def swf(program: list[Any]) -> bytes:
    """A SWF of version 8 (the last before ActionScript 3), 550 by 400, with one frame that runs `program`."""
    actions = b"".join(map(statement, program)) + END
    tags = tag(69, bytes(4)) + tag(12, actions) + tag(1, b"") + tag(0, b"")  # FileAttributes, DoAction, ShowFrame, End
    movie = bytes.fromhex("7800055F00000FA000") + struct.pack("<HH", 30 << 8, 1) + tags
    return b"FWS\x08" + struct.pack("<I", 8 + len(movie)) + movie


def tag(code: int, data: bytes) -> bytes:
    return struct.pack("<HI", code << 6 | 63, len(data)) + data


# ---- the program ----

INTERFACE = Name("flash", "external", "ExternalInterface")


def report(case: str, how: str, shown: Any = Name("value"), *more: Any) -> Function:  # noqa: B008 (never changed)
    """function (value) { ExternalInterface.call("report", case, {how: shown}); ... }"""
    return Function(("value",), Call("call", "report", case, {how: shown}, on=INTERFACE), *more)


def responder(case: str, shown: Any = Name("value"), *more: Any) -> dict[str, Any]:  # noqa: B008
    return {"onResult": report(case, "result", shown, *more), "onStatus": report(case, "fault", Name("value"), *more)}


def take(case: str, value: Any, shown: Any = Name("value")) -> Call:  # noqa: B008
    """Sends `value` to probe.take. `shown` is what is reported of the answer, where Ruffle has no JavaScript for it."""
    return Call("call", "probe.take", responder(f"as2.{case}", shown), f"as2.{case}", value, on=Name("connection"))


def call(case: str, target: str, *values: Any) -> Call:
    return Call("call", target, responder(f"as2.{case}"), *values, on=Name("connection"))


# All calls of the first connection are made in one frame, so they are one packet. When the last of them is answered, a
# second connection calls with credentials, and that answer ends the program.
PROGRAM = [
    Set(Name("connection"), New("NetConnection")),
    Call("connect", Name("gateway"), on=Name("connection")),
    take("number", 1.5),
    take("text", "grüße ✓ 🎈"),
    take("true", True),
    take("null", None),
    take("undefined", Name("nothing")),
    take("dense array", [1, "two", None, True]),
    take("empty array", []),
    take("array in array", [[1, 2], [3]]),
    take("array in object", {"list": ["a", "b"]}),
    Set(Name("holes"), [1]),
    Set(Name("holes", "2"), 3),
    take("holes", Name("holes")),
    Set(Name("named"), ["a"]),
    Set(Name("named", "color"), "red"),
    take("associative array", Name("named")),
    take("date", New("Date", 1e12), Call("getTime", on=Name("value"))),
    take("xml", New("XML", '<a b="1"><c>ü</c></a>'), Call("toString", on=Name("value"))),
    Set(
        Name("Point"),
        Function(("x", "y"), Set(Name("this", "x"), Name("x")), Set(Name("this", "y"), Name("y"))),
    ),
    Call("registerClass", "shop.Point", Name("Point"), on=Name("Object")),
    take("registered class", New("Point", 3, 4)),
    Set(Name("row"), {"n": 1}),
    take("shared", [Name("row"), Name("row")]),
    take("shared in object", {"a": Name("row"), "b": Name("row")}, Name("value", "b")),
    Set(Name("ring"), {"n": 1}),
    Set(Name("ring", "self"), Name("ring")),
    take("ring", Name("ring"), Name("value", "n")),
    call("rows", "give.rows"),
    call("photo", "give.photo"),
    call("point", "give.point"),
    call("fault", "probe.fail", "card expired"),
    Set(Name("vault"), New("NetConnection")),
    Call("connect", Name("gateway"), on=Name("vault")),
    Call("addHeader", "Credentials", False, {"userid": "ada", "password": "lovelace"}, on=Name("vault")),
    Set(Name("end"), responder("as2.credentials", Name("value"), Call("call", "done", on=INTERFACE))),
    Call(
        "call",
        "probe.add",
        responder("as2.add", Name("value"), Call("call", "vault.open", Name("end"), on=Name("vault"))),
        1,
        2,
        on=Name("connection"),
    ),
]


def program() -> bytes:
    return swf(PROGRAM)
