"""What both encoders do off the main road: conversions, checks and names that are needed once in a while.

The main road, which value is written how, is twinned; what happens here would only be the same Python twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from . import kinds as k
from ._wire import EXTERNAL_DEPTH, INDEX_END, LENGTH_MAX, VECTOR_MARKERS
from .classes import ClassRegistry
from .errors import EncodeError, said
from .plans import WRAPPER, Plan
from .types import EcmaArray, Rows, Vector, undefined

EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
YEAR_10000: Final = 253_402_300_800_000_000  # microseconds
LAST_MOMENT: Final = YEAR_10000 - 31  # what a double tells from it: datetime.max must not become year 10000 by rounding
CONVERSIONS: Final = 32  # how often a value may turn into another before it is plain

ROOT, LISTED, SEALED, PAIRED, KNOWN, ENTRIES, SOURCE, TABLE = range(8)
"""How a container's items are read, and how its places are named:
the value itself; items [n]; members by the names in the traits; (key, value) pairs; (written key, tag, value) triples;
keys and values in turn; the one value of a wrapper; rows of a result set."""


class Closed:
    """In place of the encoder, in a DataOutput whose time is over."""

    def put(self, data: bytes) -> None:
        raise not_at_work()

    def write_object(self, value: Any) -> None:
        raise not_at_work()


CLOSED: Final = Closed()


class NeedsAvmPlus(Exception):
    """A value of AMF3 alone turned up inside a body that may hold none: the body is written again, behind `11`."""


# --- one value for another ------------------------------------------------------------------------------------------


def plain(
    value: Any,
    kind: int,
    payload: Any,
    classes: ClassRegistry,
    default: Callable[[Any], Any] | None,
    decimals: str,
) -> Any:
    """What travels in place of a value of another kind: a scalar of an exact type, or a container."""
    for _ in range(CONVERSIONS):
        if kind == k.INTEGER:
            return int.__pos__(value)
        if kind == k.DOUBLE:
            return float.__pos__(value)
        if kind == k.STRING:
            return str.__str__(value)
        if kind == k.DECIMAL:
            return decimal_value(value, decimals)
        if kind == k.NATURAL:
            value = payload(value)
        elif kind != k.UNKNOWN:
            return value
        elif default is None:
            raise EncodeError(f"cannot encode {type(value).__name__}", hint="register its class, or pass default=")
        else:
            value = default(value)
        cls = type(value)
        kind, payload = classes.kinds.get(cls) or k.kind_of(cls, classes)
    raise EncodeError(f"cannot encode {type(value).__name__}", hint=f"{CONVERSIONS} conversions led to no plain value")


def big_int(value: int, choice: str) -> Any:
    """An int that a double would change: as the user chose, or the error."""
    if choice == "float":
        try:
            return float(value)
        except OverflowError:
            raise EncodeError("an int beyond the range of a double cannot be sent") from None
    if choice == "string":
        try:
            return str(value)
        except ValueError as error:  # more digits than the interpreter converts
            raise EncodeError(f"an int cannot be sent as text: {error}") from None
    raise EncodeError(
        f"the int {k.short(value)} is beyond 2**53, where a double would change it",
        hint='pass big_ints="float" or "string"',
    )


def decimal_value(value: Decimal, choice: str) -> Any:
    """A Decimal as a double, if it is exact, or as its digits."""
    if choice == "string":
        return str(value)
    if value.is_nan():
        return float("nan")
    number = float(value)
    if Decimal(repr(number)) != value:
        raise EncodeError(f"Decimal('{value}') is not exact as a double", hint='pass decimals="string"')
    return number


def milliseconds(value: Any, kind: int) -> float:
    """The time of a date in milliseconds since the epoch in UTC; a naive one is taken as UTC."""
    if kind == k.DATE:
        value = dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
    elif value.utcoffset() is None:
        value = value.replace(tzinfo=dt.UTC)
    since: dt.timedelta = value - EPOCH
    exact = (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
    if LAST_MOMENT < exact < YEAR_10000:
        return LAST_MOMENT / 1000
    return exact / 1000


def unwrapped(value: Any, classes: ClassRegistry) -> Any:
    """What a Flex collection holds: AMF0 has no externalizable objects, the collection is its source."""
    for _ in range(CONVERSIONS):
        value = value.source
        plan = k.plan_of(type(value), classes)
        if plan is None or plan.form != WRAPPER:
            return value
    raise EncodeError(f"{CONVERSIONS} collections within each other hold nothing else")


def utf8(text: str) -> bytes:
    """Text as UTF-8; what came as bytes that are none goes out as the same bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodeError(
            f"text with the lone surrogate U+{ord(text[error.start]):04X} at {error.start} cannot be written"
        ) from None


