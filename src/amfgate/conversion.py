"""Plain values to what an annotation wants, by `msgspec.convert`, strict: what it is told, and kept from.

It copies what it converts.  So a value that contains itself, or that is repeated so often that the copy would be much
larger than what came, is refused first.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, Final

import msgspec

from .types import undefined

Convert = Callable[[Any], Any]

ANY_DEPTH: Final = 1 << 30  # of a type that contains itself

# How many values a converted argument may repeat.  Converting copies, so a value that is met again is made again: 40
# levels of x = [x, x] would be 10**12 of them.
REPEATS: Final = 10_000

# Values that travel by their own markers and are never made out of text.
NATIVE: Final = (bytes, bytearray, memoryview)


def converter(annotation: Any) -> Convert | None:
    """A function that converts a value to `annotation`, or raises msgspec.ValidationError; None if anything will do.

    A value that is of the annotated class already is given back as it is, containers of containers too; what has to be
    built or looked into is copied.
    """
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    depth = _levels(msgspec.inspect.type_info(annotation), ())
    passes = _class_of(annotation)
    # bool is a subclass of int, and no number on the wire.
    refused = bool if passes is not None and passes is not bool and issubclass(bool, passes) else None

    def convert(value: Any) -> Any:
        if passes is not None and isinstance(value, passes) and value.__class__ is not refused:
            return value
        if value is undefined:
            value = None  # what ActionScript makes of it when it is passed to a typed parameter
        if depth and isinstance(value, (list, dict, tuple)):
            _check_copy(value, depth)
        return msgspec.convert(value, annotation, builtin_types=NATIVE, dec_hook=_build)

    return convert


def _class_of(annotation: Any) -> type | None:
    """The class whose instances pass as they are, None if there is none to ask by `isinstance`."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        others = [one for one in typing.get_args(annotation) if one is not type(None)]
        annotation = others[0] if len(others) == 1 else None
    if not isinstance(annotation, type) or typing.is_typeddict(annotation) or typing.get_origin(annotation) is not None:
        return None
    try:
        isinstance(None, annotation)
    except TypeError:  # a protocol that cannot be checked at run time
        return None
    return annotation


def _build(wanted: type, value: Any) -> Any:
    """For the classes that msgspec does not build: an instance passes, a pydantic model validates, else an error."""
    if isinstance(value, wanted):
        return value
    if isinstance(value, str) and issubclass(wanted, PurePath):  # which is sent as text
        return wanted(value)
    validate = getattr(wanted, "model_validate", None)
    if validate is None or not isinstance(value, dict):
        raise ValueError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
    try:
        return validate(value)
    except ValueError as error:
        first: Any = next(iter(getattr(error, "errors", list)()), None)
        if first is None:
            raise
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{place}: {first['msg']}") from None


def _levels(info: Any, above: tuple[Any, ...]) -> int:
    """How many levels of containers and objects msgspec builds for a type: 0 for a number, 2 for `list[list[Any]]`."""
    if any(info is one for one in above):
        return ANY_DEPTH
    above = (*above, info)
    parts: list[Any] = []
    own = 1
    if isinstance(info, msgspec.inspect.UnionType):
        own, parts = 0, list(info.types)
    elif isinstance(info, msgspec.inspect.Metadata):
        own, parts = 0, [info.type]
    elif isinstance(info, msgspec.inspect.TupleType):
        parts = list(info.item_types)
    elif isinstance(info, msgspec.inspect.DictType):
        parts = [info.key_type, info.value_type]
    elif hasattr(info, "item_type"):
        parts = [info.item_type]
    elif hasattr(info, "fields"):
        parts = [field.type for field in info.fields]
    else:
        return 0
    return min(ANY_DEPTH, own + max((_levels(part, above) for part in parts), default=0))


def _check_copy(value: Any, depth: int) -> None:
    """Refuse a value whose copy, `depth` levels deep, would have no end or be much larger than the value is."""
    seen: set[int] = set()
    inside = {id(value)}
    open_: list[Any] = [value]
    path: list[Iterator[Any]] = [_items(value)]
    repeats = 0
    while path:
        for item in path[-1]:
            if not isinstance(item, (list, dict, tuple)):
                continue
            number = id(item)
            if number in inside:
                raise msgspec.ValidationError("it contains itself, and so it cannot be converted")
            if len(path) >= depth:
                continue
            if number in seen:
                repeats += 1 + len(item)
                if repeats > REPEATS:
                    raise msgspec.ValidationError(
                        f"it repeats more than {REPEATS} values, each of which would be copied"
                    )
            seen.add(number)
            inside.add(number)
            open_.append(item)
            path.append(_items(item))
            break
        else:
            path.pop()
            inside.discard(id(open_.pop()))


def _items(value: Any) -> Iterator[Any]:
    return iter(value.values()) if isinstance(value, dict) else iter(value)
