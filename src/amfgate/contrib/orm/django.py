"""How instances of Django's models travel: what `amfgate.plans` asks when a model is registered."""

from __future__ import annotations

import datetime as dt
import typing
import uuid
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import models, router
from django.db.models.base import ModelState
from django.db.models.fields import NOT_PROVIDED
from django.utils.timezone import get_default_timezone, make_aware, make_naive

from ...members import Member
from ...plans import Plan
from ...types import undefined
from .keys import is_none, may_be_added

# The first that a field is an instance of: a DateTimeField is a DateField, too.
_TYPES: Final = (
    (models.BooleanField, bool),
    (models.IntegerField, int),
    (models.FloatField, float),
    (models.DecimalField, Decimal),
    (models.DateTimeField, dt.datetime),
    (models.DateField, dt.date),
    (models.TimeField, dt.time),
    (models.DurationField, dt.timedelta),
    (models.UUIDField, uuid.UUID),
    (models.BinaryField, bytes),
    (models.FileField, str),
    (models.CharField, str),
    (models.TextField, str),
    (models.GenericIPAddressField, str),
)


def maps(cls: type[Any]) -> bool:
    """Is this class a model, with a table?"""
    return issubclass(cls, models.Model) and not cls._meta.abstract


def complete(plan: Plan) -> None:
    """Work out the plan of a model; what its relations refer to is looked up when it is needed."""
    cls: Any = plan.cls
    fields = {field.attname: field for field in cls._meta.concrete_fields}
    relations = {
        field.name: field
        for field in cls._meta.concrete_fields
        if field.is_relation and not getattr(field.remote_field, "parent_link", False)
    }
    many = {field.name: field for field in cls._meta.many_to_many}
    every: list[str] = []
    for attname, field in fields.items():
        every.append(attname)
        if field.name in relations:
            every.append(field.name)
    every += many
    plan.check_options(every)
    one_key = _one_key(cls)
    for names in one_key:
        if plan.readonly.intersection(names):
            plan.readonly |= frozenset(names)
    closed = plan.exclude | plan.readonly
    plan.readonly |= {name for name, field in relations.items() if field.attname in closed}
    plan.readonly |= {
        name
        for name in every
        if name in many
        or isinstance(fields.get(name), models.FileField)
        or getattr(fields.get(name), "generated", False)
    }
    plan.lay_out(name for name in every if name not in plan.exclude)
    plan.names, declared = None, plan.declared
    plan.members = lambda: tuple(_member(one, fields, relations, many) for one in declared)
    moments = frozenset(name for name, field in fields.items() if isinstance(field, models.DateTimeField))
    files = frozenset(name for name, field in fields.items() if isinstance(field, models.FileField))

    def get(instance: Any) -> dict[str, Any]:
        values, cached = instance.__dict__, instance._state.fields_cache
        prefetched = values.get("_prefetched_objects_cache", {})
        members: dict[str, Any] = {}
        for name, wire, _ in declared:
            if name in fields:
                if name in values:
                    value = values[name]
                    if name in files:  # a text, a File, or one that stands for none
                        value = getattr(value, "name", value)
                    elif name in moments and not settings.USE_TZ and isinstance(value, dt.datetime):
                        value = make_aware(value, get_default_timezone())
                    members[wire] = value
            elif name in relations:
                if name in cached:
                    members[wire] = cached[name]
            elif name in prefetched:
                members[wire] = list(prefetched[name])
        return members

    plan.get = get
    known = frozenset(every) | plan.exclude
    if plan.dynamic:
        plan.extra = lambda instance: {
            name: value for name, value in vars(instance).items() if name not in known and not name.startswith("_")
        }
    plan.make = lambda: _bare(cls)
    plan.held = _held
    plan.assign = _assigner(relations)
    incoming = {wire: name for name, wire, closed in declared if not closed}
    key = cls._meta.pk

    def fill(instance: Any, members: dict[str, Any]) -> int:
        came = {incoming[wire]: value for wire, value in members.items() if wire in incoming and value is not undefined}
        for name, field in fields.items():
            if name in came and is_none(came[name]) and _is_counted(field):
                came[name] = None
        for names in one_key:
            known_key = next((came[name] for name in names if came.get(name) is not None), None)
            if known_key is not None:
                came.update(dict.fromkeys(names, known_key))
        if came.get(key.attname) is None:
            came.pop(key.attname, None)
        values, state = instance.__dict__, instance._state
        for name, field in fields.items():
            if name in came:
                value = came[name]
                if name in moments and not settings.USE_TZ and isinstance(value, dt.datetime):
                    value = make_naive(value, get_default_timezone())
                values[name] = value
            if field.name not in came or field.name not in relations:
                continue
            related = came[field.name]
            if related is None:
                if came.get(name) is None:
                    values[name] = state.fields_cache[field.name] = None
                continue
            others = getattr(related, "__dict__", {})
            target = field.target_field.attname
            if came.get(name) is None:
                values[name] = others.get(target)
            # One that contains this one has no key yet.  Where there are two different keys, ours says what is meant.
            if target not in others or others[target] == values[name]:
                state.fields_cache[field.name] = related
        if plan.dynamic:
            for wire, value in members.items():
                if wire not in incoming and wire not in known and may_be_added(cls, wire):
                    setattr(instance, wire, value)
        if values.get(key.attname) is not None:
            state.adding, state.db = False, router.db_for_write(cls, instance=instance)
            return 0
        missing = [
            field for name, field in fields.items() if name not in values and not getattr(field, "generated", False)
        ]
        for field in missing:
            values[field.attname] = field.get_default()
        return len(missing)

    plan.fill = fill


