"""What HTTP can bring: other people's requests, odd bodies, other methods."""

from __future__ import annotations

import gzip
import io
import logging
import tracemalloc
import wsgiref.validate
import zlib
from typing import Any

import pytest
from wsgi_client import environ, packet, post, run

from amfgate import Gateway, Limits
from amfgate.filters import Dispatch


class Echo:
    def echo(self, *values: Any) -> Any:
        return values[0] if values else "pong"


ECHO = packet(("svc.echo", ["hello"]))


def gateway(app: Any = None, **options: Any) -> Gateway:
    return Gateway(app, {"svc": Echo()}, **options)


# What is not ours


class Body:
    """A body that can be told from any other."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Any:
        return iter([b"yours"])

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("path", ["/", "", "/other", "/amf/more", "/amfx", "/AMF", "//amf", "/x/amf", "/amf//"])
def test_what_is_not_ours_is_left_alone(path: str) -> None:
    body = Body()
    headers = [("X-One", "1")]
    seen: list[Any] = []

    def app(environ: Any, start_response: Any) -> Any:
        seen.append(environ)
        start_response("299 Mine", headers)
        return body

    entries = environ(ECHO, PATH_INFO=path)
    before = dict(entries)
    calls: list[Any] = []

    def start_response(*args: Any) -> None:
        calls.append((start_response, args))

    found = gateway(app)(entries, start_response)
    assert found is body
    assert seen[0] is entries and entries == before
    assert calls[0][1][0] == "299 Mine" and calls[0][1][1] is headers
    assert body.closed == 0
    assert entries["wsgi.input"].tell() == 0


def test_without_path_info_the_request_is_not_ours() -> None:
    entries = environ(ECHO, PATH_INFO=None)
    assert run(gateway(), entries).status == "404 Not Found"


def test_without_an_application_the_rest_is_404() -> None:
    reply = run(gateway(), environ(REQUEST_METHOD="GET", PATH_INFO="/"))
    assert reply.status == "404 Not Found"
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.data == b"There is nothing here.\n"
    assert run(gateway(), environ(REQUEST_METHOD="HEAD", PATH_INFO="/")).data == b""


# Paths


def is_ours(app: Gateway, **entries: Any) -> bool:
    return post(app, ECHO, **entries).status == "200 OK"


def test_with_and_without_a_slash_at_the_end() -> None:
    for path in ("/amf", "/amf/"):
        app = gateway(path=path)
        assert is_ours(app, PATH_INFO="/amf")
        assert is_ours(app, PATH_INFO="/amf/")
        assert not is_ours(app, PATH_INFO="/amf//")


def test_several_paths() -> None:
    app = gateway(path=("/amf", "/flashservices/gateway.php"))
    assert is_ours(app, PATH_INFO="/amf")
    assert is_ours(app, PATH_INFO="/flashservices/gateway.php")
    assert not is_ours(app, PATH_INFO="/flashservices")


def test_the_path_is_below_the_prefix_at_which_the_application_is_mounted() -> None:
    app = gateway()
    assert is_ours(app, SCRIPT_NAME="/shop", PATH_INFO="/amf")
    assert not is_ours(app, SCRIPT_NAME="/amf", PATH_INFO="")


@pytest.mark.parametrize("path", ["", "/"])
def test_a_gateway_that_is_mounted_itself_answers_at_its_root(path: str) -> None:
    app = gateway(path=path)
    assert is_ours(app, SCRIPT_NAME="/amf", PATH_INFO="")
    assert is_ours(app, SCRIPT_NAME="/amf", PATH_INFO="/")
    assert not is_ours(app, SCRIPT_NAME="/amf", PATH_INFO="/x")


def test_a_path_in_another_alphabet() -> None:
    assert is_ours(gateway(path="/käse"), PATH_INFO="/käse".encode().decode("latin-1"))


@pytest.mark.parametrize(
    ("path", "error", "text"),
    [
        ("amf", ValueError, "path 'amf' has to start with '/'"),
        ((), ValueError, "path is empty"),
        ([5], TypeError, "path is text or a tuple of texts, not 5"),
    ],
)
def test_a_wrong_path_is_refused(path: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        gateway(path=path)


# Methods


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_other_methods_get_a_short_page_and_405(method: str) -> None:
    reply = run(gateway(), environ(REQUEST_METHOD=method))
    assert reply.status == "405 Method Not Allowed"
    assert reply.headers["Allow"] == "POST, OPTIONS"
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    if method == "HEAD":
        assert reply.data == b""
        assert int(reply.headers["Content-Length"]) > 0
    else:
        assert reply.data.startswith(b"This is an AMF gateway.")
        assert reply.headers["Content-Length"] == str(len(reply.data))


def test_options_says_what_is_allowed() -> None:
    reply = run(gateway(), environ(REQUEST_METHOD="OPTIONS"))
    assert reply.status == "204 No Content"
    assert reply.headers == {"Allow": "POST, OPTIONS"}
    assert reply.data == b""


@pytest.mark.parametrize(
    "content_type", ["application/x-amf", "text/plain", "application/octet-stream", "", None, "image/png; a=b"]
)
def test_post_is_read_whatever_its_content_type(content_type: str | None) -> None:
    assert post(gateway(), ECHO, CONTENT_TYPE=content_type).value == "hello"


# The reply


def test_the_headers_of_a_reply() -> None:
    reply = post(gateway(), ECHO)
    assert reply.status == "200 OK"
    assert reply.headers == {
        "Content-Type": "application/x-amf",
        "Content-Length": str(len(reply.data)),
        "Cache-Control": "no-store",
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "entries",
    [
        {"data": ECHO},
        {"data": packet(("svc.nothing", []))},
        {"data": b"no packet"},
        {"data": ECHO, "CONTENT_LENGTH": "9999999999"},
        {"REQUEST_METHOD": "GET", "CONTENT_LENGTH": ""},
        {"REQUEST_METHOD": "HEAD", "CONTENT_LENGTH": ""},
        {"REQUEST_METHOD": "OPTIONS", "CONTENT_LENGTH": ""},
        {"REQUEST_METHOD": "GET", "PATH_INFO": "/other", "CONTENT_LENGTH": ""},
    ],
)
def test_what_we_send_is_valid_wsgi(entries: dict[str, Any]) -> None:
    run(wsgiref.validate.validator(gateway()), environ(**entries))  # type: ignore[arg-type]


# The body of a request


def text_of(reply: Any) -> str:
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    found: str = reply.data.decode()
    return found.removesuffix("\n")


@pytest.mark.parametrize("declared", [None, ""])
def test_without_content_length_nothing_is_read(declared: str | None) -> None:
    class Never:
        def read(self, *args: Any) -> bytes:
            raise AssertionError("this would wait for ever")

    reply = post(gateway(), b"", CONTENT_LENGTH=declared, wsgi_input=Never())
    assert reply.status == "400 Bad Request"
    assert text_of(reply).startswith("The request has no body, or does not say how long it is")


@pytest.mark.parametrize("declared", ["-1", "abc", "1.5", "0x10", "+5", "1_0", " 5", "²", "-0", "5\r\nX: y"])
def test_a_content_length_that_is_no_number_is_refused(declared: str) -> None:
    reply = post(gateway(), ECHO, CONTENT_LENGTH=declared)
    assert reply.status == "400 Bad Request"
    assert text_of(reply).startswith("Content-Length is ")


def test_a_content_length_of_nothing_is_an_empty_packet() -> None:
    reply = post(gateway(), b"", CONTENT_LENGTH="0")
    assert reply.status == "400 Bad Request"
    assert "empty" in text_of(reply)


def test_a_request_that_breaks_off_says_where() -> None:
    reply = post(gateway(), ECHO, CONTENT_LENGTH=str(len(ECHO) + 5))
    assert reply.status == "400 Bad Request"
    assert text_of(reply) == f"The request broke off after {len(ECHO)} of {len(ECHO) + 5} bytes."


def test_a_content_length_that_is_too_short_gives_a_packet_that_ends_early() -> None:
    reply = post(gateway(), ECHO, CONTENT_LENGTH=str(len(ECHO) - 40))
    assert reply.status == "400 Bad Request"


def test_no_more_than_the_content_length_is_read() -> None:
    source = io.BytesIO(ECHO + b"the next request")
    assert post(gateway(), ECHO, wsgi_input=source).value == "hello"
    assert source.read() == b"the next request"


class Trickle:
    """An input that gives three bytes at a time, as a socket may."""

    def __init__(self, data: bytes) -> None:
        self.source = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.source.read(min(size, 3) if size >= 0 else 3)


def test_short_reads_are_put_together() -> None:
    assert post(gateway(), ECHO, wsgi_input=Trickle(ECHO)).value == "hello"
    terminated = post(gateway(), ECHO, wsgi_input=Trickle(ECHO), CONTENT_LENGTH=None, wsgi_input_terminated=True)
    assert terminated.value == "hello"


def test_a_chunked_body_is_read_to_its_end_where_the_server_says_that_it_ends() -> None:
    assert post(gateway(), ECHO, CONTENT_LENGTH=None, wsgi_input_terminated=True).value == "hello"


def test_a_body_above_the_limit_is_413_and_is_not_read() -> None:
    source = io.BytesIO(ECHO)
    app = gateway(limits=Limits(max_body=len(ECHO) - 1))
    reply = post(app, ECHO, wsgi_input=source)
    assert reply.status[:4] == "413 "  # its words differ between versions of Python
    assert text_of(reply) == (f"The request has {len(ECHO)} bytes; {len(ECHO) - 1} bytes are read here (max_body).")
    assert source.tell() == 0
    assert post(gateway(limits=Limits(max_body=len(ECHO))), ECHO).value == "hello"


def test_the_default_limit_is_16_mib() -> None:
    assert post(gateway(), b"", CONTENT_LENGTH=str(16 * 1024 * 1024 + 1)).status.startswith("413")
    assert post(gateway(), b"", CONTENT_LENGTH=str(16 * 1024 * 1024)).status.startswith("400")
    assert post(gateway(), b"", CONTENT_LENGTH="9" * 5_000).status.startswith("413")


class Endless:
    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int) -> bytes:
        self.given += size
        return bytes(size)


def test_a_chunked_body_without_end_is_413() -> None:
    source = Endless()
    app = gateway(limits=Limits(max_body=1_000_000))
    reply = post(app, b"", CONTENT_LENGTH=None, wsgi_input_terminated=True, wsgi_input=source)
    assert reply.status.startswith("413")
    assert source.given < 1_200_000


def test_without_a_limit_any_size_is_read() -> None:
    data = packet(("svc.echo", ["x" * 100]))
    assert post(gateway(limits=Limits(max_body=None)), data).value == "x" * 100
    zipped = gzip.compress(data)
    reply = post(gateway(limits=Limits(max_body=None)), zipped, HTTP_CONTENT_ENCODING="gzip")
    assert reply.value == "x" * 100


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(ECHO)),
        ("x-gzip", gzip.compress(ECHO)),
        ("GZip", gzip.compress(ECHO)),
        ("gzip", gzip.compress(ECHO[:9]) + gzip.compress(ECHO[9:])),
        ("deflate", zlib.compress(ECHO)),
        ("deflate", raw_deflate(ECHO)),
        ("identity", ECHO),
        ("", ECHO),
    ],
)
def test_packed_bodies_are_unpacked(coding: str, data: bytes) -> None:
    assert post(gateway(), data, HTTP_CONTENT_ENCODING=coding).value == "hello"
    chunked = post(gateway(), data, HTTP_CONTENT_ENCODING=coding, CONTENT_LENGTH=None, wsgi_input_terminated=True)
    assert chunked.value == "hello"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
def test_a_packed_body_is_unpacked_no_further_than_the_limit(pack: Any) -> None:
    limit = 100_000
    bomb = pack(bytes(50_000_000))
    coding = "gzip" if pack is gzip.compress else "deflate"
    app = gateway(limits=Limits(max_body=limit))
    tracemalloc.start()
    try:
        reply = post(app, bomb, HTTP_CONTENT_ENCODING=coding)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reply.status.startswith("413")
    assert text_of(reply) == "The request unpacks to more bytes than that; 100000 bytes are read here (max_body)."
    assert peak < 1_000_000


def test_a_body_that_unpacks_to_just_the_limit_is_read() -> None:
    big = packet(("svc.echo", ["x" * 5_000]))
    exact = gateway(limits=Limits(max_body=len(big)))
    assert post(exact, zlib.compress(big), HTTP_CONTENT_ENCODING="deflate").value == "x" * 5_000
    below = gateway(limits=Limits(max_body=len(big) - 1))
    assert post(below, zlib.compress(big), HTTP_CONTENT_ENCODING="deflate").status.startswith("413")


@pytest.mark.parametrize(
    ("coding", "data", "text"),
    [
        ("gzip", ECHO, "The body of the request is not gzip: "),
        ("gzip", gzip.compress(ECHO)[:-9], "The gzip body of the request ends early."),
        ("gzip", b"", "The gzip body of the request ends early."),
        ("gzip", gzip.compress(ECHO) + b"garbage", "The body of the request is not gzip: "),
        ("deflate", zlib.compress(ECHO)[:-1], "The deflate body of the request ends early."),
        ("deflate", b"\xff\xff\xff", "The body of the request is not deflate: "),
    ],
)
def test_a_packed_body_that_is_damaged_is_400(coding: str, data: bytes, text: str) -> None:
    reply = post(gateway(), data, HTTP_CONTENT_ENCODING=coding, CONTENT_LENGTH=str(len(data)))
    assert reply.status == "400 Bad Request"
    assert text_of(reply).startswith(text)


def test_another_coding_is_415() -> None:
    reply = post(gateway(), ECHO, HTTP_CONTENT_ENCODING="br")
    assert reply.status == "415 Unsupported Media Type"
    assert text_of(reply) == "Content-Encoding is 'br'; gzip, deflate and identity are read here."


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"<?xml version='1.0'?><a/>", "XML"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
        (b'{"json": true}', "JSON"),
        (gzip.compress(ECHO), "gzip"),
        (zlib.compress(ECHO), "zlib"),
        (b"", "empty"),
        (b"\x0a\x0b\x01\x01", "AMF3"),
    ],
)
def test_what_is_no_packet_is_400_and_says_what_it_looks_like(
    data: bytes, word: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply = post(gateway(), data, CONTENT_LENGTH=str(len(data)))
    assert reply.status == "400 Bad Request"
    assert word in text_of(reply)
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage().startswith("400 Bad Request: ")


def test_an_input_that_raises_is_500_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            raise OSError("the client is gone")

    reply = post(gateway(), ECHO, wsgi_input=Broken())
    assert reply.status == "500 Internal Server Error"
    assert b"gone" not in reply.data
    assert "the client is gone" in caplog.text


# Construction


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"limits": 5}, "limits is an amfgate.Limits, not 5"),
        ({"classes": {}}, "classes is an amfgate.ClassRegistry, not {}"),
        ({"authenticate": 5}, "authenticate is a function check\\(userid, password\\), not 5"),
        ({"filters": [], "authenticate": print}, "filters= has Credentials in it"),
        ({"filters": [object()]}, "has neither on_request"),
        ({"actions": [Dispatch]}, "is the class Dispatch; put an instance in the list"),
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        gateway(**options)


def test_the_application_has_to_be_one() -> None:
    with pytest.raises(TypeError, match="app is a WSGI application or None, not 5"):
        Gateway(5, {})  # type: ignore[arg-type]
