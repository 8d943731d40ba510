"""PyAMF's `amf3`: ByteArray, and the streams that an externalizable class is given."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...codec import Decoder, Encoder
from ...dataio import DataInput, DataOutput
from ...errors import DecodeError

__all__ = ["ByteArray", "DataInput", "DataOutput"]


class ByteArray(bytearray):
    """`flash.utils.ByteArray`: bytes with a position, which the methods of IDataInput and IDataOutput move on.

    It is a bytearray, and travels as one.  Bytes that look compressed stay as they are until `uncompress` is called.
    """

    def __init__(self, data: Any = b"") -> None:
        super().__init__(data.getvalue() if hasattr(data, "getvalue") else data or b"")
        self.position = 0

    if TYPE_CHECKING:  # the methods of the streams, which are put in below

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def getvalue(self) -> bytes:
        return bytes(self)

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, or as many as there are; all by default."""
        end = len(self) if size < 0 else self.position + size
        data = bytes(self[self.position : end])
        self.position += len(data)
        return data

    def write(self, data: Any) -> int:
        """Put bytes at the position, over what is there; text as UTF-8."""
        data = data.encode("utf-8") if isinstance(data, str) else bytes(data)
        self[len(self) : self.position] = bytes(max(0, self.position - len(self)))
        self[self.position : self.position + len(data)] = data
        self.position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self.position = max(0, (0, self.position, len(self))[whence] + offset)
        return self.position

    def tell(self) -> int:
        return self.position

    def truncate(self, size: int = 0) -> None:
        del self[size:]
        self.position = min(self.position, len(self))

    def remaining(self) -> int:
        """How many bytes are left behind the position."""
        return max(0, len(self) - self.position)

    def at_eof(self) -> bool:
        return self.remaining() == 0

    def peek(self, size: int = 1) -> bytes:
        return bytes(self[self.position : self.position + size])

    def compress(self) -> None:
        """Replace the bytes by their zlib form, as ActionScript's `compress()`."""
        self[:] = zlib.compress(self, 9)
        self.position = len(self)

    def uncompress(self) -> None:
        """Replace the bytes by what they are the zlib form of; DecodeError if they are not.

        There is no limit to how much that is: for data of a stranger use `zlib.decompressobj`.
        """
        try:
            self[:] = zlib.decompress(self)
        except zlib.error as error:
            raise DecodeError(f"the bytes are not compressed by zlib: {error}") from error
        self.position = 0

    @property
    def bytesAvailable(self) -> int:
        return self.remaining()

    # What DataInput and DataOutput ask of a decoder and an encoder.

    @property
    def offset(self) -> int:
        return self.position

    @property
    def bytes_left(self) -> int:
        return self.remaining()

    def take(self, count: int) -> bytes:
        if count > self.remaining():
            raise DecodeError(f"{count} bytes are wanted, {self.remaining()} are left", self.position)
        return self.read(count)

    put = write

    def read_object(self) -> Any:
        from .values import translate  # which makes byte arrays itself

        decoder = Decoder(bytes(self), version=3, offset=self.position)
        try:
            value = decoder.decode()
        except EOFError:
            raise DecodeError("there is no value", self.position) from None
        self.position = decoder.offset
        return translate(value)

    def write_object(self, value: Any) -> None:
        self.write(Encoder(version=3, strings="all").encode(value))


def _delegate(stream: type, name: str) -> Callable[..., Any]:
    """A method of ByteArray that is `name` of DataInput or DataOutput over it."""
    function = getattr(stream, name)

    def method(self: ByteArray, *args: Any) -> Any:
        return function(stream(self), *args)

    method.__name__, method.__doc__ = name, function.__doc__
    return method


for _stream, _prefix in ((DataInput, "read"), (DataOutput, "write")):
    for _name in vars(_stream):
        if _name.startswith(_prefix):
            setattr(ByteArray, _name, _delegate(_stream, _name))
del _stream, _prefix, _name
