"""How instances of Python classes travel: plans, and the registries that hold them.

A *plan* is worked out once for a class and says all that the twins need to know of it: the alias, the names of the
members, how to read them from an instance, how to make an instance and fill it.  Dataclasses, attrs classes, named
tuples, pydantic models and msgspec structs have a plan without being asked for; any other class gets one when it is
registered under an alias.

A name that comes from the wire is only ever looked up in a registry.  Nothing is imported by it, and nothing is built that
was not registered.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import types as _types
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, get_origin

from .errors import DecodeError, said
from .types import TypedObject, undefined

C = TypeVar("C", bound=type)
Rename = str | Callable[[str], str] | Mapping[str, str] | None

# How a class's payload is written in AMF3 (`Plan.form`).
MEMBERS, WRAPPER, EXTERNAL = 0, 1, 2

_UNREGISTRABLE = (str, bytes, bytearray, int, float, complex, list, set, frozenset, type)


class Plan:
    """How instances of one class travel.

    alias: the name on the wire, "" for an anonymous object.
    form: MEMBERS; WRAPPER, one value, `.source`; EXTERNAL, bytes that only the class understands.
    names: the sealed members' names on the wire, in order; None when each instance has its own.
    get: instance -> the values of `names`, in order; with `names` None, a dict of name -> value.
    extra: instance -> dict of dynamic members, or None when the class has none to offer.
    make: () -> a bare instance, `__init__` not called; None when an instance cannot be changed once made
        (named tuples): such ones are made last, by `build`.
    fill: (instance, members) -> how many members were missing and got a default.
    build: members -> (instance, defaults), only where `make` is None.

    Two short cuts for the compiled twins, None where they would not do the same:
    attributes: what `get` reads, one attribute for each name, when reading them runs no code of the user's.
    direct: name on the wire -> attribute, when members may be put straight into the instance's `__dict__`.
    """

    __slots__ = ("alias", "attributes", "build", "cls", "direct", "extra", "fill", "form", "get", "make", "names")

    def __init__(self, cls: type, alias: str, form: int = MEMBERS) -> None:
        self.cls = cls
        self.alias = alias
        self.form = form
        self.names: tuple[str, ...] | None = ()
        self.get: Callable[[Any], Any] = _nothing
        self.extra: Callable[[Any], dict[str, Any]] | None = None
        self.make: Callable[[], Any] | None = None
        self.fill: Callable[[Any, dict[str, Any]], int] = _no_members
        self.build: Callable[[dict[str, Any]], tuple[Any, int]] | None = None
        self.attributes: tuple[str, ...] | None = None
        self.direct: dict[str, str] | None = None

    def alias_of(self, instance: Any) -> str:
        """The alias of one instance: a built-in one that was read under another of its names keeps that."""
        own = instance.alias if isinstance(instance, TypedObject) else getattr(instance, "__amf_alias__", None)
        return own if type(own) is str and own else self.alias

    def __repr__(self) -> str:
        return f"<Plan of {self.cls.__qualname__} as {self.alias!r}>"


def _nothing(instance: Any) -> tuple[Any, ...]:
    return ()


def _no_members(instance: Any, members: dict[str, Any]) -> int:
    return 0


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

    def register(
        self,
        cls: type,
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
        exclude: attributes that never travel.  readonly: attributes that are sent, but not taken from a client.
        dynamic: members that are not declared travel too, both ways.
        external: the class writes and reads itself, with `__writeamf__(self, output)` and `__readamf__(self, input)`.

        ValueError if the alias is "", or the alias or the class is taken; TypeError for what cannot be an object.
        """
        if not isinstance(cls, type):
            raise TypeError(f"register() takes a class, not {cls!r}")
        if issubclass(cls, _UNREGISTRABLE):
            raise TypeError(f"{cls.__qualname__} is a {cls.__mro__[-2].__name__}: it travels as that, not as an object")
        if not isinstance(alias, str) or not alias:
            raise ValueError(f"an alias is a text that is not empty, not {alias!r}")
        if external:
            for method in ("__readamf__", "__writeamf__"):
                if not callable(getattr(cls, method, None)):
                    raise TypeError(f"{cls.__qualname__} is to be externalizable and has no {method}(self, stream)")
            plan = Plan(cls, alias, EXTERNAL)
            plan.make = lambda: cls.__new__(cls)
        else:
            plan = make_plan(cls, alias, rename, frozenset(exclude), frozenset(readonly), dynamic)
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

    def unregister(self, cls: type) -> None:
        """Forget a class; KeyError if it is not registered."""
        with self._lock:
            del self._by_alias[self._by_class.pop(cls).alias]
            self.kinds.clear()

    def plan_of(self, cls: type) -> Plan | None:
        """The plan of a class: as registered, built in, or worked out from its fields; None if it is no object."""
        plan = self._by_class.get(cls) or _BUILTIN_CLASSES.get(cls)
        if plan is None and fields_of(cls) is not None:
            plan = make_plan(cls, "", None, frozenset(), frozenset(), False)
        return plan

    def plan_for(self, alias: str) -> Plan | None:
        """The plan registered for an alias; None for one that nobody registered."""
        return self._by_alias.get(alias) or _BUILTIN_ALIASES.get(alias)

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


