"""CORS and crossdomain.xml: off unless asked for, and no wider than asked for."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from wsgi_client import environ, packet, post, run

from amfgate import Gateway

ECHO = packet(("echo", ["hello"]))
ORIGIN = "https://games.example"


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"echo": lambda value: value}, **options)


def cors_headers(app: Gateway, method: str = "POST", **entries: Any) -> dict[str, str]:
    reply = run(app, environ(ECHO, REQUEST_METHOD=method, **entries))
    return {name: value for name, value in reply.headers.items() if name.startswith(("Access-Control", "Vary"))}


def test_without_cors_there_are_no_such_headers() -> None:
    assert cors_headers(gateway(), HTTP_ORIGIN=ORIGIN) == {}
    assert cors_headers(gateway(), "OPTIONS", HTTP_ORIGIN=ORIGIN, HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST") == {}


def test_a_listed_origin_may_call_with_cookies() -> None:
    assert cors_headers(gateway(cors=[ORIGIN, "http://localhost:8080"]), HTTP_ORIGIN=ORIGIN) == {
        "Access-Control-Allow-Origin": ORIGIN,
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
    }


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://games.example.evil", "http://games.example", "null", ""]
)
def test_another_origin_is_told_nothing(origin: str) -> None:
    assert cors_headers(gateway(cors=ORIGIN), HTTP_ORIGIN=origin) == {"Vary": "Origin"}
    assert cors_headers(gateway(cors=ORIGIN), "OPTIONS", HTTP_ORIGIN=origin) == {"Vary": "Origin"}


def test_every_origin_may_call_without_cookies() -> None:
    app = gateway(cors="*")
    assert cors_headers(app, HTTP_ORIGIN=ORIGIN) == {"Access-Control-Allow-Origin": "*"}
    assert cors_headers(app) == {}


def test_the_origin_of_files_and_sandboxes_gets_no_cookies() -> None:
    assert cors_headers(gateway(cors=["null"]), HTTP_ORIGIN="null") == {
        "Access-Control-Allow-Origin": "null",
        "Vary": "Origin",
    }


def test_a_preflight_is_answered() -> None:
    reply = run(
        gateway(cors=ORIGIN),
        environ(
            REQUEST_METHOD="OPTIONS",
            HTTP_ORIGIN=ORIGIN,
            HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST",
            HTTP_ACCESS_CONTROL_REQUEST_HEADERS="content-type, X-Flash-Version,bad\r\nname",
        ),
    )
    assert reply.status == "204 No Content"
    assert reply.headers == {
        "Allow": "POST, OPTIONS",
        "Access-Control-Allow-Origin": ORIGIN,
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
        "Access-Control-Allow-Methods": "POST, OPTIONS",
        "Access-Control-Allow-Headers": "content-type, X-Flash-Version",
        "Access-Control-Max-Age": "600",
    }


def test_errors_have_the_headers_too() -> None:
    reply = post(gateway(cors=ORIGIN), b"no packet", HTTP_ORIGIN=ORIGIN)
    assert reply.status == "400 Bad Request"
    assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN


def test_the_wrapped_application_has_none_of_it() -> None:
    assert "Vary" not in run(gateway(cors=ORIGIN), environ(PATH_INFO="/other", HTTP_ORIGIN=ORIGIN)).headers


@pytest.mark.parametrize(
    ("cors", "error"),
    [
        ("games.example", ValueError),
        ("https://games.example/", ValueError),
        ("https://*.example", ValueError),
        ("", ValueError),
        ([], ValueError),
        ([5], TypeError),
    ],
)
def test_what_is_no_origin_is_refused(cors: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="cors="):
        gateway(cors=cors)


# crossdomain.xml


def policy(**options: Any) -> Any:
    return run(gateway(**options), environ(REQUEST_METHOD="GET", PATH_INFO="/crossdomain.xml", CONTENT_LENGTH=None))


def test_without_crossdomain_the_file_is_the_applications() -> None:
    assert policy().status == "404 Not Found"


def test_the_policy_file() -> None:
    reply = policy(crossdomain=["*.example.com", 'a"b'])
    assert reply.status == "200 OK"
    assert reply.headers["Content-Type"] == "text/x-cross-domain-policy"
    assert reply.headers["Content-Length"] == str(len(reply.data))
    assert reply.data == (
        b'<?xml version="1.0"?>\n<cross-domain-policy>\n'
        b'  <allow-access-from domain="*.example.com"/>\n'
        b"  <allow-access-from domain='a\"b'/>\n"
        b'  <allow-http-request-headers-from domain="*.example.com" headers="*"/>\n'
        b'  <allow-http-request-headers-from domain=\'a"b\' headers="*"/>\n'
        b"</cross-domain-policy>\n"
    )
    assert ElementTree.fromstring(reply.data).tag == "cross-domain-policy"
    assert b'domain="*"' in policy(crossdomain="*").data


def test_a_whole_file_is_served_as_it_is() -> None:
    text = "<?xml version='1.0'?><cross-domain-policy/>"
    assert policy(crossdomain=text).data == text.encode()


def test_the_policy_file_is_for_reading() -> None:
    app = gateway(crossdomain="*")
    assert run(app, environ(REQUEST_METHOD="HEAD", PATH_INFO="/crossdomain.xml")).data == b""
    reply = run(app, environ(REQUEST_METHOD="POST", PATH_INFO="/crossdomain.xml"))
    assert (reply.status, reply.headers["Allow"]) == ("405 Method Not Allowed", "GET, HEAD")


@pytest.mark.parametrize("crossdomain", [[], [""], ["http://a"], [5]])
def test_what_is_no_domain_is_refused(crossdomain: Any) -> None:
    with pytest.raises(ValueError, match="crossdomain="):
        gateway(crossdomain=crossdomain)
