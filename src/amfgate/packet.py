"""Remoting packets: what travels in one HTTP request or reply.

A packet is a version word, some headers and some bodies, each body one call or one answer.  Three things about it are
not what its layout suggests, and shape this module.

The length fields are not to be trusted.  Clients and servers write the real length, 0, 1 or FFFFFFFF.  So a packet is
read without them: each value ends where its decoder stops.  Only after a body that cannot be decoded is its length
tried, and believed if the rest of the packet can be read from there; otherwise the bodies behind it are lost.

A body that cannot be decoded is not the end of the packet.  It keeps its error, which reading `.value` raises, so
that the other calls are answered.

Clients disagree whether the array of arguments counts as the first AMF0 slot.  ActionScript 2 counts it, ActionScript 3
does not, and nothing in the packet tells them apart.  A body that has AMF0 references is therefore read both ways.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterable
from typing import Any, Final

from ._wire import A0_AVMPLUS, A0_STRICT_ARRAY, AMF0_KEY_MAX, Limits
from .classes import ClassRegistry
from .codec import Decoder, Encoder
from .errors import DecodeError, EncodeError
from .looks import first_bytes, looks_like

log = logging.getLogger("amfgate.packet")

VERSIONS: Final = (0, 3, 1)  # AMF0; the client reads AMF3; Flash Communication Server, which is AMF0 again
FALSE_LENGTHS: Final = (0, 1, 0xFFFFFFFF)  # what writers put that do not know the length
HEADER_LEAST: Final = 8  # the bytes of a header and of a body whose texts are empty and whose value is missing
BODY_LEAST: Final = 8
REPLY_ENDINGS: Final = ("/onResult", "/onStatus", "/onDebugEvents")
# A body that fails may have been read to the end of the packet first, and so may the next: 100 such could make 16 MiB
# cost 1.6 GB.  So many bytes may be read in vain; a packet of 600 KB may have 100 failures.
RETRY_BYTES: Final = 64 * 1024 * 1024
BARE_MOST: Final = 65536  # input larger than this is not tried as a bare value, only to word an error
BARE_LIMITS: Final = Limits(max_depth=32, max_values=10_000)

# AMF0 markers that take a value behind 11 in a version-3 request of Flash; what else is there stays bare.
_COMPLEX: Final = frozenset((0x03, 0x08, 0x0A, 0x0B, 0x0F, 0x10))

_unpack_word = struct.Struct(">H").unpack_from
_unpack_long = struct.Struct(">I").unpack_from
_pack_word = struct.Struct(">H").pack
_pack_long = struct.Struct(">I").pack


class Header:
    """A header: something said once for the whole packet, such as credentials.

    `must_understand` asks the receiver to refuse the packet if it does not know the name.
    """

    __slots__ = ("_lead", "must_understand", "name", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, value: Any, must_understand: bool = False) -> None:
        self.name = name
        self.value = value
        self.must_understand = must_understand
        self._lead = b""  # as in Body

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Header):
            return NotImplemented
        if (self.name, self.must_understand) != (other.name, other.must_understand):
            return False
        return bool(self.value == other.value)

    def __repr__(self) -> str:
        return f"Header({self.name!r}, {self.value!r}{', must_understand=True' if self.must_understand else ''})"

    def to_bytes(self, version: int, **options: Any) -> bytes:
        """The header as it stands in a packet of this version; options as for `Packet.to_bytes`.

        The path of an EncodeError starts at the value.
        """
        if self._lead[:1] == b"\x11":
            value = b"\x11" + _encoder(3, options).encode(self.value)
        else:
            avmplus = version == 3 and not self._lead
            value = _encoder(0, options).encode_body(self.value, avmplus=avmplus, whole=not avmplus)
        flag = b"\x01" if self.must_understand else b"\x00"
        return b"".join((_text(self.name, "a header's name"), flag, _pack_long(len(value)), value))


class Body:
    """A body: one call, or the answer to one.

    target: what is called (`"catalog.page"`), or in a reply the response of the request and `/onResult` or `/onStatus`.
    response: the name by which the caller wants its answer (`"/1"`), in a reply `"null"`.
    value: of a call, the list of its arguments, or what the client sent in its place; of a reply, the answer.
    size: the bytes that the value took in the packet it came from, 0 for a body made here.  Of a value that could
        not be decoded, the declared length if that was believed, else all that was left.
    """

    __slots__ = ("_counted", "_error", "_lead", "_value", "response", "size", "target")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, target: str, response: str, value: Any) -> None:
        self.target = target
        self.response = response
        self.size = 0
        self._value = value
        self._error: DecodeError | None = None
        # How the value came, to write it as it came: its first bytes, "" for a value given here, and whether
        # the array of arguments had a slot.
        self._lead = b""
        self._counted = False

    @property
    def value(self) -> Any:
        """The value.  Of a body that could not be decoded, reading it raises the DecodeError, each time."""
        if self._error is not None:
            raise self._error.with_traceback(None)
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value
        self._error = None
        self._lead = b""
        self._counted = False

    def __eq__(self, other: object) -> bool:
        """Equal texts and equal values; two undecodable ones when they failed alike."""
        if not isinstance(other, Body):
            return NotImplemented
        if (self.target, self.response) != (other.target, other.response):
            return False
        if self._error is not None or other._error is not None:
            return str(self._error) == str(other._error)
        return bool(self._value == other._value)

    def __repr__(self) -> str:
        value = repr(self._value) if self._error is None else f"<not decoded: {self._error}>"
        return f"Body({self.target!r}, {self.response!r}, {value})"

    def to_bytes(self, version: int, *, repeats: int = 0, **options: Any) -> bytes:
        """The body as it stands in a packet of this version, with its real length; options as for `Packet.to_bytes`.

        repeats: in AMF0, so many repeated values are written out again before references are used.  Raises
        the DecodeError of a value that could not be decoded; the path of an EncodeError starts at the value.
        """
        target, response = _text(self.target, "a body's target"), _text(self.response, "a body's response")
        value = self._encode(version, repeats, options)
        return b"".join((target, response, _pack_long(len(value)), value))

    def _encode(self, version: int, repeats: int, options: dict[str, Any]) -> Any:
        value, lead = self.value, self._lead
        reply = self.target.endswith(REPLY_ENDINGS)
        if lead[:1] == b"\x11":  # all of it came as AMF3: so do scalars then
            return b"\x11" + _encoder(3, options).encode(value)
        encoder = _encoder(0, options)
        if not lead:
            # A reply has one 11 for the whole value: Royale misreads AMF0 that follows a nested one.
            avmplus = version == 3
            if reply:
                return encoder.encode_body(value, avmplus=avmplus, whole=not avmplus, repeats=repeats)
            return encoder.encode_body(value, avmplus=avmplus, arguments=True, counted=False, repeats=repeats)
        if lead[0] == A0_STRICT_ARRAY:
            # The first item tells whether the sender put complex values behind 11; a scalar leaves it to the version.
            first = lead[5] if len(lead) > 5 else None
            avmplus = first == A0_AVMPLUS or version == 3 and not reply and first not in _COMPLEX
            return encoder.encode_body(
                value, avmplus=avmplus, arguments=True, counted=self._counted or reply, whole=False, repeats=repeats
            )
        return encoder.encode_body(value, avmplus=False, whole=True, repeats=repeats)


class Packet:
    """Headers and bodies under a version word: 0 for AMF0, 3 when the client reads AMF3 (1 is 0 by another name).

    dropped: how many bodies of the packet it was read from could not be found, behind one that could not be decoded.

        packet = amfgate.Packet(0, [], [amfgate.Body("catalog.page", "/1", [1])])
        packet.to_bytes()
    """

    __slots__ = ("bodies", "dropped", "headers", "version")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, version: int, headers: Iterable[Header] = (), bodies: Iterable[Body] = ()) -> None:
        if version not in VERSIONS:
            raise ValueError(f"the version of a packet is 0 or 3 (or 1, for 0), not {version!r}")
        self.version = version
        self.headers = list(headers)
        self.bodies = list(bodies)
        self.dropped = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packet):
            return NotImplemented
        return (self.version, self.headers, self.bodies) == (other.version, other.headers, other.bodies)

    def __repr__(self) -> str:
        lost = f" <{self.dropped} bodies dropped>" if self.dropped else ""
        return f"Packet({self.version}, {self.headers!r}, {self.bodies!r}){lost}"

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        plain: bool = False,
    ) -> Packet:
        """Read a packet; `data` is all of it.

        `classes`, `limits` and `plain` are as for `amfgate.loads`; of the limits, depth and values count for each
        header and body anew.  DecodeError, with what the input looks like, for what is no packet; with the offset for a
        packet that is damaged in its frame or headers, ends early or goes on behind the last body.  A body whose
        value cannot be decoded is no error here: reading its `.value` raises it.
        """
        if type(data) is not bytes:
            data = _as_bytes(data)
        size = len(data)
        version = _unpack_word(data)[0] if size > 1 else -1
        if version not in VERSIONS:
            raise not_a_packet(data)
        most = None
        if limits is not None:
            most = limits.max_bodies
            if limits.max_body is not None and size > limits.max_body:
                raise DecodeError(f"a packet of {size} bytes; the limit is {limits.max_body} (max_body)")
        packet = cls.__new__(cls)
        packet.version = version
        bodies: list[Body] = []
        packet.headers, packet.bodies = [], bodies
        packet.dropped = 0
        try:
            (count,) = _unpack_word(data, 2)
            at = 4 if count == 0 else _read_headers(packet, data, count, classes, limits, plain)
            (count,) = _unpack_word(data, at)
        except (struct.error, IndexError):
            raise DecodeError(f"the packet of {size} bytes ends in its headers", size) from None
        at += 2
        if count * BODY_LEAST > size - at:  # first: a count that cannot be is no packet, rather than a large one
            raise DecodeError(f"{count} bodies cannot be in the {size - at} bytes left", at - 2)
        if most is not None and count > most:
            raise DecodeError(f"{count} bodies in one packet; the limit is {most} (max_bodies)", at - 2)
        failures = 0
        trusted = None  # how many bodies there are up to the first whose declared length was tried
        try:
            while len(bodies) < count:
                target, response, length, at = _read_body_head(data, at, size)
                body = Body(target, response, None)
                bodies.append(body)
                end = _decode(body, data, at, classes, limits, plain)
                if end < 0:
                    failures += 1
                    trusted = trusted or len(bodies)
                    end = at + length
                    if length in FALSE_LENGTHS or end > size or failures * size > RETRY_BYTES:
                        body.size = size - at
                        break
                body.size = end - at
                at = end
            else:
                if at != size:
                    raise DecodeError(f"{size - at} bytes are left behind the last body", at)
                return packet
        except DecodeError:
            if trusted is None:
                raise
        # That length was no guide: what followed it could not be read to the end.
        del bodies[trusted:]
        packet.dropped = count - len(bodies)
        return packet

    def to_bytes(self, **options: Any) -> bytes:
        """The packet as bytes, with real lengths.

        A packet that was read is written as it came, apart from the lengths: whether a body was an array of arguments,
        one AMF3 value or a plain one is remembered until its value is set anew.  In a body made here, a call whose
        value is a list gets it as the array of its arguments, with complex ones behind `11` in version 3; an answer
        has one `11` for the whole value.

        Options are `classes`, `limits`, `default`, `big_ints`, `decimals` and `strings` of `amfgate.dumps`, except that
        `strings` is "all" if it is not given.  EncodeError for a value that cannot be sent, with a path such as
        `$.bodies[0].value.rows[3]`; the DecodeError of a body that could not be read.
        """
        if len(self.headers) > 0xFFFF or len(self.bodies) > 0xFFFF:
            counts = f"{len(self.headers)} headers and {len(self.bodies)} bodies"
            raise EncodeError(f"{counts}: a packet holds at most 65535 of each")
        parts = [_pack_word(self.version), _pack_word(len(self.headers))]
        kind, index = "headers", 0
        try:
            for index, header in enumerate(self.headers):  # noqa: B007
                parts.append(header.to_bytes(self.version, **options))
            kind = "bodies"
            parts.append(_pack_word(len(self.bodies)))
            for index, body in enumerate(self.bodies):  # noqa: B007
                parts.append(body.to_bytes(self.version, **options))
        except EncodeError as error:
            place = f"$.{kind}[{index}]"
            path = place if error.path is None else f"{place}.value{error.path[1:]}"
            raise EncodeError(error.message, path, error.hint) from error
        return b"".join(parts)


def _decode(
    body: Body,
    data: bytes,
    at: int,
    classes: ClassRegistry | None,
    limits: Limits | None,
    plain: bool,
) -> int:
    """Give `body` its value, or its error; the offset behind the value, -1 if it could not be decoded."""
    body._lead = lead = data[at : at + 6]
    decoder = Decoder(data, version=0, classes=classes, limits=limits, plain=plain, offset=at)
    end = -1
    try:
        body._value = decoder.decode_body()
        end = decoder.offset
    except Exception as error:
        body._error = _as_decode_error(error, at)
    if decoder.references and lead[0] == A0_STRICT_ARRAY and not body.target.endswith(REPLY_ENDINGS):
        body._counted = True
        other = Decoder(data, version=0, classes=classes, limits=limits, plain=plain, offset=at)
        try:
            value = other.decode_body(counted=False)
        except Exception:
            return end
        if end >= 0:
            log.warning(
                "%r: its references can be meant in two ways; read as from a client of ActionScript 3, which does not "
                "count the array of arguments",
                body.target,
            )
        body._value, body._error, body._counted = value, None, False
        end = other.offset
    return int(end)


def _read_headers(
    packet: Packet,
    data: bytes,
    count: int,
    classes: ClassRegistry | None,
    limits: Limits | None,
    plain: bool,
) -> int:
    """Give `packet` its headers; the offset behind them.  struct.error or IndexError where the data end too early."""
    size, at = len(data), 4
    if count * HEADER_LEAST > size - at:
        raise DecodeError(f"{count} headers cannot be in the {size - at} bytes left", 2)
    for _ in range(count):
        name, at = _read_text(data, at, size)
        must_understand = data[at] != 0
        _unpack_long(data, at + 1)  # the length is not used, but has to be there
        at += 5
        decoder = Decoder(data, version=0, classes=classes, limits=limits, plain=plain, offset=at)
        try:
            header = Header(name, decoder.decode_body(), must_understand)
        except Exception as error:
            found = _as_decode_error(error, at)
            raise DecodeError(f"the header {name!r}: {found.message}", found.offset) from error
        header._lead = data[at : at + 1]
        packet.headers.append(header)
        at = decoder.offset
    return at


def _as_decode_error(error: Exception, at: int) -> DecodeError:
    """The error to keep: without its traceback, which would keep the whole request alive with it."""
    if isinstance(error, DecodeError):
        return error.with_traceback(None)
    if isinstance(error, EOFError):
        return DecodeError("the value is missing", at)
    kept = DecodeError(f"the value could not be built: {type(error).__name__}: {error}", at)
    kept.__cause__ = error.with_traceback(None)
    return kept


def _encoder(version: int, options: dict[str, Any]) -> Any:
    """A new encoder; all strings are looked up unless the caller says otherwise."""
    return Encoder(**{"strings": "all", **options, "version": version})


def _read_text(data: bytes, at: int, size: int) -> tuple[str, int]:
    """A text behind its length in two bytes, and the offset behind it."""
    (length,) = _unpack_word(data, at)
    start = at + 2
    end = start + length
    if end > size:
        raise DecodeError(f"text of {length} bytes runs past the end of a {size}-byte packet", at)
    return data[start:end].decode("utf-8", "surrogateescape"), end


def _read_body_head(data: bytes, at: int, size: int) -> tuple[str, str, int, int]:
    """A body's target, response and declared length, and the offset of its value."""
    try:
        start = at + 2
        end = start + _unpack_word(data, at)[0]
        target = data[start:end].decode("utf-8", "surrogateescape")
        start = end + 2
        end = start + _unpack_word(data, end)[0]
        response = data[start:end].decode("utf-8", "surrogateescape")
        return target, response, _unpack_long(data, end)[0], end + 4
    except struct.error:
        pass
    try:  # once more, to say which of the texts is too long
        _, at = _read_text(data, at, size)
        _read_text(data, at, size)
    except struct.error:
        pass
    raise DecodeError(f"the packet of {size} bytes ends before a body's value", size)