def register_builtin(cls: type, *aliases: str, wrapper: bool = False) -> None:
    """Make a class known to every registry, under the first of `aliases` when written and any of them when read.

    wrapper: the payload is one value, the instance's `.source`, and decoding with `plain=True` gives just that.
    Otherwise the class reads and writes its payload itself.
    """
    for alias in aliases:
        plan = Plan(cls, alias, WRAPPER if wrapper else EXTERNAL)
        plan.make = _maker(cls, alias, aliases[0])
        _BUILTIN_ALIASES[alias] = plan
    _BUILTIN_CLASSES[cls] = _BUILTIN_ALIASES[aliases[0]]


def _maker(cls: type, alias: str, usual: str) -> Callable[[], Any]:
    """A bare instance of a built-in class; one that came under an unusual alias remembers it."""

    def make() -> Any:
        instance = cls.__new__(cls)
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

    def decorate(cls: C) -> C:
        default_registry.register(
            cls, alias, rename=rename, exclude=exclude, readonly=readonly, dynamic=dynamic, external=external
        )
        return cls

    return decorate


def alias_of(value: Any) -> str | None:
    """The alias that a value travels under; None for plain data and for what the process-wide registry does not know."""
    if isinstance(value, TypedObject):
        return value.alias or None
    alias = getattr(value, "__amf_alias__", None)  # a wrapper that was read under another of its names
    if isinstance(alias, str) and type(value) in _BUILTIN_CLASSES:
        return alias
    plan = default_registry.plan_of(type(value))
    return plan.alias or None if plan is not None else None


# --- fields: what a class declares -----------------------------------------------------------------------------------


def fields_of(cls: type) -> tuple[str, ...] | None:
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


