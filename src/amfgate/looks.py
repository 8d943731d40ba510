"""What input that is no AMF looks like.

People give decoders error pages, compressed bodies and captures of whole connections.  The errors of packets, values
and shared objects say so, by these guesses, and show the first bytes.
"""

from __future__ import annotations

from typing import Any, Final

from .errors import DecodeError

_SHOWN: Final = 12  # bytes; enough to recognise `<!DOCTYPE ht` and `HTTP/1.1 404`

_STARTS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x1f\x8b", "gzip: decompress it first (gzip.decompress)"),
    (b"\xef\xbb\xbf\x00", "a packet behind a UTF-8 byte order mark, with which some script of the server begins"),
    (b"HTTP/", "a whole HTTP response: the packet is what stands behind the first empty line"),
    (b"POST ", "a whole HTTP request: the packet is what stands behind the first empty line"),
    (b"GET ", "a whole HTTP request, and one without a body"),
    (b"FWS", "a SWF file"),
    (b"CWS", "a SWF file"),
    (b"ZWS", "a SWF file"),
    (b"FLV", "an FLV file"),
)


def looks_like(data: bytes) -> str:
    """What `data` seems to be, for the middle of a sentence: "HTML", "gzip: ...".  "" when nothing comes to mind."""
    if not data:
        return "nothing: it is empty"
    for start, what in _STARTS:
        if data.startswith(start):
            return what
    if data[:2] == b"\x00\xbf" and data[6:10] == b"TCSO":
        return "a local shared object: amfgate.sol.loads reads it"
    if data[0] == 0x78 and len(data) > 1 and not (0x7800 + data[1]) % 31:  # the check of RFC 1950, 2.2
        return "zlib: decompress it first (zlib.decompress)"
    head = data[:256].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"<":
        return "HTML" if b"<html" in data[:1024].lower() or b"<!doctype html" in data[:1024].lower() else "XML or HTML"
    if head[:1] in (b"{", b"[") and head[1:].lstrip()[:1] in _AFTER_BRACKET:
        return "JSON"
    if head[:2] in (b"\x00\x00", b"\x00\x03") and head[0] != data[0] and _may_be_packet(head):
        return "a packet behind white space, with which some script of the server begins"
    if all(32 <= byte < 127 or byte in b"\t\r\n" for byte in data[:64]):
        return "text; of a captured connection only the body of the HTTP message is AMF, and as bytes"
    return ""


def _may_be_packet(head: bytes) -> bool:
    """No headers, or one whose name begins as names do; an AMF0 array begins with a line feed and zeros, too."""
    return head[2:4] == b"\x00\x00" or head[4:5] == b"\x00" and head[6:7].isalnum()


# What may follow `{` or `[` in JSON; in AMF3 a `[` or `{` is no marker at all.
_AFTER_BRACKET: Final = frozenset(bytes((byte,)) for byte in b'"{}[]-0123456789tfn') | {b""}


def explained(error: DecodeError, data: Any) -> DecodeError:
    """The error for a value, with what the input looks like where it is no AMF value at all."""
    head = bytes(memoryview(data)[:1024])
    hint = looks_like(head)
    if not hint and head[:1] == b"\0" and head[1:2] in (b"\0", b"\1", b"\3") and len(head) >= 6:
        hint = "a remoting packet: amfgate.Packet.from_bytes reads it"
    if not hint:
        return error
    return DecodeError(f"{error.message}; the input looks like {hint} [{first_bytes(head)}]", error.offset)


def first_bytes(data: bytes) -> str:
    """The first bytes in hex and, where they are text, as text: `3C 68 74 6D 6C 3E (<html>)`."""
    head = data[:_SHOWN]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in head)
    more = "..." if len(data) > _SHOWN else ""
    readable = f" ({text}{more})" if sum(character != "." for character in text) * 2 > len(text) else ""
    return f"{head.hex(' ').upper()}{' ...' if more else ''}{readable}"