# --- what a container holds -----------------------------------------------------------------------------------------


def key_text(key: Any, container: Any) -> str:
    """The text of a key that is no str: a whole number's digits, a str subclass's text."""
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool):
        text = int.__repr__(key)
        if text in container:
            raise EncodeError(f"the keys {text} and {text!r} are one on the wire")
        return text
    raise EncodeError(
        f"a key is text or a whole number, not {k.short(key)}", hint="a Dictionary holds keys of any kind"
    )


def members_of(value: Any, plan: Plan | None) -> tuple[str, tuple[str, ...], Any, dict[str, Any] | None]:
    """Alias, sealed names, their values, and the dynamic members (None: the traits are not dynamic)."""
    if plan is not None:
        names, content = plan.names, plan.get(value)
        if names is None:
            names, content = tuple(content), list(content.values())
        return plan.alias, names, content, None if plan.extra is None else plan.extra(value)
    alias = alias_text(value.alias)
    members = dict.copy(value)
    names = tuple(members) if value.sealed is None else tuple(value.sealed)
    for name in names:
        if type(name) is not str:
            raise EncodeError(f"a member's name is text, not {k.short(name)}")
    content = [members.get(name, undefined) for name in names]
    for name in names:
        members.pop(name, None)
    if value.dynamic:
        return alias, names, content, members
    for name in members:
        raise EncodeError(
            f"the class {value.alias!r} is sealed and has no member {k.short(name)}",
            hint="name it in sealed=, or pass dynamic=True",
        )
    return alias, names, content, None


def alias_text(alias: Any) -> str:
    """An alias, which has to be text."""
    if type(alias) is not str:
        raise EncodeError(f"an alias is text, not {k.short(alias)}")
    return alias


def split(value: EcmaArray) -> tuple[list[Any], dict[Any, Any]]:
    """The dense part of an associative array, and the rest of it."""
    members = dict.copy(value)
    limit = len(members) if value.count is None else min(value.count, len(members))
    dense: list[Any] = []
    while len(dense) < limit and len(dense) in members:
        dense.append(members.pop(len(dense)))
    for index in range(len(dense)):
        if members and str(index) in members:
            raise EncodeError(f"the keys {index} and '{index}' are one on the wire")
    return dense, members


def ecma_count(value: EcmaArray) -> int:
    """The declared count of an AMF0 ECMA array: as it came, else the highest index and one."""
    if value.count is not None:
        return value.count & 0xFFFFFFFF
    return max((key + 1 for key in dict.keys(value) if type(key) is int and 0 <= key < INDEX_END), default=0)


def listed(value: Any, left: int, limit: int) -> list[Any]:
    """The items of an iterable, of which `left` values may be written still.

    It is not asked for its length, which it may not know or not tell: one without end stops here.
    """
    most = min(left, LENGTH_MAX)
    if type(value) is range and len(value) > most:  # whose items would have to be made to be counted
        raise too_many(limit) if most == left else too_long("an array", len(value), most)
    items = [*islice(iter(value), most + 1)]
    if len(items) > left:
        raise too_many(limit)
    if len(items) > most:
        raise too_long("an array", len(items), most)
    return items


def mapped(value: Any, left: int) -> dict[Any, Any]:
    """The members of a Mapping, as its `items()` gives them; one more than `left` is enough to see."""
    return dict(islice(iter(value.items()), left + 1))


def entries(value: Any, left: int) -> list[Any]:
    """The keys and values of a Dictionary in turn; as for `mapped`."""
    return [part for key, item in islice(iter(value.items()), left + 1) for part in (key, item)]


def rows_of(value: Rows) -> tuple[Rows, Any]:
    """A result set's columns and alias as they are now, once they are known to be names, and its rows."""
    columns, rows = Rows(value.columns, (), value.alias), value.rows
    seen = set()
    for name in columns.columns:
        if type(name) is not str:
            raise EncodeError(f"a column's name is text, not {k.short(name)}")
        if name in seen:
            raise EncodeError(f"two columns are named {name!r}", hint="name them apart; a row is an object")
        seen.add(name)
    return columns, rows


def row_of(row: Any, columns: tuple[str, ...]) -> Any:
    """The values of one row: as many as there are columns."""
    if type(row) is tuple or type(row) is list:
        values = tuple(row)
    elif isinstance(row, (str, bytes, Mapping)):  # it iterates too, but over letters or names
        raise EncodeError(f"a row is a sequence of values, not {k.short(row)}", hint="row.values() of a dict is one")
    else:  # an iterator without end is no row either
        values = tuple(islice(iter(row), len(columns) + 1))
    if len(values) != len(columns):
        more = "more than " if len(values) > len(columns) and type(row) not in (tuple, list) else ""
        raise EncodeError(f"a row of {more}{len(columns) if more else len(values)} values under {len(columns)} columns")
    return values


