"""The encoder in Python: the twin of `_encoder.pyx`, byte for byte.

It keeps a stack of its own, so that depth is bounded by a number and not by the interpreter's recursion.  One loop
takes the next value of the innermost open container and writes it; a container met on the way becomes the
innermost, and the loop goes on with what it holds.  What is open is a *frame*: the iterator over what is still to
be written and all that is needed to name a place in it, should an error have to.  Output is a list of bytes, joined once.

References, in AMF3 (specification 2.2): strings by value, objects by identity, traits by what they say.  `_kept` holds
each value that took a slot of the object table, in the order of the slots: it counts them, and it keeps them alive
so that no other object can get the same `id`.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, NoReturn

from . import kinds as k
from ._wire import (
    A0_DATE,
    A0_ECMA_ARRAY,
    A0_LONG_STRING,
    A0_OBJECT,
    A0_STRICT_ARRAY,
    A0_TYPED_OBJECT,
    A0_XML,
    AMF0_KEY_MAX,
    AMF0_SLOTS,
    COLUMN_DEPTHS,
    COLUMN_PLACES,
    COLUMN_SAMPLE,
    COLUMN_WORTH,
    DEPTH_ALONE,
    EXACT_INT,
    EXTERNAL_DEPTH,
    INDEX_END,
    INT29_MAX,
    INT29_MIN,
    LENGTH_MAX,
    U29_MAX,
    VECTOR_MARKERS,
    Limits,
    check_options,
)
from .classes import EXTERNAL, WRAPPER, ClassRegistry, Plan, default_registry
from .dataio import DataOutput
from .errors import AmfError, EncodeError
from .types import EcmaArray, Rows, TypedObject, Vector, Xml, undefined

EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
ROOT, LISTED, SEALED, PAIRED, KNOWN, ENTRIES, SOURCE, ROWS = range(8)
"""How a frame's items are read, and how its places are named:
the value itself; items [n]; members by the names in the traits; (key, value) pairs; (written key, tag, value) triples;
keys and values in turn; the one value of a wrapper; rows of a result set."""
LAST_PLACE: Final = COLUMN_PLACES - 1
CONVERSIONS: Final = 32  # how often a value may turn into another before it is plain
NO_LIMIT: Final = 1 << 62
SHARED_FROM: Final = {tuple: 1, frozenset: 1, bytes: 2}  # shorter ones are shared by CPython itself, not by the user
ALL: Final = slice(None)
MARKED: Final = struct.Struct(">Bd")
DOUBLE: Final = struct.Struct(">d")
ITEM: Final = object()


def u29(number: int) -> bytes:
    """A U29 in as few bytes as will do (AMF3 specification, 1.3.1)."""
    if number < 0x80:
        return bytes((number,))
    if number < 0x4000:
        return bytes((number >> 7 | 0x80, number & 0x7F))
    if number < 0x200000:
        return bytes((number >> 14 | 0x80, number >> 7 & 0x7F | 0x80, number & 0x7F))
    return bytes((number >> 22 | 0x80, number >> 15 & 0x7F | 0x80, number >> 8 & 0x7F | 0x80, number & 0xFF))


SMALL: Final = 1024
INTEGERS: Final = [b"\x04" + u29(n) for n in range(SMALL)]
STRING_HEADS: Final = [b"\x06" + u29(n << 1 | 1) for n in range(SMALL)]
STRING_REFERENCES: Final = [b"\x06" + u29(n << 1) for n in range(SMALL)]
U29_ODD: Final = [u29(n << 1 | 1) for n in range(SMALL)]
U29_EVEN: Final = [u29(n << 1) for n in range(SMALL)]
REFERENCE_MARKERS: Final = {
    k.BYTES: b"\x0c", k.DATETIME: b"\x08", k.DATE: b"\x08", k.ELEMENT: b"\x0b", k.LIST: b"\x09", k.ITERABLE: b"\x09",
    k.DICT: b"\x0a", k.MAPPING: b"\x0a", k.ECMA: b"\x09", k.TYPED: b"\x0a", k.PLAN: b"\x0a", k.DICTIONARY: b"\x11", k.ROWS: b"\x09",
}  # fmt: skip


class NeedsAvmPlus(Exception):
    """A value of AMF3 alone turned up inside a body that may hold none: the body is written again, behind `11`."""


class Encoder:
    """Encode values one after another, as parts of one stream.

    Options are those of `amfgate.dumps`.  The tables of strings, objects and traits go on from call to call, as
    they do within a shared object or a packet's body.  After an EncodeError they no longer match what was
    returned, so the encoder refuses further work.
    """

    def __init__(
        self,
        *,
        version: int = 3,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        strings: str = "adaptive",
        default: Callable[[Any], Any] | None = None,
        big_ints: str = "error",
        decimals: str = "float",
    ) -> None:
        check_options(version, limits, strings=strings, big_ints=big_ints, decimals=decimals)
        limits = limits or DEPTH_ALONE
        self.version = version
        self._classes = default_registry if classes is None else classes
        self._max_depth = limits.max_depth
        self._max_values = NO_LIMIT if limits.max_values is None else limits.max_values
        self._adaptive = strings == "adaptive"
        self._default = default
        self._big_ints = big_ints
        self._decimals = decimals
        self._out: list[bytes] = []
        self._strings: dict[str, int] = {}
        self._objects: dict[int, int] = {}
        self._kept: list[Any] = []
        self._traits: dict[Any, int] = {}
        self._dynamic_object: bytes | None = None
        self._shapes: dict[tuple[Any, ...], Any] = {}
        self._columns: dict[int, list[list[Any]]] = {}
        self._slots: dict[int, int] = {}  # AMF0's table, and what took part in it
        self._kept0: list[Any] = []
        self._made: dict[int, tuple[Any, list[Any]]] = {}  # what could be iterated only once, with what came of it
        self._values = 0
        self._external = 0
        self._depth = 0
        self._whole = False
        self._repeats = 0
        self._failed = False

    def encode(self, value: Any) -> bytes:
        """The bytes of one value.

        EncodeError when it cannot be sent exactly; its path starts at `$`, this value.
        """
        self._begin()
        try:
            (self._write3 if self.version == 3 else self._write0)(value, 0)
        except BaseException as error:
            self._fail(error)
        return b"".join(self._out)

    def encode_body(
        self,
        value: Any,
        *,
        avmplus: bool,
        arguments: bool = False,
        counted: bool = True,
        whole: bool = False,
        repeats: int = 0,
    ) -> bytes:
        """The value of one body or header of a remoting packet, which starts in AMF0.

        avmplus: the peer reads AMF3, so anything but null, undefined, booleans, numbers and text goes behind one `11`.
        arguments: a list is written as AMF0's strict array, and `avmplus` applies to each item on its own.
        counted: that array takes an AMF0 slot, as clients of ActionScript 2 number them.
        whole: without `avmplus`, a value that holds bytes, a Vector or a Dictionary that is no object
            is written behind one `11` as a whole: a client may misread AMF0 that follows a nested one.
        repeats: in AMF0, a value met again is written out again until so many values were written twice; after
            that, and in a cycle, it becomes a reference.
        """
        self._begin()
        self._whole, self._repeats = whole and not avmplus, repeats
        try:
            if arguments and type(value) in (list, tuple):
                self._write_arguments(value, avmplus, counted)
            elif avmplus:
                self._write_avmplus(value, 0)
            else:
                try:
                    self._write0(value, 0)
                except NeedsAvmPlus:
                    self._begin()
                    self._slots, self._kept0 = {}, []
                    self._out.append(b"\x11")
                    self._write3(value, 0)
        except BaseException as error:
            self._fail(error)
        return b"".join(self._out)

    def encode_string(self, text: str) -> bytes:
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        self._begin()
        try:
            self._write_string(text)
        except BaseException as error:
            self._fail(error)
        return b"".join(self._out)

    def _begin(self) -> None:
        if self._failed:
            raise EncodeError(
                "this encoder has failed before", hint="its tables no longer match what it returned; make a new one"
            )
        self._out = []
        self._columns = {}
        self._values = self._max_values - 1
        self._whole, self._repeats = False, 0

    def _fail(self, error: BaseException) -> NoReturn:
        self._failed = True
        if isinstance(error, EncodeError):
            error.path = "$" + (error.path or "")
            error.args = (error.message, error.path, error.hint)
        raise error

    # --- what externalizable classes use, through DataOutput --------------------------------------------------------

    def put(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._out.append(data)

    def write_object(self, value: Any) -> None:
        """Write one AMF3 value inside an externalizable's payload."""
        self._values -= 1
        if self._values < 0:
            raise self._too_many()
        self._write3(value, self._depth)

    # --- strings and headers ----------------------------------------------------------------------------------------

    def _utf8(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            pass
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise EncodeError(
                f"text with the lone surrogate U+{ord(text[error.start]):04X} at {error.start} cannot be written"
            ) from None

    def _write_string(self, text: str) -> None:
        """A string without marker: a key, a name, an alias (AMF3 specification, 1.3.2)."""
        if not text:
            self._out.append(b"\x01")
            return
        strings = self._strings
        index = strings.get(text)
        if index is not None:
            self._out.append(u29(index << 1))
            return
        data = self._utf8(text)
        self._out.append(self._length(len(data), "text"))
        self._out.append(data)
        strings[text] = len(strings)

    def _length(self, count: int, what: str) -> bytes:
        if count < SMALL:
            return U29_ODD[count]
        if count > LENGTH_MAX:
            raise EncodeError(f"{what} of {count} is longer than AMF3 can say, which is {LENGTH_MAX}")
        return u29(count << 1 | 1)

    def _write_traits(self, alias: str, names: tuple[str, ...], dynamic: bool) -> int:
        """The header of an object, as a reference when the traits were written before; their place in the table."""
        traits = self._traits
        key = (alias, dynamic, names)
        index = traits.get(key)
        if index is not None:
            self._out.append(b"\x0a" + u29(index << 2 | 1))
            return index
        if len(names) << 4 > U29_MAX:
            raise EncodeError(f"{len(names)} sealed members are more than AMF3 can say")
        self._out.append(b"\x0a" + u29(len(names) << 4 | dynamic << 3 | 3))
        self._write_string(alias)
        for name in names:
            self._write_string(name)
        index = traits[key] = len(traits)
        return index

    def _write_external_traits(self, alias: str, dynamic: bool) -> None:
        key = (alias, EXTERNAL + dynamic, ())
        index = self._traits.get(key)
        if index is not None:
            self._out.append(b"\x0a" + u29(index << 2 | 1))
            return
        self._out.append(b"\x0a\x0f" if dynamic else b"\x0a\x07")
        self._write_string(alias)
        self._traits[key] = len(self._traits)

    def _too_many(self) -> EncodeError:
        return EncodeError(f"more than {self._max_values} values", hint="Limits(max_values=...) sets how many")

    # --- scalars off the main road --------------------------------------------------------------------------------

    def _big_int(self, value: int) -> Any:
        """An int that a double would change: as the user chose, or the error."""
        if self._big_ints == "float":
            try:
                return float(value)
            except OverflowError:
                raise EncodeError("an int beyond the range of a double cannot be sent") from None
        if self._big_ints == "string":
            try:
                return str(value)
            except ValueError as error:  # more digits than the interpreter converts
                raise EncodeError(f"an int cannot be sent as text: {error}") from None
        raise EncodeError(
            f"the int {k.short(value)} is beyond 2**53, where a double would change it",
            hint='pass big_ints="float" or "string"',
        )

    def _decimal(self, value: Decimal) -> Any:
        if self._decimals == "string":
            return str(value)
        if value.is_nan():
            return float("nan")
        number = float(value)
        if Decimal(repr(number)) != value:
            raise EncodeError(f"Decimal('{value}') is not exact as a double", hint='pass decimals="string"')
        return number

    def _plain(self, value: Any, kind: int, payload: Any) -> Any:
        """What travels in place of a value of another kind: a scalar of an exact type, or a container."""
        for _ in range(CONVERSIONS):
            if kind == k.INTEGER:
                return int.__pos__(value)
            if kind == k.DOUBLE:
                return float.__pos__(value)
            if kind == k.STRING:
                return str.__str__(value)
            if kind == k.DECIMAL:
                return self._decimal(value)
            if kind == k.NATURAL:
                value = payload(value)
            elif kind != k.UNKNOWN:
                return value
            elif self._default is None:
                raise EncodeError(f"cannot encode {type(value).__name__}", hint="register its class, or pass default=")
            else:
                value = self._default(value)
            cls = type(value)
            kind, payload = self._classes.kinds.get(cls) or k.kind_of(cls, self._classes)
        raise EncodeError(f"cannot encode {type(value).__name__}", hint=f"{CONVERSIONS} conversions led to no plain value")

    def _listed(self, value: Any) -> Any:
        """The items of an iterable; one that can be read only once is read once."""
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        items = list(value)
        self._made[id(value)] = value, items
        return items

    # --- what a container holds ---------------------------------------------------------------------------------------

    def _key(self, key: Any, container: Any) -> str:
        """The text of a key that is no str: a whole number's digits, a str subclass's text."""
        if isinstance(key, str):
            return str.__str__(key)
        if isinstance(key, int) and not isinstance(key, bool):
            text = int.__repr__(key)
            if text in container:
                raise EncodeError(f"the keys {text} and {text!r} are one on the wire")
            return text
        raise EncodeError(f"a key is text or a whole number, not {k.short(key)}", hint="a Dictionary holds keys of any kind")

    def _members(self, value: Any, plan: Plan | None) -> tuple[str, tuple[str, ...], Any, dict[str, Any] | None]:
        """Alias, sealed names, their values, and the dynamic members (None: the traits are not dynamic)."""
        if plan is not None:
            names, content = plan.names, plan.get(value)
            if names is None:
                names, content = tuple(content), content.values()
            return plan.alias, names, content, None if plan.extra is None else plan.extra(value)
        members = dict.copy(value)
        names = tuple(members) if value.sealed is None else value.sealed
        for name in names:
            if type(name) is not str:
                raise EncodeError(f"a member's name is text, not {k.short(name)}")
        content = [members.get(name, undefined) for name in names]
        for name in names:
            members.pop(name, None)
        if value.dynamic:
            return value.alias, names, content, members
        for name in members:
            raise EncodeError(
                f"the class {value.alias!r} is sealed and has no member {k.short(name)}",
                hint="name it in sealed=, or pass dynamic=True",
            )
        return value.alias, names, content, None

    def _split(self, value: EcmaArray) -> tuple[list[Any], dict[Any, Any]]:
        """The dense part of an associative array, and the rest of it."""
        members = dict.copy(value)
        limit = len(members) if value.count is None else min(value.count, len(members))
        dense = []
        while len(dense) < limit and len(dense) in members:
            dense.append(members.pop(len(dense)))
        for index in range(len(dense)):
            if str(index) in members:
                raise EncodeError(f"the keys {index} and '{index}' are one on the wire")
        return dense, members

    def _rows(self, value: Rows) -> Any:
        """The rows of a result set, once its columns are known to be names."""
        seen = set()
        for name in value.columns:
            if type(name) is not str:
                raise EncodeError(f"a column's name is text, not {k.short(name)}")
            if name in seen:
                raise EncodeError(f"two columns are named {name!r}", hint="name them apart; a row is an object")
            seen.add(name)
        return value.rows if type(value.rows) in (list, tuple) else self._listed(value.rows)

    def _row(self, row: Any, columns: tuple[str, ...]) -> Any:
        values = row if type(row) in (tuple, list) else list(row)
        if len(values) != len(columns):
            raise EncodeError(f"a row of {len(values)} values under {len(columns)} columns")
        return values

    def _write_external(self, value: Any, depth: int) -> None:
        """The payload of a class that writes itself."""
        if self._external >= EXTERNAL_DEPTH:
            raise EncodeError(f"more than {EXTERNAL_DEPTH} externalizable objects within each other")
        outer, self._depth = self._depth, depth
        self._external += 1
        try:
            value.__writeamf__(DataOutput(self))
        finally:
            self._depth = outer
            self._external -= 1

    def _too_deep(self) -> EncodeError:
        return EncodeError(
            f"more than {self._max_depth} containers within each other", hint="Limits(max_depth=...) sets how many"
        )

    def _explain(self, error: Exception, stack: list[Any], mode: int, place: int, container: Any) -> EncodeError:
        """The error to raise for what went wrong at the innermost place, with the path to it."""
        path = []
        for frame in stack:
            path.append(_step(frame[1], frame[2], frame[3]))
        path.append(_step(mode, place, container))
        if not isinstance(error, EncodeError):
            wrapped = EncodeError(f"{type(error).__name__} while reading a value: {error}")
            wrapped.__cause__ = error
            error = wrapped
        error.path = "".join(path) + (error.path or "")
        return error

    # --- AMF3 -----------------------------------------------------------------------------------------------------------

    def _write3(self, root: Any, depth: int) -> None:
        """One AMF3 value inside `depth` containers."""
        append = self._out.append
        strings = self._strings
        objects = self._objects
        kept = self._kept
        shapes = self._shapes
        classes = self._classes
        kinds = classes.kinds
        pack = MARKED.pack
        utf8 = self._utf8
        length = self._length
        stack: list[Any] = []
        items: Any = iter((root,))
        mode, place, container, tag, columns, end = ROOT, -1, None, 0, None, b""
        try:
            while True:
                for value in items:
                    place += 1
                    if mode > SEALED:
                        if mode == KNOWN:
                            lead, tag, value = value
                            append(lead)
                        elif mode == PAIRED:
                            key, value = value
                            if type(key) is not str:
                                key = self._key(key, container)
                            if not key:
                                raise EncodeError('a dynamic member named "" would end the object', hint="seal it, or rename it")
                            index = strings.get(key)
                            if index is None:
                                data = utf8(key)
                                append(length(len(data), "a key"))
                                append(data)
                                tag = strings[key] = len(strings)
                            else:
                                append(U29_EVEN[index] if index < SMALL else u29(index << 1))
                                tag = index
                        elif mode == ROWS:
                            content = self._row(value, container.columns)
                            if depth >= self._max_depth:
                                raise self._too_deep()
                            kept.append(None)
                            stack.append((items, mode, place, container, tag, columns, end, depth))
                            depth += 1
                            tag = -2 - self._write_traits(container.alias, container.columns, False)
                            columns = self._columns_at(depth)
                            items, mode, place, container = iter(content), SEALED, -1, container.columns
                            break
                    cls = type(value)
                    while True:  # left at once, but a value that travels as another comes round again
                        if cls is str:
                            if not value:
                                append(b"\x06\x01")
                                break
                            index = None
                            if columns is None:
                                looked_up = True
                            else:
                                column = columns[place if place < LAST_PLACE else LAST_PLACE]
                                if column[0] != tag:
                                    column[:] = tag, 0, 0, True
                                looked_up = column[3]
                            if looked_up:
                                index = strings.get(value)
                                if columns is not None:
                                    column[1] += 1
                                    if index is not None:
                                        column[2] += 1
                                    if column[1] == COLUMN_SAMPLE:
                                        column[3] = column[2] * COLUMN_WORTH >= COLUMN_SAMPLE
                                        column[1] = column[2] = 0
                                if index is not None:
                                    append(STRING_REFERENCES[index] if index < SMALL else b"\x06" + u29(index << 1))
                                    break
                            data = utf8(value)
                            size = len(data)
                            append(STRING_HEADS[size] if size < SMALL else b"\x06" + length(size, "text"))
                            append(data)
                            if looked_up:
                                strings[value] = len(strings)
                            break
                        if cls is int:
                            if 0 <= value < SMALL:
                                append(INTEGERS[value])
                            elif INT29_MIN <= value <= INT29_MAX:
                                append(b"\x04" + u29(value & U29_MAX))
                            elif -EXACT_INT <= value <= EXACT_INT:
                                append(pack(5, value))
                            else:
                                value = self._big_int(value)
                                cls = type(value)
                                continue
                            break
                        if cls is float:
                            append(pack(5, value))
                            break
                        if value is None:
                            append(b"\x01")
                            break
                        if cls is bool:
                            append(b"\x03" if value else b"\x02")
                            break
                        kind, payload = kinds.get(cls) or k.kind_of(cls, classes)
                        if kind < k.BYTES:
                            if kind == k.UNDEFINED:
                                append(b"\x00")
                                break
                            value = self._plain(value, kind, payload)
                            cls = type(value)
                            continue
                        identity = id(value)
                        slot = objects.get(identity)
                        if slot is not None:
                            append((REFERENCE_MARKERS.get(kind) or _marker(value, kind)) + u29(slot << 1))
                            break
                        slot = len(kept)
                        if slot << 1 > U29_MAX:
                            raise EncodeError("more objects than AMF3 can number")
                        if len(value) >= SHARED_FROM[cls] if cls in SHARED_FROM else kind != k.INVALID_DATE:
                            objects[identity] = slot
                        kept.append(value)
                        if kind < k.ARRAY:
                            if kind == k.BYTES:
                                data = value if cls is bytes else memoryview(value).tobytes()
                                append(b"\x0c" + length(len(data), "bytes"))
                                append(data)
                            elif kind == k.INVALID_DATE:
                                append(b"\x08\x01\x7f\xf8\x00\x00\x00\x00\x00\x00")
                            elif kind == k.XML or kind == k.ELEMENT:
                                data = utf8(str.__str__(value) if kind == k.XML else payload(value))
                                append(b"\x07" if kind == k.XML and value.legacy else b"\x0b")
                                append(length(len(data), "XML"))
                                append(data)
                            else:
                                append(b"\x08\x01" + DOUBLE.pack(milliseconds(value, kind)))
                            break
                        if kind <= k.VECTOR:
                            packed = payload(value) if kind == k.ARRAY else _packed(value)
                            if type(packed) is tuple:
                                form, count, data = packed
                                self._values -= count
                                if self._values < 0:
                                    raise self._too_many()
                                append(bytes((VECTOR_MARKERS[form],)) + length(count, "a Vector"))
                                append(b"\x01" if kind == k.VECTOR and value.fixed else b"\x00")
                                append(data)
                                break
                        # A container.  Its frame is set up here; the outer loop goes on with what is in it.
                        if depth >= self._max_depth:
                            raise self._too_deep()
                        stack.append((items, mode, place, container, tag, columns, end, depth))
                        depth += 1
                        mode, place, container, tag, end = LISTED, -1, None, -1, b""
                        columns = self._columns_at(depth)
                        if kind == k.DICT or kind == k.MAPPING:
                            container = dict.copy(value) if kind == k.DICT else dict(value.items())
                            count = len(container)
                            append(self._dynamic_object or self._first_dynamic_object())
                            end = b"\x01"
                            keys = tuple(container)
                            shape = shapes.get(keys, ITEM)
                            if shape is ITEM:
                                shapes[keys] = None
                            elif shape is None:
                                shape = shapes[keys] = self._shape(keys)
                            if type(shape) is tuple:
                                items, mode = zip(*shape, container.values(), strict=True), KNOWN
                            else:
                                items, mode = iter(container.items()), PAIRED
                        elif kind == k.LIST or kind == k.ITERABLE or kind == k.ARRAY:
                            content = packed if kind == k.ARRAY else self._listed(value) if kind == k.ITERABLE else _snapshot(value)
                            count = len(content)
                            append(b"\x09" + length(count, "an array") + b"\x01")
                            items = iter(content)
                        elif kind == k.PLAN and payload.form == WRAPPER:
                            self._write_external_traits(payload.alias_of(value), getattr(value, "__amf_dynamic__", False))
                            items, mode, columns, count = iter((value.source,)), SOURCE, None, 1
                        elif kind == k.PLAN and payload.form == EXTERNAL:
                            self._write_external_traits(payload.alias_of(value), False)
                            self._write_external(value, depth)
                            items, count = iter(()), 0
                        elif kind == k.PLAN or kind == k.TYPED:
                            alias, names, content, extra = self._members(value, payload)
                            count = len(names)
                            tag = -2 - self._write_traits(alias, names, extra is not None)
                            if extra is not None:  # dynamic members come after the sealed ones: their frame waits below
                                count += len(extra)
                                stack.append((iter(extra.items()), PAIRED, -1, extra, 0, columns, b"\x01", depth))
                            items, mode, container = iter(content), SEALED, names
                        elif kind == k.ECMA:
                            content, container = self._split(value)
                            count = len(content) + len(container)
                            append(b"\x09" + length(len(content), "an array"))
                            stack.append((iter(content), LISTED, -1, None, -1, columns, b"", depth))
                            items, mode, end = iter(container.items()), PAIRED, b"\x01"
                        elif kind == k.VECTOR:
                            content = list.__getitem__(value, ALL)
                            count = len(content)
                            append(b"\x10" + length(count, "a Vector") + (b"\x01" if value.fixed else b"\x00"))
                            self._write_string(value.alias)
                            items, columns = iter(content), None
                        elif kind == k.DICTIONARY:
                            content = [part for pair in value.items() for part in pair]
                            count = len(content)
                            append(b"\x11" + length(count >> 1, "a Dictionary") + (b"\x01" if value.weak else b"\x00"))
                            items, mode, columns = iter(content), ENTRIES, None
                        else:
                            content = self._rows(value)
                            count = len(content) * (1 + len(value.columns))
                            append(b"\x09" + length(len(content), "an array") + b"\x01")
                            items, mode, container = iter(content), ROWS, value
                        self._values -= count
                        if self._values < 0:
                            raise self._too_many()
                        break
                    if place < 0:  # a frame was opened
                        break
                else:  # the innermost container is complete
                    if end:
                        append(end)
                    if not stack:
                        return
                    items, mode, place, container, tag, columns, end, depth = stack.pop()
        except MemoryError:
            raise
        except Exception as error:
            raise self._explain(error, stack, mode, place, container) from error.__cause__

    def _columns_at(self, depth: int) -> Any:
        """The columns of adaptive strings at a depth: [what names the values, looked up, found, still looking]."""
        if not self._adaptive or depth > COLUMN_DEPTHS:
            return None
        columns = self._columns.get(depth)
        if columns is None:
            columns = self._columns[depth] = [[None, 0, 0, True] for _ in range(COLUMN_PLACES)]
        return columns

    def _first_dynamic_object(self) -> bytes:
        """The header of a plain dict: traits the first time, a reference to them from then on."""
        known = ("", True, ()) in self._traits
        index = self._traits.setdefault(("", True, ()), len(self._traits))
        self._dynamic_object = b"\x0a" + u29(index << 2 | 1)
        return self._dynamic_object if known else b"\x0a\x0b\x01"

    def _shape(self, keys: tuple[Any, ...]) -> tuple[list[bytes], list[int]] | None:
        """For a dict with the same keys as one before: each key as it is written now, and its column's tag."""
        indexes = []
        for key in keys:
            index = self._strings.get(key) if type(key) is str else None
            if index is None:  # the one before is not complete yet, or has keys that are no text
                return None
            indexes.append(index)
        return [u29(index << 1) for index in indexes], indexes

    # --- AMF0 -----------------------------------------------------------------------------------------------------------

    def _write_arguments(self, value: Any, avmplus: bool, counted: bool) -> None:
        """The arguments of a call: a strict array whose items are written each on its own."""
        self._values -= len(value)
        if self._values < 0:
            raise self._too_many()
        self._out.append(b"\x0a" + len(value).to_bytes(4, "big"))
        if counted:
            self._slots[id(value)] = len(self._kept0)
            self._kept0.append(value)
        for index, item in enumerate(value):
            try:
                if avmplus:
                    self._write_avmplus(item, 1)
                else:
                    self._write0(item, 1)
            except EncodeError as error:
                error.path = f"[{index}]{error.path or ''}"
                raise

    def _write_avmplus(self, value: Any, depth: int) -> None:
        """A scalar in AMF0, anything else in AMF3 behind one `11`."""
        kind, payload = self._classes.kinds.get(type(value)) or k.kind_of(type(value), self._classes)
        if k.INTEGER <= kind <= k.UNKNOWN:
            value = self._plain(value, kind, payload)
            kind, payload = self._classes.kinds.get(type(value)) or k.kind_of(type(value), self._classes)
        if kind < k.BYTES:
            self._write0(value, depth)
        else:
            self._out.append(b"\x11")
            self._write3(value, depth)

    def _write0(self, root: Any, depth: int) -> None:
        """One AMF0 value inside `depth` containers."""
        append = self._out.append
        slots = self._slots
        kept = self._kept0
        classes = self._classes
        kinds = classes.kinds
        pack = MARKED.pack
        utf8 = self._utf8
        heads: dict[str, bytes] = {}  # keys as they are written
        opened: set[int] = set()
        repeated = 0
        stack: list[Any] = []
        items: Any = iter((root,))
        mode, place, container, end, identity = ROOT, -1, None, b"", 0
        try:
            while True:
                for value in items:
                    place += 1
                    if mode > SEALED:
                        if mode == PAIRED:
                            key, value = value
                            if type(key) is not str:
                                key = self._key(key, container)
                            head = heads.get(key)
                            if head is None:
                                head = heads[key] = self._text16(key, "a key")
                            append(head)
                        elif mode == ROWS:
                            content = self._row(value, container.columns)
                            if depth >= self._max_depth:
                                raise self._too_deep()
                            kept.append(None)
                            stack.append((items, mode, place, container, end, depth, identity))
                            depth += 1
                            append(b"\x10" + self._text16(container.alias, "an alias") if container.alias else b"\x03")
                            items, mode, place, container = zip(container.columns, content, strict=True), PAIRED, -1, container.columns
                            end, identity = b"\x00\x00\x09", 0
                            break
                    cls = type(value)
                    while True:  # left at once, but a value that travels as another comes round again
                        if cls is str:
                            data = utf8(value)
                            size = len(data)
                            if size <= 0xFFFF:
                                append(b"\x02" + size.to_bytes(2, "big"))
                            else:
                                append(b"\x0c" + self._size32(size))
                            append(data)
                            break
                        if cls is int:
                            if -EXACT_INT <= value <= EXACT_INT:
                                append(pack(0, value))
                                break
                            value = self._big_int(value)
                            cls = type(value)
                            continue
                        if cls is float:
                            append(pack(0, value))
                            break
                        if value is None:
                            append(b"\x05")
                            break
                        if cls is bool:
                            append(b"\x01\x01" if value else b"\x01\x00")
                            break
                        kind, payload = kinds.get(cls) or k.kind_of(cls, classes)
                        if kind < k.BYTES:
                            if kind == k.UNDEFINED:
                                append(b"\x06")
                                break
                            value = self._plain(value, kind, payload)
                            cls = type(value)
                            continue
                        if kind == k.DATETIME or kind == k.DATE:
                            append(b"\x0b" + DOUBLE.pack(milliseconds(value, kind)) + b"\x00\x00")
                            break
                        if kind == k.INVALID_DATE:
                            append(b"\x0b\x7f\xf8\x00\x00\x00\x00\x00\x00\x00\x00")
                            break
                        if kind == k.PLAN and payload.form == WRAPPER:
                            value = self._unwrapped(value)
                            cls = type(value)
                            continue
                        if self._whole and (kind in AVMPLUS_ALONE or kind == k.DICTIONARY and not _is_object(value)):
                            raise NeedsAvmPlus
                        if kind == k.BYTES or kind == k.PLAN and payload.form == EXTERNAL:
                            append(b"\x11")
                            self._write3(value, depth)
                            break
                        slot = slots.get(id(value))
                        again = slot is not None
                        if again and (repeated >= self._repeats or id(value) in opened):
                            append(b"\x07" + slot.to_bytes(2, "big"))
                            break
                        if not again and len(kept) < AMF0_SLOTS and (cls not in SHARED_FROM or value):
                            slots[id(value)] = len(kept)
                        kept.append(value)
                        if kind == k.XML or kind == k.ELEMENT:
                            data = utf8(str.__str__(value) if kind == k.XML else payload(value))
                            append(b"\x0f" + self._size32(len(data)))
                            append(data)
                            repeated += again
                            break
                        if depth >= self._max_depth:
                            raise self._too_deep()
                        stack.append((items, mode, place, container, end, depth, identity))
                        depth += 1
                        mode, place, container, end, identity = PAIRED, -1, None, b"\x00\x00\x09", id(value)
                        opened.add(identity)
                        if kind == k.DICT or kind == k.MAPPING or kind == k.DICTIONARY:
                            if kind == k.DICTIONARY:
                                container = _as_object(value)
                            else:
                                container = dict.copy(value) if kind == k.DICT else dict(value.items())
                            count = len(container)
                            append(b"\x03")
                            items = iter(container.items())
                        elif kind == k.ECMA:
                            container = dict.copy(value)
                            count = len(container)
                            append(b"\x08" + _ecma_count(value).to_bytes(4, "big"))
                            items = iter(container.items())
                        elif kind == k.TYPED or kind == k.PLAN:
                            alias, names, content, extra = self._members(value, payload)
                            container = dict(zip(names, content, strict=True))
                            container.update(extra or ())
                            count = len(container)
                            append(b"\x10" + self._text16(alias, "an alias") if alias else b"\x03")
                            items = iter(container.items())
                        elif kind == k.ROWS:
                            content = self._rows(value)
                            count = len(content) * (1 + len(value.columns))
                            append(b"\x0a" + self._size32(len(content)))
                            items, mode, container, end = iter(content), ROWS, value, b""
                        else:
                            if kind == k.ITERABLE:
                                content = self._listed(value)
                            elif kind == k.ARRAY:
                                content = k.array_items(value)
                            else:
                                content = _snapshot(value)
                            count = len(content)
                            append(b"\x0a" + self._size32(count))
                            items, mode, end = iter(content), LISTED, b""
                        if again:
                            repeated += 1 + count
                        self._values -= count
                        if self._values < 0:
                            raise self._too_many()
                        break
                    if place < 0:  # a frame was opened
                        break
                else:  # the innermost container is complete
                    if end:
                        append(end)
                    if not stack:
                        return
                    opened.discard(identity)
                    items, mode, place, container, end, depth, identity = stack.pop()
        except (MemoryError, NeedsAvmPlus):
            raise
        except Exception as error:
            raise self._explain(error, stack, mode, place, container) from error.__cause__

    def _unwrapped(self, value: Any) -> Any:
        """What a Flex collection holds: AMF0 has no externalizable objects, the collection is its source."""
        for _ in range(CONVERSIONS):
            value = value.source
            plan = k.plan_of(type(value), self._classes)
            if plan is None or plan.form != WRAPPER:
                return value
        raise EncodeError(f"{CONVERSIONS} collections within each other hold nothing else")

    def _text16(self, text: str, what: str) -> bytes:
        data = self._utf8(text)
        if len(data) > AMF0_KEY_MAX:
            raise EncodeError(f"{what} of {len(data)} bytes; AMF0 has two bytes for its length", hint="AMF3 has more")
        return len(data).to_bytes(2, "big") + data

    def _size32(self, size: int) -> bytes:
        if size > 0xFFFFFFFF:
            raise EncodeError(f"a length of {size} does not fit AMF0's four bytes")
        return size.to_bytes(4, "big")


AVMPLUS_ALONE: Final = frozenset((k.BYTES, k.VECTOR, k.ARRAY))


def milliseconds(value: Any, kind: int) -> float:
    """The time of a date in milliseconds since the epoch in UTC; a naive one is taken as UTC."""
    if kind == k.DATE:
        value = dt.datetime(value.year, value.month, value.day, tzinfo=dt.timezone.utc)
    elif value.utcoffset() is None:
        value = value.replace(tzinfo=dt.timezone.utc)
    since: dt.timedelta = value - EPOCH
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) / 1000


