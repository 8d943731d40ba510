"""The tagged JSON form: everything that the bytes say, as JSON, and from that JSON the same bytes.

What can be said in JSON alone is said so: text, numbers, null, lists, objects.  Everything else is an object whose
first name begins with `$` (a name of the data that begins so has one more).  What a canonical writer would put is left
unsaid; a form that differs is told by a tag: `$width` of a number in more bytes than it needs, `$inline` text that
could have been a reference, `$count` and `$zone` as they stood, pairs instead of an object where a name is repeated.
So a value can be edited and the rest stays, and the references are worked out anew.  docs/inspect.md has the table
of tags.

A part that was damaged is `{"$raw": hex}`, with what could be read of it beside it under `$read`.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

from .nodes import Node

VERSION: Final = 1
DEEPEST: Final = 100  # values within each other; Python's json recurses, and what is deeper is given as $raw
EXACT: Final = 1 << 53
_FLOAT = struct.Struct(">d")


def to_json(root: Node, data: bytes) -> dict[str, Any]:
    """The document of a packet, shared object or run of values, as `frames` read it; for `json.dumps`.

    `from_json` of the document is `data` again.  That is checked here: a form of bytes that no tag can say makes the
    whole a document with `raw`.
    """
    from .jsonwrite import from_json

    document = _Form(root, data).document()
    try:
        if from_json(document) == data:
            return document
    except ValueError:
        pass
    return {"amfgate": VERSION, "kind": document["kind"], "raw": data.hex(), "read": document}


def dumps(document: dict[str, Any]) -> str:
    """The document as text, one member or item to a line."""
    return json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def number(bits: bytes, *, amf: int) -> Any:
    """A double.  Whole ones in AMF3 are tagged where an integer would be meant otherwise, odd ones are their bits."""
    value: float = _FLOAT.unpack(bits)[0]
    if value != value or value in (float("inf"), float("-inf")) or (value == 0 and bits[0]):
        return {"$double": bits.hex()}
    if value.is_integer() and abs(value) <= EXACT:
        whole = int(value)
        return {"$double": whole} if amf == 3 and -0x10000000 <= whole <= 0x0FFFFFFF else whole
    return value


def utf8(text: str) -> Any:
    """Text; what is not UTF-8 as its bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"$utf8": text.encode("utf-8", "surrogateescape").hex()}
    return text


def text3(node: Node) -> Any:
    """A string of AMF3: bare if it is written as a canonical writer would, else with what differs."""
    tags: dict[str, Any] = {}
    if node.more.get("inline"):
        tags["$inline"] = True
    if "at" in node.more:
        tags["$at"] = node.more["at"]
    if "width" in node.more:
        tags["$width"] = node.more["width"]
    text = utf8(node.value)
    return {"$string": text, **tags} if tags else text


def name_of(key: Any) -> Any:
    """A key as JSON."""
    if isinstance(key, Node):
        return text3(key) if key.amf == 3 else utf8(key.value)
    return utf8(str(key))


def members(pairs: list[tuple[Any, Any]]) -> Any:
    """Named values: an object, or a list of pairs where a name is repeated or has a form of its own."""
    names = [name for name, _ in pairs]
    if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {f"${name}" if name.startswith("$") else name: value for name, value in pairs}
    return [[name, value] for name, value in pairs]


