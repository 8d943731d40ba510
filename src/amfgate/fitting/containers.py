"""The Fits of containers that hold value objects, or anything else that msgspec does not do alone.

They are walked here: msgspec would take instances as they are, and build others from plain objects by their Python
names, with members that no client may set.
"""

from __future__ import annotations

import types
import typing
from typing import Any

from ..errors import said
from .leaves import Fit, Leaf
from .misfit import Misfit, Place


class Container(Fit):
    """What is fitted once, however often it is met."""

    outline: Leaf
    kind: Any = None  # what makes the same of a value as this does, if not this alone

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        key = id(value), self.kind or self
        if key not in fitting.copies:
            fitting.copies[key] = value, self.fitted(value, place, fitting)
        return fitting.copies[key][1]

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        raise NotImplementedError


class Arrays(Container):
    """list[Line], set[date], tuple[Line, ...]; a list whose items fit as they are stays the same list."""

    def __init__(self, made: Any, item: Fit) -> None:
        self.made = made
        self.outline = Leaf(list[Any], None)
        self.item = item
        self.parts = (item,)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        items = value if isinstance(value, (list, tuple)) else self.outline.converted(value, place)
        found = []
        same = value.__class__ is self.made
        for index, item in enumerate(items):
            fitted = self.item(item, (place, index), fitting)
            same = same and fitted is item
            found.append(fitted)
        if same:
            return value
        if self.made is list:
            return found
        try:
            return self.made(found)
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


class TypedDicts(Container):
    """A TypedDict, its keys annotated as in `hints`; keys that it does not have are dropped, as msgspec does."""

    def __init__(self, cls: Any, hints: dict[str, Any], fits: dict[str, Fit | None]) -> None:
        self.fits = fits
        kinds = {name: typing.get_origin(one) for name, one in hints.items()}
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


class Constrained(Container):
    """Annotated[list[Line], msgspec.Meta(min_length=1)]: what is inside, and then what is said of the whole."""

    def __init__(self, inner: Fit, annotation: Any) -> None:
        self.inner = inner
        self.parts = (inner,)
        said_of = typing.get_args(annotation)[0]
        if typing.get_origin(said_of) in (typing.Union, types.UnionType):  # of what is not None
            said_of = next((one for one in typing.get_args(said_of) if one is not type(None)), Any)
        self.outline = Leaf(typing.Annotated[(typing.get_origin(said_of) or said_of, *annotation.__metadata__)], None)

    def fitted(self, value: Any, place: Place, fitting: Any) -> Any:
        found = self.inner(value, place, fitting)
        if found is not None:
            self.outline.converted(found, place)
        return found

    def takes(self, value: Any) -> bool:
        return self.inner.takes(value)


class Again(Fit):
    """An alias inside of itself: `type Tree = Line | list[Tree]`.  `fit` is that of the whole."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self.fit: Fit | None = None

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        return value if self.fit is None else self.fit(value, place, fitting)

    def takes(self, value: Any) -> bool:
        return self.fit is not None and self.fit.takes(value)
