"""What the instances of a class are to be: its members, each with the Fit of its annotation."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

from ..classes import ClassRegistry
from ..errors import said
from ..fields import is_pydantic_model
from ..members import Member, bound, members_of, parameters_of
from ..plans import MEMBERS, Plan
from ..types import EcmaArray, TypedObject, undefined
from .annotations import annotation_fit, exact_class
from .copies import Tally
from .leaves import Fit
from .misfit import Misfit, Place
from .objects import Converted, Objects, Tuples
from .own_rules import incoming_names, pydantic_misfit, validate_attrs, validate_pydantic

_NOTHING: Final = object()


class Shape:
    """What the instances of one class are to be, as one registry knows it.

    kind: the class, or `Page[Order]`.
    members: of each that a client may set and that does not take anything: attribute, name on the wire, the class that
        needs no look, the default that needs none, and the Fit.
    finish: checks an instance as a whole, by the rules of its own; None where there are none.
    """

    def __init__(self, kind: Any, plan: Plan, classes: ClassRegistry) -> None:
        self.plan = plan
        self.registered = plan.cls in classes
        self._classes = classes
        cls = plan.cls
        known = parameters_of(kind)
        every = [member._replace(annotation=bound(member.annotation, known)) for member in members_of(plan)]
        self.wires = {member.attribute: member.name for member in every}
        self.closed = plan.exclude | {member.attribute for member in every if member.readonly}
        self.required = tuple(
            member.name for member in every if member.required and not member.readonly and plan.held is None
        )
        pydantic = hasattr(cls, "__pydantic_validator__") and plan.held is None
        self.members = tuple(self._members(every, pydantic))
        self.finish: Callable[[Any, Place, dict[str, str], frozenset[str], Tally], None] | None = None
        if pydantic:
            self.finish = validate_pydantic
        elif hasattr(cls, "__attrs_attrs__"):
            self.finish = validate_attrs

    def _members(self, every: list[Member], pydantic: bool) -> Iterator[tuple[str, str, type | None, Any, Fit]]:
        converters = {
            field.name: field.converter
            for field in getattr(self.plan.cls, "__attrs_attrs__", ())
            if field.converter is not None
        }
        for member in every:
            if member.readonly:
                continue
            attribute, fit = member.attribute, annotation_fit(member.annotation)
            if attribute in converters:
                fit = Converted(converters[attribute], self.plan.cls, attribute, fit)
            elif fit is None or pydantic and not _holds_objects(fit):  # the rest is pydantic's affair
                continue
            exact = exact_class(fit)
            yield attribute, member.name, exact, _NOTHING if member.required else member.default, fit

    @cached_property
    def walked(self) -> bool:
        """Is a plain object made into an instance here, and not by msgspec or pydantic, which know no registry?

        So it is where the annotations lead to a registered class.  Nor does msgspec, which takes the dataclasses of
        pydantic for dataclasses, run their rules.
        """
        seen: set[Any] = set()
        ahead: list[Shape] = [self]
        while ahead:
            shape = ahead.pop()
            cls = shape.plan.cls
            if shape.registered or hasattr(cls, "__pydantic_validator__") and not is_pydantic_model(cls):
                return True
            fits = [fit for _, _, _, _, fit in shape.members]
            while fits:
                fit = fits.pop()
                fits.extend(fit.parts)
                if isinstance(fit, (Objects, Tuples)) and fit.kind not in seen:
                    seen.add(fit.kind)
                    found = shape_of(fit.kind, self._classes)
                    if found is not None:
                        ahead.append(found)
                    elif fit.cls in self._classes:
                        return True
            if len(seen) > KINDS_FOLLOWED:
                return True
        return False

    def fit(self, instance: Any, place: Place, fitting: Any) -> None:
        """Fit the members of an instance."""
        plan = self.plan
        held = plan.held
        for attribute, wire, exact, default, fit in self.members:
            value = getattr(instance, attribute, undefined) if held is None else held(instance, attribute)
            if value.__class__ is exact or value is default:
                continue
            if value is undefined and held is not None:
                continue
            fitted = fit(value, (place, wire), fitting)
            if fitted is not value:
                try:
                    plan.assign(instance, attribute, fitted)
                except (TypeError, ValueError, AttributeError) as error:
                    raise Misfit((place, wire), said(error)) from error

    def check_missing(self, members: dict[Any, Any], place: Place) -> None:
        for wire in self.required:
            if wire not in members:
                raise Misfit(place, f"object missing required field {wire}")

    def built(self, members: dict[Any, Any], place: Place) -> Any:
        """A named tuple out of a plain object."""
        assert self.plan.build is not None
        return self.plan.build(members)[0]

    def fill(self, members: dict[Any, Any], key: Any, place: Place, fitting: Any) -> Any:
        """An instance of a registered class out of a plain object, as if the client had named the class."""
        self.check_missing(members, place)
        plan = self.plan
        assert plan.make is not None
        try:
            instance = plan.make()
        except RecursionError:
            raise
        except Exception as error:
            raise Misfit(place, said(error)) from error
        fitting.copies[key] = members, instance
        given = members
        if plan.held is not None:  # the mapping takes instances only
            given = dict(members)
            for _, wire, _, _, fit in self.members:
                if wire in given:
                    given[wire] = fit(given[wire], (place, wire), fitting)
        if isinstance(members, EcmaArray):  # whose keys may be numbers
            given = {name: value for name, value in given.items() if isinstance(name, str)}
        try:
            plan.fill(instance, given)
        except RecursionError:
            raise
        except Exception as error:
            raise Misfit(place, said(error)) from error
        fitting.meet(instance, place, key[1])
        return instance

    def call(self, members: dict[Any, Any], place: Place, fitting: Any) -> Any:
        """An instance of a class that is not registered but holds some that are, out of a plain object."""
        cls = self.plan.cls
        given = dict(members) if self._is_model else {}
        for names, argument, required, fit in self._arguments:
            came = [name for name in names if name in members]
            for name in came:
                value = members[name] if fit is None else fit(members[name], (place, name), fitting)
                given[name if self._is_model else argument] = value
            if required and not came and not self._is_model:
                raise Misfit(place, f"object missing required field {names[0]}")
        try:
            instance = cls.model_validate(given) if self._is_model else cls(**given)
        except ValueError as error:
            raise pydantic_misfit(error, place, {}) from error
        except TypeError as error:
            raise Misfit(place, said(error)) from error
        fitting.meet(instance, place)
        return instance

    @cached_property
    def _is_model(self) -> bool:
        return is_pydantic_model(self.plan.cls)

    @cached_property
    def _arguments(self) -> list[tuple[tuple[str, ...], str, bool, Fit | None]]:
        """For `call`: the names of a field in a plain object, of the argument, is it required, and its Fit."""
        fits = {attribute: fit for attribute, _, _, _, fit in self.members}
        required = {member.attribute for member in members_of(self.plan) if member.required}
        return [
            (names, argument, attribute in required, fits.get(attribute))
            for attribute, (names, argument) in incoming_names(self.plan.cls).items()
        ]


def shape_of(kind: Any, classes: ClassRegistry) -> Shape | None:
    """The shape of a class, worked out once; None for what is no object, or writes and reads itself.

    kind: the class, or `Page[Order]`.
    """
    shapes = classes.shapes  # which another takes the place of when a class is registered
    try:
        found: Shape | None = shapes[kind]
    except KeyError:
        cls = typing.get_origin(kind) or kind
        plan = classes.plan_of(cls)
        fits = plan is not None and plan.form == MEMBERS and not issubclass(cls, TypedObject)
        if len(shapes) >= SHAPES_KEPT:
            shapes.clear()
        found = shapes[kind] = Shape(kind, plan, classes) if plan is not None and fits else None
    return found


SHAPES_KEPT: Final = 1024
"""As for the kinds of the encoders: a program may make classes as it goes."""

KINDS_FOLLOWED: Final = 200
"""Of classes that lead to one another; `class Nest(Generic[T]): inner: Nest[list[T]]` leads to new ones without end."""


def _holds_objects(fit: Fit) -> bool:
    return isinstance(fit, (Objects, Tuples)) or any(_holds_objects(part) for part in fit.parts)
