"""The tagged JSON form: what it looks like, and that it gives back every byte, of odd input too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from odd_amf import odd_packets, odd_shared_objects, odd_values

import amfgate
from amfgate import EncodeError
from amfgate.inspector import from_json, read_packet, read_sol, read_values, to_json
from amfgate.inspector.jsonform import dumps
from amfgate.inspector.jsonwrite import encode

quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def form(hex_digits: str, amf: int) -> Any:
    """The form of one value; it has to give the same bytes again, through text."""
    data = bytes.fromhex(hex_digits)
    document = json.loads(dumps(to_json(read_values(data, amf), data)))
    assert from_json(document) == data
    (value,) = document["values"]
    return value


AMF0 = [
    ("00 3ff0000000000000", 1),
    ("00 3ff8000000000000", 1.5),
    ("00 7ff8000000000000", {"$double": "7ff8000000000000"}),
    ("00 fff8000000000001", {"$double": "fff8000000000001"}),
    ("00 8000000000000000", {"$double": "8000000000000000"}),
    ("01 00", False),
    ("01 07", {"$boolean": 7}),
    ("02 0002 6869", "hi"),
    ("02 0001 ff", {"$utf8": "ff"}),
    ("0c 00000002 6869", {"$long": "hi"}),
    ("05", None),
    ("06", {"$undefined": True}),
    ("0d", {"$unsupported": True}),
    ("0b 4277262e0d000000 00f0", {"$date": 1590796800000, "$zone": 240}),
    ("0f 00000004 3c612f3e", {"$xmldoc": "<a/>"}),
    ("03 0001 61 05 000009", {"a": None}),
    ("03 0002 2478 05 000009", {"$$x": None}),
    ("03 0001 61 05 0001 61 06 000009", {"$object": [["a", None], ["a", {"$undefined": True}]]}),
    ("08 00000007 0001 61 05 000009", {"$ecma": {"a": None}, "$count": 7}),
    ("10 0001 41 0001 61 05 000009", {"$class": "A", "$members": {"a": None}}),
    ("0a 00000001 07 0000", {"$array": [{"$ref": 1}], "$id": 1}),
    ("11 04 05", {"$amf3": 5}),
]
AMF3 = [
    ("04 05", 5),
    ("04 80 80 80 05", {"$integer": 5, "$width": 4}),
    ("04 ffffffff", -1),
    ("05 4014000000000000", {"$double": 5}),
    ("05 4277262e0d000000", 1590796800000),
    ("05 3ff8000000000000", 1.5),
    ("06 80 05 6869", {"$string": "hi", "$width": 2}),
    ("06 01", ""),
    ("09 05 01 06 05 6869 06 00", ["hi", "hi"]),
    ("09 05 01 06 05 6869 06 05 6869", ["hi", {"$string": "hi", "$inline": True}]),
    (
        "09 07 01 06 05 6869 06 05 6869 06 02",
        ["hi", {"$string": "hi", "$inline": True}, {"$string": "hi", "$at": 1}],
    ),
    ("09 01 03 61 01 01", {"$assoc": {"a": None}, "$dense": []}),
    ("09 01 03 61 01 00 02 01", {"$assoc": [["a", None], ["a", False]], "$dense": []}),
    ("09 01 80 01", {"$array": [], "$end": 2}),
    ("0a 0b 01 03 61 01 01", {"a": None}),
    ("09 05 01 0a 0b 01 01 0a 0b 01 01", [{}, {"$object": {}, "$traits": "inline"}]),
    ("09 05 01 0a 0b 01 01 0a 01 01", [{}, {}]),
    ("0a 13 03 41 03 61 01", {"$class": "A", "$sealed": {"a": None}}),
    ("0a 1b 03 41 03 61 01 03 62 01 01", {"$class": "A", "$sealed": {"a": None}, "$dynamic": {"b": None}}),
    ("0a 13 03 41 01 01", {"$class": "A", "$sealed": {"": None}}),
    ("0a 0b 01 03 6d 0a 00 01", {"$object": {"m": {"$ref": 1}}, "$id": 1}),
    ("09 05 01 09 01 01 0a 02", [{"$array": [], "$id": 1}, {"$ref": 1, "$marker": 10}]),
    ("0c 05 0102", {"$bytes": "0102"}),
    ("0d 03 01 ffffffff", {"$vector": "int", "$items": [-1], "$fixed": True}),
    ("0f 03 00 7ff8000000000000", {"$vector": "double", "$items": [{"$double": "7ff8000000000000"}]}),
    ("10 03 00 03 41 01", {"$vector": "object", "$type": "A", "$items": [None]}),
    ("11 03 02 04 01 01", {"$dictionary": [[1, None]], "$weak": 2}),
    (
        "0a 07 43 666c65782e6d6573736167696e672e696f2e4172726179436f6c6c656374696f6e 09 01 01",
        {"$class": "flex.messaging.io.ArrayCollection", "$source": []},
    ),
    ("0a 07 07 44534b 01 04 05 00 00", {"$class": "DSK", "$small": [["01", {"body": 5}], ["00", {}], ["00", {}]]}),
]


@pytest.mark.parametrize(("hex_digits", "expected"), AMF0)
def test_a_value_of_amf0(hex_digits: str, expected: Any) -> None:
    assert form(hex_digits, 0) == expected


@pytest.mark.parametrize(("hex_digits", "expected"), AMF3)
def test_a_value_of_amf3(hex_digits: str, expected: Any) -> None:
    assert form(hex_digits, 3) == expected


def test_a_packet_with_a_false_length_and_an_odd_flag() -> None:
    data = bytes.fromhex("0003 0001 0001 68 02 ffffffff 05 0001 0001 61 0002 2f31 00000001 0a 00000001 11 0401")
    assert to_json(read_packet(data), data) == {
        "amfgate": 1,
        "kind": "packet",
        "version": 3,
        "headers": [{"name": "h", "must_understand": 2, "length": 4294967295, "value": None}],
        "bodies": [{"target": "a", "response": "/1", "length": 1, "value": [{"$amf3": 1}]}],
    }


def test_arguments_without_a_slot_are_told() -> None:
    data = bytes.fromhex("0000 0000 0001 0001 61 0002 2f31 0000000c 0a 00000002 03 000009 07 0000".replace(" ", ""))
    document = to_json(read_packet(data), data)
    assert document["bodies"][0]["uncounted"] is True
    assert document["bodies"][0]["value"] == [{"$object": {}, "$id": 1}, {"$ref": 1}]
    assert from_json(document) == data


def test_a_damaged_body_is_raw_and_the_other_is_not() -> None:
    data = bytes.fromhex("0000 0000 0002 0001 61 0002 2f31 00000002 04ff 0001 62 0002 2f32 00000001 05")
    document = to_json(read_packet(data, tolerant=True), data)
    first, second = document["bodies"]
    assert first["value"]["$raw"] == "04ff"
    assert second == {"target": "b", "response": "/2", "value": None}
    assert from_json(document) == data


def test_a_shared_object() -> None:
    so = amfgate.sol.SharedObject("slot", {"coins": 5, "items": ["a", "a"]}, version=3)
    data = amfgate.sol.dumps(so)
    assert to_json(read_sol(data), data) == {
        "amfgate": 1,
        "kind": "sol",
        "version": 3,
        "name": "slot",
        "members": {"coins": 5, "items": ["a", "a"]},
    }


def no_part_is_raw(document: Any) -> None:
    text = dumps(document)
    assert "raw" not in text


@quick
@given(odd_values(3))
def test_odd_amf3_gives_its_bytes_again(data: bytes) -> None:
    document = to_json(read_values(data, 3), data)
    no_part_is_raw(document)
    assert from_json(json.loads(dumps(document))) == data


@quick
@given(odd_values(0))
def test_odd_amf0_gives_its_bytes_again(data: bytes) -> None:
    document = to_json(read_values(data, 0), data)
    no_part_is_raw(document)
    assert from_json(json.loads(dumps(document))) == data


@quick
@given(odd_packets())
def test_odd_packets_give_their_bytes_again(data: bytes) -> None:
    document = to_json(read_packet(data), data)
    no_part_is_raw(document)
    assert from_json(json.loads(dumps(document))) == data


@quick
@given(odd_shared_objects())
def test_odd_shared_objects_give_their_bytes_again(data: bytes) -> None:
    document = to_json(read_sol(data), data)
    no_part_is_raw(document)
    assert from_json(json.loads(dumps(document))) == data


def test_what_is_nested_too_deep_for_json_is_raw() -> None:
    data = b"\x0a\x00\x00\x00\x01" * 300 + b"\x05"
    document = to_json(read_values(data, 0), data)
    assert document["values"][0]["$raw"] == data.hex()
    assert from_json(json.loads(dumps(document))) == data


def test_whole_doubles_survive_tools_that_write_42_for_42_0() -> None:
    assert form("05 4045000000000000", 3) == {"$double": 42}


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], 'this JSON is no document of the inspector: it has to be an object with "kind"'),
        ({"kind": "amf3", "amfgate": 2, "values": []}, "this is form 2 of the JSON; version 1 can be read"),
        ({"kind": "x"}, "\"kind\" is packet, sol, amf0 or amf3, not 'x'"),
        (
            {"kind": "amf3", "values": [{"$dates": 1}]},
            "'$dates' is no tag; a name that begins with $ is written with one more: '$$dates' at $.values[0]",
        ),
        ({"kind": "amf3", "values": [{"$date": 1, "$x": 2}]}, "$x: not beside $date at $.values[0]"),
        ({"kind": "amf3", "values": [[{"$ref": 4}]]}, "no value before this has the $id 4 at $.values[0][0]"),
        ({"kind": "amf0", "values": [{"a": {"$bytes": "00"}}]}, "AMF0 has no byte array at $.values[0].a"),
        ({"kind": "amf3", "values": [2**53 + 1]}, "9007199254740993 has no exact place in a double at $.values[0]"),
        ({"kind": "amf3", "values": [{"$bytes": "0"}]}, "hex digits were expected, not '0' at $.values[0]"),
        ({"kind": "amf3", "values": ["\ud800"]}, "a lone surrogate at 0 is no text; $utf8 takes bytes at $.values[0]"),
        (
            {"kind": "amf3", "values": [{"$vector": "int", "$items": [2**31]}]},
            "an item does not fit a Vector of int: 'i' format requires -2147483648 <= number <= 2147483647 "
            "at $.values[0]",
        ),
        ({"kind": "packet", "version": 0, "headers": []}, "'bodies' is missing or not what it has to be: None at $"),
        ({"kind": "sol", "version": 1}, "the version of a shared object is 0 or 3, not 1 at $.version"),
        (
            {"kind": "packet", "version": 0, "headers": [], "bodies": [5]},
            "an object was expected, not 5 at $.bodies[0]",
        ),
        (
            {"kind": "amf3", "values": [[{"$vector": "int", "$items": 5}]]},
            "something at $vector is not what it has to be: object of type 'int' has no len() at $.values[0][0]",
        ),
        (
            {"kind": "amf3", "values": [{"$dictionary": [], "$weak": "x"}]},
            "a number that fits 1 bytes was expected, not 'x' at $.values[0]",
        ),
    ],
)
def test_a_slip_of_the_pen_is_told_with_its_place(document: Any, complaint: str) -> None:
    with pytest.raises(EncodeError) as caught:
        from_json(document)
    assert str(caught.value) == complaint


def test_tools_that_sort_names_do_no_harm() -> None:
    document = {"kind": "amf3", "values": [[{"$id": 1, "$object": {}}, {"$ref": 1}]]}
    assert from_json(document) == bytes.fromhex("09 05 01 0a 0b 01 01 0a 02")


def test_one_value_for_an_argument() -> None:
    data = encode({"$class": "com.example.Product", "$members": {"id": 1}}, 3)
    assert amfgate.loads(data, classes=amfgate.ClassRegistry()) == amfgate.TypedObject("com.example.Product", {"id": 1})
