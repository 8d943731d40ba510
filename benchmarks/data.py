"""The workloads: what is encoded and decoded when amfgate is measured.

Every value comes from a formula or from a generator that is seeded here, so that each run, on each machine and
each Python, measures the same data; `digest()` proves it.  Nothing outside the standard library is imported unless
a workload needs it, and nothing is built before it is asked for.

A repeated string is one object met again (a constant of the program) unless the workload says otherwise; a distinct
string is met once.  All integers fit AMF3's 29 bits except where stated, so that they come back as `int`.  All
datetimes are aware, in UTC, with whole milliseconds: what AMF can hold exactly.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
CATEGORIES = ("books", "garden", "kitchen", "music", "office", "outdoor", "tools", "toys")
CITIES = ("Lisbon", "Zürich", "Oslo", "Kraków", "Leeds", "Turin", "Gent", "Riga")
WORDS = (
    "amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "larch",
    "maple", "north", "ocean", "pearl", "quartz", "river", "stone", "thorn", "umber", "vale", "willow", "yarrow",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Workload:
    """One value to measure: its short name, what it is, how to make it, whether the mean over workloads counts it."""

    name: str
    title: str
    make: Callable[[], Any]
    in_mean: bool = True


def numbers(seed: int) -> Iterator[int]:
    """Pseudo-random integers of 31 bits, the same on every Python (linear congruential, Knuth's MMIX constants)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        yield state >> 33


@cache
def w1() -> list[dict[str, Any]]:
    return [
        {"id": i, "name": f"Product {i}", "price": i * 1.25 + 0.1, "active": i % 3 != 0}
        for i in range(1, 501)
    ]  # fmt: skip


@cache
def w1s() -> list[dict[str, Any]]:
    return [{**row, "active": "yes" if row["active"] else "no"} for row in w1()]


@cache
def w2() -> list[list[Any]]:
    return [[row["id"], row["name"], row["price"], row["active"]] for row in w1()]


def table(count: int) -> list[dict[str, Any]]:
    """`count` rows of eight columns, as a large report has them."""
    source = numbers(3)
    return [
        {
            "id": i,
            "sku": f"SKU-{i:06d}-{next(source) % 997:03d}",
            "category": CATEGORIES[next(source) % 8],
            "quantity": next(source) % 1000,
            "price": next(source) % 100_000 / 100 + 0.005,
            "weight": next(source) % 10_000 / 7.0,
            "note": None if i % 4 else "on request",
            "created": EPOCH + timedelta(milliseconds=next(source)),
        }
        for i in range(count)
    ]


@cache
def w3() -> list[dict[str, Any]]:
    return table(50_000)


@cache
def w3n() -> list[dict[str, Any]]:
    return [{**row, "created": (row["created"] - EPOCH).seconds} for row in w3()]


@dataclass(eq=False)
class Node:
    """An instance of W4: six attributes, one of them another instance and one a list of two.

    `eq=False`: instances are compared by identity, as a graph needs it.
    """

    id: int
    name: str
    price: float
    active: bool
    partner: Node | None = None
    links: list[Node] = field(default_factory=list)


NODE_ALIAS = "com.example.Node"
NODE_NAMES = ("id", "name", "price", "active", "partner", "links")


@cache
def w4() -> list[Node]:
    """Pairs that know each other (a cycle), each with a list of two earlier nodes; no chain is deeper than the pair."""
    nodes = [Node(i, f"Node {i}", i * 0.75 + 0.1, i % 2 == 0) for i in range(2_000)]
    for i, node in enumerate(nodes):
        node.partner = nodes[i ^ 1]
        node.links = [nodes[i // 2], nodes[i // 3]]
    return nodes


@cache
def w5a() -> dict[str, Any]:
    """Sixty containers, one in the other: objects and arrays in turn."""
    value: Any = "bottom"
    for depth in range(59, 0, -2):
        value = {"depth": depth - 1, "label": f"level {depth - 1}", "child": [depth, value]}
    return value  # type: ignore[no-any-return]


@cache
def w5b() -> dict[str, Any]:
    """A document as an application sends it: shapes that alternate and nest, text not only ASCII, gaps.  1 MB."""
    source = numbers(5)

    def words(count: int) -> str:
        return " ".join(WORDS[next(source) % len(WORDS)] for _ in range(count))

    def comment(i: int) -> dict[str, Any]:
        text = words(3 + next(source) % 9)
        if i == 0:
            text += " – ça va"
        return {"user": next(source) % 5000, "stars": next(source) % 5 + 1, "text": text}

    def item(i: int) -> dict[str, Any]:
        size = {"w": next(source) % 300 / 8, "h": next(source) % 300 / 8}
        seller = {"name": f"{words(1)}-{next(source) % 400}", "city": CITIES[next(source) % 8], "rating": i % 50 / 10}
        record = {
            "id": 100_000 + i,
            "title": words(4),
            "tags": [WORDS[next(source) % len(WORDS)] for _ in range(next(source) % 5)],
            "seller": seller,
            "size": size if i % 3 else None,
            "stock": [next(source) % 100 for _ in range(6)],
            "comments": [comment(n) for n in range(next(source) % 4)],
            "enabled": next(source) % 4 != 0,
        }
        if i % 5 == 0:
            record["discount"] = next(source) % 40 / 100
        return record

    return {
        "title": "catalog",
        "revision": 1742,
        "sections": [
            {"name": words(2), "open": s % 2 == 0, "items": [item(s * 100 + i) for i in range(50)]} for s in range(59)
        ],
    }


@cache
def w6_floats() -> list[float]:
    return [n / 1024 + 0.001 for n, _ in zip(numbers(61), range(100_000))]


@cache
def w6_ints() -> list[int]:
    """Half of them small, half over the whole range of 29 bits, a quarter negative."""
    return [
        (n & 0x7FF if n & 0x1000 else n >> 3) * (-1 if n & 0x6000 == 0 else 1)
        for n, _ in zip(numbers(62), range(100_000))
    ]


@cache
def w6_bytes() -> bytes:
    return hashlib.shake_128(b"amfgate").digest(1_000_000)


@cache
def w6_distinct() -> list[str]:
    source = numbers(63)
    return [f"{WORDS[next(source) % len(WORDS)]}-{i:05d}" for i in range(20_000)]


@cache
def w6_same() -> list[str]:
    return ["available from stock"] * 20_000


@cache
def w6_equal() -> list[str]:
    """One text in 20,000 objects, as a database driver hands it out."""
    return ["".join(("available", " from stock")) for _ in range(20_000)]


@cache
def w6v() -> Any:
    """A numpy array of float64, contiguous; sent as Vector.<Number>."""
    import numpy

    return numpy.arange(1_000_000, dtype=numpy.float64) * 0.5 + 0.25


@cache
def wr() -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """W1 as a cursor gives it: the names of the columns, and the rows as tuples."""
    return ("id", "name", "price", "active"), [tuple(row.values()) for row in w1()]


WORKLOADS = (
    Workload("W1", "500 rows x 4 columns, dicts", w1),
    Workload("W1s", "W1, short repeated strings for the booleans", w1s),
    Workload("W2", "500 lists of 4 mixed values", w2),
    Workload("W3", "50,000 rows x 8, with datetimes", w3),
    Workload("W3n", "W3, integers for the datetimes", w3n),
    Workload("W4", "2,000 registered instances, cross references", w4, in_mean=False),
    Workload("W5a", "nested 60 deep", w5a),
    Workload("W5b", "mixed document of 1 MB", w5b),
    Workload("W6 floats", "100,000 floats", w6_floats),
    Workload("W6 ints", "100,000 ints", w6_ints),
    Workload("W6 bytes", "1 MB of bytes", w6_bytes),
    Workload("W6 distinct", "20,000 distinct strings", w6_distinct),
    Workload("W6 same", "20,000 times one string object", w6_same),
    Workload("W6 equal", "20,000 equal strings in distinct objects", w6_equal),
)
BY_NAME = {workload.name: workload for workload in WORKLOADS}


def count(value: Any) -> int:
    """How many values there are in `value`, containers included, keys not: the divisor of "per value"."""
    total = 0
    todo = [value]
    while todo:
        item = todo.pop()
        total += 1
        if type(item) is Node:  # its links and its partner are counted where they are listed
            total += len(NODE_NAMES)
        if type(item) is dict:
            todo.extend(item.values())
        elif type(item) is list or type(item) is tuple:
            todo.extend(item)
    return total


def difference(found: Any, expected: Any, *, loose: bool = False) -> str | None:
    """Where two values differ, or None when they are equal: type by type, bit by bit, and in identity.

    A tuple may come back as a list.  Containers and instances that are shared or cyclic in one must be so in the
    other; instances are compared by their attributes.  `loose`: a whole number may come back as `int`, as in AMF0,
    which has no integers.
    """
    met: dict[int, int] = {}
    back: dict[int, int] = {}
    todo: list[tuple[str, Any, Any]] = [("$", found, expected)]
    while todo:
        path, a, b = todo.pop()
        kind = type(b)
        if kind is float and not (loose and type(a) is int and a == b):
            if type(a) is not float or struct.pack(">d", a) != struct.pack(">d", b):
                return f"{path}: {a!r} instead of {b!r}"
        elif kind in (list, tuple, dict, Node):
            if type(a) is not kind and not (type(a) is list and kind is tuple):
                return f"{path}: {type(a).__name__} instead of {kind.__name__}"
            known = met.get(id(b))
            if (known or id(a)) != id(a) or back.setdefault(id(a), id(b)) != id(b):
                return f"{path}: shared in one value and not in the other"
            if known is not None:
                continue
            met[id(b)] = id(a)
            if kind is Node:
                a, b = vars(a), vars(b)
            if len(a) != len(b):
                return f"{path}: {len(a)} entries instead of {len(b)}"
            if type(b) is dict:
                if a.keys() != b.keys() or (kind is dict and list(a) != list(b)):  # attributes have no order
                    return f"{path}: keys {list(a)} instead of {list(b)}"
                todo.extend((f"{path}.{key}", a[key], item) for key, item in b.items())
            else:
                todo.extend((f"{path}[{i}]", a[i], item) for i, item in enumerate(b))
        elif kind is not float and (type(a) is not kind or a != b):
            return f"{path}: {a!r:.80} instead of {b!r:.80}"
    return None


def digest() -> str:
    """A short hash over all workloads: two reports that show the same one measured the same data."""
    total = hashlib.blake2b(digest_size=6)
    for workload in WORKLOADS:
        value = workload.make()
        if workload.name == "W4":
            value = [[n.id, n.name, n.price, n.active, n.partner.id, [other.id for other in n.links]] for n in value]
        total.update(value if type(value) is bytes else repr(value).encode())
    return total.hexdigest()
