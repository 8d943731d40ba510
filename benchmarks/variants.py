"""One AMF3 serializer in six shapes, for the lessons.

All write what W1 and W2 are made of (dict, list, str, int, float, bool, None) and give amfgate's bytes with
`strings="all"`: string references by value, object references by identity, one set of traits for all plain
objects.  They differ in three things only, and the name says which:

    helper or buffer    each byte goes through a method of a stream object / the serializer appends to its own bytearray
    globals or locals   tables, buffer and functions are global names / local ones
    classes or flat     a subclass of an abstract base for each type, calling each other / one loop with a chain of `if`

They are the benchmark's own: nothing in amfgate uses them.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any


class Stream:
    """The helper: whoever writes a byte calls it."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write_byte(self, byte: int) -> None:
        self.data.append(byte)


# State of the shapes with globals; each serializer starts it anew.
STREAM = Stream()
BUFFER = bytearray()
STRINGS: dict[str, int] = {}
OBJECTS: dict[int, int] = {}
TRAITS = False
STACK: list[Any] = []


# --- helper, globals, classes: where the story begins ----------------------------------------------------------------


def helper_u29(number: int) -> None:
    if number < 0x80:
        STREAM.write_byte(number)
    elif number < 0x4000:
        STREAM.write_byte(number >> 7 | 0x80)
        STREAM.write_byte(number & 0x7F)
    elif number < 0x200000:
        STREAM.write_byte(number >> 14 | 0x80)
        STREAM.write_byte(number >> 7 & 0x7F | 0x80)
        STREAM.write_byte(number & 0x7F)
    else:
        STREAM.write_byte(number >> 22 | 0x80)
        STREAM.write_byte(number >> 15 & 0x7F | 0x80)
        STREAM.write_byte(number >> 8 & 0x7F | 0x80)
        STREAM.write_byte(number & 0xFF)


def helper_text(value: str) -> None:
    if not value:
        STREAM.write_byte(1)
    elif value in STRINGS:
        helper_u29(STRINGS[value] << 1)
    else:
        STRINGS[value] = len(STRINGS)
        encoded = value.encode()
        helper_u29(len(encoded) << 1 | 1)
        for byte in encoded:
            STREAM.write_byte(byte)


class HelperWriter(ABC):
    """What is common to the writers of the types."""

    @abstractmethod
    def write(self, value: Any) -> None: ...


class HelperNone(HelperWriter):
    def write(self, value: Any) -> None:
        STREAM.write_byte(1)


class HelperBool(HelperWriter):
    def write(self, value: Any) -> None:
        STREAM.write_byte(3 if value else 2)


class HelperInt(HelperWriter):
    def write(self, value: Any) -> None:
        if -0x10000000 <= value <= 0x0FFFFFFF:
            STREAM.write_byte(4)
            helper_u29(value & 0x1FFFFFFF)
        else:
            HELPER_WRITERS[float].write(float(value))


class HelperFloat(HelperWriter):
    def write(self, value: Any) -> None:
        STREAM.write_byte(5)
        for byte in struct.pack(">d", value):
            STREAM.write_byte(byte)


class HelperStr(HelperWriter):
    def write(self, value: Any) -> None:
        STREAM.write_byte(6)
        helper_text(value)


class HelperList(HelperWriter):
    def write(self, value: Any) -> None:
        STREAM.write_byte(9)
        if id(value) in OBJECTS:
            helper_u29(OBJECTS[id(value)] << 1)
            return
        OBJECTS[id(value)] = len(OBJECTS)
        helper_u29(len(value) << 1 | 1)
        STREAM.write_byte(1)
        for item in value:
            HELPER_WRITERS[type(item)].write(item)


class HelperDict(HelperWriter):
    def write(self, value: Any) -> None:
        global TRAITS
        STREAM.write_byte(10)
        if id(value) in OBJECTS:
            helper_u29(OBJECTS[id(value)] << 1)
            return
        OBJECTS[id(value)] = len(OBJECTS)
        if TRAITS:
            STREAM.write_byte(1)
        else:
            TRAITS = True
            STREAM.write_byte(11)
            STREAM.write_byte(1)
        for key, item in value.items():
            helper_text(key)
            HELPER_WRITERS[type(item)].write(item)
        STREAM.write_byte(1)


HELPER_WRITERS: dict[type, HelperWriter] = {
    type(None): HelperNone(),
    bool: HelperBool(),
    int: HelperInt(),
    float: HelperFloat(),
    str: HelperStr(),
    list: HelperList(),
    dict: HelperDict(),
}


