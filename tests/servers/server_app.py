"""The application that every server of test_servers.py serves: a small site, and services beside it.

`application` is what servers load.  Run as a program it is served by the standard library, under wsgiref.validate,
which raises for each breach of PEP 3333 by server, gateway or application:

    python server_app.py PORT
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from typing import Any

import amfgate

# A line for each reply that a server has closed.
CLOSED = os.environ.get("AMFGATE_TEST_CLOSED", os.devnull)


def site(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    if environ["REQUEST_METHOD"] == "POST":
        left = int(environ["CONTENT_LENGTH"])
        parts = []
        while left:
            parts.append(environ["wsgi.input"].read(left))
            left -= len(parts[-1])
        size = ("Content-Length", environ["CONTENT_LENGTH"])
        start_response("200 OK", [("Content-Type", "application/octet-stream"), size])
        return parts
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"site\n"]


class Probe:
    def echo(self, value: Any) -> Any:
        return value

    def blob(self, size: int) -> bytes:
        return bytes(range(256)) * (size // 256)

    def which(self) -> str:
        return amfgate.IMPLEMENTATION

    def worker(self) -> list[int]:
        return [os.getpid(), threading.get_ident()]

    def close(self, exchange: amfgate.Exchange, word: str) -> str:
        exchange.defer(note, word)
        return word

    def seen(self, call: amfgate.Call, *names: str) -> list[Any]:
        return [call.exchange.environ.get(name) for name in names]

    def fail(self) -> None:
        raise amfgate.Fault("Probe.Failed", "on purpose")


def note(word: str) -> None:
    with open(CLOSED, "a") as file:
        file.write(word + "\n")


application = amfgate.Gateway(site, {"probe": Probe()}, limits=amfgate.Limits(max_body=2 << 20))


def main(port: int) -> None:
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
    from wsgiref.validate import validator

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    def recorded(environ: dict[str, Any], start_response: Any) -> Any:
        try:
            return validator(application)(environ, start_response)
        except AssertionError as error:
            print(f"PEP 3333: {error}", file=sys.stderr, flush=True)
            raise

    WSGIServer.request_queue_size = 64  # of connections that wait: it serves one at a time
    with make_server("127.0.0.1", port, recorded, handler_class=Quiet) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
