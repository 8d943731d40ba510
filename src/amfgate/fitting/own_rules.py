"""The rules that a class has of its own: attrs validators, and all of a pydantic model.

They are run when an instance that a client sent is bound to an annotation, in the instance that is there.
`wires` are the names on the wire of its attributes, `closed` those attributes that no client sets.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any, Final

import msgspec

from ..errors import said
from ..fields import is_pydantic_model
from ..types import undefined
from .copies import ANY_DEPTH, Tally, check_copy, check_number, levels
from .misfit import Misfit, Place, kind_name, split_message


def validate_attrs(instance: Any, place: Place, wires: dict[str, str], closed: frozenset[str], tally: Tally) -> None:
    """Run the validators of an attrs class."""
    attrs: Any = sys.modules["attr"]
    if not attrs.validators.get_disabled():
        for field in type(instance).__attrs_attrs__:
            if field.validator is not None and field.name not in closed:
                try:
                    field.validator(instance, field, getattr(instance, field.name))
                except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
                    reason = error.args[0] if error.args and isinstance(error.args[0], str) else said(error)
                    raise Misfit((place, wires.get(field.name, field.name)), reason) from error


def validate_pydantic(instance: Any, place: Place, wires: dict[str, str], closed: frozenset[str], tally: Tally) -> None:
    """Validate a model, or a dataclass of pydantic, by its own rules, in the instance that is there."""
    cls: Any = type(instance)
    fields = cls.__pydantic_fields__
    validator = cls.__pydantic_validator__
    model = is_pydantic_model(cls)
    by_name = model and _validates_by_name()
    values = vars(instance) if model else {name: getattr(instance, name) for name in fields}
    came = set(instance.__pydantic_fields_set__) if model else [name for name in fields if name not in closed]
    others = {name: value for name, value in values.items() if name not in fields}
    depths = _depths(cls)
    data: Any = {}
    for name in came:
        if name in fields:
            value = values[name]
            if value.__class__ not in _SMALL:
                _check(value, depths[name], (place, wires.get(name, name)), tally)
            data[name if by_name else fields[name].alias or name] = None if value is undefined else value
    options: dict[str, Any] = {"by_alias": False, "by_name": True} if by_name else {}
    try:
        if closed and _lacks_required(cls, closed):  # then its fields can be validated, but not the whole
            for name in came:
                validator.validate_assignment(instance, name, None if values[name] is undefined else values[name])
        elif model:
            validator.validate_python(data, self_instance=instance, **options)
        else:
            arguments = sys.modules["pydantic_core"].ArgsKwargs((), data)
            validator.validate_python(arguments, self_instance=instance)
    except ValueError as error:
        raise pydantic_misfit(error, place, wires) from error
    if others:
        vars(instance).update(others)


def validated(cls: Any, value: dict[Any, Any], place: Place, tally: Tally) -> Any:
    """What pydantic makes of a plain object.

    cls: a model, or a TypeAdapter.
    """
    _check(value, ANY_DEPTH, place, tally)
    try:
        return cls.validate_python(value) if hasattr(cls, "validate_python") else cls.model_validate(value)
    except ValueError as error:
        raise pydantic_misfit(error, place, {}) from error


_SMALL: Final = frozenset((int, float, bool, type(None)))


def _check(value: Any, depth: int, place: Place, tally: Tally) -> None:
    """Keep pydantic from copying too much."""
    try:
        if depth and isinstance(value, (list, dict, tuple)):
            check_copy(value, depth, tally, True)
        elif isinstance(value, str):
            check_number(value)
    except msgspec.ValidationError as error:
        raise Misfit(place, split_message(said(error))[1]) from None


@lru_cache(1024)
def _depths(cls: Any) -> dict[str, int]:
    """How many levels of containers pydantic copies for each field."""
    found = {}
    for name, field in cls.__pydantic_fields__.items():
        try:
            found[name] = levels(msgspec.inspect.type_info(field.annotation))
        except Exception:  # what only pydantic knows
            found[name] = ANY_DEPTH
    return found


@lru_cache(1024)
def _lacks_required(cls: Any, closed: frozenset[str]) -> bool:
    return any(field.is_required() and name in closed for name, field in cls.__pydantic_fields__.items())


@lru_cache(1)
def _validates_by_name() -> bool:
    """Is this pydantic 2.11 or later, which can be told to go by the names of fields?"""
    return tuple(int(part) for part in sys.modules["pydantic"].VERSION.split(".")[:2]) >= (2, 11)


def incoming_names(cls: Any) -> dict[str, tuple[tuple[str, ...], str]]:
    """Attribute -> the names that it may have in a plain object, and its name as an argument of the class.

    Of a model, which finds its values itself, those are all names under which it may find one.
    """
    if hasattr(cls, "__pydantic_fields__"):
        return {name: (_aliases(name, field), name) for name, field in cls.__pydantic_fields__.items()}
    if hasattr(cls, "__struct_fields__"):
        return {name: ((wire,), name) for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__)}
    if hasattr(cls, "__attrs_attrs__"):
        return {field.name: ((field.name,), field.alias) for field in cls.__attrs_attrs__ if field.init}
    return {name: ((name,), name) for name, field in cls.__dataclass_fields__.items() if field.init}


def _aliases(name: str, field: Any) -> tuple[str, ...]:
    """The names of a field of pydantic; of a path into something, the name of that."""
    given = getattr(field.validation_alias, "choices", [field.validation_alias])
    names = [one if isinstance(one, str) else one.path[0] for one in given if one is not None]
    return tuple(dict.fromkeys([*([] if field.alias is None else [field.alias]), *names, name]))


def pydantic_misfit(error: ValueError, place: Place, wires: dict[str, str]) -> Misfit:
    """The first thing that pydantic found, in our words."""
    errors = getattr(error, "errors", None)
    # There may be one for each item of a long list; an address in each would make them twice as large.
    found: Any = None if errors is None else next(iter(errors(include_url=False)), None)
    if found is None:
        return Misfit(place, said(error))
    for number, part in enumerate(found["loc"]):
        place = place, wires.get(part, part) if number == 0 else part
    if found["type"] == "missing":
        place, name = place
        return Misfit(place, f"object missing required field {name}")
    kind, _, problem = found["type"].rpartition("_")
    expected = found.get("ctx", {}).get("class_name") or _PYDANTIC_TYPES.get(kind)
    if expected is not None and problem in ("type", "parsing", "float", "of", "size"):
        return Misfit(place, f"expected {expected}, got {kind_name(found['input'])}")
    message = found["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return Misfit(place, message[:1].lower() + message[1:])


_PYDANTIC_TYPES: Final = {
    "int": "int",
    "int_parsing": "int",
    "int_from": "int",
    "float": "float",
    "string": "str",
    "string_sub": "str",
    "bool": "bool",
    "bytes": "bytes",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "frozen_set": "array",
    "dict": "object",
    "mapping": "object",
    "model": "object",
    "model_attributes": "object",
    "dataclass": "object",
    "datetime": "datetime",
    "datetime_from_date": "datetime",
    "date": "date",
    "date_from_datetime": "date",
    "time": "time",
    "time_delta": "timedelta",
    "decimal": "Decimal",
    "uuid": "UUID",
}
