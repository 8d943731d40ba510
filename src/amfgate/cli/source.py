"""Where input comes from: a file, `-` for standard input, hex digits, base64, or a dump in hex with offsets."""

from __future__ import annotations

import base64
import binascii
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2})+")
_NOISE: Final = re.compile(rb"\\x|0[xX]|[\s,;:]")
_DUMP: Final = re.compile(
    r"\s*(?:0x)?([0-9A-Fa-f]{4,8}):?[ \t]+((?:[0-9A-Fa-f]{2,4}[ \t]{1,2})*[0-9A-Fa-f]{2,4})(?:\s.*|\|.*)?$"
)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\-_]{8,}={0,2}")


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes, and what to call them."""

    name: str
    data: bytes


def open_sources(words: tuple[str, ...]) -> list[Source]:
    """The inputs that the words of a command line name; hex digits may be split over several words."""
    joined = hex_digits("".join(words).encode())
    if joined is not None and not any(word == "-" or _is_there(word) for word in words):
        return [Source("hex", joined)]
    return [_open(word) for word in words]


def _is_there(name: str) -> bool:
    """Is there a file of this name?  Many hex digits are too long for a name, which is an error of its own."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _open(word: str) -> Source:
    if word == "-":
        return Source("standard input", _unwrapped(sys.stdin.buffer.read(), "standard input"))
    if _is_there(word):
        return Source(word, _unwrapped(Path(word).read_bytes(), word))
    found = base64_bytes(word)
    if found is not None:
        return Source("base64", found)
    shown = word if len(word) <= 60 else f"{word[:60]}..."
    raise click.UsageError(f"there is no file {shown!r}, and it is no hex digits (an even number of 0-9 a-f) either")


_URL_SAFE: Final = str.maketrans("-_", "+/")


def hex_digits(text: bytes) -> bytes | None:
    """The bytes of hex digits in any of the usual spellings: `0a 0b`, `0x0a, 0x0b`, `\\x0a\\x0b`, `0a:0b`."""
    digits = _NOISE.sub(b"", text)
    return bytes.fromhex(digits.decode()) if _HEX.fullmatch(digits) else None


def base64_bytes(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, the URL-safe one too; None for what is none."""
    try:
        return base64.b64decode(text.translate(_URL_SAFE), validate=True) if _BASE64.fullmatch(text) else None
    except binascii.Error:
        return None


def _unwrapped(data: bytes, name: str) -> bytes:
    """A file of hex digits or base64, or a dump as of xxd, `hexdump -C` and Wireshark, as the bytes that it shows."""
    if len(data) < 4 or any(byte > 0x7E or byte < 0x20 and byte not in b"\t\r\n" for byte in data[:4096]):
        return data
    found, what = hex_digits(data), "hex digits say"
    text = data.decode("ascii", "replace")
    if found is None:
        found = hex_dump(text)
    if found is None:
        found, what = base64_bytes(re.sub(r"[\r\n]", "", text)), "base64 says"
    if found is None:
        return data
    click.echo(f"amfgate: {name} is text; read as the {len(found)} bytes that its {what}", err=True)
    return found


def hex_dump(text: str) -> bytes | None:
    """The bytes of a dump with offsets; None unless each offset is the number of bytes before it."""
    found = bytearray()
    for line in text.splitlines():
        if not line.strip():
            continue
        row = _DUMP.match(line)
        if row is None or int(row[1], 16) != len(found):
            if (
                row is None
                and re.fullmatch(r"\s*(?:0x)?[0-9A-Fa-f]{4,8}:?\s*", line)
                and int(line.strip(" \t:"), 16) == len(found)
            ):
                continue  # hexdump ends with the size alone
            return None
        found += bytes.fromhex(re.sub(r"\s", "", row[2]))[:16]
    return bytes(found) or None