def _one_key(cls: Any) -> list[list[str]]:
    """The names that one key has in a child class with a table of its own: `book_ptr_id`, and `id` of the base."""
    found: list[list[str]] = []
    for base, link in cls._meta.parents.items():
        if link is not None:
            pair = [link.attname, base._meta.pk.attname]
            same = next((names for names in found if set(names).intersection(pair)), None)
            if same is None:
                found.append(pair)
            else:
                same.extend(name for name in pair if name not in same)
    return found


def _is_counted(field: Any) -> bool:
    """Does the database count this key, or the key that this one refers to?"""
    while field.is_relation:
        field = field.target_field
    return isinstance(field, models.AutoField)  # the small and the big one, too


def _bare(cls: Any) -> Any:
    instance = cls.__new__(cls)
    instance._state = ModelState()
    return instance


def _held(instance: Any, attribute: str) -> Any:
    values = instance.__dict__
    return values[attribute] if attribute in values else instance._state.fields_cache.get(attribute, undefined)


def _assigner(relations: dict[str, Any]) -> Any:
    def assign(instance: Any, name: str, value: Any) -> None:
        if name in relations:
            instance._state.fields_cache[name] = value
        else:
            instance.__dict__[name] = value

    return assign


def _member(
    declared: tuple[str, str, bool], fields: dict[str, Any], relations: dict[str, Any], many: dict[str, Any]
) -> Member:
    attribute, name, closed = declared
    if attribute in many:
        return Member(attribute, name, list[many[attribute].related_model], False, closed, None)  # type: ignore[misc]
    if attribute not in fields:
        return Member(attribute, name, relations[attribute].related_model | None, False, closed, None)
    field = fields[attribute]
    generated = getattr(field, "generated", False)
    made = generated or getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    needed = not (field.null or field.has_default() or made or field is field.model._meta.pk)
    annotation = _type_of(field.output_field if generated else field)
    if annotation is not Any and not needed:
        annotation = typing.Optional[annotation]  # noqa: UP045 (works for whatever can be annotated)
    default = field.default
    constant = not callable(default) and default is not NOT_PROVIDED
    return Member(attribute, name, annotation, needed, closed, default if constant else None)


def _type_of(field: Any) -> Any:
    while field.is_relation and field.concrete:
        field = field.target_field
    return next((found for kind, found in _TYPES if isinstance(field, kind)), Any)
