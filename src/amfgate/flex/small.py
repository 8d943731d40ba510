"""BlazeDS's small messages: the Flex messages of a busy channel in a form that saves bytes.

`DSA`, `DSC` and `DSK` are AsyncMessage, CommandMessage and AcknowledgeMessage written as externalizables.  A message
is a run of blocks, one for each class of its ancestry; a block is its flag bytes (all of them first, 80 = one more
follows) and then the fields whose bits are set, byte by byte, lowest bit first.  Absent fields are null, or 0.

Ids travel as 16 bytes where they can: here they are upper-case UUID text both ways.  Bits that nobody has assigned yet
stand for one value each, which is read and dropped, so that a newer server can be understood.
"""

from __future__ import annotations

import re
from typing import Any, Final
from uuid import UUID

from ..classes import register_builtin
from ..errors import DecodeError, EncodeError
from ..types import TypedObject

# A block is a tuple of flag bytes, a flag byte the names of its bits from 01 upwards.  "...Bytes" is the id of that
# name as 16 bytes.
Block = tuple[tuple[str, ...], ...]

_ABSTRACT: Final[Block] = (
    ("body", "clientId", "destination", "headers", "messageId", "timestamp", "timeToLive"),
    ("clientIdBytes", "messageIdBytes"),
)
_ASYNC: Final[Block] = (("correlationId", "correlationIdBytes"),)
_COMMAND: Final[Block] = (("operation",),)
_ACKNOWLEDGE: Final[Block] = ((),)  # nothing of its own, but its flag byte is there

_BLOCKS: Final[dict[str, tuple[Block, ...]]] = {
    "DSA": (_ABSTRACT, _ASYNC),
    "DSC": (_ABSTRACT, _ASYNC, _COMMAND),
    "DSK": (_ABSTRACT, _ASYNC, _ACKNOWLEDGE),
}
for _short, _name in (("DSA", "AsyncMessageExt"), ("DSC", "CommandMessageExt"), ("DSK", "AcknowledgeMessageExt")):
    for _package in ("flex.messaging.messages", "flex.messaging.io"):
        _BLOCKS[f"{_package}.{_name}"] = _BLOCKS[_short]

_NUMBERS: Final = ("timestamp", "timeToLive", "operation")  # of which 0 is not sent
_IDS: Final = ("clientId", "messageId", "correlationId")
_AS_BYTES: Final = dict.fromkeys(_IDS, False) | {f"{name}Bytes": True for name in _IDS}
_LAST_ASSIGNABLE: Final = 0x20  # 40 is a field in the first flag byte of a message, and means nothing in any other
_MOST_FLAGS: Final = 32  # flag bytes of one block, of which there are 2; they are no values, so no limit counts them

# The same once more, as it is worked with: a member's name, and whether it is there as 16 bytes (True), as the id that
# it is (False), or no id (None).
_FIELDS: Final[dict[str, Any]] = {
    alias: [
        [[(name.removesuffix("Bytes"), _AS_BYTES.get(name)) for name in names] for names in block] for block in blocks
    ]
    for alias, blocks in _BLOCKS.items()
}

# What a message has of which nothing was sent.
_EMPTY: Final[dict[str, dict[str, Any]]] = {
    alias: {member: 0 if member in _NUMBERS else None for block in blocks for fields in block for member, _ in fields}
    for alias, blocks in _FIELDS.items()
}

# An id that 16 bytes can stand for: read again, it is the same text.
_CANONICAL: Final = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}")


class SmallMessage(TypedObject):
    """A small message: a dict of the members of the long one, with the alias "DSA", "DSC" or "DSK".

    All members are there after reading, null or 0 if they were not sent.  Writing leaves out what is None or 0,
    and members that the small form has no place for.

        SmallMessage("DSK", {"correlationId": request["messageId"], "body": result})
    """

    __slots__ = ()

    def __readamf__(self, input: Any) -> None:
        self.sealed, self.dynamic = None, False
        self.update(_EMPTY[self.alias])
        for block in _FIELDS[self.alias]:
            flags = [input.readUnsignedByte()]
            while flags[-1] & 0x80:
                if len(flags) == _MOST_FLAGS:
                    raise DecodeError(f"more than {_MOST_FLAGS} flag bytes in one block of a small message")
                flags.append(input.readUnsignedByte())
            for place, byte in enumerate(flags):
                fields = block[place] if place < len(block) else ()
                for bit in range(7):
                    mask = 1 << bit
                    if not byte & mask:
                        continue
                    if bit < len(fields):
                        member, packed = fields[bit]
                        value = input.readObject()
                        self[member] = _unpacked(value) if packed else value
                    elif mask <= _LAST_ASSIGNABLE:
                        input.readObject()

    def __writeamf__(self, output: Any) -> None:
        blocks = _FIELDS.get(self.alias)
        if blocks is None:
            raise EncodeError(f"a small message is DSA, DSC or DSK, not {self.alias!r}")
        ids = {member: _packed(self.get(member)) for member in _IDS}
        for block in blocks:
            flags = bytearray()
            values: list[Any] = []
            for fields in block:
                byte = 0
                for bit, (member, packed) in enumerate(fields):
                    value = self.get(member)
                    if value is None:
                        continue
                    if packed is None:
                        if member in _NUMBERS and value == 0:
                            continue
                    elif packed is (ids[member] is None):
                        continue  # the other of the two bits says it
                    elif packed:
                        value = ids[member]
                    byte |= 1 << bit
                    values.append(value)
                flags.append(byte | 0x80)
            while len(flags) > 1 and flags[-1] == 0x80:
                flags.pop()
            flags[-1] &= 0x7F
            output.writeBytes(flags)
            for value in values:
                output.writeObject(value)


def _packed(identifier: Any) -> bytes | None:
    """The 16 bytes of canonical upper-case UUID text; None for any other id, which then travels as it is."""
    if type(identifier) is str:
        return bytes.fromhex(identifier.replace("-", "")) if _CANONICAL.fullmatch(identifier) else None
    return identifier.bytes if isinstance(identifier, UUID) else None


def _unpacked(data: Any) -> Any:
    """The text of an id of 16 bytes; anything else as it is."""
    if not isinstance(data, bytes) or len(data) != 16:
        return data
    digits = data.hex().upper()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


register_builtin(SmallMessage, *_BLOCKS)
del _short, _name, _package
