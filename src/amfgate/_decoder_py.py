"""The decoder in Python: the twin of `_decoder.pyx`, value for value and error for error.

It keeps a stack of its own, so that depth is bounded by a number and not by the interpreter's recursion.  One loop
reads the next value and hands it to the innermost open container; a container that is met becomes the innermost.  What
is open is a *frame*: the container, and how it takes what comes.

A container is put into its table before its children are read, so a child can refer to it (AMF3 specification 2.2).
Every count is compared with the bytes that are left before anything is made for it: each member or item takes at
least one byte.

With `plain=True` a few containers become something else when they are complete: an associative array with the keys 0 to
n-1 becomes a list, a Flex collection its source.  What refers to them from inside has to get the same object, so
the place in the table is filled with what they are most likely to become; where that guess was wrong and somebody
has used it, the value is read a second time, now knowing (`_sparse`).  Two passes always do, because keys tell.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from typing import Any, Final

from ._wire import (
    DEPTH_ALONE,
    EXACT_INT,
    EXTERNAL_DEPTH,
    INDEX_END,
    VECTOR_NAMES,
    Limits,
    check_options,
)
from .classes import ClassRegistry, default_registry
from .dataio import DataInput
from .errors import DecodeError, said
from .plans import EXTERNAL, WRAPPER, Plan, refuse
from .types import Dictionary, EcmaArray, TypedObject, Vector, Xml, invalid_date, undefined

EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
NO_LIMIT: Final = 1 << 62
DOUBLE: Final = struct.Struct(">d")
VECTOR_ITEMS: Final = {0x0D: (4, "i"), 0x0E: (4, "I"), 0x0F: (8, "d")}
PENDING: Final = object()  # in a table: the place of a value that cannot be referred to before it is complete

# How a frame takes a value.
ROOT, ITEMS, SEALED, DYNAMIC, ASSOCIATIVE, DENSE, ENTRIES, SOURCE, MEMBERS, ECMA = range(10)


class Traits:
    """What the wire says of a class: AMF3's traits, with the plan of the class if somebody registered it."""

    __slots__ = ("alias", "dynamic", "external", "names", "plan")

    def __init__(self, alias: str, names: tuple[str, ...], dynamic: bool, external: bool, plan: Plan | None) -> None:
        self.alias = alias
        self.names = names
        self.dynamic = dynamic
        self.external = external
        self.plan = plan


