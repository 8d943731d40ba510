"""Frameworks without a module of their own here: the gateway around what they make."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import wsgi_client

import amfgate


def flask() -> Any:
    import flask

    app = flask.Flask("site")
    app.add_url_rule("/hello", view_func=lambda: "hello from the site")
    app.add_url_rule("/echo", view_func=lambda: flask.request.get_data(), methods=["POST"], endpoint="echo")
    return app


def pyramid() -> Any:
    with warnings.catch_warnings(action="ignore"):  # WebOb imports `cgi`
        from pyramid.config import Configurator
        from pyramid.response import Response

    with Configurator() as config:
        config.add_route("hello", "/hello")
        config.add_route("echo", "/echo")
        config.add_view(lambda request: Response("hello from the site"), route_name="hello")
        config.add_view(lambda request: Response(request.body), route_name="echo")
        return config.make_wsgi_app()


def falcon() -> Any:
    import falcon

    class Hello:
        def on_get(self, request: Any, response: Any) -> None:
            response.text = "hello from the site"

    class Echo:
        def on_post(self, request: Any, response: Any) -> None:
            response.data = request.bounded_stream.read()

    app = falcon.App()
    app.add_route("/hello", Hello())
    app.add_route("/echo", Echo())
    return app


def bottle() -> Any:
    import bottle

    app = bottle.Bottle()
    app.get("/hello", callback=lambda: "hello from the site")
    app.post("/echo", callback=lambda: bottle.request.body.read())
    return app


@pytest.mark.parametrize("make", [flask, pyramid, falcon, bottle])
def test_a_site_and_its_services_share_an_address(make: Callable[[], Any]) -> None:
    class Shop:
        def total(self, prices: list[float]) -> float:
            return sum(prices)

    app = amfgate.Gateway(make(), {"shop": Shop()})
    assert wsgi_client.call(app, "shop.total", [1.5, 2.0]).value == 3.5

    hello = wsgi_client.run(app, wsgi_client.environ(REQUEST_METHOD="GET", PATH_INFO="/hello"))
    assert (hello.status, hello.data) == ("200 OK", b"hello from the site")
    echo = wsgi_client.post(app, b"a body of the site's", PATH_INFO="/echo", CONTENT_TYPE="text/plain")
    assert (echo.status, echo.data) == ("200 OK", b"a body of the site's")
    missing = wsgi_client.run(app, wsgi_client.environ(REQUEST_METHOD="GET", PATH_INFO="/nowhere"))
    assert missing.status[:3] == "404"
