"""Headers of packets: which have to be understood, and what a reply says in its own."""

from __future__ import annotations

from typing import Any

import pytest
from wsgi_client import call, packet, post

from amfgate import Call, Exchange, Gateway, Header
from amfgate.gateway import default_filters


class Service:
    def echo(self, value: Any) -> Any:
        return value


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"svc": Service()}, **options)


def test_a_header_that_has_to_be_understood_and_is_not_is_a_fault_for_each_call() -> None:
    data = packet(("svc.echo", [1]), ("svc.echo", [2]), headers=[Header("Strange\n", 1, True)])
    reply = post(gateway(), data)
    assert reply.codes == ["Client.Header.MustUnderstand"] * 2
    assert reply.bodies[0].value["description"] == (
        "the header 'Strange\\n' must be understood, and nothing here knows it"
    )


def test_a_header_that_need_not_be_understood_is_not_looked_at() -> None:
    assert call(gateway(), "svc.echo", 1, headers=[Header("Strange", 1)]).value == 1


@pytest.mark.parametrize(
    "name",
    [
        "Credentials",
        "RequestPersistentHeader",
        "AppendToGatewayUrl",
        "ReplaceGatewayUrl",
        "amf_server_debug",
    ],
)
def test_the_headers_of_remoting_itself_are_understood(name: str) -> None:
    assert call(gateway(), "svc.echo", 1, headers=[Header(name, {"a": 1}, True)]).value == 1


def test_a_filter_says_which_headers_it_understands() -> None:
    seen: list[Any] = []

    class Tenant:
        headers = ("Tenant",)

        def on_request(self, exchange: Exchange) -> None:
            seen.append((exchange.header("Tenant"), exchange.header("Other"), exchange.header("Other", 5)))

    filters = default_filters()
    filters.insert(1, Tenant())
    app = Gateway(None, {"svc": Service()}, filters=filters)
    assert call(app, "svc.echo", 1, headers=[Header("Tenant", "a"), Header("Tenant", "b", True)]).value == 1
    assert seen == [("b", None, 5)]


def test_a_header_that_cannot_be_decoded_is_no_packet() -> None:
    data = bytes.fromhex("0000 0001 0001 61 00 00000001 FF 0000".replace(" ", ""))
    reply = post(gateway(), data)
    assert reply.status == "400 Bad Request"
    assert b"the header 'a'" in reply.data


def test_services_and_filters_add_headers_to_the_reply() -> None:
    def shelve(exchange: Exchange, call: Call) -> str:
        exchange.add_header("X", [1], True)
        call.exchange.append_to_gateway_url("?sid=1")
        call.exchange.replace_gateway_url("http://other/amf", must_understand=True)
        call.exchange.request_persistent_header("Sid", "1", True)
        return "done"

    reply = call(Gateway(None, {"shelve": shelve}), "shelve")
    assert reply.value == "done"
    assert reply.packet.headers == [
        Header("X", [1], True),
        Header("AppendToGatewayUrl", "?sid=1", False),
        Header("ReplaceGatewayUrl", "http://other/amf", True),
        Header("RequestPersistentHeader", {"name": "Sid", "mustUnderstand": True, "data": "1"}, False),
    ]


def test_the_bytes_of_a_header() -> None:
    def add(exchange: Exchange) -> None:
        exchange.append_to_gateway_url("?s", must_understand=True)

    reply = call(Gateway(None, {"add": add}), "add")
    expected = "0000 0001 0012 417070656E64546F4761746577617955726C 01 00000005 02 0002 3F73 0001"
    assert reply.data.startswith(bytes.fromhex(expected.replace(" ", "")))


def test_a_filter_on_the_way_back_may_add_a_header_too() -> None:
    class Late:
        def on_response(self, exchange: Exchange) -> None:
            exchange.add_header("Late", 1)

    filters = default_filters()
    filters.insert(1, Late())
    reply = call(Gateway(None, {"svc": Service()}, filters=filters), "svc.echo", 1)
    assert [header.name for header in reply.packet.headers] == ["Late"]


def test_a_header_that_cannot_be_encoded_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def add(exchange: Exchange) -> str:
        exchange.add_header("Bad", object())
        exchange.add_header("Good", 1)
        return "done"

    reply = call(Gateway(None, {"add": add}), "add")
    assert reply.value == "done"
    assert [header.name for header in reply.packet.headers] == ["Good"]
    assert "the reply's header 'Bad' is left out: EncodeError" in caplog.text


@pytest.mark.parametrize(
    ("method", "arguments", "text"),
    [
        ("add_header", (5, 1), "a header's name is text, not 5"),
        ("append_to_gateway_url", (5,), r"append_to_gateway_url\(\) takes text, not 5"),
        ("replace_gateway_url", (None,), r"replace_gateway_url\(\) takes text, not None"),
        ("request_persistent_header", (5, 1), r"request_persistent_header\(\) takes text, not 5"),
    ],
)
def test_headers_are_checked_where_they_are_made(method: str, arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        getattr(Exchange({}, gateway()), method)(*arguments)
