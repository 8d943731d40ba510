"""What a reply is made of: one body for each call, faults, versions, references, headers."""

from __future__ import annotations

import datetime as dt
import logging
import struct
from typing import Any

import pytest
from wsgi_client import Reply, call, packet, post

import amfgate
from amfgate import Body, Fault, Gateway, Limits, Packet, Rows, TypedObject, Vector
from amfgate.filters import Dispatch, PacketCodec, packet_codec
from amfgate.pipeline import Exchange


class Silent(Fault):
    def __str__(self) -> str:
        raise ValueError("no text")


class Service:
    def echo(self, *values: Any) -> Any:
        return values[0]

    def all(self, *values: Any) -> Any:
        return list(values)

    def types(self, *values: Any) -> Any:
        return [type(value).__name__ for value in values]

    def fail(self) -> None:
        raise KeyError("secret")

    def fault(self) -> None:
        raise Fault(
            "Shop.SoldOut", "the last one went", details="at noon", root_cause={"shelf": 3}, extended_data=[1, 2]
        )

    def cannot(self) -> Any:
        return [1, {"lock": object()}]

    def huge(self) -> int:
        return 2**60

    def bad(self) -> None:
        raise Fault("Bad", "and why", details="more", root_cause=object())

    def worst(self) -> None:
        raise Fault("Worst", object())  # type: ignore[arg-type]

    def odd(self) -> None:
        raise Fault(5)  # type: ignore[arg-type]

    def silent(self) -> None:
        raise Silent("Shop.Silent")

    def empty(self) -> None:
        return None


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"svc": Service()}, **options)


def raw(data: bytes, **options: Any) -> Reply:
    return post(gateway(**options), data)


def body_bytes(reply: Reply) -> bytes:
    """The value of the first body of a reply without headers, as it stands there."""
    data = reply.data
    assert data[2:4] == b"\0\0"
    at = 6
    for _ in range(2):
        at += 2 + int.from_bytes(data[at : at + 2], "big")
    length = int.from_bytes(data[at : at + 4], "big")
    value = data[at + 4 : at + 4 + length]
    assert len(value) == length
    return value


def request(value: bytes, *, version: int = 0, length: int | None = None, target: str = "svc.echo") -> bytes:
    """A request of one body with these bytes as its value."""
    name = target.encode()
    return (
        struct.pack(">HHH", version, 0, 1)
        + struct.pack(">H", len(name))
        + name
        + b"\0\2/1"
        + struct.pack(">I", len(value) if length is None else length)
        + value
    )


# One reply for each call


def test_a_reply_byte_for_byte() -> None:
    reply = raw(
        bytes.fromhex(
            "0000 0000 0001 0008 7376632E6563686F 0002 2F31 0000000E 0A 00000001 02 0002 6869".replace(" ", "")
        )
    )
    assert reply.data == bytes.fromhex(
        "0000 0000 0001 000B 2F312F6F6E526573756C74 0004 6E756C6C 00000005 02 0002 6869".replace(" ", "")
    )


def test_each_body_is_answered_in_its_order() -> None:
    reply = post(gateway(), packet(("svc.echo", [1]), ("svc.nothing", []), ("svc.echo", ["c"]), ("svc.empty", [])))
    assert [body.target for body in reply.bodies] == ["/1/onResult", "/2/onStatus", "/3/onResult", "/4/onResult"]
    assert [body.response for body in reply.bodies] == ["null"] * 4
    assert [body.value for body in reply.bodies][::2] == [1, "c"]
    assert reply.bodies[3].value is None


def test_two_bodies_of_one_response_uri_are_answered_both() -> None:
    bodies = [Body("svc.echo", "/1", [1]), Body("svc.echo", "/1", [2]), Body("svc.fail", "/1", [])]
    reply = post(gateway(), Packet(0, [], bodies).to_bytes())
    assert [body.target for body in reply.bodies] == ["/1/onResult", "/1/onResult", "/1/onStatus"]
    assert [body.value for body in reply.bodies][:2] == [1, 2]