class _Form:
    """Makes the document of one tree; knows which nodes are referred to, and their numbers."""

    def __init__(self, root: Node, data: bytes) -> None:
        self.root = root
        self.data = data
        self.ids: dict[int, int] = {}
        self.tainted = False  # something before was damaged: references behind it cannot be worked out
        for _, _, node in root.walk():
            target = node.more["target"] if node.kind == "reference" else root
            if target is not root:
                self.ids.setdefault(id(target), len(self.ids) + 1)
        if root.kind == "sol":
            self.ids[id(root)] = 0

    def document(self) -> dict[str, Any]:
        root = self.root
        if root.kind == "packet":
            return self._packet()
        if root.kind == "sol":
            document: dict[str, Any] = {"amfgate": VERSION, "kind": "sol", "version": root.more["version"]}
            document["name"] = utf8(root.more["name"].value)
            if root.more["length"] != root.end - 6:
                document["length"] = root.more["length"]
            document["members"] = members([(name_of(key), self.unit(child)) for key, child in root.children])
            return document
        document = {"amfgate": VERSION, "kind": f"amf{root.amf}"}
        if root.parts:
            document["lead"] = self.data[: root.parts[0][1]].hex()
        document["values"] = [self.unit(child) for _, child in root.children]
        return document

    def _packet(self) -> dict[str, Any]:
        root = self.root
        document: dict[str, Any] = {"amfgate": VERSION, "kind": "packet", "version": root.more["version"]}
        headers = document["headers"] = []
        bodies = document["bodies"] = []
        for _, child in root.children:
            self.tainted = False  # each header and body has tables of its own
            if child.kind == "header":
                entry: dict[str, Any] = {"name": utf8(child.more["name"].value)}
                flag = child.more["must_understand"]
                entry["must_understand"] = bool(flag) if flag < 2 else flag
                headers.append(entry)
            elif child.kind == "body":
                entry = {"target": utf8(child.more["target"].value), "response": utf8(child.more["response"].value)}
                bodies.append(entry)
            else:
                document["rest"] = child.value.hex()
                continue
            at = child.parts[-1][1] if not child.children else child.children[0][1].start
            if child.more["length"] != child.end - at:
                entry["length"] = child.more["length"]
            if child.more.get("uncounted"):
                entry["uncounted"] = True
            if child.more.get("damage"):
                read = [self.value(value) for _, value in child.children if value.kind != "skipped"]
                entry["value"] = {
                    "$raw": self.data[at : child.end].hex(),
                    "$damage": child.more["damage"],
                    "$read": read,
                }
            else:
                entry["value"] = self.unit(child.children[0][1])
        if root.more.get("bodies") != len(bodies):
            document["count"] = root.more.get("bodies")
        return document

    def unit(self, node: Node) -> Any:
        """A value that stands by itself: as its bytes where it, or one before it, was damaged or is too deep."""
        suffered, deepest = "", 0
        for depth, _, inner in node.walk():
            suffered = suffered or inner.more.get("damage", "")
            deepest = max(deepest, depth)
        if deepest > DEEPEST:
            suffered = f"{deepest} values within each other; up to {DEEPEST} are shown"
        if suffered or self.tainted:
            self.tainted = True
            form: dict[str, Any] = {"$raw": self.data[node.start : node.end].hex()}
            if suffered:
                form["$damage"] = suffered
            if deepest <= DEEPEST and node.kind != "skipped":
                form["$read"] = self.value(node)
            return form
        return self.value(node)

    def value(self, node: Node) -> Any:
        """A value and all that is in it."""
        kind = node.kind
        if kind == "skipped":
            return {"$skipped": node.value.hex(), "$damage": node.more["damage"]}
        if kind == "reference":
            return self._reference(node)
        if kind == "avm+":
            return {"$amf3": self.value(node.children[0][1])} if node.children else {"$amf3": None}
        form = self._scalar(node) if not _is_container(node) else self._container(node)
        tags: dict[str, Any] = {}
        if id(node) in self.ids:
            tags["$id"] = self.ids[id(node)]
        if "width" in node.more and kind not in ("string", "text"):
            tags["$width"] = node.more["width"]
        if "end" in node.more:
            tags["$end"] = node.more["end"]
        if not tags:
            return form
        if kind == "integer":
            return {"$integer": form, **tags}
        if isinstance(form, list):
            return {"$array": form, **tags}
        if not (isinstance(form, dict) and next(iter(form), "").startswith("$") and not _is_plain(node, form)):
            return {"$object": form, **tags}
        return {**form, **tags}

    def _reference(self, node: Node) -> Any:
        target = node.more["target"]
        tags: dict[str, Any] = {}
        if node.amf == 3 and target.more["marker"] != node.more["marker"]:
            tags["$marker"] = node.more["marker"]
        if "width" in node.more:
            tags["$width"] = node.more["width"]
        return {"$ref": self.ids[id(target)], **tags}

    def _scalar(self, node: Node) -> Any:
        kind, value = node.kind, node.value
        if kind == "null":
            return None
        if kind == "undefined" or kind == "unsupported":
            return {f"${kind}": True}
        if kind == "boolean":
            return bool(value) if value in (0, 1) else {"$boolean": value}
        if kind == "number" or kind == "double":
            return number(value, amf=node.amf)
        if kind == "integer":
            return value
        if kind == "string":
            return text3(node) if node.amf == 3 else utf8(value)
        if kind == "long string":
            size = len(value.encode("utf-8", "surrogateescape"))
            return utf8(value) if size > 0xFFFF else {"$long": utf8(value)}
        if kind == "date":
            form: dict[str, Any] = {"$date": number(value, amf=0)}
            if node.more.get("zone"):
                form["$zone"] = node.more["zone"]
            return form
        if kind == "xml" or kind == "xml document":
            return {"$xml" if kind == "xml" else "$xmldoc": utf8(value)}
        if kind == "byte array":
            return {"$bytes": value.hex()}
        items = [number(item, amf=0) if isinstance(item, bytes) else item for item in value]
        return {"$vector": kind.rpartition(" ")[2], "$items": items, **_flag(node, "$fixed")}

    def _container(self, node: Node) -> Any:
        kind = node.kind
        if kind == "strict array":
            return [self.value(child) for _, child in node.children]
        pairs = [(key, self.value(child)) for key, child in node.children]
        if kind == "ecma array":
            return {"$ecma": members([(name_of(key), value) for key, value in pairs]), "$count": node.more["count"]}
        if kind == "typed object":
            named = members([(name_of(key), value) for key, value in pairs])
            return {"$class": utf8(node.more["alias"].value), "$members": named}
        if node.amf == 0:
            return _plain(members([(name_of(key), value) for key, value in pairs]))
        if kind == "array":
            dense = node.more.get("dense", len(pairs))
            items = [value for _, value in pairs[dense:]]
            if not dense:
                return items
            return {"$assoc": members([(name_of(key), value) for key, value in pairs[:dense]]), "$dense": items}
        if kind == "dictionary":
            keys, values = pairs[0::2], pairs[1::2]
            return {"$dictionary": [[k, v] for (_, k), (_, v) in zip(keys, values)], **_flag(node, "$weak")}
        if kind == "vector of objects":
            alias = text3(node.more["alias"])
            return {"$vector": "object", "$type": alias, "$items": [v for _, v in pairs], **_flag(node, "$fixed")}
        return self._object(node, pairs)

    def _object(self, node: Node, pairs: list[tuple[Any, Any]]) -> Any:
        traits = node.more["class"]
        tags: dict[str, Any] = {}
        if "traits" in node.more:
            tags["$traits"] = node.more["traits"]
        if traits.external:
            if traits.bits:
                tags["$bits"] = traits.bits
            if "flags" not in node.more:
                content: dict[str, Any] = {"$source": pairs[0][1] if pairs else None}
            else:
                starts = [at for at, _ in node.more["flags"]] + [len(pairs)]
                blocks = zip(node.more["flags"], starts[1:])
                content = {"$small": [[flags.hex(), dict(pairs[at:end])] for (at, flags), end in blocks]}
            return {"$class": self._alias(node), **content, **tags}
        sealed = len(traits.names)
        dynamic = members([(name_of(key), value) for key, value in pairs[sealed:]])
        if traits.dynamic and not sealed and self._alias(node) == "":
            return {"$object": dynamic, **tags} if tags else _plain(dynamic)
        names = node.more.get("names") or traits.names
        written = "names" in node.more
        named = [(text3(name) if written else utf8(name.value), value) for name, (_, value) in zip(names, pairs)]
        form = {"$class": self._alias(node), "$sealed": members(named)}
        if traits.dynamic:
            form["$dynamic"] = dynamic
        return {**form, **tags}

    def _alias(self, node: Node) -> Any:
        alias = node.more["class"].alias
        return text3(alias) if "names" in node.more else utf8(alias.value)


_CONTAINERS: Final = frozenset(
    ("object", "typed object", "ecma array", "strict array", "array", "dictionary", "vector of objects")
)


def _is_container(node: Node) -> bool:
    return node.kind in _CONTAINERS


def _plain(named: Any) -> Any:
    """The members of an anonymous object: bare, or tagged where they are pairs."""
    return named if isinstance(named, dict) else {"$object": named}


def _is_plain(node: Node, form: dict[str, Any]) -> bool:
    """Are these names the data's own, all of them, although the first begins with `$`?"""
    return node.kind == "object" and not any(tag in form for tag in ("$class", "$object"))


def _flag(node: Node, tag: str) -> dict[str, Any]:
    """A flag byte: left out if 0, true if 1."""
    flag = node.more["flag"]
    return {tag: True if flag == 1 else flag} if flag else {}
