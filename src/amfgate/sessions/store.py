"""What a store of sessions has to offer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol


class SessionStore(Protocol):
    """Keeps, for each key, named fields of bytes, for a time.  What is in them is none of its business.

    Keys are text of 64 hexadecimal digits, names of fields text.  Times are seconds from now.  A method that cannot do
    what it should raises; the calls that needed it are answered by a fault.  Methods are called by many threads at
    once, and in Redis by many processes: each is one step that others see as a whole or not at all.
    """

    one_process: bool
    """Whether another process would not find what this one has saved."""

    def load(self, key: str) -> tuple[dict[str, bytes], float] | None:
        """The fields, and the seconds that they will be kept; None if there is nothing, or no longer."""
        ...

    def save(
        self, key: str, changed: Mapping[str, bytes], removed: Collection[str], seconds: float, *, new: bool
    ) -> bool:
        """Write some fields, take others out, leave the rest, and keep all of it for `seconds`.

        Without `new` nothing is written where there is nothing (any more): False then, True otherwise.
        """
        ...

    def touch(self, key: str, seconds: float) -> None:
        """Keep what there is for `seconds`."""
        ...

    def delete(self, key: str) -> None:
        """Forget what there is, if anything."""
        ...

    def secret(self) -> bytes:
        """Random bytes, the same for everybody who uses this store, for as long as it remembers anything."""
        ...
