"""`flex_collections`: which results go as ArrayCollection, and who says so."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from typing import Any

import numpy
import pytest
from wsgi_client import Reply, call, packet, post

import amfgate
from amfgate import Body, Call, Fault, Gateway, Packet, Rows, ServiceRegistry, TypedObject, Vector
from amfgate.actions import adapt, bind, find, invoke
from amfgate.flex import ArrayCollection, ArrayList

C = "0A 07 43" + b"flex.messaging.io.ArrayCollection".hex()
RESULT = "0003 0000 0001 000B 2F312F6F6E526573756C74 0004 6E756C6C"  # version 3, /1/onResult, null
ID = re.compile(rb"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}")


@dataclasses.dataclass
class Order:
    lines: list[Any]


class Pair(enum.Enum):
    OF = [1, 2]


def nested() -> Any:
    return [[1]]


def gateway(function: Any = nested, **options: Any) -> Gateway:
    return Gateway(None, {"f": function}, **options)


def result(app: Gateway, target: str = "f", version: int = 3) -> bytes:
    """The bytes of the value in the reply to a plain call."""
    reply = call(app, target, version=version)
    head = bytes.fromhex(RESULT)
    assert reply.data[2 : len(head)] == head[2:]
    assert int.from_bytes(reply.data[len(head) : len(head) + 4], "big") == len(reply.data) - len(head) - 4
    return reply.data[len(head) + 4 :]


def h(text: str) -> bytes:
    return bytes.fromhex(text)


PLAIN = "11 09 03 01 09 03 01 04 01"
OUTER = "11" + C + "09 03 01 09 03 01 04 01"
DEEP = "11" + C + "09 03 01 0A 01 09 03 01 04 01"


# --- what a gateway says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "expected"), [(False, PLAIN), (True, OUTER), ("deep", DEEP)])
def test_a_list_goes_as_the_gateway_says(option: Any, expected: str) -> None:
    assert result(gateway(flex_collections=option)) == h(expected)


def test_without_the_option_lists_are_arrays() -> None:
    assert result(gateway()) == h(PLAIN)


@pytest.mark.parametrize("option", [None, "Deep", "true", 1, 0, 2, [], numpy.array([1])], ids=repr)
def test_another_value_is_an_error_that_names_the_three(option: Any) -> None:
    message = 'flex_collections is False, True or "deep", not ' + re.escape(repr(option))
    with pytest.raises(ValueError, match=message):
        gateway(flex_collections=option)
    if option is not None:
        with pytest.raises(ValueError, match=message):
            amfgate.service("f", flex_collections=option)


@pytest.mark.parametrize("option", [True, "deep"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([], C + "09 01 01", id="empty"),
        pytest.param((), C + "09 01 01", id="empty-tuple"),
        pytest.param((1,), C + "09 03 01 04 01", id="tuple"),
        pytest.param({1}, C + "09 03 01 04 01", id="set"),
        pytest.param(range(2), C + "09 05 01 04 00 04 01", id="range"),
        pytest.param({"a": 1}.values(), C + "09 03 01 04 01", id="view"),
        pytest.param(Rows(["a"], [(1,), (2,)]), C + "09 05 01 0A 13 01 03 61 04 01 0A 05 04 02", id="rows"),
        pytest.param(Pair.OF, C + "09 05 01 04 01 04 02", id="enum-with-a-list"),
        pytest.param(numpy.ma.array([1, 2]), C + "09 05 01 04 01 04 02", id="masked-array"),
        pytest.param(numpy.array([[1]], "int32"), C + "09 03 01 0D 03 00 00000001", id="matrix"),
        pytest.param(ArrayCollection([1]), C + "09 03 01 04 01", id="collection"),
        pytest.param(
            ArrayList([1]), "0A 07 37" + b"flex.messaging.io.ArrayList".hex() + "09 03 01 04 01", id="array-list"
        ),
        pytest.param(Vector("int", [1]), "0D 03 00 00000001", id="vector"),
        pytest.param(numpy.array([1], "int32"), "0D 03 00 00000001", id="numpy"),
        pytest.param(amfgate.EcmaArray({0: 1}), "09 03 01 04 01", id="ecma"),
        pytest.param(b"ab", "0C 05 6162", id="bytes"),
        pytest.param({}, "0A 0B 01 01", id="dict"),
    ],
)
def test_what_travels_as_an_array_is_a_collection(option: Any, value: Any, expected: str) -> None:
    assert result(gateway(lambda: value, flex_collections=option)) == h("11" + expected)


@pytest.mark.parametrize("option", [True, "deep"])
def test_a_generator_is_a_collection(option: Any) -> None:
    assert result(gateway(lambda: (n for n in (1, 2)), flex_collections=option)) == h("11" + C + "09 05 01 04 01 04 02")


@pytest.mark.parametrize("option", [True, "deep"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "02 0001 61"), (1, "00 3FF0000000000000"), (None, "05"), (True, "01 01"), (amfgate.undefined, "06")],
)
def test_scalars_stay_what_they_are(option: Any, value: Any, expected: str) -> None:
    assert result(gateway(lambda: value, flex_collections=option)) == h(expected)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        (True, {"a": [1]}, "0A 0B 01 03 61 09 03 01 04 01 01"),
        ("deep", {"a": [1]}, "0A 0B 01 03 61" + C + "09 03 01 04 01 01"),
        (True, Order([1]), "0A 13 01 0B 6C696E6573 09 03 01 04 01"),
        ("deep", Order([1]), "0A 13 01 0B 6C696E6573" + C + "09 03 01 04 01"),
        (True, Rows(["a"], [([1],)]), C + "09 03 01 0A 13 01 03 61 09 03 01 04 01"),
        ("deep", Rows(["a"], [([1],)]), C + "09 03 01 0A 13 01 03 61 0A 01 09 03 01 04 01"),
        (True, ArrayCollection([[1]]), C + "09 03 01 09 03 01 04 01"),
        ("deep", ArrayCollection([[1]]), C + "09 03 01 0A 01 09 03 01 04 01"),
    ],
    ids=repr,
)
def test_lists_inside_are_collections_with_deep_alone(option: Any, value: Any, expected: str) -> None:
    assert result(gateway(lambda: value, flex_collections=option)) == h("11" + expected)


def test_with_deep_a_list_that_is_there_twice_is_one_collection() -> None:
    items = [1]
    app = gateway(lambda: {"a": items, "b": items}, flex_collections="deep")
    assert result(app) == h("11 0A 0B 01 03 61" + C + "09 03 01 04 01 03 62 0A 02 01")


@pytest.mark.parametrize(("option", "inside"), [(True, "09 02"), ("deep", "0A 00")])
def test_a_list_may_hold_itself(option: Any, inside: str) -> None:
    items: list[Any] = []
    items.append(items)
    assert result(gateway(lambda: items, flex_collections=option)) == h("11" + C + "09 03 01" + inside)


@pytest.mark.parametrize("option", [False, True, "deep"])
def test_amf0_has_no_collections(option: Any) -> None:
    assert result(gateway(flex_collections=option), version=0) == h("0A 00000001 0A 00000001 00 3FF0000000000000")


@pytest.mark.parametrize("option", [True, "deep"])
def test_nor_has_a_reply_of_version_0_that_holds_amf3(option: Any) -> None:
    assert result(gateway(lambda: [b"ab"], flex_collections=option), version=0) == h("11 09 03 01 0C 05 6162")


def test_the_result_of_the_call_stays_what_the_method_returned() -> None:
    seen = []

    class Watch:
        def on_response(self, call: Call) -> None:
            seen.append(call.result)

    app = gateway(flex_collections=True, actions=[Watch(), find, bind, invoke, adapt])
    assert (result(app), seen) == (h(OUTER), [[[1]]])


@pytest.mark.parametrize(("option", "expected"), [(True, OUTER), ("deep", DEEP)])
def test_an_action_that_knows_the_answer_gives_the_same(option: Any, expected: str) -> None:
    def known(call: Call) -> None:
        call.answer([[1]])

    app = gateway(lambda: None, flex_collections=option, actions=[find, known, bind, invoke, adapt])
    assert result(app) == h(expected)


def test_what_is_answered_without_a_method_has_the_shape_that_its_protocol_gives_it() -> None:
    def protocol(call: Call) -> None:
        call.answer([[1]])

    assert result(gateway(flex_collections="deep", actions=[protocol, find, bind, invoke, adapt])) == h(PLAIN)


def test_a_result_that_cannot_be_sent_is_a_fault_of_its_call() -> None:
    app = Gateway(None, {"f": nested, "bad": lambda: [[object()]]}, flex_collections="deep")
    reply = post(app, packet(("bad", []), ("f", []), version=3))
    assert reply.codes == ["Server.Processing", None]
    assert reply.bodies[1].value == ArrayCollection([ArrayCollection([1])])


# --- nearest wins ----------------------------------------------------------------------------------------------------


@amfgate.service("silent")
class Silent:
    def page(self) -> Any:
        return [[1]]

    @amfgate.service(flex_collections=True)
    def outer(self) -> Any:
        return [[1]]

    @amfgate.service(flex_collections="deep")
    def deep(self) -> Any:
        return [[1]]

    @amfgate.service(flex_collections=False)
    def off(self) -> Any:
        return [[1]]

    @staticmethod
    @amfgate.service(flex_collections="deep")
    def inside_static() -> Any:
        return [[1]]

    @amfgate.service(flex_collections="deep")
    @classmethod
    def outside_class(cls) -> Any:
        return [[1]]

    made = amfgate.service(flex_collections="deep")(functools.partialmethod(page))


@amfgate.service("outer", flex_collections=True)
class Outer(Silent):
    def page(self) -> Any:
        return [[1]]


@amfgate.service("off", flex_collections=False)
class Off(Silent):
    def page(self) -> Any:
        return [[1]]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("silent.page", {False: PLAIN, True: OUTER, "deep": DEEP}),
        ("outer.page", {False: OUTER, True: OUTER, "deep": OUTER}),
        ("off.page", {False: PLAIN, True: PLAIN, "deep": PLAIN}),
        ("silent.outer", {False: OUTER, True: OUTER, "deep": OUTER}),
        ("silent.deep", {False: DEEP, True: DEEP, "deep": DEEP}),
        ("silent.off", {False: PLAIN, True: PLAIN, "deep": PLAIN}),
        ("outer.deep", {False: DEEP}),
        ("outer.off", {False: PLAIN, "deep": PLAIN}),
        ("off.outer", {False: OUTER, "deep": OUTER}),
        ("silent.inside_static", {False: DEEP}),
        ("silent.outside_class", {False: DEEP}),
        ("silent.made", {False: DEEP}),
    ],
)
def test_what_is_said_nearest_counts(target: str, expected: dict[Any, str]) -> None:
    for option, bytes_ in expected.items():
        app = Gateway(None, [Silent, Outer, Off], flex_collections=option)
        assert result(app, target) == h(bytes_), option


def test_a_function_says_it_with_its_name_or_without() -> None:
    @amfgate.service("named", flex_collections="deep")
    def named() -> Any:
        return [[1]]

    @amfgate.service(flex_collections=True)
    def unnamed() -> Any:
        return [[1]]

    app = Gateway(None, {"named": named, "f": unnamed})
    assert (result(app, "named"), result(app)) == (h(DEEP), h(OUTER))
    assert result(Gateway(None, [named]), "named") == h(DEEP)


def test_a_class_without_a_name_says_it_too() -> None:
    @amfgate.service(flex_collections="deep")
    class Catalog:
        def page(self) -> Any:
            return [[1]]

    assert result(Gateway(None, {"shop": Catalog()}), "shop.page") == h(DEEP)


def test_the_option_alone_exposes_nothing() -> None:
    @amfgate.service(flex_collections="deep")
    class Base:
        def inherited(self) -> Any: ...

    class Catalog(Base):
        @amfgate.service(flex_collections="deep")
        def _private(self) -> Any: ...

        def page(self) -> Any: ...

    assert list(ServiceRegistry({"shop": Catalog()})) == ["shop.page"]


def test_what_answers_unknown_targets_says_it_too() -> None:
    @amfgate.service(flex_collections="deep")
    def keeper(call: Call) -> Any:
        return [[1]]

    class Scores:
        @amfgate.service(flex_collections=True)
        def __missing__(self, call: Call) -> Any:
            return [[1]]

    app = Gateway(None, {"*": keeper, "scores": Scores()})
    assert (result(app, "unknown"), result(app, "scores.unknown")) == (h(DEEP), h(OUTER))


@pytest.mark.parametrize("call_it", [amfgate.service, lambda: amfgate.service(None), lambda: amfgate.service(list)])
def test_a_service_needs_a_name_or_the_option(call_it: Any) -> None:
    with pytest.raises(TypeError, match="@amfgate.service needs the name by which clients call it"):
        call_it()


# --- who comes later, and who shares ---------------------------------------------------------------------------------


def test_a_service_that_is_added_later_is_heard() -> None:
    app = Gateway(None, {"silent": Silent.page})
    assert not Gateway(None, {"f": nested}).services.collects
    app = gateway()
    app.services.add("silent", Silent())
    assert result(app, "silent.deep") == h(DEEP)


def test_a_gateway_still_has_its_say_after_a_service_was_added() -> None:
    app = gateway(flex_collections="deep")
    app.services.add("g", nested)
    assert result(app, "g") == h(DEEP)


def test_gateways_that_share_a_registry_each_have_their_own_say() -> None:
    services = ServiceRegistry({"f": nested})
    apps = [Gateway(None, services, flex_collections=option) for option in (False, "deep", True)]
    assert [result(app) for app in apps] == [h(PLAIN), h(DEEP), h(OUTER)]


def test_another_name_of_a_target_says_the_same() -> None:
    app = Gateway(None, [Silent], targets={"Old.get": "silent.deep"}, case_insensitive=True)
    assert result(app, "old.GET") == h(DEEP)


def test_each_call_of_a_packet_has_its_own() -> None:
    app = Gateway(None, [Silent])
    reply = post(app, packet(*((f"silent.{name}", []) for name in ("deep", "page", "outer", "deep")), version=3))
    kinds = [(type(body.value), type(body.value[0])) for body in reply.bodies]
    deep = (ArrayCollection, ArrayCollection)
    assert kinds == [deep, (list, list), (ArrayCollection, list), deep]


# --- Flex's messages and faults --------------------------------------------------------------------------------------


def remoting(app: Gateway, operation: str = "f", version: int = 3, **headers: Any) -> Reply:
    members = {
        "body": [],
        "clientId": "C",
        "destination": None,
        "headers": headers,
        "messageId": "M",
        "operation": operation,
        "source": None,
        "timestamp": 0,
        "timeToLive": 0,
    }
    one = TypedObject("flex.messaging.messages.RemotingMessage", members)
    return post(app, Packet(version, [], [Body("null", "/1", [one])]).to_bytes())


def acknowledged(data: bytes) -> bytes:
    """What stands between the names of an AcknowledgeMessage's members and its clientId: the body."""
    assert b"AcknowledgeMessage\tbody" in data
    head, _, tail = data.partition(b"\x15timeToLive")
    assert head
    assert tail
    return tail[: tail.index(b"\x06\x03C")]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (False, "09 03 01 09 03 01 04 01"),
        (True, C + "09 03 01 09 03 01 04 01"),
        # these traits are the second: those of the message are the first
        ("deep", C + "09 03 01 0A 05 09 03 01 04 01"),
    ],
)
def test_the_body_of_an_acknowledge_message_is_a_collection(option: Any, expected: str) -> None:
    assert acknowledged(remoting(gateway(flex_collections=option)).data) == h(expected)


