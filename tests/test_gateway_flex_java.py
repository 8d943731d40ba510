"""The requests of AMFConnection, BlazeDS's client in Java, byte by byte, and the whole reply to each.

Java does not run here: its packets are written from its sources (flex.messaging.io.amf).  What is its own:

- The first response URI is /0.  A declared length is always 1.
- In AMF3, which is the default, the arguments are one AVM+ array, `11 09`, scalars in it too.
- It writes a Map as an associative array, also the headers of a message, and a List as an array, not as an
  ArrayCollection (`legacyMap`, `legacyCollection`).  A long is a double.
- The messages are beans: all their properties are sealed, in the order of a HashMap.  A RemotingMessage has its
  arguments twice, as `body` and as `parameters`, and a `remoteUsername` and `remotePassword`.
"""

from __future__ import annotations

from typing import Any

import pytest
from flex_client import NOW, check, gateway, one_reply, raw, settled
from wsgi_client import post

from amfgate import EcmaArray, Gateway

__all__ = ["settled"]  # a fixture is found by its name

# The bean properties of the two messages, in the order of HashMap's buckets.
COMMAND = (
    "0A 8113 4D 'flex.messaging.messages.CommandMessage'"
    "0F 'headers' 15 'timeToLive' 11 'clientId' 17 'destination' 13 'messageId' 1B 'correlationId' 09 'body'"
    "13 'operation' 13 'timestamp'"
)
REMOTING = (
    "0A 8143 4F 'flex.messaging.messages.RemotingMessage'"
    "0F 'headers' 1D 'remoteUsername' 15 'timeToLive' 11 'clientId' 17 'destination' 13 'messageId' 0D 'source'"
    "09 'body' 1D 'remotePassword' 13 'operation' 15 'parameters' 13 'timestamp'"
)
ZERO = "05 0000000000000000"
ID = "49 'AAAAAAAA-0000-4000-8000-000000000001'"
CLIENT = "06 49 '10111213-0405-4607-8809-0A0B0C0D0E0F'"
MESSAGE = "49 '00010203-0405-4607-8809-0A0B0C0D0E0F'"
ACKNOWLEDGE = (
    "11 0A 8103 55 'flex.messaging.messages.AcknowledgeMessage'"
    "09 'body' 11 'clientId' 1B 'correlationId' 17 'destination' 0F 'headers' 13 'messageId' 13 'timestamp'"
    "15 'timeToLive'"
)


def request(target: str, uri: str, arguments: str) -> bytes:
    """One call; target and URI with their lengths, the arguments a literal."""
    return raw(f"0003 0000 0001 {target} {uri} 00000001 {arguments}")


NULL = "0004 'null'"


def test_call_with_an_argument() -> None:
    """connection.call("catalog.page", 3)"""
    data = request("000C 'catalog.page'", "0002 '/0'", "11 09 03 01 04 03")
    assert post(gateway(), data).data == one_reply("/0/onResult", "11 0A 0B 01 0D 'number' 04 03 09 'size' 04 14 01")


def test_call_without_arguments() -> None:
    """connection.call("catalog.who")"""
    data = request("000B 'catalog.who'", "0002 '/1'", "11 09 01 01")
    assert post(gateway(), data).data == one_reply("/1/onResult", "05")


def test_what_its_values_are_as_arguments() -> None:
    """Integer, Long, Double, String, Boolean, null, byte[], Date, List, HashMap, and a Map without entries"""
    arrived: list[Any] = []
    app = Gateway(None, {"take": lambda *values: arrived.extend(values)})
    data = request(
        "0004 'take'",
        "0003 '/10'",
        "11 09 17 01 04 03 05 4008000000000000 05 3FE0000000000000 06 07 'abc' 03 01 0C 05 0102"
        "08 01 426D1A94A2000000 09 05 01 06 00 04 01 09 01 03 'k' 04 01 01 09 01 01",
    )
    assert post(app, data).data == one_reply("/10/onResult", "05")
    when = arrived.pop(7)
    assert when.isoformat() == "2001-09-09T01:46:40+00:00"
    assert arrived == [3, 3, 0.5, "abc", True, None, b"\x01\x02", ["abc", 1], EcmaArray({"k": 1}), []]
    assert type(arrived[1]) is int


