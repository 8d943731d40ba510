"""What the members of a class are, for whoever has to know more than their names: types, defaults, which may be set.

The codec needs none of this.  It is for checking arguments, for describing a registry, for generating classes of other
languages.
"""

from __future__ import annotations

import collections.abc
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

from .fields import Constant, annotations_in, declared_defaults, fields_of
from .plans import EXTERNAL, Plan


class Member(NamedTuple):
    """One member of a class.

    attribute: its name in Python.  name: its name on the wire.
    annotation: its type, resolved; Any when there is none or its names cannot be found.
    required: it has no default.  readonly: it is sent, but not taken from a client.
    default: what it is when it does not come; None also when a function makes it, and when it is required.
    """

    attribute: str
    name: str
    annotation: Any
    required: bool
    readonly: bool
    default: Any


def members_of(plan: Plan) -> tuple[Member, ...]:
    """The members that a class declares, in the order in which they travel; () for the built-in wrappers."""
    if plan.members is not None:
        return plan.members()
    cls = plan.cls
    hints = annotations_of(cls)
    defaults = declared_defaults(cls) if fields_of(cls) is not None else _class_attributes(plan)
    return tuple(
        Member(
            attribute,
            name,
            hints.get(attribute, Any),
            attribute not in defaults,
            readonly,
            getattr(defaults.get(attribute), "value", None),
        )
        for attribute, name, readonly in plan.declared
    )


def _class_attributes(plan: Plan) -> dict[str, Constant]:
    """The defaults of an ordinary class."""
    missing = object()
    found: dict[str, Constant] = {}
    for attribute, _, _ in plan.declared:
        value = getattr(plan.cls, attribute, missing)
        if value is not missing and not isinstance(value, types.MemberDescriptorType):
            found[attribute] = Constant(value)
    return found


def annotations_of(cls: type[Any]) -> dict[str, Any]:
    """The annotations of a class and its bases, resolved; one whose names cannot be found is left out.

    `Self` is the class.  What a base calls `T` is what the class has made of it: `class Orders(Page[Order])`.
    """
    found = {}
    meanings = _meanings(cls)
    for name, annotation in _hints_of(cls).items():
        owner = next((base for base in cls.__mro__ if name in annotations_in(base)), cls)
        found[name] = bound(annotation, {typing.Self: cls, **meanings.get(owner, {})})
    if any(getattr(base, "__pydantic_generic_metadata__", _NO_GENERIC)["origin"] for base in cls.__mro__):
        # Page[Order] is a class of its own to pydantic, which has worked out what T is there.
        found.update((name, field.annotation) for name, field in cls.__pydantic_fields__.items())
    return found


_NO_GENERIC = {"origin": None}


def _meanings(cls: type[Any]) -> dict[Any, dict[Any, Any]]:
    """For each generic base of a class, what its type variables are."""
    found: dict[Any, dict[Any, Any]] = {}
    ahead: list[tuple[Any, dict[Any, Any]]] = [(cls, {})]
    while ahead:
        one, known = ahead.pop()
        bases = {typing.get_origin(base) or base: base for base in one.__dict__.get("__orig_bases__", ())}
        for base in one.__bases__:
            given = {name: bound(each, known) for name, each in parameters_of(bases.get(base)).items()}
            found.setdefault(base, given)
            ahead.append((base, given))
    return found


def parameters_of(annotation: Any) -> dict[Any, Any]:
    """What the type variables of a class are in an annotation: {T: Order} for `Page[Order]`; {} for most."""
    names = getattr(typing.get_origin(annotation), "__parameters__", ()) or getattr(
        typing.get_origin(annotation), "__type_params__", ()
    )
    given = typing.get_args(annotation)
    return dict(zip(names, given, strict=True)) if len(names) == len(given) else {}


def bound(annotation: Any, meanings: Mapping[Any, Any]) -> Any:
    """An annotation with what is meant in the place of type variables and `Self`."""
    if not meanings:
        return annotation
    if annotation is typing.Self or isinstance(annotation, typing.TypeVar):
        return meanings.get(annotation, annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        inner = bound(arguments[0], meanings)
        return annotation if inner is arguments[0] else typing.Annotated[(inner, *annotation.__metadata__)]
    if origin is collections.abc.Callable or origin is typing.Literal:
        return annotation
    found = tuple(bound(one, meanings) for one in arguments)
    if all(new is old for new, old in zip(found, arguments, strict=True)):
        return annotation
    if origin is types.UnionType or origin is typing.Union:
        return typing.Union[found]  # noqa: UP007 (of as many as there are)
    try:
        return annotation.copy_with(found)
    except AttributeError:
        return origin[found]


def _hints_of(cls: type[Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:
        pass
    # One of them cannot be made out: each by itself, in the module that it was written in.
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        scope = getattr(sys.modules.get(base.__module__), "__dict__", {})
        for name, annotation in annotations_in(base).items():
            holder = types.SimpleNamespace(__annotations__={name: annotation})
            hints.pop(name, None)
            try:
                hints.update(typing.get_type_hints(holder, scope, dict(vars(base)), include_extras=True))
            except Exception:
                continue
    return hints


def describe(plan: Plan, registered: Mapping[type, Plan]) -> dict[str, Any]:
    """A registered class as `ClassRegistry.describe` tells it."""
    cls = plan.cls
    base = next((registered[one].alias for one in cls.__mro__[1:] if one in registered), None)
    return {
        "alias": plan.alias,
        "class": f"{cls.__module__}.{cls.__qualname__}",
        "description": next(iter(doc_lines(cls, fields_of(cls) is not None)), ""),
        "base": base,
        "dynamic": plan.dynamic or plan.names is None and not plan.declared,
        "external": plan.form == EXTERNAL,
        "members": [
            {
                "name": member.name,
                "attribute": member.attribute,
                "type": "" if member.annotation is Any else type_name(member.annotation),
                "required": member.required,
                "readonly": member.readonly,
            }
            for member in members_of(plan)
        ],
    }


def doc_lines(thing: Any, fields: bool = False) -> list[str]:
    """The lines of a class's own docstring; those that dataclasses and named tuples write themselves are none."""
    text = inspect.cleandoc(vars(thing).get("__doc__") or "")
    if fields and text.startswith(f"{thing.__name__}(") or not text:
        return []
    return text.split("\n")


def type_name(annotation: Any) -> str:
    """An annotation as it is written, for people: "list[int]", "" for none."""
    if annotation is inspect.Parameter.empty:  # the same object as inspect.Signature.empty
        return ""
    if annotation is type(None) or annotation is None:
        return "None"
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__qualname__
    return str(annotation).replace("typing.", "")