def is_object(dictionary: Any) -> bool:
    """Has a Dictionary only keys that a member may be named by?"""
    return all(isinstance(key, str) for key in dictionary)


def as_object(dictionary: Any) -> dict[str, Any]:
    """A Dictionary as AMF0 can have it, where all its keys are text."""
    for index, key in enumerate(dictionary):
        if not isinstance(key, str):
            raise EncodeError(
                f"AMF0 has no Dictionary, and {k.short(key)} is no name of a member",
                f".key{index}",
                hint="AMF3 has one",
            )
    return mapped(dictionary, LENGTH_MAX)


def is_array(value: Any, kind: int) -> bool:
    """Does a value travel as an array?  An associative one is none, nor is a Vector."""
    return kind in _ARRAYS or kind == k.ARRAY and k.array_kind(value) is None


_ARRAYS: Final = frozenset((k.LIST, k.ITERABLE, k.ROWS))


def packed(vector: Vector) -> tuple[str, int, bytes] | None:
    """(kind, count, big-endian items) of a Vector of numbers; None for one of objects."""
    kind = vector.kind
    if kind == "object":
        return None
    content = list.__getitem__(vector, slice(None))
    return kind, len(content), k.pack_vector(kind, content)


def reference_marker(value: Any, kind: int) -> bytes:
    """The marker before an AMF3 reference, where the kind alone does not tell it."""
    if kind == k.XML:
        return b"\x07" if value.legacy else b"\x0b"
    form = value.kind if kind == k.VECTOR else k.array_kind(value)
    return b"\x09" if form is None else bytes((VECTOR_MARKERS[form],))


# --- errors ---------------------------------------------------------------------------------------------------------


def step(mode: int, place: int, container: Any) -> str:
    """What one open container adds to the path of an error; nothing while it is at no place yet."""
    if place < 0 or mode == ROOT:
        return ""
    if mode == LISTED or mode == TABLE:
        return f"[{place}]"
    if mode == SOURCE:
        return ".source"
    if mode == ENTRIES:
        return f".{'value' if place & 1 else 'key'}{place >> 1}"
    name = list(container)[place]
    if isinstance(name, str):
        name = str.__str__(name)
        return f".{name}" if name.isidentifier() else f"[{k.short(name)}]"
    return f"[{k.short(name)}]"


def explained(error: Exception, path: str) -> EncodeError:
    """The error to raise for what went wrong at `path`: an EncodeError as it is, anything else inside one."""
    if not isinstance(error, EncodeError):
        wrapped = EncodeError(f"{type(error).__name__} while reading a value: {said(error)}")
        wrapped.__cause__ = error
        error = wrapped
    error.path = path + (error.path or "")
    return error


def too_many(limit: int) -> EncodeError:
    return EncodeError(f"more than {limit} values", hint="Limits(max_values=...) sets how many")


def too_deep(limit: int) -> EncodeError:
    return EncodeError(f"more than {limit} containers within each other", hint="Limits(max_depth=...) sets how many")


def too_many_externals() -> EncodeError:
    return EncodeError(f"more than {EXTERNAL_DEPTH} externalizable objects within each other")


def too_many_objects() -> EncodeError:
    return EncodeError("more objects than AMF3 can number")


def too_many_members(count: int) -> EncodeError:
    return EncodeError(f"{count} sealed members are more than AMF3 can say")


def too_long(what: str, count: int, limit: int) -> EncodeError:
    return EncodeError(f"{what} of {count} is longer than AMF3 can say, which is {limit}")


def too_long_for_key(what: str, count: int) -> EncodeError:
    return EncodeError(f"{what} of {count} bytes; AMF0 has two bytes for its length", hint="AMF3 has more")


def too_long_for_amf0(size: int) -> EncodeError:
    return EncodeError(f"a length of {size} does not fit AMF0's four bytes")


def empty_name() -> EncodeError:
    return EncodeError('a dynamic member named "" would end the object', hint="seal it, or rename it")


def failed_before() -> EncodeError:
    return EncodeError(
        "this encoder has failed before", hint="its tables no longer match what it returned; make a new one"
    )


def at_work() -> EncodeError:
    return EncodeError("this encoder is at work already", hint="write_object() writes a value inside another")


def not_at_work() -> EncodeError:
    return EncodeError("this encoder is not at work", hint="a DataOutput is good until __writeamf__ returns")
