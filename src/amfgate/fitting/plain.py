"""Plain values to what an annotation wants, by `msgspec.convert`, strict: what it is told, and kept from.

It copies what it converts, so `copies.py` looks at it first.
"""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from pathlib import PurePath
from typing import Any, Final, Protocol

import msgspec

from ..types import undefined
from .copies import Tally, check_copy, check_number, levels, makes_numbers
from .own_rules import pydantic_misfit

# The annotations that take arrays, and those that take objects.
SEQUENCES: Final = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
SETS: Final = (set, collections.abc.Set, collections.abc.MutableSet)
ARRAYS: Final = (*SEQUENCES, *SETS, frozenset, tuple)
OBJECTS: Final = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

# Values that travel by their own markers and are never made out of text.
NATIVE: Final = (bytes, bytearray, memoryview)


class Convert(Protocol):
    def __call__(self, value: Any, tally: Tally | None = None, /) -> Any: ...


def converter(annotation: Any) -> Convert | None:
    """A function that converts a value to `annotation`, or raises msgspec.ValidationError; None if anything will do.

    TypeError for an annotation that msgspec cannot convert to.

    A value that is of the annotated class already is given back as it is, containers of containers too; what has to be
    built or looked into is copied.  The Tally is of the call, where a value may be met in other arguments and members.
    """
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    try:
        info = msgspec.inspect.type_info(annotation)
    except RecursionError:
        raise TypeError("it leads to new types without end") from None
    depth = levels(info)
    numbers = makes_numbers(info)
    passes = class_of(annotation)
    # bool is a subclass of int, and no number on the wire.
    refused = bool if passes is not None and passes is not bool and issubclass(bool, passes) else None

    def convert(value: Any, tally: Tally | None = None, /) -> Any:
        if passes is not None and isinstance(value, passes) and value.__class__ is not refused:
            return value
        if value is undefined:
            value = None  # what ActionScript makes of it when it is passed to a typed parameter
        if isinstance(value, (list, dict, tuple)):
            if depth:
                check_copy(value, depth, tally or Tally(), numbers)
        elif numbers and value.__class__ is str:
            check_number(value)
        return msgspec.convert(value, annotation, builtin_types=NATIVE, dec_hook=_build)

    return convert


def class_of(annotation: Any) -> type | None:
    """The class that is annotated, by itself or as `X | None`; None if there is none to ask by `isinstance`."""
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
        found = pydantic_misfit(error, None, {})
        raise ValueError(f"{found.reason} - at `{found.path or '$'}`") from None
