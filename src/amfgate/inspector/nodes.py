"""What the inspector's reader gives: nodes, which know where each of their bytes stands and what it means.

A node is one value, or one of the frames around values (a packet, its headers and bodies, a shared object).  It
keeps whatever a decoder drops: the form of a length, a false count, a repeated key, a time zone.  From nodes alone the
bytes can be written again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Label = Any  # of a child: an index, a word ("value", "source"), or the `text` node of its key


class Node:
    """One value in the bytes.

    kind: what it is, in words: "string", "ecma array", "packet"; "skipped" for bytes that could not be read.
    amf: 0 or 3, the format in which it is written.
    start, end: its bytes, `data[start:end]`.
    value: of a scalar, what it means; of others None.
    children: pairs of a label and a node, in the order of the bytes.
    parts: (start, end, meaning) of the bytes that are its own, not its children's.
    slot: its number in the table of references of its format, None if it has none.
    more: what else the bytes say, by name; `damage` is there when it could not be read to its end.
    """

    __slots__ = ("amf", "children", "end", "kind", "more", "parts", "slot", "start", "value")

    def __init__(self, kind: str, amf: int, start: int, value: Any = None) -> None:
        self.kind = kind
        self.amf = amf
        self.start = start
        self.end = start
        self.value = value
        self.children: list[tuple[Label, Node]] = []
        self.parts: list[tuple[int, int, str]] = []
        self.slot: int | None = None
        self.more: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start:#x}-{self.end:#x}>"

    def walk(self) -> Iterator[tuple[int, Label, Node]]:
        """This node and all below it, in the order of the bytes: (how deep, label, node)."""
        waiting: list[tuple[int, Label, Node]] = [(0, "", self)]
        while waiting:
            depth, label, node = waiting.pop()
            yield depth, label, node
            waiting.extend((depth + 1, label, child) for label, child in reversed(node.children))


class Traits:
    """What an AMF3 stream says of a class: alias and names are `text` nodes, `bits` what stands above the flags."""

    __slots__ = ("alias", "bits", "dynamic", "external", "index", "names")

    def __init__(self, alias: Node, names: list[Node], dynamic: bool, external: bool, bits: int, index: int) -> None:
        self.alias = alias
        self.names = names
        self.dynamic = dynamic
        self.external = external
        self.bits = bits
        self.index = index

    def __str__(self) -> str:
        return quoted(self.alias.value) if self.alias.value else "no class"

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for traits that a canonical writer would write once."""
        return self.alias.value, tuple(name.value for name in self.names), self.dynamic, self.external, self.bits


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that could not be read: `data[start:end]`, and why."""

    start: int
    end: int
    why: str

    def __str__(self) -> str:
        size = self.end - self.start
        return f"{self.why}; skipped {size} byte{'s' if size != 1 else ''} from offset {self.start} ({self.start:#x})"


def key_text(label: Label) -> str:
    """A label as it is shown: `name`, `[3]`, `"odd name"`."""
    if isinstance(label, int):
        return f"[{label}]"
    text = str(label.value) if isinstance(label, Node) else str(label)
    if isinstance(label, Node) and not (text.isidentifier() or text.replace(".", "_").replace("-", "_").isidentifier()):
        return quoted(text)
    return text


def quoted(text: str, most: int | None = None) -> str:
    """Text in quotes on one line, safe for a terminal, cut behind `most` characters."""
    cut = most is not None and len(text) > most
    if text.isprintable() and '"' not in text and "\\" not in text:  # most are
        return f'"{text[:most]}"{f"... ({len(text)} characters)" if cut else ""}'
    shown = "".join(_ESCAPES.get(each, each) if each.isprintable() else _escape(each) for each in text[:most])
    return f'"{shown}"{f"... ({len(text)} characters)" if cut else ""}'


_ESCAPES = {"\\": "\\\\", '"': '\\"'}


def _escape(each: str) -> str:
    code = ord(each)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if each in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[each]
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
