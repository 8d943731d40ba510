"""BlazeDS's small messages: the Flex messages of a busy channel in a form that saves bytes.

`DSA`, `DSC` and `DSK` are AsyncMessage, CommandMessage and AcknowledgeMessage written as externalizables.  A message
is a run of blocks, one for each class of its ancestry; a block is its flag bytes (all of them first, 80 = one more
follows) and then the fields whose bits are set, byte by byte, lowest bit first.  Absent fields are null, or 0.

Ids travel as 16 bytes where they can: here they are upper-case UUID text both ways.  Bits that nobody has assigned yet
stand for one value each, which is read and dropped, so that a newer server can be understood.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from ..classes import register_builtin
from ..errors import EncodeError
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

_ABSENT: Final[dict[str, Any]] = {"timestamp": 0, "timeToLive": 0, "operation": 0}
_IDS: Final = ("clientId", "messageId", "correlationId")
_LAST_ASSIGNABLE: Final = 0x20  # 40 is a field in the first flag byte of a message, and means nothing in any other


class SmallMessage(TypedObject):
    """A small message: a dict of the members of the long one, with the alias "DSA", "DSC" or "DSK".

    All members are there after reading, null or 0 if they were not sent.  Writing leaves out what is None or 0,
    and members that the small form has no place for.

        SmallMessage("DSK", {"correlationId": request["messageId"], "body": result})
    """

    __slots__ = ()

    def __readamf__(self, input: Any) -> None:
        blocks = _BLOCKS[self.alias]
        self.sealed, self.dynamic = None, False
        for block in blocks:
            for names in block:
                for name in names:
                    if not name.endswith("Bytes"):
                        self[name] = _ABSENT.get(name)
        for block in blocks:
            flags = [input.readUnsignedByte()]
            while flags[-1] & 0x80:
                flags.append(input.readUnsignedByte())
            for place, byte in enumerate(flags):
                names = block[place] if place < len(block) else ()
                for bit in range(7):
                    mask = 1 << bit
                    if not byte & mask:
                        continue
                    if bit >= len(names):
                        if mask <= _LAST_ASSIGNABLE:
                            input.readObject()
                        continue
                    name, value = names[bit], input.readObject()
                    if name.endswith("Bytes"):
                        name = name.removesuffix("Bytes")
                        if isinstance(value, bytes) and len(value) == 16:
                            value = str(UUID(bytes=value)).upper()
                    self[name] = value

    def __writeamf__(self, output: Any) -> None:
        blocks = _BLOCKS.get(self.alias)
        if blocks is None:
            raise EncodeError(f"a small message is DSA, DSC or DSK, not {self.alias!r}")
        for block in blocks:
            flags: list[int] = []
            fields: list[Any] = []
            for names in block:
                byte = 0
                for bit, name in enumerate(names):
                    member = name.removesuffix("Bytes")
                    value = self.get(member)
                    if value is None or member in _ABSENT and value == 0:
                        continue
                    if member in _IDS:
                        packed = _packed(value)
                        if (packed is None) == (member != name):
                            continue  # the other of the two bits says it
                        value = value if packed is None else packed
                    byte |= 1 << bit
                    fields.append(value)
                flags.append(byte)
            while len(flags) > 1 and not flags[-1]:
                flags.pop()
            for byte in flags[:-1]:
                output.writeByte(byte | 0x80)
            output.writeByte(flags[-1])
            for value in fields:
                output.writeObject(value)


def _packed(identifier: Any) -> bytes | None:
    """The 16 bytes of canonical upper-case UUID text; None for any other id, which then travels as it is."""
    if isinstance(identifier, UUID):
        return identifier.bytes
    if type(identifier) is not str or len(identifier) != 36:
        return None
    try:
        packed = UUID(identifier)
    except ValueError:
        return None
    return packed.bytes if str(packed).upper() == identifier else None


register_builtin(SmallMessage, *_BLOCKS)
del _short, _name, _package
