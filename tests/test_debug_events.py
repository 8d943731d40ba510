"""The header amf_server_debug and `/onDebugEvents`: what a call logged, and where its time went."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from wsgi_client import Reply, call, packet, post

import amfgate
from amfgate import Body, Exchange, Gateway, Header, Packet, TypedObject
from amfgate.filters import debug_events
from amfgate.gateway import default_filters

ASKED = [Header("amf_server_debug", True, True)]
log = logging.getLogger("shop")


@pytest.fixture(autouse=True)
def factory() -> Iterator[None]:
    """The record factory of `logging` is as before afterwards, and the logger lets everything through."""
    before, level = logging.getLogRecordFactory(), log.level
    log.setLevel(logging.DEBUG)
    yield
    logging.setLogRecordFactory(before)
    log.setLevel(level)


class Shop:
    def page(self, number: int) -> list[int]:
        log.info("page %d", number)
        log.debug("of %s", "the catalog")
        return [number]

    def slow(self) -> None:
        time.sleep(0.02)

    def say(self, text: str) -> None:
        log.warning(text)

    def fail(self) -> None:
        raise ValueError("broken")

    def cannot(self) -> Any:
        return object()


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"shop": Shop()}, **{"debug": True, **options})


def events_of(reply: Reply) -> list[Any]:
    """The events of the last body of a reply."""
    body = reply.bodies[-1]
    assert body.target.endswith("/onDebugEvents")
    (events,) = body.value
    return list(events)


def messages(reply: Reply) -> list[str]:
    return list(events_of(reply)[0]["messages"])


@pytest.mark.parametrize("version", [0, 3])
def test_one_more_body_tells_what_was_logged_and_the_times(version: int) -> None:
    before = time.time()
    reply = call(gateway(), "shop.page", 3, headers=ASKED, version=version)
    after = time.time()
    first, second = reply.bodies
    assert first == Body("/1/onResult", "null", [3])
    assert (second.target, second.response) == ("/1/onDebugEvents", "null")
    trace, profiling = events_of(reply)
    moment = trace.pop("Time")
    assert before * 1000 - 1 <= moment <= after * 1000 + 1
    date = trace.pop("Date")
    assert isinstance(date, datetime) and abs(date.timestamp() * 1000 - moment) < 1
    assert trace == {"EventType": "trace", "Source": "Server", "messages": ["page 3", "of the catalog"]}
    assert list(profiling) == [
        "EventType",
        "includeTime",
        "decodeTime",
        "callTime",
        "encodeTime",
        "frameworkTime",
        "totalTime",
    ]
    assert profiling["EventType"] == "profiling"
    assert profiling["includeTime"] == 0


def test_the_bytes_of_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([10.0, 10.001, 10.002, 10.006, 10.007, 10.0095])
    # reading begins and ends, the call begins and ends, encoding begins and ends
    monkeypatch.setattr("amfgate.filters.packet_codec.perf_counter", lambda: next(ticks))
    monkeypatch.setattr("amfgate.filters.dispatch.perf_counter", lambda: next(ticks))
    monkeypatch.setattr("amfgate.filters.debug_events.perf_counter", lambda: next(ticks))
    monkeypatch.setattr("amfgate.filters.debug_events.time", lambda: 1.5)
    reply = call(gateway(), "shop.say", "low", headers=ASKED)
    assert list(ticks) == []
    expected = """
        0010 2f312f6f6e44656275674576656e7473 0004 6e756c6c 00000101
        0a 00000001 0a 00000002
        03 0009 4576656e7454797065 02 0005 7472616365
           0004 54696d65 00 4097700000000000
           0006 536f75726365 02 0006 536572766572
           0004 44617465 0b 4097700000000000 0000
           0008 6d65737361676573 0a 00000001 02 0003 6c6f77 000009
        03 0009 4576656e7454797065 02 0009 70726f66696c696e67
           000b 696e636c75646554696d65 00 0000000000000000
           000a 6465636f646554696d65 00 3ff0000000000000
           0008 63616c6c54696d65 00 4010000000000000
           000a 656e636f646554696d65 00 4004000000000000
           000d 6672616d65776f726b54696d65 00 4000000000000000
           0009 746f74616c54696d65 00 4023000000000000 000009
    """
    assert reply.data.endswith(bytes.fromhex(expected))


def test_the_times_are_milliseconds_and_add_up() -> None:
    profiling = events_of(call(gateway(), "shop.slow", headers=ASKED))[1]
    assert 20 <= profiling["callTime"] < 2000
    parts = ("includeTime", "decodeTime", "callTime", "encodeTime", "frameworkTime")
    assert all(profiling[part] >= 0 for part in parts)
    assert sum(profiling[part] for part in parts) == pytest.approx(profiling["totalTime"], abs=0.01)


def test_the_time_of_encoding_is_that_of_all_bodies() -> None:
    def slowly() -> Iterator[int]:
        time.sleep(0.02)
        yield 1

    app = Gateway(None, {"slowly": slowly}, debug=True)
    profiling = events_of(post(app, packet(("slowly", []), ("slowly", []), headers=ASKED)))[1]
    assert 40 <= profiling["encodeTime"] < 2000
    assert profiling["callTime"] < 40


def test_the_calls_of_a_packet_share_one_body_for_the_last_of_them() -> None:
    reply = post(gateway(), packet(("shop.page", [1]), ("shop.page", [2]), headers=ASKED))
    assert [body.target for body in reply.bodies] == ["/1/onResult", "/2/onResult", "/2/onDebugEvents"]
    assert messages(reply) == ["page 1", "of the catalog", "page 2", "of the catalog"]


def test_a_flex_message_has_its_events_too() -> None:
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "shop", "operation": "page", "body": [5], "messageId": "A"},
    )
    reply = post(gateway(), Packet(3, ASKED, [Body("null", "/4", [message])]).to_bytes())
    assert [body.target for body in reply.bodies] == ["/4/onResult", "/4/onDebugEvents"]
    assert messages(reply) == ["page 5", "of the catalog"]


def test_faults_are_among_what_was_logged() -> None:
    reply = post(gateway(), packet(("shop.fail", []), ("shop.cannot", []), headers=ASKED))
    assert reply.codes == ["Server.Processing", "Server.Processing", None]
    first, second = messages(reply)
    assert first == "shop.fail failed: Server.Processing: ValueError: broken"
    assert second.startswith("shop.cannot failed: Server.Processing: EncodeError")


def test_a_packet_that_fails_as_a_whole_has_its_events() -> None:
    app = gateway(authenticate=lambda userid, password: None)
    credentials = Header("Credentials", {"userid": "ada", "password": "x"})
    reply = call(app, "shop.page", 1, headers=[*ASKED, credentials])
    assert reply.codes == ["Client.Authentication", None]
    assert messages(reply) == ["packet of 1 calls failed: Client.Authentication: the user id or the password is wrong"]
    reply = call(gateway(), "shop.page", 1, headers=[*ASKED, Header("Strange", 1, True)])
    assert reply.codes == ["Client.Header.MustUnderstand", None]


def test_a_description_has_its_events() -> None:
    reply = call(gateway(), "shop", headers=[*ASKED, Header("DescribeService", 0)])
    assert reply.bodies[0].value["address"] == "shop"
    assert [event["EventType"] for event in events_of(reply)] == ["trace", "profiling"]


# Who gets it


def test_without_debug_the_header_is_understood_and_nothing_comes_of_it() -> None:
    before = logging.getLogRecordFactory()
    reply = call(gateway(debug=False), "shop.page", 3, headers=ASKED)
    assert reply.bodies == [Body("/1/onResult", "null", [3])]
    assert logging.getLogRecordFactory() is before


def test_without_the_header_debug_adds_nothing() -> None:
    before = logging.getLogRecordFactory()
    reply = call(gateway(), "shop.page", 3, headers=[Header("Other", 1)])
    assert reply.bodies == [Body("/1/onResult", "null", [3])]
    assert logging.getLogRecordFactory() is before


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (True, ["trace", "profiling"]),
        (None, ["trace", "profiling"]),
        ({}, ["trace", "profiling"]),
        ({"m_debug": True, "trace": True, "error": False}, ["trace", "profiling"]),
        (TypedObject("NetDebugConfig", {"m_debug": True, "trace": False}), ["profiling"]),
        ({"trace": False}, ["profiling"]),
        ({"m_debug": False, "trace": True}, None),
        (TypedObject("NetDebugConfig", {"m_debug": False}), None),
        (False, None),
    ],
)
@pytest.mark.parametrize("version", [0, 3])
def test_the_value_of_the_header_says_what_is_wanted(value: Any, kinds: list[str] | None, version: int) -> None:
    reply = call(gateway(), "shop.page", 3, headers=[Header("amf_server_debug", value)], version=version)
    if kinds is None:
        assert len(reply.bodies) == 1
    else:
        assert [event["EventType"] for event in events_of(reply)] == kinds


def test_of_several_headers_the_last_one_counts() -> None:
    both = [Header("amf_server_debug", True), Header("amf_server_debug", False)]
    assert len(call(gateway(), "shop.page", 3, headers=both).bodies) == 1
    assert len(call(gateway(), "shop.page", 3, headers=both[::-1]).bodies) == 2


def test_a_packet_without_calls_has_no_response_to_send_events_to() -> None:
    assert post(gateway(), packet(headers=ASKED)).bodies == []


def test_a_response_too_long_to_make_a_target_of_gets_no_events() -> None:
    data = Packet(0, ASKED, [Body("shop.page", "/" * 65_000, [1])]).to_bytes()
    assert [body.target for body in post(gateway(), data).bodies] == ["/" * 65_000 + "/onResult"]


def test_a_filter_that_answers_by_itself_has_its_answer_sent() -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.response = amfgate.Response(403, "no")

    filters = default_filters()
    filters.insert(1, refuse)
    app = gateway(filters=filters)
    assert call(app, "shop.page", 1, headers=ASKED).data == b"no"
    log.warning("afterwards")  # nobody collects any more
    assert messages(call(gateway(), "shop.say", "x", headers=ASKED)) == ["x"]


def test_the_client_of_this_package_passes_the_events_by() -> None:
    with amfgate.testing.Client(gateway(), headers={"amf_server_debug": True}) as client:
        assert client.call("shop.page", 3) == [3]


# What is collected


def test_what_other_threads_log_is_theirs() -> None:
    def ask(number: int, found: dict[int, list[str]], barrier: threading.Barrier) -> None:
        def work() -> None:
            for step in range(5):
                barrier.wait(10)
                log.info("%d %d", number, step)

        app = Gateway(None, {"work": work}, debug=True)
        found[number] = messages(call(app, "work", headers=ASKED))

    found: dict[int, list[str]] = {}
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=ask, args=(number, found, barrier)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == {number: [f"{number} {step}" for step in range(5)] for number in range(4)}


def test_a_request_of_another_thread_that_does_not_ask_is_not_heard() -> None:
    def other() -> None:
        thread = threading.Thread(target=call, args=(gateway(), "shop.page", 9))
        thread.start()
        thread.join(10)
        log.info("mine")

    assert messages(call(Gateway(None, {"other": other}, debug=True), "other", headers=ASKED)) == ["mine"]


def test_what_runs_in_an_event_loop_of_the_call_is_heard() -> None:
    async def work() -> None:
        await asyncio.gather(*(asyncio.to_thread(log.info, "part %d", 1), asyncio.sleep(0)))
        log.info("whole")

    app = Gateway(None, {"work": lambda: asyncio.run(work())}, debug=True)
    assert messages(call(app, "work", headers=ASKED)) == ["part 1", "whole"]


def test_a_gateway_that_a_service_calls_has_events_of_its_own() -> None:
    inner: list[list[str]] = []

    def outer() -> None:
        log.info("before")
        inner.append(messages(call(gateway(), "shop.say", "inside", headers=ASKED)))
        call(gateway(), "shop.say", "heard")
        log.info("after")

    reply = call(Gateway(None, {"outer": outer}, debug=True), "outer", headers=ASKED)
    assert (inner, messages(reply)) == ([["inside"]], ["before", "heard", "after"])


def test_only_what_passes_the_level_of_its_logger_is_told() -> None:
    log.setLevel(logging.ERROR)
    assert messages(call(gateway(), "shop.say", "a warning", headers=ASKED)) == []


def test_a_logger_that_does_not_hand_on_is_heard_too() -> None:
    log.propagate = False
    try:
        assert messages(call(gateway(), "shop.say", "alone", headers=ASKED)) == ["alone"]
    finally:
        log.propagate = True


def test_messages_are_escaped_and_cut() -> None:
    reply = call(gateway(), "shop.say", "a\n\x1b[31m\udc80", headers=ASKED)
    assert messages(reply) == [r"a\n\x1b[31m\udc80"]
    reply = call(gateway(), "shop.say", "x" * 5000, headers=ASKED)
    assert messages(reply) == ["x" * 2000 + "... (5000 characters)"]


def test_a_call_that_logs_without_end_has_its_first_messages_told() -> None:
    def chatter() -> None:
        for number in range(1500):
            log.debug("%d", number)

    found = messages(call(Gateway(None, {"chatter": chatter}, debug=True), "chatter", headers=ASKED))
    assert (len(found), found[999], found[1000]) == (1001, "999", "... and 500 more")


def test_a_record_whose_arguments_do_not_fit_is_told_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    quiet = logging.getLogger("shop.quiet")
    quiet.propagate = False
    quiet.addHandler(logging.NullHandler())
    app = Gateway(None, {"odd": lambda: quiet.warning("%d and %d", 1)}, debug=True)
    assert messages(call(app, "odd", headers=ASKED)) == ["%d and %d"]


def test_a_program_that_configured_no_logging_has_its_warnings_printed_as_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler(sys.stderr))
    call(gateway(), "shop.say", "low on stock", headers=ASKED)
    assert capsys.readouterr().err == "low on stock\n"


def test_a_record_factory_of_somebody_else_goes_on_and_messages_come_once() -> None:
    made: list[str] = []

    def wrap() -> None:
        inner = logging.getLogRecordFactory()

        def factory(*arguments: Any, **keywords: Any) -> logging.LogRecord:
            record = inner(*arguments, **keywords)
            made.append(record.getMessage())
            return record

        logging.setLogRecordFactory(factory)

    wrap()
    assert messages(call(gateway(), "shop.say", "a", headers=ASKED)) == ["a"]
    wrap()
    assert messages(call(gateway(), "shop.say", "b", headers=ASKED)) == ["b"]
    assert made == ["a", "b", "b"]
    last = logging.getLogRecordFactory()
    call(gateway(), "shop.say", "c", headers=ASKED)
    assert logging.getLogRecordFactory() is last


def test_nothing_is_kept_in_the_environ() -> None:
    from wsgi_client import environ, run

    entries = environ(packet(("shop.page", [1]), headers=ASKED))
    before = set(entries)
    run(gateway(), entries)
    assert set(entries) == before
    assert debug_events._current.get() is None


def test_the_date_is_in_utc() -> None:
    date = events_of(call(gateway(), "shop.slow", headers=ASKED))[0]["Date"]
    assert date.tzinfo is UTC
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*\+00:00", date.isoformat())
