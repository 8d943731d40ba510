"""Plans: how instances of one class travel, worked out once.

A plan says all that the twins need to know of a class: the alias, the names of the members, how to read them from an
instance, how to make an instance and fill it.  A new kind of value object is a new plan, not a branch in the codec.
"""

from __future__ import annotations

import importlib
import sys
import types as _types
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .errors import DecodeError, Fault, said
from .fields import camel, declared_by, defaults_of, fields_of, is_pydantic_model
from .types import TypedObject, undefined

if TYPE_CHECKING:
    from .members import Member

Rename = str | Callable[[str], str] | Mapping[str, str] | None

# How a class's payload is written in AMF3 (`Plan.form`).
MEMBERS, WRAPPER, EXTERNAL = 0, 1, 2

# What every Fault has travels as the fault; of a registered class of faults the object holds what is its own.
_OF_FAULTS = frozenset(("code", "description", "details", "root_cause", "extended_data"))


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
    assign: (instance, attribute, value), as `fill` sets a member.
    declared: for each member that the class declares, its attribute, its name on the wire and whether it is read-only.
    rename, exclude, readonly, dynamic: as the class was registered.

    For classes that a library maps to tables; None for all others:
    members: () -> what `amfgate.members.members_of` gives.
    held: (instance, attribute) -> its value if it has one, else undefined; nothing is loaded.
    later: completes the plan when it is first used, because the mapping may name classes that come later.

    Two short cuts for the compiled twins, None where they would not do the same:
    attributes: what `get` reads, one attribute for each name, when reading them runs no code of the user's.
    direct: name on the wire -> attribute, when members may be put straight into the instance's `__dict__`.
    """

    __slots__ = (
        "alias",
        "assign",
        "attributes",
        "build",
        "cls",
        "declared",
        "direct",
        "dynamic",
        "exclude",
        "extra",
        "fill",
        "form",
        "get",
        "held",
        "later",
        "make",
        "members",
        "names",
        "readonly",
        "rename",
    )

    def __init__(self, cls: type[Any], alias: str, form: int = MEMBERS) -> None:
        self.cls = cls
        self.alias = alias
        self.form = form
        self.names: tuple[str, ...] | None = ()
        self.get: Callable[[Any], Any] = _nothing
        self.extra: Callable[[Any], dict[str, Any]] | None = None
        self.make: Callable[[], Any] | None = None
        self.fill: Callable[[Any, dict[str, Any]], int] = _no_members
        self.build: Callable[[dict[str, Any]], tuple[Any, int]] | None = None
        self.declared: tuple[tuple[str, str, bool], ...] = ()
        self.assign: Callable[[Any, str, Any], None] = setattr
        self.rename: Rename = None
        self.exclude: frozenset[str] = frozenset()
        self.readonly: frozenset[str] = frozenset()
        self.dynamic = False
        self.members: Callable[[], tuple[Member, ...]] | None = None
        self.held: Callable[[Any, str], Any] | None = None
        self.later: Callable[[], None] | None = None
        self.attributes: tuple[str, ...] | None = None
        self.direct: dict[str, str] | None = None

    def alias_of(self, instance: Any) -> str:
        """The alias of one instance: a built-in one that was read under another of its names keeps that."""
        own = instance.alias if isinstance(instance, TypedObject) else getattr(instance, "__amf_alias__", None)
        return own if type(own) is str and own else self.alias

    def complete(self) -> Plan:
        """This plan, ready to be used."""
        later = self.later
        if later is not None:
            later()
            self.later = None
        return self

    def lay_out(self, attributes: Iterable[str]) -> None:
        """Set `names` and `declared` from the attributes that travel; ValueError if two have one name on the wire."""
        to_wire = _renamer(self.rename)
        self.declared = tuple((name, to_wire(name), name in self.readonly) for name in attributes)
        self.names = tuple(wire for _, wire, _ in self.declared)
        if len(set(self.names)) != len(self.names):
            raise ValueError(
                f"two members of {self.cls.__qualname__} have one name on the wire: {', '.join(self.names)}"
            )

    def check_options(self, declared: Iterable[str]) -> None:
        """ValueError if `exclude` or `readonly` name what the class does not have."""
        declared = tuple(declared)
        for option, given in (("exclude", self.exclude), ("readonly", self.readonly)):
            for name in given:
                if declared and name not in declared and not hasattr(self.cls, name):
                    raise ValueError(
                        f"{option}: {self.cls.__qualname__} has no member {name!r}; it declares {', '.join(declared)}"
                    )

    def __repr__(self) -> str:
        return f"<Plan of {self.cls.__qualname__} as {self.alias!r}>"


def bare(cls: Any) -> Any:
    """A new instance, `__init__` not called."""
    return cls.__new__(cls)


def _nothing(instance: Any) -> tuple[Any, ...]:
    return ()


def _no_members(instance: Any, members: dict[str, Any]) -> int:
    return 0


def make_plan(
    cls: type[Any],
    alias: str,
    rename: Rename,
    exclude: frozenset[str],
    readonly: frozenset[str],
    dynamic: bool,
) -> Plan:
    """Work out how instances of `cls` travel under `alias`; see `ClassRegistry.register` for the options."""
    plan = Plan(cls, alias)
    plan.rename, plan.exclude, plan.readonly, plan.dynamic = rename, exclude, readonly, dynamic
    mapping = _mapping_of(cls)
    if mapping is not None:
        mapping.complete(plan)
        return plan
    fields = fields_of(cls)
    declared = declared_by(cls) if fields is None else fields
    plan.check_options(declared)
    if issubclass(cls, Fault):
        exclude = exclude | (_OF_FAULTS - frozenset(declared))
    to_wire = _renamer(rename)
    attributes = tuple(name for name in declared if name not in exclude)
    plan.lay_out(attributes)
    incoming = {wire: name for name, wire, closed in plan.declared if not closed}
    plan.assign = _assigner(cls)
    if fields is None:
        _plan_ordinary(plan, attributes, to_wire, exclude, readonly, incoming, dynamic)
    elif issubclass(cls, tuple):
        _plan_namedtuple(plan, attributes, incoming)
    else:
        _plan_fields(plan, attributes, exclude | readonly, incoming, dynamic)
    return plan


def _mapping_of(cls: type[Any]) -> Any:
    """The module of amfgate.contrib.orm that knows how `cls` is mapped to tables; None for a class that is not.

    A class can only be mapped by a library that is loaded, so that nothing is imported here for any other.
    """
    for mark, library, module in _MAPPINGS:
        if hasattr(cls, mark) and library in sys.modules:
            mapping = importlib.import_module(module)
            if mapping.maps(cls):
                return mapping
    return None


_MAPPINGS = (
    ("__mapper__", "sqlalchemy.orm", "amfgate.contrib.orm.sqlalchemy"),
    ("_meta", "django.db.models", "amfgate.contrib.orm.django"),
)


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
    """Dataclasses, attrs classes, pydantic models, msgspec structs: what they declare, defaults for what is missing."""
    cls = plan.cls
    every = fields_of(cls) or ()
    defaults = defaults_of(cls, every)
    plan.get = _getter(attributes)
    pydantic = is_pydantic_model(cls)
    assign = plan.assign
    accepted = frozenset(incoming.values())
    if pydantic:
        plan.make = lambda: _bare_pydantic(cls)
    elif hasattr(cls, "__struct_fields__"):
        plan.make = _struct_maker(cls)
    else:
        plan.make = lambda: bare(cls)

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
    if _plain_getattr(cls) and not hasattr(cls, "__getattr__"):
        if not any(_runs_code(cls, name) for name in attributes):
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


def _runs_code(cls: type, name: str) -> bool:
    """Is a member something of the class that computes its value: a property, or any descriptor but a slot?"""
    for base in cls.__mro__:
        found = base.__dict__.get(name)
        if found is not None:
            return hasattr(type(found), "__get__") and not isinstance(found, _types.MemberDescriptorType)
    return False


def _plan_namedtuple(plan: Plan, attributes: tuple[str, ...], incoming: dict[str, str]) -> None:
    cls = plan.cls
    defaults = defaults_of(cls, fields_of(cls) or ())
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
    assign = plan.assign
    plan.make = lambda: bare(cls)
    open_class = dynamic or not attributes
    closed = exclude | readonly
    required = tuple(name for name in declared_by(cls) if not hasattr(cls, name) or _is_slot(cls, name))

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


def _settable(cls: type[Any], name: str) -> bool:
    """May a name that came from the wire become an attribute?  Nothing private, and nothing that hides a method."""
    if not name.isidentifier() or name.startswith("_"):
        return False
    there = getattr(cls, name, None)
    return there is None or not (callable(there) or hasattr(type(there), "__get__"))


def _is_slot(cls: type[Any], name: str) -> bool:
    return isinstance(getattr(cls, name, None), _types.MemberDescriptorType)


def _direct(cls: type[Any], names: Iterable[str]) -> bool:
    """Can members go straight into `__dict__`: no slots, no descriptors, no `__setattr__` that ought to see them?"""
    if cls.__dictoffset__ == 0 or not _plain_setattr(cls):
        return False
    return not any(
        hasattr(type(cls.__dict__.get(name)), "__set__") or _inherits_descriptor(cls, name) for name in names
    )


def _inherits_descriptor(cls: type[Any], name: str) -> bool:
    return any(hasattr(type(base.__dict__[name]), "__set__") for base in cls.__mro__ if name in base.__dict__)


def _plain_getattr(cls: Any) -> bool:
    return cls.__getattribute__ is object.__getattribute__


def _plain_setattr(cls: Any) -> bool:
    """Is `__setattr__` object's own, or one that an instance being born need not mind?"""
    return cls.__setattr__ is object.__setattr__ or _is_frozen(cls) or _set_by_attrs(cls)


