"""Calls a gateway as a WSGI server would: what the gateway's tests share."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from typing import Any

from amfgate import Body, Header, Packet


class Reply:
    """What a WSGI application answered, its body read and closed."""

    def __init__(self, status: str, headers: list[tuple[str, str]], data: bytes) -> None:
        self.status = status
        self.headers = dict(headers)
        self.data = data

    @property
    def packet(self) -> Packet:
        return Packet.from_bytes(self.data)

    @property
    def bodies(self) -> list[Body]:
        return self.packet.bodies

    @property
    def value(self) -> Any:
        """The value of the only body."""
        (body,) = self.bodies
        return body.value

    @property
    def codes(self) -> list[Any]:
        """Of each body the code of its fault, None for a result."""
        return [body.value["code"] if body.target.endswith("/onStatus") else None for body in self.bodies]


def environ(data: bytes = b"", **more: Any) -> dict[str, Any]:
    """An environ for a POST of `data` to /amf; `more` replaces entries, None takes one out."""
    entries: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/amf",
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": "application/x-amf",
        "CONTENT_LENGTH": str(len(data)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(data),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in more.items():
        entries[name.replace("wsgi_", "wsgi.")] = value
    return {name: value for name, value in entries.items() if value is not None}


def run(app: Any, entries: dict[str, Any]) -> Reply:
    """Call a WSGI application, read its body and close it."""
    seen: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        seen.update(status=status, headers=headers)

    body = app(entries, start_response)
    try:
        data = b"".join(body)
    finally:
        close = getattr(body, "close", None)
        if close is not None:
            close()
    return Reply(seen["status"], seen["headers"], data)


def post(app: Any, data: bytes, **more: Any) -> Reply:
    return run(app, environ(data, **more))


def packet(*calls: tuple[str, list[Any]], version: int = 0, headers: Iterable[Header] = ()) -> bytes:
    """A request of calls, each a target and its arguments; the responses are /1, /2 and so on."""
    bodies = [Body(target, f"/{number}", args) for number, (target, args) in enumerate(calls, 1)]
    return Packet(version, headers, bodies).to_bytes()


def call(app: Any, target: str, *args: Any, version: int = 0, headers: Iterable[Header] = ()) -> Reply:
    """Make one call."""
    return post(app, packet((target, list(args)), version=version, headers=headers))
