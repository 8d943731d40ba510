"""`amfgate.testing`: an application called in this process."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Any
from wsgiref.validate import validator

import flask
import pytest

import amfgate.testing
from amfgate import Call, Exchange, Fault, Gateway, Limits
from amfgate.client import HttpError


class Shop:
    def buy(self, thing: str) -> str:
        return f"a {thing}"

    def boom(self, thing: str) -> None:
        raise LookupError(f"no {thing} left")

    def closed(self) -> None:
        raise Fault("Shop.Closed", "back at nine")

    def who(self, call: Call) -> Any:
        return call.user

    def environ(self, exchange: Exchange, name: str) -> Any:
        return exchange.environ.get(name)


GATEWAY = Gateway(None, {"shop": Shop()}, authenticate=lambda user, word: user if word == "pw" else None)


@pytest.fixture(params=[{}, {"version": 3}, {"flex": True}], ids=["AMF0", "AMF3", "Flex"])
def client(request: pytest.FixtureRequest) -> amfgate.testing.Client:
    return amfgate.testing.Client(GATEWAY, **request.param)


def test_a_call(client: amfgate.testing.Client) -> None:
    assert client.shop.buy("lens") == "a lens"


def test_a_batch(client: amfgate.testing.Client) -> None:
    with client.batch() as b:
        calls = [b.shop.buy("lens"), b.shop.closed(), b.shop.buy("loupe")]
    assert [calls[0].result, str(calls[1].fault), calls[2].result] == [
        "a lens",
        "shop.closed: Shop.Closed: back at nine",
        "a loupe",
    ]


def test_a_fault_shows_the_traceback_of_the_service(client: amfgate.testing.Client) -> None:
    with pytest.raises(Fault) as raised:
        client.shop.boom("lens")
    fault = raised.value
    assert (fault.code, fault.description) == ("Server.Processing", "The call failed; the log of the server says why.")
    assert isinstance(fault.__cause__, LookupError)
    report = "".join(traceback.format_exception(fault))
    assert "in boom\n" in report
    assert "LookupError: no lens left" in report


def test_each_fault_of_a_batch_has_its_own_cause(client: amfgate.testing.Client) -> None:
    with client.batch() as b:
        calls = [b.shop.boom("lens"), b.shop.buy("lens"), b.shop.closed(), b.shop.boom("loupe")]
    causes = [None if call.fault is None else repr(call.fault.__cause__) for call in calls]
    assert causes == [
        "LookupError('no lens left')",
        None,
        "Fault('Shop.Closed', 'back at nine')",
        "LookupError('no loupe left')",
    ]


def test_causes_can_be_left_out() -> None:
    with pytest.raises(Fault) as raised:
        amfgate.testing.Client(GATEWAY, causes=False).shop.boom("lens")
    assert raised.value.__cause__ is None


def test_a_fault_of_another_server_has_no_cause() -> None:
    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "application/x-amf")])
        return [amfgate.Packet(0, [], [amfgate.Body("/1/onStatus", "null", {"code": "C"})]).to_bytes()]

    with pytest.raises(Fault) as raised:
        amfgate.testing.Client(app).f()
    assert (raised.value.code, raised.value.__cause__) == ("C", None)


@pytest.mark.parametrize("flex", [False, True])
def test_credentials(flex: bool) -> None:
    assert amfgate.testing.Client(GATEWAY, flex=flex, credentials=("ada", "pw")).shop.who() == "ada"
    assert amfgate.testing.Client(GATEWAY, flex=flex).shop.who() is None


def test_the_environ_is_that_of_a_server_and_can_be_changed() -> None:
    client = amfgate.testing.Client(GATEWAY, environ={"REMOTE_ADDR": "203.0.113.7"}, http_headers={"X-Key": "k"})
    names = ("REQUEST_METHOD", "PATH_INFO", "REMOTE_ADDR", "HTTP_X_KEY", "CONTENT_TYPE", "HTTP_HOST", "SERVER_PORT")
    assert [client.shop.environ(name) for name in names] == [
        "POST", "/amf", "203.0.113.7", "k", "application/x-amf", "localhost", "80",
    ]  # fmt: skip


def test_the_request_and_its_answer_keep_the_rules_of_wsgi() -> None:
    assert amfgate.testing.Client(validator(GATEWAY), environ={"HTTP_ACCEPT": "*/*"}).shop.buy("lens") == "a lens"


@pytest.mark.parametrize(
    "path, environ",
    [
        ("/a%20b/amf", {"PATH_INFO": "/a b/amf", "QUERY_STRING": ""}),
        ("/ü?x=1", {"PATH_INFO": "/Ã¼", "QUERY_STRING": "x=1"}),
        (
            "https://example.org:8443/amf",
            {"wsgi.url_scheme": "https", "SERVER_PORT": "8443", "HTTP_HOST": "example.org:8443"},
        ),
        ("amf", {"PATH_INFO": "/amf"}),
    ],
)
def test_the_path_may_be_any(path: str, environ: dict[str, str]) -> None:
    seen: dict[str, Any] = {}

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        seen.update(environ)
        return GATEWAY({**environ, "PATH_INFO": "/amf"}, start_response)

    assert amfgate.testing.Client(app, path).shop.buy("lens") == "a lens"
    assert {name: seen[name] for name in environ} == environ


def test_a_flask_application_with_a_session() -> None:
    site = flask.Flask("site")
    site.secret_key = "k"

    class Counter:
        def step(self, exchange: Exchange) -> int:
            with site.request_context(exchange.environ):
                session = site.session_interface.open_session(site, flask.request)
                assert session is not None
                session["n"] = session.get("n", 0) + 1
                response = flask.Response()
                site.session_interface.save_session(site, session, response)
                cookie = response.headers["Set-Cookie"]
            kept.append(("Set-Cookie", cookie))
            return int(session["n"])

    kept: list[tuple[str, str]] = []
    gateway = Gateway(site.wsgi_app, {"counter": Counter()})

    def with_cookies(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return gateway(environ, lambda status, headers, exc=None: start_response(status, [*headers, *kept]))

    site.wsgi_app = with_cookies  # type: ignore[method-assign]
    client = amfgate.testing.Client(site)
    assert [client.counter.step(), client.counter.step()] == [1, 2]
    assert list(client.cookies) == ["session"]


def test_a_cookie_is_sent_until_it_is_taken_back() -> None:
    answers = iter([["a=1; Path=/", "b=x"], ["a=; Max-Age=0"], ["b=; expires=Thu, 01 Jan 1970 00:00:00 GMT"], []])
    sent: list[str] = []

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sent.append(environ.get("HTTP_COOKIE", ""))
        cookies = [("Set-Cookie", one) for one in next(answers)]
        return GATEWAY(environ, lambda status, headers, exc=None: start_response(status, [*headers, *cookies]))

    client = amfgate.testing.Client(app, cookies={"c": "0"})
    for _ in range(4):
        client.shop.who()
    assert sent == ["c=0", "c=0; a=1; b=x", "c=0; b=x", "c=0"]


def test_an_answer_that_is_no_packet() -> None:
    site = flask.Flask("site")
    with pytest.raises(HttpError) as raised:
        amfgate.testing.Client(site).shop.buy("lens")
    assert str(raised.value).startswith(
        "http://localhost/amf answered HTTP 404 NOT FOUND; text/html; charset=utf-8, 207 bytes"
    )


def test_an_exception_of_the_application_is_raised_as_it_is() -> None:
    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        raise LookupError("no lens left")

    with pytest.raises(LookupError, match="^no lens left$"):
        amfgate.testing.Client(app).shop.buy("lens")


def test_an_application_that_never_starts_its_answer() -> None:
    with pytest.raises(AssertionError, match="^the application answered without calling start_response$"):
        amfgate.testing.Client(lambda environ, start_response: []).f()


def test_the_body_is_closed_and_what_was_written_comes_first() -> None:
    closed: list[bool] = []

    class Parts(list[bytes]):
        def close(self) -> None:
            closed.append(True)

    answer = amfgate.Packet(0, [], [amfgate.Body("/1/onResult", "null", "ok")]).to_bytes()

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])(answer[:5])
        return Parts([answer[5:9], answer[9:]])

    assert amfgate.testing.Client(app).f() == "ok"
    assert closed == [True]


def test_limits_and_compression() -> None:
    assert amfgate.testing.Client(GATEWAY, compress=True).shop.environ("HTTP_CONTENT_ENCODING") == "gzip"
    with pytest.raises(HttpError, match=r"more than 20 bytes, the limit \(max_body\)$"):
        amfgate.testing.Client(GATEWAY, limits=Limits(max_body=20)).shop.buy("lens")


def test_what_is_no_application_is_an_error() -> None:
    with pytest.raises(TypeError, match="^app is a WSGI application, not 'x'$"):
        amfgate.testing.Client("x")  # type: ignore[arg-type]


def test_the_server_moves_the_client() -> None:
    class Mover:
        def move(self, exchange: Exchange) -> None:
            exchange.replace_gateway_url("/other?x=1")

        def here(self, exchange: Exchange) -> str:
            return exchange.environ["PATH_INFO"] + "?" + exchange.environ["QUERY_STRING"]

    client = amfgate.testing.Client(Gateway(None, {"mover": Mover()}, path=("/amf", "/other")))
    client.mover.move()
    assert client.mover.here() == "/other?x=1"
