"""Default values as ActionScript writes them."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any, Final

from ..types import Xml
from .names import string
from .types import COLLECTION, AsType

_DEEPEST: Final = 8
_EXACT: Final = 2**53  # whole numbers beyond it change when they become a double


def constant(value: Any) -> str | None:
    """A number, a text, a boolean or null as a literal, as a parameter's default has to be; None for anything else."""
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value)) if -_EXACT <= value <= _EXACT else None
    if isinstance(value, dt.timedelta):
        value = value.total_seconds()
    if isinstance(value, decimal.Decimal):
        if decimal.Decimal(repr(float(value))) != value:
            return None
        value = float(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Xml):
        return None
    if isinstance(value, (str, uuid.UUID, pathlib.PurePath)):
        return string(str(value))
    return None


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    return text if text == "-0.0" else text.removesuffix(".0")


def expression(value: Any, of: AsType, depth: int = 0) -> str | None:
    """A value as the start of a variable, lists and dicts too; None for what ActionScript cannot write.

    of: the variable's type; where an instance of it has to be made, it is named with its package.
    """
    if depth > _DEEPEST:
        return None
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        ordered = value if isinstance(value, (list, tuple)) else sorted(value, key=repr)  # the same text in each run
        items = [expression(item, AsType("*"), depth + 1) for item in ordered]
        if None in items:
            return None
        text = f"[{', '.join(item for item in items if item is not None)}]"
        return text if of.name != COLLECTION else f"new {COLLECTION}({text if items else ''})"
    if isinstance(value, Mapping):
        members = [(key, expression(item, AsType("*"), depth + 1)) for key, item in value.items()]
        if any(item is None or not isinstance(key, str) for key, item in members):
            return None
        return f"{{{', '.join(f'{string(key)}: {item}' for key, item in members)}}}"
    if isinstance(value, Xml):
        return f"new XML({string(value)})"
    if isinstance(value, (bytes, bytearray)) and not value:
        return f"new {of.name}()"
    return constant(value)
