"""Where does damaged input make sense again?

AMF has no marks to find one's place by: behind damage every offset could be the beginning of something.  What betrays a
place is a name.  A member is a length, as many printable characters and a value, and behind it stands another such
name or the end of the object; noise that passes for all of that is rare.  So the offsets behind the damage are tried
one by one, and the first is taken where a member of one of the open objects, a body of the packet or an
element of the shared object can be read and is followed by what has to follow.

Numbers of references behind the damage may be wrong, because what was skipped may have held some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ..errors import DecodeError
from .markers import ASSOCIATIVE, DYNAMIC, MEMBERS, NAMES0, SEALED, Frame

if TYPE_CHECKING:
    from .reader import Reader

MOST: Final = 100  # damages in one input; what has more is not AMF
WINDOW: Final = 65536  # offsets that are tried behind one damage
TRIAL: Final = 500  # values that one trial may read
NAME_MOST: Final = 255  # bytes of a name that is taken for one
# What looking for places may cost in one input, a second or two: an offset costs 1, a value that is read on trial 10.
EFFORT: Final = 1_000_000


def places(reader: Reader, start: int, end: int) -> Iterator[int]:
    """The offsets to try, as long as there is effort left."""
    for at in range(start, min(start + WINDOW, end)):
        reader.effort[0] -= 1
        if reader.effort[0] < 0:
            return
        yield at


def trial(reader: Reader, at: int, amf: int) -> int:
    """Where a value that begins at `at` ends; -1 if there is none.  The reader is left as it was."""
    strings, objects, slots, traits = len(reader.strings), len(reader.objects), len(reader.slots), len(reader.traits)
    kept = reader.at, reader.unit, reader.count, reader.tolerant, reader.most, reader.progress
    reader.at, reader.tolerant, reader.most, reader.progress = at, False, reader.count + TRIAL, None
    try:
        reader.value(amf)
        return reader.at
    except DecodeError:
        return -1
    finally:
        reader.effort[0] -= 10 * (reader.count - kept[2])
        reader.at, reader.unit, reader.count, reader.tolerant, reader.most, reader.progress = kept
        for text in reader.strings[strings:]:
            if reader.known.get(text, -1) >= strings:
                del reader.known[text]
        for one in reader.traits[traits:]:
            if reader.known_traits.get(one.key, -1) >= traits:
                del reader.known_traits[one.key]
        del reader.strings[strings:], reader.objects[objects:], reader.slots[slots:], reader.traits[traits:]


def go_on(reader: Reader, stack: list[Frame], error: DecodeError) -> bool:
    """Skip to where an open container makes sense again; False, with all of them closed, if there is none."""
    start, parts = reader.unit, stack[-1].node.parts
    while parts[-1][1] > start:  # half of a key
        parts.pop()
    found = find(reader, stack, start + 1) if len(reader.damages) < MOST else None
    index, reader.at = found or (-1, start)
    if found is not None:
        reader.skip(stack[-1].node, start, reader.at, str(error), stack[-1].key)
    for frame in stack[max(index, 0) :]:
        frame.node.end = reader.at
        frame.node.more["damage"] = str(error)
    while len(stack) > max(index, 0) + 1:
        inner = stack.pop().node
        stack[-1].node.children.append((stack[-1].key, inner))
    if found is None:
        stack[0].node.more["unread"] = True
    elif stack[index].mode == SEALED:
        stack[index].names = ()  # nobody knows which of them were lost
    return found is not None


def find(reader: Reader, stack: list[Frame], start: int) -> tuple[int, int] | None:
    """Which of the open containers goes on, and at which offset from `start` on; None if none does."""
    keyed0 = keyed3 = -1
    for index, frame in enumerate(stack):
        if frame.mode == MEMBERS:
            keyed0 = index
        elif frame.mode in (DYNAMIC, ASSOCIATIVE) or frame.mode == SEALED and frame.node.more["class"].dynamic:
            keyed3 = index
    if keyed0 < 0 and keyed3 < 0:
        return None
    for at in places(reader, start, reader.total):
        if keyed3 >= 0 and member3(reader, at):
            return keyed3, at
        if keyed0 >= 0 and member0(reader, at):
            return keyed0, at
    return None


def member0(reader: Reader, at: int) -> bool:
    """Does an AMF0 member, or the end of an object that has to be one, stand here?"""
    data, total = reader.data, reader.total
    if data[at : at + 3] == b"\x00\x00\x09":
        return at + 3 == total or data[at + 3 : at + 6] == b"\x00\x00\x09" or name_end(data, at + 3, total) > 0
    value = name_end(data, at, total)
    if value < 0 or value >= total or data[value] > 0x11:
        return False
    end = trial(reader, value, 0)
    return end >= 0 and (data[end : end + 3] == b"\x00\x00\x09" or name_end(data, end, total) > 0)


def member3(reader: Reader, at: int) -> bool:
    """Does a dynamic member of an AMF3 object stand here?"""
    data, total = reader.data, reader.total
    value = _name3_end(data, at, total)
    if value < 0 or value >= total or data[value] > 0x11:
        return False
    end = trial(reader, value, 3)
    if end < 0 or end >= total:
        return False
    return (
        data[end] == 0x01
        or not data[end] & 1
        and data[end] >> 1 < len(reader.strings)
        or _name3_end(data, end, total) > 0
    )


def element(reader: Reader, at: int, amf: int) -> bool:
    """Does an element of a shared object stand here: a name, a value and 00, at the end or before another name?"""
    data, total = reader.data, reader.total
    name = name_end if amf == 0 else _name3_end
    value = name(data, at, total)
    if value < 0 or value >= total:
        return False
    end = trial(reader, value, amf)
    return 0 <= end < total and data[end] == 0 and (end + 1 == total or name(data, end + 1, total) > 0)


def body(reader: Reader, at: int) -> bool:
    """Does a body of a packet stand here: a target, a response as clients write it, a length and a value?"""
    data, total = reader.data, reader.total
    response = name_end(data, at, total)
    if response < 0:
        return False
    size = int.from_bytes(data[response : response + 2], "big")
    value = response + 2 + size + 4
    text = data[response + 2 : response + 2 + size]
    if value >= total or not (text in (b"null", b"") or text.startswith(b"/")) or data[value] not in NAMES0:
        return False
    return trial(reader, value, 0) >= 0


def tail(reader: Reader, start: int, amf: int) -> int:
    """The first offset from which all that is left is values, with some text among them; -1 if there is none."""
    data, total = reader.data, reader.total
    for at in places(reader, start, total - 3):
        if data[at] not in TELLING[amf]:
            continue
        end = at
        while 0 <= end < total:
            end = trial(reader, end, amf) if data[end] <= 0x11 else -1
        if end == total and _RUN.search(data, at):
            return at
    return -1


# Markers of what can hold text; a number or null says too little to begin with.
TELLING: Final = {0: b"\x02\x03\x08\x0a\x0c\x10\x11", 3: b"\x06\x09\x0a"}
_RUN: Final = re.compile(rb"[0-9A-Za-z_.]{3}")


def name_end(data: bytes, at: int, total: int) -> int:
    """Where a name that begins with its length in two bytes ends; -1 if it is none that anybody would give."""
    size = int.from_bytes(data[at : at + 2], "big")
    end = at + 2 + size
    if not 0 < size <= NAME_MOST or end > total or not _printable(data[at + 2 : end]):
        return -1
    return end


def _name3_end(data: bytes, at: int, total: int) -> int:
    """The same of an AMF3 string without marker, written out, of one to 63 bytes."""
    if at >= total or not data[at] & 1 or data[at] >= 0x80 or data[at] < 3:
        return -1
    end = at + 1 + (data[at] >> 1)
    if (
        end > total
        or not _printable(data[at + 1 : end])
        or not (data[at + 1 : at + 2].isalnum() or data[at + 1] in b"_$")
    ):
        return -1
    return end


def _printable(data: bytes) -> bool:
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def fields_of(block: Iterable[tuple[str, ...]], flags: Iterable[int]) -> list[str]:
    """The fields that the flag bytes of a small message's block announce, in the order of the wire."""
    names: list[tuple[str, ...]] = list(block)
    fields: list[str] = []
    for place, byte in enumerate(flags):
        known: Any = names[place] if place < len(names) else ()
        for bit in range(7):
            if not byte & 1 << bit:
                continue
            if bit < len(known):
                fields.append(known[bit])
            elif bit < 6:  # 40 means nothing where it is not a field; the others are one value of an unknown kind each
                fields.append(f"bit {place}.{bit}")
    return fields
