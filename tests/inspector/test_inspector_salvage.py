"""Going on after damage: what is skipped, and what is read behind it."""

from __future__ import annotations

import time

import pytest

import amfgate
from amfgate.inspector import Node, read_packet, read_sol, read_values, salvage


def shape(node: Node) -> list[tuple[str, str]]:
    return [(str(getattr(label, "value", label)), child.kind) for label, child in node.children]


def damaged(data: bytes, at: int, new: str) -> bytes:
    changed = bytes.fromhex(new)
    return data[:at] + changed + data[at + len(changed) :]


def test_a_bad_member_of_amf0_costs_that_member_alone() -> None:
    data = amfgate.dumps({"first": 1, "second": True, "third": "three"}, version=0)
    broken = damaged(data, data.index(b"\x01\x01"), "ff")
    root = read_values(broken, 0, tolerant=True)
    assert shape(root) == [("0", "object")]
    assert shape(root.children[0][1]) == [("first", "number"), ("second", "skipped"), ("third", "string")]
    assert [str(damage) for damage in root.more["damages"]] == [
        "0xFF is no marker of AMF0, at offset 25; skipped 2 bytes from offset 25 (0x19)"
    ]


def test_a_bad_member_of_amf3_costs_that_member_alone() -> None:
    data = amfgate.dumps({"first": 1, "second": 2.5, "third": "three"})
    broken = damaged(data, data.index(b"\x05\x40"), "ff")
    root = read_values(broken, 3, tolerant=True)
    assert shape(root.children[0][1]) == [("first", "integer"), ("second", "skipped"), ("third", "string")]
    (damage,) = root.more["damages"]
    assert str(damage) == "0xFF is no marker of AMF3, at offset 18; skipped 9 bytes from offset 18 (0x12)"


def test_damage_inside_goes_on_in_the_object_around_it() -> None:
    data = amfgate.dumps({"list": [1, 2, 3], "after": True}, version=0)
    broken = damaged(data, data.index(b"\x0a") + 5, "ff")
    root = read_values(broken, 0, tolerant=True)
    assert shape(root.children[0][1]) == [("list", "strict array"), ("after", "boolean")]
    assert root.children[0][1].children[0][1].more["damage"] == "0xFF is no marker of AMF0, at offset 12"


def test_a_class_that_nobody_knows_is_named_and_skipped() -> None:
    data = bytes.fromhex("0a 0b 01 03 61 0a 07 17 636f6d2e6164642e466f6f") + b"\x01\x02\x03\xff\xff"
    data += bytes.fromhex("07 656e64 06 07 796573 01")
    root = read_values(data, 3, tolerant=True)
    (value,) = [child for _, child in root.children]
    assert shape(value) == [("a", "object"), ("end", "string")]
    inner = value.children[0][1]
    assert inner.more["class"].alias.value == "com.add.Foo"
    assert str(root.more["damages"][0]).startswith(
        '"com.add.Foo" is externalizable: only its class knows how long it is'
    )


def test_a_bad_body_does_not_cost_the_next_even_without_its_length() -> None:
    bodies = [amfgate.Body("a.b", "/1", [1]), amfgate.Body("c.d", "/2", ["yes"])]
    data = bytearray(amfgate.Packet(0, [], bodies).to_bytes())
    at = data.index(b"\x0a")
    data[at - 4 : at] = b"\xff\xff\xff\xff"  # no real length
    data[at + 5] = 0xFF
    root = read_packet(bytes(data), tolerant=True)
    assert shape(root) == [("body 0", "body"), ("body 1", "body")]
    assert root.children[1][1].more["target"].value == "c.d"


def test_a_bad_element_of_a_shared_object_costs_that_element_alone() -> None:
    for version in (0, 3):
        so = amfgate.sol.SharedObject("s", {"one": 1.5, "two": "zwei", "three": True}, version=version)
        data = amfgate.sol.dumps(so)
        broken = damaged(data, data.index(b"\x3f\xf8") - 1, "ff")
        root = read_sol(broken, tolerant=True)
        assert shape(root) == [("", "skipped"), ("two", "string"), ("three", "boolean")]


def test_a_wrong_length_of_a_shared_object_is_told_and_nothing_is_lost() -> None:
    data = amfgate.sol.dumps(amfgate.sol.SharedObject("s", {"one": 1}, version=0)) + b"\x00\x01a\x05\x00"
    root = read_sol(data, tolerant=True)
    assert shape(root) == [("one", "number"), ("a", "null")]
    assert root.more["damages"][0].why == "the shared object says that 32 bytes follow, but there are 37"


def test_values_behind_damage_at_the_root() -> None:
    data = b"\x02\x00\x02hi" + b"\xff\xff\xff" + b"\x02\x00\x03yes"
    root = read_values(data, 0, tolerant=True)
    assert shape(root) == [("0", "string"), ("", "skipped"), ("2", "string")]


def test_many_damages_end_the_attempts() -> None:
    root = read_values(b"\x02\x00\x02hi\xff" * 400, 0, tolerant=True)
    assert len(root.more["damages"]) <= 101


def test_looking_for_places_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Input made to look like a member everywhere costs so much and no more; what is left is skipped."""
    monkeypatch.setattr(salvage, "EFFORT", 2000)
    data = b"\x0a\x00\x00\x00\x02\x03\x00\x01a\x04" + b"\x00\x01a\x05" * 50_000
    begun = time.perf_counter()
    root = read_values(data, 0, tolerant=True)
    assert time.perf_counter() - begun < 5
    assert root.more["damages"][-1].end == len(data)