def test_a_fault_is_what_it_throws() -> None:
    """ServerStatusException holds the value of an /onStatus."""
    data = request("000B 'catalog.foo'", "0002 '/0'", "11 09 01 01")
    assert post(gateway(), data).data == one_reply(
        "/0/onStatus",
        "11 0A 0B 01 09 'code' 06 2F 'Server.ResourceNotFound' 0B 'level' 06 0B 'error'"
        "17 'description' 06 4B 'there is no method ' 27 'catalog.foo' 27 ' here' 0F 'details' 06 01"
        "09 'type' 06 0B 'Fault' 13 'rootcause' 01 13 'faultCode' 06 02 17 'faultString' 06 0A 17 'faultDetail' 06 01"
        "01",
    )


def test_headers_go_with_each_packet() -> None:
    """connection.addAmfHeader("Credentials", map)"""
    header = "000B 'Credentials' 00 00000001 11 09 01 0D 'userid' 06 07 'ada' 11 'password' 06 15 'love:l' C3A4 'ce' 01"
    data = raw(f"0003 0001 {header} 0001 000B 'catalog.who' 0002 '/0' 00000001 11 09 01 01")
    assert post(gateway(authenticate=check), data).data == one_reply("/0/onResult", "02 0003 'ada'")


def test_a_ping(settled: None) -> None:
    """new CommandMessage(CommandMessage.CLIENT_PING_OPERATION), with setHeader("DSId", "nil"): sent now"""
    data = request(
        NULL,
        "0002 '/0'",
        f"11 09 03 01 {COMMAND} 09 01 09 'DSId' 06 07 'nil' 01 {ZERO} 01 01 06 {ID} 01 01 04 05 05 426D1A94A2000000",
    )
    assert post(gateway(), data).data == one_reply(
        "/0/onResult",
        f"{ACKNOWLEDGE} 01 {CLIENT} 06 {ID} 01"
        f"0A 0B 01 09 'DSId' 06 {MESSAGE} 25 'DSMessagingVersion' 04 01 01 06 18 {NOW} 04 00",
    )


def test_a_remoting_message(settled: None) -> None:
    """setDestination("catalog"), setOperation("page"), setBody(new Object[] {3}), no headers"""
    data = request(
        NULL,
        "0002 '/1'",
        f"11 09 03 01 {REMOTING} 09 01 01 01 {ZERO} 01 06 0F 'catalog' 06 {ID} 01 09 03 01 04 03 01 06 09 'page'"
        f"09 03 01 04 03 {ZERO}",
    )
    assert post(gateway(), data).data == one_reply(
        "/1/onResult",
        f"{ACKNOWLEDGE} 0A 0B 01 0D 'number' 04 03 09 'size' 04 14 01 {CLIENT} 06 {ID} 01 0A 05 01 06 {MESSAGE} {NOW}"
        "04 00",
    )


def test_a_remoting_message_that_fails(settled: None) -> None:
    data = request(
        NULL,
        "0002 '/1'",
        f"11 09 03 01 {REMOTING} 09 01 01 01 {ZERO} 01 06 0F 'catalog' 06 {ID} 01 09 01 01 01 06 09 'fail' 09 01 01"
        f"{ZERO}",
    )
    assert post(gateway(), data).data == one_reply(
        "/1/onStatus",
        "11 0A 8153 49 'flex.messaging.messages.ErrorMessage'"
        "09 'body' 11 'clientId' 1B 'correlationId' 17 'destination' 0F 'headers' 13 'messageId' 13 'timestamp'"
        "15 'timeToLive' 19 'extendedData' 13 'faultCode' 17 'faultDetail' 17 'faultString' 13 'rootCause'"
        f"01 {CLIENT} 06 {ID} 01 0A 0B 01 01 06 {MESSAGE} {NOW} 04 00"
        "0A 05 03 'x' 04 01 01 06 17 'Shop.Closed' 06 03 'd' 06 15 'until noon' 06 03 'r'",
    )


