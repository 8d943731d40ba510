"""An Apache Royale application calls the gateway from headless Chromium, by AMF0NetConnection, encodings 0 and 3.

royale/Calls.as makes the calls, royale/install.sh compiles it once.  Values are described as browser.py says.  What
Royale 0.9.12 gets wrong is among the cases and said there: its users will meet it too.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import flash_app
import pytest
from browser import UNDEFINED, UNEXPECTED, Run, canonical, open_page, text
from real import serving
from royale_site import compiled, site

import amfgate

pytestmark = pytest.mark.clients

SECONDS = 40  # for all calls; they need about four
UNREADABLE = {"code": -1001, "message": "Failed decoding the response.", "detail": None, "data": None}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    app = site(compiled("royale"))
    probe = flash_app.Probe()
    services = {"probe": probe, "give": flash_app.Give(), "vault": flash_app.Vault()}
    app.wsgi_app = amfgate.Gateway(
        app.wsgi_app, services, classes=flash_app.CLASSES, authenticate=flash_app.authenticate
    )
    recorder = flash_app.Recorder(app)
    with serving(recorder) as port:
        query = urlencode({"give": ",".join(flash_app.give_methods())})
        reports, log = open_page(f"http://127.0.0.1:{port}/?{query}", SECONDS, tmp_path_factory.mktemp("royale"))
    return Run(reports, probe.arrived, recorder.packets, log)


# In either encoding: the case, what reached the service, what came back.
SENT = [
    ("int", 7, 7),
    ("negative", -1, -1),
    ("beyond29", 268435456, 268435456),
    ("double", 1.5, 1.5),
    ("nan", float("nan"), {"Number": "NaN"}),
    ("true", True, True),
    ("false", False, False),
    ("null", None, None),
    ("undefined", amfgate.undefined, UNDEFINED),
    ("string", "grüße ✓ 🎈", "grüße ✓ 🎈"),
    ("empty string", "", ""),
    ("array", [1, "two", None, True], [1, "two", None, True]),
    ("empty array", [], []),
    ("nested arrays", [[1, 2], [3], []], [[1, 2], [3], []]),
    (
        "object",
        {"name": "Ada", "tags": ["x", "y"], "born": {"year": 1815}},
        {"name": "Ada", "tags": ["x", "y"], "born": {"year": 1815}},
    ),
    ("empty object", {}, {}),
    ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"Date": 1000000000000}),
    ("point", flash_app.Point(3, 4), {"class": "Point", "x": 3, "y": 4}),
]


@pytest.mark.parametrize("encoding", ["amf0", "amf3"])
@pytest.mark.parametrize(("case", "arrived", "back"), SENT, ids=[case for case, _, _ in SENT])
def test_sent(run: Run, encoding: str, case: str, arrived: Any, back: Any) -> None:
    assert run.report(f"{encoding}.{case}") == text({"result": back})
    assert canonical(run.arrived[f"{encoding}.{case}"]) == canonical(arrived)


# Where the encodings differ: the count of an associative array, identity, bytes.
DIFFERENT = [
    (
        "amf0.hole",
        amfgate.EcmaArray({0: 1, 1: 2, 3: 4}, count=4),
        {"Array": {"0": 1, "1": 2, "3": 4}, "length": 4},
    ),
    (
        "amf3.hole",
        amfgate.EcmaArray({3: 4, 0: 1, 1: 2}, count=2),
        {"Array": {"0": 1, "1": 2, "3": 4}, "length": 4},
    ),
    (
        "amf0.associative array",
        amfgate.EcmaArray({0: 1, 1: 2, "color": "red"}, count=2),
        {"Array": {"0": 1, "1": 2, "color": "red"}, "length": 2},
    ),
    (
        "amf3.associative array",
        amfgate.EcmaArray({"color": "red", 0: 1, 1: 2}, count=2),
        {"Array": {"0": 1, "1": 2, "color": "red"}, "length": 2},
    ),
    # One object twice: a reference in the request; the answer in AMF0 has it written out, for clients that read none.
    ("amf0.twice", [{"n": 1}, {"n": 1}], [{"n": 1}, {"n": 1}]),
    ("amf3.twice", [{"n": 1}, {"n": 1}], [{"n": 1}, {"seen": 1}]),
    ("amf3.bytes", bytes([0, 1, 127, 128, 255]), {"ByteArray": "00017f80ff"}),
    # In AMF0 Royale sends the properties of its byte array, and not what is in it.
    (
        "amf0.bytes",
        {"endian": "bigEndian", "length": 5, "objectEncoding": 3, "position": 5},
        {"endian": "bigEndian", "length": 5, "objectEncoding": 3, "position": 5},
    ),
]


@pytest.mark.parametrize(("case", "arrived", "back"), DIFFERENT, ids=[case for case, _, _ in DIFFERENT])
def test_sent_in_one_encoding(run: Run, case: str, arrived: Any, back: Any) -> None:
    assert run.report(case) == text({"result": back})
    assert canonical(run.arrived[case]) == canonical(arrived)


@pytest.mark.parametrize("encoding", ["amf0", "amf3"])
def test_one_object_twice_is_one_object_for_the_service(run: Run, encoding: str) -> None:
    first, second = run.arrived[f"{encoding}.twice"]
    assert first is second


# What a service returns, as it arrives in either encoding.
GIVEN = {
    "none": None,
    "undefined": UNDEFINED,
    "true": True,
    "int": 7,
    "big": 2**53,
    "float": 1.5,
    "minus_zero": {"Number": "-0"},
    "nan": {"Number": "NaN"},
    "infinity": {"Number": "-Infinity"},
    "text": "grüße ✓ 🎈",
    "long_text": "ü" * 40_000,
    "list": [1, "two", None, True],
    "empty_list": [],
    "tuple": [1, [2, 3]],
    "set": [5],
    "range": [0, 1, 2],
    "generator": ["a", "b"],
    "empty_dict": {},
    "number_keys": {"4": "four", "0": "zero"},
    "ecma_array": {"Array": {"0": "a", "2": "c", "color": "red"}, "length": 3},
    "moment": {"Date": 1000000000500},
    "day": {"Date": -4861728000000},
    "invalid_date": {"Date": None},
    "bytes": {"ByteArray": "00017f80ff"},
    "photo": {"name": "me", "data": {"ByteArray": "0102"}, "sizes": [1, 2]},
    "vector_int": [1, -2],
    "vector_uint": [0, 4294967295],
    "vector_double": [0.5, -1.5],
    "vector_object": [{"class": "Point", "x": 1, "y": 2}],
    "point": {"class": "Point", "x": 3, "y": 4},
    "points_and_bytes": [
        {"class": "Point", "x": 1, "y": 2},
        {"class": "Point", "x": 3, "y": {"ByteArray": "04"}},
    ],
    "unknown_class": {"size": 10},
    "dataclass": {"width": 3, "height": 4},
    "namedtuple": {"left": "l", "right": "r"},
    "decimal": 12.5,
    "uuid": "12345678-1234-5678-1234-567812345678",
    "enum": "red",
    "duration": 60.5,
    "rows": [
        {"id": i, "name": f"row {i}", "price": i // 4 if i % 4 == 0 else i / 4, "sold": i % 2 == 0} for i in range(500)
    ],
    "ring": {"n": 1, "self": {"seen": 0}},
    "shared_and_bytes": [{"n": {"ByteArray": "01"}}, {"seen": 1}],
    "ring_and_bytes": {"n": {"ByteArray": "01"}, "self": {"seen": 0}},
}


@pytest.mark.parametrize("encoding", ["amf0", "amf3"])
@pytest.mark.parametrize("method", GIVEN)
def test_given(run: Run, encoding: str, method: str) -> None:
    assert run.report(f"{encoding}.give.{method}") == text({"result": GIVEN[method]})


@pytest.mark.parametrize(
    ("case", "back"),
    [
        ("amf0.give.shared", [{"n": 1}, {"n": 1}]),
        ("amf3.give.shared", [{"n": 1}, {"seen": 1}]),
        ("amf3.give.xml", {"XML": '<a b="1">ü</a>'}),
        ("amf0.give.collection", [1, 2]),  # as its source
    ],
)
def test_given_in_one_encoding(run: Run, case: str, back: Any) -> None:
    assert run.report(case) == text({"result": back})


@pytest.mark.parametrize(
    "case",
    [
        "amf0.give.xml",  # it knows no AMF0 marker 0F
        "amf0.give.element",
        "amf0.give.dict",  # a member named "", which AMF0 may have, is the end of the object to it
        "amf0.give.dictionary",  # no Dictionary, in either encoding
        "amf3.give.dictionary",
        "amf3.give.collection",  # the class of collections is in another library, mx
    ],
)
def test_what_royale_cannot_read_it_says_itself(run: Run, case: str) -> None:
    """If one of these begins to pass, docs/clients.md has to be changed as well."""
    assert run.report(case) == text({"fault": UNREADABLE})


# AMF0NetConnection does not look at the target of a reply: faults come to the function for results.
FAULTS = {
    "fault": ("Shop.Declined", "no credit"),
    "unexpected": ("Server.Processing", UNEXPECTED),
    "unknown": ("Server.ResourceNotFound", "there is no method 'probe.nothing' here"),
    "few": ("Client.Arguments", "probe.add(a, b): 1 arguments were given; missing: 'b'"),
    "give.too_big": ("Server.Processing", UNEXPECTED),
    "give.unsendable": ("Server.Processing", UNEXPECTED),
}


@pytest.mark.parametrize("encoding", ["amf0", "amf3"])
@pytest.mark.parametrize("case", FAULTS)
def test_faults(run: Run, encoding: str, case: str) -> None:
    outcome = json.loads(run.report(f"{encoding}.{case}"))
    code, description = FAULTS[case]
    assert list(outcome) == ["result"]
    assert (outcome["result"]["code"], outcome["result"]["description"]) == (code, description)
    assert (outcome["result"]["faultCode"], outcome["result"]["faultString"]) == (code, description)


@pytest.mark.parametrize("case", ["amf0.add", "amf0.slash", "amf3.add", "amf3.slash"])
def test_calls_that_add(run: Run, case: str) -> None:
    assert run.report(case) == text({"result": 5})


def test_credentials(run: Run) -> None:
    assert run.report("credentials") == text({"result": "open for Ada"})


def test_the_body_in_encoding_0(run: Run) -> None:
    """A strict array of AMF0 values, with its real length."""
    packet = run.packet("amf0.int")
    assert packet.request.startswith(bytes.fromhex("0000 0000 0001 000A") + b"probe.take")
    assert packet.request.endswith(
        bytes.fromhex("00000019 0A 00000002 02 0008") + b"amf0.int" + bytes.fromhex("00 401C000000000000")
    )


def test_the_body_in_encoding_3(run: Run) -> None:
    """The whole array of arguments is one AMF3 value behind 11."""
    packet = run.packet("amf3.int")
    assert packet.request.startswith(bytes.fromhex("0003 0000 0001 000A") + b"probe.take")
    assert packet.request.endswith(bytes.fromhex("11 09 05 01 06 11") + b"amf3.int" + bytes.fromhex("04 07"))


def test_every_call_was_answered(run: Run) -> None:
    assert len(run.reports) == len(run.packets) == 2 * (22 + len(flash_app.give_methods()) + 6) + 1