def helper_globals_classes(value: Any) -> bytes:
    global STREAM, TRAITS
    STREAM, TRAITS = Stream(), False
    STRINGS.clear()
    OBJECTS.clear()
    HELPER_WRITERS[type(value)].write(value)
    return bytes(STREAM.data)


# --- buffer, globals, classes ----------------------------------------------------------------------------------------


def buffer_u29(number: int) -> None:
    if number < 0x80:
        BUFFER.append(number)
    elif number < 0x4000:
        BUFFER.append(number >> 7 | 0x80)
        BUFFER.append(number & 0x7F)
    elif number < 0x200000:
        BUFFER.append(number >> 14 | 0x80)
        BUFFER.append(number >> 7 & 0x7F | 0x80)
        BUFFER.append(number & 0x7F)
    else:
        BUFFER.append(number >> 22 | 0x80)
        BUFFER.append(number >> 15 & 0x7F | 0x80)
        BUFFER.append(number >> 8 & 0x7F | 0x80)
        BUFFER.append(number & 0xFF)


def buffer_text(value: str) -> None:
    if not value:
        BUFFER.append(1)
    elif value in STRINGS:
        buffer_u29(STRINGS[value] << 1)
    else:
        STRINGS[value] = len(STRINGS)
        encoded = value.encode()
        buffer_u29(len(encoded) << 1 | 1)
        BUFFER.extend(encoded)


class BufferWriter(ABC):
    """What is common to the writers of the types."""

    @abstractmethod
    def write(self, value: Any) -> None: ...


class BufferNone(BufferWriter):
    def write(self, value: Any) -> None:
        BUFFER.append(1)


class BufferBool(BufferWriter):
    def write(self, value: Any) -> None:
        BUFFER.append(3 if value else 2)


class BufferInt(BufferWriter):
    def write(self, value: Any) -> None:
        if -0x10000000 <= value <= 0x0FFFFFFF:
            BUFFER.append(4)
            buffer_u29(value & 0x1FFFFFFF)
        else:
            BUFFER_WRITERS[float].write(float(value))


class BufferFloat(BufferWriter):
    def write(self, value: Any) -> None:
        BUFFER.append(5)
        BUFFER.extend(struct.pack(">d", value))


class BufferStr(BufferWriter):
    def write(self, value: Any) -> None:
        BUFFER.append(6)
        buffer_text(value)


class BufferList(BufferWriter):
    def write(self, value: Any) -> None:
        BUFFER.append(9)
        if id(value) in OBJECTS:
            buffer_u29(OBJECTS[id(value)] << 1)
            return
        OBJECTS[id(value)] = len(OBJECTS)
        buffer_u29(len(value) << 1 | 1)
        BUFFER.append(1)
        for item in value:
            BUFFER_WRITERS[type(item)].write(item)


class BufferDict(BufferWriter):
    def write(self, value: Any) -> None:
        global TRAITS
        BUFFER.append(10)
        if id(value) in OBJECTS:
            buffer_u29(OBJECTS[id(value)] << 1)
            return
        OBJECTS[id(value)] = len(OBJECTS)
        if TRAITS:
            BUFFER.append(1)
        else:
            TRAITS = True
            BUFFER.extend(b"\x0b\x01")
        for key, item in value.items():
            buffer_text(key)
            BUFFER_WRITERS[type(item)].write(item)
        BUFFER.append(1)


BUFFER_WRITERS: dict[type, BufferWriter] = {
    type(None): BufferNone(),
    bool: BufferBool(),
    int: BufferInt(),
    float: BufferFloat(),
    str: BufferStr(),
    list: BufferList(),
    dict: BufferDict(),
}


def buffer_globals_classes(value: Any) -> bytes:
    global BUFFER, TRAITS
    BUFFER, TRAITS = bytearray(), False
    STRINGS.clear()
    OBJECTS.clear()
    BUFFER_WRITERS[type(value)].write(value)
    return bytes(BUFFER)


# --- buffer, locals, classes: all that a writer needs is handed to it ------------------------------------------------


def handed_u29(number: int, out: bytearray) -> None:
    if number < 0x80:
        out.append(number)
    elif number < 0x4000:
        out.append(number >> 7 | 0x80)
        out.append(number & 0x7F)
    elif number < 0x200000:
        out.append(number >> 14 | 0x80)
        out.append(number >> 7 & 0x7F | 0x80)
        out.append(number & 0x7F)
    else:
        out.append(number >> 22 | 0x80)
        out.append(number >> 15 & 0x7F | 0x80)
        out.append(number >> 8 & 0x7F | 0x80)
        out.append(number & 0xFF)


