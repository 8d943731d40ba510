"""Flex messages: what a RemoteObject and its channel are answered."""

from __future__ import annotations

import time
from typing import Any

import pytest
from flex_client import ID, MESSAGES, UUID, answer, check, command, gateway, message, raw, remoting, send
from wsgi_client import environ, post, run

from amfgate import Body, Header, Packet, TypedObject, flex


def test_a_remoting_message_is_a_call_and_its_result_an_acknowledge_message() -> None:
    before = time.time() * 1000
    reply = answer(gateway(), remoting("page", 3))
    assert reply.alias == "flex.messaging.messages.AcknowledgeMessage"
    assert reply["body"] == {"number": 3, "size": 20}
    assert reply["correlationId"] == "AAAAAAAA-0000-0000-0000-000000000001"
    assert UUID.fullmatch(reply["messageId"])
    assert UUID.fullmatch(reply["clientId"])
    assert reply["messageId"] != reply["clientId"]
    assert before - 1 <= reply["timestamp"] <= time.time() * 1000 + 1
    assert reply["timeToLive"] == 0
    assert reply["headers"] == {}
    assert set(reply) == {
        "body",
        "clientId",
        "correlationId",
        "destination",
        "headers",
        "messageId",
        "timestamp",
        "timeToLive",
    }


def test_the_client_id_is_kept_and_message_ids_are_fresh() -> None:
    app = gateway()
    ids = {answer(app, remoting("page", 1, clientId=ID))["messageId"] for _ in range(5)}
    assert len(ids) == 5
    assert answer(app, remoting("page", 1, clientId=ID))["clientId"] == ID


def test_a_fault_is_an_error_message() -> None:
    reply = answer(gateway(), remoting("fail"))
    assert reply.alias == "flex.messaging.messages.ErrorMessage"
    found = {name: reply[name] for name in ("faultCode", "faultString", "faultDetail", "rootCause", "extendedData")}
    assert found == {
        "faultCode": "Shop.Closed",
        "faultString": "until noon",
        "faultDetail": "d",
        "rootCause": "r",
        "extendedData": {"x": 1},
    }
    assert reply["correlationId"] == "AAAAAAAA-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (remoting("broken"), "Server.Processing"),
        (remoting("cannot"), "Server.Processing"),
        (remoting("nothing"), "Server.ResourceNotFound"),
        (remoting("__init__"), "Server.ResourceNotFound"),
        (remoting("page"), "Client.Arguments"),
        (remoting("page", "x"), "Client.Arguments"),
        (remoting(None), "Client.Message.Encoding"),
        (remoting("", 1), "Client.Message.Encoding"),
        (remoting(5), "Client.Message.Encoding"),
        (remoting("page", body={"a": 1}), "Client.Message.Encoding"),
        (remoting("page", body="x"), "Client.Message.Encoding"),
    ],
)
def test_whoever_finds_a_fault_it_is_an_error_message(one: TypedObject, code: str) -> None:
    reply = answer(gateway(), one)
    assert reply.alias == "flex.messaging.messages.ErrorMessage"
    assert reply["faultCode"] == code
    assert "secret" not in str(dict(reply))


def test_a_wrong_body_is_told() -> None:
    assert answer(gateway(), remoting("page", body={"a": 1}))["faultString"] == (
        "RemotingMessage: body has to be the array of arguments; found an anonymous object"
    )
    assert answer(gateway(), remoting(5))["faultString"] == (
        "RemotingMessage: operation has to be the name of a method; found a number"
    )


@pytest.mark.parametrize(
    ("destination", "source", "operation", "args", "expected"),
    [
        ("catalog", None, "page", [1], {"number": 1, "size": 20}),
        ("catalog", "anything", "page", [1], {"number": 1, "size": 20}),
        ("amfphp", "catalog", "page", [1], {"number": 1, "size": 20}),
        ("zend", "com.shop.basket", "page", [1], {"number": 1, "size": 20}),
        ("zend", "com/shop/basket", "page", [1], {"number": 1, "size": 20}),
        ("com.shop.basket", "", "page", [1], {"number": 1, "size": 20}),
        (None, "catalog", "page", [1], {"number": 1, "size": 20}),
        ("", "catalog", "page", [1], {"number": 1, "size": 20}),
        ("math", None, "add", [1, 2], 3),
        ("amfphp", "math", "add", [1, 2], 3),
        (None, None, "math.add", [1, 2], 3),
    ],
)
def test_the_destination_is_the_service_or_else_the_source_is(
    destination: Any, source: Any, operation: str, args: list[Any], expected: Any
) -> None:
    reply = answer(gateway(), remoting(operation, *args, destination=destination, source=source))
    assert reply["body"] == expected


