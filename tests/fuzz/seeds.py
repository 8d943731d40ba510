"""Inputs to start from, written for this: one of each kind of value, and what is easily read wrong."""

from __future__ import annotations

import datetime as dt
from typing import Any

import amfgate
from amfgate import Dictionary, EcmaArray, TypedObject, Vector, Xml
from amfgate.flex import ArrayCollection, ObjectProxy, SmallMessage

LITERALS = {
    3: (
        "00", "01", "02", "03", "0400", "04ffffffff", "0480808000", "05fff8000000000001", "06010600", "060361",
        "0605c3a9", "0603ff", "0701", "0b033c", "0801427000000000000008018000000000000000", "0905010900040106010902",
        "090101", "0901033003610401", "090303610401040204", "090303300401010402", "0c0361", "0d0500ffffffff00000001",
        "0e0301ffffffff", "0f03003ff0000000000000", "10030101040a", "1105010401040205bff00000000000000403",
        "0a0b01056964040101", "0a1301056964040a", "0a230170056964096e616d650401060361",
        "0a1303700569640401", "0a230366056964096e616d6504010602", "0a230373096e616d65056964040a0a00",
        "0a23036d056964096e616d6504010602", "0a23036e056964096e616d6504010602", "0a1303610569640401",
        "0a1303670569640401", "0a1303670569640105", "0a1b03640569640401036204020100",
        "0a2305617409616263640569640401", "0a230561660569640b6e616d65730401", "0a23057079056964096e616d6504010602",
        "0a07037800", "0a0703780100026162000000", "0a07037802030102030d0a000a0a0009010100",
        "0a0703780401050506026100", "0a0703780d09030109000c0d090100", "0a07037809", "0a07037808", "0a07037802ff",
        "0a070378070204040a0d0409010104", "0a070378" * 4 + "00", "0909010a070378" + "0d0900" + "0c00" + "040104020403",
        "0a0743666c65782e6d6573736167696e672e696f2e4172726179436f6c6c656374696f6e0903010400",
        "0a0743666c65782e6d6573736167696e672e696f2e4172726179436f6c6c656374696f6e0a0109010330090001",
        "0905010901033009000109020902", "090501090103310900010902", "0a07074453410141040a0a0b0100",
        "0a0707445343810104010a050401", "0a070744534b00000000",
    ),
    0: (
        "004000000000000000", "008000000000000000", "007ff8000000000001", "0101", "0102", "02000161", "020000",
        "020001ff",
        "03000009", "030001610500000001010000 09", "0300016101010003616263020001620002646501000001610500000009",
        "05", "06", "0d", "0a0000000207000007 0000", "0a000000010a00000000", "0a00000003050505", "0800000000000009",
        "080000000200013002000161000131050000 09", "08000000010001330500000a0500000009",
        "0800000000000130070000000009", "0800000000000131070000000009", "0800000001000134070000000009070000",
        "0b427000000000000000000b7ff80000000000000000", "0c0000000161", "0f000000013c070000", "10000170000009",
        "10000170 0002696400 4000000000000000 00046e616d6505 000009", "1000016e0002696405000009",
        "10000173000269640500046e616d6505000009",
        "1000025a5a00016105000009", "10000161000009", "100001640002626201010000 09", "110401", "11090501040109020a",
        "0a00000002110901010a00000000", "110a07037805030001610500000900", "04", "0e", "09", "12", "07ffff",
        "1000013a00016105000009",
    ),
}  # fmt: skip

CALL = "0003 0000 0001 0004 612e6263 0002 2f31 0000000f 0a00000002 00 3ff0000000000000 05"
PACKETS = (
    CALL,
    "0000 0000 0001 0001 61 0002 2f31 ffffffff 0a00000001 11 09 03 01 06 03 61",
    "0000 0001 0001 68 01 00000001 05 0001 0004 6e756c6c 0002 2f32 00000000 0a00000001 0a00000001 070000",
    "0003 0000 0002 0001 61 0002 2f31 00000001 05 0001 62 0002 2f32 00000001 0a00000000",
)
SHARED_OBJECTS = (
    "00bf 0000001c 5443534f 000400000000 0001 61 00000000 0001 62 05 00 0001 63 0a00000000 00",
    "00bf 00000019 5443534f 000400000000 0001 61 00000003 0362 0401 00 0363 090101 00",
)


def _values() -> list[Any]:
    row = {"id": 1, "name": "Ada", "price": 1.5, "active": True, "when": dt.datetime(2020, 2, 29, tzinfo=dt.UTC)}
    shared: list[Any] = [1, 2.5, "text", None, False]
    knot: list[Any] = [shared, shared]
    knot.append(knot)
    return [
        [row, {**row, "id": 300}, dict(row)],
        [[1, "one", 1.5, True], [2, "two", -2.5, False], [1 << 28, "three", 1e300, None]],
        knot,
        EcmaArray({0: "a", 1: "b", "length": 2}, count=2),
        EcmaArray({3: "sparse"}),
        TypedObject("com.example.Thing", {"id": 7, "naïve": "ü€😀"}, sealed=("id", "naïve")),
        [TypedObject("", {"a": i, "b": str(i)}, sealed=("a", "b")) for i in range(3)],
        [i * 0.5 for i in range(20)],
        [i * 77 - 100 for i in range(20)],
        [f"text number {i}" for i in range(9)] * 2,
        ["é" * 9, "x" * 200, "\udcff", ""],
        {"list": [], "dict": {}, "deep": [[[[[[]]]]]]},
        ArrayCollection([row, ObjectProxy({"a": 1})]),
    ]


def _newer() -> list[Any]:
    return [
        Vector("int", [1, -2]),
        Vector("uint", [1, 1 << 31], fixed=True),
        Vector("double", [0.5, 1.0]),
        Vector("object", [TypedObject("p", {"id": 1, "name": 2}), None], alias="p"),
        Dictionary([(1, "one"), ("two", 2), (2.5, None)], weak=True),
        [b"bytes", bytearray(range(256))],
        Xml("<a/>"),
        SmallMessage("DSK", {"body": [1], "correlationId": "5B0D5C4A-0000-4000-8000-00000000ABCD"}),
    ]


def seeds() -> dict[int, list[bytes]]:
    """Version -> inputs."""
    found = {version: [bytes.fromhex(text.replace(" ", "")) for text in texts] for version, texts in LITERALS.items()}
    for value in _values():
        for version in (0, 3):
            found[version].append(amfgate.dumps(value, version=version))
    found[3].extend(amfgate.dumps(value) for value in _newer())
    found[0].extend(b"\x11" + amfgate.dumps(value) for value in _newer())
    return found


def packets() -> list[bytes]:
    found = [bytes.fromhex(text) for text in PACKETS]
    head = bytes.fromhex("0003 0000 0001 0004 6e756c6c 0002 2f31 ffffffff 0a00000001")
    return found + [head + b"\x11" + amfgate.dumps(value) for value in _values()]


def shared_objects() -> list[bytes]:
    return [bytes.fromhex(text) for text in SHARED_OBJECTS]
