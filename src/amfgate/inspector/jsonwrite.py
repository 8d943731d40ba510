"""From the tagged JSON form to bytes: the way back of `jsonform`.

It writes what the form says, and where the form says nothing what a canonical writer would: the shortest numbers, a
reference for each string and for each class that came before.  EncodeError with the path of what it does not
understand.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from ..errors import EncodeError
from ..sol import FILLER, MAGIC, SIGNATURE
from .jsonform import DEEPEST, VERSION
from .jsonparts import byte, long, pairs, text16, u29, unhex, utf8, word

_VECTORS: Final = {"int": (0x0D, ">i"), "uint": (0x0E, ">I"), "double": (0x0F, ">d"), "object": (0x10, "")}
_NESTED: Final = 4 * DEEPEST  # objects and lists of JSON within each other, a few for each value


def from_json(document: Any) -> bytes:
    """The bytes that a document of `to_json` stands for.

    EncodeError, with the path of the culprit, for what is no such document; names that are no tags are refused, so
    that a slip of the pen is not sent.
    """
    if not isinstance(document, dict) or "kind" not in document:
        raise EncodeError('this JSON is no document of the inspector: it has to be an object with "kind"')
    if document.get("amfgate", VERSION) != VERSION:
        raise EncodeError(f"this is form {document['amfgate']!r} of the JSON; version {VERSION} can be read")
    kind = document["kind"]
    if "raw" in document:
        return unhex(document["raw"], "$.raw")
    if kind == "packet":
        return _packet(document)
    if kind == "sol":
        return _sol(document)
    if kind in ("amf0", "amf3"):
        writer = _Writer("$.values")
        values = _get(document, "values", list, "$")
        amf = int(kind[3:])
        return unhex(document.get("lead", ""), "$.lead") + b"".join(
            writer.at(index, form, amf) for index, form in enumerate(values)
        )
    raise EncodeError(f'"kind" is packet, sol, amf0 or amf3, not {kind!r}')


def encode(form: Any, amf: int) -> bytes:
    """The bytes of one value in the tagged form."""
    return _Writer("$").value(form, amf)


def _get(form: dict[str, Any], name: str, kind: type[Any] | tuple[type[Any], ...], path: str) -> Any:
    value = form.get(name)
    if not isinstance(value, kind):
        raise EncodeError(f"{name!r} is missing or not what it has to be: {value!r}", path)
    return value


def _packet(document: dict[str, Any]) -> bytes:
    headers, bodies = _get(document, "headers", list, "$"), _get(document, "bodies", list, "$")
    parts = [word(_get(document, "version", int, "$"), "$.version"), word(len(headers), "$.headers")]
    for index, header in enumerate(headers):
        path = f"$.headers[{index}]"
        header = _entry(header, path)
        flag = header.get("must_understand", False)
        parts += [text16(header.get("name"), f"{path}.name"), byte(flag, path), _with_length(header, path)]
    parts.append(word(document.get("count", len(bodies)), "$.count"))
    for index, body in enumerate(bodies):
        path = f"$.bodies[{index}]"
        body = _entry(body, path)
        parts += [text16(body.get("target"), f"{path}.target"), text16(body.get("response"), f"{path}.response")]
        parts.append(_with_length(body, path))
    parts.append(unhex(document.get("rest", ""), "$.rest"))
    return b"".join(parts)


def _entry(entry: Any, path: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise EncodeError(f"an object was expected, not {entry!r}", path)
    return entry


def _with_length(entry: dict[str, Any], path: str) -> bytes:
    """The length and the value of a header or body."""
    if "value" not in entry:
        raise EncodeError("there is no value", path)
    value = _Writer(f"{path}.value", counted=not entry.get("uncounted")).value(entry["value"], 0)
    return long(entry.get("length", len(value)), f"{path}.length") + value


def _sol(document: dict[str, Any]) -> bytes:
    version = document.get("version")
    if version not in (0, 3):
        raise EncodeError(f"the version of a shared object is 0 or 3, not {version!r}", "$.version")
    writer = _Writer("$.members")
    writer.ids[0] = (0, 0x03)
    writer.slots = 1
    body = bytearray()
    for name, value in pairs(document.get("members"), "$.members"):
        body += writer.text3(name) if version == 3 else writer.text16(name)
        body += writer.at(name, value, version)
        body += b"\x00"
    name = text16(document.get("name"), "$.name")
    head = SIGNATURE + FILLER + name + b"\x00\x00\x00" + bytes((version,))
    return MAGIC + long(document.get("length", len(head) + len(body)), "$.length") + head + bytes(body)


class _Writer:
    """Writes values with one set of tables."""

    def __init__(self, path: str, counted: bool = True) -> None:
        self.path = [path]
        self.counted = counted
        self.strings: dict[str, int] = {}
        self.string_count = 0
        self.traits: dict[tuple[Any, ...], int] = {}
        self.traits_count = 0
        self.objects = 0
        self.slots = 0
        self.ids: dict[Any, tuple[int, int]] = {}  # number in its table, marker

    def fail(self, message: str) -> EncodeError:
        return EncodeError(message, "".join(self.path))

    def at(self, label: Any, form: Any, amf: int) -> bytes:
        """A value in a container."""
        name = label if isinstance(label, str) else None
        self.path.append(f"[{label}]" if isinstance(label, int) else f".{name}" if name else ".(name)")
        if len(self.path) > _NESTED:
            raise self.fail(f"more than {_NESTED} values within each other")
        data = self.value(form, amf)
        self.path.pop()
        return data

    def value(self, form: Any, amf: int) -> bytes:
        if isinstance(form, dict) and (first := next(iter(form), "")).startswith("$") and first[1:2] != "$":
            return self._tagged(form, amf)
        if form is None:
            return b"\x01" if amf == 3 else b"\x05"
        if isinstance(form, bool):
            return bytes((2 + form,)) if amf == 3 else bytes((1, form))
        if isinstance(form, int):
            if amf == 3 and -0x10000000 <= form <= 0x0FFFFFFF:
                return b"\x04" + u29(form & 0x1FFFFFFF)
            return (b"\x05" if amf == 3 else b"\x00") + self.double(form)
        if isinstance(form, float):
            return (b"\x05" if amf == 3 else b"\x00") + self.double(form)
        if isinstance(form, str):
            return self._string({"$string": form}, amf)
        if isinstance(form, list):
            return self._array({"$array": form}, amf)
        if isinstance(form, dict):
            return self._object({"$object": form}, amf)
        raise self.fail(f"{type(form).__name__} is no JSON")

    def _tagged(self, form: dict[str, Any], amf: int) -> bytes:
        tag = next((name for name in form if name in _TAGS), next(iter(form)))  # first, but for tools that sort names
        write = _TAGS.get(tag)
        if write is None:
            raise self.fail(f"{tag!r} is no tag; a name that begins with $ is written with one more: {'$' + tag!r}")
        unknown = set(form) - _ALLOWED[tag]
        if unknown:
            raise self.fail(f"{', '.join(sorted(unknown))}: not beside {tag}")
        try:
            return write(self, form, amf)
        except EncodeError:
            raise
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            # Any JSON can stand anywhere; what is not looked at by name fails in the arithmetic.
            raise self.fail(f"something at {tag} is not what it has to be: {error}") from error

    # --- parts -----------------------------------------------------------------------------------------------

    def double(self, form: Any) -> bytes:
        if isinstance(form, dict) and set(form) == {"$double"}:
            form = form["$double"]
        if isinstance(form, str):
            bits = self.hex(form)
            if len(bits) == 8:
                return bits
        elif isinstance(form, (int, float)) and not isinstance(form, bool):
            try:
                if float(form) == form:
                    return struct.pack(">d", form)
            except OverflowError:
                pass
            raise self.fail(f"{form} has no exact place in a double")
        raise self.fail(f"a number or 16 hex digits were expected, not {form!r}")

    def hex(self, text: Any) -> bytes:
        return unhex(text, "".join(self.path))

    def bytes_of(self, form: Any) -> bytes:
        """The UTF-8 of a text, or the bytes that stand in its place."""
        return utf8(form, "".join(self.path))

    def text16(self, form: Any) -> bytes:
        return text16(form, "".join(self.path))

    def text3(self, form: Any) -> bytes:
        """A string of AMF3 without marker."""
        tags = form if isinstance(form, dict) and "$string" in form else {"$string": form}
        data = self.bytes_of(tags["$string"])
        text = data.decode("utf-8", "surrogateescape")
        width = tags.get("$width", 0)
        if not text:
            return u29(1, width)
        at = tags.get("$at", None if tags.get("$inline") else self.strings.get(text))
        if at is not None:
            return u29(at << 1, width)
        self.strings.setdefault(text, self.string_count)
        self.string_count += 1
        return u29(len(data) << 1 | 1, width) + data

    def opened(self, form: dict[str, Any], amf: int, marker: int, counted: bool = True) -> None:
        """A value takes its number among the references."""
        if "$id" in form:
            if form["$id"] in self.ids:
                raise self.fail(f"there are two values with the $id {form['$id']!r}")
            self.ids[form["$id"]] = (self.objects if amf == 3 else self.slots, marker)
        if amf == 3:
            self.objects += 1
        elif counted:
            self.slots += 1

    def named(self, pairs: list[tuple[Any, Any]], amf: int) -> bytes:
        data = bytearray()
        for name, value in pairs:
            data += self.text3(name) if amf == 3 else self.text16(name)
            data += self.at(name, value, amf)
        return bytes(data)

    def only(self, amf: int, wanted: int, what: str) -> None:
        if amf != wanted:
            raise self.fail(f"AMF{amf} has no {what}")

    # --- tags ------------------------------------------------------------------------------------------------

    def _undefined(self, form: dict[str, Any], amf: int) -> bytes:
        return b"\x00" if amf == 3 else b"\x06"

    def _unsupported(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 0, '"unsupported"')
        return b"\x0d"

    def _boolean(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 0, "boolean with a byte of its own")
        return b"\x01" + byte(form["$boolean"], "".join(self.path))

    def _integer(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 3, "integer")
        number = form["$integer"]
        if not isinstance(number, int) or not -0x10000000 <= number <= 0x0FFFFFFF:
            raise self.fail(f"an integer of 29 bits was expected, not {number!r}")
        return b"\x04" + u29(number & 0x1FFFFFFF, form.get("$width", 0))

    def _double(self, form: dict[str, Any], amf: int) -> bytes:
        return (b"\x05" if amf == 3 else b"\x00") + self.double(form["$double"])

    def _string(self, form: dict[str, Any], amf: int) -> bytes:
        if amf == 3:
            return b"\x06" + self.text3(form)
        data = self.bytes_of(form["$string"])
        return (
            b"\x02" + len(data).to_bytes(2, "big") + data if len(data) <= 0xFFFF else self._long({"$long": form}, amf)
        )

    def _utf8(self, form: dict[str, Any], amf: int) -> bytes:
        return self._string({"$string": form}, amf)

    def _long(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 0, "long string")
        text = form["$long"]
        data = self.bytes_of(text["$string"] if isinstance(text, dict) and "$string" in text else text)
        return b"\x0c" + long(len(data), "".join(self.path)) + data

    def _xml(self, form: dict[str, Any], amf: int) -> bytes:
        tag = next(iter(form))
        data = self.bytes_of(form[tag])
        if amf == 3:
            marker = 0x07 if tag == "$xmldoc" else 0x0B
            self.opened(form, 3, marker)
            return bytes((marker,)) + u29(len(data) << 1 | 1, form.get("$width", 0)) + data
        self.only(3 if tag == "$xml" else 0, 0, "XML but $xmldoc")
        self.opened(form, 0, 0x0F)
        return b"\x0f" + long(len(data), "".join(self.path)) + data

    def _date(self, form: dict[str, Any], amf: int) -> bytes:
        bits = self.double(form["$date"])
        if amf == 3:
            self.opened(form, 3, 0x08)
            return b"\x08" + u29(1, form.get("$width", 0)) + bits
        return b"\x0b" + bits + int(form.get("$zone", 0)).to_bytes(2, "big", signed=True)

    def _bytes(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 3, "byte array")
        data = self.hex(form["$bytes"])
        self.opened(form, 3, 0x0C)
        return b"\x0c" + u29(len(data) << 1 | 1, form.get("$width", 0)) + data

    def _array(self, form: dict[str, Any], amf: int) -> bytes:
        items = form.get("$dense", []) if "$assoc" in form else form["$array"]
        if not isinstance(items, list):
            raise self.fail(f"a list was expected, not {items!r}")
        if amf == 0:
            self.opened(form, 0, 0x0A, self.counted or len(self.path) > 1)
            head = b"\x0a" + long(len(items), "".join(self.path))
        else:
            self.opened(form, 3, 0x09)
            named = self.named(pairs(form.get("$assoc", {}), "".join(self.path)), 3)
            head = b"\x09" + u29(len(items) << 1 | 1, form.get("$width", 0)) + named + u29(1, form.get("$end", 0))
        return head + b"".join(self.at(index, item, amf) for index, item in enumerate(items))

    def _assoc(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 3, "$assoc, but $ecma")
        return self._array(form, amf)

    def _ecma(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 0, "$ecma, but $assoc")
        self.opened(form, 0, 0x08)
        members = pairs(form["$ecma"], "".join(self.path))
        count = long(form.get("$count", len(members)), "".join(self.path))
        return b"\x08" + count + self.named(members, 0) + b"\x00\x00\x09"

    def _object(self, form: dict[str, Any], amf: int) -> bytes:
        if amf == 3:
            return self._typed({"$class": "", "$sealed": {}, "$dynamic": form["$object"], **_rest(form)}, 3)
        self.opened(form, 0, 0x03)
        return b"\x03" + self.named(pairs(form["$object"], "".join(self.path)), 0) + b"\x00\x00\x09"

    def _typed(self, form: dict[str, Any], amf: int) -> bytes:
        path = "".join(self.path)
        if amf == 0:
            self.opened(form, 0, 0x10)
            members = form.get("$members")
            if members is None:
                members = [*pairs(form.get("$sealed", {}), path), *pairs(form.get("$dynamic", {}), path)]
            return b"\x10" + self.text16(form["$class"]) + self.named(pairs(members, path), 0) + b"\x00\x00\x09"
        external = "$source" in form or "$small" in form
        sealed = pairs(form.get("$sealed", form.get("$members", {})), path)
        head = b"\x0a" + self._traits(form, [name for name, _ in sealed], external)
        self.opened(form, 3, 0x0A)
        if "$source" in form:
            return head + self.at("source", form["$source"], 3)
        data = bytearray(head)
        for block in form.get("$small", ()):
            flags, fields = block
            data += self.hex(flags)
            for name, value in fields.items():
                data += self.at(name, value, 3)
        for name, value in sealed:
            data += self.at(name, value, 3)
        if "$dynamic" in form and not external:
            data += self.named(pairs(form["$dynamic"], path), 3)
            data += u29(1, form.get("$end", 0))
        return bytes(data)

    def _traits(self, form: dict[str, Any], names: list[Any], external: bool) -> bytes:
        """The U29 of an object, and its traits unless they came before."""
        dynamic = "$dynamic" in form and not external
        bits = form.get("$bits", 0) if external else 0
        texts = tuple(self._plain(name) for name in names)
        key = (self._plain(form["$class"]), texts, dynamic, external, bits)
        where = form.get("$traits", self.traits.get(key, "inline"))
        width = form.get("$width", 0)
        if where != "inline":
            return u29(where << 2 | 1, width)
        self.traits.setdefault(key, self.traits_count)
        self.traits_count += 1
        head = bits << 3 | 7 if external else len(names) << 4 | dynamic << 3 | 3
        return u29(head, width) + self.text3(form["$class"]) + b"".join(map(self.text3, names))

    def _plain(self, form: Any) -> str:
        text = form["$string"] if isinstance(form, dict) and "$string" in form else form
        return self.bytes_of(text).decode("utf-8", "surrogateescape")

    def _vector(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 3, "Vector")
        if form["$vector"] not in _VECTORS:
            raise self.fail(f"a Vector is one of {', '.join(_VECTORS)}, not {form['$vector']!r}")
        marker, layout = _VECTORS[form["$vector"]]
        items = form.get("$items", [])
        head = bytes((marker,)) + u29(len(items) << 1 | 1, form.get("$width", 0))
        head += byte(form.get("$fixed", 0), "".join(self.path))
        if marker == 0x10:
            head += self.text3(form.get("$type", ""))
        self.opened(form, 3, marker)
        if marker == 0x10:
            return head + b"".join(self.at(index, item, 3) for index, item in enumerate(items))
        if marker == 0x0F:
            return head + b"".join(map(self.double, items))
        try:
            return head + b"".join(struct.pack(layout, item) for item in items)
        except struct.error as error:
            raise self.fail(f"an item does not fit a Vector of {form['$vector']}: {error}") from None

    def _dictionary(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 3, "Dictionary")
        entries = pairs(form["$dictionary"], "".join(self.path))
        self.opened(form, 3, 0x11)
        flag = byte(form.get("$weak", 0), "".join(self.path))
        data = bytearray(b"\x11" + u29(len(entries) << 1 | 1, form.get("$width", 0)) + flag)
        for index, (key, value) in enumerate(entries):
            data += self.at(index, key, 3)
            data += self.at(index, value, 3)
        return bytes(data)

    def _amf3(self, form: dict[str, Any], amf: int) -> bytes:
        self.only(amf, 0, "need of $amf3: it is AMF3 already")
        return b"\x11" + self.at("amf3", form["$amf3"], 3)

    def _ref(self, form: dict[str, Any], amf: int) -> bytes:
        if form["$ref"] not in self.ids:
            raise self.fail(f"no value before this has the $id {form['$ref']!r}")
        index, marker = self.ids[form["$ref"]]
        if amf == 0:
            return b"\x07" + word(index, "".join(self.path))
        return bytes((form.get("$marker", marker),)) + u29(index << 1, form.get("$width", 0))

    def _raw(self, form: dict[str, Any], amf: int) -> bytes:
        return self.hex(form["$raw"])


def _rest(form: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in form.items() if name != "$object"}


_WITH: Final = {
    "$undefined": ("", _Writer._undefined),
    "$unsupported": ("", _Writer._unsupported),
    "$boolean": ("", _Writer._boolean),
    "$integer": ("$width", _Writer._integer),
    "$double": ("", _Writer._double),
    "$string": ("$inline $at $width", _Writer._string),
    "$utf8": ("", _Writer._utf8),
    "$long": ("", _Writer._long),
    "$xml": ("$id $width", _Writer._xml),
    "$xmldoc": ("$id $width", _Writer._xml),
    "$date": ("$zone $id $width", _Writer._date),
    "$bytes": ("$id $width", _Writer._bytes),
    "$array": ("$id $width $end", _Writer._array),
    "$assoc": ("$dense $id $width $end", _Writer._assoc),
    "$ecma": ("$count $id", _Writer._ecma),
    "$object": ("$id $width $end $traits", _Writer._object),
    "$class": ("$members $sealed $dynamic $source $small $id $width $end $traits $bits", _Writer._typed),
    "$vector": ("$type $items $fixed $id $width", _Writer._vector),
    "$dictionary": ("$weak $id $width", _Writer._dictionary),
    "$amf3": ("", _Writer._amf3),
    "$ref": ("$marker $width", _Writer._ref),
    "$raw": ("$damage $read", _Writer._raw),
}
_TAGS: Final[dict[str, Callable[[_Writer, dict[str, Any], int], bytes]]] = {tag: how for tag, (_, how) in _WITH.items()}
_ALLOWED: Final = {tag: {tag, *others.split()} for tag, (others, _) in _WITH.items()}
