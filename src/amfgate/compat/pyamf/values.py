"""Values as PyAMF's users know them, and the walk that makes them of what the decoder gave."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from types import MemberDescriptorType
from typing import Any, Final

from ...flex.collections import ArrayCollection, ArrayList, ManagedObjectProxy, ObjectProxy
from ...types import Dictionary, EcmaArray, TypedObject
from .amf3 import ByteArray


class ASObject(dict[str, Any]):
    """An anonymous object: a dict whose members are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this object has no member {name!r}; it has {', '.join(map(repr, self))}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"this object has no member {name!r}") from None

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class MixedArray(EcmaArray):
    """An associative array: a dict, made like one."""

    def __init__(self, *items: Any, **named: Any) -> None:
        super().__init__(dict(*items, **named))


_HEAP: Final = 1 << 9  # of classes that were written in Python (Py_TPFLAGS_HEAPTYPE); others keep their own books
_SIMPLE: Final = frozenset((type(None), bool, int, float, str))
_WRAPPERS: Final = (ArrayCollection, ArrayList, ObjectProxy, ManagedObjectProxy)


def translate(root: Any) -> Any:
    """`root` in PyAMF's types; what is one object stays one, cycles too.

    Lists, typed objects and instances are changed in place; of dicts, associative arrays and bytes others are made.
    """
    done: dict[int, tuple[Any, Any]] = {}  # id -> the value, kept so that the id is its own, and what it became
    open_ones: list[tuple[Any, Any]] = []

    def become(value: Any) -> Any:
        kind = type(value)
        if kind in _SIMPLE:
            return value
        if kind is dt.datetime:
            return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        known = done.get(id(value))
        if known is not None:
            return known[1]
        new: Any = value
        if kind is bytes:
            new = ByteArray(value)
        elif kind is dict or kind is TypedObject and not value.alias:
            new = ASObject()
        elif kind is EcmaArray:
            new = MixedArray()
            new.count = value.count
        done[id(value)] = value, new
        if kind is not bytes:
            open_ones.append((value, new))
        return new

    result = become(root)
    while open_ones:
        old, new = open_ones.pop()
        if isinstance(old, list):
            new[:] = [become(item) for item in old]
        elif isinstance(old, (dict, Dictionary)):
            _replace(new, [(key, become(item)) for key, item in old.items()])
        elif isinstance(old, _WRAPPERS):
            new.source = become(old.source)
        else:
            if isinstance(getattr(old, "__dict__", None), dict):
                _replace(vars(old), [(name, become(item)) for name, item in vars(old).items()])
            for slot in _slots(type(old)):
                try:
                    item = slot.__get__(old)
                except AttributeError:  # nothing is in it
                    continue
                new = become(item)
                if new is not item:
                    slot.__set__(old, new)
    return result


def _slots(kind: type) -> list[MemberDescriptorType]:
    """The members that a class keeps in slots: set through these, they are set in frozen instances too."""
    found = (one for base in kind.__mro__ if base.__flags__ & _HEAP for one in vars(base).values())
    return [one for one in found if isinstance(one, MemberDescriptorType)]


def _replace(members: Any, items: Iterable[tuple[Any, Any]]) -> None:
    for key, value in items:
        members[key] = value
