"""What is this?  A packet, a shared object, a value of AMF0 or AMF3, several of them, an RTMP command, or no AMF.

No byte of AMF says which AMF it is: `06` is undefined in AMF0 and begins a string in AMF3.  So every reading is tried,
and one that takes all bytes to the end wins; the answer says why, and names other readings that are possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ..errors import DecodeError
from ..looks import first_bytes, looks_like
from ..packet import VERSIONS
from . import salvage
from .frames import read_packet, read_sol, read_values
from .nodes import Damage, Node

HIGHEST: Final = 0x11  # the highest marker of either format
NEARBY: Final = 64  # offsets at which a value is looked for behind a head of unknown form


@dataclass(frozen=True, slots=True)
class Found:
    """An answer.

    kind: "packet", "sol", "amf0", "amf3", "rtmp" (a command: AMF0 behind a byte 00), or "" when it is no AMF.
    why: one sentence on how that was seen, or what it looks like instead.
    root: what was read; None when it is no AMF.
    also: other readings that take all of the bytes.
    """

    kind: str
    why: str
    root: Node | None = None
    also: tuple[str, ...] = field(default=())

    @property
    def damages(self) -> list[Damage]:
        """What could not be read, in the order of the bytes."""
        return [] if self.root is None else list(self.root.more["damages"])


def what(
    data: bytes,
    *,
    amf: int | None = None,
    tolerant: bool = True,
    offset: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Found:
    """Say what `data` is, and read it.

    amf: 0 or 3 insists on values of that format; offset: where they begin, in front of which nothing is looked at.
    tolerant: go on after damage, and tell it in `damages`; otherwise DecodeError at the first.
    progress: called with the offset now and then.
    """
    if amf is not None or offset:
        version = amf if amf is not None else _better(data, offset)
        root = read_values(data, version, at=offset, tolerant=tolerant, progress=progress)
        return Found(f"amf{version}", f"AMF{version}, because that was asked for" if amf is not None else "", root)
    if not data:
        return Found("", "nothing: the input is empty")
    if data[:2] == b"\x00\xbf" and data[6:10] == b"TCSO":
        root = read_sol(data, tolerant=tolerant, progress=progress)
        return Found("sol", "it begins with 00 BF and has TCSO at offset 6", root)
    if data[:2] == b"\x00\xbf" and b"TCSO".startswith(data[6:10]):
        return Found("", f"no AMF: a shared object begins so, but this ends after {len(data)} bytes")
    if data[0] > HIGHEST:
        return _something_else(data)
    found = _whole(data, progress)
    if found is None or found.root is not None and len(found.root.children) > 1 and found.kind.startswith("amf"):
        # A packet with bytes too many may pass for a run of numbers, but not the other way round.
        found = _damaged(data, tolerant, progress, found)
    return found or _something_else(data)


def _whole(data: bytes, progress: Callable[[int], None] | None) -> Found | None:
    """The best of the readings that take every byte."""
    readings: list[tuple[int, Found]] = []
    if int.from_bytes(data[:2], "big") in VERSIONS and len(data) >= 6:
        try:
            root = read_packet(data, progress=progress)
        except DecodeError:
            pass
        else:
            why = f"version word {root.more['version']}, and its headers and bodies end where the input does"
            if root.children:
                return Found("packet", why, root)
            readings.append((3, Found("packet", why, root)))
    if data[:2] == b"\x00\x02":
        try:
            root = read_values(data, 0, at=1, progress=progress)
        except DecodeError:
            pass
        else:
            if [child.kind for _, child in root.children[:2]] == ["string", "number"]:
                why = "a byte 00, then AMF0 that begins with a name and a number: an RTMP command (message type 17)"
                readings.append((1, Found("rtmp", why, root)))
    for amf in (3, 0):
        try:
            root = read_values(data, amf, progress=progress)
        except DecodeError:
            continue
        kinds = [child.kind for _, child in root.children]
        if len(kinds) == 1:
            readings.append(
                (2, Found(f"amf{amf}", f"one value of AMF{amf}, a{_article(kinds[0])} {kinds[0]}, to the end", root))
            )
        else:
            why = f"{len(kinds)} values of AMF{amf} one after another, to the end"
            if amf == 0 and kinds[:2] == ["string", "number"]:
                why += "; a name, then a number, as in an RTMP command (message type 20)"
            readings.append((3 + len(kinds), Found(f"amf{amf}", why, root)))
    if not readings:
        return None
    readings.sort(key=lambda reading: reading[0])
    best = readings[0][1]
    also = tuple(found.why for rank, found in readings[1:] if rank < 6)
    return Found(best.kind, best.why, best.root, also)


def _damaged(data: bytes, tolerant: bool, progress: Callable[[int], None] | None, values: Found | None) -> Found | None:
    """A packet with damage, else `values`, else the reading that gets furthest, if it gets anywhere."""
    if _may_be_packet(data):
        root = read_packet(data, tolerant=tolerant, progress=progress)
        return Found(
            "packet", f"version word {root.more['version']} and the name of a header or call, but damaged", root
        )
    if values is not None:
        return values
    reached = {amf: _reaches(data, amf) for amf in (0, 3)}
    amf = max(reached, key=lambda each: reached[each])
    if reached[amf] < 4 or reached[amf] * 8 < len(data) < 4096:
        return None
    if looks_like(data) and reached[amf] * 2 < len(data):
        return None
    root = read_values(data, amf, tolerant=tolerant, progress=progress)
    return Found(f"amf{amf}", f"it reads as AMF{amf} up to offset {reached[amf]}, and is damaged there", root)


def _may_be_packet(data: bytes) -> bool:
    """A version word, and the name of the first header or target of the first body where it has to be?"""
    if int.from_bytes(data[:2], "big") not in VERSIONS or len(data) < 8:
        return False
    headers = int.from_bytes(data[2:4], "big")
    return salvage.name_end(data, 6 if headers == 0 else 4, len(data)) > 0


def _reaches(data: bytes, amf: int, at: int = 0) -> int:
    """The offset up to which it reads as values of that format."""
    try:
        read_values(data, amf, at=at)
    except DecodeError as error:
        return error.offset or 0
    return len(data)


def _better(data: bytes, at: int) -> int:
    """The format that reads further from an offset on; AMF3 if both do."""
    return 0 if _reaches(data, 0, at) > _reaches(data, 3, at) else 3


def _something_else(data: bytes) -> Found:
    guess = looks_like(data)
    why = f"no AMF: it looks like {guess}" if guess else f"no AMF that can be seen; it begins with {first_bytes(data)}"
    if not guess and len(data) < 1 << 14:
        for at in range(1, min(NEARBY, len(data) - 4)):
            for amf in (0, 3):
                if data[at] in salvage.TELLING[amf] and _reaches(data, amf, at) == len(data):
                    return Found(
                        "", f"{why}; from offset {at} on it reads as AMF{amf} to the end (--offset {at} --amf{amf})"
                    )
    return Found("", why)


def _article(word: str) -> str:
    return "n" if word[0] in "aeiou" else ""
