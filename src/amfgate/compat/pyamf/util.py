"""PyAMF's `util`: the stream that `encode` gives."""

from __future__ import annotations

import io


class BufferedByteStream(io.BytesIO):
    """A BytesIO that knows how long it is."""

    def __len__(self) -> int:
        return len(self.getbuffer())

    def remaining(self) -> int:
        """How many bytes are left behind the position."""
        return max(0, len(self) - self.tell())

    def at_eof(self) -> bool:
        """Is the position at the end?"""
        return self.remaining() == 0

    def peek(self, size: int = 1) -> bytes:
        """The next `size` bytes, the position unchanged."""
        place = self.tell()
        data = self.read(size)
        self.seek(place)
        return data
