"""Hex with a meaning beside it: every byte once, in the order of the file.

000000  00 00                                            version 0: AMF0
000002  00 00                                            headers: 0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .nodes import Node, key_text

WIDTH: Final = 16  # bytes in a row
ROWS: Final = 4  # rows of one long part that are shown


@dataclass(frozen=True, slots=True)
class Row:
    """Up to 16 bytes: where they are, and in the first row of a part what they mean."""

    offset: int
    data: bytes
    meaning: str
    depth: int
    kind: str = ""

    def __str__(self) -> str:
        meaning = f"{'  ' * self.depth}{self.meaning}" if self.meaning else ""
        return f"{self.offset:06x}  {self.data.hex(' '):<{3 * WIDTH - 1}}  {meaning}".rstrip()


def parts(root: Node) -> list[tuple[int, int, str, int, str]]:
    """(start, end, meaning, depth, kind of the node) of every byte; together they are the whole input."""
    found: list[tuple[int, int, str, int, str]] = []
    for depth, label, node in root.walk():
        name = key_text(label)
        for place, (start, end, meaning) in enumerate(node.parts):
            shown = f"{name}: {meaning}" if place == 0 and name and node.kind != "skipped" else meaning
            found.append((start, end, shown, depth, node.kind))
    found.sort(key=lambda part: part[0])
    return found


def rows(root: Node, data: bytes, *, full: bool = False) -> Iterator[Row]:
    """The dump, row by row; `full`: long texts and byte arrays are not cut."""
    for start, end, meaning, depth, kind in parts(root):
        last = end if full else min(end, start + ROWS * WIDTH)
        for at in range(start, last, WIDTH):
            yield Row(at, data[at : min(at + WIDTH, last)], meaning if at == start else "", depth, kind)
        if last < end:
            yield Row(last, b"", f"... {end - last} more bytes", depth, kind)


def render(root: Node, data: bytes, *, full: bool = False) -> str:
    """The dump as text."""
    return "".join(f"{row}\n" for row in rows(root, data, full=full))
