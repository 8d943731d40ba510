"""Small messages through the gateway: who is answered by them, and what is on the wire."""

from __future__ import annotations

from typing import Any

import pytest
from flex_client import NOW, Catalog, answer, command, gateway, message, one_reply, raw, remoting, send, settled
from wsgi_client import post

from amfgate import Body, Gateway, Packet, TypedObject, flex

__all__ = ["settled"]  # a fixture is found by its name

READS = {"DSMessagingVersion": 1}

# The ids of `settled` as 16 bytes.
MESSAGE = "0C 21 00010203 0405 4607 8809 0A0B0C0D0E0F"
CLIENT = "0C 21 10111213 0405 4607 8809 0A0B0C0D0E0F"

# A ping as Flex 3 and 4 send it when a channel connects; the headers are its last member.
PING = (
    "0003 0000 0001 0004 'null' 0002 '/1' 000000E0 0A 00000001"
    "11 0A 8113 4D 'flex.messaging.messages.CommandMessage'"
    "13 'operation' 1B 'correlationId' 13 'messageId' 11 'clientId' 09 'body' 15 'timeToLive' 13 'timestamp'"
    "17 'destination' 0F 'headers'"
    "04 05 06 01 06 49 'AAAAAAAA-0000-4000-8000-000000000001' 01 0A 0B 01 01 04 00 04 00 06 01"
)


def test_a_ping_that_says_it_is_answered_by_a_small_acknowledgement(settled: None) -> None:
    request = raw(PING + "0A 05 25 'DSMessagingVersion' 04 01 09 'DSId' 06 07 'nil' 01")
    assert post(gateway(), request).data == one_reply(
        "/1/onResult",
        "11 0A 07 07 'DSK' A8 03"  # headers and timestamp; both ids as bytes
        "0A 0B 01 09 'DSId' 06 49 '00010203-0405-4607-8809-0A0B0C0D0E0F' 25 'DSMessagingVersion' 04 01 01"
        f"{NOW} {CLIENT} {MESSAGE}"
        "02 0C 21 AAAAAAAA 0000 4000 8000 000000000001"  # the correlationId as bytes
        "00",
    )


def test_a_ping_that_does_not_is_answered_by_a_long_one(settled: None) -> None:
    request = raw(PING + "0A 05 09 'DSId' 06 07 'nil' 01")
    assert post(gateway(), request).data == one_reply(
        "/1/onResult",
        "11 0A 8103 55 'flex.messaging.messages.AcknowledgeMessage'"
        "09 'body' 11 'clientId' 1B 'correlationId' 17 'destination' 0F 'headers' 13 'messageId' 13 'timestamp'"
        "15 'timeToLive'"
        "01 06 49 '10111213-0405-4607-8809-0A0B0C0D0E0F' 06 49 'AAAAAAAA-0000-4000-8000-000000000001' 01"
        "0A 0B 01 09 'DSId' 06 49 '00010203-0405-4607-8809-0A0B0C0D0E0F' 25 'DSMessagingVersion' 04 01 01"
        f"06 18 {NOW} 04 00",  # the messageId is the DSId here, the string of number 12
    )


@pytest.mark.parametrize(
    ("version", "alias"),
    [
        (1, "DSK"),
        (1.0, "DSK"),
        (2.5, "DSK"),
        (0, "flex.messaging.messages.AcknowledgeMessage"),
        (0.5, "flex.messaging.messages.AcknowledgeMessage"),
        (float("nan"), "flex.messaging.messages.AcknowledgeMessage"),
        (None, "flex.messaging.messages.AcknowledgeMessage"),
        ("1", "flex.messaging.messages.AcknowledgeMessage"),
        ([1], "flex.messaging.messages.AcknowledgeMessage"),
    ],
)
def test_version_1_and_later_have_small_messages(version: Any, alias: str) -> None:
    headers = {"DSId": "nil", "DSMessagingVersion": version}
    assert answer(gateway(), command(5, headers=headers)).alias == alias
    assert answer(gateway(), remoting("who", headers=headers)).alias == alias


def test_a_result_goes_into_a_small_acknowledgement(settled: None) -> None:
    """A messageId that is no UUID goes as text, and null for a body not at all."""
    app = gateway()
    (body,) = send(app, remoting("page", 3, headers=READS, clientId="C", messageId="M")).packet.bodies
    assert dict(body.value) == {
        "body": {"number": 3, "size": 20},
        "clientId": "C",
        "correlationId": "M",
        "destination": None,
        "headers": {},
        "messageId": "00010203-0405-4607-8809-0A0B0C0D0E0F",
        "timestamp": 1_700_000_000_000,
        "timeToLive": 0,
    }
    one = remoting("who", headers=READS, clientId="C", messageId="M")
    assert send(app, one).data == one_reply(
        "/1/onResult", f"11 0A 07 07 'DSK' AA 02 06 03 'C' 0A 0B 01 01 {NOW} {MESSAGE} 01 06 03 'M' 00"
    )


