"""The encoder in Python: the twin of `_encoder.pyx`, byte for byte.

It keeps a stack of its own, so that depth is bounded by a number and not by the interpreter's recursion.  One loop
takes the next value of the innermost open container and writes it; a container met on the way becomes the
innermost, and the loop goes on with what it holds.  What is open is a *frame*: the iterator over what is still to
be written and all that is needed to name a place in it, should an error have to.  Output is a list of bytes, joined
once.

References, in AMF3 (specification 2.2): strings by value, objects by identity, traits by what they say.  `_kept` holds
each value that took a slot of the object table, in the order of the slots: it counts them, and it keeps them alive
so that no other object can get the same `id`.

Where lists go as collections (`wrap_lists`), one list is two objects: the collection, found by the list's `id`, and the
array inside it, found by `~id`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ._rare import (
    CLOSED,
    ENTRIES,
    KNOWN,
    LISTED,
    PAIRED,
    ROOT,
    SEALED,
    SOURCE,
    TABLE,
    NeedsAvmPlus,
    alias_text,
    as_object,
    at_work,
    big_int,
    ecma_count,
    empty_name,
    entries,
    explained,
    failed_before,
    is_array,
    is_object,
    key_text,
    listed,
    mapped,
    members_of,
    milliseconds,
    not_at_work,
    packed,
    plain,
    reference_marker,
    row_of,
    rows_of,
    split,
    step,
    too_deep,
    too_long,
    too_long_for_amf0,
    too_long_for_key,
    too_many,
    too_many_externals,
    too_many_members,
    too_many_objects,
    unwrapped,
    utf8,
)
from ._wire import (
    AMF0_KEY_MAX,
    AMF0_SLOTS,
    COLUMN_DEPTHS,
    COLUMN_PLACES,
    COLUMN_SAMPLE,
    COLUMN_WORTH,
    DEPTH_ALONE,
    EXACT_INT,
    EXTERNAL_DEPTH,
    INT29_MAX,
    INT29_MIN,
    LENGTH_MAX,
    U29_MAX,
    VECTOR_MARKERS,
    Limits,
    check_options,
)
from .classes import ClassRegistry, default_registry
from .dataio import DataOutput
from .errors import EncodeError
from .kinds import (
    ARRAY,
    BYTES,
    DATE,
    DATETIME,
    DICT,
    DICTIONARY,
    ECMA,
    ELEMENT,
    INTEGER,
    INVALID_DATE,
    ITERABLE,
    LIST,
    MAPPING,
    PLAN,
    ROWS,
    TYPED,
    UNDEFINED,
    UNKNOWN,
    VECTOR,
    XML,
    array_items,
    kind_of,
)
from .plans import EXTERNAL, WRAPPER, Plan

LAST_PLACE: Final = COLUMN_PLACES - 1
NO_LIMIT: Final = 1 << 62
# Shorter ones are shared by CPython itself, not by the user.
SHARED_FROM: Final[dict[type, int]] = {tuple: 1, frozenset: 1, bytes: 2}
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
    BYTES: b"\x0c", DATETIME: b"\x08", DATE: b"\x08", ELEMENT: b"\x0b", LIST: b"\x09", ITERABLE: b"\x09",
    DICT: b"\x0a", MAPPING: b"\x0a", ECMA: b"\x09", TYPED: b"\x0a", PLAN: b"\x0a", DICTIONARY: b"\x11",
    ROWS: b"\x09",
}  # fmt: skip


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
        check_options(
            version, limits, classes=classes, default=default, strings=strings, big_ints=big_ints, decimals=decimals
        )
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
        self._unlisted = 0  # strings that have a number in the reader's table and are not in ours
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
        self._wrap: Plan | None = None
        self._failed = False
        self._busy = False
        self._broken: BaseException | None = None

    def encode(self, value: Any) -> bytes:
        """The bytes of one value.

        EncodeError when it cannot be sent exactly; its path starts at `$`, this value.
        """
        self._begin()
        try:
            (self._write3 if self.version == 3 else self._write0)(value, 0)
        except BaseException as error:
            self._fail(error)
        self._busy = False
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
        wrap_lists: Plan | None = None,
    ) -> bytes:
        """The value of one body or header of a remoting packet, which starts in AMF0.

        avmplus: the peer reads AMF3, so anything but null, undefined, booleans, numbers and text goes behind one `11`.
        arguments: a list is written as AMF0's strict array, and `avmplus` applies to each item on its own.
        counted: that array takes an AMF0 slot, as clients of ActionScript 2 number them.
        whole: without `avmplus`, a value that holds bytes, a Vector, an externalizable object or a Dictionary that is
            no object is written behind one `11` as a whole: a client may misread AMF0 that follows a nested one.
        repeats: in AMF0, a value met again is written out again until so many values were written twice; after
            that, and in a cycle, it becomes a reference.
        wrap_lists: with `avmplus`, the Plan of a wrapper (Flex's ArrayCollection): whatever would be an array goes as
            such a wrapper around that array, except what is the source of a wrapper already.  The same for all calls of
            one encoder: a reference to a list is one to its wrapper.
        """
        self._begin()
        self._whole, self._repeats = whole and not avmplus, repeats
        self._wrap = wrap_lists if avmplus else None
        try:
            try:
                if arguments and type(value) in (list, tuple):
                    self._write_arguments(value, avmplus, counted)
                elif avmplus:
                    self._write_avmplus(value, 0)
                else:
                    self._write0(value, 0)
            except NeedsAvmPlus:  # nothing of AMF3 was written yet, so its tables are as they were
                self._busy = False
                self._begin()
                self._slots, self._kept0 = {}, []
                self._out.append(b"\x11")
                self._write3(value, 0)
        except BaseException as error:
            self._fail(error)
        self._busy = False
        return b"".join(self._out)

    def encode_string(self, text: str) -> bytes:
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        if type(text) is not str:
            raise TypeError(f"encode_string() takes a str, not {type(text).__name__}")
        self._begin()
        try:
            self._write_string(text)
        except BaseException as error:
            self._fail(error)
        self._busy = False
        return b"".join(self._out)

    def _begin(self) -> None:
        if self._failed:
            raise failed_before()
        if self._busy:
            raise at_work()
        self._busy = True
        self._out = []
        self._columns = {}
        self._values = self._max_values - 1
        self._whole, self._repeats, self._wrap = False, 0, None

    def _fail(self, error: BaseException) -> NoReturn:
        self._failed = True
        self._busy = False
        if isinstance(error, EncodeError):
            error.path = "$" + (error.path or "")
            error.args = (error.message, error.path, error.hint)
        raise error

    # --- what externalizable classes use, through DataOutput --------------------------------------------------------

    def put(self, data: bytes) -> None:
        """Write bytes as they are."""
        if not self._busy:
            raise not_at_work()
        self._out.append(data)

    def write_object(self, value: Any) -> None:
        """Write one AMF3 value inside an externalizable's payload."""
        if not self._busy:
            raise not_at_work()
        try:
            self._values -= 1
            if self._values < 0:
                raise too_many(self._max_values)
            self._write3(value, self._depth)
        except BaseException as error:
            self._broken = error
            raise

    # --- strings and headers ----------------------------------------------------------------------------------------

    def _utf8(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            return utf8(text)

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
        strings[text] = len(strings) + self._unlisted

    def _length(self, count: int, what: str) -> bytes:
        if count < SMALL:
            return U29_ODD[count]
        if count > LENGTH_MAX:
            raise too_long(what, count, LENGTH_MAX)
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
            raise too_many_members(len(names))
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

    def _listed(self, value: Any) -> Any:
        """The items of an iterable; one that can be read only once is read once."""
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        items = listed(value, self._values, self._max_values)
        self._made[id(value)] = value, items
        return items

    # --- what a container holds --------------------------------------------------------------------------------------

    def _write_external(self, value: Any, depth: int) -> None:
        """The payload of a class that writes itself."""
        if self._external >= EXTERNAL_DEPTH:
            raise too_many_externals()
        outer, self._depth = self._depth, depth
        self._external += 1
        output = DataOutput(self)
        try:
            value.__writeamf__(output)
            if self._broken is not None:  # the class caught it, but half a value has been written
                raise self._broken
        finally:
            output._encoder = CLOSED
            self._depth = outer
            self._external -= 1

    def _explain(self, error: Exception, stack: list[Any], mode: int, place: int, container: Any) -> EncodeError:
        """The error to raise for what went wrong at the innermost place, with the path to it."""
        path = [step(frame[1], frame[2], frame[3]) for frame in stack]
        path.append(step(mode, place, container))
        return explained(error, "".join(path))

    # --- AMF3 --------------------------------------------------------------------------------------------------------

    def _write3(self, root: Any, depth: int) -> None:
        """One AMF3 value inside `depth` containers."""
        append = self._out.append
        strings = self._strings
        objects = self._objects
        kept = self._kept
        shapes = self._shapes
        all_columns = self._columns
        max_depth = self._max_depth
        classes = self._classes
        kinds = classes.kinds
        pack = MARKED.pack
        to_utf8 = self._utf8
        length = self._length
        wrap = self._wrap
        stack: list[Any] = []
        items: Any = iter((root,))
        container: Any
        columns: Any
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
                                key = key_text(key, container)
                            if not key:
                                raise empty_name()
                            index = strings.get(key)
                            if index is None:
                                data = to_utf8(key)
                                append(length(len(data), "a key"))
                                append(data)
                                tag = strings[key] = len(strings) + self._unlisted
                            else:
                                append(U29_EVEN[index] if index < SMALL else u29(index << 1))
                                tag = index
                        elif mode == TABLE:
                            content = row_of(value, container.columns)
                            if depth >= max_depth:
                                raise too_deep(self._max_depth)
                            kept.append(None)
                            stack.append((items, mode, place, container, tag, columns, end, depth))
                            depth += 1
                            alias, names = container.alias, container.columns
                            items, mode, place, container = iter(content), SEALED, -1, names
                            tag = -2 - self._write_traits(alias, names, False)
                            columns = all_columns.get(depth) or self._columns_at(depth)
                            break
                    cls = type(value)
                    while True:  # left at once, but a value that travels as another comes round again
                        if cls is str:
                            if not value:
                                append(b"\x06\x01")
                                break
                            looking = True
                            if columns is None:
                                index = strings.get(value)
                            else:
                                column = columns[place if place < LAST_PLACE else LAST_PLACE]
                                if column[0] != tag:
                                    column[:] = tag, 0, 0, True
                                looking, index = column[3], None
                                if looking:
                                    index = strings.get(value)
                                    column[1] += 1
                                    if index is not None:
                                        column[2] += 1
                                    if column[1] == COLUMN_SAMPLE:
                                        column[3] = column[2] * COLUMN_WORTH >= COLUMN_SAMPLE
                                        column[1] = column[2] = 0
                            if index is not None:
                                append(STRING_REFERENCES[index] if index < SMALL else b"\x06" + u29(index << 1))
                                break
                            try:
                                data = value.encode()
                            except UnicodeEncodeError:
                                data = utf8(value)
                            size = len(data)
                            append(STRING_HEADS[size] if size < SMALL else b"\x06" + length(size, "text"))
                            append(data)
                            if looking:
                                strings[value] = len(strings) + self._unlisted
                            else:
                                self._unlisted += 1
                            break
                        if cls is int:
                            if 0 <= value < SMALL:
                                append(INTEGERS[value])
                            elif INT29_MIN <= value <= INT29_MAX:
                                append(b"\x04" + u29(value & U29_MAX))
                            elif -EXACT_INT <= value <= EXACT_INT:
                                append(pack(5, value))
                            else:
                                value = big_int(value, self._big_ints)
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
                        try:
                            kind, payload = kinds[cls]
                        except KeyError:
                            kind, payload = kind_of(cls, classes)
                        if kind < BYTES:
                            if kind == UNDEFINED:
                                append(b"\x00")
                                break
                            value = plain(value, kind, payload, self._classes, self._default, self._decimals)
                            cls = type(value)
                            continue
                        identity = id(value)
                        if wrap is not None and is_array(value, kind):
                            if mode != SOURCE:
                                slot = objects.get(identity)
                                if slot is not None:
                                    append(b"\x0a" + u29(slot << 1))
                                    break
                                if cls not in SHARED_FROM or value:
                                    objects[identity] = len(kept)
                                kept.append(value)
                                self._write_external_traits(wrap.alias, False)
                            identity = ~identity
                        slot = objects.get(identity)
                        if slot is not None:
                            append((REFERENCE_MARKERS.get(kind) or reference_marker(value, kind)) + u29(slot << 1))
                            break
                        slot = len(kept)
                        if slot > LENGTH_MAX:
                            raise too_many_objects()
                        if len(value) >= SHARED_FROM[cls] if cls in SHARED_FROM else kind != INVALID_DATE:
                            objects[identity] = slot
                        kept.append(value)
                        if kind < ARRAY:
                            if kind == BYTES:
                                data = value if cls is bytes else memoryview(value).tobytes()
                                append(b"\x0c" + length(len(data), "bytes"))
                                append(data)
                            elif kind == INVALID_DATE:
                                append(b"\x08\x01\x7f\xf8\x00\x00\x00\x00\x00\x00")
                            elif kind == XML or kind == ELEMENT:
                                data = to_utf8(str.__str__(value) if kind == XML else payload(value))
                                append(b"\x07" if kind == XML and value.legacy else b"\x0b")
                                append(length(len(data), "XML"))
                                append(data)
                            else:
                                append(b"\x08\x01" + DOUBLE.pack(milliseconds(value, kind)))
                            break
                        if kind <= VECTOR:
                            numbers: Any = payload(value) if kind == ARRAY else packed(value)
                            if type(numbers) is tuple:
                                form, count, data = numbers
                                self._values -= count
                                if self._values < 0:
                                    raise too_many(self._max_values)
                                append(bytes((VECTOR_MARKERS[form],)) + length(count, "a Vector"))
                                append(b"\x01" if kind == VECTOR and value.fixed else b"\x00")
                                append(data)
                                break
                        # A container.  Its frame is set up here; the outer loop goes on with what is in it.
                        if depth >= max_depth:
                            raise too_deep(self._max_depth)
                        stack.append((items, mode, place, container, tag, columns, end, depth))
                        depth += 1
                        mode, place, container, tag, end = LISTED, -1, None, -1, b""
                        columns = all_columns.get(depth) or self._columns_at(depth)
                        if kind == DICT or kind == MAPPING:
                            container = dict.copy(value) if kind == DICT else mapped(value, self._values)
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
                                items, mode = zip(shape[0], shape[1], container.values()), KNOWN
                            else:
                                items, mode = iter(container.items()), PAIRED
                        elif kind == LIST or kind == ITERABLE or kind == ARRAY:
                            content = (
                                numbers
                                if kind == ARRAY
                                else self._listed(value)
                                if kind == ITERABLE
                                else _snapshot(value)
                            )
                            count = len(content)
                            append(b"\x09" + length(count, "an array") + b"\x01")
                            items = iter(content)
                        elif kind == PLAN and payload.form == WRAPPER:
                            self._write_external_traits(
                                payload.alias_of(value), getattr(value, "__amf_dynamic__", False)
                            )
                            items, mode, columns, count = iter((value.source,)), SOURCE, None, 1
                        elif kind == PLAN and payload.form == EXTERNAL:
                            self._write_external_traits(payload.alias_of(value), False)
                            self._write_external(value, depth)
                            items, count = iter(()), 0
                        elif kind == PLAN or kind == TYPED:
                            alias, names, content, extra = members_of(value, payload)
                            count = len(names)
                            tag = -2 - self._write_traits(alias, names, extra is not None)
                            if extra is not None:  # dynamic members come after the sealed ones: their frame waits below
                                count += len(extra)
                                stack.append((iter(extra.items()), PAIRED, -1, extra, 0, columns, b"\x01", depth))
                            items, mode, container = iter(content), SEALED, names
                        elif kind == ECMA:
                            content, container = split(value)
                            count = len(content) + len(container)
                            append(b"\x09" + length(len(content), "an array"))
                            stack.append((iter(content), LISTED, -1, None, -1, columns, b"", depth))
                            items, mode, end = iter(container.items()), PAIRED, b"\x01"
                        elif kind == VECTOR:
                            content = list.__getitem__(value, ALL)
                            count = len(content)
                            append(b"\x10" + length(count, "a Vector") + (b"\x01" if value.fixed else b"\x00"))
                            self._write_string(alias_text(value.alias))
                            items, columns = iter(content), None
                        elif kind == DICTIONARY:
                            content = entries(value, self._values)
                            count = len(content)
                            append(b"\x11" + length(count >> 1, "a Dictionary") + (b"\x01" if value.weak else b"\x00"))
                            items, mode, columns = iter(content), ENTRIES, None
                        else:
                            container, content = rows_of(value)
                            if type(content) is list:
                                content = content[:]  # what is in the rows may run code that changes the original
                            elif type(content) is not tuple:
                                content = self._listed(content)
                            count = len(content) * (1 + len(container.columns))
                            append(b"\x09" + length(len(content), "an array") + b"\x01")
                            items, mode = iter(content), TABLE
                        self._values -= count
                        if self._values < 0:
                            raise too_many(self._max_values)
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
            found = self._explain(error, stack, mode, place, container)
            raise found from found.__cause__

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

    # --- AMF0 --------------------------------------------------------------------------------------------------------

    def _write_arguments(self, value: Any, avmplus: bool, counted: bool) -> None:
        """The arguments of a call: a strict array whose items are written each on its own."""
        items = value[:]  # writing one argument may run code that changes the list
        self._values -= len(items)
        if self._values < 0:
            raise too_many(self._max_values)
        self._out.append(b"\x0a" + len(items).to_bytes(4, "big"))
        if counted:
            if len(self._kept0) < AMF0_SLOTS:
                self._slots.setdefault(id(value), len(self._kept0))
            self._kept0.append(value)
        for index, item in enumerate(items):
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
        kind, payload = self._classes.kinds.get(type(value)) or kind_of(type(value), self._classes)
        if INTEGER <= kind <= UNKNOWN:
            try:
                value = plain(value, kind, payload, self._classes, self._default, self._decimals)
            except MemoryError:
                raise
            except Exception as error:
                found = explained(error, "")
                raise found from found.__cause__
            kind, payload = self._classes.kinds.get(type(value)) or kind_of(type(value), self._classes)
        if kind < BYTES:
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
        to_utf8 = self._utf8
        heads: dict[str, bytes] = {}  # keys as they are written
        opened: set[int] = set()
        repeated = 0
        stack: list[Any] = []
        items: Any = iter((root,))
        container: Any
        mode, place, container, end, identity = ROOT, -1, None, b"", 0
        try:
            while True:
                for value in items:
                    place += 1
                    if mode > SEALED:
                        if mode == PAIRED:
                            key, value = value
                            if type(key) is not str:
                                key = key_text(key, container)
                            head = heads.get(key)
                            if head is None:
                                head = heads[key] = self._text16(key, "a key")
                            append(head)
                        elif mode == TABLE:
                            content = row_of(value, container.columns)
                            if depth >= self._max_depth:
                                raise too_deep(self._max_depth)
                            kept.append(None)
                            stack.append((items, mode, place, container, end, depth, identity))
                            depth += 1
                            alias, names = container.alias, container.columns
                            items, mode, place, container = zip(names, content, strict=True), PAIRED, -1, names
                            end, identity = b"\x00\x00\x09", 0
                            append(b"\x10" + self._text16(alias, "an alias") if alias else b"\x03")
                            break
                    cls = type(value)
                    while True:  # left at once, but a value that travels as another comes round again
                        if cls is str:
                            try:
                                data = value.encode()
                            except UnicodeEncodeError:
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
                            value = big_int(value, self._big_ints)
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
                        try:
                            kind, payload = kinds[cls]
                        except KeyError:
                            kind, payload = kind_of(cls, classes)
                        if kind < BYTES:
                            if kind == UNDEFINED:
                                append(b"\x06")
                                break
                            value = plain(value, kind, payload, self._classes, self._default, self._decimals)
                            cls = type(value)
                            continue
                        if kind == DATETIME or kind == DATE:
                            append(b"\x0b" + DOUBLE.pack(milliseconds(value, kind)) + b"\x00\x00")
                            break
                        if kind == INVALID_DATE:
                            append(b"\x0b\x7f\xf8\x00\x00\x00\x00\x00\x00\x00\x00")
                            break
                        if kind == PLAN and payload.form == WRAPPER:
                            value = unwrapped(value, classes)
                            cls = type(value)
                            continue
                        if self._whole and (
                            kind in AVMPLUS_ALONE
                            or kind == PLAN
                            and payload.form == EXTERNAL
                            or kind == DICTIONARY
                            and not is_object(value)
                        ):
                            raise NeedsAvmPlus
                        if kind == BYTES or kind == PLAN and payload.form == EXTERNAL:
                            append(b"\x11")
                            self._write3(value, depth)
                            break
                        slot: Any = slots.get(id(value))
                        again = slot is not None
                        if again and (repeated >= self._repeats or id(value) in opened):
                            append(b"\x07" + slot.to_bytes(2, "big"))
                            break
                        if not again and len(kept) < AMF0_SLOTS and (cls not in SHARED_FROM or value):
                            slots[id(value)] = len(kept)
                        kept.append(value)
                        if kind == XML or kind == ELEMENT:
                            data = to_utf8(str.__str__(value) if kind == XML else payload(value))
                            append(b"\x0f" + self._size32(len(data)))
                            append(data)
                            repeated += again
                            break
                        if depth >= self._max_depth:
                            raise too_deep(self._max_depth)
                        stack.append((items, mode, place, container, end, depth, identity))
                        depth += 1
                        mode, place, container, end, identity = PAIRED, -1, None, b"\x00\x00\x09", id(value)
                        opened.add(identity)
                        if kind == DICT or kind == MAPPING or kind == DICTIONARY:
                            if kind == DICTIONARY:
                                container = as_object(value)
                            else:
                                container = dict.copy(value) if kind == DICT else mapped(value, self._values)
                            count = len(container)
                            append(b"\x03")
                            items = iter(container.items())
                        elif kind == ECMA:
                            container = dict.copy(value)
                            count = len(container)
                            append(b"\x08" + ecma_count(value).to_bytes(4, "big"))
                            items = iter(container.items())
                        elif kind == TYPED or kind == PLAN:
                            alias, names, content, extra = members_of(value, payload)
                            container = dict(zip(names, content, strict=True))
                            container.update(extra or ())
                            count = len(container)
                            append(b"\x10" + self._text16(alias, "an alias") if alias else b"\x03")
                            items = iter(container.items())
                        elif kind == ROWS:
                            container, content = rows_of(value)
                            if type(content) is list:
                                content = content[:]  # what is in the rows may run code that changes the original
                            elif type(content) is not tuple:
                                content = self._listed(content)
                            count = len(content) * (1 + len(container.columns))
                            append(b"\x0a" + self._size32(len(content)))
                            items, mode, end = iter(content), TABLE, b""
                        else:
                            if kind == ITERABLE:
                                content = self._listed(value)
                            elif kind == ARRAY:
                                content = array_items(value)
                            else:
                                content = _snapshot(value)
                            count = len(content)
                            append(b"\x0a" + self._size32(count))
                            items, mode, end = iter(content), LISTED, b""
                        if again:
                            repeated += 1 + count
                        self._values -= count
                        if self._values < 0:
                            raise too_many(self._max_values)
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
            found = self._explain(error, stack, mode, place, container)
            raise found from found.__cause__

    def _text16(self, text: str, what: str) -> bytes:
        data = self._utf8(text)
        if len(data) > AMF0_KEY_MAX:
            raise too_long_for_key(what, len(data))
        return len(data).to_bytes(2, "big") + data

    def _size32(self, size: int) -> bytes:
        if size > 0xFFFFFFFF:
            raise too_long_for_amf0(size)
        return size.to_bytes(4, "big")


AVMPLUS_ALONE: Final = frozenset((BYTES, VECTOR, ARRAY))


def _snapshot(value: Any) -> Any:
    """A list's or tuple's items, which no code that runs in between can change."""
    return tuple.__getitem__(value, ALL) if isinstance(value, tuple) else list.__getitem__(value, ALL)
