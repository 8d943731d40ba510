"""The markers of both formats in words, and the frame of a container that is being read."""

from __future__ import annotations

from typing import Any, Final

from ..flex.small import _BLOCKS
from .nodes import Node

# How a frame takes a value.
ITEMS, MEMBERS, SEALED, DYNAMIC, ASSOCIATIVE, ENTRIES, ONE, SMALL, OPAQUE = range(9)
CLOSED: Final = -1  # instead of a version: the container is complete
DEPTH: Final = 512  # containers within each other, as in the codec

_COLLECTIONS: Final = ("ArrayCollection", "ArrayList", "ObjectProxy", "ManagedObjectProxy")
WRAPPERS: Final = frozenset(f"flex.messaging.io.{name}{end}" for name in _COLLECTIONS for end in ("", "Ext"))

SMALL_BLOCKS: Final = _BLOCKS  # flags and fields of the small messages: data, which the small messages themselves use

NAMES0: Final = {
    0x00: "number",
    0x01: "boolean",
    0x02: "string",
    0x03: "object",
    0x05: "null",
    0x06: "undefined",
    0x07: "reference",
    0x08: "ecma array",
    0x0A: "strict array",
    0x0B: "date",
    0x0C: "long string",
    0x0D: "unsupported",
    0x0F: "xml document",
    0x10: "typed object",
    0x11: "avm+",
}
NAMES3: Final = {
    0x00: "undefined",
    0x01: "null",
    0x02: "boolean",
    0x03: "boolean",
    0x04: "integer",
    0x05: "double",
    0x06: "string",
    0x07: "xml document",
    0x08: "date",
    0x09: "array",
    0x0A: "object",
    0x0B: "xml",
    0x0C: "byte array",
    0x0D: "vector of int",
    0x0E: "vector of uint",
    0x0F: "vector of double",
    0x10: "vector of objects",
    0x11: "dictionary",
}
# What the number behind a marker counts.
COUNTS: Final = {0x07: "length", 0x0B: "length", 0x0C: "length", 0x09: "dense items:", 0x11: "entries:"}
VECTORS: Final = {0x0D: (4, "i"), 0x0E: (4, "I"), 0x0F: (8, "d")}


class Frame:
    """An open container: how it takes a value, the label of the next one, and what is left to come."""

    __slots__ = ("key", "left", "mode", "names", "node")

    def __init__(self, node: Node, mode: int, left: int = 0, names: Any = ()) -> None:
        self.node = node
        self.mode = mode
        self.left = left
        self.names = names
        self.key: Any = None
