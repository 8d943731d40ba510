"""What stands around values: packets, shared objects, and values one after another.

Each function reads all of `data` into one node.  DecodeError at the first damage, or, with `tolerant`, when it is not
that kind of input at all; what was skipped is in `node.more["damages"]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..errors import DecodeError
from ..looks import first_bytes
from ..packet import BODY_LEAST, FALSE_LENGTHS, HEADER_LEAST, REPLY_ENDINGS, VERSIONS, not_a_packet
from ..sol import FILLER, MAGIC, SIGNATURE
from . import salvage
from .nodes import Damage, Node
from .reader import Reader

Progress = Callable[[int], None] | None
_VERSION_NAMES: Final = {0: "AMF0", 1: "AMF0, Flash Communication Server", 3: "the client reads AMF3"}


def read_values(data: bytes, amf: int, *, at: int = 0, tolerant: bool = False, progress: Progress = None) -> Node:
    """Values one after another, with one set of tables, as in RTMP messages; `at`: where the first begins."""
    reader = Reader(data, at=at, tolerant=tolerant, progress=progress)
    root = Node("values", amf, 0)
    root.end = len(data)
    if at:
        root.parts.append((0, at, "before the values"))
    if not len(data) > at:
        raise DecodeError("no value: the input is empty", at)
    while reader.at < len(data):
        start = reader.at
        try:
            node = reader.value(amf)
        except DecodeError as error:
            if not tolerant:
                raise
            _skip_to_values(reader, root, start, amf, error)
            continue
        root.children.append((len(root.children), node))
        if node.more.get("unread"):
            _skip_to_values(reader, root, reader.at, amf, DecodeError(node.more["damage"]))
    root.more["damages"] = reader.damages
    return root


def _skip_to_values(reader: Reader, root: Node, start: int, amf: int, error: DecodeError) -> None:
    end = salvage.tail(reader, start + 1, amf) if len(reader.damages) < salvage.MOST else -1
    reader.at = end if end >= 0 else reader.total
    reader.skip(root, start, reader.at, str(error))


def read_packet(data: bytes, *, tolerant: bool = False, progress: Progress = None) -> Node:
    """A remoting packet.  A body whose references can be meant in two ways is read as `amfgate.Packet` reads it."""
    root = Node("packet", 0, 0)
    root.end = len(data)
    reader = Reader(data, progress=progress)  # of the frame
    version = int.from_bytes(data[:2], "big")
    if len(data) < 2 or version not in VERSIONS:
        raise not_a_packet(data)
    reader.at = 2
    reader.part(root, 0, f"version {version}: {_VERSION_NAMES[version]}")
    root.more["version"] = version
    damages: list[Damage] = []
    root.more["damages"] = damages
    try:
        headers = reader.number(root, 2, "headers:")
        root.more["headers"] = headers
        if headers * HEADER_LEAST > len(data) - reader.at:
            raise DecodeError(f"{headers} headers cannot be in the {len(data) - reader.at} bytes left", 2)
        for _ in range(headers):
            _read_header(reader, root)
        bodies = reader.number(root, 2, "bodies:")
        root.more["bodies"] = bodies
        if bodies * BODY_LEAST > len(data) - reader.at:
            raise DecodeError(f"{bodies} bodies cannot be in the {len(data) - reader.at} bytes left", reader.at - 2)
    except DecodeError as error:
        if not tolerant:
            raise
        _skip_to_body(reader, root, _end_of(root), error, 0)
    read = 0
    while reader.at < len(data) and read < root.more.get("bodies", 0xFFFF):
        _read_body(reader, root, f"body {read}", tolerant)
        read = sum(child.kind == "body" for _, child in root.children)
    if reader.at < len(data) or read < root.more.get("bodies", 0):
        left = len(data) - reader.at
        why = f"{left} bytes are left behind the last body" if left else "the packet ends before its last body"
        if not tolerant:
            raise DecodeError(why, reader.at)
        reader.skip(root, reader.at, len(data), why)
    damages.extend(reader.damages)
    damages.sort(key=lambda damage: damage.start)
    return root


def _end_of(root: Node) -> int:
    """The offset behind all that was read."""
    return max([*(end for _, end, _ in root.parts), *(child.end for _, child in root.children)])


def _read_header(reader: Reader, root: Node) -> None:
    node = Node("header", 0, reader.at)
    node.more["name"] = reader.text16(node, "header name")
    flag = reader.byte(node, "must understand", lambda byte: f"must understand: {byte}")
    node.more["must_understand"] = flag
    node.more["length"] = reader.number(node, 4, "length")
    inner = Reader(reader.data, at=reader.at, progress=reader.progress)
    value = inner.value(0)
    node.children.append(("value", value))
    node.end = reader.at = value.end
    root.children.append((f"header {len(root.children)}", node))


def _read_body(reader: Reader, root: Node, label: str, tolerant: bool) -> None:
    node, start = Node("body", 0, reader.at), reader.at
    try:
        node.more["target"] = reader.text16(node, "target")
        node.more["response"] = reader.text16(node, "response")
        node.more["length"] = reader.number(node, 4, "length")
    except DecodeError as error:
        if not tolerant:
            raise
        _skip_to_body(reader, root, start, error, 0)
        return
    at = reader.at
    inner, value, error_found = _body_value(reader, node, at, tolerant)
    if value is not None:
        node.children.append(("value", value))
        reader.at = inner.at
    node.end = reader.at
    root.children.append((label, node))
    reader.damages.extend(inner.damages)
    if error_found is not None:
        node.more["damage"] = str(error_found)
        _skip_to_body(reader, node, reader.at, error_found, at + node.more["length"])
        node.end = reader.at
    elif any(damage.start >= at for damage in inner.damages):
        node.more["damage"] = inner.damages[0].why


def _body_value(reader: Reader, node: Node, at: int, tolerant: bool) -> tuple[Reader, Node | None, DecodeError | None]:
    """The value of a body; where it has references, under the base of their numbers that makes sense."""
    data = reader.data
    reply = str(node.more["target"].value).endswith(REPLY_ENDINGS)
    found: DecodeError | None = None
    for counted in (True, False):
        inner = Reader(data, at=at, counted=counted, progress=reader.progress)
        try:
            value = inner.value(0)
        except DecodeError as error:
            found = found or error
            value = None
        referred = any(slot.more.get("referred") for slot in inner.slots)
        if counted:
            first = inner, value
            if not referred or reply or data[at : at + 1] != b"\x0a":
                break
        elif value is not None:
            node.more["uncounted"] = True
            return inner, value, None
    inner, value = first
    if value is not None or not tolerant:
        if value is None:
            assert found is not None
            raise found
        return inner, value, None
    inner = Reader(data, at=at, tolerant=True, progress=reader.progress, effort=reader.effort)
    try:
        value = inner.value(0)
    except DecodeError as error:
        return inner, None, error
    return inner, value, found if value.more.get("unread") else None


def _skip_to_body(reader: Reader, into: Node, start: int, error: DecodeError, declared: int) -> None:
    """Skip to the next body: by the declared end of this one if that can be believed, else by its looks."""
    end = len(reader.data)
    credible = declared - start not in FALSE_LENGTHS and start <= declared <= end
    if not (credible and (declared == end or salvage.body(reader, declared))):
        places = salvage.places(reader, start + 1, end)
        declared = next((at for at in places if salvage.body(reader, at)), end)
    reader.at = declared
    if declared > start:
        reader.skip(into, start, declared, str(error))


def read_sol(data: bytes, *, tolerant: bool = False, progress: Progress = None) -> Node:
    """A local shared object: `00 BF`, a length, `TCSO`, its name, and named values up to the end."""
    root = Node("sol", 0, 0)
    root.end = len(data)
    reader = Reader(data, tolerant=tolerant, progress=progress)
    root.more.update(damages=reader.damages, name=Node("text", 0, 0, ""), version=0, length=0)
    if data[:2] != MAGIC or data[6:10] != SIGNATURE:
        raise DecodeError(f"a shared object has 00 BF and TCSO at offset 6, not {first_bytes(data)}", 0)
    try:
        _read_sol_head(reader, root, tolerant)
    except DecodeError as error:
        if not tolerant:
            raise
        reader.at = max(end for _, end, _ in root.parts)
        reader.skip(root, reader.at, len(data), str(error))
        reader.at = len(data)
    while reader.at < len(data):
        _read_element(reader, root, tolerant)
    reader.damages.sort(key=lambda damage: damage.start)
    return root


def _read_sol_head(reader: Reader, root: Node, tolerant: bool) -> None:
    reader.at = 2
    reader.part(root, 0, "shared object")
    length = root.more["length"] = reader.number(root, 4, "bytes that follow:")
    if length != reader.total - 6:
        why = f"the shared object says that {length} bytes follow, but there are {reader.total - 6}"
        if not tolerant:
            raise DecodeError(why, 2)
        reader.damages.append(Damage(2, 2, why))
    reader.at = 10
    reader.part(root, 6, "TCSO")
    _expect(reader, root, FILLER, "filler")
    root.more["name"] = reader.text16(root, "name")
    _expect(reader, root, b"\x00\x00\x00", "filler")
    version = reader.byte(root, "version of the values", lambda byte: f"values in AMF{byte}")
    if version not in (0, 3):
        raise DecodeError(f"values in AMF{version}, which is unknown; 0 or 3 was expected", reader.at - 1)
    root.amf = root.more["version"] = version
    if version == 0:
        root.slot = 0
        reader.slots.append(root)


def _expect(reader: Reader, node: Node, wanted: bytes, what: str) -> None:
    start = reader.at
    reader.at = reader.need(len(wanted), what)
    found = reader.data[start : reader.at]
    if found != wanted:
        raise DecodeError(f"{wanted.hex(' ').upper()} was expected, not {first_bytes(found)}", start)
    reader.part(node, start, what)


def _read_element(reader: Reader, root: Node, tolerant: bool) -> None:
    start, key = reader.at, None
    try:
        key = reader.key3(root, "name") if root.amf == 3 else reader.text16(root, "name")
        start = reader.at
        node = reader.value(root.amf)
        root.children.append((key, node))
        start = reader.at
        if node.more.get("unread"):
            raise DecodeError(node.more["damage"])
        _expect(reader, root, b"\x00", "end of the element")
    except DecodeError as error:
        if not tolerant:
            raise
        # What was read of the name stays: its parts are there.  The skipped bytes begin behind it.
        start = max(start, _end_of(root))
        end = start if len(reader.damages) >= salvage.MOST else reader.total
        places = salvage.places(reader, start + (reader.data[start - 1] != 0), end)
        reader.at = next((at for at in places if salvage.element(reader, at, root.amf)), reader.total)
        reader.skip(root, start, reader.at, str(error))
