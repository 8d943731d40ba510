"""What a decoder made of some bytes, in a form that two decoders can be compared by.

`shape` flattens a value: types, bits of floats, order of members, and which containers are one and the same.
`outcome` runs a decoder over all of an input and also notes the error, its place, and where the decoder stands.
`classes` has a registered class of every kind, among them one that reads itself as the bytes tell it to.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, NamedTuple

import amfgate
from amfgate import ClassRegistry, Dictionary, EcmaArray, Limits, TypedObject, Vector, Xml

SMALL = Limits(max_body=400, max_depth=4, max_values=20)


def shape(value: Any) -> list[Any]:
    """A flat list that is equal for equal values only: the loop needs no recursion, however deep the value is."""
    found: list[Any] = []
    met: dict[int, int] = {}
    todo = [value]
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is float:
            found.append(struct.pack(">d", item))
            continue
        if kind in (int, str, bytes, bool, type(None)):
            found.append((kind.__name__, item))
            continue
        if id(item) in met:
            found.append(("again", met[id(item)]))
            continue
        met[id(item)] = len(met)
        found.append((f"{kind.__module__}.{kind.__qualname__}", *_attributes(item)))
        todo.extend(reversed(_children(item)))
    return found


def _attributes(item: Any) -> tuple[Any, ...]:
    """What a value is besides its children."""
    if isinstance(item, TypedObject):
        return item.alias, item.sealed, item.dynamic
    if isinstance(item, EcmaArray):
        return type(item.count), item.count
    if isinstance(item, Vector):
        return item.kind, item.fixed, item.alias
    if isinstance(item, Xml):
        return str(item), item.legacy
    if isinstance(item, Dictionary):
        return (item.weak,)
    if isinstance(item, dict | list | tuple) or hasattr(item, "__dict__") or hasattr(type(item), "__slots__"):
        return (getattr(item, "__amf_alias__", None), getattr(item, "__amf_dynamic__", None))
    return (repr(item),)


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [part for pair in item.items() for part in pair]
    if isinstance(item, Dictionary):
        return [part for pair in item.items() for part in pair]
    if isinstance(item, list | tuple):
        return list(item)
    members = dict(getattr(item, "__dict__", {}))
    for base in type(item).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__weakref__", "__dict__", "_entries", "_decoder") and hasattr(item, name):
                members[name] = getattr(item, name)
    members.pop("kept", None)
    return [part for pair in members.items() for part in pair]


def outcome(decoder_class: Any, data: bytes, how: str = "values", **options: Any) -> list[Any]:
    """All that can be told of decoding `data`: values, error, error's place, and where the decoder stands then.

    how: "values", one after another; "body" and "uncounted", as in a packet; "strings", a key before each value, as
    in a shared object; "mixed", each value in the other version than the one before.
    """
    found: list[Any] = []
    try:
        decoder = decoder_class(data, **options)
    except amfgate.AmfError as error:
        return [type(error), str(error), error.args]
    version = decoder.version
    for _ in range(2):  # a decoder that failed fails again, in the same way
        try:
            while not decoder.at_end:
                if how == "body" or how == "uncounted":
                    value = decoder.decode_body(counted=how == "body")
                elif how == "mixed":
                    version = 3 - version
                    value = decoder.decode(version=version)
                else:
                    if how == "strings":
                        found.append(decoder.decode_string())
                    value = decoder.decode()
                found.append(shape(value))
                found.append((decoder.offset, decoder.references, decoder.bytes_left))
        except (amfgate.AmfError, EOFError) as error:
            cause = error.__cause__
            found.append((type(error), str(error), error.args, getattr(error, "offset", None), type(cause), str(cause)))
            found.append((decoder.offset, decoder.references, decoder.at_end))
    return found


# --- classes of every kind -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Plain:
    id: Any
    name: Any = "nobody"


@dataclasses.dataclass(frozen=True)
class Frozen:
    id: Any
    name: Any = None


@dataclasses.dataclass(slots=True)
class Slotted:
    id: Any
    name: Any = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Made:
    """Its `__new__` decides what it is."""

    id: Any
    name: Any = 1

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(Plain)


class Pair(NamedTuple):
    id: Any
    name: Any = 7


class Ordinary:
    id: int
    name: str


class Open:
    pass


class Guarded:
    """Refuses what it does not like."""

    id: int

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None:
            raise ValueError(f"{name} is missing")
        object.__setattr__(self, name, value)


class Abstract:
    id: int

    def __new__(cls, needed: Any) -> Any:
        return object.__new__(cls)


class Parcel:
    """Reads itself; each byte of its payload says what to do next, and what comes of it is kept."""

    def __readamf__(self, stream: Any) -> None:
        self.parts: list[Any] = []
        self.kept = stream
        decoder = stream._decoder
        for _ in range(6):
            order = stream.readUnsignedByte()
            if order == 0:
                break
            elif order == 1:
                self.parts.append(stream.readUTF())
            elif order == 2:
                self.parts.append(stream.readBytes(stream.readByte()))
            elif order == 3:
                self.parts.append((stream.readDouble(), stream.bytesAvailable))
            elif order == 4:
                self.parts.append(decoder.decode(version=3))
            elif order == 5:
                self.parts.append(decoder.decode(version=0))
            elif order == 6:
                self.parts.append(decoder.decode_string())
            elif order == 7:
                decoder.offset = min(decoder.offset + stream.readUnsignedByte(), decoder.offset + decoder.bytes_left)
            elif order == 8:
                raise amfgate.DecodeError("no parcel")
            elif order == 9:
                raise KeyError("no parcel")
            elif order == 10:
                try:
                    self.parts.append(stream.readObject())
                except amfgate.DecodeError as error:
                    self.parts.append(str(error))
            elif order == 11:
                self.parts.append(decoder.decode_body(counted=False))
            elif order == 12:
                last = self.parts[-1] if self.parts else None
                if isinstance(last, list | dict):  # it may be open
                    last.clear()
            else:
                self.parts.append(stream.readObject())

    def __writeamf__(self, stream: Any) -> None:
        stream.writeByte(0)


def registry() -> ClassRegistry:
    """A class of every kind; attrs and pydantic where they are installed."""
    classes = ClassRegistry()
    for cls, alias in (
        (Plain, "p"),
        (Frozen, "f"),
        (Slotted, "s"),
        (Made, "m"),
        (Pair, "n"),
        (Ordinary, "o"),
        (Guarded, "g"),
        (Abstract, "a"),
    ):
        classes.register(cls, alias)
    classes.register(Open, "d", dynamic=True)
    classes.register(Parcel, "x", external=True)
    try:
        import attrs
        import pydantic
    except ImportError:
        return classes
    attributes = {"id": attrs.field(default=1), "name": attrs.field(default=None)}
    classes.register(attrs.make_class("Attrs", attributes), "at")
    classes.register(attrs.make_class("FrozenAttrs", attributes, frozen=True, slots=True), "af")
    classes.register(pydantic.create_model("Model", id=(Any, ...), name=(Any, None)), "py")
    return classes


CLASSES = registry()
