"""Flex messages between amfgate and Py3AMF 0.9.1, which has classes for them: each reads what the other writes.

The calls here go through a gateway in this process; tests/client has our client against Py3AMF's gateway, and
test_py3amf_client.py its client against ours on a server.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib
import re
import uuid
import warnings
from types import ModuleType
from typing import Any

import pytest
from wsgi_client import post

import amfgate
from amfgate.flex import ArrayCollection, SmallMessage, acknowledge, error, kind_of

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, about what they use of Python

ID = "0F0E0D0C-0B0A-4908-8706-050403020100"
NEW_ID = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}")


def theirs(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def messaging() -> ModuleType:
    return theirs("pyamf.flex.messaging")


class Shop:
    def items(self, *names: str) -> Any:
        return ArrayCollection(list(names))

    def who(self, call: amfgate.Call) -> Any:
        return call.user

    def closed(self) -> None:
        raise amfgate.Fault("Shop.Closed", "until noon", details="it is early", extended_data={"opens": 12})


def check(userid: str, password: str) -> str | None:
    return userid if password == "lövelace" else None


def ask(*messages: Any) -> list[Any]:
    """Their messages in a packet of theirs, and what they read in the reply: a status and a message for each."""
    remoting, python = theirs("pyamf.remoting"), theirs("pyamf")
    envelope = remoting.Envelope(python.AMF3)
    for number, message in enumerate(messages, 1):
        envelope[f"/{number}"] = remoting.Request("null", [message], envelope)
    gateway = amfgate.Gateway(None, {"shop": Shop()}, authenticate=check)
    reply = post(gateway, remoting.encode(envelope).getvalue())
    decoded = remoting.decode(reply.data)
    return [(decoded[f"/{number}"].status, decoded[f"/{number}"].body) for number in range(1, len(messages) + 1)]


def name(message: Any) -> str:
    return type(message).__name__


# --- their client ----------------------------------------------------------------------------------------------------


def test_a_remoting_message(messaging: ModuleType) -> None:
    sent = messaging.RemotingMessage(destination="shop", operation="items", body=["tea", "salt"], messageId=ID)
    ((status, reply),) = ask(sent)
    assert (status, name(reply)) == (0, "AcknowledgeMessage")
    assert (name(reply.body), list(reply.body)) == ("ArrayCollection", ["tea", "salt"])
    assert (reply.correlationId, reply.headers, reply.destination, reply.timeToLive) == (ID, {}, None, 0)
    assert NEW_ID.fullmatch(reply.clientId) and NEW_ID.fullmatch(reply.messageId)
    assert abs(reply.timestamp / 1000 - dt.datetime.now(dt.UTC).timestamp()) < 60


def test_a_remoting_message_of_a_client_and_a_source(messaging: ModuleType) -> None:
    """Theirs has None for the members that nobody gave, timestamp and timeToLive too."""
    sent = messaging.RemotingMessage(
        destination="amfphp", source="shop", operation="items", body=[], messageId=ID, clientId="me"
    )
    ((_, reply),) = ask(sent)
    assert (list(reply.body), reply.clientId) == ([], "me")


def test_a_fault(messaging: ModuleType) -> None:
    sent = messaging.RemotingMessage(destination="shop", operation="closed", body=[], messageId=ID)
    ((status, reply),) = ask(sent)
    assert (status, name(reply)) == (1, "ErrorMessage")
    assert (reply.faultCode, reply.faultString, reply.faultDetail) == ("Shop.Closed", "until noon", "it is early")
    assert (reply.extendedData, reply.rootCause, reply.correlationId) == ({"opens": 12}, None, ID)


def test_a_ping(messaging: ModuleType) -> None:
    sent = messaging.CommandMessage(operation=5, messageId=ID, headers={"DSId": "nil"})
    ((_, reply),) = ask(sent)
    assert (name(reply), reply.body, reply.correlationId) == ("AcknowledgeMessage", None, ID)
    assert reply.headers["DSMessagingVersion"] == 1
    assert NEW_ID.fullmatch(reply.headers["DSId"])


def test_a_ping_that_asks_for_small_messages(messaging: ModuleType) -> None:
    sent = messaging.CommandMessage(operation=5, messageId=ID, headers={"DSId": "D", "DSMessagingVersion": 1})
    ((_, reply),) = ask(sent)
    assert (name(reply), reply.body) == ("AcknowledgeMessageExt", None)
    assert reply.headers == {"DSId": "D", "DSMessagingVersion": 1}
    assert reply.correlationId == uuid.UUID(ID)
    assert {type(reply.clientId), type(reply.messageId)} == {uuid.UUID}
    assert abs(reply.timestamp.replace(tzinfo=dt.UTC) - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_a_small_command(messaging: ModuleType) -> None:
    sent = messaging.CommandMessage(
        operation=4, messageId=uuid.UUID(ID), correlationId=uuid.UUID(int=0), headers={"DSId": "D"}
    )
    ((_, reply),) = ask(sent.getSmallMessage())
    assert (name(reply), reply.correlationId) == ("AcknowledgeMessageExt", uuid.UUID(ID))


def test_several_in_a_packet_with_a_login_among_them(messaging: ModuleType) -> None:
    who = {"destination": "shop", "operation": "who", "body": []}
    body = base64.b64encode("ada:lövelace".encode()).decode()
    headers = {"DSRemoteCredentials": base64.b64encode("grace:lövelace".encode("latin-1")).decode()}
    found = ask(
        messaging.RemotingMessage(**who, messageId="1"),
        messaging.RemotingMessage(**who, messageId="2", headers=headers),
        messaging.CommandMessage(operation=8, body=body, messageId="3"),
        messaging.RemotingMessage(**who, messageId="4"),
        messaging.CommandMessage(operation=9, messageId="5"),
        messaging.RemotingMessage(**who, messageId="6"),
    )
    assert [reply.body for _, reply in found] == [None, "grace", "success", "ada", "success", None]
    assert [reply.correlationId for _, reply in found] == list("123456")


@pytest.mark.parametrize("kind", ["AsyncMessage", "AcknowledgeMessage", "ErrorMessage"])
def test_messages_that_nobody_answers_here(messaging: ModuleType, kind: str) -> None:
    ((status, reply),) = ask(getattr(messaging, kind)(messageId=ID, body="news"))
    assert (status, name(reply), reply.faultCode) == (1, "ErrorMessage", "Server.ResourceUnavailable")
    assert reply.faultString == f"{kind}: this gateway has no messaging; it answers RemoteObject calls"


# --- values in both directions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["AsyncMessage", "AcknowledgeMessage", "CommandMessage", "ErrorMessage", "RemotingMessage"]
)
def test_their_messages_are_read_with_all_members_and_written_as_they_came(messaging: ModuleType, kind: str) -> None:
    sent = getattr(messaging, kind)(body=[1], clientId="c", destination="d", messageId="m", timestamp=1, timeToLive=2)
    data = theirs("pyamf").encode(sent, encoding=3).getvalue()
    got = amfgate.loads(data)
    assert kind_of(got) == kind
    assert dict(got) == vars(sent)
    assert amfgate.dumps(got) == data


@pytest.mark.parametrize("kind", ["AsyncMessage", "AcknowledgeMessage", "CommandMessage"])
def test_their_small_messages_are_read_and_written_as_they_came(messaging: ModuleType, kind: str) -> None:
    one = getattr(messaging, kind)(
        body={"a": 1}, clientId=uuid.UUID(ID), messageId=uuid.UUID(int=1), correlationId=uuid.UUID(int=2)
    )
    data = theirs("pyamf").encode(one.getSmallMessage(), encoding=3).getvalue()
    got = amfgate.loads(data)
    assert (type(got), kind_of(got)) == (SmallMessage, kind)
    assert (got["body"], got["clientId"]) == ({"a": 1}, ID)
    assert got["correlationId"] == "00000000-0000-0000-0000-000000000002"
    assert amfgate.dumps(got) == data


@pytest.mark.parametrize("alias", ["DSA", "DSK", "DSC"])
def test_they_read_our_small_messages(alias: str) -> None:
    members = {"body": ["x"], "clientId": ID, "headers": {"h": 1}, "messageId": "m", "correlationId": ID}
    [got] = theirs("pyamf").decode(amfgate.dumps(SmallMessage(alias, members)), encoding=3)
    assert name(got) == {"DSA": "AsyncMessageExt", "DSK": "AcknowledgeMessageExt", "DSC": "CommandMessageExt"}[alias]
    assert (got.body, got.headers, got.messageId) == (["x"], {"h": 1}, "m")
    assert (got.clientId, got.correlationId) == (uuid.UUID(ID), uuid.UUID(ID))


def test_they_read_our_replies(messaging: ModuleType) -> None:
    request = amfgate.TypedObject("flex.messaging.messages.RemotingMessage", {"messageId": "m", "clientId": "c"})
    [got] = theirs("pyamf").decode(amfgate.dumps(acknowledge(request, {"a": [1]})), encoding=3)
    assert (name(got), got.body, got.correlationId, got.clientId) == ("AcknowledgeMessage", {"a": [1]}, "m", "c")
    [got] = theirs("pyamf").decode(amfgate.dumps(error(request, "X.Y", "why", details="d")), encoding=3)
    assert (name(got), got.faultCode, got.faultString, got.faultDetail) == ("ErrorMessage", "X.Y", "why", "d")


# --- their faults ----------------------------------------------------------------------------------------------------


def test_fault_of_theirs_a_small_message_takes_no_text_for_an_id(messaging: ModuleType) -> None:
    one = messaging.CommandMessage(operation=5, messageId=ID).getSmallMessage()
    with pytest.raises(AttributeError, match="bytes"):
        theirs("pyamf").encode(one, encoding=3)


def test_fault_of_theirs_flag_bytes_that_are_not_known_yet_are_errors() -> None:
    data = bytes.fromhex("0A 07 07 44534B 80 80 00 00 00")  # a third flag byte
    assert amfgate.loads(data)["body"] is None
    with pytest.raises(Exception, match="Expected <=2"):
        theirs("pyamf").decode(data, encoding=3).__next__()
