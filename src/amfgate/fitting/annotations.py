"""From an annotation to its Fit, once, when a method or the class of a member is first known."""

from __future__ import annotations

import datetime as dt
import enum
import inspect
import types
import typing
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from ..fields import fields_of
from ..members import annotations_of, bound, parameters_of
from ..types import Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml
from .containers import Again, Arrays, Constrained, Fixed, Mappings, TypedDicts
from .leaves import Dates, Durations, Fit, Leaf, Real, Whole
from .objects import Objects, Tuples, Union
from .plain import ARRAYS, OBJECTS, SEQUENCES, SETS, Convert, class_of, converter


def fit_of(annotation: Any) -> Fit | None:
    """The Fit for the annotation of a parameter; None for one that takes anything.

    TypeError and others if msgspec cannot convert to it, unless that is because of classes that are told apart by what
    came: `Circle | Square`.
    """
    try:
        convert = converter(annotation)
    except TypeError:
        fit = annotation_fit(annotation)
        if fit is None or not _does_without_msgspec(fit):
            raise
        return fit
    return None if convert is None else annotation_fit(annotation, convert)


def exact_class(fit: Fit | None) -> type | None:
    """The class whose own instances need no look at all: `int` for int and for `int | None`; None if there is none."""
    if isinstance(fit, Union) and len(fit.arms) == 1:
        fit = fit.arms[0]
    return class_of(fit.annotation) if isinstance(fit, Leaf) else None


def _does_without_msgspec(fit: Fit) -> bool:
    """Is everything here a class, or a container of classes, or what msgspec converts to?"""
    if isinstance(fit, Union):
        return all(isinstance(arm, Objects) for arm in fit.arms)
    if isinstance(fit, Leaf):
        converter(fit.annotation)
        return True
    return all(_does_without_msgspec(part) for part in fit.parts)


def annotation_fit(annotation: Any, convert: Convert | None = None, within: tuple[Again, ...] = ()) -> Fit | None:
    """The Fit for any annotation; None for one that takes anything.

    convert: converts to it by msgspec; None has one made when it is wanted, which is then no error if it cannot be.
    within: the aliases around this annotation.
    """
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    if isinstance(annotation, typing.TypeVar):
        return annotation_fit(_stands_for(annotation), None, within)
    for again in within:
        if again.annotation == annotation:
            return again if _leads_to_objects(annotation) else Leaf(annotation, convert)
    aliased = _aliased(annotation)
    if aliased is not annotation:
        again = Again(annotation)
        again.fit = annotation_fit(aliased, convert, (*within, again))
        return again.fit
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Required, typing.NotRequired, typing.Final):
        return annotation_fit(arguments[0], convert, within)
    if origin is typing.Annotated:
        inner = annotation_fit(arguments[0], None, within)
        if inner is None or isinstance(inner, (Leaf, Objects)):
            return type(inner)(annotation, convert) if isinstance(inner, Leaf) else inner
        return Constrained(inner, annotation)
    if origin in (typing.Union, types.UnionType):
        arms = [annotation_fit(one, None, within) for one in arguments if one is not type(None)]
        if any(arm is None for arm in arms):
            return None
        if all(type(arm) is Leaf for arm in arms):
            return Leaf(annotation, convert)
        return Union(annotation, [arm for arm in arms if arm is not None], type(None) in arguments, convert)
    if origin is not None and not arguments:
        return Leaf(annotation, convert)
    if origin in ARRAYS:
        return _array(annotation, origin, arguments, convert, within)
    if origin in OBJECTS and len(arguments) == 2:
        values = annotation_fit(arguments[1], None, within)
        keys = annotation_fit(arguments[0], None, within)
        if values is None or _is_plain(values):
            return Leaf(annotation, convert)
        return Mappings(arguments[0], keys, values)
    cls = annotation if origin is None else origin
    if not isinstance(cls, type):
        return Leaf(annotation, convert)
    if cls is int:
        return Whole(annotation, convert)
    if cls is float:
        return Real(annotation, convert)
    if cls is dt.date:
        return Dates(annotation, convert)
    if cls is dt.timedelta:
        return Durations(annotation, convert)
    if typing.is_typeddict(cls):
        return _typed_dict(annotation, cls, convert, within)
    if _is_value_object(cls):
        return Tuples(annotation, cls, convert) if issubclass(cls, tuple) else Objects(annotation, cls, convert)
    return Leaf(annotation, convert)


