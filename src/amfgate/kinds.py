"""Which form a Python type takes on the wire, worked out once per type.

The twins test for the commonest types themselves; all others they look up in `registry.kinds`, which `kind_of` fills.
A kind is a small number with a payload: for PLAN the plan, for NATURAL a function that gives the plain value which
travels instead (a UUID's text, an Enum's value).
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import operator
import os
import struct
import sys
import uuid
from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ._wire import EXACT_INT
from .classes import ClassRegistry
from .errors import EncodeError
from .plans import Plan
from .types import Dictionary, EcmaArray, InvalidDate, Rows, TypedObject, Undefined, Vector, Xml, invalid_date

(
    NULL,
    UNDEFINED,
    BOOLEAN,
    # INTEGER to UNKNOWN travel as another value, of an exact type
    INTEGER,
    DOUBLE,
    STRING,
    DECIMAL,
    NATURAL,
    UNKNOWN,
    # from BYTES on, AMF3 gives each a slot of the object table
    BYTES,
    DATETIME,
    DATE,
    INVALID_DATE,
    XML,
    ELEMENT,  # XML held as a tree; the payload writes it as text
    # from ARRAY on, they hold other values
    ARRAY,  # numpy and array.array; the payload gives a packed Vector, or a list where no Vector fits
    VECTOR,
    LIST,  # a list or tuple, or a subclass that iterates as they do
    ITERABLE,  # to be made a list first
    DICT,  # a dict, or a subclass that iterates as one
    MAPPING,  # to be asked for its items()
    ECMA,
    TYPED,
    PLAN,
    DICTIONARY,
    ROWS,
) = range(26)

KINDS_KEPT: Final = 1024
"""Types are kept for so many; a program that makes classes as it goes (a named tuple per query) must not grow."""


def kind_of(cls: type, registry: ClassRegistry) -> tuple[int, Any]:
    """The kind of instances of `cls` and its payload, kept in `registry.kinds`."""
    found = _work_out(cls, registry)
    if len(registry.kinds) >= KINDS_KEPT:
        registry.kinds.clear()
    registry.kinds[cls] = found
    return found


_EXACT: Final[dict[type, int]] = {
    type(None): NULL,
    Undefined: UNDEFINED,
    bool: BOOLEAN,
    InvalidDate: INVALID_DATE,
    Dictionary: DICTIONARY,
    Rows: ROWS,
}


def _work_out(cls: Any, registry: ClassRegistry) -> tuple[int, Any]:
    if cls in _EXACT:
        return _EXACT[cls], None
    if cls in registry:  # what the user registered comes first, whatever else it is
        return PLAN, registry.plan_of(cls)
    if issubclass(cls, enum.Enum):
        return NATURAL, _enum_value
    for base, kind in (
        (int, INTEGER),
        (float, DOUBLE),
        (Xml, XML),
        (str, STRING),
        (bytes, BYTES),
        (bytearray, BYTES),
        (memoryview, BYTES),
        (TypedObject, TYPED),
        (EcmaArray, ECMA),
        (Vector, VECTOR),
        (decimal.Decimal, DECIMAL),
        (Dictionary, DICTIONARY),
        (Rows, ROWS),
    ):
        if issubclass(cls, base):
            if base is TypedObject:  # its externalizable children (small messages) are built in
                plan = registry.plan_of(cls)
                if plan is not None:
                    return PLAN, plan
            return kind, None
    if issubclass(cls, dt.date):
        if cls.__name__ == "NaTType":  # pandas.NaT is a datetime by inheritance only
            return NATURAL, _no_time
        return (DATETIME if issubclass(cls, dt.datetime) else DATE), None
    for plain, function in (
        (dt.timedelta, dt.timedelta.total_seconds),
        (dt.time, dt.time.isoformat),
        (uuid.UUID, str),
        (os.PathLike, _path_text),
    ):
        if issubclass(cls, plain):
            return NATURAL, function
    plan = registry.plan_of(cls)
    if plan is not None:
        return PLAN, plan
    foreign = _numpy(cls) or _element(cls) or _lazy_text(cls)
    if foreign is not None:
        return foreign
    if issubclass(cls, array):
        return ARRAY, _array_vector
    if issubclass(cls, dict):
        return (DICT if cls.items is dict.items and cls.__iter__ is dict.__iter__ else MAPPING), None
    if issubclass(cls, list):
        return (LIST if cls.__iter__ is list.__iter__ else ITERABLE), None
    if issubclass(cls, tuple):
        return (LIST if cls.__iter__ is tuple.__iter__ else ITERABLE), None
    if issubclass(cls, Mapping):
        return MAPPING, None
    if issubclass(cls, Iterable):
        return ITERABLE, None
    return UNKNOWN, None


def _enum_value(value: Any) -> Any:
    return value._value_


def _no_time(value: Any) -> InvalidDate:
    return invalid_date


def _path_text(value: Any) -> str:
    path = os.fspath(value)
    return os.fsdecode(path)


# --- numpy, the standard library's arrays and trees, Django's lazy texts: none of them imported here ----------------


def _numpy(cls: Any) -> tuple[int, Any] | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if issubclass(cls, numpy.ma.MaskedArray):
        return NATURAL, _masked_list
    if issubclass(cls, numpy.ndarray):
        return ARRAY, _numpy_vector
    if issubclass(cls, (numpy.datetime64, numpy.timedelta64)):
        return NATURAL, _numpy_time
    if issubclass(cls, numpy.longdouble):
        return NATURAL, _long_double
    if issubclass(cls, numpy.generic):
        return NATURAL, cls.item
    return None


def _masked_list(value: Any) -> Any:
    return value.tolist()


def _numpy_time(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    if numpy.isnat(value):
        return invalid_date
    if isinstance(value, numpy.timedelta64):
        return float(value / numpy.timedelta64(1, "s"))
    moment = value.astype("datetime64[us]").item()
    if not isinstance(moment, dt.datetime):
        raise EncodeError(f"{value} is outside the years 1 to 9999")
    return moment


def _long_double(value: Any) -> float:
    number = float(value)
    if number != value and value == value:
        raise EncodeError(f"{value!r} has more digits than a double; convert it with float()")
    return number


def array_kind(value: Any) -> str | None:
    """The kind of Vector that an array travels as: "int", "uint" or "double"; None when it is a list."""
    if isinstance(value, array):
        return (
            None
            if value.typecode in "uw"
            else "double"
            if value.typecode in "fd"
            else "int"
            if value.typecode.islower()
            else "uint"
        )
    if value.ndim != 1 or value.dtype.itemsize > 8:
        return None
    return {"i": "int", "u": "uint", "f": "double"}.get(value.dtype.kind)


def array_items(value: Any) -> Any:
    """The items of an array as AMF0's strict array has them: plain numbers, or arrays for each further dimension."""
    if isinstance(value, array):
        return list(value)
    if value.ndim == 0:
        return [value[()]]
    return list(value) if value.ndim > 1 or value.dtype.kind in "mM" or value.dtype.itemsize > 8 else value.tolist()


