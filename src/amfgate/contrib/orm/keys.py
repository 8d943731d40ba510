"""What the mappings of both libraries decide alike about what a client sends."""

from __future__ import annotations

from typing import Any


def is_none(key: Any) -> bool:
    """Does a primary key that came mean that there is none?  An int of ActionScript cannot be null, a Number is NaN."""
    return key is None or isinstance(key, (int, float)) and (key == 0 or key != key)


def may_be_added(cls: type[Any], name: str) -> bool:
    """May a dynamic member become an attribute?  Not if it is private, or the class has something of that name."""
    return name.isidentifier() and not name.startswith("_") and not hasattr(cls, name)
