"""Calls as Flex's RemoteObject makes them: the messages sent, and what is kept from those that come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from literal import Canned, amf, canned, reply

from amfgate import Body, Call, Client, Fault, Gateway, Packet, TypedObject, requires
from amfgate.client import HttpError, RemoteFault, remoting_message
from amfgate.flex import messages

ACK = "flex.messaging.messages.AcknowledgeMessage"
ERROR = "flex.messaging.messages.ErrorMessage"


@pytest.fixture(autouse=True)
def ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Message ids M1, M2 and so on."""
    numbers: Iterator[int] = iter(range(1, 1000))
    monkeypatch.setattr(messages, "new_id", lambda: f"M{next(numbers)}")


def answer(**members: Any) -> bytes:
    return Packet(3, [], [Body("/1/onResult", "null", TypedObject(ACK, members))]).to_bytes()


def sent(server: Canned) -> list[TypedObject]:
    """The messages of all requests."""
    found = []
    for data in server.bodies:
        for body in Packet.from_bytes(data).bodies:
            assert body.target == "null"
            (message,) = body.value
            found.append(message)
    return found


def test_a_call_is_one_remoting_message_in_amf3() -> None:
    client, server = canned(answer(body=None), flex=True)
    client.catalog.page(1)
    assert server.bodies == [
        amf(
            "0003 0000 0001 0004 'null' 0002 '/1' 000000AF 0A 00000001"
            "11 0A 8113 4F 'flex.messaging.messages.RemotingMessage'"
            "13 'operation' 0D 'source' 09 'body' 11 'clientId' 17 'destination' 0F 'headers' 13 'messageId'"
            "13 'timestamp' 15 'timeToLive'"
            "06 09 'page' 01 09 03 01 04 01 01 06 0F 'catalog' 0A 0B 01 09 'DSId' 06 07 'nil' 01 06 05 'M1' 04 00 04 00"
        )
    ]


def test_the_recipe_for_a_message_by_hand_gives_the_same_bytes() -> None:
    client, server = canned(answer(body=None), flex=True)
    client.catalog.page(1)
    messages.new_id = lambda: "M1"  # type: ignore[assignment]  # undone by the fixture
    packet = Packet(3, [], [Body("null", "/1", [remoting_message("catalog", "page", [1])])])
    assert server.bodies == [packet.to_bytes()]


@pytest.mark.parametrize(
    "flex, target, destination, source, operation",
    [
        (True, "catalog.page", "catalog", None, "page"),
        (True, "com.shop.catalog.page", "com.shop.catalog", None, "page"),
        (True, "catalog/page", "catalog", None, "page"),
        ("amfphp", "catalog.page", "amfphp", "catalog", "page"),
        ("amfphp", "page", "amfphp", None, "page"),
    ],
)
def test_where_a_target_goes(flex: Any, target: str, destination: str, source: str | None, operation: str) -> None:
    client, server = canned(answer(), flex=flex)
    client.call(target)
    (message,) = sent(server)
    assert (message["destination"], message["source"], message["operation"]) == (destination, source, operation)


def test_a_target_without_a_destination_is_an_error() -> None:
    client, server = canned(flex=True)
    with pytest.raises(
        ValueError, match=r"^'page': with flex=True a target is destination.operation; flex='NAME' names"
    ):
        client.page()
    assert server.requests == []


def test_the_result_is_the_body_of_the_acknowledgement() -> None:
    client, _ = canned(answer(body=[1, "a"]), flex=True)
    assert client.catalog.page() == [1, "a"]


def test_a_small_acknowledgement_of_blazeds() -> None:
    """DSK: flags body and headers; correlationId as 16 bytes; a third block without bits."""
    text = "000B '/1/onResult' 0004 'null' FFFFFFFF 11 0A 07 07 'DSK' 09 06 0B 'hello' 0A 0B 01 09 'DSId' 06 03 'D' 01"
    text += "02 0C 21 000102030405060708090A0B0C0D0E0F 00"
    client, server = canned(reply(text, version=3), answer(), flex=True)
    assert client.catalog.page() == "hello"
    client.catalog.page()
    assert sent(server)[1]["headers"] == {"DSId": "D"}


def test_an_acknowledgement_with_plain_traits_and_the_small_name() -> None:
    text = "000B '/1/onResult' 0004 'null' FFFFFFFF 11 0A 13 07 'DSK' 09 'body' 06 0B 'hello'"
    client, _ = canned(reply(text, version=3), flex=True)
    assert client.catalog.page() == "hello"


def test_a_server_that_answers_without_a_message_is_taken_at_its_word() -> None:
    client, _ = canned(reply("000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'"), flex=True)
    assert client.catalog.page() == "a"


def test_dsid_and_client_id_are_kept_the_latter_for_its_destination() -> None:
    client, server = canned(
        answer(clientId="C1", headers={"DSId": "D1"}),
        answer(clientId="C2", headers=None),
        answer(),
        answer(),
        flex=True,
    )
    for target in ("a.f", "b.f", "a.f", "b.f"):
        client.call(target)
    assert [(m["clientId"], m["headers"]) for m in sent(server)] == [
        (None, {"DSId": "nil"}),
        (None, {"DSId": "D1"}),
        ("C1", {"DSId": "D1"}),
        ("C2", {"DSId": "D1"}),
    ]


