"""Bytes exchanged with bytearray-node 3.3.5, a ByteArray in JavaScript: what it reads of ours, and we of its.

Where it is right it is a witness from another language; its faults are named in the second half.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from real import leave_out

import amfgate
from amfgate import Dictionary, EcmaArray, Rows, Vector, Xml, undefined

HERE = Path(__file__).parent
UNDEFINED = {"undefined": True}
ROW = {"n": 1}
RING: dict[str, Any] = {"n": 1}
RING["self"] = RING

Ask = Callable[[str, int, str], Any]

# What it reads as we mean it: name, encoding, value, as JavaScript has it.
READ = [
    *(
        (name, encoding, value, seen)
        for encoding in (0, 3)
        for name, value, seen in (
            ("null", None, None),
            ("undefined", undefined, UNDEFINED),
            ("true", True, True),
            ("int", 5, 5),
            ("negative", -1, -1),
            ("beyond29", 2**28, 2**28),
            ("double", 1.5, 1.5),
            ("text", "grüße ✓ 🎈", "grüße ✓ 🎈"),
            ("long text", "x" * 70_000, "x" * 70_000),
            ("object", {"z": 1, "a": {"b": 2}}, {"z": 1, "a": {"b": 2}}),
            ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"Date": 1000000000000}),
            ("early date", datetime(1900, 1, 1, tzinfo=UTC), {"Date": -2208988800000}),
            ("ring", RING, {"n": 1, "self": {"seen": 0}}),
        )
    ),
    ("text twice", 3, ["ab", "ab"], ["ab", "ab"]),
    ("list", 3, [1, "x", [2]], [1, "x", [2]]),
    ("indexed", 0, EcmaArray({0: "a", 1: "b"}), ["a", "b"]),
    ("associative", 3, EcmaArray({0: "a", "k": "v"}), {"Array": {"0": "a", "k": "v"}, "length": 1}),
    ("twice", 3, [ROW, ROW], [{"n": 1}, {"seen": 1}]),
    ("bytes", 3, b"\x01\x02\xff", {"ByteArray": "0102ff"}),
    ("ints", 3, Vector("int", [1, -2]), {"Int32Array": [1, -2]}),
    ("uints", 3, Vector("uint", [4294967295]), {"Uint32Array": [4294967295]}),
    ("doubles", 3, Vector("double", [0.5]), {"Float64Array": [0.5]}),
]

# What it writes as we read it: name, encoding, value.
WRITTEN = [
    *(
        (name, encoding, value)
        for encoding in (0, 3)
        for name, value in (
            ("null", None),
            ("undefined", undefined),
            ("true", True),
            ("int", 5),
            ("negative", -1),
            ("double", 1.5),
            ("text", "grüße ✓ 🎈"),
            ("object", {"z": 1, "a": {"b": 2}}),
            ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)),
        )
    ),
    ("beyond29", 0, 2**28),
    ("beyond29", 3, float(2**28)),
    ("text twice", 0, EcmaArray({0: "ab", 1: "ab"})),  # as Ruffle writes arrays
    ("text twice", 3, ["ab", "ab"]),
    ("list", 0, EcmaArray({0: 1, 1: "x", 2: EcmaArray({0: 2})})),
    ("list", 3, [1, "x", [2]]),
    ("list with null", 3, [1, None]),
    ("associative", 0, EcmaArray({0: 1, 1: 2, "k": "v"})),
    ("associative", 3, EcmaArray({"k": "v", 0: 1, 1: 2})),
    ("twice", 3, [ROW, ROW]),
    ("uints", 3, Vector("uint", [7, 4294967295])),
    ("doubles", 3, Vector("double", [0.5])),
]

# What it cannot read: name, encoding, value, its words.
UNREADABLE = [
    ("strict array", 0, [1], "Unknown or unsupported marker found: '10'."),
    ("xml", 0, Xml("<a/>"), "Unknown or unsupported marker found: '15'."),
    ("bytes", 0, b"\x01", "Unknown or unsupported marker found: '17'."),
    # It counts members where the format has the length of the array.
    ("associative", 0, EcmaArray({0: "a", "k": "v"}), "Couldn't read all data."),
    ("a member without a name", 0, {"": 1}, "Couldn't read all data."),
    ("xml", 3, Xml("<a/>"), "Unknown or unsupported marker found: '11'."),
    ("old xml", 3, Xml("<a/>", legacy=True), "Unknown or unsupported marker found: '7'."),
]

# What it reads as something else: name, encoding, value, what it takes it for.
MISREAD = [
    ("null in a list", 3, [1, None, 2], {"Array": {"0": 1, "2": 2}, "length": 3}),  # a hole
    ("sealed objects", 3, Rows(("a", "b"), [(1, 2)]), [{"a": True, "undefined": 1}]),  # as one dynamic member
    ("object vector", 3, Vector("object", [ROW]), {"Set": [UNDEFINED]}),  # AMF3 has no Set; 10 is its marker here
    ("dictionary", 3, Dictionary([("k", 1)]), {"Map": [[UNDEFINED, "k"]]}),  # it knows no byte for weak keys
]


@pytest.fixture(scope="module")
def ask() -> Ask:
    """All questions in one run of node; gives the answer to one of them."""
    missing = "node" if shutil.which("node") is None else "bytearray-node"
    if missing == "node" or not (HERE / "node_modules/bytearray-node").is_dir():
        reason = (
            f"left out: tests/interop/test_bytearray_node.py, for want of {missing} (bash tests/interop/install.sh)"
        )
        leave_out(reason)
    questions = [("read", case[1], encoded(case[2], case[1])) for case in (*READ, *UNREADABLE, *MISREAD)]
    questions += [("write", case[1], case[0]) for case in WRITTEN]
    questions += [("write", 3, name) for name in ("ints", "map")]
    done = subprocess.run(
        ["node", HERE / "bytearray_node.cjs"], input=json.dumps(questions), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    answers = dict(zip(questions, json.loads(done.stdout), strict=True))
    return lambda *question: answers[question]


def encoded(value: Any, version: int) -> str:
    return amfgate.dumps(value, version=version, strings="all").hex()


def ids(cases: list[Any]) -> list[str]:
    return [f"{case[0]}-{case[1]}" for case in cases]


@pytest.mark.parametrize(("encoding", "value", "seen"), [case[1:] for case in READ], ids=ids(READ))
def test_it_reads_what_we_write(ask: Ask, encoding: int, value: Any, seen: Any) -> None:
    assert ask("read", encoding, encoded(value, encoding)) == seen


@pytest.mark.parametrize(("name", "encoding", "value"), WRITTEN, ids=ids(WRITTEN))
def test_we_read_what_it_writes(ask: Ask, name: str, encoding: int, value: Any) -> None:
    read = amfgate.loads(bytes.fromhex(ask("write", encoding, name)), version=encoding)
    assert (type(read), read) == (type(value), value)


def test_we_read_one_object_for_its_object_that_comes_twice(ask: Ask) -> None:
    first, second = amfgate.loads(bytes.fromhex(ask("write", 3, "twice")))
    assert first is second


@pytest.mark.parametrize(("encoding", "value", "words"), [case[1:] for case in UNREADABLE], ids=ids(UNREADABLE))
def test_fault_it_cannot_read(ask: Ask, encoding: int, value: Any, words: str) -> None:
    assert ask("read", encoding, encoded(value, encoding)) == {"error": words}


@pytest.mark.parametrize(("encoding", "value", "seen"), [case[1:] for case in MISREAD], ids=ids(MISREAD))
def test_fault_it_reads_something_else(ask: Ask, encoding: int, value: Any, seen: Any) -> None:
    assert ask("read", encoding, encoded(value, encoding)) == seen


def test_fault_it_writes_a_map_without_the_byte_for_weak_keys_and_refuses_negative_ints(ask: Ask) -> None:
    assert ask("write", 3, "map") == "11" + "03" + "06" + "0361" + "0401"
    assert "out of range" in ask("write", 3, "ints")["error"]