def test_a_message_s_headers_are_an_associative_array(settled: None) -> None:
    """With DSRemoteCredentials; in HashMap's order."""
    headers = "09 01 27 'DSRemoteCredentials' 06 29 'YWRhOmxvdmU6bMOkY2U=' 09 'DSId' 06 07 'nil' 01"
    data = request(
        NULL,
        "0002 '/1'",
        f"11 09 03 01 {REMOTING} {headers} 01 {ZERO} 01 06 0F 'catalog' 06 {ID} 01 09 01 01 01 06 07 'who' 09 01 01"
        f"{ZERO}",
    )
    assert post(gateway(authenticate=check), data).data == one_reply(
        "/1/onResult",
        f"{ACKNOWLEDGE} 06 07 'ada' {CLIENT} 06 {ID} 01 0A 0B 01 09 'DSId' 06 {MESSAGE} 01 06 1A {NOW} 04 00",
    )


def test_a_login_and_a_logout(settled: None) -> None:
    """setBody("YWRhOm...")"""
    login = (
        f"11 09 03 01 {COMMAND} 09 01 01 {ZERO} 01 01 06 {ID} 01 06 29 'YWRhOmxvdmU6bMOkY2U=' 04 08 05 426D1A94A2000000"
    )
    reply = post(gateway(authenticate=check), request(NULL, "0002 '/1'", login)).value
    assert (reply["body"], reply["headers"]["DSMessagingVersion"]) == ("success", 1)
    logout = f"11 09 03 01 {COMMAND} 09 01 01 {ZERO} 01 01 06 {ID} 01 01 04 09 05 426D1A94A2000000"
    assert post(gateway(authenticate=check), request(NULL, "0002 '/2'", logout)).value["body"] == "success"


def test_in_amf0_the_arguments_are_a_strict_array(settled: None) -> None:
    """setObjectEncoding(MessageIOConstants.AMF0): an Integer is a double there, a Map an ECMA array of 0 entries."""
    data = raw("0000 0000 0001 000C 'catalog.page' 0002 '/0' 00000001 0A 00000001 00 4008000000000000")
    assert post(gateway(), data).data == one_reply(
        "/0/onResult", "03 0006 'number' 00 4008000000000000 0004 'size' 00 4034000000000000 000009", version=0
    )
    message = (
        "10 0027 'flex.messaging.messages.RemotingMessage' 0007 'headers' 08 00000000 000009 0008 'clientId' 05"
        "000B 'destination' 02 0007 'catalog' 0009 'messageId' 02 0001 'M' 0004 'body' 0A 00000000"
        "0009 'operation' 02 0003 'who' 0009 'timestamp' 00 0000000000000000 000009"
    )
    data = raw(f"0000 0000 0001 0004 'null' 0002 '/1' 00000001 0A 00000001 {message}")
    assert post(gateway(), data).data == one_reply(
        "/1/onResult",
        "10 002A 'flex.messaging.messages.AcknowledgeMessage' 0004 'body' 05"
        "0008 'clientId' 02 0024 '10111213-0405-4607-8809-0A0B0C0D0E0F' 000D 'correlationId' 02 0001 'M'"
        "000B 'destination' 05 0007 'headers' 03 000009"
        "0009 'messageId' 02 0024 '00010203-0405-4607-8809-0A0B0C0D0E0F' 0009 'timestamp' 00 4278BCFE56800000"
        "000A 'timeToLive' 00 0000000000000000 000009",
        version=0,
    )


@pytest.mark.parametrize("target", ["0000", "0004 'null'"])
def test_messages_of_other_writers_of_beans(settled: None, target: str) -> None:
    """A target of no letters for a message, and a messageId that is a number, as one of BlazeDS's own tests has."""
    data = request(
        target,
        "0002 '/1'",
        "0A 00000001 11 0A 53 4F 'flex.messaging.messages.RemotingMessage'"
        "0F 'headers' 13 'messageId' 17 'destination' 13 'operation' 09 'body'"
        "0A 0B 01 1B 'principalName' 06 07 'ada' 01 04 01 06 0F 'catalog' 06 07 'who' 09 01 01",
    )
    reply = post(gateway(), data).value
    assert (reply.alias, reply["correlationId"]) == ("flex.messaging.messages.AcknowledgeMessage", 1)