def _step(mode: int, place: int, container: Any) -> str:
    """What one frame adds to the path of an error; nothing while it is at no place yet."""
    if place < 0 or mode == ROOT:
        return ""
    if mode == LISTED or mode == ROWS:
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


def _marker(value: Any, kind: int) -> bytes:
    """The marker before a reference, where the kind alone does not tell it."""
    if kind == k.XML:
        return b"\x07" if value.legacy else b"\x0b"
    form = value.kind if kind == k.VECTOR else k.array_kind(value)
    return b"\x09" if form is None else bytes((VECTOR_MARKERS[form],))


def _packed(vector: Vector) -> tuple[str, int, bytes] | None:
    """(kind, count, big-endian items) of a Vector of numbers; None for one of objects."""
    if vector.kind == "object":
        return None
    content = list.__getitem__(vector, ALL)
    return vector.kind, len(content), k.pack_vector(vector.kind, content)


def _snapshot(value: Any) -> Any:
    """A list's or tuple's items, which no code that runs in between can change."""
    return tuple.__getitem__(value, ALL) if isinstance(value, tuple) else list.__getitem__(value, ALL)


def _is_object(dictionary: Any) -> bool:
    return all(isinstance(key, str) for key in dictionary)


def _as_object(dictionary: Any) -> dict[str, Any]:
    """A Dictionary as AMF0 can have it, where all its keys are text."""
    for index, key in enumerate(dictionary):
        if not isinstance(key, str):
            raise EncodeError(
                f"AMF0 has no Dictionary, and {k.short(key)} is no name of a member", f".key{index}", hint="AMF3 has one"
            )
    return dict(dictionary.items())


def _ecma_count(value: EcmaArray) -> int:
    """The declared count: as it came, else the highest index and one."""
    if value.count is not None:
        return value.count & 0xFFFFFFFF
    return max((key + 1 for key in dict.keys(value) if type(key) is int and 0 <= key < INDEX_END), default=0)