class Decoder:
    """Decode values one after another, as parts of one stream.

    `data`: any bytes-like object; what is mutable is copied.  `offset`: where to begin.  The other options are those
    of `amfgate.loads`.  The tables go on from value to value, as they do within a shared object or a packet's body.

        for value in amfgate.Decoder(data, version=0): ...

    TypeError if `data` is a str; ValueError for an option that is none.
    """

    def __init__(
        self,
        data: Any,
        *,
        version: int = 3,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        plain: bool = False,
        dates: str = "datetime",
        offset: int = 0,
    ) -> None:
        check_options(version, limits, classes=classes, dates=dates)
        if type(data) is not bytes:
            if isinstance(data, str):
                raise TypeError("AMF is bytes, not str; bytes.fromhex() reads a hex dump")
            data = memoryview(data).tobytes()
        limits = limits or DEPTH_ALONE
        self.version = version
        self._data: bytes = data
        self._total = len(data)
        self.offset = offset
        self._classes = default_registry if classes is None else classes
        self._max_depth = limits.max_depth
        self._max_values = NO_LIMIT if limits.max_values is None else limits.max_values
        self._plain = bool(plain)
        self._milliseconds = dates == "ms"
        self._strings: list[str] = []
        self._objects: list[Any] = []
        self._traits: list[Traits] = []
        self._slots: list[Any] = []
        self._values = 0
        self._depth = 0
        self._external = 0
        self._counted = True
        self._sparse: set[int] = set()
        self._guesses: dict[int, bool] = {}
        self._misled = False
        self._error: DecodeError | None = None
        self.references = 0
        if limits.max_body is not None and self._total - offset > limits.max_body:
            raise DecodeError(f"an input of {self._total - offset} bytes is over the limit of {limits.max_body}")

    @property
    def offset(self) -> int:
        """Where the next value begins, in bytes from the start of the input.  Set it to skip what is no AMF."""
        return self._offset

    @offset.setter
    def offset(self, offset: int) -> None:
        if not 0 <= offset <= self._total:
            raise ValueError(f"offset {offset} is outside the input of {self._total} bytes")
        self._offset = offset

    @property
    def at_end(self) -> bool:
        """Is all of the input read?"""
        return self._offset >= self._total

    @property
    def bytes_left(self) -> int:
        return self._total - self._offset

    def __iter__(self) -> Iterator[Any]:
        while self._offset < self._total:
            yield self.decode()

    def decode(self, version: int | None = None) -> Any:
        """The next value; `version` (0 or 3) reads just this one as another version than the decoder's.

        EOFError when the input is all read; DecodeError when what is left is no value.  After that the decoder
        is of no more use and raises the same error again.
        """
        if version is None:
            version = self.version
        elif version not in (0, 3):
            raise ValueError(f"version is 0 (AMF0) or 3 (AMF3), not {version!r}")
        if self._offset >= self._total:
            raise EOFError("all of the input is read")
        return self._read(version)

    def decode_body(self, *, counted: bool = True) -> Any:
        """The value of one body or header of a packet, which starts in AMF0.

        counted: a strict array at the root, the arguments of a call, takes the first AMF0 slot.  Clients of
        ActionScript 2 count it, those of ActionScript 3 do not.
        """
        self._counted = counted
        try:
            return self._read(0)
        finally:
            self._counted = True

    def decode_string(self) -> str:
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        if self._error is not None:
            raise self._error
        try:
            text, self._offset = self._string(self._offset)
        except DecodeError as error:
            self._error = error
            raise
        return text

    def _read(self, version: int) -> Any:
        if self._error is not None:
            raise self._error
        start = self._offset
        tables: tuple[list[Any], ...] = self._strings, self._objects, self._traits, self._slots
        sizes = [len(table) for table in tables]
        references = self.references
        try:
            while True:
                self._values = self._max_values - 1
                self._misled = False
                value, offset = self._read3(start, 0) if version == 3 else self._read0(start, 0)
                if not self._misled:
                    break
                for table, size in zip(tables, sizes, strict=True):
                    del table[size:]
                self.references = references
        except DecodeError as error:
            self._error = error
            raise
        self._offset = offset
        self._sparse.clear()
        self._guesses.clear()
        return value

    # --- what externalizable classes use, through DataInput ---------------------------------------------------------

    def take(self, count: int) -> bytes:
        """The next `count` bytes of an externalizable's payload."""
        at = self._offset
        if count < 0:
            raise DecodeError(f"a length of {count} bytes was asked for")
        if count > self._total - at:
            raise self._ends(at, count)
        self._offset = at + count
        return self._data[at : at + count]

    def read_object(self) -> Any:
        """One AMF3 value inside an externalizable's payload."""
        self._values -= 1
        if self._values < 0:
            raise self._too_many(self._offset)
        value, self._offset = self._read3(self._offset, self._depth)
        return value

    # --- errors ------------------------------------------------------------------------------------------------------

    def _ends(self, at: int, count: int, inside: str = "") -> DecodeError:
        left = max(self._total - at, 0)
        more = f", {inside} not closed" if inside else ""
        return DecodeError(
            f"unexpected end of input: {count} byte{'s' if count != 1 else ''} expected, {left} left{more}",
            min(at, self._total),
        )

    def _too_many(self, at: int) -> DecodeError:
        return DecodeError(f"more than {self._max_values} values (Limits(max_values=...) sets how many)", at)

    def _too_deep(self, at: int) -> DecodeError:
        return DecodeError(
            f"more than {self._max_depth} containers within each other (Limits(max_depth=...) sets how many)", at
        )

    def _too_long(self, what: str, count: int, at: int) -> DecodeError:
        return DecodeError(f"{what} of {count} does not fit in the {self._total - at} bytes that are left", at)

    # --- parts of values ---------------------------------------------------------------------------------------------

    def _u29(self, at: int) -> tuple[int, int]:
        """A U29 and the offset behind it (AMF3 specification, 1.3.1); longer forms than needed are read too."""
        data = self._data
        number = 0
        try:
            for _ in range(3):
                byte = data[at]
                at += 1
                if byte < 0x80:
                    return number << 7 | byte, at
                number = number << 7 | byte & 0x7F
            return number << 8 | data[at], at + 1
        except IndexError:
            raise self._ends(self._total, 1) from None

    def _string(self, at: int) -> tuple[str, int]:
        """A text without marker: a name, a key, an alias."""
        start = at
        head, at = self._u29(at)
        if not head & 1:
            if head >> 1 >= len(self._strings):
                raise DecodeError(
                    f"string reference {head >> 1}, and only {len(self._strings)} strings came before", start
                )
            return self._strings[head >> 1], at
        size = head >> 1
        if not size:
            return "", at
        text = self._text(at, size)
        self._strings.append(text)
        return text, at + size

    def _text(self, at: int, size: int) -> str:
        """UTF-8, bytes that are none as lone surrogates, so that writing gives them back."""
        if size > self._total - at:
            raise DecodeError(f"a text of {size} bytes runs past the end: {self._total - at} are left", at)
        data = self._data[at : at + size]
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.decode("utf-8", "surrogateescape")

    def _text16(self, at: int, inside: str = "") -> tuple[str, int]:
        if self._total - at < 2:
            raise self._ends(at, 2, inside)
        size = self._data[at] << 8 | self._data[at + 1]
        return (self._text(at + 2, size) if size else ""), at + 2 + size

    def _u32(self, at: int) -> int:
        if self._total - at < 4:
            raise self._ends(at, 4)
        return int.from_bytes(self._data[at : at + 4], "big")

    def _double(self, at: int) -> float:
        if self._total - at < 8:
            raise self._ends(at, 8)
        return float(DOUBLE.unpack_from(self._data, at)[0])

    def _date(self, at: int) -> Any:
        """A time in milliseconds since the epoch in UTC."""
        number = self._double(at)
        if self._milliseconds:
            return number
        if number != number or number in (INFINITY, -INFINITY):
            return invalid_date
        try:
            return EPOCH + dt.timedelta(milliseconds=number)
        except OverflowError:
            raise DecodeError(
                f'the date {number!r} ms is outside the years 1 to 9999 (dates="ms" reads it)', at
            ) from None

    def _traits_at(self, header: int, at: int, start: int) -> tuple[Traits, int]:
        """The traits of an object whose U29 is `header`: by reference, or as they follow."""
        if not header & 2:
            if header >> 2 >= len(self._traits):
                raise DecodeError(
                    f"traits reference {header >> 2}, and only {len(self._traits)} traits came before", start
                )
            return self._traits[header >> 2], at
        external, count = bool(header & 4), header >> 4
        alias, at = self._string(at)
        names: list[str] = []
        if external:
            count = 0
        if count > self._total - at:
            raise self._too_long("traits with a member count", count, at)
        for _ in range(count):
            name, at = self._string(at)
            names.append(name)
        plan = self._classes.plan_for(alias) if alias else None
        traits = Traits(alias, tuple(names), bool(header & 8), external, plan)
        self._traits.append(traits)
        return traits, at

    def _read_external(self, traits: Traits, start: int, at: int, depth: int) -> tuple[Any, int]:
        """An object that only its class can read."""
        plan = traits.plan
        if plan is None or plan.form != EXTERNAL or plan.make is None:
            what = "is not registered" if plan is None else "is registered without external=True"
            raise DecodeError(
                f"{traits.alias!r} is externalizable and {what}: only its class knows how long it is", start
            )
        if self._external >= EXTERNAL_DEPTH:
            raise DecodeError(f"more than {EXTERNAL_DEPTH} externalizable objects within each other", start)
        instance = self._make(plan, start)
        self._objects.append(instance)
        outer, self._depth, self._offset = self._depth, depth + 1, at
        self._external += 1
        try:
            instance.__readamf__(DataInput(self))
        except DecodeError as error:
            if error.offset is None:  # raised by the class, which does not know where it is
                error.offset = start
                error.args = (error.message, start)
            raise
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(plan, error, start) from error
        finally:
            self._depth = outer
            self._external -= 1
        return instance, self._offset

    def _make(self, plan: Plan, start: int) -> Any:
        """A bare instance of a registered class; PENDING where it can only be made complete."""
        if plan.make is None:
            return PENDING
        try:
            return plan.make()
        except MemoryError:
            raise
        except Exception as error:  # an abstract class, a `__new__` that wants arguments
            raise refuse(plan, error, start) from error

    def _finish(self, plan: Plan, instance: Any, members: dict[str, Any], start: int, at: int) -> Any:
        """A complete instance of a registered class."""
        try:
            if plan.build is not None:
                instance, defaults = plan.build(members)
            else:
                defaults = plan.fill(instance, members)
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(plan, error, start) from error
        self._values -= defaults
        if self._values < 0:
            raise self._too_many(at)
        return instance

    def _enter(self, dictionary: Dictionary, key: Any, value: Any, start: int) -> None:
        """Put an entry into a Dictionary.  A key of a registered class may fail to be hashed: it may be incomplete."""
        try:
            dictionary[key] = value
        except MemoryError:
            raise
        except Exception as error:
            raise DecodeError(
                f"a key of a Dictionary cannot be one: {type(error).__name__}: {said(error)}", start
            ) from error

    def _becomes(self, slot: list[Any], index: int, array: EcmaArray, guess: Any, start: int) -> Any:
        """A complete associative array, read with `plain`: a list if its keys are 0 to n-1."""
        used = self._guesses.pop(id(guess), False)
        count = len(array)
        if all(i in array for i in range(count)):
            items = [array[i] for i in range(count)]
            if guess is array:
                return array if start in self._sparse else items
            guess.extend(items)
            return guess
        if used and guess is not array:
            self._sparse.add(start)
            self._misled = True
        slot[index] = array
        return array

    def _stand_in(self, stack: list[Any], value: Any) -> None:
        """A collection's source begins: with `plain` it is what references to the collection mean."""
        for frame in reversed(stack):
            if frame[0] != SOURCE:
                return
            self._objects[frame[3]] = value

    # --- AMF3 --------------------------------------------------------------------------------------------------------

    def _read3(self, at: int, depth: int) -> tuple[Any, int]:
        """One AMF3 value inside `depth` containers, and the offset behind it."""
        data = self._data
        total = self._total
        unpack_double = DOUBLE.unpack_from
        strings = self._strings
        objects = self._objects
        plain = self._plain
        stack: list[Any] = []
        # The frame: how it takes a value; the container; its key or names; its slot; what is left to come; its traits;
        # where it began; what takes the next item.
        target: Any
        key: Any
        traits: Any
        mode, target, key, slot, left, traits, begun = ROOT, None, None, 0, 0, None, at
        add: Any = None
        value: Any = None
        while True:
            # --- read a value, or open a container
            start = at
            if at >= total:
                raise self._ends(total, 1)
            marker = data[at]
            at += 1
            if marker == 0x04:
                byte = data[at] if at < total else 0x80
                if byte < 0x80:
                    value = byte
                    at += 1
                else:
                    value, at = self._u29(at)
                    if value & 0x10000000:
                        value -= 0x20000000
            elif marker == 0x06:
                byte = data[at] if at < total else 0x80
                if byte < 0x80 and byte & 1:
                    at += 1
                    if byte == 1:
                        value = ""
                    else:
                        end = at + (byte >> 1)
                        if end > total:
                            raise DecodeError(
                                f"a text of {byte >> 1} bytes runs past the end: {total - at} are left", at
                            )
                        try:
                            value = data[at:end].decode()
                        except UnicodeDecodeError:
                            value = data[at:end].decode("utf-8", "surrogateescape")
                        strings.append(value)
                        at = end
                elif byte < 0x80 and byte >> 1 < len(strings):
                    value = strings[byte >> 1]
                    at += 1
                else:
                    value, at = self._string(at)
            elif marker == 0x05:
                if total - at < 8:
                    raise self._ends(at, 8)
                value = unpack_double(data, at)[0]
                if plain and value.is_integer() and -EXACT_INT <= value <= EXACT_INT and (value or data[at] != 0x80):
                    value = int(value)
                at += 8
            elif marker == 0x01:
                value = None
            elif marker == 0x03:
                value = True
            elif marker == 0x02:
                value = False
            elif marker == 0x00:
                value = undefined
            elif marker > 0x11:
                raise DecodeError(f"0x{marker:02X} is no marker of AMF3", start)
            else:  # everything else has a slot, and a reference looks like any other
                header, at = self._u29(at)
                if not header & 1:
                    index = header >> 1
                    if index >= len(objects):
                        raise DecodeError(
                            f"object reference {index}, and only {len(objects)} objects came before", start
                        )
                    value = objects[index]
                    if value is PENDING:
                        raise DecodeError(f"object reference {index} is to an object that is not complete", start)
                    if plain and id(value) in self._guesses:
                        self._guesses[id(value)] = True
                elif marker == 0x0A or marker == 0x09 or marker > 0x0C:
                    if depth >= self._max_depth and not 0x0D <= marker <= 0x0F:  # numbers nest nothing
                        raise self._too_deep(start)
                    count = header >> 1
                    if marker == 0x0A:
                        inner, at = self._traits_at(header, at, start)
                        plan: Any = inner.plan
                        if inner.external and not (plan is not None and plan.form == WRAPPER):
                            value, at = self._read_external(inner, start, at, depth)
                        else:
                            stack.append((mode, target, key, slot, left, traits, begun, add))
                            depth += 1
                            slot, traits, begun = len(objects), inner, start
                            if inner.external:
                                mode, left = SOURCE, 1
                                if plain:
                                    target = None
                                    objects.append(PENDING)
                                else:
                                    target = plan.make()
                                    if inner.dynamic:
                                        target.__amf_dynamic__ = True
                                    objects.append(target)
                                self._values -= 1
                                if self._values < 0:
                                    raise self._too_many(start)
                                continue
                            names = inner.names
                            if plan is not None and not plan.form:
                                target, value = {}, self._make(plan, start)
                            elif inner.alias or (not plain and (names or not inner.dynamic)):
                                target = value = TypedObject(inner.alias, sealed=names, dynamic=inner.dynamic)
                            else:
                                target = value = {}
                            objects.append(value)
                            if plain and stack[-1][0] == SOURCE and value is not PENDING:
                                self._stand_in(stack, value)
                            left = len(names)
                            self._values -= left
                            if self._values < 0:
                                raise self._too_many(start)
                            if left:
                                mode, key = SEALED, iter(names)
                                continue
                            mode = SEALED
                            value = PENDING  # nothing was read: the frame goes on to its dynamic members
                    elif marker == 0x09:
                        if count > total - at:
                            raise self._too_long("an array", count, at)
                        self._values -= count
                        if self._values < 0:
                            raise self._too_many(start)
                        stack.append((mode, target, key, slot, left, traits, begun, add))
                        depth += 1
                        slot, begun, left = len(objects), start, count
                        key, at = self._string(at)
                        if key:
                            target = EcmaArray(count=count)
                            guess = target
                            if plain and start not in self._sparse:
                                guess = []
                                self._guesses[id(guess)] = False
                            add = guess
                            objects.append(guess)
                            mode = ASSOCIATIVE
                            if plain and stack[-1][0] == SOURCE:
                                self._stand_in(stack, guess)
                            self._values -= 1
                            if self._values < 0:
                                raise self._too_many(start)
                            continue
                        target = []
                        objects.append(target)
                        if plain and stack[-1][0] == SOURCE:
                            self._stand_in(stack, target)
                        mode, add = ITEMS, target.append
                        if count:
                            continue
                        value = PENDING
                    elif marker == 0x11:
                        if at >= total:
                            raise self._ends(total, 1)
                        if 2 * count > total - at:
                            raise self._too_long("a Dictionary", count, at)
                        self._values -= 2 * count
                        if self._values < 0:
                            raise self._too_many(start)
                        stack.append((mode, target, key, slot, left, traits, begun, add))
                        depth += 1
                        slot, begun, left = len(objects), start, 2 * count
                        target = Dictionary(weak=data[at] == 1)
                        at += 1
                        objects.append(target)
                        if plain and stack[-1][0] == SOURCE:
                            self._stand_in(stack, target)
                        mode = ENTRIES
                        if count:
                            continue
                        value = PENDING
                    elif marker == 0x10:
                        if at >= total:
                            raise self._ends(total, 1)
                        fixed = data[at] != 0
                        alias, at = self._string(at + 1)
                        if count > total - at:
                            raise self._too_long("a Vector", count, at)
                        self._values -= count
                        if self._values < 0:
                            raise self._too_many(start)
                        stack.append((mode, target, key, slot, left, traits, begun, add))
                        depth += 1
                        slot, begun, left = len(objects), start, count
                        target = Vector("object", fixed=fixed, alias=alias)
                        objects.append(target)
                        if plain and stack[-1][0] == SOURCE:
                            self._stand_in(stack, target)
                        mode, add = ITEMS, target.append
                        if count:
                            continue
                        value = PENDING
                    else:
                        size, letter = VECTOR_ITEMS[marker]
                        if at >= total:
                            raise self._ends(total, 1)
                        if size * count > total - at - 1:
                            raise self._too_long("a Vector", count, at)
                        self._values -= count
                        if self._values < 0:
                            raise self._too_many(start)
                        numbers = struct.unpack_from(f">{count}{letter}", data, at + 1)
                        value = Vector(VECTOR_NAMES[marker], numbers, fixed=data[at] != 0)
                        objects.append(value)
                        at += 1 + size * count
                elif marker == 0x08:
                    value = self._date(at)
                    objects.append(value)
                    at += 8
                else:
                    size = header >> 1
                    if marker == 0x0C:
                        if size > total - at:
                            raise self._too_long("a ByteArray", size, at)
                        value = data[at : at + size]
                    else:
                        value = Xml(self._text(at, size), marker == 0x07)
                    objects.append(value)
                    at += size
            # --- hand it to the innermost container; while that is complete, it is itself the value
            while True:
                if mode == ITEMS:
                    if value is not PENDING:
                        add(value)
                        left -= 1
                    if left:
                        break
                    value = target
                elif mode == SEALED:
                    if value is not PENDING:
                        target[next(key)] = value
                        left -= 1
                    if left:
                        break
                    if traits.dynamic:
                        key, at = self._member(at)
                        if key:
                            mode = DYNAMIC
                            break
                    value = self._object(traits, target, slot, begun, at)
                elif mode == DYNAMIC:
                    target[key] = value
                    byte = data[at] if at < total else 0x80
                    if byte & 1 or byte >= 0x80 or byte >> 1 >= len(strings):
                        key, at = self._member(at)
                        if key:
                            break
                    else:  # a name that came before
                        self._values -= 1
                        if self._values < 0:
                            raise self._too_many(at)
                        key = strings[byte >> 1]
                        at += 1
                        break
                    value = self._object(traits, target, slot, begun, at)
                elif mode == ROOT:
                    return value, at
                elif mode == ASSOCIATIVE:
                    target[_index_key(key)] = value
                    key, at = self._string(at)
                    if key:
                        self._values -= 1
                        if self._values < 0:
                            raise self._too_many(at)
                        break
                    if left:
                        mode, key = DENSE, 0
                        break
                    value = self._becomes(objects, slot, target, add, begun) if plain else target
                elif mode == DENSE:
                    target[key] = value
                    key += 1
                    if key < left:
                        break
                    value = self._becomes(objects, slot, target, add, begun) if plain else target
                elif mode == ENTRIES:
                    if value is not PENDING:
                        if left & 1:
                            self._enter(target, key, value, begun)
                        else:
                            key = value
                        left -= 1
                    if left:
                        break
                    value = target
                else:  # SOURCE
                    if plain:
                        objects[slot] = value
                    else:
                        target.source = value
                        value = target
                mode, target, key, slot, left, traits, begun, add = stack.pop()
                depth -= 1

    def _member(self, at: int) -> tuple[str, int]:
        """The name of the next dynamic member; "" ends the object."""
        if at >= self._total:
            raise self._ends(at, 1, "object")
        key, end = self._string(at)
        if key:
            self._values -= 1
            if self._values < 0:
                raise self._too_many(at)
        return key, end

    def _object(self, traits: Traits, target: Any, slot: int, begun: int, at: int) -> Any:
        """A complete AMF3 object."""
        plan = traits.plan
        if plan is None:
            return target
        if (
            plan.form
        ):  # a class that is externalizable, sent with members: as a TypedObject, but `plain` wants the source
            if self._plain and plan.form == WRAPPER and "source" in target:
                self._objects[slot] = target["source"]
                return target["source"]
            return target
        instance = self._finish(plan, self._objects[slot], target, begun, at)
        self._objects[slot] = instance
        return instance

    # --- AMF0 --------------------------------------------------------------------------------------------------------

    def _read0(self, at: int, depth: int) -> tuple[Any, int]:
        """One AMF0 value inside `depth` containers, and the offset behind it."""
        data = self._data
        total = self._total
        slots = self._slots
        plain = self._plain
        stack: list[Any] = []
        target: Any
        key: Any
        plan: Any
        mode, target, key, slot, left, plan, begun = ROOT, None, None, 0, 0, None, at
        add: Any = None
        value: Any = None
        while True:
            # --- read a value, or open a container
            start = at
            if at >= total:
                raise self._ends(total, 1)
            marker = data[at]
            at += 1
            if marker == 0x02:
                value, at = self._text16(at)
            elif marker == 0x00:
                value = self._double(at)
                if value.is_integer() and -EXACT_INT <= value <= EXACT_INT and (value or data[at] != 0x80):
                    value = int(value)
                at += 8
            elif marker == 0x01:
                if at >= total:
                    raise self._ends(total, 1)
                value = data[at] != 0
                at += 1
            elif marker == 0x05:
                value = None
            elif marker == 0x06 or marker == 0x0D:
                value = undefined
            elif marker == 0x03 or marker == 0x08 or marker == 0x10 or marker == 0x0A:
                if depth >= self._max_depth:
                    raise self._too_deep(start)
                frame = mode, target, key, slot, left, plan, begun, add
                if marker == 0x0A:
                    left = self._u32(at)
                    at += 4
                    if left > total - at:
                        raise self._too_long("an array", left, at)
                    self._values -= left
                    if self._values < 0:
                        raise self._too_many(start)
                    target = []
                    mode, add = ITEMS, target.append
                    if stack or self._counted or depth:
                        slots.append(target)
                    value = PENDING
                elif marker == 0x08:
                    target = EcmaArray(count=self._u32(at))
                    at += 4
                    mode, add = ECMA, target
                    if plain and start not in self._sparse:
                        add = []
                        self._guesses[id(add)] = False
                    slot = len(slots)
                    slots.append(add)
                else:
                    mode = MEMBERS
                    plan = None
                    if marker == 0x03:
                        target = {}
                        slots.append(target)
                    else:
                        alias, at = self._text16(at)
                        plan = self._classes.plan_for(alias) if alias else None
                        slot = len(slots)
                        if plan is not None and not plan.form:
                            target = {}
                            slots.append(self._make(plan, start))
                        else:
                            target = TypedObject(alias)
                            slots.append(target)
                stack.append(frame)
                depth += 1
                begun = start
                if mode == ITEMS:
                    if left:
                        continue
                else:
                    key, at, closed = self._name(at)
                    if not closed:
                        continue
                    value = PENDING
            elif marker == 0x07:
                if total - at < 2:
                    raise self._ends(at, 2)
                index = data[at] << 8 | data[at + 1]
                at += 2
                if index >= len(slots):
                    raise DecodeError(f"reference {index}, and only {len(slots)} objects came before", start)
                value = slots[index]
                if value is PENDING:
                    raise DecodeError(f"reference {index} is to an object that is not complete", start)
                self.references += 1
                if plain and id(value) in self._guesses:
                    self._guesses[id(value)] = True
            elif marker == 0x0B:
                value = self._date(at)
                if total - at < 10:
                    raise self._ends(at + 8, 2)
                at += 10
            elif marker == 0x0C or marker == 0x0F:
                size = self._u32(at)
                value = self._text(at + 4, size)
                at += 4 + size
                if marker == 0x0F:
                    value = Xml(value, True)
                    slots.append(value)
            elif marker == 0x11:
                value, at = self._read3(at, depth)
            elif marker == 0x09:
                raise DecodeError("an end of object (09) where a value is expected", start)
            elif marker == 0x04 or marker == 0x0E:
                raise DecodeError(f"0x{marker:02X} is reserved in AMF0 and never sent", start)
            else:
                raise DecodeError(f"0x{marker:02X} is no marker of AMF0", start)
            # --- hand it to the innermost container; while that is complete, it is itself the value
            while True:
                if mode == ITEMS:
                    if value is not PENDING:
                        add(value)
                        left -= 1
                    if left:
                        break
                    value = target
                elif mode == MEMBERS:
                    if value is not PENDING:
                        target[key] = value
                        key, at, closed = self._name(at)
                        if not closed:
                            break
                    if plan is None or plan.form:
                        value = target
                        if plain and plan is not None and plan.form == WRAPPER and "source" in target:
                            value = slots[slot] = target["source"]
                    else:
                        value = slots[slot] = self._finish(plan, slots[slot], target, begun, at)
                elif mode == ECMA:
                    if value is not PENDING:
                        target[_index_key(key)] = value
                        key, at, closed = self._name(at)
                        if not closed:
                            break
                    value = self._becomes(slots, slot, target, add, begun) if plain else target
                else:
                    return value, at
                mode, target, key, slot, left, plan, begun, add = stack.pop()
                depth -= 1

    def _name(self, at: int) -> tuple[str, int, bool]:
        """The name of the next member, and whether the object ends here instead: an empty name with 09 behind it.

        An empty name with any other marker behind it is a member named "", which servers do send.
        """
        data, total = self._data, self._total
        start = at
        name, at = self._text16(at, "object")
        if not name:
            if at >= total:
                raise self._ends(at, 1, "object")
            if data[at] == 0x09:
                return name, at + 1, True
        self._values -= 1
        if self._values < 0:
            raise self._too_many(start)
        return name, at, False


INFINITY: Final = float("inf")


def _index_key(text: str) -> int | str:
    """A key of an associative array: an int where it is an array index in its canonical form."""
    if text.isdecimal() and text.isascii() and len(text) <= 10 and (text[0] != "0" or text == "0"):
        number = int(text)
        if number < INDEX_END:
            return number
    return text