def test_a_packet_without_bodies_is_answered_by_one() -> None:
    reply = post(gateway(), Packet(3, [], []).to_bytes())
    assert reply.status == "200 OK"
    assert reply.data == bytes.fromhex("000300000000")


def test_a_response_uri_too_long_for_a_reply_is_answered_without_it(caplog: pytest.LogCaptureFixture) -> None:
    reply = post(
        gateway(), Packet(0, [], [Body("svc.echo", "u" * 65_535, [1]), Body("svc.echo", "/2", [2])]).to_bytes()
    )
    assert [body.target for body in reply.bodies] == ["/onStatus", "/2/onResult"]


# What can go wrong with one call


def test_a_fault_has_all_the_members_that_clients_read() -> None:
    assert call(gateway(), "svc.fault").value == {
        "code": "Shop.SoldOut",
        "level": "error",
        "description": "the last one went",
        "details": "at noon",
        "type": "Fault",
        "rootcause": {"shelf": 3},
        "faultCode": "Shop.SoldOut",
        "faultString": "the last one went",
        "faultDetail": "at noon",
        "extendedData": [1, 2],
    }


def test_an_unexpected_exception_tells_nothing() -> None:
    reply = call(gateway(), "svc.fail")
    assert reply.status == "200 OK"
    assert reply.value == {
        "code": "Server.Processing",
        "level": "error",
        "description": "The call failed; the log of the server says why.",
        "details": "",
        "type": "Fault",
        "rootcause": None,
        "faultCode": "Server.Processing",
        "faultString": "The call failed; the log of the server says why.",
        "faultDetail": "",
    }
    assert b"secret" not in reply.data and b"KeyError" not in reply.data


def test_with_debug_it_tells_text_and_traceback() -> None:
    value = call(gateway(debug=True), "svc.fail").value
    assert value["code"] == "Server.Processing"
    assert value["description"] == "KeyError: 'secret'"
    assert value["details"].startswith("Traceback (most recent call last):")
    assert 'raise KeyError("secret")' in value["details"]


def test_a_result_that_cannot_be_encoded_is_the_fault_of_its_call() -> None:
    data = packet(("svc.echo", [1]), ("svc.cannot", []), ("svc.huge", []), ("svc.echo", [4]))
    for version in (0, 3):
        reply = post(gateway(debug=True), Packet(version, [], Packet.from_bytes(data).bodies).to_bytes())
        assert reply.codes == [None, "Server.Processing", "Server.Processing", None]
        assert reply.bodies[1].value["description"].startswith("EncodeError: cannot encode object at $[1].lock")
    assert "object" not in post(gateway(), data).bodies[1].value["description"]


def test_a_fault_that_cannot_be_encoded_is_told_without_what_cannot() -> None:
    reply = post(gateway(), packet(("svc.bad", []), ("svc.worst", []), ("svc.echo", [2])))
    assert reply.codes == ["Bad", "Server.Processing", None]
    first, second, _ = (body.value for body in reply.bodies)
    assert (first["description"], first["details"], first["rootcause"]) == ("and why", "more", None)
    assert second["description"] == "the call failed, and its fault cannot be encoded"


def test_a_fault_whose_text_cannot_be_made_does_not_stop_the_batch() -> None:
    reply = post(gateway(), packet(("svc.odd", []), ("svc.silent", []), ("svc.echo", ["still"])))
    assert [body.target for body in reply.packet.bodies] == ["/1/onStatus", "/2/onStatus", "/3/onResult"]
    assert reply.packet.bodies[0].value["code"] == 5
    assert reply.packet.bodies[1].value["code"] == "Shop.Silent"
    assert reply.packet.bodies[2].value == "still"


def test_a_result_that_raises_while_it_is_encoded_is_a_fault() -> None:
    def rows() -> Any:
        yield 1
        raise ZeroDivisionError("halfway")

    reply = post(Gateway(None, {"rows": rows, "svc": Service()}), packet(("rows", []), ("svc.echo", [2])))
    assert reply.codes == ["Server.Processing", None]