PACK = struct.Struct(">d").pack
Tables = tuple[dict[str, int], dict[int, int], list[bool], dict[type, Any]]


def handed_text(value: str, out: bytearray, strings: dict[str, int]) -> None:
    if not value:
        out.append(1)
    elif (index := strings.get(value)) is not None:
        handed_u29(index << 1, out)
    else:
        strings[value] = len(strings)
        encoded = value.encode()
        handed_u29(len(encoded) << 1 | 1, out)
        out += encoded


class HandedWriter(ABC):
    """What is common to the writers of the types."""

    @abstractmethod
    def write(self, value: Any, out: bytearray, tables: Tables) -> None: ...


class HandedNone(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables) -> None:
        out.append(1)


class HandedBool(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables) -> None:
        out.append(3 if value else 2)


class HandedInt(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables) -> None:
        if -0x10000000 <= value <= 0x0FFFFFFF:
            out.append(4)
            handed_u29(value & 0x1FFFFFFF, out)
        else:
            tables[3][float].write(float(value), out, tables)


class HandedFloat(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables, pack: Any = PACK) -> None:
        out.append(5)
        out += pack(value)


class HandedStr(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables, text: Any = handed_text) -> None:
        out.append(6)
        text(value, out, tables[0])


class HandedList(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables) -> None:
        _, objects, _, writers = tables
        out.append(9)
        index = objects.get(id(value))
        if index is not None:
            handed_u29(index << 1, out)
            return
        objects[id(value)] = len(objects)
        handed_u29(len(value) << 1 | 1, out)
        out.append(1)
        for item in value:
            writers[type(item)].write(item, out, tables)


class HandedDict(HandedWriter):
    def write(self, value: Any, out: bytearray, tables: Tables, text: Any = handed_text) -> None:
        strings, objects, traits, writers = tables
        out.append(10)
        index = objects.get(id(value))
        if index is not None:
            handed_u29(index << 1, out)
            return
        objects[id(value)] = len(objects)
        if traits:
            out.append(1)
        else:
            traits.append(True)
            out += b"\x0b\x01"
        for key, item in value.items():
            text(key, out, strings)
            writers[type(item)].write(item, out, tables)
        out.append(1)


HANDED_WRITERS: dict[type, HandedWriter] = {
    type(None): HandedNone(),
    bool: HandedBool(),
    int: HandedInt(),
    float: HandedFloat(),
    str: HandedStr(),
    list: HandedList(),
    dict: HandedDict(),
}


def buffer_locals_classes(value: Any) -> bytes:
    out = bytearray()
    HANDED_WRITERS[type(value)].write(value, out, ({}, {}, [], HANDED_WRITERS))
    return bytes(out)


# --- buffer, locals, flat: all four lessons --------------------------------------------------------------------------


def buffer_locals_flat(value: Any) -> bytes:
    """One loop; a container met on the way is entered, and what was left of the outer one waits on a stack."""
    out = bytearray()
    append = out.append
    u29 = handed_u29
    strings: dict[str, int] = {}
    objects: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = []
    pack = struct.Struct(">d").pack
    traits = keyed = False
    items = iter((value,))
    while True:
        for item in items:
            if keyed:
                key, item = item
                if not key:
                    append(1)
                elif (index := strings.get(key)) is not None:
                    index <<= 1
                    if index < 0x80:
                        append(index)
                    elif index < 0x4000:
                        append(index >> 7 | 0x80)
                        append(index & 0x7F)
                    else:
                        u29(index, out)
                else:
                    strings[key] = len(strings)
                    encoded = key.encode()
                    length = len(encoded) << 1 | 1
                    if length < 0x80:
                        append(length)
                    else:
                        u29(length, out)
                    out += encoded
            kind = type(item)
            if kind is str:
                append(6)
                if not item:
                    append(1)
                elif (index := strings.get(item)) is not None:
                    index <<= 1
                    if index < 0x80:
                        append(index)
                    elif index < 0x4000:
                        append(index >> 7 | 0x80)
                        append(index & 0x7F)
                    else:
                        u29(index, out)
                else:
                    strings[item] = len(strings)
                    encoded = item.encode()
                    length = len(encoded) << 1 | 1
                    if length < 0x80:
                        append(length)
                    else:
                        u29(length, out)
                    out += encoded
            elif kind is int and -0x10000000 <= item <= 0x0FFFFFFF:
                append(4)
                item &= 0x1FFFFFFF
                if item < 0x80:
                    append(item)
                elif item < 0x4000:
                    append(item >> 7 | 0x80)
                    append(item & 0x7F)
                else:
                    u29(item, out)
            elif kind is float or kind is int:
                append(5)
                out += pack(item)
            elif kind is bool:
                append(3 if item else 2)
            elif kind is list or kind is dict:
                append(9 if kind is list else 10)
                index = objects.get(id(item))
                if index is not None:
                    u29(index << 1, out)
                    continue
                objects[id(item)] = len(objects)
                stack.append((items, keyed))
                keyed = kind is dict
                if keyed:
                    if not traits:
                        append(11)
                        traits = True
                    append(1)
                    items = iter(item.items())
                else:
                    u29(len(item) << 1 | 1, out)
                    append(1)
                    items = iter(item)
                break
            elif item is None:
                append(1)
            else:
                raise TypeError(f"cannot write {kind.__name__}")
        else:
            if keyed:
                append(1)
            if not stack:
                return bytes(out)
            items, keyed = stack.pop()


