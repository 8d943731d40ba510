"""Sessions, and where they are kept between requests.

    Gateway(app, services, sessions=MemoryStore())                      one process
    Gateway(app, services, sessions=RedisStore("redis://localhost"))    any number of processes and machines

What clients have to do with it is in `amfgate.filters.sessions`.  A store of another kind is an object with the methods
of `SessionStore`.
"""

from __future__ import annotations

from .memory import MemoryStore
from .redis import RedisStore
from .session import Rules, Session
from .store import SessionStore

__all__ = ["MemoryStore", "RedisStore", "Rules", "Session", "SessionStore"]
