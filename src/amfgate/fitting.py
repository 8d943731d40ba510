"""Do the members of what a client sent fit their annotations?

The decoder makes an instance of the class that the wire names and puts into it what came, whatever that is.  When such
an instance is bound to an annotated parameter it is fitted: each member is checked against the annotation of its class
and converted, in place, so that the service gets the very object that was decoded, with its identity and its cycles.
What does not fit is a Misfit, with the path that leads to it: `$` is the argument, `.unitPrice` a member by its name on
the wire, which is what the client's programmer knows, `[2]` an item.

An annotation is worked out once, into a Fit (`fits.py`), a class once for each registry, into a Shape.

How it ends.  An instance that is met is noted, once, and looked into later, from a list: cycles of instances cost
nothing, and chains of them no stack.  Containers are as deep as annotations say.  A container that is met again under
the same annotation is not fitted again, nor copied again.

Whatever a class declares is looked at when it comes from a client.  So members that are read-only or excluded, which
do not come, are not looked at; nor are defaults.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any, Final

from .classes import ClassRegistry
from .errors import said
from .fields import fields_of
from .fits import Converted, Fit, Objects, Tuples, annotation_fit
from .members import Member, members_of
from .misfit import Misfit, Place
from .own_rules import pydantic_misfit, validate_attrs, validate_pydantic
from .plans import MEMBERS, Plan
from .types import EcmaArray, TypedObject, undefined


class Fitting:
    """The fitting of one call's arguments: which instances were met, and which of them wait to be looked into."""

    __slots__ = ("_met", "_todo", "classes", "copies")

    def __init__(self, classes: ClassRegistry) -> None:
        self.classes = classes
        self._met: dict[int, Any] = {}
        self._todo: list[tuple[Any, Shape, Place]] = []
        # (id of a container, its Fit or class) -> (the container, so that its id stays its own, what it became)
        self.copies: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def meet(self, instance: Any, place: Place) -> None:
        """Note an instance that stands at `place`."""
        number = id(instance)
        if number not in self._met:
            self._met[number] = instance
            shape = shape_of(type(instance), self.classes)
            if shape is not None:
                self._todo.append((instance, shape, place))

    def run(self) -> None:
        """Fit the instances that were met, and those that they lead to; then, inner ones first, each as a whole."""
        for instance, shape, place in self._todo:
            shape.fit(instance, place, self)
        for instance, shape, place in reversed(self._todo):
            if shape.finish is not None:
                shape.finish(instance, place, shape.wires, shape.closed)
        self._todo.clear()

    def shape_of(self, cls: type[Any]) -> Shape | None:
        return shape_of(cls, self.classes)

    def reaches_registered(self, cls: type[Any]) -> bool:
        return reaches_registered(cls, self.classes)


_NOTHING: Final = object()


