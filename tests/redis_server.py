"""A Redis server of the tests' own: a real one, on a free port, that can be killed and started again."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from real import leave_out

SECONDS = 10  # for it to start; it needs a tenth of one


class RedisServer:
    """`redis-server` with its data in `folder`, each write of which is on the disk before it is answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port = int(listening.getsockname()[1])
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "save": "", "appendonly": "yes"}
        options |= {"appendfsync": "always", "logfile": self.folder / "log", "daemonize": "no"}
        command = ["redis-server", *(str(part) for name, value in options.items() for part in (f"--{name}", value))]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + SECONDS
        while not self.answers():
            if time.monotonic() > until or self.process.poll() is not None:
                pytest.fail(f"redis-server did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether it answers PING; while it reads its data it says LOADING."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(5) == b"+PONG"
        except OSError:
            return False

    def stop(self, kill: bool = False) -> None:
        assert self.process is not None
        self.process.kill() if kill else self.process.terminate()
        self.process.wait(SECONDS)

    def client(self) -> Any:
        import redis

        return redis.Redis.from_url(self.url)


@contextmanager
def redis_running(folder: Path) -> Iterator[RedisServer]:
    """A server for the tests in the block; skips them, or fails, where there is none to start."""
    if shutil.which("redis-server") is None:
        leave_out("left out: tests/servers with redis-server (root on Debian gets it by bash tests/servers/install.sh)")
    pytest.importorskip("redis")
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.stop()
