"""Which classes travel, and under which alias: the registries.

Dataclasses, attrs classes, named tuples, pydantic models and msgspec structs have a plan (`plans.py`) without being
asked for; any other class gets one when it is registered under an alias.

A name that comes from the wire is only ever looked up in a registry.  Nothing is imported by it, and nothing is built
that was not registered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .fields import declared_by, fields_of
from .members import describe
from .plans import EXTERNAL, WRAPPER, Plan, Rename, bare, make_plan
from .types import TypedObject

C = TypeVar("C", bound=type)

_UNREGISTRABLE: tuple[type, ...] = (str, bytes, bytearray, int, float, complex, list, set, frozenset, type)


class ClassRegistry:
    """Which classes travel under which alias.

    One alias belongs to one class, and one class has one alias.  `amfgate.remote_class` fills the process-wide
    registry, which `classes=None` means everywhere; a registry of your own knows only what you put into it (and the
    Flex collections and small messages, which every registry knows).
    """

    def __init__(self) -> None:
        self._by_alias: dict[str, Plan] = {}
        self._by_class: dict[type, Plan] = {}
        self._lock = threading.Lock()
        # type -> (kind, payload), kept for the encoders by kinds.py; emptied when a class is registered
        self.kinds: dict[type, tuple[int, Any]] = {}
        self.shapes: dict[type, Any] = {}  # the same for fitting/shapes.py; a new one takes its place

    def register(
        self,
        cls: type[Any],
        alias: str,
        *,
        rename: Rename = None,
        exclude: Iterable[str] = (),
        readonly: Iterable[str] = (),
        dynamic: bool = False,
        external: bool = False,
    ) -> None:
        """Let instances of `cls` travel as objects of the class `alias`.

        Members are what the class declares: the fields of a dataclass, an attrs class, a pydantic model, a msgspec
        struct or a named tuple, else annotations and `__slots__`, and with those the other public attributes that an
        instance has.  Coming in, only declared members are set (all public ones if the class declares none); the
        others are dropped, unless `dynamic`.

        rename: "camel" (`unit_price` is `unitPrice` on the wire), a function of the Python name, or a mapping of
            Python names to names on the wire.
        exclude: attributes that never travel.  readonly: attributes that are sent, but not taken from a client.  A
            named tuple or an array-like struct that has some is not made of an array either.
        dynamic: members that are not declared travel too, both ways.
        external: the class writes and reads itself, with `__writeamf__(self, output)` and `__readamf__(self, input)`.

        A class whose base is registered already, in this registry, has the base's members first.  It inherits what is
        excluded and what is read-only, and the base's `rename` unless it has its own.  Instances of a child class that
        is not registered itself have no alias: those of classes with fields travel as anonymous objects, under the
        same options, others not at all.

        Classes that SQLAlchemy or Django map to tables are registered as any other: see `amfgate.contrib.orm`.

        ValueError if the alias is "", or the alias or the class is taken; TypeError for what cannot be an object.
        """
        if not isinstance(cls, type):
            raise TypeError(f"register() takes a class, not {cls!r}")
        for base in _UNREGISTRABLE:
            if issubclass(cls, base):
                raise TypeError(f"{cls.__qualname__} is a {base.__name__}: it travels as that, not as an object")
        if not isinstance(alias, str) or not alias:
            raise ValueError(f"an alias is a text that is not empty, not {alias!r}")
        if external:
            for method in ("__readamf__", "__writeamf__"):
                if not callable(getattr(cls, method, None)):
                    raise TypeError(f"{cls.__qualname__} is to be externalizable and has no {method}(self, stream)")
            plan = Plan(cls, alias, EXTERNAL)
            plan.make = lambda: bare(cls)
            fields = fields_of(cls)
            names = declared_by(cls) if fields is None else fields
            plan.declared = tuple((name, name, False) for name in names)
        else:
            rename, excluded, closed = self._inherited(cls, rename, exclude, readonly)
            plan = make_plan(cls, alias, rename, excluded, closed, dynamic)
        with self._lock:
            taken = self._by_alias.get(alias)
            if taken is not None and taken.cls is not cls:
                raise ValueError(
                    f"the alias {alias!r} belongs to {taken.cls.__module__}.{taken.cls.__qualname__} already"
                )
            known = self._by_class.get(cls)
            if known is not None and known.alias != alias:
                raise ValueError(f"{cls.__qualname__} is registered as {known.alias!r} already")
            self._by_alias[alias] = self._by_class[cls] = plan
            self.kinds.clear()
            self.shapes = {}  # not cleared: another thread may be working one out, by what it knew

    def unregister(self, cls: type[Any]) -> None:
        """Forget a class; KeyError if it is not registered."""
        with self._lock:
            del self._by_alias[self._by_class.pop(cls).alias]
            self.kinds.clear()
            self.shapes = {}

    def _inherited(
        self, cls: type[Any], rename: Rename, exclude: Iterable[str], readonly: Iterable[str]
    ) -> tuple[Rename, frozenset[str], frozenset[str]]:
        """The options of a class with those of its registered bases."""
        excluded, closed = frozenset(exclude), frozenset(readonly)
        for base in cls.__mro__[1:]:
            plan = self._by_class.get(base)
            if plan is not None:
                rename = plan.rename if rename is None else rename
                excluded |= plan.exclude
                closed |= plan.readonly
        return rename, excluded, closed

    def plan_of(self, cls: type[Any]) -> Plan | None:
        """The plan of a class: as registered, built in, or worked out from its fields; None if it is no object."""
        plan = self._by_class.get(cls) or _BUILTIN_CLASSES.get(cls)
        if plan is not None:
            return plan.complete()
        if fields_of(cls) is not None:
            return make_plan(cls, "", *self._inherited(cls, None, (), ()), False).complete()
        return None

    def plan_for(self, alias: str) -> Plan | None:
        """The plan registered for an alias; None for one that nobody registered."""
        plan = self._by_alias.get(alias)
        return _BUILTIN_ALIASES.get(alias) if plan is None else plan.complete()

    def plans(self) -> list[Plan]:
        """The plans of the registered classes, sorted by alias."""
        return [plan.complete() for _, plan in sorted(self._by_alias.items())]

    def describe(self) -> list[dict[str, Any]]:
        """What is registered, for people and generators, sorted by alias; JSON can hold it.

        alias; class, with its module; description, the first line of its docstring; base, the alias of the nearest
        base class that is registered, or None; dynamic: may an instance have other members than those listed?;
        external: does the class write itself?; members, those of base classes first, each with name (on the wire),
        attribute (in Python), type (as it is annotated, "" for unknown), required and readonly.
        """
        return [describe(plan, self._by_class) for plan in self.plans()]

    def __contains__(self, cls: object) -> bool:
        return cls in self._by_class

    def __iter__(self) -> Any:
        return iter(list(self._by_class))

    def __repr__(self) -> str:
        return f"<ClassRegistry of {len(self._by_class)} classes>"


_BUILTIN_ALIASES: dict[str, Plan] = {}
_BUILTIN_CLASSES: dict[type, Plan] = {}

default_registry = ClassRegistry()
"""The process-wide registry, which `@remote_class` fills."""


def register_builtin(cls: type[Any], *aliases: str, wrapper: bool = False) -> None:
    """Make a class known to every registry, under the first of `aliases` when written and any of them when read.

    wrapper: the payload is one value, the instance's `.source`, and decoding with `plain=True` gives just that.
    Otherwise the class reads and writes its payload itself.
    """
    for alias in aliases:
        plan = Plan(cls, alias, WRAPPER if wrapper else EXTERNAL)
        plan.make = _maker(cls, alias, aliases[0])
        _BUILTIN_ALIASES[alias] = plan
    _BUILTIN_CLASSES[cls] = _BUILTIN_ALIASES[aliases[0]]


def _maker(cls: type[Any], alias: str, usual: str) -> Callable[[], Any]:
    """A bare instance of a built-in class; one that came under an unusual alias remembers it."""

    def make() -> Any:
        instance = bare(cls)
        if isinstance(instance, TypedObject):
            instance.alias = alias
        elif alias != usual:
            instance.__amf_alias__ = alias
        return instance

    return make


def remote_class(
    alias: str,
    *,
    rename: Rename = None,
    exclude: Iterable[str] = (),
    readonly: Iterable[str] = (),
    dynamic: bool = False,
    external: bool = False,
) -> Callable[[C], C]:
    """Register the decorated class in the process-wide registry, as ActionScript's `[RemoteClass(alias=...)]`.

        @amfgate.remote_class("com.example.Product")
        @dataclass
        class Product:
            id: int
            name: str = ""

    The options are those of `ClassRegistry.register`.
    """
    if not isinstance(alias, str):
        raise TypeError('@amfgate.remote_class needs the alias of the class: @amfgate.remote_class("com.example.Name")')

    def decorate(cls: C) -> C:
        default_registry.register(
            cls, alias, rename=rename, exclude=exclude, readonly=readonly, dynamic=dynamic, external=external
        )
        return cls

    return decorate


def alias_of(value: Any) -> str | None:
    """The alias that a value travels under; None for plain data and what the process-wide registry does not know."""
    if isinstance(value, TypedObject):
        return value.alias or None
    alias = getattr(value, "__amf_alias__", None)  # a wrapper that was read under another of its names
    if isinstance(alias, str) and type(value) in _BUILTIN_CLASSES:
        return alias
    found = plan(type(value))
    return found.alias or None if found is not None else None


def plan(cls: type[Any]) -> Plan | None:
    """How instances of a class travel, as the process-wide registry knows it; None for what is no object."""
    return default_registry.plan_of(cls)
