"""The error of a value that does not fit its annotation, and the words for it."""

from __future__ import annotations

import re
from typing import Any, Final

from ..types import undefined

Place = Any
"""Where a value stands: None for the argument itself, else (place of what holds it, name or index)."""


class Misfit(Exception):
    """A value that does not fit its annotation: where it stands, and why."""

    def __init__(self, place: Place, reason: str, beyond: str = "") -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason
        self.beyond = beyond

    @property
    def path(self) -> str:
        """`$.lines[2].quantity`; "" for the argument itself."""
        path = path_of(self.place)
        if self.beyond.startswith("$"):
            path += self.beyond[1:]
        elif self.beyond:  # "key in $.prices"
            path = self.beyond.replace("$", path, 1)
        return "" if path == "$" else path


def path_of(place: Place) -> str:
    """A place as text: `$.lines[2].quantity`."""
    parts = []
    while place is not None:
        place, name = place
        parts.append(f".{name}" if isinstance(name, str) and name.isidentifier() else f"[{name!r}]")
    return "$" + "".join(reversed(parts))


def kind_name(value: Any) -> str:
    """What a value is, in the words that msgspec has for it."""
    if value is None or value is undefined:
        return "null"
    if isinstance(value, (list, tuple)):
        return "array"
    if isinstance(value, dict):
        return "object"
    return type(value).__name__


def split_message(message: str) -> tuple[str, str]:
    """What msgspec says, as place and reason: ("$.lines[2].quantity", "expected int, got str").

    What `plain.py` raises inside of it has a place of its own, which stands in front of msgspec's.
    """
    place = ""
    for _ in range(2):
        before, at, last = message.rpartition(" - at ")
        if not at or _PLACE.fullmatch(last) is None:
            break
        message, place = before, f"{place}{last.removeprefix('`$') if place else last}"
    message = message.replace("`", "")
    return place.replace("`", ""), message[:1].lower() + message[1:]


_PLACE: Final = re.compile(r"(`key` in )?`[^`]*`")
