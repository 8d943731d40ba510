"""How instances of classes that SQLAlchemy maps travel: what `amfgate.plans` asks when such a class is registered."""

from __future__ import annotations

import datetime as dt
import typing
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, DateTime
from sqlalchemy.exc import NoReferenceError
from sqlalchemy.orm import Mapper, RelationshipProperty
from sqlalchemy.orm.attributes import manager_of_class
from sqlalchemy.util import duck_type_collection

from ...members import Member, annotations_of
from ...plans import Plan
from ...types import undefined
from .keys import is_none, may_be_added


def maps(cls: type[Any]) -> bool:
    """Is this class itself mapped?"""
    mapper = getattr(cls, "__mapper__", None)
    return isinstance(mapper, Mapper) and mapper.class_ is cls


def complete(plan: Plan) -> None:
    """Have the plan worked out when it is first used: before, relationships may name classes that do not exist yet."""
    plan.make = manager_of_class(plan.cls).new_instance
    plan.held = _held
    plan.later = lambda: _work_out(plan)


def _held(instance: Any, attribute: str) -> Any:
    return instance.__dict__.get(attribute, undefined)


def _work_out(plan: Plan) -> None:
    mapper: Mapper[Any] = plan.cls.__mapper__
    relations = {one.key: one for one in mapper.relationships if one.lazy != "write_only"}
    columns = {one.key: one.columns[0] for one in mapper.column_attrs}
    every = [name for name in (*columns, *relations) if not name.startswith("_")]
    plan.check_options(every)
    attributes = [name for name in every if name not in plan.exclude]
    plan.readonly |= {name for name, column in columns.items() if _is_computed(column)}
    kind = None if mapper.polymorphic_identity is None else _key_of(mapper, mapper.polymorphic_on)
    if kind is not None:
        plan.readonly |= {kind}
    closed = plan.exclude | plan.readonly
    plan.readonly |= {
        name
        for name, one in relations.items()
        if one.viewonly
        or not one.uselist
        and any(_key_of(mapper, column) in closed for column in one.local_columns if column.foreign_keys)
    }
    plan.lay_out(attributes)
    plan.members = lambda: _members(plan, mapper, relations)
    fetch = attrgetter(*attributes) if len(attributes) > 1 else lambda instance: (getattr(instance, attributes[0]),)
    deferrable = frozenset(columns)

    def get(instance: Any) -> Any:
        state = instance._sa_instance_state
        if state.key is not None:
            away = (state.unloaded - state.expired_attributes) & deferrable
            if away:
                return [undefined if name in away else getattr(instance, name) for name in attributes]
        return fetch(instance)

    plan.get = get if attributes else lambda instance: ()
    known = frozenset(every)
    if plan.dynamic:
        plan.extra = lambda instance: {
            name: value
            for name, value in vars(instance).items()
            if name not in known and name not in plan.exclude and not name.startswith("_")
        }
    incoming = {wire: name for name, wire, closed in plan.declared if not closed}
    counted = {_counted(mapper), *(name for name, column in columns.items() if _refers_to_counted(column))}
    naive = frozenset(
        name for name, column in columns.items() if isinstance(column.type, DateTime) and not column.type.timezone
    )
    collections_ = {
        name: duck_type_collection(one.collection_class or list) for name, one in relations.items() if one.uselist
    }
    keys = {
        name: [key for column in one.local_columns if (key := _key_of(mapper, column))]
        for name, one in relations.items()
        if not one.uselist
    }

    def fill(instance: Any, members: dict[str, Any]) -> int:
        if kind is not None:  # as __init__ does, which is not called
            setattr(instance, kind, mapper.polymorphic_identity)
        came = {incoming[wire]: value for wire, value in members.items() if wire in incoming}
        for name, value in came.items():
            if value is undefined:
                continue
            if name in collections_:
                if value is not None:
                    setattr(instance, name, _collection(value, collections_[name]))
            elif name in keys:
                if value is not None or all(came.get(key) is None for key in keys[name]):
                    setattr(instance, name, value)
            else:
                if name in counted and is_none(value):
                    value = None
                elif name in naive and isinstance(value, dt.datetime) and value.tzinfo is not None:
                    value = value.astimezone(dt.UTC).replace(tzinfo=None)
                setattr(instance, name, value)
        if plan.dynamic:
            for wire, value in members.items():
                if wire not in incoming and wire not in plan.exclude and may_be_added(plan.cls, wire):
                    setattr(instance, wire, value)
        return 0

    plan.fill = fill


def _is_computed(column: Any) -> bool:
    """Does the database work out the value: of an expression, or of a column that it generates?"""
    return not isinstance(column, Column) or column.computed is not None


def _counted(mapper: Mapper[Any]) -> str | None:
    """The attribute of the primary key that the database counts."""
    return _key_of(mapper, getattr(mapper.base_mapper.local_table, "autoincrement_column", None))


def _refers_to_counted(column: Any) -> bool:
    """Does this column refer to a primary key that the database counts?"""
    for one in getattr(column, "foreign_keys", ()):
        try:
            if getattr(one.column.table, "autoincrement_column", None) is one.column:
                return True
        except NoReferenceError:  # to a table that is not in the metadata
            continue
    return False


def _key_of(mapper: Mapper[Any], column: Any) -> str | None:
    """The attribute that a column is mapped to."""
    return next((one.key for one in mapper.column_attrs if any(each is column for each in one.columns)), None)


def _collection(value: Any, kind: Any) -> Any:
    """What came for a relationship to many, as the kind of collection that the relationship is."""
    value = getattr(value, "source", value)  # a Flex collection, where it was read as it is
    if kind is set and not isinstance(value, (set, frozenset)):
        return set(value)
    return value


def _members(plan: Plan, mapper: Mapper[Any], relations: Mapping[str, RelationshipProperty[Any]]) -> tuple[Member, ...]:
    hints = annotations_of(plan.cls)
    counted = _counted(mapper)
    found = []
    for attribute, name, closed in plan.declared:
        if attribute in relations:
            annotation, needed, default = _related(relations[attribute]), False, None
        else:
            column: Any = mapper.column_attrs[attribute].columns[0]
            annotation = _unmapped(hints.get(attribute))
            if annotation is None:
                annotation = _python_type(column)
            made = getattr(column, "default", None)
            needed = not (
                getattr(column, "nullable", True)
                or made is not None
                or getattr(column, "server_default", None) is not None
                or attribute == counted
            )
            default = made.arg if made is not None and made.is_scalar else None
            if not needed and annotation is not Any:
                annotation = typing.Optional[annotation]  # noqa: UP045 (works for whatever can be annotated)
        found.append(Member(attribute, name, annotation, needed, closed, default))
    return tuple(found)


def _unmapped(annotation: Any) -> Any:
    """`int` of `Mapped[int]`; None for what is no annotation of a column."""
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    return arguments[0] if arguments and isinstance(origin, type) and origin.__name__.endswith("Mapped") else None


def _python_type(column: Any) -> Any:
    try:
        return column.type.python_type
    except NotImplementedError:
        return Any


def _related(relation: RelationshipProperty[Any]) -> Any:
    target = relation.mapper.class_
    if not relation.uselist:
        return target | None
    kind = duck_type_collection(relation.collection_class or list)
    if kind is dict:
        return dict[Any, target] | None  # type: ignore[valid-type]
    return (set if kind is set else list)[target] | None