def _aliased(annotation: Any) -> Any:
    """What a NewType, or an alias by `type X = ...`, is of; any other annotation itself."""
    if isinstance(annotation, type):
        return annotation
    if hasattr(annotation, "__supertype__"):
        return annotation.__supertype__
    alias = typing.get_origin(annotation) or annotation
    if not isinstance(alias, type) and hasattr(alias, "__value__"):
        return bound(alias.__value__, parameters_of(annotation))
    return annotation


def _stands_for(variable: typing.TypeVar) -> Any:
    """What a type variable may be that nobody bound to anything."""
    if variable.__constraints__:
        return typing.Union[variable.__constraints__]  # noqa: UP007 (of as many as there are)
    return Any if variable.__bound__ is None else variable.__bound__


def _leads_to_objects(annotation: Any) -> bool:
    """Is there a value object anywhere in an annotation?"""
    seen: list[Any] = []
    ahead = [annotation]
    while ahead:
        one = ahead.pop()
        if any(one is each for each in seen):
            continue
        seen.append(one)
        cls = typing.get_origin(one) or one
        if isinstance(cls, type) and typing.is_typeddict(cls):
            ahead.extend(annotations_of(cls).values())
        elif isinstance(cls, type) and cls not in (*ARRAYS, *OBJECTS) and _is_value_object(cls):
            return True
        ahead.extend(typing.get_args(one))
        ahead.append(_aliased(one))
    return False


# Classes that have a form of their own on the wire, or none.
_SCALARS: Final = (
    *(type(None), str, bytes, bytearray, memoryview, int, float, complex, enum.Enum, Decimal, UUID, PurePath),
    *(dt.date, dt.time, dt.timedelta, list, dict, set, frozenset, type, types.FunctionType, types.UnionType),
    *(TypedObject, EcmaArray, Dictionary, Vector, Rows, Xml),
)


def _is_value_object(cls: type[Any]) -> bool:
    if fields_of(cls) is not None:
        return True
    if issubclass(cls, _SCALARS) or cls is tuple or getattr(cls, "_is_protocol", False):
        return False
    return cls.__module__ not in ("builtins", "collections.abc", "typing")


def _is_plain(fit: Fit | None) -> bool:
    """Is this, in a container, for msgspec alone?"""
    if isinstance(fit, Union):
        return all(_is_plain(arm) for arm in fit.arms)
    return fit is None or type(fit) in (Leaf, Real, Whole)


def _array(
    annotation: Any, origin: Any, arguments: tuple[Any, ...], convert: Convert | None, within: tuple[Again, ...]
) -> Fit:
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        fits = [annotation_fit(one, None, within) for one in arguments]
        if all(_is_plain(fit) for fit in fits):
            return Leaf(annotation, convert)
        return Fixed(fits)
    item = annotation_fit(arguments[0], None, within)
    if item is None or _is_plain(item):
        return Leaf(annotation, convert)
    return Arrays(list if origin in SEQUENCES else set if origin in SETS else origin, item)


def _typed_dict(annotation: Any, cls: Any, convert: Convert | None, within: tuple[Again, ...]) -> Fit:
    known = parameters_of(annotation)
    hints = {name: bound(one, known) for name, one in annotations_of(cls).items()}
    fits = {name: annotation_fit(one, None, within) for name, one in hints.items()}
    if all(_is_plain(fit) for fit in fits.values()):
        return Leaf(annotation, convert)
    return TypedDicts(cls, hints, fits)
