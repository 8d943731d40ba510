"""The Fits of value objects, and of annotations of which one is to be chosen."""

from __future__ import annotations

import collections
import sys
from typing import Any

from ..errors import said
from ..members import type_name
from ..types import EcmaArray, undefined
from .containers import Container
from .leaves import Fit, Leaf
from .misfit import Misfit, Place, kind_name
from .own_rules import validated
from .plain import Convert


class Objects(Fit):
    """A class: its instances, which are looked into, and what they can be made of.

    kind: the class, or `Page[Order]` where it is that.
    """

    def __init__(self, annotation: Any, cls: type[Any], convert: Convert | None) -> None:
        self.cls = cls
        self.kind = _kind(annotation, cls)
        self.leaf = Leaf(annotation, convert)

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if isinstance(value, self.cls):
            fitting.meet(value, place, self.kind)
            return value
        if not isinstance(value, dict):
            if self._takes_array(value, fitting):
                return self.leaf.converted(value, place, fitting.tally(self))
            raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}")
        key = id(value), self.kind
        if key not in fitting.copies:
            fitting.copies[key] = value, None  # taken already where it contains itself
            try:
                fitting.copies[key] = value, self._made_of(value, key, place, fitting)
            except Misfit:
                del fitting.copies[key]
                raise
        found = fitting.copies[key][1]
        if found is None:
            raise Misfit(place, "it contains itself, and so it cannot be converted")
        return found

    def _takes_array(self, value: Any, fitting: Any) -> bool:
        """Is this an array for a struct that is one, which msgspec builds with whatever members there are?"""
        options = getattr(self.cls, "__struct_config__", None)
        if not isinstance(value, list) or options is None or not options.array_like:
            return False
        return not fitting.shape_of(self.kind).walked

    def _made_of(self, value: dict[Any, Any], key: Any, place: Place, fitting: Any) -> Any:
        shape = fitting.shape_of(self.kind)
        if shape is not None and shape.registered:
            return shape.fill(value, key, place, fitting)
        if shape is not None and shape.walked:
            return shape.call(value, place, fitting)
        if hasattr(self.cls, "model_validate"):
            return validated(self.cls, value, place, fitting.tally(self))
        try:
            return self.leaf.converted(value, place, fitting.tally(self))
        except TypeError:  # a class that msgspec cannot make; as an instance, of a registered class, it would do
            raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}") from None

    def takes(self, value: Any) -> bool:
        return isinstance(value, (self.cls, dict))


def _kind(annotation: Any, cls: type[Any]) -> Any:
    try:
        hash(annotation)
    except TypeError:
        return cls
    return annotation if getattr(annotation, "__origin__", None) is cls else cls


class Tuples(Container):
    """A named tuple: a new one, if a member had to be converted."""

    def __init__(self, annotation: Any, cls: Any, convert: Convert | None) -> None:
        self.cls = cls
        self.kind = _kind(annotation, cls)
        make: Any = collections.namedtuple
        self.outline = Leaf(make(cls.__name__, cls._fields, defaults=cls._field_defaults.values(), rename=True), None)
        self.leaf = Leaf(annotation, convert)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        shape = fitting.shape_of(self.kind)
        if shape is None:
            return self.leaf.converted(value, place)
        if isinstance(value, dict) and not isinstance(value, EcmaArray):
            if not shape.registered:
                raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}")
            shape.check_missing(value, place)
            value = shape.built(value, place)
        elif not isinstance(value, self.cls):
            if shape.closed:  # an array would set them
                raise Misfit(place, f"expected {self.cls.__qualname__}, got {kind_name(value)}")
            value = self.cls._make(self.outline.converted(value, place))
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


class Union(Fit):
    """Several annotations: None, then the class that the value is of, then what it can be made into."""

    def __init__(self, annotation: Any, arms: list[Fit], none: bool, convert: Convert | None) -> None:
        self.annotation = annotation
        self.arms = arms
        self.parts = tuple(arms)
        self.none = none
        self.classes = [arm for arm in arms if isinstance(arm, Objects)]
        self.tags = {tag: arm for arm in self.classes if (tag := _tag_of(arm.cls)) is not None}
        self.alone = all(arm.alone for arm in arms)
        self.outline = Leaf(annotation, convert) if self.alone else None
        self._adapter: Any = None

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
        if not isinstance(value, (list, dict, tuple)):
            return self._tried(value, place, fitting)
        key = id(value), self
        if key not in fitting.copies:
            fitting.copies[key] = value, self._tried(value, place, fitting)
        return fitting.copies[key][1]

    def _tried(self, value: Any, place: Place, fitting: Any) -> Any:
        """What the value is to the first that it fits."""
        if isinstance(value, dict):
            for (name, tag), arm in self.tags.items():
                if value.get(name) == tag:
                    return arm(value, place, fitting)
            if self._is_for_pydantic(fitting):
                return self._chosen_by_pydantic(value, place, fitting)
        for one in self.arms:
            if not isinstance(one, Objects):
                try:
                    return one(value, place, fitting)
                except Misfit:
                    continue
        raise Misfit(place, f"expected {type_name(self.annotation)}, got {kind_name(value)}")

    def _is_for_pydantic(self, fitting: Any) -> bool:
        """Are these models, and no more of our business than one of them alone would be?"""
        if len(self.classes) < len(self.arms):
            return False
        return all(
            hasattr(arm.cls, "model_validate") and not (shape := fitting.shape_of(arm.kind)).registered
            and not shape.walked
            for arm in self.classes
        )  # fmt: skip

    def _chosen_by_pydantic(self, value: Any, place: Place, fitting: Any) -> Any:
        if self._adapter is None:
            self._adapter = sys.modules["pydantic"].TypeAdapter(self.annotation)
        return validated(self._adapter, value, place, fitting.tally(self))

    def takes(self, value: Any) -> bool:
        return any(arm.takes(value) for arm in self.arms)


def _tag_of(cls: Any) -> tuple[str, Any] | None:
    """The name and the value by which msgspec tells a struct from others."""
    options = getattr(cls, "__struct_config__", None)
    return None if options is None or options.tag is None else (options.tag_field, options.tag)


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
