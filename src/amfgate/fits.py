"""Annotations, each worked out once into a Fit: a function of a value, the place where it stands, and a Fitting.

Scalars and containers of scalars are msgspec's (Leaf).  What has value objects inside is walked here: msgspec would
take instances as they are, and build others from plain objects by their Python names, with members that no client may
set.  See `fitting.py` for the whole.
"""

from __future__ import annotations

import collections
import collections.abc
import datetime as dt
import enum
import inspect
import types
import typing
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import msgspec

from .conversion import Convert, converter
from .errors import said
from .fields import fields_of
from .members import annotations_of, type_name
from .misfit import Misfit, Place, kind_name, split_message
from .types import Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml, undefined


class Fit:
    """How values are fitted to one annotation."""

    parts: tuple[Fit, ...] = ()
    alone = False  # does it do without a Fitting?

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        """The value, or what it is converted to; Misfit."""
        raise NotImplementedError

    def takes(self, value: Any) -> bool:
        """Is this of several the one to be asked about `value`?"""
        return False


def fit_of(annotation: Any) -> Fit | None:
    """The Fit for the annotation of a parameter; None for one that takes anything.

    TypeError and others if msgspec cannot convert to it, unless that is because of classes that are told apart by what
    came: `Circle | Square`.
    """
    try:
        convert = converter(annotation)
    except TypeError:
        fit = annotation_fit(annotation, None, ())
        if fit is None or not _does_without_msgspec(fit):
            raise
        return fit
    return None if convert is None else annotation_fit(annotation, convert, ())


def _does_without_msgspec(fit: Fit) -> bool:
    """Is everything here a class, or a container of classes, or what msgspec converts to?"""
    if isinstance(fit, Union):
        return all(isinstance(arm, Objects) for arm in fit.arms)
    if isinstance(fit, Leaf):
        converter(fit.annotation)
        return True
    return all(_does_without_msgspec(part) for part in fit.parts)


def annotation_fit(annotation: Any, convert: Convert | None = None, within: tuple[Any, ...] = ()) -> Fit | None:
    """The Fit for any annotation; None for one that takes anything.

    convert: converts to it by msgspec; None has one made when it is wanted, which is then no error if it cannot be.
    within: the annotations around this one.
    """
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    if any(annotation is one for one in within):  # an alias that contains itself: msgspec follows it
        return Leaf(annotation, convert)
    within = (*within, annotation)
    for attribute in ("__supertype__", "__value__"):  # NewType, `type X = ...`
        if hasattr(annotation, attribute) and not isinstance(annotation, type):
            return annotation_fit(getattr(annotation, attribute), convert, within)
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
    if origin in _ARRAYS:
        return _array(annotation, origin, arguments, convert, within)
    if origin in _OBJECTS and len(arguments) == 2:
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
    if cls is dt.date:
        return Dates(annotation, convert)
    if cls is dt.timedelta:
        return Durations(annotation, convert)
    if typing.is_typeddict(cls):
        return _typed_dict(annotation, cls, convert, within)
    if _is_value_object(cls):
        return Tuples(annotation, cls, convert) if issubclass(cls, tuple) else Objects(annotation, cls, convert)
    return Leaf(annotation, convert)


_SEQUENCES: Final = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_SETS: Final = (set, collections.abc.Set, collections.abc.MutableSet)
_ARRAYS: Final = (*_SEQUENCES, *_SETS, frozenset, tuple)
_OBJECTS: Final = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

# Classes that have a form of their own on the wire, or none.
_SCALARS: Final = (
    *(type(None), str, bytes, bytearray, memoryview, int, float, complex, enum.Enum, Decimal, UUID, PurePath),
    *(dt.date, dt.time, dt.timedelta, list, dict, set, frozenset, type, types.FunctionType),
    *(TypedObject, EcmaArray, Dictionary, Vector, Rows, Xml),
)


def _is_value_object(cls: type[Any]) -> bool:
    if fields_of(cls) is not None:
        return True
    if issubclass(cls, _SCALARS) or cls is tuple or getattr(cls, "_is_protocol", False):
        return False
    return cls.__module__ not in ("builtins", "collections.abc", "typing")


