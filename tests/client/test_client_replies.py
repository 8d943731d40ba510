"""What a client makes of replies, those of other servers among them: literal packets in, values and errors out."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from literal import NULL_RESULT, amf, canned, reply

from amfgate import DecodeError, EcmaArray, Fault, Header, Limits, TypedObject
from amfgate.client import HttpError, RemoteFault
from amfgate.flex import ArrayCollection


def result_of(answer: bytes | httpx.Response, **options: Any) -> Any:
    client, _ = canned(answer, **options)
    return client.shop.buy()


def fault_of(answer: bytes, **options: Any) -> RemoteFault:
    with pytest.raises(Fault) as raised:
        result_of(answer, **options)
    assert isinstance(raised.value, RemoteFault)
    return raised.value


def fields(fault: RemoteFault) -> tuple[Any, ...]:
    return (fault.code, fault.description, fault.details, fault.level, fault.type, fault.root_cause)


# Results


def test_an_array_of_php_is_a_list() -> None:
    """AMFPHP writes arrays as ECMA arrays, with the length it knows or none."""
    answer = reply("000B '/1/onResult' 0004 'null' FFFFFFFF 08 00000000 0001 '0' 02 0001 'a' 0001 '1' 05 000009")
    assert result_of(answer) == ["a", None]
    assert result_of(answer, plain=False) == EcmaArray({0: "a", 1: None})


def test_an_array_collection_of_blazeds_is_its_list() -> None:
    text = "000B '/1/onResult' 0004 'null' FFFFFFFF 11 0A07 43 'flex.messaging.io.ArrayCollection' 09 03 01 06 03 'a'"
    answer = reply(text, version=3)
    assert result_of(answer) == ["a"]
    collection = result_of(answer, plain=False)
    assert type(collection) is ArrayCollection
    assert collection.source == ["a"]


def test_an_object_of_a_class_that_nobody_registered_is_a_typed_object() -> None:
    answer = reply("000B '/1/onResult' 0004 'null' 00000000 10 0001 'P' 0001 'x' 05 000009")
    assert result_of(answer) == TypedObject("P", {"x": None})


def test_answers_are_told_apart_by_their_response_uri() -> None:
    client, _ = canned(
        reply(
            "000B '/2/onResult' 0004 'null' FFFFFFFF 02 0001 'b'", "000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'"
        )
    )
    with client.batch() as b:
        calls = [b.f(), b.g()]
    assert [call.result for call in calls] == ["a", "b"]


def test_answers_whose_uri_was_lost_are_taken_in_their_order() -> None:
    client, _ = canned(
        reply("0012 'undefined/onResult' 0000 FFFFFFFF 02 0001 'a'", "0012 'undefined/onStatus' 0000 FFFFFFFF 05")
    )
    with client.batch() as b:
        calls = [b.f(), b.g()]
    assert calls[0].result == "a"
    assert isinstance(calls[1].fault, RemoteFault)


def test_debug_events_beside_the_answer_are_passed_over() -> None:
    """With amf_server_debug, Flash Remoting servers send a body more."""
    client, _ = canned(
        reply(
            "0010 '/1/onDebugEvents' 0004 'null' FFFFFFFF 0A 00000001 0A 00000000",
            "000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'",
        )
    )
    assert client.f() == "a"
    assert client.reply is not None
    assert client.reply.bodies[0].value == [[]]


def test_an_answer_that_is_missing_is_an_error_of_that_call_alone() -> None:
    client, _ = canned(reply("000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'"))
    with client.batch() as b:
        first, second = b.f(), b.g()
    assert first.result == "a"
    with pytest.raises(HttpError, match=r"the packet has no answer to g; it has '/1/onResult'$"):
        second.result  # noqa: B018
    with pytest.raises(HttpError, match="the packet has no answer to shop.buy; it has no answer at all$"):
        result_of(reply())


def test_an_answer_that_cannot_be_decoded_is_an_error_of_that_call_alone() -> None:
    client, _ = canned(
        reply("000B '/1/onResult' 0004 'null' 00000001 04", "000B '/2/onResult' 0004 'null' FFFFFFFF 02 0001 'b'")
    )
    with client.batch() as b:
        first = b.f()
        b.g()
    with pytest.raises(DecodeError, match="04"):
        first.result  # noqa: B018


def test_limits_bound_a_reply() -> None:
    answer = reply("000B '/1/onResult' 0004 'null' FFFFFFFF 0A 00000003 05 05 05")
    assert result_of(answer, limits=Limits(max_values=4)) == [None, None, None]
    with pytest.raises(DecodeError, match="max_values"):
        result_of(answer, limits=Limits(max_values=3))
    with pytest.raises(HttpError, match=r"more than 30 bytes, the limit \(max_body\)$"):
        result_of(answer, limits=Limits(max_body=30))


# Faults, in the shapes of servers


def test_a_fault_of_flash_remoting() -> None:
    """ColdFusion, and servers made after it: code, level, description, details, type, rootcause."""
    fault = fault_of(
        reply(
            "000B '/1/onStatus' 0004 'null' FFFFFFFF 03 0004 'code' 02 0011 'Server.Processing'"
            "0005 'level' 02 0005 'error'"
            "000B 'description' 02 0006 'closed' 0007 'details' 02 0004 'here' 0004 'type' 02 0003 'EOF'"
            "0009 'rootcause' 03 0007 'message' 02 0004 'deep' 000009 000009"
        )
    )
    assert fields(fault) == ("Server.Processing", "closed", "here", "error", "EOF", {"message": "deep"})
    assert fault.target == "shop.buy"
    assert str(fault) == "shop.buy: Server.Processing: closed"


def test_a_fault_of_amfphp_1_is_an_associative_array_with_a_line() -> None:
    fault = fault_of(
        reply(
            "000B '/1/onStatus' 0004 'null' FFFFFFFF 08 00000005 000B 'description' 02 0006 'closed'"
            "0004 'code' 02 0014 'AMFPHP_RUNTIME_ERROR' 0005 'level' 02 000C 'Unknown type'"
            "0007 'details' 02 0008 'shop.php'"
            "0004 'line' 00 4028000000000000 000009"
        )
    )
    assert fields(fault) == ("AMFPHP_RUNTIME_ERROR", "closed", "shop.php", "Unknown type", "", None)
    assert fault.value["line"] == 12


def test_a_fault_of_amfphp_2_has_flex_names_and_a_number_for_a_code() -> None:
    fault = fault_of(
        reply(
            "000B '/1/onStatus' 0004 'null' FFFFFFFF 03 0009 'faultCode' 00 0000000000000000"
            "000B 'faultString' 02 0006 'closed' 000B 'faultDetail' 02 0002 '#0' 000009"
        )
    )
    assert fields(fault) == ("0", "closed", "#0", "", "", None)


def test_an_error_message_of_amfphp_2_with_few_members_in_dynamic_traits() -> None:
    """Sent behind a header, as that server did."""
    text = (
        "000B '/1/onStatus' 0004 'null' FFFFFFFF 11 0A0B 49 'flex.messaging.messages.ErrorMessage'"
        "1B 'correlationId' 01 13 'faultCode' 06 29 'AMFPHP_RUNTIME_ERROR' 17 'faultString' 06 0D 'closed' 01"
    )
    answer = reply(text, version=3, headers=("0012 'AppendToGatewayUrl' 00 FFFFFFFF 02 0000",))
    for options in ({}, {"flex": True}):
        fault = fault_of(answer, **options)
        assert fields(fault) == ("AMFPHP_RUNTIME_ERROR", "closed", "", "", "", None)


def test_a_fault_of_zend_amf_says_detail() -> None:
    fault = fault_of(
        reply(
            "000B '/1/onStatus' 0004 'null' FFFFFFFF 03 000B 'description' 02 0006 'closed' 0006 'detail' 02 0002 '#0'"
            "0004 'line' 00 4028000000000000 0004 'code' 02 0001 '7' 000009"
        )
    )
    assert fields(fault) == ("7", "closed", "#0", "", "", None)


def test_blazeds_answers_a_plain_call_with_an_error_message() -> None:
    """Sealed traits; the members that are null in the fault are left out here."""
    text = (
        "000B '/1/onStatus' 0004 'null' FFFFFFFF 11 0A 53 49 'flex.messaging.messages.ErrorMessage'"
        "13 'faultCode' 17 'faultString' 17 'faultDetail' 13 'rootCause' 19 'extendedData'"
        "06 0D 'Server' 06 0D 'closed' 06 09 'look' 0A0B01 0F 'message' 06 09 'deep' 01 09 03 01 04 07"
    )
    fault = fault_of(reply(text, version=3))
    assert fields(fault) == ("Server", "closed", "look", "", "", {"message": "deep"})
    assert fault.extended_data == [7]
    assert type(fault.value) is TypedObject


def test_an_error_message_sent_as_a_result_is_a_fault_all_the_same() -> None:
    text = "000B '/1/onResult' 0004 'null' FFFFFFFF 11 0A 13 49 'flex.messaging.messages.ErrorMessage'"
    text += "13 'faultCode' 06 03 'C'"
    assert fault_of(reply(text, version=3)).code == "C"


def test_a_fault_that_is_no_object() -> None:
    text = fault_of(reply("000B '/1/onStatus' 0004 'null' FFFFFFFF 02 0006 'closed'"))
    assert fields(text) == ("", "closed", "", "", "", None)
    assert str(text) == "shop.buy: closed"
    nothing = fault_of(reply("000B '/1/onStatus' 0004 'null' FFFFFFFF 05"))
    assert fields(nothing) == ("", "", "", "", "", None)
    assert str(nothing) == "shop.buy"


def test_the_text_of_a_fault_is_one_line() -> None:
    fault = fault_of(reply("000B '/1/onStatus' 0004 'null' FFFFFFFF 02 0003 61 0A 62"))
    assert fault.description == "a\nb"
    assert str(fault) == r"shop.buy: a\nb"


# Headers


def test_headers_of_the_reply_can_be_read_and_handled() -> None:
    got: list[Any] = []
    client, _ = canned(
        reply("000B '/1/onResult' 0004 'null' 00000001 05", headers=("0006 'Notice' 01 FFFFFFFF 02 0002 'hi'",)),
        on_header={"Notice": got.append},
    )
    assert client.f() is None
    assert got == ["hi"]
    assert client.reply is not None
    assert client.reply.headers == [Header("Notice", "hi", True)]


def test_a_header_that_must_be_understood_and_is_not_refuses_the_reply() -> None:
    answer = reply(
        "000B '/1/onResult' 0004 'null' 00000001 05",
        headers=("0012 'AppendToGatewayUrl' 01 00000000 02 0002 '?a'", "0006 'Notice' 01 FFFFFFFF 02 0002 'hi'"),
    )
    client, _ = canned(answer)
    with pytest.raises(Fault) as raised:
        client.f()
    assert raised.value.code == "Client.Header.MustUnderstand"
    assert raised.value.description == (
        "the reply has the header 'Notice', which must be understood: on_header={'Notice': function} takes it"
    )
    assert client.url == "http://example.org/amf"


def test_an_unknown_header_that_need_not_be_understood_is_passed_over() -> None:
    answer = reply("000B '/1/onResult' 0004 'null' 00000001 05", headers=("0006 'Notice' 00 FFFFFFFF 02 0002 'hi'",))
    assert result_of(answer) is None


def with_header(name: str, value: str, must_understand: str = "01") -> bytes:
    header = f"{len(name):04X} '{name}' {must_understand} FFFFFFFF {value}"
    return reply("000B '/1/onResult' 0004 'null' 00000001 05", headers=(header,))


def test_append_to_gateway_url_is_obeyed_and_the_newest_counts() -> None:
    php, java = "02 0009 '?sid=1a2b'", "02 0010 ';jsessionid=1a2b'"
    client, server = canned(
        with_header("AppendToGatewayUrl", php), with_header("AppendToGatewayUrl", php),
        with_header("AppendToGatewayUrl", java), NULL_RESULT,
    )  # fmt: skip
    for _ in range(4):
        client.f()
    assert server.urls == [
        "http://example.org/amf",
        "http://example.org/amf?sid=1a2b",
        "http://example.org/amf?sid=1a2b",
        "http://example.org/amf;jsessionid=1a2b",
    ]
    assert client.url == "http://example.org/amf;jsessionid=1a2b"


def test_what_is_appended_goes_with_the_query_that_is_there() -> None:
    for value, url in (
        ("02 0006 '?sid=1'", "http://example.org/gateway.php?debug=1&sid=1"),
        ("02 0005 ';id=1'", "http://example.org/gateway.php;id=1?debug=1"),
    ):
        client, _ = canned(with_header("AppendToGatewayUrl", value), url="http://example.org/gateway.php?debug=1")
        client.f()
        assert client.url == url


def test_replace_gateway_url_is_obeyed_and_drops_what_was_appended() -> None:
    client, server = canned(
        with_header("AppendToGatewayUrl", "02 0006 '?sid=1'"),
        with_header("ReplaceGatewayUrl", "02 0018 'https://example.net/amf2'"),
        with_header("ReplaceGatewayUrl", "02 0005 '/amf3'"),
        NULL_RESULT,
    )
    for _ in range(4):
        client.f()
    assert server.urls[2:] == ["https://example.net/amf2", "https://example.net/amf3"]


@pytest.mark.parametrize(
    "value, why",
    [
        ("02 0016 'http://example.net/amf'", "'http://example.net/amf' is not https, as the URL in use is"),
        ("02 000B 'file:///etc'", "a gateway's URL starts with http:// or https:// and a host, not 'file:///etc'"),
        ("05", "it has to be text, and is a NoneType"),
    ],
)
def test_a_gateway_url_that_cannot_be_used_is_not(value: str, why: str, caplog: pytest.LogCaptureFixture) -> None:
    client, _ = canned(with_header("ReplaceGatewayUrl", value), url="https://example.org/amf")
    with caplog.at_level(logging.WARNING, "amfgate.client"):
        assert client.f() is None
    assert client.url == "https://example.org/amf"
    assert caplog.messages == [f"the server's header ReplaceGatewayUrl is not obeyed: {why}"]


def test_request_persistent_header_is_obeyed() -> None:
    value = "03 0004 'name' 02 0001 'T' 000E 'mustUnderstand' 0101 0004 'data' 02 0001 'x' 000009"
    client, server = canned(with_header("RequestPersistentHeader", value), NULL_RESULT, NULL_RESULT)
    for _ in range(3):
        client.f()
    body = " 0001 0001 'f' 0002 '/1' 00000005 0A 00000000"
    assert server.bodies[0] == amf("0000 0000" + body)
    assert server.bodies[1:] == [amf("0000 0001 0001 'T' 01 00000004 02 0001 'x'" + body)] * 2


# Answers that are no packet


def text_answer(status: int, content_type: str, body: bytes, **headers: str) -> httpx.Response:
    return httpx.Response(status, content=body, headers={"Content-Type": content_type, **headers})


def http_error(answer: bytes | httpx.Response, **options: Any) -> HttpError:
    with pytest.raises(HttpError) as raised:
        result_of(answer, **options)
    return raised.value


def test_an_error_page_is_quoted_with_status_and_type() -> None:
    page = b"<!DOCTYPE html>\n<html><title>Not here</title>"
    error = http_error(text_answer(404, "text/html; charset=utf-8", page))
    assert str(error) == (
        "http://example.org/amf answered HTTP 404 Not Found; text/html; charset=utf-8, 45 bytes: "
        "3C 21 44 4F '<!DOCTYPE html> <html><title>Not here</title>'; no AMF packet"
    )
    assert (error.status, error.reason, error.content_type) == (404, "Not Found", "text/html; charset=utf-8")
    assert (error.url, error.body) == ("http://example.org/amf", page)


def test_a_page_with_status_200_is_quoted_too() -> None:
    error = http_error(text_answer(200, "text/html", b"<b>Fatal error</b>: in shop.php"))
    assert str(error) == (
        "http://example.org/amf answered HTTP 200 OK; text/html, 31 bytes: "
        "3C 62 3E 46 '<b>Fatal error</b>: in shop.php'; not a packet: it begins with "
        "3C 62 3E 46 61 74 61 6C 20 65 72 72 ... (<b>Fatal err...) and looks like XML or HTML, at offset 0"
    )


def test_an_empty_answer() -> None:
    assert str(http_error(httpx.Response(200))) == (
        "http://example.org/amf answered HTTP 200 OK; no content type, 0 bytes; "
        "no packet: the input is empty, at offset 0"
    )


def test_bytes_that_are_no_text_are_quoted_in_hex() -> None:
    error = http_error(text_answer(502, "application/octet-stream", bytes.fromhex("ff00 fe01")))
    assert str(error) == (
        "http://example.org/amf answered HTTP 502 Bad Gateway; application/octet-stream, 4 bytes: FF 00 FE 01; "
        "no AMF packet"
    )


def test_a_long_page_is_cut() -> None:
    error = http_error(text_answer(500, "text/plain", b"x" * 1000))
    assert f"1000 bytes: 78 78 78 78 '{'x' * 120}'...; no AMF packet" in str(error)
    assert len(error.body) == 1000


def test_a_redirect_is_named_and_not_followed() -> None:
    error = http_error(text_answer(301, "text/html", b"", Location="https://example.org/amf/"))
    assert str(error) == (
        "http://example.org/amf answered HTTP 301 Moved Permanently; a redirect to https://example.org/amf/, "
        "which is not followed: use that URL; text/html, 0 bytes; no AMF packet"
    )


def test_a_packet_counts_whatever_the_status_says() -> None:
    answer = reply("000B '/1/onStatus' 0004 'null' FFFFFFFF 02 0006 'closed'")
    assert fault_of(text_answer(500, "application/x-amf", answer)).description == "closed"


def test_an_empty_line_behind_the_packet_is_passed_over() -> None:
    """A PHP script that ends in one writes it."""
    answer = reply("000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'")
    assert result_of(answer + b"\r\n \n") == "a"
    assert "3 bytes are left behind the last body" in str(http_error(answer + b"\n.\n"))


def test_what_stands_before_the_packet_is_named() -> None:
    answer = reply("000B '/1/onResult' 0004 'null' FFFFFFFF 02 0001 'a'")
    assert "a packet behind a UTF-8 byte order mark" in str(http_error(b"\xef\xbb\xbf" + answer))


def test_secrets_of_the_url_are_not_in_errors() -> None:
    error = http_error(text_answer(404, "text/plain", b"no"), url="http://ada:pw@[::1]:81/a;jsessionid=1?key=secret")
    assert str(error).startswith("http://[::1]:81/a?... answered HTTP 404 Not Found; ")
