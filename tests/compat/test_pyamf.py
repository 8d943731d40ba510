"""amfgate.compat.pyamf: one program, the same outcome on Py3AMF and here.

The programs are in pyamf_examples.py.  Each module runs them in a process of its own: Py3AMF warns about what it uses
of Python, and warnings are errors in these tests.  What is different on purpose is in the second half.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyamf_examples import DIFFERENT, EXAMPLES, call, echo, flex_call

import amfgate
import amfgate.compat.pyamf as pyamf
from amfgate.compat.pyamf.remoting.gateway.wsgi import WSGIGateway

PROGRAM = Path(__file__).with_name("pyamf_examples.py")

# What each program gives, as JSON has it.
EXPECTED: dict[str, Any] = {
    "encode_amf3": [
        "01",
        "03",
        "02",
        "0405",
        "04ffffffff",
        "053ff8000000000000",
        "06056162",
        "090501060561620402",
        "0a0b010361040101",
        "0541b0000000000000",
        "00",
    ],
    "encode_amf0": [
        "05",
        "0101",
        "004014000000000000",
        "003ff8000000000000",
        "0200026162",
        "0a00000002003ff000000000000002000178",
        "03000161003ff0000000000000000009",
        "06",
    ],
    "encode_uses_amf3_unless_told": ["06056162", 3, [0, 3]],
    "encode_several_values": [0, 8, "060561", "6206000405"],
    "decode_several_values": ["ab", 5, [1, 2]],
    "decode_one_by_one": [1, 2, "no more"],
    "an_unknown_encoding": "ValueError",
    "decode_wrong_bytes": True,
    "dates_are_naive_utc": ["08014271f71fb0450000", True, True],
    "undefined": [True, "0a0b0103780001"],
    "objects_have_attributes": ["ASObject", True, "ada", "ada", 36, "none"],
    "objects_are_sent": ["0a0b01096e616d6506076164610973697a65040301", True, True],
    "objects_inside_objects": 1,
    "one_object_twice": [True, 1],
    "mixed_arrays": [True, "a", "bar", "0003666f6f020003626172000009"],
    "typed_objects": [True, "game.Hat", {"size": 10}, "game.Hat", True],
    "registered_classes": [True, "ada", True, "bob", True],
    "a_class_says_its_alias_itself": [False, True, False, "lens"],
    "an_alias_is_known_and_forgotten": ["com.example.Thing", True, "forgotten"],
    "externalizable_classes": [
        "0a0721636f6d2e6578616d706c652e43617264fec801fed4ea60fffeee90ee6b28003f0000003fb999999999999a00076772c3bcc39f656162e90905010401060378",
        [-2, 200, True, -300, 60000, -70000, 4000000000, 0.5, 0.1, "grüße", "ab", "é", [1, "x"]],
        [True, True],
    ],
    "byte_arrays_are_streams": [17, [-1, "ab", 7, 1], 17, 0, True],
    "byte_arrays_hold_bytes": ["el", "helXY", True, "helXY", ""],
    "byte_arrays_travel": ["0c050102", True, "0102", 1, "110c050102"],
    "one_byte_array_twice": "0905010c0501020c02",
    "array_collections": [
        "0a0743666c65782e6d6573736167696e672e696f2e4172726179436f6c6c656374696f6e090701040104020403",
        True,
        [1, 2, 3],
        2,
        3,
        True,
    ],
    "services": [
        ["result", [1, "two", None]],
        ["result", "ada 1"],
        ["result", "bob 2"],
        ["result", "ada 1"],
        ["result", "bob 1"],
        ["result", [3]],
        "eve 3",
    ],
    "unknown_services": [
        ["fault", "Service.MethodNotFound", "Unknown method none"],
        ["fault", "Service.ResourceNotFound", "Unknown service nobody.greet"],
        "fault",
    ],
    "services_come_and_go": [[["result", [1]], ["result", [2]]], "fault", ["result", [2]]],
    "arguments_are_objects_with_attributes": ["result", [8, True, 1]],
    "expose_request_of_the_gateway": [["result", ["192.0.2.7", "/anywhere", "x"]], "192.0.2.7"],
    "expose_request_of_one": [["result", "192.0.2.7"], ["result", [1]], ["result", "192.0.2.7"]],
    "an_authenticator": [
        ["result", [1]],
        ["fault", "AuthenticationError", "Authentication failed"],
        ["fault", "AuthenticationError", "Authentication failed"],
        [["ada", "lovelace"], ["ada", "wrong"], [None, None]],
    ],
    "an_authenticator_has_to_say_true": ["fault", "AuthenticationError", "Authentication failed"],
    "an_authenticator_of_one": [
        ["fault", "AuthenticationError", "Authentication failed"],
        ["result", "open"],
        ["result", []],
        ["fault", "AuthenticationError", "Authentication failed"],
    ],
    "a_preprocessor": [["result", "ada 1"], ["result", [1]], "b 2", [["greet", []], [None, []], ["greet", ["b"]]]],
    "a_preprocessor_that_refuses": ["fault", "Shop.Closed", "come back tomorrow"],
    "an_exception_with_a_code": [["fault", "Shop.SoldOut", "this morning"], "Shop.SoldOut"],
}


def outcomes(module: str, *options: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, *options, PROGRAM, module], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return outcomes("pyamf")


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return outcomes("amfgate.compat.pyamf", "-W", "error")


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_comes_out_the_same_on_py3amf_and_here(example: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours[example] == EXPECTED[example]
    assert theirs[example] == EXPECTED[example]


# What comes out otherwise on purpose: on Py3AMF, and here.
OTHERWISE: dict[str, tuple[Any, Any]] = {
    "bytes_are_byte_arrays": ("06056162", "0c056162"),
    "undefined_is_false": (True, False),
    "a_class_has_one_alias": ("one.more", "ValueError"),
    "nothing_is_imported_by_its_name_on_the_wire": (True, False),
    "instances_of_unregistered_classes_are_not_sent": (True, "EncodeError"),
    "one_alias_is_one_class": (None, "ValueError"),
    "input_that_breaks_off_is_an_error": ([], "DecodeError"),
    "flex_clients_are_authenticated": ("eve 1", "AuthenticationError"),
    "the_text_of_exceptions_is_not_sent": (
        ["fault", "LookupError", "the table of passwords"],
        ["fault", "Server.Processing", "The call failed; the log of the server says why."],
    ),
    "inherited_methods_are_not_exposed": (["result", "ada 1"], ["fault", "Service.MethodNotFound"]),
}


@pytest.mark.parametrize("example", DIFFERENT)
def test_it_comes_out_otherwise_on_purpose(example: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """docs/from-pyamf.md says why."""
    assert (theirs[example], ours[example]) == OTHERWISE[example]


# --- here alone: more of what is different on purpose, and errors ----------------------------------------------------


def test_every_text_that_was_there_before_is_written_as_a_reference() -> None:
    """As PyAMF does; `amfgate.dumps` may stop to look in a column of texts that differ."""
    rows = [{"name": f"name {number % 300}"} for number in range(301)]
    data = pyamf.encode(rows, encoding=pyamf.AMF3).getvalue()
    assert data.count(b"name 0") == 1
    assert amfgate.dumps(rows).count(b"name 0") == 2


def test_decode_reads_any_file() -> None:
    file = io.BytesIO(b"junk" + bytes.fromhex("0a0b01036e040101"))
    file.seek(4)
    (value,) = pyamf.decode(file, encoding=pyamf.AMF3)
    assert (value, type(value)) == ({"n": 1}, pyamf.ASObject)


def test_input_that_breaks_off_is_an_error() -> None:
    """Py3AMF ends quietly."""
    with pytest.raises(pyamf.DecodeError, match="at offset"):
        list(pyamf.decode(bytes.fromhex("090301"), encoding=pyamf.AMF3))


def test_read_element_says_when_there_is_none() -> None:
    values = pyamf.decode(b"\x05\x06", encoding=pyamf.AMF0)
    assert values.readElement() is None
    assert values.next() is pyamf.Undefined
    with pytest.raises(pyamf.EOStream):
        values.readElement()


def test_a_typed_object_is_written_as_one_in_amf0() -> None:
    hat = pyamf.TypedObject("game.Hat", {"size": 10})
    assert pyamf.encode(hat, encoding=pyamf.AMF0).getvalue() == bytes.fromhex(
        "10 0008 67616d652e486174 0004 73697a65 00 4024000000000000 000009"
    )


def test_bytes_are_a_byte_array() -> None:
    """In Py3AMF they are a string."""
    assert pyamf.encode(b"ab", encoding=pyamf.AMF3).getvalue() == bytes.fromhex("0c 05 6162")


def test_compressed_bytes_stay_so_until_somebody_asks() -> None:
    packed = zlib.compress(b"a" * 100)
    (back,) = pyamf.decode(amfgate.dumps(packed), encoding=pyamf.AMF3)
    assert back.getvalue() == packed
    back.uncompress()
    assert (back, back.tell()) == (b"a" * 100, 0)
    back.compress()
    assert back[:2] == b"\x78\xda"
    assert zlib.decompress(back) == b"a" * 100
    with pytest.raises(pyamf.DecodeError, match="not compressed by zlib"):
        pyamf.amf3.ByteArray(b"plain").uncompress()


def test_reading_past_the_end_of_a_byte_array_is_an_error() -> None:
    data = pyamf.amf3.ByteArray(b"\x00\x05ab")
    with pytest.raises(pyamf.DecodeError, match="5 bytes are wanted, 2 are left"):
        data.readUTF()
    data.seek(0, 2)
    with pytest.raises(pyamf.DecodeError, match="there is no value"):
        data.readObject()


def test_a_byte_array_is_a_file() -> None:
    data = pyamf.amf3.ByteArray(io.BytesIO(b"abcdef"))
    data.seek(-2, 2)
    assert (data.read(), data.bytesAvailable) == (b"ef", 0)
    data.seek(8)
    data.write("é")
    assert data == b"abcdef\0\0\xc3\xa9"
    data.truncate(3)
    assert (data, data.tell()) == (b"abc", 3)


def test_no_class_is_imported_by_its_name_on_the_wire() -> None:
    data = bytes.fromhex("0a 0b 1b") + b"antigravity.F" + b"\x01"
    (value,) = pyamf.decode(data, encoding=pyamf.AMF3)
    assert (type(value), value.alias) == (pyamf.TypedObject, "antigravity.F")
    assert "antigravity" not in sys.modules


def test_an_instance_of_an_unregistered_class_is_not_sent() -> None:
    """PyAMF sends all that it has in it, a hash of a password too."""

    class User:
        def __init__(self) -> None:
            self.password_hash = "secret"

    with pytest.raises(pyamf.EncodeError, match="cannot encode User"):
        pyamf.encode(User())


def test_two_classes_do_not_share_an_alias() -> None:
    class One:
        pass

    class Two:
        pass

    pyamf.register_class(One, "compat.One")
    with pytest.raises(ValueError, match=r"the alias 'compat.One' belongs to"):
        pyamf.register_class(Two, "compat.One")
    pyamf.unregister_class(One)
    with pytest.raises(pyamf.UnknownClassAlias, match=r"nobody registered 'compat.One'"):
        pyamf.get_class_alias("compat.One")


def test_static_members_are_those_that_the_class_declares() -> None:
    class Point:
        x: int
        y: int

        class __amf__:
            alias = "compat.Point"
            static = ("x", "y")
            dynamic = False

    point = Point()
    point.x, point.y = 1, 2
    pyamf.register_class(Point)
    try:
        assert pyamf.encode(point).getvalue() == bytes.fromhex("0a 23 19") + b"compat.Point" + bytes.fromhex(
            "03 78 03 79 04 01 04 02"
        )
    finally:
        pyamf.unregister_class("compat.Point")


def test_another_name_on_the_wire() -> None:
    class Named:
        class __amf__:
            alias = "compat.Named"
            synonym = {"class_": "class"}

    named = Named()
    named.class_ = "a"  # type: ignore[attr-defined]
    pyamf.register_class(Named)
    try:
        assert b"\x0bclass" in pyamf.encode(named).getvalue()
    finally:
        pyamf.unregister_class(Named)


@pytest.mark.parametrize(
    ("meta", "error", "text"),
    [
        ({}, ValueError, "Broken needs an alias"),
        (
            {"alias": "b.B", "static": ("size",)},
            TypeError,
            "static names size; declare them in the class: size: object",
        ),
        ({"alias": "b.B", "proxy": ("rows",)}, TypeError, r"put a flex.ArrayCollection into the attribute"),
        ({"alias": "b.B", "external": True}, TypeError, "has no __readamf__"),
    ],
)
def test_what_cannot_be_registered(meta: dict[str, Any], error: type[Exception], text: str) -> None:
    broken = type("Broken", (), {"__amf__": type("__amf__", (), meta)})
    with pytest.raises(error, match=text):
        pyamf.register_class(broken)


def test_translation_reaches_everything_and_keeps_identity() -> None:
    class Box:
        def __init__(self) -> None:
            self.content: Any = None

    pyamf.register_class(Box, "compat.Box")
    row = {"when": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), "raw": b"xyz"}
    box = Box()
    box.content = [row, amfgate.EcmaArray({"k": row}), amfgate.TypedObject("a.B", {"m": row}), row]
    box.content.append(box)
    value = {"box": box, "all": amfgate.flex.ArrayCollection([row]), "by": amfgate.Dictionary([(1, row)])}
    value["self"] = value
    (back,) = pyamf.decode(amfgate.dumps(value))
    pyamf.unregister_class(Box)
    first = back.box.content[0]
    assert (type(first), first.when) == (pyamf.ASObject, datetime.datetime(2020, 1, 1))
    assert (type(first.raw), first.raw) == (pyamf.amf3.ByteArray, b"xyz")
    assert back.box.content[1]["k"] is first
    assert type(back.box.content[1]) is pyamf.MixedArray
    assert back.box.content[1].count == 0
    assert back.box.content[2]["m"] is first
    assert back.box.content[3] is first
    assert back.box.content[4] is back.box
    assert back["all"][0] is first
    assert back["by"][1] is first
    assert back.self is back


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    inner: Any = None
    empty: Any = None


class Slotted:
    __slots__ = ("inner", "unset")


class Packed(msgspec.Struct, frozen=True):
    inner: Any = None


@pytest.mark.parametrize("cls", [Frozen, Slotted, Packed])
def test_translation_reaches_what_is_in_slots(cls: type) -> None:
    pyamf.register_class(cls, "compat.Slots")
    try:
        value = amfgate.TypedObject("compat.Slots", {"inner": {"raw": b"xyz"}})
        (back,) = pyamf.decode(amfgate.dumps(value))
    finally:
        pyamf.unregister_class(cls)
    assert (type(back), type(back.inner), type(back.inner.raw)) == (cls, pyamf.ASObject, pyamf.amf3.ByteArray)


def test_an_anonymous_object_with_sealed_members_is_an_object_too() -> None:
    (row,) = pyamf.decode(bytes.fromhex("0a 13 01 03 61 04 05"))
    assert (type(row), row.a) == (pyamf.ASObject, 5)


def test_values_nested_deep_are_translated() -> None:
    value: Any = []
    for _ in range(500):
        value = [value]
    (back,) = pyamf.decode(amfgate.dumps(value))
    depth = 0
    while back:
        (back,), depth = back, depth + 1
    assert depth == 500


def test_names_that_are_not_here_say_where_to_look() -> None:
    with pytest.raises(AttributeError, match=r"has no 'register_package'.*docs/from-pyamf.md"):
        pyamf.register_package  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'django'"):
        pyamf.remoting.gateway.django  # noqa: B018


# --- the gateway -----------------------------------------------------------------------------------------------------


def test_flex_clients_are_authenticated_too() -> None:
    """Py3AMF asks no authenticator about a RemotingMessage."""
    asked = []

    def check(username: Any, password: Any) -> bool:
        asked.append((username, password))
        return bool(password == "lovelace")

    gateway = WSGIGateway({"a.echo": echo}, authenticator=check)
    assert flex_call(gateway, "a", "echo", 1, credentials="ada:lovelace") == [1]
    assert flex_call(gateway, "a", "echo", 1, credentials="ada:wrong") == "AuthenticationError"
    assert flex_call(gateway, "a", "echo", 1) == "AuthenticationError"
    assert asked == [("ada", "lovelace"), ("ada", "wrong"), (None, None)]


def test_the_text_of_an_unexpected_exception_stays_here() -> None:
    def fail() -> None:
        raise KeyError("the table of passwords")

    assert call(WSGIGateway({"fail": fail}), "fail") == (
        "fault",
        "Server.Processing",
        "The call failed; the log of the server says why.",
    )
    assert "the table of passwords" in call(WSGIGateway({"fail": fail}, debug=True), "fail")[2]


def test_roles_are_asked_of_the_user_that_the_authenticator_let_pass() -> None:
    @amfgate.requires(lambda user: user == "ada")
    def open_vault(call: amfgate.Call) -> str:
        return f"open for {call.user}"

    gateway = WSGIGateway({"open": open_vault}, authenticator=lambda username, password: True)
    assert call(gateway, "open", credentials=("ada", "")) == ("result", "open for ada")
    assert call(gateway, "open", credentials=("bob", ""))[1] == "Client.Authorization"
    assert call(gateway, "open")[1] == "Client.Authentication"


class Vault:
    @amfgate.requires()
    def open(self, key: str) -> str:
        return key

    def knock(self, times: int) -> str:
        return "knock " * times


def test_a_class_is_a_service_with_its_own_signature_and_roles() -> None:
    gateway = WSGIGateway({"vault": Vault})
    assert call(gateway, "vault.knock", 2) == ("result", "knock knock ")
    assert call(gateway, "vault.knock", "two")[1] == "Client.Arguments"
    assert call(gateway, "vault.open", "k")[1] == "Client.Authentication"


def test_an_authenticator_may_see_the_request() -> None:
    def vault() -> str:
        return "open"

    def check(request: Any, username: Any, password: Any) -> bool:
        return bool(request["REMOTE_ADDR"] == "192.0.2.7")

    pyamf.remoting.gateway.authenticate(vault, check, expose_request=True)
    assert call(WSGIGateway({"vault": vault}), "vault") == ("result", "open")


def test_a_preprocessor_of_one_method_may_see_the_request() -> None:
    seen = []

    def vault() -> str:
        return "open"

    pyamf.remoting.gateway.preprocess(vault, lambda request, service: seen.append(request["REMOTE_ADDR"]), True)
    assert call(WSGIGateway({"vault": vault}), "vault") == ("result", "open")
    assert seen == ["192.0.2.7"]


@pytest.mark.parametrize(
    ("services", "options", "error", "text"),
    [
        ([echo], {}, TypeError, "services is a mapping"),
        ({}, {"timezone_offset": 3600}, TypeError, "dates travel in UTC"),
        ({}, {"unknown": 1}, TypeError, "unexpected keyword argument 'unknown'"),
        ({"_m": echo}, {}, ValueError, "cannot name a service"),
        ({"m": datetime.datetime}, {}, TypeError, "is a class that cannot be made"),
        ({"m": sys}, {}, TypeError, "has no __all__"),
    ],
)
def test_options_and_services_are_checked_at_once(
    services: Any, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        WSGIGateway(services, **options)


def test_a_module_is_a_service_by_its_list_of_names() -> None:
    assert call(WSGIGateway({"text": json}), "text.dumps", [1]) == ("result", "[1]")


def test_services_are_added_and_removed_whole() -> None:
    gateway = WSGIGateway({"echo": echo})
    with pytest.raises(ValueError, match="two services named 'echo'"):
        gateway.addService(echo)
    with pytest.raises(TypeError, match="async def"):
        gateway.addService(later, "later")
    assert list(gateway.services) == ["echo"]
    gateway.removeService(echo)
    assert list(gateway.services) == []
    with pytest.raises(NameError, match="there is no service 'echo'"):
        gateway.removeService("echo")


async def later() -> None: ...


@pytest.mark.parametrize("decorate", ["authenticate", "preprocess"])
def test_decorators_take_functions(decorate: str) -> None:
    with pytest.raises(TypeError, match="a function was expected, not 5"):
        getattr(pyamf.remoting.gateway, decorate)(echo, 5)
