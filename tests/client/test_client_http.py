"""A client and a real server: connections, cookies, gzip, time."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from real import serving

import amfgate
from amfgate import Client, Exchange, Fault, Gateway, Limits
from amfgate.client import HttpError


def visits_of(environ: dict[str, Any]) -> int:
    cookies = SimpleCookie(environ.get("HTTP_COOKIE", ""))
    return int(cookies["visits"].value) if "visits" in cookies else 0


class Site:
    """A WSGI application with a gateway in it, and around it what a site does: cookies, compression, delays."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.release = threading.Event()
        self.gateway = Gateway(self.rest, {"shop": self})

    def echo(self, value: Any) -> Any:
        return value

    def visits(self, exchange: Exchange) -> int:
        return visits_of(exchange.environ)

    def wait(self) -> str:
        self.release.wait(10)
        return "done"

    def move(self, exchange: Exchange) -> None:
        exchange.append_to_gateway_url("?sid=7", must_understand=True)

    def query(self, exchange: Exchange) -> str:
        return str(exchange.environ["QUERY_STRING"])

    def rest(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/not-gzip":
            start_response("200 OK", [("Content-Encoding", "gzip"), ("Content-Type", "application/x-amf")])
            return [b"\0\0\0\0\0\0"]
        start_response("404 Not Found", [("Content-Type", "text/html")])
        return [b"<html>nothing</html>"]

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.seen.append(environ)
        visits = visits_of(environ)

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            headers = [*headers, ("Set-Cookie", f"visits={visits + 1}; Path=/; HttpOnly")]
            if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "") and environ["PATH_INFO"] == "/amf":
                headers = [(name, value) for name, value in headers if name != "Content-Length"]
                headers.append(("Content-Encoding", "gzip"))
            return start_response(status, headers)

        body = self.gateway(environ, start)
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "") and environ["PATH_INFO"] == "/amf":
            return [gzip.compress(b"".join(body))]
        return body


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Site]]:
    """The site on a free port, and where it is."""
    site = Site()
    with serving(site) as port:
        yield f"http://127.0.0.1:{port}", site
        site.release.set()


def test_a_call_over_a_socket_unpacks_gzip(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/amf", version=3) as client:
        assert client.shop.echo({"name": "é", "bytes": b"\x00\xff"}) == {"name": "é", "bytes": b"\x00\xff"}
        answer = client.post(amfgate.Packet(0, [], [amfgate.Body("shop.echo", "/1", [1])]).to_bytes())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.body == bytes.fromhex(
        "0000 0000 0001 000b 2f312f6f6e526573756c74 0004 6e756c6c 00000009 00 3ff0000000000000"
    )


def test_a_compressed_request(served: tuple[str, Site]) -> None:
    url, site = served
    with Client(f"{url}/amf", compress=True) as client:
        assert client.shop.echo("x" * 10_000) == "x" * 10_000
    assert int(site.seen[-1]["CONTENT_LENGTH"]) < 200


def test_cookies_come_back(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/amf", cookies={"visits": "5"}) as client:
        assert [client.shop.visits(), client.shop.visits()] == [5, 6]
        assert client.cookies["visits"] == "7"
    with Client(f"{url}/amf") as client:
        assert client.shop.visits() == 0


def test_the_servers_url_header_is_obeyed(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/amf") as client:
        client.shop.move()
        assert client.shop.query() == "sid=7"


def test_an_answer_that_does_not_come_in_time(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/amf", timeout=0.2) as client, pytest.raises(TimeoutError) as raised:
        client.shop.wait()
    assert str(raised.value) == f"{url}/amf: no answer in time (ReadTimeout)"


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}/amf?key=secret") as client, pytest.raises(ConnectionError) as raised:
        client.f()
    assert str(raised.value).startswith(f"http://127.0.0.1:{port}/amf?...: ")


def test_a_page_in_place_of_the_gateway(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/other") as client, pytest.raises(HttpError) as raised:
        client.f()
    assert str(raised.value) == (
        f"{url}/other answered HTTP 404 Not Found; text/html, 20 bytes: "
        "3C 68 74 6D '<html>nothing</html>'; no AMF packet"
    )


def test_a_body_that_is_not_the_gzip_it_says(served: tuple[str, Site]) -> None:
    url, _ = served
    with Client(f"{url}/not-gzip") as client, pytest.raises(HttpError, match="its body is not gzip, as it says: "):
        client.f()


def test_a_reply_above_the_limit_is_not_read_to_its_end(served: tuple[str, Site]) -> None:
    """Unpacked it is 10 MB; packed only 10 KB."""
    url, _ = served
    with Client(f"{url}/amf", compress=True, limits=Limits(max_body=100_000)) as client:
        with pytest.raises(HttpError, match=r"more than 100000 bytes, the limit \(max_body\)$"):
            client.shop.echo("x" * 10_000_000)


def test_threads_share_a_client(served: tuple[str, Site]) -> None:
    url, _ = served
    results: dict[int, Any] = {}
    with Client(f"{url}/amf", flex=True) as client:

        def work(number: int) -> None:
            results[number] = [client.shop.echo(number * 10 + turn) for turn in range(5)]

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {number: [number * 10 + turn for turn in range(5)] for number in range(6)}


def test_an_httpx_client_of_ones_own_is_used_and_not_closed(served: tuple[str, Site]) -> None:
    url, site = served
    with httpx.Client(headers={"X-Key": "k"}) as http:
        with Client(f"{url}/amf", http=http) as client:
            assert client.shop.echo(1) == 1
        assert site.seen[-1]["HTTP_X_KEY"] == "k"
        assert not http.is_closed
        with pytest.raises(TypeError, match="leave transport= and cookies= out$"):
            Client(url, http=http, cookies={"a": "b"})


def test_a_wsgi_application_is_a_transport() -> None:
    client = Client("http://example.org/amf", transport=Gateway(None, {"shop": Site()}))
    assert client.shop.echo([1, "a"]) == [1, "a"]
    with pytest.raises(Fault) as raised:
        client.shop.nothing()
    assert raised.value.code == "Server.ResourceNotFound"


def test_without_httpx_the_error_names_the_extra() -> None:
    """In a process of its own, in which httpx cannot be imported."""
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "import amfgate, amfgate.testing\n"
        "print(amfgate.testing.Client(amfgate.Gateway(None, {'add': lambda a, b: a + b})).add(1, 2))\n"
        "try: amfgate.Client('http://example.org/amf')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60)
    assert done.stdout.splitlines() == [
        "3",
        "amfgate.Client needs httpx, which is not installed: pip install 'amfgate[client]'",
    ], done.stderr


def test_the_name_alone_does_not_import_httpx() -> None:
    code = "import sys, amfgate; amfgate.Client; print('httpx' in sys.modules, 'amfgate.gateway' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60)
    assert done.stdout == "False False\n", done.stderr