def test_a_small_command_is_answered_by_a_small_acknowledgement(settled: None) -> None:
    """`DSC` as an externalizable: headers and messageId as bytes, no correlationId, operation 4 (client sync)."""
    request = raw(
        "0003 0000 0001 0004 'null' 0002 '/2' 00000001 0A 00000001"
        "11 0A 07 07 'DSC' 88 02 0A 0B 01 09 'DSId' 06 03 'D' 01 0C 21 AAAAAAAA 0000 4000 8000 000000000001 00 01 04 04"
    )
    assert post(gateway(), request).data == one_reply(
        "/2/onResult",
        f"11 0A 07 07 'DSK' A8 03 0A 0B 01 09 'DSId' 06 03 'D' 01 {NOW} {CLIENT} {MESSAGE}"
        "02 0C 21 AAAAAAAA 0000 4000 8000 000000000001 00",
    )


def test_a_small_command_with_plain_traits_too() -> None:
    request = raw(
        "0003 0000 0001 0004 'null' 0002 '/2' 00000001 0A 00000001"
        "11 0A 33 07 'DSC' 13 'operation' 13 'messageId' 0F 'headers' 04 05 06 03 'M' 0A 0B 01 09 'DSId' 06 03 'D' 01"
    )
    reply = post(gateway(), request).value
    assert (type(reply), reply.alias) == (flex.SmallMessage, "DSK")
    assert (reply["correlationId"], reply["headers"]) == ("M", {"DSId": "D", "DSMessagingVersion": 1})


@pytest.mark.parametrize("package", ["flex.messaging.messages", "flex.messaging.io"])
def test_a_small_command_by_its_long_name_too(package: str) -> None:
    one = flex.SmallMessage(f"{package}.CommandMessageExt", {"operation": 5})
    assert answer(gateway(), one).alias == "DSK"


def test_errors_have_no_small_form() -> None:
    app = gateway()
    for one in (
        flex.SmallMessage("DSC", {"operation": 2, "messageId": "M"}),
        flex.SmallMessage("DSA", {"body": "news", "messageId": "M"}),
        remoting("fail", headers=READS, messageId="M"),
        remoting("cannot", headers=READS, messageId="M"),  # the result is found not to be encodable
    ):
        reply = answer(app, one)
        assert reply.alias == "flex.messaging.messages.ErrorMessage"
        assert reply["correlationId"] == "M"


def test_one_packet_is_one_client_s() -> None:
    """Who says that it reads small messages is answered by them from there on."""
    reply = send(gateway(), remoting("who"), command(5, headers=READS), remoting("who"), remoting("fail"), command(4))
    assert [body.value.alias.rpartition(".")[2] for body in reply.bodies] == [
        "AcknowledgeMessage",
        "DSK",
        "DSK",
        "ErrorMessage",
        "DSK",
    ]


def test_the_next_packet_has_to_say_it_again() -> None:
    """Nothing is kept between requests: it may be answered by another process."""
    app = gateway()
    assert answer(app, command(5, headers=READS)).alias == "DSK"
    assert answer(app, remoting("who")).alias == "flex.messaging.messages.AcknowledgeMessage"


def test_a_packet_of_version_0_has_no_small_messages() -> None:
    data = Packet(0, [], [Body("null", "/1", [command(5, headers=READS)])]).to_bytes()
    reply = post(gateway(), data)
    assert reply.data[:2] == b"\0\0"
    assert reply.value.alias == "flex.messaging.messages.AcknowledgeMessage"


def test_a_collection_travels_in_a_small_acknowledgement(settled: None) -> None:
    class Rows(Catalog):
        def rows(self) -> Any:
            return flex.ArrayCollection([1])

    app = Gateway(None, {"catalog": Rows()})
    one = remoting("rows", headers=READS, clientId="C", messageId="M")
    assert send(app, one).data == one_reply(
        "/1/onResult",
        "11 0A 07 07 'DSK' AB 02 0A 07 43 'flex.messaging.io.ArrayCollection' 09 03 01 04 01"
        f"06 03 'C' 0A 0B 01 01 {NOW} {MESSAGE} 01 06 03 'M' 00",
    )


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (message("CommandMessage", headers=READS), True),
        (message("RemotingMessage", headers=READS), True),
        (message("RemotingMessage", headers=None), False),
        (message("RemotingMessage", headers=[1]), False),
        (message("CommandMessage"), False),
        (flex.SmallMessage("DSC"), True),
        (TypedObject("flex.messaging.io.AsyncMessageExt"), True),
        (TypedObject("com.example.Message"), False),
    ],
)
def test_what_shows_that_a_client_reads_small_messages(one: TypedObject, expected: bool) -> None:
    assert flex.messages.reads_small_messages(one) is expected