def test_an_acknowledge_message_byte_for_byte() -> None:
    data = remoting(gateway(flex_collections="deep")).data
    data = ID.sub(b"%", data)
    data = re.sub(rb"\x05[^%]{8}(?=\x04\x00$)", b"\x05@", data)  # the timestamp, a double
    at = data.index(b"\x11\x0a")
    names = ["body", "clientId", "correlationId", "destination", "headers", "messageId", "timestamp", "timeToLive"]
    alias = b"flex.messaging.messages.AcknowledgeMessage"
    assert data[at:] == (
        h("11 0A 81 03")  # eight sealed members
        + bytes([len(alias) << 1 | 1])
        + alias
        + b"".join(bytes([len(name) << 1 | 1]) + name.encode() for name in names)
        + h(C + "09 03 01 0A 05 09 03 01 04 01")  # the body
        + h("06 03 43")  # C, the client
        + h("06 03 4D")  # M, the message that is answered
        + h("01")
        + h("0A 0B 01 01")  # no headers
        + h("06 49")
        + b"%"
        + b"\x05@"
        + h("04 00")
    )


@pytest.mark.parametrize("option", [True, "deep"])
def test_a_flex_message_in_amf0_is_answered_with_an_array(option: Any) -> None:
    value = remoting(gateway(flex_collections=option), version=0).value
    assert (value.alias, value["body"]) == ("flex.messaging.messages.AcknowledgeMessage", [[1]])
    assert type(value["body"]) is list
    assert type(value["body"][0]) is list