def test_a_result_that_nests_too_deep_is_a_fault() -> None:
    def deep() -> Any:
        value: list[Any] = []
        for _ in range(100_000):
            value = [value]
        return value

    reply = post(Gateway(None, {"deep": deep, "svc": Service()}), packet(("deep", []), ("svc.echo", [2])))
    assert reply.codes == ["Server.Processing", None]


def body(target: str, response: str, value: bytes, length: int | None = None) -> bytes:
    return b"".join(
        (
            struct.pack(">H", len(target)),
            target.encode(),
            struct.pack(">H", len(response)),
            response.encode(),
            struct.pack(">I", len(value) if length is None else length),
            value,
        )
    )


GOOD = bytes.fromhex("0A0000000102000161")
BAD = bytes.fromhex("0A00000001FF")


def test_a_body_that_cannot_be_decoded_is_a_fault_and_the_others_are_answered() -> None:
    bodies = body("svc.echo", "/1", GOOD) + body("svc.echo", "/2", BAD) + body("svc.echo", "/3", GOOD)
    reply = raw(struct.pack(">HHH", 0, 0, 3) + bodies)
    assert reply.codes == [None, "Client.Message.Encoding", None]
    assert "at offset" in reply.bodies[1].value["description"]
    assert reply.bodies[2].value == "a"


@pytest.mark.parametrize("length", [0, 1, 0xFFFFFFFF, 3, 5000])
def test_without_a_plausible_length_what_follows_a_bad_body_is_dropped_and_logged(
    length: int, caplog: pytest.LogCaptureFixture
) -> None:
    bodies = body("svc.echo", "/1", GOOD) + body("svc.echo", "/2", BAD, length) + body("svc.echo", "/3", GOOD)
    reply = raw(struct.pack(">HHH", 0, 0, 3) + bodies)
    assert reply.codes == [None, "Client.Message.Encoding"]
    assert "1 bodies were dropped" in caplog.text


@pytest.mark.parametrize("length", [0, 1, 0xFFFFFFFF])
def test_false_lengths_do_not_matter_for_good_bodies(length: int) -> None:
    bodies = body("svc.echo", "/1", GOOD, length) + body("svc.echo", "/2", GOOD, length)
    reply = raw(struct.pack(">HHH", 0, 0, 2) + bodies)
    assert [one.value for one in reply.bodies] == ["a", "a"]


# The shape of the arguments


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0A 00000002 00 3FF0000000000000 02 0001 61", [1, "a"]),
        ("0A 00000003 11 04 01 11 04 02 11 04 03", [1, 2, 3]),
        ("0A 00000002 02 0001 61 11 06 03 62", ["a", "b"]),
        ("11 09 05 01 04 01 06 03 61", [1, "a"]),
        ("08 00000002 0001 30 02 0001 61 0001 31 02 0001 62 0000 09", ["a", "b"]),
        ("08 00000000 0000 09", []),
        ("05", []),
        ("06", []),
        ("11 0A 0B 01 03 61 04 01 01", [{"a": 1}]),
        ("03 0001 61 05 0000 09", [{"a": None}]),
    ],
)
def test_arguments_come_in_several_shapes(value: str, expected: list[Any]) -> None:
    for version in (0, 3):
        data = request(bytes.fromhex(value.replace(" ", "")), version=version, target="svc.all")
        assert post(gateway(), data).value == expected


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("02 0001 61", "a string"),
        ("00 3FF0000000000000", "a number"),
        ("01 01", "a boolean"),
        ("11 0C 03 61", "a byte array"),
    ],
)
def test_a_lone_scalar_in_place_of_the_arguments_is_a_fault_that_tells_what_was_found(value: str, found: str) -> None:
    reply = raw(request(bytes.fromhex(value.replace(" ", ""))))
    assert reply.codes == ["Client.Message.Encoding"]
    assert reply.value["description"] == f"the arguments of a call are an array; found {found}"


