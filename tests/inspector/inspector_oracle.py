"""From the inspector's nodes to the values that a decoder gives, and a comparison that minds types and identity."""

from __future__ import annotations

import datetime as dt
import math
import struct
from typing import Any
from uuid import UUID

from amfgate import Dictionary, EcmaArray, TypedObject, Vector, Xml, flex, invalid_date, undefined
from amfgate.inspector import Node
from amfgate.inspector.markers import SMALL_BLOCKS

MILLISECONDS = -1  # in `known`: dates are numbers, as with `dates="ms"`
VECTORS = {"vector of int": "int", "vector of uint": "uint", "vector of double": "double"}


def double(bits: bytes) -> float:
    return float(struct.unpack(">d", bits)[0])


def number(bits: bytes) -> int | float:
    """A number of AMF0: int when whole, within 2^53 and not -0.0."""
    value = double(bits)
    if value.is_integer() and abs(value) <= 1 << 53 and not (value == 0 and bits[0]):
        return int(value)
    return value


def date(milliseconds: float) -> Any:
    if not math.isfinite(milliseconds):
        return invalid_date
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=milliseconds)


def key_of(label: Any) -> Any:
    text = label.value if isinstance(label, Node) else label
    if isinstance(text, int):
        return text
    return (
        int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text and int(text) < 2**32 - 1 else text
    )


def value_of(node: Node, known: dict[int, Any]) -> Any:
    """The value that the decoder gives for a node; `known` holds the containers met before."""
    kind, value = node.kind, node.value
    if kind == "null":
        return None
    if kind in ("undefined", "unsupported"):
        return undefined
    if kind == "boolean":
        return value != 0
    if kind == "number":
        return number(value)
    if kind == "double":
        return double(value)
    if kind == "date":
        return double(value) if MILLISECONDS in known else date(double(value))
    if kind in ("integer", "string", "long string", "byte array"):
        return value
    if kind == "avm+":
        return value_of(node.children[0][1], known)
    if kind == "reference":
        target = node.more["target"]
        return known[id(target)] if id(target) in known else value_of(target, known)
    made = known[id(node)] = _empty(node)
    _fill(made, node, known)
    return made


def _empty(node: Node) -> Any:
    kind, value, more = node.kind, node.value, node.more
    if kind in ("xml", "xml document"):
        return Xml(value, kind == "xml document")
    if kind in VECTORS:
        items = map(double, value) if kind == "vector of double" else value
        return Vector(VECTORS[kind], items, fixed=more["flag"] != 0)
    if kind == "vector of objects":
        return Vector("object", fixed=more["flag"] != 0, alias=more["alias"].value)
    if kind == "dictionary":
        return Dictionary(weak=more["flag"] == 1)
    if kind == "ecma array":
        return EcmaArray(count=more["count"])
    if kind == "array" and more.get("dense"):
        return EcmaArray(count=len(node.children) - more["dense"])
    if kind in ("strict array", "array"):
        return []
    if kind == "typed object":
        return TypedObject(more["alias"].value)
    if node.amf == 0:
        return {}
    traits = more["class"]
    alias, names = traits.alias.value, tuple(name.value for name in traits.names)
    if traits.external:
        if alias in SMALL_BLOCKS:
            return TypedObject(alias)
        return getattr(flex, alias.removesuffix("Ext").rpartition(".")[2])()
    if alias or names or not traits.dynamic:
        return TypedObject(alias, sealed=names, dynamic=traits.dynamic)
    return {}


def _fill(made: Any, node: Node, known: dict[int, Any]) -> None:
    values = [(label, value_of(child, known)) for label, child in node.children]
    if isinstance(made, Vector) and made.kind != "object" or isinstance(made, Xml):
        return
    if isinstance(made, Dictionary):
        for (_, key), (_, value) in zip(values[0::2], values[1::2]):
            made[key] = value
    elif isinstance(made, list):
        made.extend(value for _, value in values)
    elif isinstance(made, EcmaArray):
        made.update((key_of(label), value) for label, value in values)
    elif (
        isinstance(made, TypedObject)
        and made.alias in SMALL_BLOCKS
        and node.kind != "typed object"
        and "flags" in node.more
    ):
        _fill_small(made, values)
    elif isinstance(made, dict):
        made.update((label.value if isinstance(label, Node) else label, value) for label, value in values)
    else:
        made.source = values[0][1]


def _fill_small(made: TypedObject, values: list[tuple[Any, Any]]) -> None:
    for block in SMALL_BLOCKS[made.alias]:
        for names in block:
            made.update((name, 0 if name in ("timestamp", "timeToLive", "operation") else None) for name in names)
    for name in [name for name in made if name.endswith("Bytes")]:
        del made[name]
    for name, value in values:
        if name.startswith("bit "):
            continue
        if name.endswith("Bytes"):
            name = name.removesuffix("Bytes")
            if isinstance(value, bytes) and len(value) == 16:
                value = str(UUID(bytes=value)).upper()
        made[name] = value


def same(one: Any, other: Any, seen: dict[tuple[int, int], bool] | None = None) -> bool:
    """Equal, with equal types, and with the same identities inside."""
    seen = {} if seen is None else seen
    if type(one) is float and type(other) is float:
        return struct.pack(">d", one) == struct.pack(">d", other)
    left, right = type(one), type(other)
    if left is not right and not (issubclass(left, TypedObject) and issubclass(right, TypedObject)):
        return False
    if isinstance(one, str):
        return one == other and getattr(one, "legacy", None) == getattr(other, "legacy", None)
    if one is None or isinstance(one, (bool, int, bytes, dt.datetime)) or one is undefined or one is invalid_date:
        return bool(one == other)
    if (id(one), id(other)) in seen:
        return True
    if any(id(one) == a or id(other) == b for a, b in seen):
        return False
    seen[id(one), id(other)] = True
    for name in ("kind", "fixed", "alias", "weak", "sealed", "dynamic"):
        if getattr(one, name, None) != getattr(other, name, None):
            return False
    if isinstance(one, EcmaArray) and one.count != other.count:
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b, seen) for a, b in zip(one, other))
    if isinstance(one, (dict, Dictionary)):
        pairs, others = list(one.items()), list(other.items())
        return len(pairs) == len(others) and all(
            same(a, x, seen) and same(b, y, seen) for (a, b), (x, y) in zip(pairs, others)
        )
    return same(one.source, other.source, seen)
