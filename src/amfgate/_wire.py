"""What both twins must agree on: markers, limits, and the rule of adaptive strings.

Data is shared and traversal is written twice: a table copied into each twin would drift.

Adaptive strings
----------------
A string that was written before may be written again as a reference.  Looking for repeats costs time, and a column of
distinct strings (names, ids, notes) has none.  With `strings="adaptive"` an AMF3 encoder stops looking where
looking does not pay.  A *column* is a place in the row: the n-th member of an object, or the n-th item of an array,
at one depth of nesting.  Places from `COLUMN_PLACES - 1` on are one column, so a flat array of strings is one too;
deeper than `COLUMN_DEPTHS` every string is looked up.  A column belongs to what names its values: the member
name at that place of a dynamic object, the traits of a sealed one, or nothing for an array.  When something else names
the values of a place, its column starts anew.  The column counts the strings that were looked up and those that were
found; at `COLUMN_SAMPLE` looked up, if fewer than one in `COLUMN_WORTH` was found, the column is off: its
strings are written out, neither looked up nor kept to be found (each still takes a number, since every reader gives it
one); otherwise both counts go back to 0.  All columns
start anew with each call of `encode`.  Keys, aliases and member names are always looked up, "" never, and only a
string that is a direct member or item belongs to a column: dictionary keys and values, the items of vectors and what
externalizables write are looked up always.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# AMF0 markers (AMF0 specification, 2.1)
A0_NUMBER: Final = 0x00
A0_BOOLEAN: Final = 0x01
A0_STRING: Final = 0x02
A0_OBJECT: Final = 0x03
A0_MOVIECLIP: Final = 0x04
A0_NULL: Final = 0x05
A0_UNDEFINED: Final = 0x06
A0_REFERENCE: Final = 0x07
A0_ECMA_ARRAY: Final = 0x08
A0_OBJECT_END: Final = 0x09
A0_STRICT_ARRAY: Final = 0x0A
A0_DATE: Final = 0x0B
A0_LONG_STRING: Final = 0x0C
A0_UNSUPPORTED: Final = 0x0D
A0_RECORDSET: Final = 0x0E
A0_XML: Final = 0x0F
A0_TYPED_OBJECT: Final = 0x10
A0_AVMPLUS: Final = 0x11

# AMF3 markers (AMF3 specification, 3.1)
A3_UNDEFINED: Final = 0x00
A3_NULL: Final = 0x01
A3_FALSE: Final = 0x02
A3_TRUE: Final = 0x03
A3_INTEGER: Final = 0x04
A3_DOUBLE: Final = 0x05
A3_STRING: Final = 0x06
A3_XMLDOC: Final = 0x07
A3_DATE: Final = 0x08
A3_ARRAY: Final = 0x09
A3_OBJECT: Final = 0x0A
A3_XML: Final = 0x0B
A3_BYTEARRAY: Final = 0x0C
A3_VECTOR_INT: Final = 0x0D
A3_VECTOR_UINT: Final = 0x0E
A3_VECTOR_DOUBLE: Final = 0x0F
A3_VECTOR_OBJECT: Final = 0x10
A3_DICTIONARY: Final = 0x11

# The markers of AMF3 that start a value with a slot in the object table, by the kind of a Vector.
VECTOR_MARKERS: Final = {"int": 0x0D, "uint": 0x0E, "double": 0x0F, "object": 0x10}
VECTOR_NAMES: Final = {marker: kind for kind, marker in VECTOR_MARKERS.items()}

INT29_MIN: Final = -(1 << 28)
INT29_MAX: Final = (1 << 28) - 1
U29_MAX: Final = (1 << 29) - 1
LENGTH_MAX: Final = (1 << 28) - 1  # a U29 with its lowest bit taken: the longest AMF3 string, byte array or array
EXACT_INT: Final = 1 << 53  # beyond +-2^53 a double no longer holds every int
INDEX_END: Final = (1 << 32) - 1  # array indices of ActionScript end before this (ECMA-262 3rd edition, 15.4)
AMF0_SLOTS: Final = 1 << 16  # an AMF0 reference is a u16: later values have no slot
AMF0_KEY_MAX: Final = 65_535  # a key's length is a u16

COLUMN_PLACES: Final = 32
COLUMN_DEPTHS: Final = 16
COLUMN_SAMPLE: Final = 64
COLUMN_WORTH: Final = 8

# What a service's own __readamf__ or __writeamf__ may nest before it counts as too deep.  Each level costs several
# Python frames in either twin; 32 levels fit on a stack that is 500 frames deep already.
EXTERNAL_DEPTH: Final = 32

# The most that Limits(max_depth=...) may ask for.  The compiled twin recurses in C, where a level was measured to take
# 270 to 850 bytes: 4,096 levels take less than half of the 8 MiB stack of a thread on Linux.
DEPTH_CEILING: Final = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for.  Each is a count of at least 1; None lifts it (not `max_depth`).

    `max_body`: bytes of a request, unpacked.  `max_depth`: how deep values nest, at most 4096.  `max_values`: values in
    one body, each member and item counted, and each default that a class fills in.  `max_bodies`: calls in one packet.

    The defaults are what a gateway uses: 16 MiB holds the largest result set that anybody sends by Flash
    remoting, 512 is eight times the deepest save game seen, a million values decode in a second, and a
    client that sends more than 100 calls in one frame is not a program of anybody's.
    """

    max_body: int | None = 16 * 1024 * 1024
    max_depth: int = 512
    max_values: int | None = 1_000_000
    max_bodies: int | None = 100

    def __post_init__(self) -> None:
        for name in ("max_body", "max_depth", "max_values", "max_bodies"):
            value = getattr(self, name)
            if value is None and name != "max_depth":
                continue
            if type(value) is not int:
                raise TypeError(f"Limits({name}=...) is a whole number, not {value!r}")
            if value < 1:
                raise ValueError(f"Limits({name}={value}): it has to be at least 1")
        if self.max_depth > DEPTH_CEILING:
            raise ValueError(
                f"Limits(max_depth={self.max_depth}): more than {DEPTH_CEILING} does not fit on a thread's stack"
            )


DEPTH_ALONE: Final = Limits(max_body=None, max_values=None, max_bodies=None)
"""What `limits=None` means for `dumps` and `loads`: trusted size, bounded depth."""


def check_options(
    version: object,
    limits: object,
    *,
    classes: object = None,
    default: object = None,
    strings: object = "all",
    big_ints: object = "error",
    decimals: object = "float",
    dates: object = "datetime",
) -> None:
    """The options of encoders and decoders, checked once: ValueError says which values there are."""
    if type(version) is not int or version not in (0, 3):
        raise ValueError(f"version is 0 (AMF0) or 3 (AMF3), not {version!r}")
    if limits is not None and not isinstance(limits, Limits):
        raise ValueError(f"limits is an amfgate.Limits or None, not {limits!r}")
    if classes is not None and not hasattr(classes, "plan_for"):
        raise ValueError(f"classes is an amfgate.ClassRegistry or None, not {classes!r}")
    if default is not None and not callable(default):
        raise ValueError(f"default is a function or None, not {default!r}")
    for name, value, choices in (
        ("strings", strings, ("adaptive", "all")),
        ("big_ints", big_ints, ("error", "float", "string")),
        ("decimals", decimals, ("float", "string")),
        ("dates", dates, ("datetime", "ms")),
    ):
        if value not in choices:
            raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
