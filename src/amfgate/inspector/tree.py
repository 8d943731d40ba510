"""The tree of what was read: a line for each value, with its offset, its type, what it says, and what is odd about it.

000012    body 0: call of catalog.page, to be answered to /1
00002a      value: strict array of 2  #0
00002f        [0]: number 0
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..packet import REPLY_ENDINGS
from .nodes import Node, key_text, quoted

TEXT_MOST: Final = 100  # characters of a text, and bytes of a byte array, that a line shows
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_VERSIONS: Final = {0: "AMF0", 1: "AMF0", 3: "the client reads AMF3"}
_SCALARS: Final = frozenset(("null", "undefined", "unsupported"))


@dataclass(frozen=True, slots=True)
class Line:
    """A line: the offset of the first byte, how deep it stands, its label, what it is, and notes on its form."""

    offset: int
    depth: int
    label: str
    what: str
    notes: str
    kind: str

    def __str__(self) -> str:
        label = f"{self.label}: " if self.label else ""
        return f"{self.offset:06x}  {'  ' * self.depth}{label}{self.what}{f'  {self.notes}' if self.notes else ''}"


def render(root: Node, *, full: bool = False) -> str:
    """The tree as text; `full`: texts and byte arrays are not cut."""
    return "".join(f"{line}\n" for line in lines(root, full=full))


def lines(root: Node, *, full: bool = False) -> Iterator[Line]:
    """The tree, line by line."""
    most = None if full else TEXT_MOST
    for depth, label, node in root.walk():
        shown = key_text(label)
        if node.kind == "avm+":
            shown = f"{shown} (AMF3 from here)" if shown else "AMF3 from here"
        yield Line(node.start, depth, shown, describe(node, most), notes(node), node.kind)


def describe(node: Node, most: int | None = TEXT_MOST) -> str:
    """What a node is, in a few words and without its children."""
    kind, value = node.kind, node.value
    if kind in _SCALARS or kind == "avm+":
        return kind
    if kind == "boolean":
        return "true" if value else "false"
    if kind in ("number", "double"):
        return f"{kind} {_number(value)}"
    if kind == "integer":
        return f"integer {value}"
    if kind in ("string", "long string", "xml", "xml document"):
        return f"{kind} {quoted(value, most)}"
    if kind == "date":
        return f"date {_date(value)}"
    if kind == "byte array":
        return f"byte array of {len(value)}{_hex(value, most)}"
    if kind == "reference":
        target = node.more["target"]
        return f"reference to #{value}, the {target.kind} at {target.start:06x}"
    if kind == "skipped":
        return f"SKIPPED {_many(len(value), 'byte')}{_hex(value, 16)}"
    if value is not None:
        items = ", ".join(_number(item) if isinstance(item, bytes) else str(item) for item in value[: most and 20])
        return f"{kind}, {len(value)} items: {items}{', ...' if most and len(value) > 20 else ''}"
    return _frame(node) if kind in ("packet", "header", "body", "sol", "values") else _container(node)


def _frame(node: Node) -> str:
    more = node.more
    if node.kind == "packet":
        version = more["version"]
        counts = f"{_many(more['headers'], 'header')}, {_many(more.get('bodies', 0), 'bod', 'y', 'ies')}"
        return f"packet, version {version} ({_VERSIONS[version]}), {counts}, {node.end} bytes"
    if node.kind == "header":
        return f"header {quoted(more['name'].value)}{', must be understood' if more['must_understand'] else ''}"
    if node.kind == "body":
        target, response = quoted(more["target"].value), quoted(more["response"].value)
        if more["target"].value.endswith(REPLY_ENDINGS):
            return f"answer {target}"
        return f"call of {target}, to be answered to {response}"
    if node.kind == "sol":
        return f"shared object {quoted(more['name'].value)}, AMF{node.amf}, {_many(len(node.children), 'member')}"
    return f"AMF{node.amf}, {_many(len(node.children), 'value')}"


def _container(node: Node) -> str:
    kind, count = node.kind, len(node.children)
    if kind in ("strict array", "vector of objects"):
        alias = (
            f" {quoted(node.more['alias'].value)}" if kind == "vector of objects" and node.more["alias"].value else ""
        )
        return f"{kind}{alias}, {_many(count, 'item')}"
    if kind == "ecma array":
        return f"ecma array, {_many(count, 'member')}, count {node.more['count']} declared"
    if kind == "dictionary":
        return f"dictionary, {_many(count // 2, 'entr', 'y', 'ies')}{', weak keys' if node.more['flag'] else ''}"
    if kind == "array":
        named = node.more.get("dense", 0)
        keys = f"{_many(named, 'named member')}, " if named else ""
        return f"array, {keys}{_many(count - named, 'item')}"
    if kind == "typed object":
        return f"object {node.more['alias'].value}, {_many(count, 'member')}"
    traits = node.more.get("class")
    if traits is None:
        return f"object, {_many(count, 'member')}"
    alias = f"object {traits.alias.value}" if traits.alias.value else "object"
    if traits.external:
        return f"{alias}, externalizable"
    sealed = len(traits.names)
    parts = [f"{sealed} sealed"] if sealed else []
    if traits.dynamic:
        parts.append(f"{count - sealed} dynamic")
    return f"{alias}, {' and '.join(parts) or 'no'} {'member' if count == 1 else 'members'}"


def notes(node: Node) -> str:
    """What a decoder would not tell: the number among the references, and forms that are not the usual ones."""
    more = node.more
    found = [] if node.slot is None else [f"#{node.slot}"]
    if "width" in more:
        found.append(f"number in {more['width']} bytes, more than it needs")
    if "string" in more:
        found.append(f"string {more['string']} again")
    if more.get("inline"):
        found.append("written out although it came before")
    if more.get("zone"):
        found.append(f"time zone {more['zone']:+d} minutes, which means nothing")
    if more.get("traits") == "inline":
        found.append("traits written out although they came before")
    if node.kind == "boolean" and node.amf == 0 and node.value not in (0, 1):
        found.append(f"written as {node.value:#04x}")
    if node.kind in ("header", "body"):
        value = node.children[0][1] if node.children else None
        real = node.end - value.start if value is not None else 0
        if more["length"] != real:
            found.append(f"length {more['length']} declared, {real} there")
        if more.get("uncounted"):
            found.append("the array of arguments has no number")
    if "damage" in more:
        found.append(more["damage"] if node.kind == "skipped" else "DAMAGED")
    return ", ".join(found)


def _number(bits: bytes) -> str:
    value: float = struct.unpack(">d", bits)[0]
    if value.is_integer() and abs(value) <= 1 << 53 and not (value == 0 and bits[0]):
        return str(int(value))
    return repr(value)


def _date(bits: bytes) -> str:
    milliseconds: float = struct.unpack(">d", bits)[0]
    try:
        when = (_EPOCH + dt.timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError):
        return f"invalid, {milliseconds!r} ms"
    return f"{when.replace('+00:00', 'Z')} ({_number(bits)} ms)"


def _hex(data: bytes, most: int | None) -> str:
    return f": {data[:most].hex(' ')}{' ...' if most is not None and len(data) > most else ''}" if data else ""


def _many(count: int, word: str, one: str = "", more: str = "s") -> str:
    return f"{count} {word}{one if count == 1 else more}"


__all__: list[str] = ["TEXT_MOST", "Line", "describe", "lines", "notes", "render"]