def test_services_get_plain_values() -> None:
    arrays = "08 00000001 0001 30 02 0001 61 0000 09"
    collection = "11 0A 07 43" + b"flex.messaging.io.ArrayCollection".hex() + "09 03 01 04 01"
    typed = "10 0003 612E42 0001 61 05 0000 09"
    value = f"0A 00000005 {arrays} 00 4008000000000000 {collection} {typed} 08 00000001 0001 78 05 0000 09"
    data = request(bytes.fromhex(value.replace(" ", "")), target="svc.types")
    assert post(gateway(), data).value == ["list", "int", "list", "TypedObject", "EcmaArray"]


def test_a_reference_to_the_arguments_is_read_as_the_client_meant_it(caplog: pytest.LogCaptureFixture) -> None:
    # ActionScript 2 counts the array of arguments: 07 0001 is its first item.
    value = "0A 00000002 03 0001 61 05 0000 09 07 0001"
    reply = raw(request(bytes.fromhex(value.replace(" ", "")), target="svc.all"))
    assert reply.value == [{"a": None}, {"a": None}]
    # ActionScript 3 does not: 07 0000 is the first item, and not the array, which would hold itself.
    value = "0A 00000002 03 0001 61 05 0000 09 07 0000"
    reply = raw(request(bytes.fromhex(value.replace(" ", "")), target="svc.all"))
    assert reply.value == [{"a": None}, {"a": None}]
    assert "references can be meant in two ways" in caplog.text


# Versions, and what travels behind 11


@pytest.mark.parametrize(("version", "answered"), [(0, 0), (1, 0), (3, 3)])
def test_the_version_word_of_the_reply(version: int, answered: int) -> None:
    reply = raw(request(GOOD, version=version))
    assert reply.data[:2] == bytes([0, answered])
    assert reply.value == "a"


def test_another_version_word_is_no_packet() -> None:
    assert raw(request(GOOD, version=2)).status == "400 Bad Request"


def returning(value: Any, version: int) -> bytes:
    def give() -> Any:
        return value

    return body_bytes(call(Gateway(None, {"give": give}), "give", version=version))


WHEN = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "version", "expected"),
    [
        (None, 3, "05"),
        (True, 3, "01 01"),
        (1, 3, "00 3FF0000000000000"),
        ("a", 3, "02 0001 61"),
        ([1], 3, "11 09 03 01 04 01"),
        ({"a": 1}, 3, "11 0A 0B 01 03 61 04 01 01"),
        (b"a", 3, "11 0C 03 61"),
        (WHEN, 3, "11 08 01 0000000000000000"),
        ([1], 0, "0A 00000001 00 3FF0000000000000"),
        ({"a": None}, 0, "03 0001 61 05 0000 09"),
        (WHEN, 0, "0B 0000000000000000 0000"),
        (TypedObject("a.B", {"c": None}), 0, "10 0003 612E42 0001 63 05 0000 09"),
        (b"a", 0, "11 0C 03 61"),
        ({"a": [b"a"]}, 0, "11 0A 0B 01 03 61 09 03 01 0C 03 61 01"),
        ([1, Vector("int", [1])], 0, "11 09 05 01 04 01 0D 03 00 00000001"),
        (Rows(["a"], [(1,), (2,)]), 3, "11 09 05 01 0A 13 01 03 61 04 01 0A 01 04 02"),
    ],
)
def test_how_values_travel_in_replies(value: Any, version: int, expected: str) -> None:
    assert returning(value, version) == bytes.fromhex(expected.replace(" ", ""))


def test_a_version_3_reply_has_one_11_for_the_whole_value() -> None:
    assert returning([{"a": [1]}, b"b"], 3).count(b"\x11") == 1


