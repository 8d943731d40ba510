"""The canonical text: what it ignores, what it does not, and what it looks like."""

from __future__ import annotations

import datetime as dt
from typing import Any

import amfgate
from amfgate import Body, Header, Packet, TypedObject, canonical
from amfgate.inspector.canonical import canonical_value


def flex_call(**members: Any) -> Packet:
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {
            "destination": "orders",
            "operation": "list",
            "body": [1],
            "messageId": "A",
            "clientId": None,
            "timestamp": 0,
            "headers": {"DSId": "nil", "DSEndpoint": "my-amf"},
            **members,
        },
    )
    return Packet(3, [], [Body("null", "/1", [message])])


def test_the_text_of_a_call() -> None:
    packet = Packet(0, [Header("Credentials", {"userid": "ada"}, True)], [Body("catalog.page", "/1", [0, "a\nb"])])
    assert canonical(packet) == (
        "amfgate canonical 1\n"
        "packet 0\n"
        'header "Credentials" must understand\n'
        "  {\n"
        '    "userid": "ada"\n'
        "  }\n"
        'call "catalog.page"\n'
        "  [\n"
        "    0\n"
        '    "a\\nb"\n'
        "  ]\n"
    )


def test_message_ids_and_the_order_of_members_are_ignored() -> None:
    one = flex_call()
    other = flex_call(messageId="B", clientId="C", timestamp=17, headers={"DSEndpoint": "my-amf", "DSId": "D"})
    other.bodies[0].response = "/27"
    other.bodies[0].value[0] = TypedObject(other.bodies[0].value[0].alias, reversed(other.bodies[0].value[0].items()))
    assert canonical(one) == canonical(other)
    assert "my-amf" in canonical(one)
    for made in ("messageId", "clientId", "timestamp", "DSId"):
        assert made not in canonical(one)


def test_what_is_called_and_with_what_is_not_ignored() -> None:
    texts = {
        canonical(flex_call()),
        canonical(flex_call(operation="page")),
        canonical(flex_call(body=[2])),
        canonical(flex_call(body=[1, 1])),
        canonical(flex_call(headers={"DSEndpoint": "other"})),
    }
    assert len(texts) == 5


def test_the_order_of_a_list_is_kept() -> None:
    assert canonical_value([1, 2]) != canonical_value([2, 1])


def test_an_object_of_any_other_class_keeps_its_message_id() -> None:
    assert "messageId" in canonical_value(TypedObject("com.example.Mail", {"messageId": 1}))


def test_amf0_and_amf3_say_the_same() -> None:
    value = {"n": 5, "f": 5.0, "d": dt.datetime(2020, 1, 2, tzinfo=dt.UTC)}
    from0 = amfgate.loads(amfgate.dumps(value, version=0), version=0)
    from3 = amfgate.loads(amfgate.dumps(value))
    assert canonical_value(from0) == canonical_value(from3)
    assert "date 2020-01-02T00:00:00Z" in canonical_value(from0)


def test_bytes_are_read_as_a_packet() -> None:
    packet = Packet(0, [], [Body("a.b", "/1", [1])])
    assert canonical(packet.to_bytes()) == canonical(packet)


def test_a_cycle_ends_and_is_named() -> None:
    value: dict[str, Any] = {"name": "x"}
    value["self"] = value
    assert canonical_value(value) == ('amfgate canonical 1\nvalue\n  { &1\n    "name": "x"\n    "self": *1\n  }\n')


def test_forty_doublings_stay_small() -> None:
    value: list[Any] = []
    for _ in range(40):
        value = [value, value]
    assert len(canonical_value(value).splitlines()) < 130


def test_values_deeper_than_python_recurses() -> None:
    value: list[Any] = []
    for _ in range(3000):
        value = [value]
    assert canonical_value(value).count("\n") == 2 + 2 * 3000 + 1


def test_every_kind_of_value() -> None:
    dictionary = amfgate.Dictionary([(True, 1), ("b", 2), ([], 3)])
    lines = canonical_value(
        [
            None,
            amfgate.undefined,
            float("nan"),
            -0.0,
            1e300,
            amfgate.Xml("<a/>"),
            b"\x01\xff",
            amfgate.invalid_date,
            amfgate.Vector("int", [1], fixed=True),
            dictionary,
            amfgate.EcmaArray({1: "b", 0: "a"}),
            amfgate.EcmaArray({2: "b", "x": "a"}),
            amfgate.flex.ArrayCollection([]),
        ]
    ).splitlines()
    assert lines[2:] == [
        "  [",
        "    null",
        "    undefined",
        "    nan",
        "    0",
        "    1e+300",
        '    xml "<a/>"',
        "    bytes 01ff",
        "    date invalid",
        "    vector int fixed [",
        "      1",
        "    ]",
        "    dictionary {",
        '      "b": 2',
        "      true: 1",
        "      key []",
        "      value 3",
        "    }",
        "    [",
        '      "a"',
        '      "b"',
        "    ]",
        "    associative {",
        '      "2": "b"',
        '      "x": "a"',
        "    }",
        '    object "flex.messaging.io.ArrayCollection" (',
        "      []",
        "    )",
        "  ]",
    ]


def test_an_instance_of_a_class_of_ones_own_reads_as_its_members() -> None:
    @amfgate.remote_class("tests.canonical.Point")
    class Point:
        def __init__(self, x: int) -> None:
            self.x = x

    assert canonical_value(Point(3)) == canonical_value(TypedObject("tests.canonical.Point", {"x": 3}))


def test_a_body_that_cannot_be_decoded_is_one_line() -> None:
    data = bytes.fromhex("0000 0000 0001 0001 61 0002 2f31 00000002 04ff")
    assert canonical(data).splitlines()[2:] == [
        'call "a"',
        "  not decoded: 0x04 is reserved in AMF0 and never sent, at offset 17",
    ]


def test_an_answer() -> None:
    packet = Packet(0, [], [Body("/1/onResult", "null", True)])
    assert canonical(packet) == "amfgate canonical 1\npacket 0\nanswer /onResult\n  true\n"