def test_each_message_has_an_id_of_its_own() -> None:
    client, server = canned(
        Packet(3, [], [Body(f"/{n}/onResult", "null", TypedObject(ACK, {"body": n})) for n in (1, 2)]).to_bytes(),
        flex=True,
    )
    with client.batch() as b:
        calls = [b.a.f(), b.a.f()]
    assert [call.result for call in calls] == [1, 2]
    assert [call.message["body"] for call in calls] == [1, 2]
    assert [message["messageId"] for message in sent(server)] == ["M1", "M2"]


def test_an_error_message_is_a_fault_with_all_its_fields() -> None:
    members = {
        "faultCode": "Shop.Closed",
        "faultString": "back at nine",
        "faultDetail": "local time",
        "rootCause": {"message": "x"},
        "extendedData": {"opens": 9},
        "clientId": "C1",
        "headers": {"DSId": "D1"},
    }
    data = Packet(3, [], [Body("/1/onStatus", "null", TypedObject(ERROR, members))]).to_bytes()
    client, server = canned(data, answer(), flex=True)
    with pytest.raises(Fault) as raised:
        client.shop.buy()
    fault = raised.value
    assert isinstance(fault, RemoteFault)
    assert (fault.code, fault.description, fault.details) == ("Shop.Closed", "back at nine", "local time")
    assert (fault.root_cause, fault.extended_data) == ({"message": "x"}, {"opens": 9})
    assert fault.value == TypedObject(ERROR, members)
    client.shop.buy()
    assert (sent(server)[1]["clientId"], sent(server)[1]["headers"]) == ("C1", {"DSId": "D1"})


def test_an_answer_that_is_missing() -> None:
    client, _ = canned(reply(version=3), flex=True)
    with pytest.raises(HttpError, match="no answer to shop.buy; it has no answer at all$"):
        client.shop.buy()


def test_ping_asks_for_the_headers_of_the_server() -> None:
    client, server = canned(answer(headers={"DSId": "D1", "DSMessagingVersion": 1}), answer(), flex=True)
    assert client.ping() == {"DSId": "D1", "DSMessagingVersion": 1}
    client.a.f()
    ping, call = sent(server)
    assert ping.alias == "flex.messaging.messages.CommandMessage"
    assert (ping["operation"], ping["headers"]) == (5, {"DSId": "nil", "DSMessagingVersion": 1})
    assert call["headers"] == {"DSId": "D1"}
    with pytest.raises(TypeError, match=r"^ping is a command of Flex: Client\(url, flex=True\)$"):
        Client("http://example.org/").ping()


def test_credentials_log_in_before_the_first_call_and_travel_with_each() -> None:
    client, server = canned(
        answer(body="success", headers={"DSId": "D1"}),
        answer(),
        answer(),
        answer(),
        flex=True,
        credentials=("ada", "pä"),
    )
    client.a.f()
    client.a.f()
    client.logout()
    with pytest.raises(IndexError):  # no answer left, and no login before it
        client.a.f()
    login, first, second, logout, last = sent(server)
    assert (login["operation"], login["body"]) == (8, "YWRhOnDDpA==")
    assert login["headers"] == {"DSId": "nil", "DSCredentialsCharset": "UTF-8"}
    for call in (first, second):
        assert call["headers"] == {
            "DSId": "D1",
            "DSRemoteCredentials": "YWRhOnDDpA==",
            "DSRemoteCredentialsCharset": "UTF-8",
        }
    assert (logout["operation"], logout["headers"]) == (9, {"DSId": "D1"})
    assert last["headers"] == {"DSId": "D1"}


def test_a_login_that_is_refused_is_a_fault_and_no_call_is_made() -> None:
    data = Packet(3, [], [Body("/1/onStatus", "null", TypedObject(ERROR, {"faultCode": "Client.Authentication"}))])
    client, server = canned(data.to_bytes(), flex=True, credentials=("ada", "pw"))
    with pytest.raises(Fault) as raised:
        client.a.f()
    assert (raised.value.code, raised.value.target) == ("Client.Authentication", "login")  # type: ignore[attr-defined]
    assert len(server.requests) == 1


def test_a_gateway_of_this_package_knows_the_user_of_a_flex_call() -> None:
    class Secrets:
        @requires(lambda user: user == "ada")
        def read(self, call: Call) -> str:
            return f"for {call.user}"

    gateway = Gateway(None, {"secrets": Secrets()}, authenticate=lambda user, word: user if word == "pw" else None)
    url = "http://example.org/amf"
    assert Client(url, transport=gateway, flex=True, credentials=("ada", "pw")).secrets.read() == "for ada"
    assert Client(url, transport=gateway, credentials=("ada", "pw")).secrets.read() == "for ada"
    for options in ({"flex": True}, {}):
        with pytest.raises(Fault, match="Client.Authentication"):
            Client(url, transport=gateway, **options).secrets.read()
        with pytest.raises(Fault, match="the user id or the password is wrong"):
            Client(url, transport=gateway, credentials=("ada", "no"), **options).secrets.read()
