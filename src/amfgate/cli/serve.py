"""`amfgate serve`: a gateway on this machine, to try things with."""

from __future__ import annotations

import socketserver
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click

from ..gateway import Gateway
from ..services import ServiceRegistry
from .loading import load
from .options import debug_option


@click.command()
@click.argument("app", metavar="MODULE:APP")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--path", default="/amf", show_default=True, help="Where services are reached; for a mapping of services."
)
@debug_option
def serve(app: str, host: str, port: int, path: str) -> None:
    """Serve a WSGI application, or services alone, for development.

    MODULE:APP is as for other WSGI servers, or FILE.py:APP; APP may have dots, and be a call without
    arguments, `create_app()`. It is an application, a Gateway, or what Gateway takes as services: a mapping of names to
    objects. waitress serves if it is installed, else Python's wsgiref.

    \b
    amfgate serve shop:app
    amfgate serve examples/shop.py:services --port 9000

    It is not hardened: put a real server in front of people.
    """
    application = _application(load(app), path, app)
    try:
        from waitress import create_server  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        _serve_wsgiref(application, host, port)
        return
    server = create_server(application, host=host, port=port)
    _announce(host, server.effective_port, "waitress")
    server.run()


def _application(value: Any, path: str, name: str) -> Callable[..., Iterable[bytes]]:
    if isinstance(value, (Mapping, ServiceRegistry, list, tuple)):
        gateway = Gateway(_nothing_else, value, path=path)
        click.echo(f"the services of {name} are reached at {path}", err=True)
        return gateway
    if not callable(value):
        raise click.UsageError(f"{name} is no WSGI application and no mapping of services, but {value!r}")
    application: Callable[..., Iterable[bytes]] = value
    return application


def _nothing_else(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
    return [b"There is nothing here but the gateway.\n"]


def _announce(host: str, port: int, server: str) -> None:
    click.echo(f"serving on http://{f'[{host}]' if ':' in host else host}:{port}/ with {server}; Ctrl+C stops")
    sys.stdout.flush()


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        click.echo(f"{self.address_string()} {format % args}", err=True)


def _serve_wsgiref(application: Callable[..., Iterable[bytes]], host: str, port: int) -> None:
    with make_server(host, port, application, server_class=_Server, handler_class=_Handler) as server:
        _announce(host, server.server_port, "wsgiref")
        server.serve_forever()
