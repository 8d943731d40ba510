"""Writes AMF as no encoder would: longer numbers than needed, strings and traits written out again, false counts.

Everything it writes is valid.  The choices come from Hypothesis, which makes them small when it shows a failure.
"""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import strategies as st

NAMES = ("", "a", "b", "name", "ü", "$x", "$$", "0", "17", "a.b")
TEXTS = ("", "a", "b", "name", "länge", "x" * 70, b"\xff\xfe".decode("utf-8", "surrogateescape"), "0")
ALIASES = ("", "com.example.Product", "a")
DOUBLES = ("0000000000000000", "8000000000000000", "4008000000000000", "3ff8000000000000", "7ff8000000000000")
MORE_DOUBLES = ("fff8000000000001", "7ff0000000000000", "4340000000000001", "4330000000000000", "c1b0000000000000")


class Odd:
    """One stream; the tables are those of its reader."""

    def __init__(self, draw: Any, avm: bool = True) -> None:
        self.draw = draw
        self.strings: list[str] = []
        self.traits: list[tuple[str, tuple[str, ...], bool]] = []
        self.objects: list[int] = []
        self.slots = 0
        self.avm = avm

    def pick(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(0, one_in - 1)) == 0)

    def u29(self, number: int) -> bytes:
        least = 1 + (number > 0x7F) + (number > 0x3FFF) + (number > 0x1FFFFF)
        width = self.pick(range(least, 5)) if self.chance(4) else least
        if width == 4:
            return bytes(
                ((number >> 22) | 0x80, (number >> 15) & 0x7F | 0x80, (number >> 8) & 0x7F | 0x80, number & 0xFF)
            )
        return bytes((number >> 7 * n & 0x7F) | (0x80 if n else 0) for n in reversed(range(width)))

    def string3(self, text: str) -> bytes:
        places = [place for place, known in enumerate(self.strings) if known == text]
        if places and text and not self.chance(3):
            return self.u29(self.pick(places) << 1)
        data = text.encode("utf-8", "surrogateescape")
        if text:
            self.strings.append(text)
        return self.u29(len(data) << 1 | 1) + data

    def key3(self) -> bytes:
        return self.string3(self.pick([name for name in NAMES if name]))

    def end3(self) -> bytes:
        return self.u29(1)

    def value3(self, depth: int = 0) -> bytes:
        kinds = ["scalar", "integer", "double", "string", "xml", "date", "bytes", "numbers"]
        if depth < 3:
            kinds += ["array", "object", "object", "typed", "typed", "dictionary", "objects", "collection", "small"]
        if self.objects:
            kinds.append("reference")
        return bytes(getattr(self, f"_{self.pick(kinds)}3")(depth))

    def _scalar3(self, depth: int) -> bytes:
        return bytes((self.pick((0, 1, 2, 3)),))

    def _integer3(self, depth: int) -> bytes:
        return b"\x04" + self.u29(self.pick((0, 1, 0x7F, 0x80, 0x3FFF, 0x200000, 0xFFFFFFF, 0x10000000, 0x1FFFFFFF)))

    def _double3(self, depth: int) -> bytes:
        return b"\x05" + bytes.fromhex(self.pick(DOUBLES + MORE_DOUBLES))

    def _string3(self, depth: int) -> bytes:
        return b"\x06" + self.string3(self.pick(TEXTS))

    def _slot3(self, marker: int) -> None:
        self.objects.append(marker)

    def _xml3(self, depth: int) -> bytes:
        marker = self.pick((0x07, 0x0B))
        self._slot3(marker)
        data = self.pick(TEXTS).encode("utf-8", "surrogateescape")
        return bytes((marker,)) + self.u29(len(data) << 1 | 1) + data

    def _date3(self, depth: int) -> bytes:
        self._slot3(8)
        return b"\x08" + self.u29(1) + bytes.fromhex(self.pick(DOUBLES))

    def _bytes3(self, depth: int) -> bytes:
        self._slot3(0x0C)
        data = self.pick((b"", b"\x00", b"\xff" * 65))
        return b"\x0c" + self.u29(len(data) << 1 | 1) + data

    def _numbers3(self, depth: int) -> bytes:
        marker = self.pick((0x0D, 0x0E, 0x0F))
        self._slot3(marker)
        count = self.pick((0, 1, 3))
        item = bytes.fromhex(self.pick(DOUBLES + MORE_DOUBLES))
        return (
            bytes((marker,))
            + self.u29(count << 1 | 1)
            + bytes((self.pick((0, 1, 7)),))
            + item[: 4 if marker < 15 else 8] * count
        )

    def _array3(self, depth: int) -> bytes:
        self._slot3(9)
        count = self.pick((0, 1, 2))
        head = b"\x09" + self.u29(count << 1 | 1)
        for _ in range(self.pick((0, 0, 1, 2))):
            head += self.key3()
            head += self.value3(depth + 1)
        return head + self.end3() + b"".join(self.value3(depth + 1) for _ in range(count))

    def _object3(self, depth: int) -> bytes:
        return self._typed3(depth, ("", (), True))

    def _typed3(self, depth: int, traits: Any = None) -> bytes:
        if traits is None:
            names = self.pick(((), ("a",), ("a", "b"), ("a", "a"), ("",)))
            traits = (self.pick(ALIASES), names, self.chance(2))
        places = [place for place, known in enumerate(self.traits) if known == traits]
        alias, names, dynamic = traits
        if places and not self.chance(3):
            head = b"\x0a" + self.u29(self.pick(places) << 2 | 1)
        else:
            self.traits.append(traits)
            head = b"\x0a" + self.u29(len(names) << 4 | dynamic << 3 | 3) + self.string3(alias)
            head += b"".join(map(self.string3, names))
        self._slot3(0x0A)
        for _ in names:
            head += self.value3(depth + 1)
        if dynamic:
            for _ in range(self.pick((0, 1, 2))):
                head += self.key3()
                head += self.value3(depth + 1)
            head += self.end3()
        return head

    def _dictionary3(self, depth: int) -> bytes:
        self._slot3(0x11)
        count = self.pick((0, 1, 2))
        head = b"\x11" + self.u29(count << 1 | 1) + bytes((self.pick((0, 1, 2)),))
        return head + b"".join(self.value3(depth + 1) for _ in range(2 * count))

    def _objects3(self, depth: int) -> bytes:
        self._slot3(0x10)
        count = self.pick((0, 1, 2))
        head = b"\x10" + self.u29(count << 1 | 1) + bytes((self.pick((0, 1, 3)),)) + self.string3(self.pick(ALIASES))
        return head + b"".join(self.value3(depth + 1) for _ in range(count))

    def _collection3(self, depth: int) -> bytes:
        alias = f"flex.messaging.io.{self.pick(('ArrayCollection', 'ObjectProxy', 'ArrayListExt'))}"
        return self._external3(alias, self.pick((0, 0, 1, 3))) + self.value3(depth + 1)

    def _external3(self, alias: str, bits: int) -> bytes:
        self.traits.append((alias, (), True))  # never equal to one of those above
        self._slot3(0x0A)
        return b"\x0a" + self.u29(bits << 3 | 7) + self.string3(alias)

    def _small3(self, depth: int) -> bytes:
        head = self._external3("DSK", 0)
        flags = self.pick((b"\x00", b"\x01", b"\x81\x01", b"\xa1\x80\x00"))
        fields = sum(bin(byte & 0x7F).count("1") for byte in flags)
        head += flags + b"".join(self.value3(depth + 1) for _ in range(fields))
        return head + self.pick((b"\x00", b"\x01\x04\x05")) + self.pick((b"\x00", b"\x04\x01"))

    def _reference3(self, depth: int) -> bytes:
        place = self.draw(st.integers(0, len(self.objects) - 1))
        marker = self.objects[place] if not self.chance(3) else self.pick((0x09, 0x0A, 0x08, 0x11))
        return bytes((marker,)) + self.u29(place << 1)

    # --- AMF0

    def text0(self, texts: Any = NAMES) -> bytes:
        data = self.pick(texts).encode("utf-8", "surrogateescape")
        return struct.pack(">H", len(data)) + data

    def value0(self, depth: int = 0) -> bytes:
        kinds = ["number", "boolean", "string", "nothing", "date", "long", "xml"]
        if depth < 3:
            kinds += ["object", "ecma", "array", "typed"]
        if self.avm:
            kinds.append("avm")
        if self.slots:
            kinds.append("reference")
        return bytes(getattr(self, f"_{self.pick(kinds)}0")(depth))

    def _number0(self, depth: int) -> bytes:
        return b"\x00" + bytes.fromhex(self.pick(DOUBLES + MORE_DOUBLES))

    def _boolean0(self, depth: int) -> bytes:
        return b"\x01" + bytes((self.pick((0, 1, 2, 255)),))

    def _string0(self, depth: int) -> bytes:
        return b"\x02" + self.text0(TEXTS)

    def _nothing0(self, depth: int) -> bytes:
        return bytes((self.pick((5, 6, 13)),))

    def _date0(self, depth: int) -> bytes:
        return b"\x0b" + bytes.fromhex(self.pick(DOUBLES)) + self.pick((b"\x00\x00", b"\xff\xc4", b"\x00\xf0"))

    def _long0(self, depth: int) -> bytes:
        data = self.pick(TEXTS).encode("utf-8", "surrogateescape")
        return b"\x0c" + struct.pack(">I", len(data)) + data

    def _xml0(self, depth: int) -> bytes:
        self.slots += 1
        return b"\x0f" + self._long0(depth)[1:]

    def _members0(self, depth: int) -> bytes:
        data = b""
        for _ in range(self.pick((0, 1, 2, 3))):
            data += self.text0() + self.value0(depth + 1)
        return data + b"\x00\x00\x09"

    def _object0(self, depth: int) -> bytes:
        self.slots += 1
        return b"\x03" + self._members0(depth)

    def _ecma0(self, depth: int) -> bytes:
        self.slots += 1
        return b"\x08" + struct.pack(">I", self.pick((0, 1, 3, 0xFFFFFFFF))) + self._members0(depth)

    def _typed0(self, depth: int) -> bytes:
        alias = self.text0(ALIASES)
        self.slots += 1
        return b"\x10" + alias + self._members0(depth)

    def _array0(self, depth: int) -> bytes:
        self.slots += 1
        count = self.pick((0, 1, 2))
        return b"\x0a" + struct.pack(">I", count) + b"".join(self.value0(depth + 1) for _ in range(count))

    def _avm0(self, depth: int) -> bytes:
        return b"\x11" + self.value3(depth + 1)

    def _reference0(self, depth: int) -> bytes:
        return b"\x07" + struct.pack(">H", self.draw(st.integers(0, self.slots - 1)))