def _text(text: Any, what: str) -> bytes:
    """A text behind its length in two bytes."""
    if not isinstance(text, str):
        raise EncodeError(f"{what} is text, not {text!r}")
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodeError(f"{what} has a lone surrogate at {error.start}") from None
    if len(data) > AMF0_KEY_MAX:
        raise EncodeError(f"{what} of {len(data)} bytes; its length has to fit two bytes")
    return _pack_word(len(data)) + data


def _as_bytes(data: Any) -> bytes:
    if isinstance(data, str):
        raise TypeError("a packet is bytes, not str; bytes.fromhex() reads hex digits")
    return memoryview(data).tobytes()


def not_a_packet(data: bytes) -> DecodeError:
    """The error for input that does not begin with a version word; it says what the input looks like."""
    if not data:
        return DecodeError("no packet: the input is empty", 0)
    guess = looks_like(data) or _bare_value(data)
    if not guess:
        return DecodeError(f"not a packet: it has to begin with 00 00 or 00 03, not with {first_bytes(data)}", 0)
    return DecodeError(f"not a packet: it begins with {first_bytes(data)} and looks like {guess}", 0)


def _bare_value(data: bytes) -> str:
    """Is it a value of either format, and nothing else?  Each is tried on input of a size that costs little."""
    if len(data) > BARE_MOST:
        return ""
    for version in (3, 0):
        decoder = Decoder(data, version=version, limits=BARE_LIMITS)
        try:
            decoder.decode()
        except Exception:  # a guess is no place to fail
            continue
        if decoder.offset == len(data):
            return f"a bare AMF{version} value: amfgate.loads(data, version={version}) reads it"
    return ""