# --- scalars ---------------------------------------------------------------------------------------------------------


class Leaf(Fit):
    """What msgspec does alone: scalars, and containers without value objects."""

    alone = True

    def __init__(self, annotation: Any, convert: Convert | None) -> None:
        self.annotation = annotation
        self._convert = convert

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if fitting is None or not isinstance(value, (list, dict, tuple)):
            return self.converted(value, place)
        key = id(value), self
        if key not in fitting.copies:
            fitting.copies[key] = value, self.converted(value, place)
        return fitting.copies[key][1]

    def converted(self, value: Any, place: Place) -> Any:
        convert = self._convert
        if convert is None:
            convert = self._convert = _converter(self.annotation)
        try:
            return convert(value)
        except msgspec.ValidationError as error:
            beyond, reason = split_message(said(error))
            raise Misfit(place, reason, beyond) from None

    def takes(self, value: Any) -> bool:
        origin = typing.get_origin(self.annotation) or self.annotation
        if isinstance(value, dict):
            return origin in _OBJECTS
        if isinstance(value, (list, tuple)):
            return origin in _ARRAYS
        return isinstance(origin, type) and isinstance(value, origin)


def _converter(annotation: Any) -> Convert:
    """The function that converts to a member's annotation; one that takes anything if msgspec cannot do that."""
    try:
        found = converter(annotation)
    except (TypeError, ValueError, NameError, AttributeError):
        found = None
    return found or (lambda value: value)


class Whole(Leaf):
    """`int`: a number with a fraction that is zero, as AMF3 has large ones, is a whole number."""

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if value.__class__ is float and value.is_integer():
            return int(value)
        return self.converted(value, place)


class Dates(Leaf):
    """`date`: a moment, which is all that the wire has, is a date if it is midnight in UTC, as dates are sent."""

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if not isinstance(value, dt.datetime):
            return self.converted(value, place)
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC)
        if moment.time() != dt.time():
            raise Misfit(place, f"expected date, got datetime: {moment.isoformat()} is not midnight in UTC")
        return moment.date()

    def takes(self, value: Any) -> bool:
        return isinstance(value, dt.date)


class Durations(Leaf):
    """`timedelta`: a number of seconds, which is how it is sent."""

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if value.__class__ in (int, float):
            try:
                return dt.timedelta(seconds=value)
            except (OverflowError, ValueError):
                raise Misfit(place, f"expected timedelta, got {value!r} seconds") from None
        return self.converted(value, place)

    def takes(self, value: Any) -> bool:
        return value.__class__ in (int, float)


# --- containers ------------------------------------------------------------------------------------------------------


def _is_plain(fit: Fit | None) -> bool:
    """Is this, in a container, for msgspec alone?"""
    if isinstance(fit, Union):
        return all(_is_plain(arm) for arm in fit.arms)
    return fit is None or type(fit) in (Leaf, Whole)


def _array(
    annotation: Any, origin: Any, arguments: tuple[Any, ...], convert: Convert | None, within: tuple[Any, ...]
) -> Fit:
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        fits = [annotation_fit(one, None, within) for one in arguments]
        if all(_is_plain(fit) for fit in fits):
            return Leaf(annotation, convert)
        return Fixed(fits)
    item = annotation_fit(arguments[0], None, within)
    if item is None or _is_plain(item):
        return Leaf(annotation, convert)
    kind = list if origin in _SEQUENCES else set if origin in _SETS else origin
    return Arrays(kind, item)


class Container(Fit):
    """Containers with something inside that is not msgspec's alone; each is fitted once."""

    outline: Leaf

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        key = id(value), self
        if key not in fitting.copies:
            fitting.copies[key] = value, self.fitted(value, place, fitting)
        return fitting.copies[key][1]

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        raise NotImplementedError


