"""The header amf_server_debug and its answer, `/onDebugEvents`: what NetConnection Debugger shows of the server.

Flash's `NetDebug.as` puts the header on every packet; its value says what is wanted:

    true, null, or an object    m_debug false: nothing at all;  trace false: no trace event

A gateway with `debug=True` adds one more body to the reply, behind all others, for the response of the last call: its
value is an array that holds one array of events.

    trace       EventType, Time (ms since 1970), Source "Server", Date, messages: what was logged
    profiling   EventType, and in milliseconds includeTime (0: Python has loaded its modules before), decodeTime,
                callTime (in the actions), encodeTime, frameworkTime (all the rest), totalTime

The messages are those of `logging`, of any logger that lets them through by its level, from the thread that serves
the packet, from when it is decoded until it is encoded; filters and handlers of the program have not seen them yet.
They are for the eyes of developers, as tracebacks are: without `debug` the header is understood, and nothing comes of
it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from threading import Lock
from time import perf_counter, time
from typing import Any, Final

from ..errors import said
from ..log import printable
from ..packet import Body, Packet
from ..pipeline import Exchange, Response

HEADER: Final = "amf_server_debug"

# A debugger shows some dozens of lines.  A call that logs in a loop must not make a reply that no client reads.
MOST_MESSAGES: Final = 1000
LONGEST_MESSAGE: Final = 2000  # characters

_ENVIRON: Final = "amfgate.debug_events"  # where in the environ they are kept until the reply is written


class DebugEvents:
    """What is noted down about one packet, and the body that tells it."""

    def __init__(self, trace: bool, started: float, decoded: float) -> None:
        self.trace = trace
        self.messages: list[str] = []
        self.unsaid = 0
        self._last: logging.LogRecord | None = None
        self._started = started
        self._decoded = decoded
        self._token: Token[DebugEvents | None] | None = None

    def open(self) -> None:
        """Begin to collect what this thread logs."""
        _watch_logging()
        self._token = _current.set(self)

    def finish(self, exchange: Exchange, encode: Callable[[Exchange, Packet], Response], longest: int) -> None:
        """Have the reply encoded, if it is a packet, with the events behind its bodies; collect no more.

        A response of more than `longest` characters gets no events: no target could be made of it.
        """
        reply, calls = exchange.response, exchange.calls
        try:
            if isinstance(reply, Packet):
                if calls and len(calls[-1].uri) <= longest:
                    seconds = sum(call.seconds for call in calls)
                    reply.bodies = [*reply.bodies, _DebugBody(calls[-1].uri + "/onDebugEvents", self, seconds)]
                exchange.response = encode(exchange, reply)
        finally:
            if self._token is not None:
                _current.reset(self._token)
                self._token = None

    def add(self, record: logging.LogRecord) -> None:
        if record is self._last:  # it comes through two factories of ours, with somebody else's between them
            return
        self._last = record
        if len(self.messages) >= MOST_MESSAGES:
            self.unsaid += 1
            return
        try:
            text = record.getMessage()
        except Exception:  # arguments that do not fit the text: logging itself writes of it to stderr
            text = said(record.msg)
        self.messages.append(printable(text, LONGEST_MESSAGE))

    def value(self, calls: float, encoded: float) -> list[list[dict[str, Any]]]:
        """The events, with the seconds in the calls and the moment at which encoding began."""
        now = perf_counter()
        messages = [*self.messages, f"... and {self.unsaid} more"] if self.unsaid else self.messages
        events: list[dict[str, Any]] = []
        if self.trace:
            moment = time()
            events.append(
                {
                    "EventType": "trace",
                    "Time": round(moment * 1000.0),
                    "Source": "Server",
                    "Date": datetime.fromtimestamp(moment, UTC),
                    "messages": messages,
                }
            )
        total, decode, encode = now - self._started, self._decoded - self._started, now - encoded
        events.append(
            {
                "EventType": "profiling",
                "includeTime": 0.0,
                "decodeTime": _milliseconds(decode),
                "callTime": _milliseconds(calls),
                "encodeTime": _milliseconds(encode),
                "frameworkTime": _milliseconds(max(0.0, total - decode - calls - encode)),
                "totalTime": _milliseconds(total),
            }
        )
        return [events]


class _DebugBody(Body):
    """The body of the events: they are told when its value is read, and so when the bodies before it are encoded."""

    __slots__ = ("_calls", "_encoding", "_events")

    def __init__(self, target: str, events: DebugEvents, calls: float) -> None:
        super().__init__(target, "null", None)
        self._events = events
        self._calls = calls
        self._encoding = perf_counter()

    @property  # type: ignore[misc]
    def value(self) -> Any:
        return self._events.value(self._calls, self._encoding)


def begin(exchange: Exchange, started: float) -> None:
    """Collect events for this exchange from now on, if its packet asks for them; `started` is when it was read."""
    assert exchange.request is not None
    if not any(header.name == HEADER for header in exchange.request.headers):
        return
    wanted = exchange.header(HEADER)
    if wanted is False or isinstance(wanted, Mapping) and wanted.get("m_debug") is False:
        return
    trace = not isinstance(wanted, Mapping) or wanted.get("trace") is not False
    exchange.environ[_ENVIRON] = events = DebugEvents(trace, started, perf_counter())
    if trace:
        events.open()


def taken(exchange: Exchange) -> DebugEvents | None:
    """What `begin` began for this exchange, for whoever is to finish it; None if it began nothing."""
    events: DebugEvents | None = exchange.environ.pop(_ENVIRON, None)
    return events


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000.0, 3)


# --- logging ---------------------------------------------------------------------------------------------------------
#
# Records are seen where they are made, by a record factory.  A handler on the root logger would be simpler; but a
# program that configured no logging has no handlers, and one of ours there would silence the warnings that `logging`
# then prints by itself.  The factory is put in place by the first packet that asks and stays: what it costs a record of
# anybody else is one look at a context variable, which no other request's context has set.

_current: ContextVar[DebugEvents | None] = ContextVar("amfgate.debug_events", default=None)
_lock = Lock()


class _Factory:
    """Makes a record by the factory that was there before, and shows it to who collects in this context."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __call__(self, *arguments: Any, **keywords: Any) -> logging.LogRecord:
        record: logging.LogRecord = self._make(*arguments, **keywords)
        events = _current.get()
        if events is not None:
            events.add(record)
        return record


def _watch_logging() -> None:
    """Put the factory in place, if it is not there: the first time, and after somebody has put another in its place."""
    with _lock:
        present = logging.getLogRecordFactory()
        if not isinstance(present, _Factory):
            logging.setLogRecordFactory(_Factory(present))
