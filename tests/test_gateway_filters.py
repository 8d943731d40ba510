"""Filters in a gateway: their order, answers of their own, their errors, and what is deferred."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from wsgi_client import call, environ, packet, post, run

from amfgate import Gateway, Packet, Response
from amfgate.filters import Dispatch, PacketCodec
from amfgate.gateway import default_filters
from amfgate.pipeline import Exchange, plain


class Echo:
    def echo(self, *values: Any) -> Any:
        return values[0] if values else "pong"


ECHO = packet(("svc.echo", ["hello"]))


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"svc": Echo()}, **options)


class Body:
    """A body that knows how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Any:
        return iter([b"yours"])

    def close(self) -> None:
        self.closed += 1


class Recorder:
    def __init__(self, log: list[str], name: str = "r") -> None:
        self.log = log
        self.name = name

    def on_request(self, exchange: Exchange) -> None:
        self.log.append("+" + self.name)

    def on_response(self, exchange: Exchange) -> None:
        self.log.append("-" + self.name)


def with_filters(*filters: Any) -> Gateway:
    return Gateway(None, {"svc": Echo()}, filters=filters)


def test_default_filters_are_a_fresh_list_to_edit() -> None:
    log: list[str] = []
    filters = default_filters()
    filters.insert(1, Recorder(log))
    assert call(Gateway(None, {"svc": Echo()}, filters=filters), "svc.echo", 1).value == 1
    assert log == ["+r", "-r"]
    assert len(default_filters()) == 3


def test_the_repr_prints_the_order() -> None:
    assert repr(gateway()) == ("<Gateway /amf: PacketCodec, Flex, Dispatch(find, authorize, bind, invoke, adapt)>")
    app = gateway(path=("/", "/b/"), authenticate=lambda userid, password: None)
    assert repr(app) == (
        "<Gateway /, /b: PacketCodec, Credentials, Flex, Dispatch(find, authorize, bind, invoke, adapt)>"
    )


def test_a_filter_may_answer_with_a_response_of_its_own() -> None:
    log: list[str] = []

    def closed(exchange: Exchange) -> None:
        exchange.response = Response(503, "come back later", {"Retry-After": "60"})

    for filters in (
        [Recorder(log), closed, PacketCodec(), Dispatch()],
        [PacketCodec(), Recorder(log), closed, Dispatch()],
    ):
        reply = post(with_filters(*filters), ECHO)
        assert reply.status == "503 Service Unavailable"
        assert reply.data == b"come back later"
        assert reply.headers == {
            "Retry-After": "60",
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": "15",
        }
    assert log == ["+r", "-r", "+r", "-r"]


def test_a_response_may_be_an_iterable_that_is_closed() -> None:
    body = Body()

    def stream(exchange: Exchange) -> None:
        exchange.response = Response("200 OK", body, [("Content-Type", "text/html")])

    reply = post(with_filters(stream), b"")
    assert reply.data == b"yours"
    assert reply.headers == {"Content-Type": "text/html"}
    assert body.closed == 1


@pytest.mark.parametrize("status", ["OK", "200", 5, "", "2000 OK"])
def test_a_status_has_to_be_one(status: Any) -> None:
    with pytest.raises(ValueError, match="a status is a number or a line such as '403 Forbidden'"):
        Response(status)


def test_plain_is_a_short_answer() -> None:
    response = plain(413, "too much", [("X-A", "b")])
    assert response.status[:3] == "413"
    assert response.body == b"too much\n"
    assert ("X-A", "b") in response.headers


def test_a_filter_may_answer_get_in_front_of_the_codec() -> None:
    def page(exchange: Exchange) -> None:
        if exchange.environ["REQUEST_METHOD"] == "GET":
            exchange.response = Response(200, b"<h1>Hello</h1>", [("Content-Type", "text/html")])

    app = with_filters(page, *default_filters())
    assert run(app, environ(REQUEST_METHOD="GET")).data == b"<h1>Hello</h1>"
    assert post(app, ECHO).value == "hello"


def test_a_filter_sees_request_and_reply_as_packets() -> None:
    seen: list[Any] = []

    class Look:
        def on_request(self, exchange: Exchange) -> None:
            assert exchange.request is not None
            seen.append([body.target for body in exchange.request.bodies])
            seen.append(exchange.data)

        def on_response(self, exchange: Exchange) -> None:
            assert isinstance(exchange.response, Packet)
            seen.append([body.value for body in exchange.response.bodies])
            exchange.response.bodies[0].value = "changed"

    assert post(with_filters(PacketCodec(), Look(), Dispatch()), ECHO).value == "changed"
    assert seen == [["svc.echo"], ECHO, ["hello"]]


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("side", ["on_request", "on_response"])
def test_an_error_of_a_filter_behind_the_codec_is_a_fault_for_each_call(place: int, side: str) -> None:
    class Failing:
        pass

    def hook(self: Any, exchange: Exchange) -> None:
        raise ValueError("secret")

    setattr(Failing, side, hook)
    filters = default_filters()
    filters.insert(place, Failing())
    reply = post(with_filters(*filters), packet(("svc.echo", [1]), ("svc.nothing", []), ("svc.echo", [3])))
    assert reply.status == "200 OK"
    if place == 3:  # behind Dispatch nobody is entered
        assert reply.codes == [None, "Server.ResourceNotFound", None]
    elif side == "on_request":
        assert reply.codes == ["Server.Processing"] * 3
    else:
        assert reply.codes == ["Server.Processing", "Server.ResourceNotFound", "Server.Processing"]
    assert b"secret" not in reply.data