class Arrays(Container):
    """list[Line], set[date], tuple[Line, ...]; a list whose items fit as they are stays the same list."""

    def __init__(self, kind: Any, item: Fit) -> None:
        self.kind = kind
        self.outline = Leaf(list[Any], None)
        self.item = item
        self.parts = (item,)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        items = value if isinstance(value, (list, tuple)) else self.outline.converted(value, place)
        found = []
        same = value.__class__ is self.kind
        for index, item in enumerate(items):
            fitted = self.item(item, (place, index), fitting)
            same = same and fitted is item
            found.append(fitted)
        if same:
            return value
        if self.kind is list:
            return found
        try:
            return self.kind(found)
        except TypeError as error:
            raise Misfit(place, said(error)) from error

    def takes(self, value: Any) -> bool:
        return isinstance(value, (list, tuple, set, frozenset))


class Fixed(Container):
    """tuple[int, Line]."""

    def __init__(self, fits: list[Fit | None]) -> None:
        self.fits = fits
        self.outline = Leaf(tuple[(Any,) * len(fits)], None)  # type: ignore[misc]
        self.parts = tuple(fit for fit in fits if fit is not None)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        items = self.outline.converted(value, place)
        return tuple(
            item if fit is None else fit(item, (place, index), fitting)
            for index, (fit, item) in enumerate(zip(self.fits, items, strict=True))
        )

    def takes(self, value: Any) -> bool:
        return isinstance(value, (list, tuple))


class Mappings(Container):
    """dict[str, Line]; a dict whose values fit as they are stays the same dict."""

    def __init__(self, key_annotation: Any, keys: Fit | None, values: Fit) -> None:
        self.outline = Leaf(dict[key_annotation, Any], None)
        self.texts = key_annotation is str or keys is None
        self.values = values
        self.parts = (values,)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        as_it_is = value.__class__ is dict and self.texts and all(key.__class__ is str for key in value)
        items = value if as_it_is else self.outline.converted(value, place)
        found = {key: self.values(item, (place, key), fitting) for key, item in items.items()}
        same = as_it_is and all(found[key] is item for key, item in items.items())
        return value if same else found

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)


def _typed_dict(annotation: Any, cls: Any, convert: Convert | None, within: tuple[Any, ...]) -> Fit:
    fits = {name: annotation_fit(one, None, within) for name, one in annotations_of(cls).items()}
    if all(_is_plain(fit) for fit in fits.values()):
        return Leaf(annotation, convert)
    return TypedDicts(cls, fits)


class TypedDicts(Container):
    """A TypedDict; keys that it does not have are dropped, as msgspec does."""

    def __init__(self, cls: Any, fits: dict[str, Fit | None]) -> None:
        self.fits = fits
        kinds = {name: typing.get_origin(one) for name, one in annotations_of(cls).items()}
        outline: Any = {
            name: typing.Required[Any]
            if kinds[name] is typing.Required or name in cls.__required_keys__ and kinds[name] is not typing.NotRequired
            else typing.NotRequired[Any]
            for name in fits
        }
        self.outline = Leaf(typing.TypedDict(cls.__name__, outline), None)  # type: ignore[operator]
        self.parts = tuple(fit for fit in fits.values() if fit is not None)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        found = dict(self.outline.converted(dict(value) if isinstance(value, dict) else value, place))
        for name, item in found.items():
            fit = self.fits.get(name)
            if fit is not None:
                found[name] = fit(item, (place, name), fitting)
        return found

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)


class Constrained(Fit):
    """Annotated[list[Line], msgspec.Meta(min_length=1)]: what is inside, and then what is said of the whole."""

    def __init__(self, inner: Fit, annotation: Any) -> None:
        self.inner = inner
        self.parts = (inner,)
        base = typing.get_origin(typing.get_args(annotation)[0]) or typing.get_args(annotation)[0]
        self.outline = Leaf(typing.Annotated[(base, *annotation.__metadata__)], None)

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        found = self.inner(value, place, fitting)
        self.outline.converted(found, place)
        return found

    def takes(self, value: Any) -> bool:
        return self.inner.takes(value)


