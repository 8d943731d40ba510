"""The Fits of scalars, and of containers without value objects: what msgspec does alone."""

from __future__ import annotations

import datetime as dt
import typing
from typing import Any

import msgspec

from ..errors import said
from .copies import Tally
from .misfit import Misfit, Place, split_message
from .plain import ARRAYS, OBJECTS, Convert, converter


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
            fitting.copies[key] = value, self.converted(value, place, fitting.tally(self))
        return fitting.copies[key][1]

    def converted(self, value: Any, place: Place, tally: Tally | None = None) -> Any:
        convert = self._convert
        if convert is None:
            convert = self._convert = _converter(self.annotation)
        try:
            return convert(value, tally)
        except msgspec.ValidationError as error:
            beyond, reason = split_message(said(error))
            raise Misfit(place, reason, beyond) from None

    def takes(self, value: Any) -> bool:
        origin = typing.get_origin(self.annotation) or self.annotation
        if isinstance(value, dict):
            return origin in OBJECTS
        if isinstance(value, (list, tuple)):
            return origin in ARRAYS
        return isinstance(origin, type) and isinstance(value, origin)


def _converter(annotation: Any) -> Convert:
    """The function that converts to a member's annotation; one that takes anything if msgspec cannot do that."""
    try:
        found = converter(annotation)
    except (TypeError, ValueError, NameError, AttributeError):
        found = None
    return found or (lambda value, tally=None: value)


class Whole(Leaf):
    """`int`: a number with a fraction that is zero, as AMF3 has large ones, is a whole number."""

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if value.__class__ is float and value.is_integer():
            value = int(value)
            if self.annotation is int:
                return value
        return self.converted(value, place)


class Real(Leaf):
    """`float`: a number without a fraction, which arrives as an int, is one too."""

    def __call__(self, value: Any, place: Place, fitting: Any) -> Any:
        if value.__class__ is int and self.annotation is float:
            return float(value)
        return self.converted(value, place)

    def takes(self, value: Any) -> bool:
        return value.__class__ in (int, float)


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