# --- helper, locals, flat: the same loop, each byte through the helper -----------------------------------------------


def flat_helper_u29(number: int, write_byte: Callable[[int], None]) -> None:
    if number < 0x80:
        write_byte(number)
    elif number < 0x4000:
        write_byte(number >> 7 | 0x80)
        write_byte(number & 0x7F)
    elif number < 0x200000:
        write_byte(number >> 14 | 0x80)
        write_byte(number >> 7 & 0x7F | 0x80)
        write_byte(number & 0x7F)
    else:
        write_byte(number >> 22 | 0x80)
        write_byte(number >> 15 & 0x7F | 0x80)
        write_byte(number >> 8 & 0x7F | 0x80)
        write_byte(number & 0xFF)


def helper_locals_flat(value: Any) -> bytes:
    stream = Stream()
    write_byte = stream.write_byte
    u29 = flat_helper_u29
    strings: dict[str, int] = {}
    objects: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = []
    pack = struct.Struct(">d").pack
    traits = keyed = False
    items = iter((value,))
    while True:
        for item in items:
            if keyed:
                key, item = item
                if not key:
                    write_byte(1)
                elif (index := strings.get(key)) is not None:
                    index <<= 1
                    if index < 0x80:
                        write_byte(index)
                    elif index < 0x4000:
                        write_byte(index >> 7 | 0x80)
                        write_byte(index & 0x7F)
                    else:
                        u29(index, write_byte)
                else:
                    strings[key] = len(strings)
                    encoded = key.encode()
                    length = len(encoded) << 1 | 1
                    if length < 0x80:
                        write_byte(length)
                    else:
                        u29(length, write_byte)
                    for byte in encoded:
                        write_byte(byte)
            kind = type(item)
            if kind is str:
                write_byte(6)
                if not item:
                    write_byte(1)
                elif (index := strings.get(item)) is not None:
                    index <<= 1
                    if index < 0x80:
                        write_byte(index)
                    elif index < 0x4000:
                        write_byte(index >> 7 | 0x80)
                        write_byte(index & 0x7F)
                    else:
                        u29(index, write_byte)
                else:
                    strings[item] = len(strings)
                    encoded = item.encode()
                    length = len(encoded) << 1 | 1
                    if length < 0x80:
                        write_byte(length)
                    else:
                        u29(length, write_byte)
                    for byte in encoded:
                        write_byte(byte)
            elif kind is int and -0x10000000 <= item <= 0x0FFFFFFF:
                write_byte(4)
                item &= 0x1FFFFFFF
                if item < 0x80:
                    write_byte(item)
                elif item < 0x4000:
                    write_byte(item >> 7 | 0x80)
                    write_byte(item & 0x7F)
                else:
                    u29(item, write_byte)
            elif kind is float or kind is int:
                write_byte(5)
                for byte in pack(item):
                    write_byte(byte)
            elif kind is bool:
                write_byte(3 if item else 2)
            elif kind is list or kind is dict:
                write_byte(9 if kind is list else 10)
                index = objects.get(id(item))
                if index is not None:
                    u29(index << 1, write_byte)
                    continue
                objects[id(item)] = len(objects)
                stack.append((items, keyed))
                keyed = kind is dict
                if keyed:
                    if not traits:
                        write_byte(11)
                        traits = True
                    write_byte(1)
                    items = iter(item.items())
                else:
                    u29(len(item) << 1 | 1, write_byte)
                    write_byte(1)
                    items = iter(item)
                break
            elif item is None:
                write_byte(1)
            else:
                raise TypeError(f"cannot write {kind.__name__}")
        else:
            if keyed:
                write_byte(1)
            if not stack:
                return bytes(stream.data)
            items, keyed = stack.pop()


