"""Sessions in the memory of this process."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Collection, Mapping
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Final

from ..log import logger

SWEPT: Final = 4  # sessions that have expired, forgotten with each one that is saved


class MemoryStore:
    """Keeps sessions in this process: for one that serves alone, for development and tests.

        Gateway(app, services, sessions=MemoryStore())

    They are gone when it ends.  A server with several worker processes needs a store that they share, `RedisStore`:
    each worker has a MemoryStore of its own, and knows only the sessions that it made.  A server that says that it has
    several (`wsgi.multiprocess`) gets a RuntimeWarning with the first request.

    max_sessions: how many are kept at most.  Past that the one that was unused for longest is forgotten, with a line at
        WARNING in the log.  Each takes as much memory as its `max_size` at most, some 500 bytes more, and some 150 more
        for each key that is in it.

    Any number of threads may use it.
    """

    one_process = True

    def __init__(self, max_sessions: int = 10_000) -> None:
        if not isinstance(max_sessions, int) or max_sessions < 1:
            raise ValueError(f"max_sessions is a number of sessions, 1 or more, not {max_sessions!r}")
        self.max_sessions = max_sessions
        self._kept: OrderedDict[str, tuple[dict[str, bytes], float]] = OrderedDict()  # the last one used is last
        self._lock = Lock()
        self._secret = secrets.token_bytes(32)

    def __len__(self) -> int:
        return len(self._kept)

    def __bool__(self) -> bool:
        return True  # a store without sessions is a store

    def __repr__(self) -> str:
        return f"<MemoryStore with {len(self)} of at most {self.max_sessions} sessions>"

    def load(self, key: str) -> tuple[dict[str, bytes], float] | None:
        with self._lock:
            found = self._find(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return dict(found[0]), found[1] - monotonic()

    def save(
        self, key: str, changed: Mapping[str, bytes], removed: Collection[str], seconds: float, *, new: bool
    ) -> bool:
        with self._lock:
            found = self._find(key)
            if found is None and not new:
                return False
            fields = {} if found is None else found[0]
            fields.update(changed)
            for name in removed:
                fields.pop(name, None)
            self._keep(key, fields, seconds)
            self._sweep()
        return True

    def touch(self, key: str, seconds: float) -> None:
        with self._lock:
            found = self._find(key)
            if found is not None:
                self._keep(key, found[0], seconds)

    def delete(self, key: str) -> None:
        with self._lock:
            self._kept.pop(key, None)

    def secret(self) -> bytes:
        return self._secret

    def _find(self, key: str) -> tuple[dict[str, bytes], float] | None:
        found = self._kept.get(key)
        if found is not None and found[1] <= monotonic():
            del self._kept[key]
            return None
        return found

    def _keep(self, key: str, fields: dict[str, bytes], seconds: float) -> None:
        self._kept[key] = (fields, monotonic() + seconds)
        self._kept.move_to_end(key)

    def _sweep(self) -> None:
        """Forget some that have expired, from the one that was unused for longest, and what is too many."""
        for key, (_, until) in list(islice(self._kept.items(), SWEPT)):
            if until > monotonic():
                break
            del self._kept[key]
        while len(self._kept) > self.max_sessions:
            self._kept.popitem(last=False)
            logger.warning("a session was forgotten: there are more than %d (max_sessions)", self.max_sessions)