def test_a_registered_destination_is_not_left_for_the_source() -> None:
    reply = answer(gateway(), remoting("add", 1, 2, destination="catalog", source="math"))
    assert reply["faultString"] == "there is no method 'catalog.add' here"
    reply = answer(gateway(), remoting("nothing", destination="amfphp", source="math"))
    assert reply["faultString"] == "there is no method 'math.nothing' here"


def test_nor_is_another_name_of_a_method() -> None:
    app = gateway(targets={"Old.getPage": "catalog.page"})
    assert answer(app, remoting("getPage", 1, destination="Old", source="math"))["body"] == {"number": 1, "size": 20}


def test_members_may_be_missing_and_others_there() -> None:
    bare = TypedObject(MESSAGES + "RemotingMessage", {"destination": "catalog", "operation": "who", "extra": 1})
    reply = answer(gateway(), bare)
    assert reply["body"] is None and reply["correlationId"] is None
    assert UUID.fullmatch(reply["clientId"])


@pytest.mark.parametrize("operation", [5, 4, 13, 12, 5.0])
def test_ping_sync_connect_and_disconnect_are_acknowledged(operation: Any) -> None:
    reply = answer(gateway(), command(operation))
    assert reply.alias == "flex.messaging.messages.AcknowledgeMessage"
    assert reply["body"] is None
    assert reply["correlationId"] == "AAAAAAAA-0000-0000-0000-000000000001"
    expected: dict[str, Any] = {"DSId": ID}
    if operation == 5:
        expected["DSMessagingVersion"] = 1
    assert reply["headers"] == expected


@pytest.mark.parametrize("headers", [{"DSId": "nil"}, {}, None, [], {"DSId": None}])
def test_a_client_without_an_id_is_given_one_by_ping(headers: Any) -> None:
    reply = answer(gateway(), command(5, headers=headers))
    assert UUID.fullmatch(reply["headers"]["DSId"])
    assert reply["headers"]["DSMessagingVersion"] == 1
    assert reply["headers"]["DSId"] != answer(gateway(), command(5, headers=headers))["headers"]["DSId"]


def test_all_messages_of_one_packet_are_given_one_id() -> None:
    one = {"DSId": "nil"}
    reply = send(gateway(), command(5, headers=one), remoting("who", headers=one), command(4, headers=one))
    first, second, third = (body.value["headers"]["DSId"] for body in reply.bodies)
    assert first == second == third
    assert UUID.fullmatch(first)


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (0, "subscribe"),
        (1, "unsubscribe"),
        (2, "poll"),
        (7, "cluster request"),
        (10, "subscription invalidate"),
        (11, "multi-subscribe"),
        (10000, "unknown operation"),
        (99, "operation 99"),
        (2.5, "operation 2.5"),
        (None, "operation None"),
        ("5\n", r"operation '5\n'"),
        (float("nan"), "operation nan"),
        ("x" * 70, f"operation '{'x' * 60}... (70 characters)'"),
        ([[1], [1]], "operation an array of 2 items, the first an array"),
        ({"a": 1}, "operation an anonymous object"),
    ],
)
def test_other_commands_are_answered_by_a_clear_error_message(operation: Any, name: str) -> None:
    reply = answer(gateway(), command(operation))
    assert reply.alias == "flex.messaging.messages.ErrorMessage"
    assert reply["faultCode"] == "Server.ResourceUnavailable"
    assert reply["faultString"] == f"{name}: this gateway has no messaging; it answers RemoteObject calls"


