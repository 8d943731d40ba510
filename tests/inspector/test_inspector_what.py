"""What is this?  Each answer, and why."""

from __future__ import annotations

import gzip

import pytest

import amfgate
from amfgate import DecodeError
from amfgate.inspector import what

CALL = amfgate.Packet(0, [], [amfgate.Body("catalog.page", "/1", [0, 20])]).to_bytes()


@pytest.mark.parametrize(
    ("hex_digits", "kind", "why"),
    [
        (CALL.hex(), "packet", "version word 0, and its headers and bodies end where the input does"),
        ("030003666f6f020003626172000009", "amf0", "one value of AMF0, an object, to the end"),
        ("0a0b010361040301", "amf3", "one value of AMF3, an object, to the end"),
        ("06 0b 68656c6c6f", "amf3", "one value of AMF3, a string, to the end"),
        ("06", "amf0", "one value of AMF0, an undefined, to the end"),
        ("0401 0402", "amf3", "2 values of AMF3 one after another, to the end"),
        ("02 0002 6869 05", "amf0", "2 values of AMF0 one after another, to the end"),
        (
            "02 0007 636f6e6e656374 00 3ff0000000000000 05",
            "amf0",
            "3 values of AMF0 one after another, to the end; a name, then a number, "
            "as in an RTMP command (message type 20)",
        ),
        (
            "00 02 0007 636f6e6e656374 00 3ff0000000000000 11 0a0b0101",
            "rtmp",
            "a byte 00, then AMF0 that begins with a name and a number: an RTMP command (message type 17)",
        ),
        ("030003666f6f0200036261720000", "amf0", "it reads as AMF0 up to offset 14, and is damaged there"),
    ],
)
def test_the_kind_and_the_reason(hex_digits: str, kind: str, why: str) -> None:
    found = what(bytes.fromhex(hex_digits))
    assert (found.kind, found.why) == (kind, why)


def test_a_shared_object() -> None:
    data = amfgate.sol.dumps(amfgate.sol.SharedObject("slot", {"coins": 5}, version=0))
    assert what(data).why == "it begins with 00 BF and has TCSO at offset 6"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "nothing: the input is empty"),
        (b"<html><body>Not found", "no AMF: it looks like HTML"),
        (b'{"a": 1}', "no AMF: it looks like JSON"),
        (gzip.compress(CALL), "no AMF: it looks like gzip: decompress it first (gzip.decompress)"),
        (b"FWS\x09", "no AMF: it looks like a SWF file"),
        (b"\xff\xfe\xfd", "no AMF that can be seen; it begins with FF FE FD"),
        (
            b"\xaa\xbb\x00\x07" + amfgate.dumps({"cmd": "move"}),
            "no AMF that can be seen; it begins with AA BB 00 07 0A 0B 01 07 63 6D 64 06 ...; "
            "from offset 4 on it reads as AMF3 to the end (--offset 4 --amf3)",
        ),
    ],
)
def test_what_is_no_amf_is_named(data: bytes, why: str) -> None:
    found = what(data)
    assert (found.kind, found.root, found.why) == ("", None, why)


def test_another_possible_reading_is_told() -> None:
    found = what(bytes.fromhex("0101"))
    assert (found.kind, found.why) == ("amf0", "one value of AMF0, a boolean, to the end")
    assert found.also == ("2 values of AMF3 one after another, to the end",)


def test_insisting_on_a_format() -> None:
    found = what(bytes.fromhex("0101"), amf=3)
    assert found.root is not None
    assert [child.kind for _, child in found.root.children] == ["null", "null"]


def test_an_offset_leaves_out_what_stands_before() -> None:
    found = what(b"\xaa\xbb" + amfgate.dumps({"a": 1}), offset=2)
    assert found.kind == "amf3"
    assert found.root is not None
    assert [child.start for _, child in found.root.children] == [2]


def test_strict_stops_at_the_first_damage() -> None:
    with pytest.raises(DecodeError, match=r"the input ends here, object not closed, at offset 14"):
        what(bytes.fromhex("030003666f6f0200036261720000"), tolerant=False)


def test_a_packet_whose_first_body_is_damaged_is_a_packet_still() -> None:
    data = bytes.fromhex("0000 0000 0002 0001 61 0002 2f31 00000002 04ff 0001 62 0002 2f32 00000001 05")
    found = what(data)
    assert (found.kind, found.why) == ("packet", "version word 0 and the name of a header or call, but damaged")
    (damage,) = found.damages
    assert str(damage) == "0x04 is reserved in AMF0 and never sent, at offset 17; skipped 2 bytes from offset 17 (0x11)"


def test_a_packet_with_bytes_too_many_is_a_packet_still() -> None:
    found = what(bytes.fromhex("0000 0000 0001 0001 61 0002 2f31 00000001 05 0102"))
    assert found.kind == "packet"
    assert [str(damage) for damage in found.damages] == [
        "2 bytes are left behind the last body; skipped 2 bytes from offset 18 (0x12)"
    ]


def test_the_beginning_of_a_shared_object() -> None:
    assert what(bytes.fromhex("00bf 0000")).why == ("no AMF: a shared object begins so, but this ends after 4 bytes")


def test_progress_is_told_on_long_input() -> None:
    data = amfgate.dumps(list(range(20_000)))
    heard: list[int] = []
    what(data, amf=3, progress=heard.append)
    assert len(heard) == 4
    assert heard == sorted(heard)