def _declared(cls: type) -> tuple[str, ...]:
    """The public annotations and slots of an ordinary class, those of its bases first."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__[:-1]):
        for name, annotation in _annotations(base).items():
            if not name.startswith("_") and not _is_class_variable(annotation):
                names[name] = None
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("_"):
                names[name] = None
    return tuple(names)


def _annotations(cls: type) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):  # evaluating could fail on a name that is only imported for type checkers
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    found = cls.__dict__.get("__annotations__", {})
    return found if isinstance(found, Mapping) else {}


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))
    return annotation is ClassVar or get_origin(annotation) is ClassVar


def _defaults(cls: type, fields: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """field -> a function that makes its default; a field that has none gets None."""
    found: dict[str, Callable[[], Any]] = {}
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if field.default_factory is not dataclasses.MISSING:
                found[field.name] = field.default_factory
            elif field.default is not dataclasses.MISSING:
                found[field.name] = _constant(field.default)
    elif hasattr(cls, "__attrs_attrs__"):
        for field in cls.__attrs_attrs__:
            factory = getattr(field.default, "factory", None)
            if factory is not None and not getattr(field.default, "takes_self", False):
                found[field.name] = factory
            elif factory is None and type(field.default).__name__ not in ("_Nothing", "NothingType"):
                found[field.name] = _constant(field.default)
    elif hasattr(cls, "__struct_fields__"):
        import msgspec

        for struct_field in msgspec.structs.fields(cls):
            if struct_field.default_factory is not msgspec.NODEFAULT:
                found[struct_field.name] = struct_field.default_factory
            elif struct_field.default is not msgspec.NODEFAULT:
                found[struct_field.name] = _constant(struct_field.default)
    elif hasattr(cls, "__pydantic_fields__"):
        for name, info in cls.__pydantic_fields__.items():
            if not info.is_required():
                found[name] = lambda info=info: info.get_default(call_default_factory=True)
    elif issubclass(cls, tuple):
        for name, value in getattr(cls, "_field_defaults", {}).items():
            found[name] = _constant(value)
    return {name: found.get(name, _none) for name in fields}


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _none() -> None:
    return None


def camel(name: str) -> str:
    """`unit_price` -> `unitPrice`; underscores in front and behind stay."""
    front = name[: len(name) - len(name.lstrip("_"))]
    back = name[len(name.rstrip("_")) :] if name.strip("_") else ""
    first, *rest = name.strip("_").split("_")
    return front + first + "".join(word[:1].upper() + word[1:] for word in rest) + back


# --- plans -----------------------------------------------------------------------------------------------------------


def make_plan(
    cls: type,
    alias: str,
    rename: Rename,
    exclude: frozenset[str],
    readonly: frozenset[str],
    dynamic: bool,
) -> Plan:
    """Work out how instances of `cls` travel under `alias`; see `ClassRegistry.register` for the options."""
    fields = fields_of(cls)
    declared = _declared(cls) if fields is None else fields
    for option, given in (("exclude", exclude), ("readonly", readonly)):
        for name in given:
            if declared and name not in declared and not hasattr(cls, name):
                raise ValueError(
                    f"{option}: {cls.__qualname__} has no member {name!r}; it declares {', '.join(declared)}"
                )
    to_wire = _renamer(rename)
    attributes = tuple(name for name in declared if name not in exclude)
    names = tuple(to_wire(name) for name in attributes)
    if len(set(names)) != len(names):
        raise ValueError(f"two members of {cls.__qualname__} have one name on the wire: {', '.join(names)}")
    incoming = {wire: name for wire, name in zip(names, attributes, strict=True) if name not in readonly}
    plan = Plan(cls, alias)
    plan.names = names
    if fields is None:
        _plan_ordinary(plan, attributes, to_wire, exclude, readonly, incoming, dynamic)
    elif issubclass(cls, tuple):
        _plan_namedtuple(plan, attributes, incoming)
    else:
        _plan_fields(plan, attributes, exclude | readonly, incoming, dynamic)
    return plan


def _renamer(rename: Rename) -> Callable[[str], str]:
    if rename is None:
        return lambda name: name
    if rename == "camel":
        return camel
    if isinstance(rename, Mapping):
        mapping = dict(rename)
        return lambda name: mapping.get(name, name)
    if callable(rename):
        return rename
    raise ValueError(f'rename is "camel", a function or a mapping, not {rename!r}')


def _getter(attributes: tuple[str, ...]) -> Callable[[Any], Any]:
    """instance -> the values of `attributes`; one that the instance lacks is undefined."""
    if not attributes:
        return _nothing
    fetch = attrgetter(*attributes)
    single = len(attributes) == 1

    def get(instance: Any) -> Any:
        try:
            values = fetch(instance)
        except AttributeError:
            return [getattr(instance, name, undefined) for name in attributes]
        return (values,) if single else values

    return get


def _plan_fields(
    plan: Plan,
    attributes: tuple[str, ...],
    closed: frozenset[str],
    incoming: dict[str, str],
    dynamic: bool,
) -> None:
    """Dataclasses, attrs classes, pydantic models, msgspec structs: what they declare, and defaults for what is missing."""
    cls = plan.cls
    every = fields_of(cls) or ()
    defaults = _defaults(cls, every)
    plan.get = _getter(attributes)
    pydantic = hasattr(cls, "__pydantic_fields__")
    assign = _assigner(cls)
    accepted = frozenset(incoming.values())
    if pydantic:
        plan.make = lambda: _bare_pydantic(cls)
    elif hasattr(cls, "__struct_fields__"):
        plan.make = _struct_maker(cls)
    else:
        plan.make = lambda: cls.__new__(cls)

    def fill(instance: Any, members: dict[str, Any]) -> int:
        missing = dict(defaults)
        for wire, value in members.items():
            name = incoming.get(wire)
            if name is not None:
                assign(instance, name, value)
                del missing[name]
            elif dynamic and _settable(cls, wire) and wire not in closed and wire not in defaults:
                assign(instance, wire, value)
        for name, default in missing.items():
            assign(instance, name, default())
        if pydantic:
            fields_set = {incoming[wire] for wire in members if wire in incoming}
            object.__setattr__(instance, "__pydantic_fields_set__", fields_set)
        return len(missing)

    plan.fill = fill
    if cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__"):
        if not any(isinstance(getattr(cls, name, None), (property, cached_property)) for name in attributes):
            plan.attributes = attributes
    if _direct(cls, every) and not pydantic and not dynamic and len(accepted) == len(every):
        plan.direct = incoming
    if dynamic:
        hidden = closed | frozenset(every)
        plan.extra = lambda instance: {
            name: value
            for name, value in getattr(instance, "__dict__", {}).items()
            if name not in hidden and not name.startswith("_")
        }


def _plan_namedtuple(plan: Plan, attributes: tuple[str, ...], incoming: dict[str, str]) -> None:
    cls = plan.cls
    defaults = _defaults(cls, fields_of(cls) or ())
    plan.get = _getter(attributes)

    def build(members: dict[str, Any]) -> tuple[Any, int]:
        values = {incoming[wire]: value for wire, value in members.items() if wire in incoming}
        missing = [name for name in defaults if name not in values]
        for name in missing:
            values[name] = defaults[name]()
        return cls(**values), len(missing)

    plan.build = build


def _plan_ordinary(
    plan: Plan,
    attributes: tuple[str, ...],
    to_wire: Callable[[str], str],
    exclude: frozenset[str],
    readonly: frozenset[str],
    incoming: dict[str, str],
    dynamic: bool,
) -> None:
    """A class that is none of the kinds with fields: what it declares, and what its instances have besides."""
    cls = plan.cls
    fetch = _getter(attributes)
    known = frozenset(attributes) | exclude
    declared_wires = plan.names or ()

    def others(instance: Any) -> dict[str, Any]:
        return {
            to_wire(name): value
            for name, value in getattr(instance, "__dict__", {}).items()
            if name not in known and not name.startswith("_")
        }

    def get(instance: Any) -> dict[str, Any]:
        members = dict(zip(declared_wires, fetch(instance), strict=True))
        members.update(others(instance))
        return members

    if dynamic:
        plan.get, plan.extra = fetch, others
    elif cls.__dictoffset__ == 0:  # nothing but slots: the names are the same for every instance
        plan.get = fetch
    else:
        plan.names, plan.get = None, get
    assign = _assigner(cls)
    plan.make = lambda: cls.__new__(cls)
    open_class = dynamic or not attributes
    closed = exclude | readonly
    required = tuple(name for name in _declared(cls) if not hasattr(cls, name) or _is_slot(cls, name))

    def fill(instance: Any, members: dict[str, Any]) -> int:
        for wire, value in members.items():
            name = incoming.get(wire)
            if name is not None:
                assign(instance, name, value)
            elif open_class and _settable(cls, wire) and wire not in closed:
                assign(instance, wire, value)
        missing = 0
        for name in required:
            if not hasattr(instance, name):
                assign(instance, name, None)
                missing += 1
        return missing

    plan.fill = fill


def _settable(cls: type, name: str) -> bool:
    """May a name that came from the wire become an attribute?  Nothing private, and nothing that hides a method."""
    if not name.isidentifier() or name.startswith("_"):
        return False
    there = getattr(cls, name, None)
    return there is None or not (callable(there) or hasattr(type(there), "__get__"))


def _is_slot(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), _types.MemberDescriptorType)


def _direct(cls: type, names: Iterable[str]) -> bool:
    """Can members go straight into `__dict__`: no slots, no descriptors, no `__setattr__` that ought to see them?"""
    if cls.__dictoffset__ == 0 or not _plain_setattr(cls):
        return False
    return not any(
        hasattr(type(cls.__dict__.get(name)), "__set__") or _inherits_descriptor(cls, name) for name in names
    )


def _inherits_descriptor(cls: type, name: str) -> bool:
    return any(hasattr(type(base.__dict__[name]), "__set__") for base in cls.__mro__ if name in base.__dict__)


def _plain_setattr(cls: type) -> bool:
    """Is `__setattr__` object's own, or only there to freeze the instances?"""
    return cls.__setattr__ is object.__setattr__ or _is_frozen(cls)


