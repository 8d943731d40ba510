"""Calls on their way: the names that attribute access builds, calls that wait for their answer, and batches of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..packet import Header

Headers = Mapping[str, Any] | Iterable[Header]
"""Headers to send: names and values, or Header objects, which can ask to be understood."""

_UNKNOWN: Final = object()


class Target:
    """A name being built: `client.catalog` is one, `.page` of it another; calling it makes the call."""

    __slots__ = ("_call", "_name")

    def __init__(self, call: Callable[..., Any], name: str) -> None:
        self._call = call
        self._name = name

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(f"{name!r}: nothing that can be called has a name that starts with '_'")
        return Target(self._call, f"{self._name}.{name}")

    def __call__(self, *args: Any) -> Any:
        return self._call(self._name, *args)

    def __repr__(self) -> str:
        return f"<target {self._name}>"


class Pending:
    """A call of a batch.  `result` is its answer once the batch was sent.

    target, args: what is called, with what.
    done: whether the answer is there.
    fault: None, or what reading `result` raises.
    message: of a Flex client, the message that held the answer; None otherwise.
    """

    __slots__ = ("_value", "args", "fault", "message", "target")

    def __init__(self, target: str, args: tuple[Any, ...]) -> None:
        self.target = target
        self.args = args
        self.fault: Exception | None = None
        self.message: Any = None
        self._value: Any = _UNKNOWN

    @property
    def done(self) -> bool:
        return self.fault is not None or self._value is not _UNKNOWN

    @property
    def result(self) -> Any:
        """What the call returned.  Raises the RemoteFault that answered it, or the error that kept it from an answer.

        RuntimeError before the batch was sent.
        """
        if self.fault is not None:
            raise self.fault.with_traceback(None)
        if self._value is _UNKNOWN:
            raise RuntimeError(
                f"{self.target} was not sent yet: a batch is sent at the end of its 'with' block, or by send()"
            )
        return self._value

    def answer(self, value: Any, message: Any = None) -> None:
        """Give the call its result."""
        self._value = value
        self.message = message

    def refuse(self, fault: Exception) -> None:
        """Give the call the error that reading its result raises."""
        self.fault = fault

    def __repr__(self) -> str:
        if self.fault is not None:
            return f"<call of {self.target}: {type(self.fault).__name__}>"
        return f"<call of {self.target}: {'answered' if self.done else 'not sent'}>"


class Batch:
    """Calls that travel in one packet: what a Flash program does with the calls of one frame.

        with client.batch() as b:
            first = b.catalog.page(1)
            second = b.call("catalog.page", 2)
        first.result, second.result

    Leaving the block sends them; leaving it by an exception sends nothing.  One call's fault leaves the others'
    results alone: it is raised by reading `.result` of that call.  `calls` holds them in their order.
    """

    def __init__(self, send: Callable[[list[Pending], Headers], None], headers: Headers) -> None:
        self.calls: list[Pending] = []
        self._send = send
        self._headers = headers
        self._sent = False

    def call(self, target: str, *args: Any) -> Pending:
        """Add a call; `b.catalog.page(1)` is `b.call("catalog.page", 1)`."""
        if self._sent:
            raise RuntimeError("this batch was sent already; start another with client.batch()")
        pending = Pending(target, args)
        self.calls.append(pending)
        return pending

    def send(self) -> None:
        """Send the calls, and give each its answer.  An empty batch sends nothing; a second time is an error."""
        if self._sent:
            raise RuntimeError("this batch was sent already; start another with client.batch()")
        self._sent = True
        if self.calls:
            self._send(self.calls, self._headers)

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(name)
        return Target(self.call, name)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is None and not self._sent:
            self.send()

    def __repr__(self) -> str:
        return f"<batch of {len(self.calls)} calls, {'sent' if self._sent else 'not sent'}>"


def as_headers(headers: Headers) -> list[Header]:
    """Headers as Header objects; TypeError for what is neither a mapping nor made of them."""
    if isinstance(headers, Mapping):
        given = [Header(name, value) for name, value in headers.items()]
    else:
        given = list(headers)
    for header in given:
        if not isinstance(header, Header):
            raise TypeError(f"headers are a mapping of names to values, or amfgate.Header objects; found {header!r}")
        if not isinstance(header.name, str):
            raise TypeError(f"a header's name is text, not {header.name!r}")
    return given
