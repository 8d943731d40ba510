"""A third reader of AMF: slower than the twins, and it forgets nothing.

The decoders give values; this gives `Node`s, each with its bytes, the meaning of every one of them, its number among
the references and the form in which it was written.  It shares no code with the twins, so that each can be tested
against the other.

Like the decoder it keeps a stack of its own: a container that is met becomes a *frame*, what is read is handed to the
innermost frame, and that says what comes next.  With `tolerant`, what cannot be read is skipped, if there is a place
behind it from which one of the open containers makes sense again (`salvage`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from ..errors import DecodeError
from . import salvage
from .markers import (
    ASSOCIATIVE,
    CLOSED,
    COUNTS,
    DEPTH,
    DYNAMIC,
    ENTRIES,
    ITEMS,
    MEMBERS,
    NAMES0,
    NAMES3,
    ONE,
    OPAQUE,
    SEALED,
    SMALL,
    SMALL_BLOCKS,
    VECTORS,
    WRAPPERS,
    Frame,
)
from .nodes import Damage, Node, Traits, quoted

STEP: Final = 4096  # values between two calls of `progress`


class Reader:
    """Reads values one after another from `data[at:end]`; the tables of references go on, as in `amfgate.Decoder`.

    tolerant: go on after damage; what was skipped is in `damages`, and the nodes that suffered say so in their `more`.
    counted: a strict array at the root takes an AMF0 slot.
    progress: called with the offset now and then; effort: that of another reader of the same input, to share.

    DecodeError with the offset at the first damage, unless `tolerant`.
    """

    def __init__(
        self,
        data: bytes,
        *,
        at: int = 0,
        end: int | None = None,
        tolerant: bool = False,
        counted: bool = True,
        progress: Callable[[int], None] | None = None,
        effort: list[int] | None = None,
    ) -> None:
        self.data = data
        self.at = at
        self.total = len(data) if end is None else end
        self.tolerant = tolerant
        self.counted = counted
        self.progress = progress
        self.damages: list[Damage] = []
        self.effort = [salvage.EFFORT] if effort is None else effort  # what looking for places may still cost
        self.strings: list[str] = []
        self.objects: list[Node] = []
        self.traits: list[Traits] = []
        self.slots: list[Node] = []
        self.known: dict[str, int] = {}  # the first place of each string in the table
        self.known_traits: dict[tuple[Any, ...], int] = {}
        self.unit = at  # where the value or key that is being read began
        self.count = 0  # values
        self.most: int | None = None  # of them on trial

    def value(self, amf: int) -> Node:
        """The next value.  A damaged one ends where its damage begins, and has `damage` in its `more`."""
        stack: list[Frame] = []
        child: Node | None = None
        want, resume = amf, False
        while True:
            try:
                if not resume:
                    child, frame = self._begin(want, len(stack))
                    if frame is not None:
                        stack.append(frame)
                        child = None
                resume = False
                while stack:
                    top = stack[-1]
                    if child is not None:
                        top.node.children.append((top.key, child))
                        child = None
                    self.unit, top.key = self.at, ""
                    want = self._next(top)
                    if want != CLOSED:
                        break
                    top.node.end = self.at
                    child = top.node
                    stack.pop()
                else:
                    assert child is not None
                    return child
            except DecodeError as error:
                if not self.tolerant or not stack:
                    raise
                if not salvage.go_on(self, stack, error):
                    return stack[0].node
                resume, child = True, None

    # --- damage ----------------------------------------------------------------------------------------------

    def skip(self, into: Node, start: int, end: int, why: str, label: Any = "") -> Node:
        """Put the bytes between into a node as skipped, and into the list of damages."""
        node = Node("skipped", into.amf, start, self.data[start:end])
        node.end = end
        node.more["damage"] = why
        node.parts.append((start, end, "skipped"))
        into.children.append((label, node))
        self.damages.append(Damage(start, end, why))
        return node

    # --- bytes -----------------------------------------------------------------------------------------------

    def need(self, count: int, what: str) -> int:
        """Are there so many bytes left?  The offset behind them."""
        left = self.total - self.at
        if count > left:
            unit = "byte" if count == 1 else "bytes"
            raise DecodeError(f"{what} takes {count} {unit}, and {max(left, 0)} are left", self.at)
        return self.at + count

    def part(self, node: Node, start: int, meaning: str) -> None:
        """The bytes from `start` up to here mean this."""
        if self.at > start:
            node.parts.append((start, self.at, meaning))

    def byte(self, node: Node, what: str, meaning: Callable[[int], str] | None = None) -> int:
        start = self.at
        self.at = self.need(1, what)
        number = self.data[start]
        self.part(node, start, what if meaning is None else meaning(number))
        return number

    def number(self, node: Node, size: int, what: str, signed: bool = False) -> int:
        start = self.at
        self.at = self.need(size, what)
        number = int.from_bytes(self.data[start : self.at], "big", signed=signed)
        self.part(node, start, f"{what} {number}")
        return number

    def double(self, node: Node, what: str) -> bytes:
        """The bits of a double: as a float a NaN could lose some of them."""
        start = self.at
        self.at = self.need(8, what)
        bits = self.data[start : self.at]
        self.part(node, start, f"{what} {struct.unpack('>d', bits)[0]!r}")
        return bits

    def text(self, node: Node, size: int, what: str) -> str:
        start = self.at
        self.at = self.need(size, what)
        text = self.data[start : self.at].decode("utf-8", "surrogateescape")
        self.part(node, start, quoted(text, 200))
        return text

    def text16(self, owner: Node, what: str) -> Node:
        """A text behind its length in two bytes, as a `text` node; its parts are the owner's."""
        node = Node("text", 0, self.at)
        size = self.number(owner, 2, f"{what}, length")
        node.value = self.text(owner, size, what)
        node.end = self.at
        return node

    def u29(self, node: Node) -> int:
        """A U29; a form longer than needed is noted as `width`."""
        start, number = self.at, 0
        for place in range(4):
            self.at = self.need(1, "a number of 1 to 4 bytes")
            byte = self.data[self.at - 1]
            if place == 3:
                number = number << 8 | byte
            else:
                number = number << 7 | byte & 0x7F
                if byte < 0x80:
                    break
        width = self.at - start
        if width > 1 and number < (0, 0x80, 0x4000, 0x200000)[width - 1]:
            node.more["width"] = width
        return number

    def text3(self, node: Node, owner: Node, what: str) -> None:
        """An AMF3 string without marker into `node`, its parts into `owner`; through the string table."""
        start = self.at
        head = self.u29(node)
        if not head & 1:
            index = head >> 1
            if index >= len(self.strings):
                raise DecodeError(f"string reference {index}, and only {len(self.strings)} strings came before", start)
            node.value = self.strings[index]
            node.more["string"] = index
            if self.known[node.value] != index:
                node.more["at"] = index
            self.part(owner, start, f"{what}: string {index} again, {quoted(node.value, 200)}")
        else:
            self.part(owner, start, f"{what}, length {head >> 1}")
            node.value = text = self.text(owner, head >> 1, what)
            if text:
                if text in self.known:
                    node.more["inline"] = True
                self.known.setdefault(text, len(self.strings))
                self.strings.append(text)
        node.end = self.at

    def key3(self, owner: Node, what: str) -> Node:
        node = Node("text", 3, self.at)
        self.text3(node, owner, what)
        return node

    # --- values ----------------------------------------------------------------------------------------------

    def _begin(self, amf: int, depth: int) -> tuple[Node, Frame | None]:
        """A scalar, or a container and its frame."""
        self.unit = start = self.at
        self.count += 1
        if self.progress is not None and not self.count % STEP:
            self.progress(self.at)
        if self.most is not None and self.count > self.most:
            raise DecodeError("the trial has read enough", start)
        self.at = self.need(1, "a value")
        marker = self.data[start]
        name = (NAMES3 if amf == 3 else NAMES0).get(marker)
        if name is None:
            reserved = amf == 0 and marker in (0x04, 0x0E)
            what = "reserved in AMF0 and never sent" if reserved else f"no marker of AMF{amf}"
            if amf == 0 and marker == 0x09:
                what = "an end of object where a value is expected"
            raise DecodeError(f"0x{marker:02X} is {what}", start)
        node = Node(name, amf, start)
        node.more["marker"] = marker
        node.parts.append((start, self.at, name))
        frame = self._begin3(node, marker) if amf == 3 else self._begin0(node, marker, depth)
        if frame is not None and depth >= DEPTH and frame.mode != ONE:
            raise DecodeError(f"more than {DEPTH} containers within each other", start)
        node.end = self.at
        return node, frame

    def _begin0(self, node: Node, marker: int, depth: int) -> Frame | None:
        if marker == 0x00:
            node.value = self.double(node, "number")
        elif marker == 0x01:
            node.value = self.byte(node, "boolean", lambda byte: "true" if byte else "false")
        elif marker == 0x02:
            node.value = self.text(node, self.number(node, 2, "length"), "string")
        elif marker == 0x0C or marker == 0x0F:
            node.value = self.text(node, self.number(node, 4, "length"), node.kind)
            if marker == 0x0F:
                self._enter(node, self.slots)
        elif marker == 0x0B:
            node.value = self.double(node, "milliseconds")
            node.more["zone"] = self.number(node, 2, "time zone in minutes", signed=True)
        elif marker == 0x07:
            index = self.number(node, 2, "to object")
            self._resolve(node, self.slots, index)
        elif marker == 0x11:
            return Frame(node, ONE, 1, ("",))
        elif marker == 0x0A:
            left = self.number(node, 4, "items:")
            if left > self.total - self.at:
                raise DecodeError(f"strict array of {left}, and {self.total - self.at} bytes are left", self.at - 4)
            if self.counted or depth:
                self._enter(node, self.slots)
            return Frame(node, ITEMS, left)
        elif marker == 0x03 or marker == 0x08 or marker == 0x10:
            if marker == 0x08:
                node.more["count"] = self.number(node, 4, "declared count")
            if marker == 0x10:
                node.more["alias"] = self.text16(node, "alias")
            self._enter(node, self.slots)
            return Frame(node, MEMBERS)
        return None

    def _enter(self, node: Node, table: list[Node]) -> None:
        node.slot = len(table)
        table.append(node)

    def _resolve(self, node: Node, table: list[Node], index: int) -> None:
        if index >= len(table):
            raise DecodeError(f"reference {index}, and only {len(table)} objects came before", node.start)
        node.kind, node.value = "reference", index
        node.more["target"] = table[index]
        table[index].more["referred"] = True

    def _begin3(self, node: Node, marker: int) -> Frame | None:
        start = self.at
        if marker < 0x04:
            node.value = marker == 0x03
            return None
        if marker == 0x04:
            number = self.u29(node)
            node.value = number - 0x20000000 if number & 0x10000000 else number
            self.part(node, start, f"integer {node.value}")
            return None
        if marker == 0x05:
            node.value = self.double(node, "double")
            return None
        if marker == 0x06:
            self.text3(node, node, "string")
            return None
        head = self.u29(node)
        count = head >> 1
        if not head & 1:
            self.part(node, start, f"to object {count}")
            self._resolve(node, self.objects, count)
            return None
        if marker == 0x0A:
            return self._begin_object(node, head, start)
        self.part(node, start, "written out" if marker == 0x08 else f"{COUNTS.get(marker, 'count')} {count}")
        if marker == 0x08:
            node.value = self.double(node, "milliseconds")
            self._enter(node, self.objects)
            return None
        if marker == 0x0C or marker == 0x07 or marker == 0x0B:
            if marker == 0x0C:
                at = self.at
                self.at = self.need(count, "a byte array")
                node.value = self.data[at : self.at]
                self.part(node, at, f"{count} bytes")
            else:
                node.value = self.text(node, count, node.kind)
            self._enter(node, self.objects)
            return None
        if marker == 0x09:
            self._fits(node, count, 1)
            self._enter(node, self.objects)
            return Frame(node, ASSOCIATIVE, count)
        flag = "weak keys" if marker == 0x11 else "fixed length"
        node.more["flag"] = self.byte(node, flag, lambda byte: f"{flag}: {byte}")
        if marker in VECTORS:
            size, letter = VECTORS[marker]
            self._fits(node, count, size)
            node.value = self._numbers(node, count, size, letter)
            self._enter(node, self.objects)
            return None
        if marker == 0x10:
            node.more["alias"] = self.key3(node, "element class")
        self._fits(node, count, 2 if marker == 0x11 else 1)
        self._enter(node, self.objects)
        return Frame(node, ENTRIES, 2 * count) if marker == 0x11 else Frame(node, ITEMS, count)

    def _fits(self, node: Node, count: int, size: int) -> None:
        if count * size > self.total - self.at:
            raise DecodeError(f"{node.kind} of {count}, and {self.total - self.at} bytes are left", node.start)

    def _numbers(self, node: Node, count: int, size: int, letter: str) -> list[Any]:
        """The items of a Vector of numbers; doubles as their bits."""
        numbers: list[Any] = []
        for index in range(count):
            start = self.at
            self.at += size
            bits = self.data[start : self.at]
            number = struct.unpack(f">{letter}", bits)[0]
            numbers.append(bits if letter == "d" else number)
            self.part(node, start, f"[{index}] {number!r}")
        return numbers

    def _begin_object(self, node: Node, head: int, start: int) -> Frame:
        if not head & 2:
            index = head >> 2
            if index >= len(self.traits):
                raise DecodeError(
                    f"traits reference {index}, and only {len(self.traits)} traits came before", node.start
                )
            traits = self.traits[index]
            self.part(node, start, f"traits {index} again, {traits}")
            if self.known_traits[traits.key] != index:
                node.more["traits"] = index
        else:
            traits = self._new_traits(node, head, start)
            if self.known_traits.setdefault(traits.key, traits.index) != traits.index:
                node.more["traits"] = "inline"
        node.more["class"] = traits
        alias = str(traits.alias.value)
        if not traits.external:
            self._enter(node, self.objects)
            return Frame(node, SEALED, 0, tuple(name.value for name in traits.names))
        if alias in WRAPPERS:
            self._enter(node, self.objects)
            return Frame(node, ONE, 1, ("source",))
        if alias in SMALL_BLOCKS:
            self._enter(node, self.objects)
            node.more["flags"] = []
            return Frame(node, SMALL, 0, list(SMALL_BLOCKS[alias]))
        self._enter(node, self.objects)
        return Frame(node, OPAQUE)

    def _new_traits(self, node: Node, head: int, start: int) -> Traits:
        external, count = bool(head & 4), head >> 4
        dynamic = bool(head & 8) and not external
        bits = head >> 3 if external else 0
        flags = "externalizable" if external else f"{count} sealed members{', dynamic' if dynamic else ''}"
        self.part(node, start, f"new traits, {flags}")
        alias = self.key3(node, "class alias")
        names: list[Node] = []
        if not external:
            self._fits(node, count, 1)
            for _ in range(count):
                names.append(self.key3(node, "member name"))
        node.more["names"] = names
        traits = Traits(alias, names, dynamic, external, bits, len(self.traits))
        self.traits.append(traits)
        return traits

    # --- what comes next in a container ----------------------------------------------------------------------

    def _next(self, frame: Frame) -> int:
        """Read up to the next value: its key, its flags.  The version of that value, or CLOSED."""
        node, mode = frame.node, frame.mode
        if mode == MEMBERS:
            return self._next_member(frame)
        if mode == ASSOCIATIVE or mode == DYNAMIC:
            frame.key = key = self.key3(node, "key" if mode == ASSOCIATIVE else "member name")
            if key.value:
                return 3
            node.parts[-1] = (*node.parts[-1][:2], "no more keys" if mode == ASSOCIATIVE else "no more members")
            if "width" in key.more:
                node.more["end"] = key.more["width"]
            frame.mode, node.more["dense"] = ITEMS, len(node.children)
            return CLOSED if mode == DYNAMIC else self._next(frame)
        if mode == SEALED:
            place = len(node.children)
            if place < len(frame.names):
                frame.key = frame.names[place]
                return 3
            if not node.more["class"].dynamic:
                return CLOSED
            frame.mode, node.more["dense"] = DYNAMIC, place
            return self._next(frame)
        if mode == SMALL:
            return self._next_field(frame)
        if mode == OPAQUE:
            alias = quoted(node.more["class"].alias.value)
            raise DecodeError(f"{alias} is externalizable: only its class knows how long it is", self.at)
        if not frame.left:
            return CLOSED
        frame.left -= 1
        if mode == ENTRIES:
            frame.key = "key" if frame.left & 1 else "value"
        elif mode == ONE:
            frame.key = frame.names[0]
            return 3
        else:
            frame.key = len(node.children) - node.more.get("dense", 0)
        return node.amf

    def _next_member(self, frame: Frame) -> int:
        """An empty name with 09 behind it ends an AMF0 object; with anything else it is a name."""
        node, start = frame.node, self.at
        key = Node("text", 0, start)
        if self.total - start < 3:
            raise DecodeError("the input ends here, object not closed", self.total)
        self.at = start + 2
        size = int.from_bytes(self.data[start : self.at], "big")
        if not size:
            if self.data[self.at] == 0x09:
                self.at += 1
                self.part(node, start, "end of object")
                return CLOSED
        self.part(node, start, f"name, length {size}")
        key.value = self.text(node, size, "a name")
        key.end = self.at
        frame.key = key
        return 0

    def _next_field(self, frame: Frame) -> int:
        """The next field of a small message; a block begins with all its flag bytes."""
        node = frame.node
        while not frame.left:
            if not frame.names:
                return CLOSED
            block = frame.names.pop(0)
            flags = [self.byte(node, "flags", lambda byte: f"flags {byte:08b}")]
            while flags[-1] & 0x80:
                flags.append(self.byte(node, "flags", lambda byte: f"flags {byte:08b}"))
            node.more["flags"].append((len(node.children), bytes(flags)))
            node.more["fields"] = fields = salvage.fields_of(block, flags)
            frame.left = len(fields)
        fields = node.more["fields"]
        frame.key = fields[len(fields) - frame.left]
        frame.left -= 1
        return 3
