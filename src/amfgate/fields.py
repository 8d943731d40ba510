"""What a class declares: the names of its members, and what they are when nobody says.

Dataclasses, attrs classes, pydantic models, msgspec structs and named tuples declare fields; any other class
declares by annotations and `__slots__`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, get_origin

_IMMUTABLE = (str, bytes, int, float, type(None))


def fields_of(cls: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass, attrs class, pydantic model, msgspec struct or named tuple; None for others."""
    if "__dataclass_fields__" in cls.__dict__ or dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    for name in ("__attrs_attrs__", "__struct_fields__", "__pydantic_fields__"):
        found = getattr(cls, name, None)
        if found is not None:
            return tuple(field.name for field in found) if name == "__attrs_attrs__" else tuple(found)
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        return tuple(cls._fields)
    return None


def is_pydantic_model(cls: Any) -> bool:
    """Is this a BaseModel?  The dataclasses that pydantic makes have fields and a validator, too."""
    return hasattr(cls, "__pydantic_fields_set__") and hasattr(cls, "__pydantic_fields__")


def declared_by(cls: type[Any]) -> tuple[str, ...]:
    """The public annotations and slots of an ordinary class, those of its bases first."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__[:-1]):
        for name, annotation in annotations_in(base).items():
            if not name.startswith("_") and not _is_class_variable(annotation):
                names[name] = None
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("_"):
                names[name] = None
    return tuple(names)


def annotations_in(cls: type[Any]) -> Mapping[str, Any]:
    """What the body of a class annotates, without its bases, as it is written there."""
    if sys.version_info >= (3, 14):  # evaluating could fail on a name that is only imported for type checkers
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    found = cls.__dict__.get("__annotations__", {})
    return found if isinstance(found, Mapping) else {}


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.partition("[")[0].strip() in ("ClassVar", "typing.ClassVar", "t.ClassVar")
    return annotation is ClassVar or get_origin(annotation) is ClassVar


class Constant:
    """Makes a default that is the same for every instance."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def defaults_of(cls: Any, fields: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """field -> a function that makes its default; a field that has none gets None."""
    found = declared_defaults(cls)
    return {name: found.get(name, _none) for name in fields}


def declared_defaults(cls: Any) -> dict[str, Callable[[], Any]]:
    """field -> a function that makes its default, for the fields that have one."""
    found: dict[str, Callable[[], Any]] = {}
    if hasattr(cls, "__pydantic_fields__"):
        for name, info in cls.__pydantic_fields__.items():
            if isinstance(info.default, _IMMUTABLE) and info.default_factory is None:
                found[name] = Constant(info.default)
            elif not info.is_required():
                found[name] = partial(info.get_default, call_default_factory=True)
    elif dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if field.default_factory is not dataclasses.MISSING:
                found[field.name] = field.default_factory
            elif field.default is not dataclasses.MISSING:
                found[field.name] = Constant(field.default)
    elif hasattr(cls, "__attrs_attrs__"):
        for field in cls.__attrs_attrs__:
            factory = getattr(field.default, "factory", None)
            if factory is not None and not getattr(field.default, "takes_self", False):
                found[field.name] = factory
            elif factory is None and type(field.default).__name__ not in ("_Nothing", "NothingType"):
                found[field.name] = Constant(field.default)
    elif hasattr(cls, "__struct_fields__"):
        import msgspec

        for struct_field in msgspec.structs.fields(cls):
            if struct_field.default_factory is not msgspec.NODEFAULT:
                found[struct_field.name] = struct_field.default_factory
            elif struct_field.default is not msgspec.NODEFAULT:
                found[struct_field.name] = Constant(struct_field.default)
    elif issubclass(cls, tuple):
        for name, value in getattr(cls, "_field_defaults", {}).items():
            found[name] = Constant(value)
    return found


def _none() -> None:
    return None


def camel(name: str) -> str:
    """`unit_price` -> `unitPrice`; underscores in front and behind stay."""
    front = name[: len(name) - len(name.lstrip("_"))]
    back = name[len(name.rstrip("_")) :] if name.strip("_") else ""
    first, *rest = name.strip("_").split("_")
    return front + first + "".join(word[:1].upper() + word[1:] for word in rest) + back
