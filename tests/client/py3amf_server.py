"""Py3AMF's gateway, on a free port of 127.0.0.1, which it prints: the server of test_client_py3amf.py."""

from __future__ import annotations

import logging
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from pyamf.remoting.gateway.wsgi import WSGIGateway


def echo(value: Any) -> Any:
    return value


def boom() -> None:
    raise ValueError("closed")


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


logging.disable()
gateway = WSGIGateway({"shop.echo": echo, "shop.boom": boom})
guarded = WSGIGateway({"shop.echo": echo}, authenticator=lambda user, password: (user, password) == ("ada", "pw"))


def site(environ: dict[str, Any], start_response: Any) -> Any:
    return (guarded if environ["PATH_INFO"] == "/guarded" else gateway)(environ, start_response)


server = make_server("127.0.0.1", 0, site, handler_class=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
