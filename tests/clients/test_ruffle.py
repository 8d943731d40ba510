"""Flash programs call the gateway: run by Ruffle, in headless Chromium, over HTTP.

One is of ActionScript 3 (haxe/Main.hx, compiled by Haxe), one of ActionScript 2 (as2.py).  They make all their calls
in one run, which takes a few seconds; each test here looks at one of them: what reached the service, what came back
to the program, and in places the bytes between.  What install.sh could not bring is a reason to skip these tests,
in its words; with AMFGATE_REQUIRE_CLIENTS=1 it is a failure.  Values are described as browser.py says.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import flash_app
import pytest
from browser import UNDEFINED, UNEXPECTED, Run, canonical, compile_swf, left_out, open_page, text
from real import leave_out, serving

import amfgate

pytestmark = pytest.mark.clients

SECONDS = 30  # for both programs; they need about four
LONG = "0123456789" * 7000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    reason = left_out()
    if reason:
        leave_out(reason)

    folder = tmp_path_factory.mktemp("clients")
    swf = folder / "as3.swf"
    compile_swf(swf, "build.hxml")

    probe = flash_app.Probe()
    app = flash_app.wrapped(swf, probe)
    with serving(app) as port:
        site = f"http://127.0.0.1:{port}/"
        query = urlencode(
            {"programs": "as3.swf,as2.swf", "gateway": site + "amf", "give": ",".join(flash_app.give_methods())}
        )
        reports, log = open_page(f"{site}?{query}", SECONDS, folder)
    return Run(reports, probe.arrived, app.packets, log)


# What NetConnection sends in AMF0: as it reaches the service, and as it comes back to the program.
SENT_AS_AMF0 = [
    ("int", 7, 7),
    ("negative", -1, -1),
    ("beyond29", 268435456, 268435456),
    ("double", 1.5, 1.5),
    ("whole double", 4294967296, 4294967296),
    ("minus zero", -0.0, {"Number": "-0"}),
    ("nan", float("nan"), {"Number": "NaN"}),
    ("infinity", float("inf"), {"Number": "Infinity"}),
    ("true", True, True),
    ("false", False, False),
    ("null", None, None),
    ("undefined", amfgate.undefined, UNDEFINED),
    ("string", "grüße ✓ 🎈", "grüße ✓ 🎈"),
    ("empty string", "", ""),
    ("long string", LONG, LONG),
    # Each array is an ECMA array on the wire, the empty one too: those that are lists are lists to the service.
    ("array", [1, "two", None, True], [1, "two", None, True]),
    ("empty array", [], []),
    ("nested arrays", [[1, 2], [3], []], [[1, 2], [3], []]),
    ("array in object in array", [{"list": [{"deep": [1]}]}], [{"list": [{"deep": [1]}]}]),
    (
        "hole",
        amfgate.EcmaArray({0: 1, 1: 2, 2: 3, 4: 5}, count=5),
        {"Array": {"0": 1, "1": 2, "2": 3, "4": 5}, "length": 5},
    ),
    (
        "associative array",
        amfgate.EcmaArray({0: 1, 1: 2, "color": "red"}, count=2),
        {"Array": {"0": 1, "1": 2, "color": "red"}, "length": 2},
    ),
    (
        "object",
        {"tags": ["x", "y"], "born": {"year": 1815}, "name": "Ada"},
        {"tags": ["x", "y"], "born": {"year": 1815}, "name": "Ada"},
    ),
    ("empty object", {}, {}),
    ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"Date": 1000000000000}),
    ("early date", datetime(1969, 12, 31, tzinfo=UTC), {"Date": -86400000}),
    ("xml", amfgate.Xml('<a b="1"><c>ü</c></a>', legacy=True), {"XML": '<a b="1"><c>ü</c></a>'}),
    ("point", {"x": 3, "y": 4}, {"x": 3, "y": 4}),  # Ruffle drops the alias
    ("twice", [{"n": 1}, {"n": 1}], [{"n": 1}, {"n": 1}]),
    ("bytes", amfgate.undefined, UNDEFINED),  # and these too
]


@pytest.mark.parametrize(("case", "arrived", "back"), SENT_AS_AMF0, ids=[case for case, _, _ in SENT_AS_AMF0])
def test_sent_as_amf0(run: Run, case: str, arrived: Any, back: Any) -> None:
    assert run.report(f"amf0.{case}") == text({"result": back})
    assert canonical(run.arrived[f"amf0.{case}"]) == canonical(arrived)


# What ByteArray.writeObject writes, in a packet of version 3.
SENT_AS_AMF3 = [
    ("int", 7, 7),
    ("negative", -1, -1),
    ("least int29", -268435456, -268435456),
    ("beyond29", 268435456, 268435456),  # a double on the wire
    ("double", 1.5, 1.5),
    ("nan", float("nan"), {"Number": "NaN"}),
    ("true", True, True),
    ("null", None, None),
    ("undefined", amfgate.undefined, UNDEFINED),
    ("string", "grüße ✓ 🎈", "grüße ✓ 🎈"),
    ("empty string", "", ""),
    ("array", [1, "two", None, True], [1, "two", None, True]),
    ("empty array", [], []),
    (
        "hole",
        amfgate.EcmaArray({4: 5, 0: 1, 1: 2, 2: 3}, count=3),
        {"Array": {"0": 1, "1": 2, "2": 3, "4": 5}, "length": 5},
    ),
    (
        "associative array",
        amfgate.EcmaArray({"color": "red", 0: 1, 1: 2}, count=2),
        {"Array": {"0": 1, "1": 2, "color": "red"}, "length": 2},
    ),
    (
        "object",
        {"tags": ["x", "y"], "born": {"year": 1815}, "name": "Ada"},
        {"tags": ["x", "y"], "born": {"year": 1815}, "name": "Ada"},
    ),
    ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"Date": 1000000000000}),
    ("xml", amfgate.Xml('<a b="1"><c>ü</c></a>'), {"XML": '<a b="1"><c>ü</c></a>'}),
    ("point", flash_app.Point(1.5, "up"), {"class": "shop.Point", "x": 1.5, "y": "up"}),
    (
        "points",
        [flash_app.Point(1, 2), flash_app.Point(3, 4)],
        [{"class": "shop.Point", "x": 1, "y": 2}, {"class": "shop.Point", "x": 3, "y": 4}],
    ),
    ("twice", [{"n": 1}, {"n": 1}], [{"n": 1}, {"n": 1}]),
    ("text twice", ["again", "again"], ["again", "again"]),
    ("bytes", b"\x00\x01\x7f\x80\xff", {"ByteArray": "00017F80FF"}),
    ("vector int", amfgate.Vector("int", [1, -2, 3]), {"Vector": "Vector.<int>", "items": [1, -2, 3], "fixed": False}),
    (
        "vector uint",
        amfgate.Vector("uint", [0, 4294967295], fixed=True),
        {"Vector": "Vector.<uint>", "items": [0, 4294967295], "fixed": True},
    ),
    (
        "vector double",
        amfgate.Vector("double", [0.5, -1.5]),
        {"Vector": "Vector.<Number>", "items": [0.5, -1.5], "fixed": False},
    ),
    (
        "vector object",
        amfgate.Vector("object", [flash_app.Point(1.5, "up"), flash_app.Point(1.5, "up")], alias="shop.Point"),
        {
            "Vector": "Vector.<Point>",
            "items": [{"class": "shop.Point", "x": 1.5, "y": "up"}, {"class": "shop.Point", "x": 1.5, "y": "up"}],
            "fixed": False,
        },
    ),
]


@pytest.mark.parametrize(("case", "arrived", "back"), SENT_AS_AMF3, ids=[case for case, _, _ in SENT_AS_AMF3])
def test_sent_as_amf3(run: Run, case: str, arrived: Any, back: Any) -> None:
    assert run.report(f"amf3.{case}") == text({"result": back})
    assert canonical(run.arrived[f"amf3.{case}"]) == canonical(arrived)


ROWS = [{"id": i, "name": f"row {i}", "price": i / 4, "sold": i % 2 == 0} for i in range(500)]


@pytest.mark.parametrize("case", ["amf0.rows", "amf3.rows", "give.rows"])
def test_500_rows(run: Run, case: str) -> None:
    rows = json.loads(run.report(case))["result"]

    assert rows == ROWS
    assert rows[3] == {"id": 3, "name": "row 3", "price": 0.75, "sold": False}


def test_500_rows_reach_the_service_as_a_list_of_dicts(run: Run) -> None:
    assert type(run.arrived["amf0.rows"]) is list
    assert run.arrived["amf0.rows"] == ROWS
    assert run.arrived["amf3.rows"] == ROWS


def test_a_dictionary_sent_as_amf3(run: Run) -> None:
    arrived = run.arrived["amf3.dictionary"]
    pairs = json.loads(run.report("amf3.dictionary"))["result"]["Dictionary"]

    assert type(arrived) is amfgate.Dictionary
    assert sorted((repr(key), value) for key, value in arrived.items()) == [
        ("'text'", 1),
        ("Point(x=1, y=2)", "point key"),
    ]
    assert sorted(pairs, key=str) == [["text", 1], [{"class": "shop.Point", "x": 1, "y": 2}, "point key"]]


def test_arguments_become_what_the_service_is_annotated_with(run: Run) -> None:
    assert run.report("typed") == text({"result": 17})
    assert run.arrived["typed"] == [flash_app.Size(3, 4), flash_app.Size(1, 5)]


# What services give, in reply to packets of version 0: all that Ruffle's NetConnection sends.
GIVEN = [
    ("none", None),
    ("undefined", UNDEFINED),
    ("true", True),
    ("int", 7),
    ("big", 9007199254740992),
    ("float", 1.5),
    ("minus_zero", {"Number": "-0"}),
    ("nan", {"Number": "NaN"}),
    ("infinity", {"Number": "-Infinity"}),
    ("text", "grüße ✓ 🎈"),
    ("long_text", "ü" * 40_000),
    ("list", [1, "two", None, True]),
    ("empty_list", []),
    ("tuple", [1, [2, 3]]),
    ("set", [5]),
    ("range", [0, 1, 2]),
    ("generator", ["a", "b"]),
    ("dict", {"name": "Ada", "born": {"year": 1815}, "": "without a name", "tags": ["x", "y"]}),
    ("empty_dict", {}),
    ("number_keys", {"4": "four", "0": "zero"}),
    ("ecma_array", {"Array": {"0": "a", "2": "c", "color": "red"}, "length": 3}),
    ("moment", {"Date": 1000000000500}),
    ("day", {"Date": -4861728000000}),
    ("invalid_date", {"Date": {"Number": "NaN"}}),
    ("xml", {"XML": '<a b="1">ü</a>'}),
    ("element", {"XML": '<a b="1"><c>ü</c></a>'}),
    # These go behind 11, as AMF3.
    ("bytes", {"ByteArray": "00017F80FF"}),
    ("photo", {"name": "me", "data": {"ByteArray": "0102"}, "sizes": [1, 2]}),
    ("vector_int", {"Vector": "Vector.<int>", "items": [1, -2], "fixed": True}),
    ("vector_uint", {"Vector": "Vector.<uint>", "items": [0, 4294967295], "fixed": False}),
    ("vector_double", {"Vector": "Vector.<Number>", "items": [0.5, -1.5], "fixed": False}),
    (
        "vector_object",
        {"Vector": "Vector.<Point>", "items": [{"class": "shop.Point", "x": 1, "y": 2}], "fixed": False},
    ),
    (
        "points_and_bytes",
        [{"class": "shop.Point", "x": 1, "y": 2}, {"class": "shop.Point", "x": 3, "y": {"ByteArray": "04"}}],
    ),
    ("point", {"class": "shop.Point", "x": 3, "y": 4}),
    ("unknown_class", {"size": 10}),
    ("dataclass", {"width": 3, "height": 4}),
    ("namedtuple", {"left": "l", "right": "r"}),
    ("collection", [1, 2]),
    ("decimal", 12.5),
    ("uuid", "12345678-1234-5678-1234-567812345678"),
    ("enum", "red"),
    ("duration", 60.5),
    # Ruffle reads a reference of AMF0 as undefined: what is shared comes twice, and only a ring cannot.
    ("shared", [{"n": 1}, {"n": 1}]),
    ("ring", {"n": 1, "self": UNDEFINED}),
    ("shared_and_bytes", [{"n": {"ByteArray": "01"}}, {"seen": 1}]),
    ("ring_and_bytes", {"n": {"ByteArray": "01"}, "self": {"seen": 0}}),
]


@pytest.mark.parametrize(("method", "value"), GIVEN, ids=[method for method, _ in GIVEN])
def test_given(run: Run, method: str, value: Any) -> None:
    assert run.report(f"give.{method}") == text({"result": value})


def test_every_method_of_give_is_tested() -> None:
    elsewhere = {"rows", "dictionary", "too_big", "unsendable"}

    assert {method for method, _ in GIVEN} | elsewhere == set(flash_app.give_methods())


def test_a_dictionary_given(run: Run) -> None:
    pairs = json.loads(run.report("give.dictionary"))["result"]["Dictionary"]

    # The player keeps no order, and makes text of the key true.
    assert sorted(pairs, key=str) == [["k", 1], ["true", "yes"], [2, "two"]]


def test_the_bytes_of_a_call_and_its_reply(run: Run) -> None:
    packet = run.packet("give.vector_int")

    assert packet.request.hex(" ") == (
        "00 00 00 00 00 01 00 0f 67 69 76 65 2e 76 65 63 74 6f 72 5f 69 6e 74 00 02 2f 31 00 00 00 05 0a 00 00 00 00"
    )
    assert packet.reply.hex(" ") == (
        "00 00 00 00 00 01 00 0b 2f 31 2f 6f 6e 52 65 73 75 6c 74 00 04 6e 75 6c 6c"
        " 00 00 00 0c 11 0d 05 01 00 00 00 01 ff ff ff fe"
    )


def test_calls_of_one_frame_share_a_packet(run: Run) -> None:
    packet = run.packet("batch.first")

    assert packet.request[:6].hex(" ") == "00 00 00 00 00 04"
    assert packet.reply[:6].hex(" ") == "00 00 00 00 00 04"
    targets = (b"/1/onResult", b"/2/onStatus", b"/3/onResult", b"/4/onResult")
    places = [packet.reply.index(target) for target in targets]
    assert places == sorted(places)
    assert run.report("batch.first") == text({"result": 1})
    assert json.loads(run.report("batch.second"))["fault"]["code"] == "Server.ResourceNotFound"
    assert run.report("batch.third") == text({"result": 3})
    assert run.arrived["batch.unanswered"] == 4


def fault(code: str, description: str, details: str = "", kind: str = "Fault") -> dict[str, Any]:
    """The error object of a plain reply: each member as older clients read it, and as newer ones do."""
    return {
        "code": code,
        "level": "error",
        "description": description,
        "details": details,
        "type": kind,
        "rootcause": None,
        "faultCode": code,
        "faultString": description,
        "faultDetail": details,
    }


FAULTS = [
    ("fault.unknown target", fault("Server.ResourceNotFound", "there is no method 'nobody.here' here")),
    ("fault.private", fault("Server.ResourceNotFound", "there is no method 'probe._hidden' here")),
    ("fault.raised", fault("Shop.Declined", "card expired", "ask the bank")),
    ("fault.crash", fault("Server.Processing", UNEXPECTED)),
    ("fault.too few", fault("Client.Arguments", "probe.add(a, b): 1 arguments were given; missing: 'b'")),
    ("fault.too many", fault("Client.Arguments", "probe.add(a, b): 3 arguments were given, 1 too many")),
    ("fault.wrong type", fault("Client.Arguments", "probe.add: argument 'b': expected int, got str")),
    ("credentials.none", fault("Client.Authentication", "this call needs a user who is logged in")),
    ("credentials.wrong", fault("Client.Authentication", "the user id or the password is wrong")),
    ("credentials.other role", fault("Client.Authorization", "the user may not make this call")),
    ("give.too_big", fault("Server.Processing", UNEXPECTED)),
    ("give.unsendable", fault("Server.Processing", UNEXPECTED)),
]


@pytest.mark.parametrize(("case", "expected"), FAULTS, ids=[case for case, _ in FAULTS])
def test_faults(run: Run, case: str, expected: dict[str, Any]) -> None:
    assert run.report(case) == text({"fault": expected})


def test_a_fault_leaves_the_connection_good(run: Run) -> None:
    assert run.report("fault.after") == text({"result": 3})


def test_a_slash_in_the_target(run: Run) -> None:
    assert run.report("fault.slash") == text({"result": 5})


def test_what_is_not_the_gateways_is_flasks(run: Run) -> None:
    # Flash shows a program nothing of an answer that is not 200.
    assert run.report("fault.http") == text({"status": "NetConnection.Call.Failed"})


def test_the_right_credentials(run: Run) -> None:
    assert run.report("credentials.good") == text({"result": "open for Ada"})


def test_a_header_of_the_reply(run: Run) -> None:
    packet = run.packet("headers.append_to_url")

    assert packet.reply.startswith(
        b"\x00\x00\x00\x01\x00\x12AppendToGatewayUrl\x00\x00\x00\x00\x0a\x02\x00\x07?sid=42\x00\x01"
    )
    assert run.report("headers.append to url") == text({"result": "appended"})
    # Ruffle reads the header and does nothing about it; Flash Player would append ?sid=42.
    assert run.report("headers.after") == text({"result": 1})
    assert run.packet("headers.after").query == ""


# ActionScript 2: as it reaches the service, and as it comes back, by way of Ruffle's conversion to JavaScript.
SENT_BY_AS2 = [
    ("number", 1.5, 1.5),
    ("text", "grüße ✓ 🎈", "grüße ✓ 🎈"),
    ("true", True, True),
    ("null", None, None),
    ("undefined", amfgate.undefined, UNDEFINED),
    ("dense array", [1, "two", None, True], [1, "two", None, True]),
    ("empty array", [], []),
    ("array in array", [[1, 2], [3]], [[1, 2], [3]]),
    ("array in object", {"list": ["a", "b"]}, {"list": ["a", "b"]}),
    ("holes", [1, amfgate.undefined, 3], [1, UNDEFINED, 3]),
    ("associative array", amfgate.EcmaArray({0: "a", "color": "red"}, count=1), ["a"]),
    ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), 1000000000000),
    ("xml", amfgate.Xml('<a b="1"><c>ü</c></a>', legacy=True), '<a b="1"><c>ü</c></a>'),
    ("registered class", flash_app.Point(3, 4), {"x": 3, "y": 4}),
    ("shared", [{"n": 1}, {"n": 1}], [{"n": 1}, {"n": 1}]),
]


@pytest.mark.parametrize(("case", "arrived", "back"), SENT_BY_AS2, ids=[case for case, _, _ in SENT_BY_AS2])
def test_sent_by_as2(run: Run, case: str, arrived: Any, back: Any) -> None:
    assert run.report(f"as2.{case}") == text({"result": back})
    assert canonical(run.arrived[f"as2.{case}"]) == canonical(arrived)


def test_an_as2_reference_to_what_nobody_meant(run: Run) -> None:
    # The program sends {a: row, b: row}. Ruffle writes the second row as a reference to the enclosing object.
    arrived = run.arrived["as2.shared in object"]

    assert sorted(arrived) == ["a", "b"]
    assert arrived["b"] == {"n": 1}
    assert arrived["a"] is arrived
    assert run.report("as2.shared in object") == text({"result": {"n": 1}})


def test_an_as2_object_that_holds_itself(run: Run) -> None:
    # Ruffle writes one round of it before it notices.
    arrived = run.arrived["as2.ring"]

    assert (arrived["n"], arrived["self"]["n"]) == (1, 1)
    assert arrived["self"]["self"] is arrived["self"]
    assert run.report("as2.ring") == text({"result": 1})


def test_500_rows_given_to_as2(run: Run) -> None:
    assert json.loads(run.report("as2.rows"))["result"] == ROWS


GIVEN_TO_AS2 = [
    ("as2.point", {"result": {"x": 3, "y": 4}}),
    ("as2.photo", {"result": UNDEFINED}),  # ActionScript 2 has no AMF3, and nothing else can hold bytes
    ("as2.fault", {"fault": fault("Shop.Declined", "card expired", "ask the bank")}),
    ("as2.add", {"result": 3}),
    ("as2.credentials", {"result": "open for Ada"}),
]


@pytest.mark.parametrize(("case", "outcome"), GIVEN_TO_AS2, ids=[case for case, _ in GIVEN_TO_AS2])
def test_given_to_as2(run: Run, case: str, outcome: Any) -> None:
    assert run.report(case) == text(outcome)