def test_byte_arrays_travel_both_ways() -> None:
    value = "0A 00000001 11 0C 07 010203"
    for version in (0, 3):
        reply = post(gateway(), request(bytes.fromhex(value.replace(" ", "")), version=version))
        assert body_bytes(reply) == bytes.fromhex("110C07010203")


def test_shared_values_are_written_out_again_in_a_version_0_reply() -> None:
    shared = {"a": None}
    once = bytes.fromhex("03 0001 61 05 0000 09".replace(" ", ""))
    assert returning([shared, shared], 0) == bytes.fromhex("0A00000002") + once + once


def test_a_cycle_is_a_reference_in_a_version_0_reply() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert returning(cycle, 0) == bytes.fromhex("0A 00000001 07 0000".replace(" ", ""))


def test_after_ten_thousand_repeated_values_references_are_written() -> None:
    shared: list[Any] = []
    data = returning([shared] * 10_005, 0)
    assert data == (bytes.fromhex("0A00002715") + bytes.fromhex("0A00000000") * 10_001 + bytes.fromhex("070001") * 4)


def test_forty_levels_of_sharing_stay_small_in_a_version_0_reply() -> None:
    value: list[Any] = []
    for _ in range(40):
        value = [value, value]
    assert len(returning(value, 0)) < 200_000


def test_shared_values_are_references_in_a_version_3_reply() -> None:
    shared = [1]
    assert returning([shared, shared], 3) == bytes.fromhex("11 09 05 01 09 03 01 04 01 09 02".replace(" ", ""))


def test_long_columns_of_distinct_strings_are_not_looked_up_for_ever() -> None:
    value = [f"text {n}" for n in range(500)] + ["text 400"]
    assert (
        Packet.from_bytes(call(Gateway(None, {"give": lambda: value}), "give", version=3).data).bodies[0].value == value
    )


def test_typed_objects_use_the_registry_of_the_gateway() -> None:
    class Product:
        def __init__(self) -> None:
            self.name = "tea"

    classes = amfgate.ClassRegistry()
    classes.register(Product, "shop.Product")
    seen: list[Any] = []

    def look(product: Any) -> Product:
        seen.append(product)
        return Product()

    app = Gateway(None, {"look": look}, classes=classes)
    reply = call(app, "look", TypedObject("shop.Product", {"name": "milk"}))
    assert isinstance(seen[0], Product) and seen[0].name == "milk"
    assert reply.value == TypedObject("shop.Product", {"name": "tea"})
    call(Gateway(None, {"look": look}), "look", TypedObject("shop.Product", {"name": "milk"}))
    assert isinstance(seen[1], TypedObject)


# Limits


def test_more_bodies_than_the_limit_are_413() -> None:
    data = packet(*[("svc.echo", [n]) for n in range(101)])
    reply = post(gateway(), data)
    assert reply.status[:4] == "413 "
    assert b"101 bodies in one packet; the limit is 100 (max_bodies)" in reply.data
    assert len(post(gateway(), packet(*[("svc.echo", [n]) for n in range(100)])).bodies) == 100
    assert len(post(gateway(limits=Limits(max_bodies=None)), data).bodies) == 101


def test_a_count_of_bodies_that_cannot_be_is_400() -> None:
    reply = raw(bytes.fromhex("0003 0000 FFFF 0001 61 0002 2F31 00000001 05"))
    assert reply.status[:4] == "400 "
    assert reply.data == b"65535 bodies cannot be in the 12 bytes left, at offset 4\n"


def test_a_body_past_a_limit_is_its_own_fault() -> None:
    deep: list[Any] = []
    for _ in range(30):
        deep = [deep]
    data = packet(("svc.echo", [1]), ("svc.echo", [deep]), ("svc.echo", [list(range(50))]), ("svc.echo", [4]))
    assert post(gateway(limits=Limits(max_depth=20)), data).codes == [None, "Client.Message.Encoding", None, None]
    assert post(gateway(limits=Limits(max_values=40)), data).codes == [None, None, "Client.Message.Encoding", None]


