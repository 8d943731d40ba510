"""Values as they are kept: MessagePack, and only what comes back from it as it was.

Never pickle: who can write to the store could run code in every worker then.  MessagePack has no tuples, no classes and
no time zones; it would take them and give lists, dicts and other times back.  A session that changes its values from
one request to the next is worse than an error, so this is one, at the line that puts the value in.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 100  # of lists and dicts in one another; a session holds a cart, not a document

_HINTS: Final = {
    tuple: "it would come back as a list",
    set: "keep it as a sorted list",
    frozenset: "keep it as a sorted list",
    datetime: "only times in UTC come back as they were: value.astimezone(datetime.UTC)",
}
_pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder().decode

Path = tuple["Path", Any] | None  # of a value: that of its container, and where it is in there


class TooLarge(ValueError):
    """The value is larger than anybody wants to look at."""


def pack(value: Any, name: str, most: int) -> bytes:
    """The value in bytes; `unpack` gives an equal one back.

    Kept are None, bool, int in 64 bits, float, str, bytes, datetime in UTC, and lists and dicts of these, whose keys
    are text; those that contain themselves are not.  TypeError or ValueError for anything else, which says where in
    `name` it is; TooLarge, before much work is done, for what takes clearly more than `most` bytes.
    """
    _check(value, (None, name), 0, most)
    try:
        return _pack(value)
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has text in it that is not Unicode ({error}); keep it as bytes") from None


def _check(value: Any, path: Path, depth: int, room: int) -> int:
    """Look at a value and all that is in it, each of which takes at least one byte; the bytes that are left of `room`.

    It ends early for [x, x] where x is [y, y] and so on: the wire can bring forty levels of that in a few bytes.
    """
    kind = type(value)
    if kind is str or kind is bytes:
        room -= len(value)
    elif kind is int:
        if not -(1 << 63) <= value < 1 << 64:
            raise ValueError(f"{_text(path)} is an int of more than the 64 bits that are kept; keep it as text")
    elif kind is list or kind is dict:
        if len(value) > room:
            raise TooLarge
        if depth == MAX_DEPTH:
            raise ValueError(f"{_text(path, 1)} is nested more than {MAX_DEPTH} levels deep, or contains itself")
        if kind is list:
            for place, item in enumerate(value):
                room = _check(item, (path, place), depth + 1, room)
        else:
            for key, item in value.items():
                if type(key) is not str:
                    raise TypeError(f"{_text(path)} has the key {key!r:.60}; keys are text")
                room = _check(item, (path, key), depth + 1, room - 1 - len(key))
    elif kind is datetime and value.tzinfo is not UTC or kind not in (type(None), bool, float, datetime):
        hint = _HINTS.get(kind, "keep the plain values that it is made of")
        raise TypeError(f"{_text(path)} is a {kind.__qualname__}, which a session cannot keep exactly: {hint}")
    if room < 0:
        raise TooLarge
    return room - 1


def _text(path: Path, levels: int = MAX_DEPTH) -> str:
    """`session['cart'][3]`; no more than the first levels of it, and no more of a key than one wants to read."""
    parts: list[str] = []
    while path is not None:
        path, place = path
        parts.append(str(place) if path is None else f"[{place!r:.60}]")
    parts.reverse()
    return "".join(parts[:levels])