def doubled(levels: int) -> Any:
    """Arrays that are each twice in the next: a few bytes each on the wire, and written out 2 ** levels items."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "one",
    [
        command(doubled(18)),
        command(8, body="YTpi", headers={"DSCredentialsCharset": doubled(18)}),
        command(5, headers={"DSId": doubled(18), "DSMessagingVersion": doubled(18)}),
        command(5, messageId=doubled(18), clientId=doubled(18)),
        remoting(doubled(18)),
        remoting("page", destination=doubled(18), source=doubled(18)),
        remoting("who", headers={"DSRemoteCredentials": doubled(18)}),
    ],
    ids=["operation", "charset", "DSId", "messageId", "method", "destination", "credentials"],
)
def test_arrays_that_are_each_twice_in_the_next_are_not_written_out(one: TypedObject) -> None:
    assert len(send(gateway(authenticate=check), one).data) < 2000


@pytest.mark.parametrize("kind", ["AsyncMessage", "AcknowledgeMessage", "ErrorMessage", "HTTPMessage", "SOAPMessage"])
def test_other_messages_are_answered_by_a_clear_error_message(kind: str) -> None:
    reply = answer(gateway(), message(kind))
    assert reply["faultString"] == f"{kind}: this gateway has no messaging; it answers RemoteObject calls"


def test_a_small_command_message_is_one_too() -> None:
    reply = answer(gateway(), flex.SmallMessage("DSC", {"operation": 5, "messageId": ID, "headers": {"DSId": "nil"}}))
    assert reply["correlationId"] == ID
    assert reply["headers"]["DSMessagingVersion"] == 1


def test_messages_and_plain_calls_may_be_mixed() -> None:
    bodies = [
        Body("null", "/1", [remoting("page", 1)]),
        Body("catalog.page", "/2", [2]),
        Body("null", "/3", [command(5)]),
        Body("null", "/4", [remoting("nothing")]),
        Body("catalog.page", "/5", []),
    ]
    reply = post(gateway(), Packet(3, [], bodies).to_bytes())
    assert [body.target for body in reply.bodies] == [
        "/1/onResult",
        "/2/onResult",
        "/3/onResult",
        "/4/onStatus",
        "/5/onStatus",
    ]
    assert reply.bodies[1].value == {"number": 2, "size": 20}
    assert reply.bodies[4].value["code"] == "Client.Arguments"


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ([[remoting("page", 1)]], "an array that holds a RemotingMessage: the arguments were wrapped once too often"),
        ([], "no argument"),
        ([remoting("page", 1), 2], "2 arguments"),
        (["page"], "a string"),
        ([None], "null"),
        ([{"operation": "page"}], "an anonymous object"),
        ([TypedObject("com.Other\n", {})], r"an object of the class 'com.Other\n'"),
        ([[]], "an empty array"),
        ([["a"]], "an array of one item, a string"),
        ([[1, 2]], "an array of 2 items, the first a number"),
    ],
)
def test_what_is_no_message_is_told(args: list[Any], found: str) -> None:
    reply = post(gateway(), Packet(3, [], [Body("null", "/1", args)]).to_bytes())
    assert reply.codes == ["Client.Message.Encoding"]
    assert reply.value["description"] == (
        f"a call of the target 'null' has one argument, a Flex message; found {found}"
    )


def test_a_message_may_stand_in_the_place_of_the_arguments() -> None:
    value = Packet(3, [], [Body("null", "/1", [remoting("page", 1)])]).to_bytes()
    at = value.index(b"\x0a\x00\x00\x00\x01\x11")
    lone = value[: at - 4] + b"\xff\xff\xff\xff" + value[at + 5 :]
    assert post(gateway(), lone).value["body"] == {"number": 1, "size": 20}


def test_a_reply_to_flex_goes_whole_behind_one_11() -> None:
    data = send(gateway(), remoting("page", 1)).data
    assert b"\x11\x0a" in data
    assert data[:2] == b"\0\3"


def test_a_header_that_is_not_understood_is_an_error_message_too() -> None:
    reply = answer(gateway(), remoting("who"), headers=[Header("Strange", 1, True)])
    assert reply["faultCode"] == "Client.Header.MustUnderstand"


def test_get_to_the_endpoint_is_a_page() -> None:
    assert run(gateway(), environ(REQUEST_METHOD="GET")).status == "405 Method Not Allowed"


# An argument of a class that is externalizable, which nobody registered: its length is unknown.
UNREADABLE = "0A 00000001 11 0A 07 0B 'Thing' 01"


def test_a_message_that_cannot_be_read_is_answered_by_an_error_message() -> None:
    """Without a correlationId, which Flex takes for such an error; anything but a message it does not show."""
    reply = post(gateway(), raw(f"0003 0000 0001 0004 'null' 0002 '/1' FFFFFFFF {UNREADABLE}"))
    (body,) = reply.bodies
    assert body.target == "/1/onStatus"
    assert body.value.alias == "flex.messaging.messages.ErrorMessage"
    assert (body.value["faultCode"], body.value["correlationId"]) == ("Client.Message.Encoding", None)
    assert "'Thing'" in body.value["faultString"]
    assert UUID.fullmatch(body.value["messageId"])


def test_the_other_messages_of_its_packet_are_answered() -> None:
    whole = Packet(3, [], [Body("null", "/2", [remoting("page", 1)])]).to_bytes()[6:]
    data = raw(f"0003 0000 0002 0004 'null' 0002 '/1' 00000015 {UNREADABLE} 000000000000") + whole
    reply = post(gateway(), data)
    assert [body.target for body in reply.bodies] == ["/1/onStatus", "/2/onResult"]
    assert [body.value.get("faultCode") for body in reply.bodies] == ["Client.Message.Encoding", None]


@pytest.mark.parametrize(("version", "target"), [("0000", "0004 'null'"), ("0003", "0001 'x'")])
def test_a_plain_call_that_cannot_be_read_is_answered_by_a_plain_fault(version: str, target: str) -> None:
    reply = post(gateway(), raw(f"{version} 0000 0001 {target} 0002 '/1' FFFFFFFF {UNREADABLE}"))
    assert reply.codes == ["Client.Message.Encoding"]
