"""Requests per second behind gunicorn: W1 as the result of a call, against the same bytes from a constant.

    python benchmarks/serve.py [--seconds 2] [--rounds 5]

One gunicorn with one worker process on the loopback interface serves both apps under two paths, so both have the same
server, worker and socket; the load comes from this process, over a few connections that always have a request
waiting, so that the worker never idles.  The two are measured in turn.  Reported for gunicorn's default worker (a
connection for each request) and for `gthread` with connections kept alive, which hides less of the app.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONNECTIONS = 4


def make_app() -> Callable[..., Iterable[bytes]]:
    """The WSGI app that gunicorn loads: /amf is the gateway, anything else the constant."""
    sys.path.insert(0, str(HERE))
    import gateways

    packet = gateways.rows_request()
    gateway = gateways.amfgate_gateway({"rows": gateways.Rows()}, app=None)
    known: list[tuple[str, list[tuple[str, str]]]] = []
    constant = b"".join(gateway_reply(gateway, gateways.request(packet), packet, known))
    status, headers = known[0]

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/amf":
            return gateway(environ, start_response)  # type: ignore[no-any-return]
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        start_response(status, headers)
        return [constant]

    return app


def gateway_reply(gateway: Any, environ: dict[str, Any], packet: bytes, known: list[Any]) -> list[bytes]:
    import io

    environ["wsgi.input"] = io.BytesIO(packet)
    return list(gateway(environ, lambda status, headers, exc_info=None: known.append((status, headers))))


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests per second of both apps under one kind of worker, and whether both replies were W1."""

    worker: str
    gateway: float
    constant: float
    equal: bool
    size: int


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def server(worker: str) -> Iterator[int]:
    """A gunicorn of our own on a free port; stopped at the end, by its process id."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "1"]
    command += ["--worker-class", worker, "--keep-alive", "30", "--log-level", "error", "serve:make_app()"]
    import amfgate

    package = str(Path(amfgate.__file__).resolve().parent.parent)  # the same amfgate as here, installed or not
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), package])}
    process = subprocess.Popen(command, cwd=HERE, env=environment)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise RuntimeError(f"gunicorn ended with status {process.returncode} before it served")
            time.sleep(0.05)
        else:
            raise RuntimeError("gunicorn did not listen within 5 s")
        yield port
    finally:
        process.terminate()
        process.wait(10)


class Connection:
    """A connection that has one request on its way; HTTP as far as these two replies need it."""

    def __init__(self, port: int, request: bytes, keep: bool) -> None:
        self.port = port
        self.request = request
        self.keep = keep
        self.socket: socket.socket | None = None

    def send(self) -> None:
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), 5)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(self.request)

    def receive(self) -> bytes:
        """The body of the reply; RuntimeError if it is not a whole 200."""
        assert self.socket is not None
        head, _, body = self.socket.recv(262_144).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"the server answered {head[:80]!r}")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        parts, missing = [body], length - len(body)
        while missing > 0:
            part = self.socket.recv(262_144)
            if not part:
                raise RuntimeError(f"the reply ended {missing} bytes early")
            parts.append(part)
            missing -= len(part)
        if not self.keep:
            self.close()
        return b"".join(parts)

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def load(port: int, path: str, packet: bytes, seconds: float, keep: bool) -> tuple[float, bytes]:
    """Requests per second over `seconds`, and the last body."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amf\r\n"
    head += f"Connection: {'keep-alive' if keep else 'close'}\r\nContent-Length: {len(packet)}\r\n\r\n"
    connections = [Connection(port, head.encode() + packet, keep) for _ in range(CONNECTIONS)]
    count, body = 0, b""
    try:
        for connection in connections:
            connection.send()
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            for connection in connections:
                body = connection.receive()
                connection.send()
                count += 1
        for connection in connections:
            connection.receive()
    finally:
        for connection in connections:
            connection.close()
    return count / elapsed, body


def measure(seconds: float, rounds: int, workers: Iterable[str] = ("sync", "gthread")) -> list[Rate]:
    """Both apps in turn, `rounds` times, under each kind of worker; the medians."""
    import data
    import gateways

    import amfgate

    packet = gateways.rows_request()
    rates = []
    for worker in workers:
        keep = worker != "sync"
        with server(worker) as port:
            found: dict[str, list[float]] = {"/amf": [], "/constant": []}
            bodies: dict[str, bytes] = {}
            for path in found:
                load(port, path, packet, seconds / 4, keep)
            for _ in range(rounds):
                for path, values in found.items():
                    rate, bodies[path] = load(port, path, packet, seconds, keep)
                    values.append(rate)
        gateway, constant = (statistics.median(values) for values in found.values())
        equal = bodies["/amf"] == bodies["/constant"] and bodies["/amf"].endswith(b"\x11" + amfgate.dumps(data.w1()))
        rates.append(Rate(worker, gateway, constant, equal, len(bodies["/amf"])))
    return rates


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    for rate in measure(chosen.seconds, chosen.rounds):
        print(
            f"{rate.worker}: gateway {rate.gateway:.0f}/s, constant {rate.constant:.0f}/s, "
            f"ratio {rate.gateway / rate.constant:.2f}, {rate.size} bytes, equal: {rate.equal}"
        )
