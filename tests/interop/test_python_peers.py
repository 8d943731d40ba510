"""Bytes exchanged with the AMF libraries of others in Python: Py3AMF 0.9.1 and as3lib-miniamf 0.9.5.

A peer is a witness where it is right and no oracle where it is not: what each gets wrong is named in the second half,
so that nobody takes its bytes for the format's, and so that a release which mends it is noticed.
"""

from __future__ import annotations

import datetime as dt
import importlib
import os
import sys
import warnings
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from real import leave_out

import amfgate
from amfgate import Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml, undefined
from amfgate.flex import ArrayCollection, ObjectProxy

CACHE = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
CACHE = Path(os.environ.get("AMFGATE_TEST_CACHE") or Path(CACHE) / "amfgate-tests")

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, about what they use of Python


def load(name: str) -> ModuleType:
    """A peer with its parts; miniamf from where install.sh put it, with a skip or a failure if it did not."""
    if name == "miniamf":
        home = CACHE / f"miniamf-cp{sys.version_info[0]}{sys.version_info[1]}"
        if not home.is_dir():
            leave_out("left out: as3lib-miniamf in tests/interop (bash tests/interop/install.sh installs it)")
        if str(home) not in sys.path:
            sys.path.append(str(home))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (".amf0", ".amf3", ".flex", ""):
            module = importlib.import_module(name + part)
    return module


@pytest.fixture(scope="module", params=["pyamf", "miniamf"])
def peer(request: pytest.FixtureRequest) -> ModuleType:
    return load(request.param)


def decoded(peer: ModuleType, data: bytes, version: int) -> Any:
    """The one value that a peer reads, in our types."""
    [value] = peer.decode(data, encoding=version)
    return ours(value)


def ours(value: Any) -> Any:
    """A peer's value in amfgate's types; its classes are told apart by their names."""
    kind = type(value).__name__
    if kind == "UndefinedType":
        return undefined
    if kind == "datetime":
        return value.replace(tzinfo=dt.UTC)
    if kind == "ByteArray":
        return value.getvalue()
    if kind == "Element":
        return importlib.import_module("xml.etree.ElementTree").tostring(value, encoding="unicode")
    if kind == "TypedObject":
        return TypedObject(value.alias, {key: ours(item) for key, item in value.items()})
    if kind == "ArrayCollection":
        return ArrayCollection([ours(item) for item in value])
    if kind == "ObjectProxy":
        return ObjectProxy(ours(value._amf_object))
    if kind in ("ASObject", "dict"):
        return {key: ours(item) for key, item in value.items()}
    if kind == "MixedArray":
        return EcmaArray({key: ours(item) for key, item in value.items()})
    if kind == "list":
        return [ours(item) for item in value]
    return value


ROW = {"n": 1}
LONG = "x" * 70_000

# What both read as we mean it, and write back in the same bytes: name, version, value.
SAME = [
    *(
        (name, version, value)
        for version in (0, 3)
        for name, value in (
            ("null", None),
            ("undefined", undefined),
            ("true", True),
            ("false", False),
            ("int", 5),
            ("negative", -1),
            ("greatest int29", 2**28 - 1),
            ("least int29", -(2**28)),
            ("beyond int29", 2**28),
            ("double", 1.5),
            ("text", "grüße ✓ 🎈"),
            ("empty text", ""),
            ("long text", LONG),
            ("a text twice", ["ab", "ab"]),
            ("list", [1, "x", None, [2]]),
            ("object", {"z": 1, "a": {"b": 2}}),
            ("date", dt.datetime(2001, 9, 9, 1, 46, 40, 500_000, tzinfo=dt.UTC)),
            ("early date", dt.datetime(1900, 1, 1, tzinfo=dt.UTC)),
            ("bytes", b"\x01\x02\xff"),
            ("an object twice", [ROW, ROW]),
        )
    ),
    ("associative array", 3, EcmaArray({"k": "v", 0: "a"})),
    ("a member without a name", 0, {"": 1}),
    ("collection", 3, ArrayCollection([1, 2])),
    ("proxy", 3, ObjectProxy({"a": 1})),
]


@pytest.mark.parametrize(("version", "value"), [case[1:] for case in SAME], ids=[f"{c[0]}-{c[1]}" for c in SAME])
def test_both_read_what_we_write_and_write_the_same_bytes(peer: ModuleType, version: int, value: Any) -> None:
    data = amfgate.dumps(value, version=version, strings="all")
    assert decoded(peer, data, version) == value
    [theirs] = peer.decode(data, encoding=version)
    assert peer.encode(theirs, encoding=version).getvalue() == data
    assert amfgate.loads(data, version=version) == value


