"""Local shared objects: the `.sol` files in which Flash programs keep their settings and saved games.

    save = amfgate.sol.load("slot1.sol")
    save.data["coins"] += 1
    amfgate.sol.save(save, "slot1.sol")

A file is a name and the members of one object, written one after another.  References reach over the whole file, so
that it is read and written as one stream; in AMF0 the object itself has slot 0, though its own marker is not there.

What was loaded and not changed is saved as the same bytes, also where Flash would have written others.
"""

from __future__ import annotations

import os
import secrets
import stat
import struct
from collections.abc import Mapping
from typing import Any, Final

from ._wire import AMF0_KEY_MAX
from .classes import ClassRegistry
from .codec import Decoder, Encoder
from .errors import AmfError, DecodeError, EncodeError
from .looks import first_bytes, looks_like

MAGIC: Final = b"\x00\xbf"
SIGNATURE: Final = b"TCSO"
FILLER: Final = b"\x00\x04\x00\x00\x00\x00"
NAME_AT: Final = 16  # magic 2, length 4, signature 4, filler 6
EMPTY_OBJECT: Final = b"\x03\x00\x00\x09"


class SharedObject:
    """What a `.sol` file holds.

    name: the name given to `SharedObject.getLocal`.
    data: the members, in the order of the file.
    version: how they are written, 0 for AMF0 (ActionScript 1 and 2) or 3 for AMF3.

    Two are equal when these three are.
    """

    __slots__ = ("_source", "data", "name", "version")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, data: Mapping[str, Any] | None = None, version: int = 3) -> None:
        if version not in (0, 3):
            raise ValueError(f"version is 0 (AMF0) or 3 (AMF3), not {version!r}")
        self.name = name
        self.data: Any = {} if data is None else data
        self.version = version
        self._source = b""  # the file it was read from, to save it as it was if nothing changed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedObject):
            return NotImplemented
        return (self.name, self.version) == (other.name, other.version) and bool(self.data == other.data)

    def __repr__(self) -> str:
        return f"SharedObject({self.name!r}, {self.data!r}, version={self.version})"


def loads(data: Any, *, classes: ClassRegistry | None = None) -> SharedObject:
    """Read a shared object; `data` is the whole file.

    Classes are looked up as `amfgate.loads` does.  DecodeError with the offset for anything that Flash Player would
    not have written: a wrong signature, length or encoding, an element without its closing 00, a damaged value.
    """
    if isinstance(data, str):
        raise TypeError("a shared object is bytes, not str; amfgate.sol.load(path) reads a file")
    if type(data) is not bytes:
        data = memoryview(data).tobytes()
    so = _read(data, classes)
    so._source = data
    return so


def dumps(so: SharedObject, *, classes: ClassRegistry | None = None) -> bytes:
    """The bytes of a shared object.

    They are the bytes that it was read from, if nothing has changed since.  EncodeError when a value cannot be
    written; its path starts at the member, `$.coins`.
    """
    data = _write(so, classes)
    source = so._source
    # A file may hold what this writer puts otherwise (a date with a time zone, a number in more bytes than it needs).
    # If what is written now is what would have been written right after reading, nothing was changed.
    if source and source != data:
        try:
            if _write(_read(source, classes), classes) == data:
                return source
        except AmfError:  # classes were registered since that do not take what the file holds: it has changed, then
            pass
    return data


def load(path: str | os.PathLike[str], *, classes: ClassRegistry | None = None) -> SharedObject:
    """Read the file at `path`; DecodeError as for `loads`, OSError as for `open`."""
    with open(path, "rb") as file:
        return loads(file.read(), classes=classes)


