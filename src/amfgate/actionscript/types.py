"""From Python's annotations to ActionScript's types.

The rule is to lose nothing.  An `int` becomes Number, whose 53 bits are those that travel; ActionScript's `int` would
cut off what is above 32.  A number or a boolean that may be None becomes Object: a Number cannot be null, it would
be NaN, and a Boolean false.  What has no one type in ActionScript is `*`.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import inspect
import pathlib
import types
import typing
import uuid
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..fields import fields_of
from ..flex import ArrayCollection, ArrayList, ObjectProxy
from ..members import type_name
from ..types import Dictionary, EcmaArray, InvalidDate, Rows, TypedObject, Vector, Xml

TARGETS: Final = ("flex", "royale")
INTEGERS: Final = ("Number", "int")


class AsType(NamedTuple):
    """A type: its name, with its package, and for an array that of its elements, "" where they differ."""

    name: str
    element: str = ""


ANY: Final = AsType("*")
OBJECT: Final = AsType("Object")
NUMBER: Final = AsType("Number")
STRING: Final = AsType("String")
BOOLEAN: Final = AsType("Boolean")
COLLECTION: Final = "mx.collections.ArrayCollection"

# The types that have no null, and what a variable is that nobody set.
UNSET: Final = {"Number": "NaN", "int": "0", "uint": "0", "Boolean": "false"}
_INT: Final = range(-(2**31), 2**31)
_UINT: Final = range(2**32)

_SIMPLE: Final[tuple[tuple[tuple[type, ...], AsType], ...]] = (
    ((bool,), BOOLEAN),
    ((float, decimal.Decimal, dt.timedelta), NUMBER),
    ((Xml,), AsType("XML")),
    ((str, uuid.UUID, dt.time, pathlib.PurePath), STRING),
    ((dt.date, InvalidDate), AsType("Date")),
    ((ArrayCollection,), AsType(COLLECTION)),
    ((ArrayList,), AsType("mx.collections.ArrayList")),
)
_BYTES: Final = {"flex": AsType("flash.utils.ByteArray"), "royale": AsType("org.apache.royale.utils.BinaryData")}
_ARRAYS: Final = (list, tuple, set, frozenset, range, deque, Rows, EcmaArray)
_OBJECTS: Final = (dict, TypedObject)


class Translator:
    """Knows the ActionScript type of an annotation.

    names: the registered classes and their names in ActionScript.
    integers: what an `int` becomes; one that is annotated with bounds within 32 bits is `int` or `uint` anyhow.
    deep: are lists ArrayCollections?
    enums: those met so far, in order, each with what `home` was then: the package that it was first needed in.
    """

    def __init__(self, names: Mapping[type, str], target: str, integers: str, deep: bool) -> None:
        self.names = names
        self.target = target
        self.integers = AsType(integers)
        self.deep = deep
        self.home = ""
        self.enums: dict[type[enum.Enum], str] = {}

    def result_of(self, annotation: Any, collections: bool) -> AsType:
        """The type of a result so annotated.  collections: is a list in it an ArrayCollection?"""
        other = Translator(self.names, self.target, self.integers.name, collections)
        return other.type_of(annotation)

    def type_of(self, annotation: Any, nullable: bool = False) -> AsType:
        """The type of values so annotated.  nullable: None is among them, whatever the annotation says."""
        found = self._type_of(*_unwrapped(annotation))
        return OBJECT if nullable and found.name in UNSET else found

    def _type_of(self, annotation: Any, about: tuple[Any, ...]) -> AsType:
        origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, types.UnionType):
            return self._one_of([part for part in parts if part is not type(None)], len(parts))
        if origin is typing.Literal:
            return self._one_of([type(part) for part in parts if part is not None], len(parts))
        cls = annotation if origin is None else origin
        if not isinstance(cls, type):
            return ANY
        if cls in self.names:
            return AsType(self.names[cls])
        if issubclass(cls, enum.Enum):
            return self._enum(cls)
        if issubclass(cls, int) and not issubclass(cls, bool):
            return _bounded(about) or self.integers
        for bases, found in _SIMPLE:
            if issubclass(cls, bases):
                return found
        if issubclass(cls, (bytes, bytearray, memoryview)):
            return _BYTES[self.target]
        return self._container(cls, parts)

    def _one_of(self, annotations: list[Any], parts: int) -> AsType:
        found = {self.type_of(annotation) for annotation in annotations}
        if len(found) > 1:
            found = {AsType(one.name) for one in found}
        if {one.name for one in found} <= {"Number", "int", "uint"} and len(found) > 1:
            found = {NUMBER}
        if len(found) != 1:
            return ANY
        (one,) = found
        return OBJECT if len(annotations) < parts and one.name in UNSET else one

    def _enum(self, cls: type[enum.Enum]) -> AsType:
        self.enums.setdefault(cls, self.home)
        found = {self.type_of(type(member.value)) for member in cls}
        return found.pop() if len(found) == 1 else ANY

    def _container(self, cls: type, parts: tuple[Any, ...]) -> AsType:
        if issubclass(cls, Dictionary):
            return AsType("flash.utils.Dictionary") if self.target == "flex" else ANY  # Royale reads none
        if issubclass(cls, ObjectProxy):
            return AsType("mx.utils.ObjectProxy")
        if issubclass(cls, Vector):
            return ANY
        if issubclass(cls, _OBJECTS) and not issubclass(cls, EcmaArray) or fields_of(cls) is not None:
            return OBJECT
        if cls.__module__ == "collections.abc" and issubclass(cls, Mapping):
            return OBJECT
        if issubclass(cls, _ARRAYS) or cls.__module__ == "collections.abc" and issubclass(cls, Iterable):
            elements = {self.type_of(part).name for part in parts if part is not Ellipsis}
            element = elements.pop() if len(elements) == 1 else "*"
            collection = self.deep and not issubclass(cls, EcmaArray)
            return AsType(COLLECTION if collection else "Array", "" if element == "*" else element)
        return ANY  # of an array of numpy's the values alone tell which Vector it is


def is_optional(annotation: Any) -> bool:
    """Does the annotation itself allow None?"""
    annotation, _ = _unwrapped(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(is_optional(part) for part in typing.get_args(annotation))
    return annotation in (Any, None, type(None), object) or None in typing.get_args(annotation)


def described(annotation: Any) -> str:
    """An annotation for the reader of a comment, without modules: `list[Line]`; "" where there is none."""
    if annotation is Any or annotation is inspect.Parameter.empty:
        return ""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return described(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(described(part) or "Any" for part in parts)
    if origin is typing.Literal:
        return " | ".join(map(repr, parts))
    if isinstance(annotation, typing.NewType) or type(annotation).__name__ == "TypeAliasType":
        return str(annotation.__name__)
    if isinstance(origin, type) and parts:
        inner = ["..." if part is Ellipsis else described(part) or "Any" for part in parts]
        return f"{origin.__name__}[{', '.join(inner)}]"
    return type_name(annotation).replace("<locals>.", "")


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a NewType, an alias, Annotated, Required and the like stand for, and what Annotated says besides."""
    about: tuple[Any, ...] = ()
    for _ in range(20):  # one alias may mean another, and two each other
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            about = (*about, *annotation.__metadata__)
            annotation = annotation.__origin__
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":  # Python 3.12
            annotation = annotation.__value__
        elif origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
            annotation = typing.get_args(annotation)[0]
        else:
            break
    return annotation, about


def _bounded(about: tuple[Any, ...]) -> AsType | None:
    """`int` or `uint` for bounds (`ge`, `gt`, `le`, `lt`, as msgspec and annotated_types say them) within 32 bits."""
    least: list[int] = []
    most: list[int] = []
    for one in about:
        for bounds, name, step in ((least, "ge", 0), (least, "gt", 1), (most, "le", 0), (most, "lt", -1)):
            value = getattr(one, name, None)
            if isinstance(value, int):
                bounds.append(value + step)
    if not least or not most:
        return None
    low, high = max(least), min(most)
    if low in _INT and high in _INT:
        return AsType("int")
    return AsType("uint") if low in _UINT and high in _UINT else None
