"""What the gateway writes to the log, under the name `amfgate`.

INFO: one line for each call.  WARNING: requests that are no packets, and packets that were read only in part.
ERROR: every fault, with its traceback.  Arguments, results and credentials are never logged.  Text that came over the
wire, a target or the message of an exception that quotes one, has its control characters escaped: a caller cannot
write lines of his own into the log.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .pipeline import Call

logger: Final = logging.getLogger("amfgate")

LONGEST_TEXT: Final = 500  # of a text from the wire in one line; a target is some 30 characters long


def printable(text: str, longest: int = LONGEST_TEXT) -> str:
    """`text` in one line of the log: control characters and lone surrogates escaped, cut after `longest` characters."""
    if len(text) > longest:
        text = f"{text[:longest]}... ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def traceback_text(error: BaseException) -> str:
    """The traceback of `error` and of what caused it, as `traceback` writes it, messages escaped to one line each."""
    chain: list[tuple[BaseException, str]] = []
    seen: set[int] = set()
    link = ""
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        chain.append((current, link))
        if current.__cause__ is not None:
            link = "\nThe above exception was the direct cause of the following exception:\n\n"
            current = current.__cause__
        else:
            link = "\nDuring handling of the above exception, another exception occurred:\n\n"
            current = None if current.__suppress_context__ else current.__context__
    parts: list[str] = []
    for one, after in reversed(chain):
        if one.__traceback__ is not None:
            parts.append("Traceback (most recent call last):\n")
            parts.extend(traceback.format_tb(one.__traceback__))
        parts.append(message_of(one) + "\n" + after)
    return "".join(parts).rstrip("\n")


def message_of(error: BaseException) -> str:
    """`ValueError: what it says`, in one line, also for an exception whose `__str__` raises."""
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be made)"
    name = type(error).__qualname__
    return f"{name}: {printable(text)}" if text else name


def log_error(message: str, error: BaseException) -> None:
    """Write `message` at ERROR with the traceback of `error`.

    The record carries `exc_info`, for handlers that collect exceptions, and an `exc_text` made here: a
    formatter that finds one does not format the exception itself, which would print the text of the wire as it is.
    """
    if not logger.isEnabledFor(logging.ERROR):
        return
    record = logger.makeRecord(
        logger.name,
        logging.ERROR,
        __file__,
        0,
        message,
        (),
        (type(error), error, error.__traceback__),
    )
    record.exc_text = traceback_text(error)
    logger.handle(record)


def log_calls(calls: Iterable[Call]) -> None:
    """One line at INFO for each call: target, milliseconds in the actions, bytes in and out, the code of a fault."""
    for call in calls:
        outcome = "" if call.fault is None else f", {printable(str(call.fault.code))}"
        logger.info(
            "%s %.3f ms, %d bytes in, %d bytes out%s",
            printable(call.target),
            call.seconds * 1000.0,
            call.bytes_in,
            0 if call.response is None else call.response.size,
            outcome,
        )