class Shape:
    """What the instances of one class are to be, as one registry knows it.

    members: of each that a client may set and that does not take anything: attribute, name on the wire, the class that
        needs no look, the default that needs none, and the Fit.
    """

    __slots__ = ("closed", "finish", "members", "plan", "registered", "required", "wires")

    def __init__(self, plan: Plan, registered: bool) -> None:
        self.plan = plan
        self.registered = registered
        cls = plan.cls
        every = members_of(plan)
        self.wires = {member.attribute: member.name for member in every}
        self.closed = plan.exclude | {member.attribute for member in every if member.readonly}
        self.required = tuple(
            member.name for member in every if member.required and not member.readonly and plan.held is None
        )
        pydantic = hasattr(cls, "__pydantic_validator__") and plan.held is None
        self.members = tuple(self._members(every, pydantic))
        self.finish: Callable[[Any, Place, dict[str, str], frozenset[str]], None] | None = None
        if pydantic:
            self.finish = validate_pydantic
        elif hasattr(cls, "__attrs_attrs__"):
            self.finish = validate_attrs

    def _members(self, every: tuple[Member, ...], pydantic: bool) -> Iterator[tuple[str, str, type | None, Any, Fit]]:
        converters = {
            field.name: field.converter
            for field in getattr(self.plan.cls, "__attrs_attrs__", ())
            if field.converter is not None
        }
        for member in every:
            if member.readonly:
                continue
            attribute, annotation = member.attribute, member.annotation
            fit = annotation_fit(annotation)
            if attribute in converters:
                fit, annotation = Converted(converters[attribute], self.plan.cls, attribute, fit), None
            elif fit is None or pydantic and not _holds_objects(fit):  # the rest is pydantic's affair
                continue
            exact = annotation if annotation in (int, str, float, bool, bytes, dt.datetime) else None
            yield attribute, member.name, exact, _NOTHING if member.required else member.default, fit

    def fit(self, instance: Any, place: Place, fitting: Fitting) -> None:
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
        except Exception as error:
            raise Misfit(place, said(error)) from error
        fitting.copies[key] = members, instance
        if plan.held is not None:  # the mapping takes instances only
            members = dict(members)
            for _, wire, _, _, fit in self.members:
                if wire in members:
                    members[wire] = fit(members[wire], (place, wire), fitting)
        try:
            if isinstance(members, EcmaArray):  # whose keys may be numbers
                members = {name: value for name, value in members.items() if isinstance(name, str)}
            plan.fill(instance, members)
        except Exception as error:
            raise Misfit(place, said(error)) from error
        fitting.meet(instance, place)
        return instance

    def call(self, members: dict[Any, Any], place: Place, fitting: Any) -> Any:
        """An instance of a class that is not registered but holds some that are, out of a plain object."""
        cls = self.plan.cls
        pydantic = self.finish is validate_pydantic
        names = _incoming_names(cls)
        fits = {attribute: fit for attribute, _, _, _, fit in self.members}
        given = dict(members) if pydantic else {}
        required = {member.attribute for member in members_of(self.plan) if member.required}
        for attribute, (name, argument) in names.items():
            if name in members:
                fit = fits.get(attribute)
                value = members[name] if fit is None else fit(members[name], (place, name), fitting)
                given[name if pydantic else argument] = value
            elif attribute in required and not pydantic:
                raise Misfit(place, f"object missing required field {name}")
        try:
            instance = cls.model_validate(given) if pydantic else cls(**given)
        except ValueError as error:
            raise pydantic_misfit(error, place, {}) from error
        except TypeError as error:
            raise Misfit(place, said(error)) from error
        fitting.meet(instance, place)
        return instance


def _incoming_names(cls: Any) -> dict[str, tuple[str, str]]:
    """Attribute -> the name that it has in a plain object, and as an argument of the class."""
    if hasattr(cls, "__struct_fields__"):
        return {name: (wire, name) for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__)}
    if hasattr(cls, "__attrs_attrs__"):
        return {field.name: (field.name, field.alias) for field in cls.__attrs_attrs__ if field.init}
    if hasattr(cls, "__pydantic_fields__"):
        return {name: (field.alias or name, name) for name, field in cls.__pydantic_fields__.items()}
    if hasattr(cls, "__dataclass_fields__"):
        return {name: (name, name) for name, field in cls.__dataclass_fields__.items() if field.init}
    return {name: (name, name) for name in fields_of(cls) or ()}


def shape_of(cls: type[Any], classes: ClassRegistry) -> Shape | None:
    """The shape of a class, worked out once; None for what is no object, or writes and reads itself."""
    shapes = classes.shapes
    try:
        found: Shape | None = shapes[cls]
    except KeyError:
        plan = classes.plan_of(cls)
        fits = plan is not None and plan.form == MEMBERS and not issubclass(cls, TypedObject)
        if len(shapes) >= SHAPES_KEPT:
            shapes.clear()
        found = shapes[cls] = Shape(plan, cls in classes) if plan is not None and fits else None
    return found


SHAPES_KEPT: Final = 1024
"""As for the kinds of the encoders: a program may make classes as it goes."""


def _holds_objects(fit: Fit) -> bool:
    return isinstance(fit, (Objects, Tuples)) or any(_holds_objects(part) for part in fit.parts)


def reaches_registered(cls: type[Any], classes: ClassRegistry) -> bool:
    """Do the annotations of a class lead to one that is registered?"""
    seen: set[type] = set()
    ahead: list[type] = [cls]
    while ahead:
        one = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in classes:
            return True
        shape = shape_of(one, classes)
        fits: list[Fit] = [] if shape is None else [fit for _, _, _, _, fit in shape.members]
        while fits:
            fit = fits.pop()
            fits.extend(fit.parts)
            if isinstance(fit, (Objects, Tuples)):
                ahead.append(fit.cls)
    return False