# --- buffer, globals, flat: the same loop, its names global ----------------------------------------------------------


def buffer_globals_flat(value: Any) -> bytes:
    global BUFFER, TRAITS, STACK, ITEMS, KEYED, ITEM, KEY, KIND, INDEX, LENGTH, ENCODED
    BUFFER, STACK, TRAITS, KEYED = bytearray(), [], False, False
    STRINGS.clear()
    OBJECTS.clear()
    ITEMS = iter((value,))
    while True:
        for ITEM in ITEMS:
            if KEYED:
                KEY, ITEM = ITEM
                if not KEY:
                    BUFFER.append(1)
                elif KEY in STRINGS:
                    INDEX = STRINGS[KEY] << 1
                    if INDEX < 0x80:
                        BUFFER.append(INDEX)
                    elif INDEX < 0x4000:
                        BUFFER.append(INDEX >> 7 | 0x80)
                        BUFFER.append(INDEX & 0x7F)
                    else:
                        buffer_u29(INDEX)
                else:
                    STRINGS[KEY] = len(STRINGS)
                    ENCODED = KEY.encode()
                    LENGTH = len(ENCODED) << 1 | 1
                    if LENGTH < 0x80:
                        BUFFER.append(LENGTH)
                    else:
                        buffer_u29(LENGTH)
                    BUFFER.extend(ENCODED)
            KIND = type(ITEM)
            if KIND is str:
                BUFFER.append(6)
                if not ITEM:
                    BUFFER.append(1)
                elif ITEM in STRINGS:
                    INDEX = STRINGS[ITEM] << 1
                    if INDEX < 0x80:
                        BUFFER.append(INDEX)
                    elif INDEX < 0x4000:
                        BUFFER.append(INDEX >> 7 | 0x80)
                        BUFFER.append(INDEX & 0x7F)
                    else:
                        buffer_u29(INDEX)
                else:
                    STRINGS[ITEM] = len(STRINGS)
                    ENCODED = ITEM.encode()
                    LENGTH = len(ENCODED) << 1 | 1
                    if LENGTH < 0x80:
                        BUFFER.append(LENGTH)
                    else:
                        buffer_u29(LENGTH)
                    BUFFER.extend(ENCODED)
            elif KIND is int and -0x10000000 <= ITEM <= 0x0FFFFFFF:
                BUFFER.append(4)
                ITEM &= 0x1FFFFFFF
                if ITEM < 0x80:
                    BUFFER.append(ITEM)
                elif ITEM < 0x4000:
                    BUFFER.append(ITEM >> 7 | 0x80)
                    BUFFER.append(ITEM & 0x7F)
                else:
                    buffer_u29(ITEM)
            elif KIND is float or KIND is int:
                BUFFER.append(5)
                BUFFER.extend(struct.pack(">d", ITEM))
            elif KIND is bool:
                BUFFER.append(3 if ITEM else 2)
            elif KIND is list or KIND is dict:
                BUFFER.append(9 if KIND is list else 10)
                INDEX = OBJECTS.get(id(ITEM))
                if INDEX is not None:
                    buffer_u29(INDEX << 1)
                    continue
                OBJECTS[id(ITEM)] = len(OBJECTS)
                STACK.append((ITEMS, KEYED))
                KEYED = KIND is dict
                if KEYED:
                    if not TRAITS:
                        BUFFER.append(11)
                        TRAITS = True
                    BUFFER.append(1)
                    ITEMS = iter(ITEM.items())
                else:
                    buffer_u29(len(ITEM) << 1 | 1)
                    BUFFER.append(1)
                    ITEMS = iter(ITEM)
                break
            elif ITEM is None:
                BUFFER.append(1)
            else:
                raise TypeError(f"cannot write {KIND.__name__}")
        else:
            if KEYED:
                BUFFER.append(1)
            if not STACK:
                return bytes(BUFFER)
            ITEMS, KEYED = STACK.pop()
