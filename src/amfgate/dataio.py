"""The streams that a class which writes and reads itself is given.

`__writeamf__(self, output)` and `__readamf__(self, input)` get these; their methods are those of ActionScript's
IDataOutput and IDataInput, big-endian, and the names that users of other Python libraries know.  They read from and
write into the decoder and encoder at work, so that objects inside share its tables.
"""

from __future__ import annotations

import struct
from typing import Any

from .errors import DecodeError, EncodeError


class DataInput:
    """IDataInput over a decoder: each method reads what it names and moves on.

    DecodeError past the end of the input.  Text that is not UTF-8 keeps its bytes as lone surrogates
    (`surrogateescape`).
    """

    __slots__ = ("_decoder",)

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    @property
    def bytesAvailable(self) -> int:
        """How many bytes of the whole input are left; not all of them need be this object's."""
        return int(self._decoder.bytes_left)

    def readBoolean(self) -> bool:
        return bool(self._decoder.take(1)[0])

    def readByte(self) -> int:
        """A signed byte."""
        return int.from_bytes(self._decoder.take(1), "big", signed=True)

    def readUnsignedByte(self) -> int:
        return int(self._decoder.take(1)[0])

    def readShort(self) -> int:
        """16 bits, signed."""
        return int.from_bytes(self._decoder.take(2), "big", signed=True)

    def readUnsignedShort(self) -> int:
        return int.from_bytes(self._decoder.take(2), "big")

    def readInt(self) -> int:
        """32 bits, signed."""
        return int.from_bytes(self._decoder.take(4), "big", signed=True)

    def readUnsignedInt(self) -> int:
        return int.from_bytes(self._decoder.take(4), "big")

    def readFloat(self) -> float:
        """A 32-bit float."""
        return float(struct.unpack(">f", self._decoder.take(4))[0])

    def readDouble(self) -> float:
        return float(struct.unpack(">d", self._decoder.take(8))[0])

    def readBytes(self, length: int) -> bytes:
        return bytes(self._decoder.take(_length(length)))

    def readUTF(self) -> str:
        """Text behind its length in two bytes."""
        return self.readUTFBytes(self.readUnsignedShort())

    def readUTFBytes(self, length: int) -> str:
        """`length` bytes of UTF-8."""
        return bytes(self._decoder.take(_length(length))).decode("utf-8", "surrogateescape")

    def readMultiByte(self, length: int, charset: str) -> str:
        """`length` bytes in any of Python's encodings; DecodeError when they are not."""
        at = self._decoder.offset
        data = bytes(self._decoder.take(_length(length)))
        try:
            return data.decode(charset)
        except UnicodeDecodeError as error:
            raise DecodeError(f"{length} bytes are not {charset}: {error.reason}", at) from error

    def readObject(self) -> Any:
        """One AMF3 value."""
        return self._decoder.read_object()


class DataOutput:
    """IDataOutput over an encoder: each method writes what it names.

    EncodeError for a number or text that does not fit; nothing is cut.
    """

    __slots__ = ("_encoder",)

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def writeBoolean(self, value: bool) -> None:
        self._encoder.put(b"\x01" if value else b"\x00")

    def writeByte(self, value: int) -> None:
        """A byte, -128 to 255."""
        self._encoder.put(_integer(value & 0xFF if -128 <= value < 0 else value, 1, "a byte"))

    writeUnsignedByte = writeByte

    def writeShort(self, value: int) -> None:
        """16 bits, -32768 to 65535."""
        self._encoder.put(_integer(value & 0xFFFF if -32768 <= value < 0 else value, 2, "a short"))

    writeUnsignedShort = writeShort

    def writeInt(self, value: int) -> None:
        """32 bits, -2**31 to 2**32 - 1."""
        self._encoder.put(_integer(value & 0xFFFFFFFF if -(1 << 31) <= value < 0 else value, 4, "an int"))

    writeUnsignedInt = writeInt

    def writeFloat(self, value: float) -> None:
        """A 32-bit float; the nearest one, as ActionScript does."""
        try:
            self._encoder.put(struct.pack(">f", value))
        except (struct.error, OverflowError) as error:
            raise EncodeError(f"writeFloat: {error}") from error

    def writeDouble(self, value: float) -> None:
        try:
            self._encoder.put(struct.pack(">d", value))
        except (struct.error, OverflowError) as error:
            raise EncodeError(f"writeDouble: {error}") from error

    def writeBytes(self, data: Any, offset: int = 0, length: int = 0) -> None:
        """`data[offset:offset + length]`; a length of 0 means to the end."""
        self._encoder.put(memoryview(data).tobytes()[offset : offset + length if length else None])

    def writeUTF(self, text: str) -> None:
        """Text behind its length in two bytes: at most 65,535 bytes of UTF-8."""
        data = _utf8(text)
        if len(data) > 0xFFFF:
            raise EncodeError(f"writeUTF: text of {len(data)} bytes; its length has to fit two bytes")
        self._encoder.put(len(data).to_bytes(2, "big") + data)

    def writeUTFBytes(self, text: str) -> None:
        """Text alone, as UTF-8."""
        self._encoder.put(_utf8(text))

    def writeMultiByte(self, text: str, charset: str) -> None:
        """Text in any of Python's encodings."""
        try:
            self._encoder.put(text.encode(charset))
        except UnicodeEncodeError as error:
            raise EncodeError(f"writeMultiByte: the text cannot be written as {charset}: {error.reason}") from error

    def writeObject(self, value: Any) -> None:
        """One AMF3 value."""
        self._encoder.write_object(value)


def _length(length: int) -> int:
    if length < 0:
        raise DecodeError(f"a length of {length} bytes was asked for")
    return length


def _integer(value: int, size: int, what: str) -> bytes:
    try:
        return value.to_bytes(size, "big")
    except OverflowError:
        raise EncodeError(f"{value} does not fit {what}") from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodeError(f"text with a lone surrogate at {error.start} cannot be written as UTF-8") from error