# What both read as we mean it, and write in other bytes, which we read: name, version, value, as it comes back.
READ = [
    ("associative array", 0, EcmaArray({0: "a", "k": "v"}), EcmaArray({0: "a", "k": "v"})),  # another count
    ("rows", 3, Rows(("a", "b"), [(1, 2), (3, 4)]), [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),  # dynamic members
    ("rows", 0, Rows(("a", "b"), [(1, 2), (3, 4)]), [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
    ("collection", 0, ArrayCollection([1, 2]), [1, 2]),
    ("vector", 0, Vector("int", [1, -2]), [1, -2]),
]


@pytest.mark.parametrize(
    ("version", "value", "back"), [case[1:] for case in READ], ids=[f"{c[0]}-{c[1]}" for c in READ]
)
def test_both_read_what_we_write_and_we_read_what_they_write(
    peer: ModuleType, version: int, value: Any, back: Any
) -> None:
    data = amfgate.dumps(value, version=version)
    assert decoded(peer, data, version) == back
    [theirs] = peer.decode(data, encoding=version)
    assert amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version) == back


@pytest.mark.parametrize("version", [0, 3])
def test_cycles_arrive_as_cycles_both_ways(peer: ModuleType, version: int) -> None:
    ring: dict[str, Any] = {"n": 1}
    ring["self"] = ring
    [theirs] = peer.decode(amfgate.dumps(ring, version=version), encoding=version)
    assert theirs["self"] is theirs
    back = amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version)
    assert (back["n"], back["self"] is back) == (1, True)


@pytest.mark.parametrize("version", [0, 3])
def test_a_nan_arrives_whatever_its_sign(peer: ModuleType, version: int) -> None:
    [theirs] = peer.decode(amfgate.dumps(float("nan"), version=version), encoding=version)
    back = amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version)
    assert theirs != theirs
    assert back != back


@pytest.mark.parametrize("version", [0, 3])
def test_instances_of_registered_classes_both_ways(peer: ModuleType, version: int) -> None:
    class Hat:
        size: int = 0

    class TheirHat:
        pass

    registry = amfgate.ClassRegistry()
    registry.register(Hat, "interop.Hat")
    peer.register_class(TheirHat, "interop.Hat")
    try:
        hat = Hat()
        hat.size = 10
        [theirs] = peer.decode(amfgate.dumps(hat, version=version, classes=registry), encoding=version)
        assert (type(theirs), theirs.size) == (TheirHat, 10)
        theirs.size = 11
        back = amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version, classes=registry)
        assert (type(back), back.size) == (Hat, 11)
    finally:
        peer.unregister_class("interop.Hat")


@pytest.mark.parametrize("version", [0, 3])
def test_both_read_an_object_of_an_unknown_class(peer: ModuleType, version: int) -> None:
    data = amfgate.dumps(TypedObject("no.such.module.Hat", {"size": 10}), version=version)
    assert decoded(peer, data, version) == TypedObject("no.such.module.Hat", {"size": 10})


# --- their faults ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "alias"), [(0, "no.such.module.Hat"), (3, "no.such.module.Hat")])
def test_fault_of_both_an_unknown_class_is_lost_on_the_way_back(peer: ModuleType, version: int, alias: str) -> None:
    data = amfgate.dumps(TypedObject(alias, {"size": 10}), version=version)
    [theirs] = peer.decode(data, encoding=version)
    assert amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version) == {"size": 10}


@pytest.mark.parametrize(("version", "legacy", "back"), [(0, True, True), (3, True, False), (3, False, False)])
def test_fault_of_both_xml_is_parsed_and_written_anew(peer: ModuleType, version: int, legacy: bool, back: bool) -> None:
    """Other text, and an XMLDocument of AMF3 becomes an XML."""
    [theirs] = peer.decode(amfgate.dumps(Xml("<a b='1'/>", legacy), version=version), encoding=version)
    again = amfgate.loads(peer.encode(theirs, encoding=version).getvalue(), version=version)
    assert (again, again.legacy) == ('<a b="1" />', back)


def test_fault_of_both_bytes_that_zlib_packed_do_not_stay_as_they_are(peer: ModuleType) -> None:
    """Py3AMF packs them anew, miniamf leaves them unpacked."""
    packed = zlib.compress(b"hello")
    [theirs] = peer.decode(amfgate.dumps(packed), encoding=3)
    back = amfgate.loads(peer.encode(theirs, encoding=3).getvalue())
    assert back != packed
    assert back == (b"hello" if peer.__name__ == "miniamf" else packed[:1] + b"\xda" + packed[2:])


@pytest.mark.parametrize(
    ("kind", "items"), [("int", [1, -2]), ("uint", [4294967295]), ("double", [0.5]), ("object", [ROW])]
)
def test_fault_vectors(peer: ModuleType, kind: str, items: list[Any]) -> None:
    """Py3AMF knows none, miniamf all but Vector.<Object>."""
    data = amfgate.dumps(Vector(kind, items))
    if peer.__name__ == "miniamf" and kind != "object":
        [theirs] = peer.decode(data, encoding=3)
        assert list(theirs) == items
        assert peer.encode(theirs, encoding=3).getvalue() == data
    else:
        with pytest.raises(Exception, match=r"Unknown data type|no element found"):
            list(peer.decode(data, encoding=3))


def test_fault_of_py3amf_a_dictionary_is_a_tuple(peer: ModuleType) -> None:
    data = amfgate.dumps(Dictionary([("k", 1), (2, "two")]))
    [theirs] = peer.decode(data, encoding=3)
    if peer.__name__ == "miniamf":
        assert dict(theirs) == {"k": 1, 2: "two"}
        assert peer.encode(theirs, encoding=3).getvalue() == data
    else:
        assert theirs == ({"k": 1, 2: "two"}, False)


def test_fault_of_both_input_that_breaks_off_is_no_error(peer: ModuleType) -> None:
    """An array of one value, which is missing: they end as if there had been nothing."""
    data = bytes.fromhex("09 03 01")
    assert list(peer.decode(data, encoding=3)) == []
    with pytest.raises(amfgate.DecodeError, match="at offset 3"):
        amfgate.loads(data)