@pytest.mark.parametrize(
    "value",
    [
        "0A FFFFFFFF",
        "0A 00000001 11 0D FFFFFFFF 00",
        "0A 00000001 11 0C FFFFFFFF",
        "0A 00000001 11 11 FFFFFFFF 00",
        "0A 00000001 0A 7FFFFFFF",
    ],
)
def test_sizes_that_are_not_there_are_refused_at_once(value: str) -> None:
    assert raw(request(bytes.fromhex(value.replace(" ", "")))).codes == ["Client.Message.Encoding"]


def test_twenty_thousand_nested_arrays_are_a_fault() -> None:
    reply = raw(request(bytes.fromhex("0A00000001") * 20_000 + b"\x05"))
    assert reply.codes == ["Client.Message.Encoding"]


@pytest.mark.parametrize(
    "target",
    ["svc.__init__", "svc._private", "svc.__class__.mro", "svc.a.b", "svc.echo.__globals__", "__class__", ""],
)
def test_what_is_not_exposed_cannot_be_called(target: str) -> None:
    assert call(gateway(), target).bodies[0].target == "/1/onStatus"


def test_a_filter_may_add_bodies_to_the_reply() -> None:
    class Events:
        def on_response(self, exchange: Exchange) -> None:
            assert isinstance(exchange.response, Packet)
            exchange.response.bodies.append(Body("/1/onDebugEvents", "null", [[]]))
            exchange.response.bodies.append(Body("/9/onDebugEvents", "null", object()))

    filters = amfgate.gateway.default_filters()
    filters.insert(1, Events())
    reply = call(Gateway(None, {"svc": Service()}, filters=filters), "svc.echo", 1)
    assert reply.bodies[:2] == [Body("/1/onResult", "null", 1), Body("/1/onDebugEvents", "null", [[]])]
    assert reply.bodies[2].value["description"] == "the answer cannot be encoded"


def test_logging_is_quiet_about_results(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="amfgate"):
        call(gateway(), "svc.echo", "my password")
    assert "my password" not in caplog.text


@pytest.mark.parametrize(
    "data",
    [
        request(GOOD),
        request(GOOD, version=3),
        request(GOOD, version=1),
        request(GOOD, version=2),
        request(GOOD, length=0xFFFFFFFF),
        request(GOOD) + b"\0",
        request(GOOD)[:-1],
        request(b""),
        request(BAD),
        request(GOOD)[:9],
        request(GOOD)[:7],
        request(GOOD)[:6],
        request(GOOD).replace(b"svc", b"\xff\xfe\xfd"),
        request(GOOD).replace(b"/1", b"\xff\xfe"),
        request(bytes.fromhex("02000161")),
        request(bytes.fromhex("05")),
        request(bytes.fromhex("110903010401")),
        request(bytes.fromhex("0A00000002 03 0001 61 05 000009 07 0000".replace(" ", ""))),
        request(bytes.fromhex("0A00000002 03 0001 61 05 000009 07 0009".replace(" ", ""))),
        request(bytes.fromhex("0A00000001") * 600 + b"\x05"),
        b"\xff\xff" + request(GOOD)[2:],
        request(GOOD)[:6] + b"\xff\xff" + request(GOOD)[8:],
    ],
)
def test_a_lone_call_is_read_as_any_other(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> list[Any]:
        found: list[Any] = []

        def look(exchange: Exchange) -> None:
            assert exchange.request is not None
            found.append((exchange.request, [body.size for body in exchange.request.bodies]))
            try:
                found.append(exchange.request.to_bytes())
            except amfgate.DecodeError as error:
                found.append(str(error))

        reply = post(Gateway(None, {"svc": Service()}, filters=[PacketCodec(), look, Dispatch()]), data)
        return [*found, reply.status, reply.data]

    quick = answer()
    monkeypatch.setattr(packet_codec, "_read_one_call", lambda exchange, data: False)
    assert repr(quick) == repr(answer())