def _numpy_vector(value: Any) -> Any:
    """A one-dimensional array of numbers as (kind, count, big-endian items); else a list of what is in it.

    An array of more dimensions is a list of arrays, one of objects or texts the list of its items.
    """
    kind = array_kind(value)
    if kind is None:
        return array_items(value)
    if kind != "double" and value.dtype.itemsize > 2 and value.size:
        low, high = VECTOR_RANGES[kind]
        outside = (value < low) | (value > high)
        if outside.any():
            index = int(outside.argmax())
            raise EncodeError(f"{int(value[index])} does not fit a Vector of {kind}, which is 32 bits", f"[{index}]")
    data = value.astype({"int": ">i4", "uint": ">u4", "double": ">f8"}[kind]).tobytes()
    return kind, len(data) // (8 if kind == "double" else 4), data


def _array_vector(value: Any) -> Any:
    """An array.array of numbers as (kind, count, big-endian items); one of characters as their list."""
    kind = array_kind(value)
    items = array.__getitem__(value, slice(None))
    return list(items) if kind is None else (kind, len(items), pack_vector(kind, items))


VECTOR_RANGES: Final = {"int": (-(1 << 31), (1 << 31) - 1), "uint": (0, (1 << 32) - 1)}


def pack_vector(kind: str, items: Any) -> bytes:
    """The items of an int, uint or double Vector, big-endian; EncodeError with path `[n]` for one that does not fit."""
    count = len(items)
    if not set(map(type, items)) - ({int, float} if kind == "double" else {int}):
        try:
            packed = struct.pack(f">{count}{'d' if kind == 'double' else 'i' if kind == 'int' else 'I'}", *items)
            if kind != "double" or all(-EXACT_INT <= item <= EXACT_INT for item in items if type(item) is int):
                return packed
        except (struct.error, OverflowError):
            pass
    return b"".join([_pack_item(kind, item, index) for index, item in enumerate(items)])


def _pack_item(kind: str, item: Any, index: int) -> bytes:
    """One item by its natural value (a numpy scalar, an IntEnum), or the error that names it."""
    if (
        type(item) is bool
        or not hasattr(item, "__index__" if kind != "double" else "__float__")
        or isinstance(item, decimal.Decimal)
    ):
        raise EncodeError(f"a Vector of {kind} cannot hold a {type(item).__name__}", f"[{index}]")
    if kind == "double":
        if hasattr(item, "__index__"):
            item = operator.index(item)
            if not -EXACT_INT <= item <= EXACT_INT:
                raise EncodeError(f"{short(item)} does not fit a Vector of double exactly", f"[{index}]")
        return struct.pack(">d", float(item))
    number = operator.index(item)
    low, high = VECTOR_RANGES[kind]
    if not low <= number <= high:
        raise EncodeError(f"{short(number)} does not fit a Vector of {kind}, which is 32 bits", f"[{index}]")
    return number.to_bytes(4, "big", signed=kind == "int")


def short(value: Any) -> str:
    """A value's repr for an error text, cut where it would fill the screen."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"  # an int of 10,000 digits, an object whose repr fails
    return text if len(text) <= 60 else text[:57] + "..."


def _element(cls: type) -> tuple[int, Any] | None:
    etree = sys.modules.get("xml.etree.ElementTree")
    if etree is None or not issubclass(cls, (etree.Element, etree.ElementTree)):
        return None
    return ELEMENT, _element_text


def _element_text(value: Any) -> str:
    etree = sys.modules["xml.etree.ElementTree"]
    root = value.getroot() if isinstance(value, etree.ElementTree) else value
    return str(etree.tostring(root, encoding="unicode"))


def _lazy_text(cls: type) -> tuple[int, Any] | None:
    """A translation that Django looks up when it is used (gettext_lazy): its text, not the list of its characters."""
    functional = sys.modules.get("django.utils.functional")
    if functional is None or not issubclass(cls, functional.Promise):
        return None
    return NATURAL, str


def plan_of(cls: type, registry: ClassRegistry) -> Plan | None:
    """The plan by which instances of `cls` travel, or None."""
    kind, payload = registry.kinds.get(cls) or kind_of(cls, registry)
    return payload if kind == PLAN else None