@pytest.mark.parametrize(("option", "kinds"), [(True, (ArrayCollection, list)), ("deep", (ArrayCollection,) * 2)])
def test_a_small_acknowledgement_holds_a_collection_too(option: Any, kinds: Any) -> None:
    value = remoting(gateway(flex_collections=option), DSMessagingVersion=1).value
    assert value.alias in ("DSK", "flex.messaging.messages.AcknowledgeMessage")
    assert (type(value["body"]), type(value["body"][0])) == kinds


def refuse() -> Any:
    raise Fault("Shop.Closed", "until noon", extended_data=[[1]])


@pytest.mark.parametrize(
    ("option", "kinds"),
    [(False, (list, list)), (True, (list, list)), ("deep", (ArrayCollection, ArrayCollection))],
)
def test_lists_in_a_fault_are_collections_with_deep_alone(option: Any, kinds: Any) -> None:
    app = gateway(refuse, flex_collections=option)
    for data in (remoting(app).value["extendedData"], call(app, "f", version=3).value["extendedData"]):
        assert (type(data), type(data[0])) == kinds


@pytest.mark.parametrize(("option", "kind"), [(True, list), ("deep", ArrayCollection)])
def test_so_they_are_in_a_fault_that_comes_while_the_result_is_written(option: Any, kind: Any) -> None:
    app = gateway(lambda: (refuse() for _ in range(1)), flex_collections=option)
    for data in (remoting(app).value["extendedData"], call(app, "f", version=3).value["extendedData"]):
        assert (type(data), type(data[0])) == (kind, kind)


def test_the_fault_of_a_plain_call_in_amf0_holds_a_list() -> None:
    data = call(gateway(refuse, flex_collections="deep"), "f").value["extendedData"]
    assert type(data) is list
