"""What a client can have copied by msgspec and pydantic, which convert a value as often as they meet it.

A value that contains itself, or that is repeated so often that the copies would be much larger than what came, is
refused before.  So are numbers in text that nobody writes: a client may send one of 400,000 digits, and then refer to
it 200,000 times by two bytes each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

ANY_DEPTH: Final = 1 << 30  # of a type that contains itself, and of models

# How many values the arguments of a call may repeat that are converted to one annotation.  Converting copies, so a
# value that is met again is made again: 40 levels of x = [x, x] would be 10**12 of them.
REPEATS: Final = 10_000

# More digits than the numbers that anybody sends have; a Decimal of n digits takes n/2 bytes.
LONGEST_NUMBER: Final = 1_000
_BEGINS_AS_NUMBER: Final = re.compile(rf"[\s\d+\-._]{{{LONGEST_NUMBER}}}")


class Tally:
    """What was copied so far, in one call and for one annotation, and how many values were copied again."""

    __slots__ = ("repeats", "seen")

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}  # by id, which stays its own as long as the value is here
        self.repeats = 0

    def note(self, value: Any) -> None:
        """msgspec.ValidationError if this container is one too many."""
        number = id(value)
        if number in self.seen:
            self.repeats += 1 + len(value)
            if self.repeats > REPEATS:
                raise msgspec.ValidationError(f"it repeats more than {REPEATS} values, each of which would be copied")
        self.seen[number] = value


def _parts(info: Any) -> tuple[bool, list[Any]]:
    """Does msgspec build a container or an object for a type, and what is inside?"""
    if isinstance(info, msgspec.inspect.UnionType):
        return False, list(info.types)
    if isinstance(info, msgspec.inspect.Metadata):
        return False, [info.type]
    if isinstance(info, msgspec.inspect.TupleType):
        return True, list(info.item_types)
    if isinstance(info, msgspec.inspect.DictType):
        return True, [info.key_type, info.value_type]
    if hasattr(info, "item_type"):
        return True, [info.item_type]
    if hasattr(info, "fields"):
        return True, [field.type for field in info.fields]
    return False, []


def _validates(info: Any) -> bool:
    """Is this a pydantic model, to msgspec a class like any other?"""
    return isinstance(info, msgspec.inspect.CustomType) and hasattr(info.cls, "model_validate")


def levels(info: Any) -> int:
    """How many levels of containers and objects are built for a type: 0 for a number, 2 for `list[list[Any]]`.

    Each type is gone through once, inner ones first; one that is met within itself has no end.
    """
    known: dict[int, int] = {}
    open_: list[tuple[Any, Iterator[Any]]] = [(info, iter(_parts(info)[1]))]
    inside = {id(info)}
    while open_:
        one, parts = open_[-1]
        for part in parts:
            if id(part) in inside:
                return ANY_DEPTH
            if id(part) not in known:
                inside.add(id(part))
                open_.append((part, iter(_parts(part)[1])))
                break
        else:
            open_.pop()
            inside.discard(id(one))
            builds, parts_ = _parts(one)
            deepest = max((known[id(part)] for part in parts_), default=0)
            known[id(one)] = ANY_DEPTH if _validates(one) else min(ANY_DEPTH, builds + deepest)
    return known[id(info)]


def makes_numbers(info: Any) -> bool:
    """Are there numbers that are made out of text?"""
    seen: set[int] = set()
    ahead = [info]
    while ahead:
        one = ahead.pop()
        if isinstance(one, msgspec.inspect.DecimalType) or _validates(one):
            return True
        if id(one) not in seen:
            seen.add(id(one))
            ahead.extend(_parts(one)[1])
    return False


def check_copy(value: Any, depth: int, tally: Tally, numbers: bool) -> None:
    """Refuse a value whose copy, `depth` levels deep, would have no end or be much larger than the value is.

    tally: goes on from copy to copy.  numbers: text becomes numbers there.  What is raised is msgspec.ValidationError.
    """
    tally.note(value)
    inside = {id(value)}
    open_: list[Any] = [value]
    path: list[Iterator[Any]] = [_items(value)]
    while path:
        for item in path[-1]:
            if not isinstance(item, (list, dict, tuple)):
                if numbers and item.__class__ is str:
                    check_number(item)
                continue
            number = id(item)
            if number in inside:
                raise msgspec.ValidationError("it contains itself, and so it cannot be converted")
            if len(path) >= depth:
                continue
            tally.note(item)
            inside.add(number)
            open_.append(item)
            path.append(_items(item))
            break
        else:
            path.pop()
            inside.discard(id(open_.pop()))


def check_number(text: str) -> None:
    """msgspec.ValidationError for a number that nobody writes."""
    if len(text) >= LONGEST_NUMBER and _BEGINS_AS_NUMBER.match(text):
        raise msgspec.ValidationError(f"Expected a number, got a text of {len(text)} characters")


def _items(value: Any) -> Iterator[Any]:
    return iter(value.values()) if isinstance(value, dict) else iter(value)