def _is_frozen(cls: type) -> bool:
    params = getattr(cls, "__dataclass_params__", None)
    if params is not None:
        return bool(params.frozen)
    module = getattr(cls.__setattr__, "__module__", "") or ""
    return hasattr(cls, "__attrs_attrs__") and module.startswith("attr")


def _assigner(cls: type) -> Callable[[Any, str, Any], None]:
    """The function that sets a member: the class's own, except that a frozen instance is being born."""
    if hasattr(cls, "__struct_fields__"):
        import msgspec

        return msgspec.structs.force_setattr
    if hasattr(cls, "__pydantic_fields__"):
        return _assign_to_dict
    if _is_frozen(cls):
        return object.__setattr__
    return setattr


def _assign_to_dict(instance: Any, name: str, value: Any) -> None:
    instance.__dict__[name] = value


def _struct_maker(cls: type) -> Callable[[], Any]:
    """A function that makes a msgspec struct without running its `__init__`.

    Structs have no `__new__` to call, but they can be copied.  The first one is made as an instance of a child class
    whose `__post_init__` does nothing, and then becomes one of `cls`.  Until it is filled, each member is
    an empty frozenset: a container, so that the copies are known to the garbage collector whatever they will hold.
    """
    template: list[Any] = []

    def make() -> Any:
        import msgspec

        if not template:
            child = type(cls)(cls.__name__, (cls,), {"__post_init__": _nothing, "__module__": cls.__module__})
            first = child(**dict.fromkeys(fields_of(cls) or (), frozenset()))
            object.__dict__["__class__"].__set__(first, cls)
            template.append(first)
        return msgspec.Struct.__copy__(template[0])

    return make


def _bare_pydantic(cls: type) -> Any:
    """A pydantic model with nothing in it yet; its members are not validated, which is the service's affair."""
    instance = cls.__new__(cls)
    for name, value in (
        ("__dict__", {}),
        ("__pydantic_fields_set__", set()),
        ("__pydantic_extra__", {} if cls.model_config.get("extra") == "allow" else None),  # type: ignore[attr-defined]
        ("__pydantic_private__", None),
    ):
        object.__setattr__(instance, name, value)
    return instance


def refuse(plan: Plan, error: Exception, offset: int) -> DecodeError:
    """The error for an instance whose class would not take what came."""
    return DecodeError(
        f"{plan.cls.__qualname__} ({plan.alias!r}) could not be filled: {type(error).__name__}: {said(error)}", offset
    )