@st.composite
def odd_values(draw: Any, amf: int) -> bytes:
    """One to three values with one set of tables."""
    odd = Odd(draw)
    write = odd.value3 if amf == 3 else odd.value0
    return b"".join(write() for _ in range(draw(st.integers(1, 3))))


@st.composite
def odd_packets(draw: Any) -> bytes:
    """A packet with wrong lengths, odd flags and odd values."""

    def length(value: bytes) -> bytes:
        return struct.pack(">I", draw(st.sampled_from((len(value), 0, 1, 0xFFFFFFFF, 5))))

    headers = b""
    header_count = draw(st.integers(0, 2))
    for _ in range(header_count):
        odd = Odd(draw)
        value = odd.value0(1)
        headers += odd.text0() + draw(st.sampled_from((b"\x00", b"\x01", b"\x02"))) + length(value) + value
    bodies = b""
    body_count = draw(st.integers(0, 2))
    for _ in range(body_count):
        odd = Odd(draw)
        value = odd.value0()
        target = draw(st.sampled_from((b"shop.page", b"null", b"/1/onResult")))
        bodies += struct.pack(">H", len(target)) + target + odd.text0() + length(value) + value
    version = draw(st.sampled_from((b"\x00\x00", b"\x00\x01", b"\x00\x03")))
    return version + struct.pack(">H", header_count) + headers + struct.pack(">H", body_count) + bodies


@st.composite
def odd_shared_objects(draw: Any) -> bytes:
    """A shared object whose values are odd; its length is right, which the decoder demands."""
    odd = Odd(draw, avm=False)
    amf = draw(st.sampled_from((0, 3)))
    odd.slots = 1
    body = b"TCSO\x00\x04\x00\x00\x00\x00\x00\x04save\x00\x00\x00" + bytes((amf,))
    for _ in range(draw(st.integers(0, 4))):
        body += (odd.key3() + odd.value3() if amf == 3 else odd.text0() + odd.value0()) + b"\x00"
    return b"\x00\xbf" + struct.pack(">I", len(body)) + body