def save(so: SharedObject, path: str | os.PathLike[str], *, classes: ClassRegistry | None = None) -> None:
    """Write a shared object to `path`, whole or not at all.

    The bytes go to a new file in the same directory, are flushed to the disk, and then take the place of the old
    file in one step, with its mode; if it is a link, what it points to is replaced.  When anything fails the old file
    is as it was and the new one is gone.
    """
    replace_file(path, dumps(so, classes=classes))


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to `path` as `save` does: beside it, then in its place."""
    target = os.path.realpath(path)
    directory, name = os.path.split(target)
    beside = os.path.join(directory, f".{name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
        except FileNotFoundError:
            pass  # a new file: what the umask left
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
    _sync_directory(directory)


def _sync_directory(directory: str) -> None:
    """Make the new name last as well as the bytes do; Windows cannot flush a directory."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(data: bytes, classes: ClassRegistry | None) -> SharedObject:
    size = len(data)
    if data[:2] != MAGIC:
        guess = looks_like(data)
        found = f"{first_bytes(data)} and looks like {guess}" if data and guess else first_bytes(data) or "nothing"
        raise DecodeError(f"not a shared object: it has to begin with 00 BF, not with {found}", 0)
    if size < NAME_AT + 2:
        raise DecodeError(f"a shared object of {size} bytes ends in its head", size)
    declared = int.from_bytes(data[2:6], "big")
    if declared != size - 6:
        raise DecodeError(f"the shared object says that {declared} bytes follow, but there are {size - 6}", 2)
    if data[6:10] != SIGNATURE:
        raise DecodeError(f"the signature is TCSO (54 43 53 4F), not {first_bytes(data[6:10])}", 6)
    if data[10:NAME_AT] != FILLER:
        raise DecodeError(f"00 04 00 00 00 00 was expected, not {first_bytes(data[10:NAME_AT])}", 10)
    name, at = _read_text(data, NAME_AT, size)
    if data[at : at + 3] != b"\x00\x00\x00":
        raise DecodeError(f"three bytes 00 were expected behind the name, not {first_bytes(data[at : at + 3])}", at)
    at += 3
    if at == size:
        raise DecodeError("the shared object ends before the version of its values", at)
    version = data[at]
    if version not in (0, 3):
        raise DecodeError(f"values in AMF{version}, which is unknown; 0 or 3 was expected", at)
    at += 1
    so = SharedObject(name, version=version)
    if version == 0:
        # An empty object over the last bytes of the head: it takes slot 0, and is what the members are put into.
        stream = data[: at - 4] + EMPTY_OBJECT + data[at:]
        decoder = Decoder(stream, version=0, classes=classes, offset=at - 4)
        so.data = decoder.decode()
    else:
        decoder = Decoder(data, version=3, classes=classes, offset=at)
    members = so.data
    while at < size:
        if version == 0:
            key, end = _read_text(data, at, size)
            decoder.take(end - at)
        else:
            key = decoder.decode_string()
        at = decoder.offset
        if at == size:
            raise DecodeError(f"the shared object ends before the value of {key!r}", at)
        members[key] = decoder.decode()
        at = decoder.offset
        if at == size or data[at] != 0:
            found = first_bytes(data[at : at + 1]) or "the end"
            raise DecodeError(f"00 was expected behind the value of {key!r}, not {found}", at)
        decoder.take(1)
        at += 1
    return so


def _write(so: SharedObject, classes: ClassRegistry | None) -> bytes:
    name = _text(so.name, "the name")
    if so.version == 0:
        body = _write_amf0(so.data, classes)
    else:
        encoder = Encoder(version=3, classes=classes, strings="all")
        parts: list[bytes] = []
        for key, value in so.data.items():
            if type(key) is int:  # as in any other dict
                key = str(key)
            if not isinstance(key, str):
                raise EncodeError(f"the members of a shared object have names, not {key!r}")
            parts.append(encoder.encode_string(key))
            parts.append(_encode(encoder, key, value))
            parts.append(b"\x00")
        body = b"".join(parts)
    head = b"".join((SIGNATURE, FILLER, name, b"\x00\x00\x00", bytes((so.version,))))
    return b"".join((MAGIC, struct.pack(">I", len(head) + len(body)), head, body))


def _write_amf0(data: Any, classes: ClassRegistry | None) -> bytes:
    """The elements in AMF0.

    The whole object is encoded at once, because a reference to it is a reference to slot 0.  Its bytes are those of the
    elements but for the 00 that each ends with, so they are read again to see where that is.
    """
    whole = Encoder(version=0, classes=classes, strings="all").encode(data if type(data) is dict else dict(data))
    stream = EMPTY_OBJECT + whole[1:]
    decoder = Decoder(stream, version=0, classes=classes, dates="ms")
    decoder.decode()
    at, end = len(EMPTY_OBJECT), len(stream) - 3  # 00 00 09 ends the object
    parts: list[bytes] = []
    while at < end:
        decoder.take(2 + int.from_bytes(stream[at : at + 2], "big"))
        decoder.decode()
        parts.append(stream[at : decoder.offset])
        parts.append(b"\x00")
        at = decoder.offset
    return b"".join(parts)


def _encode(encoder: Any, key: str, value: Any) -> bytes:
    try:
        return bytes(encoder.encode(value))
    except EncodeError as error:
        raise EncodeError(error.message, f"$.{key}{(error.path or '$')[1:]}", error.hint) from error


def _read_text(data: bytes, at: int, size: int) -> tuple[str, int]:
    """A text behind its length in two bytes, and the offset behind it."""
    start = at + 2
    end = start + int.from_bytes(data[at:start], "big")
    if end > size or start > size:
        raise DecodeError(f"text of {end - start} bytes runs past the end of a {size}-byte shared object", at)
    return data[start:end].decode("utf-8", "surrogateescape"), end


def _text(text: Any, what: str) -> bytes:
    """A text behind its length in two bytes."""
    if not isinstance(text, str):
        raise EncodeError(f"{what} of a shared object is text, not {text!r}")
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodeError(f"{what} of a shared object has a lone surrogate at {error.start}") from None
    if len(data) > AMF0_KEY_MAX:
        raise EncodeError(f"{what} of {len(data)} bytes; its length has to fit two bytes")
    return struct.pack(">H", len(data)) + data
