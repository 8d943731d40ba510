"""What is measured of the gateway: one call as a Flex client sends it, and a request for somebody else.

The packet is put together here, byte by byte, and not by amfgate: the peers get the same one.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Callable, Iterable
from typing import Any

import data
import peers

Environ = dict[str, Any]
MESSAGE = "flex.messaging.messages.RemotingMessage"
MESSAGE_ID = "0D1C7B42-9A3E-4F7A-8F3C-2B6E8D10A5C4"
TEXT = "The quick brown fox jumps over the lazy dog"


def text(value: str) -> bytes:
    """An AMF3 string without its marker, never a reference; shorter than 64 bytes: one byte holds its length."""
    return bytes([len(value) << 1 | 1]) + value.encode("ascii")


def flex_request() -> bytes:
    """A RemoteObject call, echo.echo(TEXT), 289 bytes: version 3, an AMF0 array holding one AMF3 RemotingMessage."""
    names = (
        "body",
        "clientId",
        "destination",
        "headers",
        "messageId",
        "operation",
        "source",
        "timestamp",
        "timeToLive",
    )
    members = (
        b"\x09\x03\x01\x06" + text(TEXT),  # the arguments, an array of one
        b"\x01",
        b"\x06" + text("echo"),
        b"\x0a\x0b\x01"
        + text("DSEndpoint")
        + b"\x06"
        + text("channel-amf")
        + text("DSId")
        + b"\x06"
        + text("nil")
        + b"\x01",
        b"\x06" + text(MESSAGE_ID),
        b"\x06" + bytes([11 << 1]),  # "echo", the string of number 11
        b"\x01",
        b"\x04\x00",
        b"\x04\x00",
    )
    message = b"\x0a\x81\x13" + text(MESSAGE) + b"".join(map(text, names)) + b"".join(members)
    return packet("null", b"\x0a\x00\x00\x00\x01\x11" + message)


def plain_request() -> bytes:
    """The same call as NetConnection sends it: the target in the packet, the argument in AMF0."""
    return packet("echo.echo", b"\x0a\x00\x00\x00\x01\x02" + len(TEXT).to_bytes(2, "big") + TEXT.encode("ascii"))


def packet(target: str, body: bytes) -> bytes:
    """A packet of version 3 with one body, to be answered to /1."""
    name = len(target).to_bytes(2, "big") + target.encode("ascii")
    return b"\x00\x03\x00\x00\x00\x01" + name + b"\x00\x02/1" + len(body).to_bytes(4, "big") + body


def request(packet: bytes, path: str = "/amf", method: str = "POST") -> Environ:
    """The environ of a request, as a server passes it."""
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/x-amf",
        "CONTENT_LENGTH": str(len(packet)),
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_USER_AGENT": "Mozilla/5.0",
        "HTTP_ACCEPT": "*/*",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
    """What a server's start_response costs is not measured."""


def caller(app: Callable[..., Iterable[bytes]], environ: Environ, packet: bytes) -> Callable[[None], bytes]:
    """A function that makes one request as a server does: fresh environ, fresh body, reply joined, closed."""

    def call(_: None) -> bytes:
        fresh = environ.copy()
        fresh["wsgi.input"] = io.BytesIO(packet)
        answer = app(fresh, start_response)
        try:
            return b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()

    return call


def empty_app(environ: Environ, start_response: Callable[..., Any]) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


class Echo:
    """The service that is called."""

    def echo(self, value: Any) -> Any:
        return value


def amfgate_gateway(services: dict[str, Any] | None = None, app: Any = empty_app) -> Any:
    """amfgate's, with its default filters and actions."""
    import amfgate

    return amfgate.Gateway(app, {"echo": Echo()} if services is None else services)


def py3amf_gateway(directory: str) -> tuple[Any, contextlib.AbstractContextManager[Any]]:
    """Py3AMF's WSGIGateway over the same service, and the scope in which it runs.  ImportError if it is absent."""
    scope = peers.ISOLATED[directory]
    with scope:
        module = importlib.import_module("pyamf.remoting.gateway.wsgi")
        importlib.import_module("pyamf.remoting.amf3")
        importlib.import_module("pyamf.flex.messaging")
        return module.WSGIGateway({"echo": Echo()}), scope


def echoed(reply: bytes) -> bool:
    """Whether a reply says what the client asked to be said: to the right responder, with the text, and no fault."""
    return reply[:6] == b"\x00\x03\x00\x00\x00\x01" and b"/1/onResult" in reply and TEXT.encode("ascii") in reply


class Rows:
    """The service behind gunicorn: W1 as a result."""

    def page(self) -> list[dict[str, Any]]:
        return data.w1()


def rows_request() -> bytes:
    """A call of `rows.page` without arguments, as NetConnection sends it."""
    return packet("rows.page", b"\x0a\x00\x00\x00\x00")
