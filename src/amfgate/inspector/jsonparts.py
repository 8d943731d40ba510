"""The small parts of the way back from JSON: numbers and texts, checked, with the path in each error."""

from __future__ import annotations

from typing import Any

from ..errors import EncodeError


def u29(number: int, width: int = 0) -> bytes:
    """A U29, in `width` bytes if that is more than it needs."""
    if not 0 <= number < 1 << 29:
        raise EncodeError(f"{number} does not fit 29 bits")
    needed = 1 + (number > 0x7F) + (number > 0x3FFF) + (number > 0x1FFFFF)
    width = max(needed, min(width, 4))
    if width == 4:
        return bytes((number >> 22 | 0x80, number >> 15 & 0x7F | 0x80, number >> 8 & 0x7F | 0x80, number & 0xFF))
    return bytes(number >> 7 * place & 0x7F | (0x80 if place else 0) for place in range(width - 1, -1, -1))


def pairs(form: Any, path: str) -> list[tuple[Any, Any]]:
    """Named values, from an object or a list of pairs."""
    if isinstance(form, dict):
        return [(name[1:] if name.startswith("$$") else name, value) for name, value in form.items()]
    if isinstance(form, list) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in form):
        return [(name, value) for name, value in form]
    raise EncodeError(f"an object, or a list of pairs, was expected, not {form!r}", path)


def unhex(text: Any, path: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except (TypeError, ValueError):
        raise EncodeError(f"hex digits were expected, not {text!r}", path) from None


def utf8(form: Any, path: str) -> bytes:
    if isinstance(form, dict) and set(form) == {"$utf8"}:
        return unhex(form["$utf8"], path)
    if not isinstance(form, str):
        raise EncodeError(f"text was expected, not {form!r}", path)
    try:
        return form.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"a lone surrogate at {error.start} is no text; $utf8 takes bytes", path) from None


def text16(form: Any, path: str) -> bytes:
    data = utf8(form, path)
    if len(data) > 0xFFFF:
        raise EncodeError(f"text of {len(data)} bytes; its length has to fit two bytes", path)
    return len(data).to_bytes(2, "big") + data


def word(number: Any, path: str) -> bytes:
    return _sized(number, 2, path)


def long(number: Any, path: str) -> bytes:
    return _sized(number, 4, path)


def byte(number: Any, path: str) -> bytes:
    return _sized(number, 1, path)  # true is 1


def _sized(number: Any, size: int, path: str) -> bytes:
    try:
        data: bytes = number.to_bytes(size, "big")
        return data
    except (AttributeError, OverflowError):
        raise EncodeError(f"a number that fits {size} bytes was expected, not {number!r}", path) from None
