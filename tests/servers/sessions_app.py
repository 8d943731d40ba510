"""The application of test_sessions_servers.py: a counter in the session, in Redis if AMFGATE_TEST_REDIS says where."""

from __future__ import annotations

import os
from typing import Any

import amfgate


class Counter:
    def next(self, call: amfgate.Call) -> list[int]:
        """How often this client has called, and the process that answers."""
        call.session["count"] = call.session.get("count", 0) + 1
        return [call.session["count"], os.getpid()]

    def enter(self, exchange: amfgate.Exchange, name: str) -> None:
        exchange.log_in(name, {"name": name})

    @amfgate.requires()
    def own(self, call: amfgate.Call) -> Any:
        return call.user

    def ping(self) -> str:
        return "pong"


def store() -> Any:
    url = os.environ.get("AMFGATE_TEST_REDIS")
    return amfgate.MemoryStore() if url is None else amfgate.RedisStore(url, timeout=1)


application = amfgate.Gateway(None, {"counter": Counter()}, sessions=store())