def _set_by_attrs(cls: type[Any]) -> bool:
    """Did attrs write `__setattr__`, to run converters and validators?

    They are run when the instance is bound to an annotation (`amfgate.fitting`), as those of pydantic are: while it is
    decoded, what it refers to may be incomplete.
    """
    return bool(getattr(cls, "__attrs_own_setattr__", False))


def _is_frozen(cls: type[Any]) -> bool:
    params = getattr(cls, "__dataclass_params__", None)
    if params is not None:
        return bool(params.frozen)
    module = getattr(cls.__setattr__, "__module__", "") or ""
    return hasattr(cls, "__attrs_attrs__") and module.startswith("attr")


def _assigner(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """The function that sets a member: the class's own, except that a frozen instance is being born."""
    if hasattr(cls, "__struct_fields__"):
        import msgspec

        return msgspec.structs.force_setattr
    if is_pydantic_model(cls):
        return _assign_to_dict
    if _is_frozen(cls) or hasattr(cls, "__pydantic_validator__") or _set_by_attrs(cls):
        return object.__setattr__
    return setattr


def _assign_to_dict(instance: Any, name: str, value: Any) -> None:
    instance.__dict__[name] = value


def _struct_maker(cls: Any) -> Callable[[], Any]:
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
        return msgspec.Struct.__copy__(template[0])  # type: ignore[attr-defined]

    return make


def _bare_pydantic(cls: Any) -> Any:
    """A pydantic model with nothing in it yet; its members are not validated, which is the service's affair."""
    instance: Any = object.__new__(cls)
    for name, value in (
        ("__dict__", {}),
        ("__pydantic_fields_set__", set()),
        ("__pydantic_extra__", {} if cls.model_config.get("extra") == "allow" else None),
        ("__pydantic_private__", None),
    ):
        object.__setattr__(instance, name, value)
    return instance


def refuse(plan: Plan, error: Exception, offset: int) -> DecodeError:
    """The error for an instance whose class would not take what came."""
    return DecodeError(
        f"{plan.cls.__qualname__} ({plan.alias!r}) could not be filled: {type(error).__name__}: {said(error)}", offset
    )
