"""What the tests with real clients, servers and peers share: a server, and what to do where something is missing."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import pytest
import waitress
from waitress import wasyncore


def leave_out(reason: str) -> NoReturn:
    """Skip the test for what is not installed; with AMFGATE_REQUIRE_CLIENTS=1, fail it."""
    if os.environ.get("AMFGATE_REQUIRE_CLIENTS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """`app` on waitress, on a free port of 127.0.0.1; everything closed and every thread ended afterwards."""
    sockets: dict[int, Any] = {}
    server = waitress.create_server(app, map=sockets, host="127.0.0.1", port=0, threads=4)
    loop = threading.Thread(target=server.run, name="waitress")
    loop.start()
    try:
        yield server.effective_port
    finally:
        server.task_dispatcher.shutdown()  # first: a thread that still answers needs its socket
        # In the loop's own thread, which ends with its last socket.  Awake for another reason it may have done so
        # before the trigger is pulled, which is closed then.
        with suppress(OSError):
            server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        loop.join(10)
    assert not loop.is_alive()