class Union(Fit):
    """Several annotations: None, then the class that the value is of, then what it can be made into."""

    def __init__(self, annotation: Any, arms: list[Fit], none: bool, convert: Convert | None) -> None:
        self.annotation = annotation
        self.arms = arms
        self.parts = tuple(arms)
        self.none = none
        self.classes = [arm for arm in arms if isinstance(arm, Objects)]
        self.alone = all(arm.alone for arm in arms)
        self.outline = Leaf(annotation, convert) if self.alone else None

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if self.none and (value is None or value is undefined):
            return None
        for arm in self.classes:
            if isinstance(value, arm.cls):
                return arm(value, place, fitting)
        takers = [arm for arm in self.arms if arm.takes(value)]
        if len(takers) == 1:
            return takers[0](value, place, fitting)
        if self.outline is not None:
            return self.outline.converted(value, place)
        if len(self.arms) == 1:
            return self.arms[0](value, place, fitting)
        for one in self.arms:
            if not isinstance(one, Objects):
                try:
                    return one(value, place, fitting)
                except Misfit:
                    continue
        raise Misfit(place, f"expected {type_name(self.annotation)}, got {kind_name(value)}")


# --- value objects ---------------------------------------------------------------------------------------------------


class Objects(Fit):
    """A class: its instances, which are looked into, and what they can be made of."""

    def __init__(self, annotation: Any, cls: type[Any], convert: Convert | None) -> None:
        self.cls = cls
        self.leaf = Leaf(annotation, convert)

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if isinstance(value, self.cls):
            fitting.meet(value, place)
            return value
        if not isinstance(value, dict):
            if isinstance(value, list) and getattr(getattr(self.cls, "__struct_config__", None), "array_like", False):
                return self.leaf.converted(value, place)
            raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}")
        key = id(value), self.cls
        if key not in fitting.copies:
            fitting.copies[key] = value, None  # taken already where it contains itself
            fitting.copies[key] = value, self._made_of(value, key, place, fitting)
        found = fitting.copies[key][1]
        if found is None:
            raise Misfit(place, "it contains itself, and so it cannot be converted")
        return found

    def _made_of(self, value: dict[Any, Any], key: Any, place: Place, fitting: Any) -> Any:
        shape = fitting.shape_of(self.cls)
        if shape is not None and shape.registered:
            return shape.fill(value, key, place, fitting)
        if shape is not None and fitting.reaches_registered(self.cls):
            return shape.call(value, place, fitting)
        try:
            return self.leaf.converted(value, place)
        except TypeError:  # a class that msgspec cannot make; as an instance, of a registered class, it would do
            raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}") from None

    def takes(self, value: Any) -> bool:
        return isinstance(value, (self.cls, dict))


class Tuples(Fit):
    """A named tuple: a new one, if a member had to be converted."""

    def __init__(self, annotation: Any, cls: Any, convert: Convert | None) -> None:
        self.cls = cls
        self.leaf = Leaf(annotation, convert)

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        shape = fitting.shape_of(self.cls)
        if shape is None:
            return self.leaf.converted(value, place)
        if isinstance(value, dict) and not isinstance(value, EcmaArray):
            if not shape.registered:
                raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}")
            shape.check_missing(value, place)
            value = shape.built(value, place)
        elif not isinstance(value, self.cls):
            make: Any = collections.namedtuple
            outline = make(self.cls.__name__, self.cls._fields, defaults=self.cls._field_defaults.values())
            value = self.cls._make(Leaf(outline, None).converted(value, place))
        changed = {}
        for attribute, wire, exact, default, fit in shape.members:
            item = getattr(value, attribute)
            if item.__class__ is exact or item is default:
                continue
            fitted = fit(item, (place, wire), fitting)
            if fitted is not item:
                changed[attribute] = fitted
        return value._replace(**changed) if changed else value

    def takes(self, value: Any) -> bool:
        return isinstance(value, (list, tuple))


class Converted(Fit):
    """A field of an attrs class with a converter: it takes what came, and the annotation what it makes of that."""

    def __init__(self, converter: Any, cls: Any, attribute: str, fit: Fit | None) -> None:
        self.convert = converter
        self.field = next(field for field in cls.__attrs_attrs__ if field.name == attribute)
        self.fit = fit
        self.parts = () if fit is None else (fit,)

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if value is undefined:
            value = None
        try:
            if hasattr(self.convert, "takes_self"):
                value = self.convert(value, None, self.field)
            else:
                value = self.convert(value)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise Misfit(place, said(error)) from error
        return value if self.fit is None else self.fit(value, place, fitting)