def test_an_error_of_a_filter_in_front_of_the_codec_is_500_on_the_way_in() -> None:
    def failing(exchange: Exchange) -> None:
        raise ValueError("secret")

    reply = post(with_filters(failing, *default_filters()), ECHO)
    assert reply.status == "500 Internal Server Error"
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.data == b"Server.Processing: The call failed; the log of the server says why.\n"


def test_an_error_of_a_filter_in_front_of_the_codec_is_a_fault_on_the_way_back() -> None:
    class Late:
        def on_response(self, exchange: Exchange) -> None:
            raise ValueError("secret")

    reply = post(with_filters(Late(), *default_filters()), packet(("svc.echo", [1]), ("svc.echo", [2])))
    assert reply.status == "200 OK"
    assert reply.codes == ["Server.Processing", "Server.Processing"]
    assert [body.target for body in reply.bodies] == ["/1/onStatus", "/2/onStatus"]


def test_filters_that_answer_nothing_are_a_fault() -> None:
    app = Gateway(None, {}, filters=[PacketCodec()], debug=True)
    assert post(app, ECHO).value["description"] == ("RuntimeError: no filter answered; the last one has to be Dispatch")
    reply = post(Gateway(None, {}, filters=[], debug=True), ECHO)
    assert reply.status == "500 Internal Server Error"
    assert b"no filter answered; the list has to hold PacketCodec() and end with Dispatch()" in reply.data


def test_a_response_that_is_none_is_an_error() -> None:
    def wrong(exchange: Exchange) -> None:
        exchange.response = b"bytes"  # type: ignore[assignment]

    reply = post(Gateway(None, {}, filters=[wrong], debug=True), ECHO)
    assert reply.status == "500 Internal Server Error"
    assert b"exchange.response is an amfgate.Response or a Packet, not b'bytes'" in reply.data


# Deferred


def deferring(function: Any) -> Gateway:
    return with_filters(function, *default_filters())


def test_deferred_functions_run_when_the_body_is_closed_the_last_first_and_once() -> None:
    log: list[Any] = []

    def defer(exchange: Exchange) -> None:
        exchange.defer(log.append, "first")
        exchange.defer(log.append, "second")

    body = deferring(defer)(environ(ECHO), lambda status, headers: None)
    data = b"".join(body)
    assert log == []
    assert Packet.from_bytes(data).bodies[0].value == "hello"
    body.close()  # type: ignore[attr-defined]
    assert log == ["second", "first"]
    body.close()  # type: ignore[attr-defined]
    assert log == ["second", "first"]


def test_each_deferred_function_is_isolated(caplog: pytest.LogCaptureFixture) -> None:
    log: list[str] = []

    def broken() -> None:
        raise ValueError("broken")

    def defer(exchange: Exchange) -> None:
        exchange.defer(log.append, "first")
        exchange.defer(broken)
        exchange.defer(log.append, "third")

    assert post(deferring(defer), ECHO).value == "hello"
    assert log == ["third", "first"]
    assert "deferred broken failed: ValueError: broken" in caplog.text


def test_what_is_deferred_while_deferred_functions_run_runs_too() -> None:
    log: list[str] = []

    def defer(exchange: Exchange) -> None:
        exchange.defer(lambda: exchange.defer(log.append, "inner"))

    post(deferring(defer), ECHO)
    assert log == ["inner"]


def test_deferred_functions_run_when_start_response_fails() -> None:
    log: list[str] = []

    def start_response(status: str, headers: Any) -> None:
        raise RuntimeError("the server is gone")

    app = deferring(lambda exchange: exchange.defer(log.append, "done"))
    with pytest.raises(RuntimeError):
        app(environ(ECHO), start_response)
    assert log == ["done"]


def test_deferred_functions_run_when_the_body_that_is_closed_fails() -> None:
    log: list[str] = []

    class Failing(Body):
        def close(self) -> None:
            raise ValueError("close")

    def stream(exchange: Exchange) -> None:
        exchange.defer(log.append, "done")
        exchange.response = Response(200, Failing())

    with pytest.raises(ValueError, match="close"):
        post(with_filters(stream), ECHO)
    assert log == ["done"]


def test_a_body_that_is_never_read_is_closed_too() -> None:
    log: list[str] = []
    body = deferring(lambda exchange: exchange.defer(log.append, "done"))(environ(ECHO), lambda *args: None)
    body.close()  # type: ignore[attr-defined]
    assert log == ["done"]


def test_defer_takes_a_function() -> None:
    with pytest.raises(TypeError, match="defer\\(\\) takes a function and its arguments, not 5"):
        Exchange({}, gateway()).defer(5)  # type: ignore[arg-type]


# Many


def test_ten_thousand_filters_are_run_by_one_loop() -> None:
    class Counting:
        entered = left = 0

        def on_request(self, exchange: Exchange) -> None:
            self.entered += 1

        def on_response(self, exchange: Exchange) -> None:
            self.left += 1

    counting = Counting()
    filters = default_filters()
    filters[1:1] = [counting] * 10_000
    assert call(Gateway(None, {"svc": Echo()}, filters=filters), "svc.echo", 1).value == 1
    assert (counting.entered, counting.left) == (10_000, 10_000)


# Threads


def test_eight_threads_get_their_own_answers() -> None:
    app = gateway()
    wrong: list[Any] = []

    def work(number: int) -> None:
        for turn in range(100):
            values = [f"{number}/{turn}/{n}" for n in range(3)]
            reply = post(app, packet(*[("svc.echo", [value]) for value in values]))
            if [body.value for body in reply.bodies] != values:
                wrong.append(values)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
