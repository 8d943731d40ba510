"""The gateway's URL: what is accepted, and what is said of what is not."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlparse, urlsplit

import httpx
import pytest
from literal import NULL_RESULT, canned, reply

from amfgate import Client


class Url:
    def __str__(self) -> str:
        return "http://example.org/amf"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/amf",
        " http://example.org/amf#top\n",
        Url(),
        httpx.URL("http://example.org/amf"),
        urlparse("http://example.org/amf"),
        urlsplit("http://example.org/amf"),
    ],
)
def test_text_and_url_objects_are_accepted(url: Any) -> None:
    client, server = canned(NULL_RESULT, url=url)
    client.f()
    assert server.urls == ["http://example.org/amf"]


@pytest.mark.parametrize("url", ["http://example.org", "http://example.org?x=1"])
def test_a_url_without_a_path_gets_one_so_that_nothing_is_appended_to_the_host(url: str) -> None:
    header = "0012 'AppendToGatewayUrl' 00 FFFFFFFF 02 0009 '.evil.net'"
    client, server = canned(
        reply("000B '/1/onResult' 0004 'null' 00000001 05", headers=(header,)), NULL_RESULT, url=url
    )
    client.f()
    client.f()
    assert {httpx.URL(url).host for url in server.urls} == {"example.org"}


def test_letters_of_any_alphabet() -> None:
    client, server = canned(NULL_RESULT, url="http://example.org/ゲート")
    client.f()
    assert server.urls == ["http://example.org/%E3%82%B2%E3%83%BC%E3%83%88"]


@pytest.mark.parametrize(
    "url, error, text",
    [
        (b"http://x/", TypeError, "^url is text or a URL object, not b'http://x/'$"),
        (None, TypeError, "^url is text or a URL object, not None$"),
        ("example.org/amf", ValueError, "and a host, not 'example.org/amf'; perhaps http://example.org/amf$"),
        ("/amf", ValueError, "^a gateway's URL starts with http:// or https:// and a host, not '/amf'$"),
        ("rtmp://x/app", ValueError, "not 'rtmp://x/app'; RTMP is another protocol, which this client does not speak$"),
        ("http:///amf", ValueError, "and a host, not 'http:///amf'$"),
        ("ftp://x/", ValueError, "not 'ftp://x/'$"),
        ("http://x:99999/", ValueError, r"^'http://x:99999/': Port out of range 0-65535$"),
    ],
)
def test_what_is_no_url_is_an_error_at_once(url: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Client(url)
