"""A small site with two services, so that one page can show what Flash remoting is.

    python examples/demo/app.py [--host 127.0.0.1] [--port 8000]     serve until interrupted
    python examples/demo/app.py --once                               serve, make one call, print its bytes, stop

The site is an ordinary WSGI application, `site` below.  `Gateway(site, SERVICES)` wraps it: requests for /amf reach the
services, every other request reaches the site as before.  The data is in SQLite, in a file that goes away with the
process; the server is the one of Python's standard library.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import amfgate

HERE = Path(__file__).resolve().parent
SCHEMA = """
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, active INTEGER NOT NULL);
CREATE TABLE score (player TEXT NOT NULL, points INTEGER NOT NULL);
"""
PRODUCTS = [
    ("Brass sextant", 149.5, 1),
    ("Field compass", 39.0, 1),
    ("Hand lens", 12.25, 1),
    ("Ink, blue-black", 7.8, 1),
    ("Map tube", 22.0, 0),
    ("Plumb line", 9.99, 1),
    ("Slide rule", 64.0, 0),
    ("Spirit level", 18.4, 1),
]
SCORES = [("ada", 4200), ("grace", 3950), ("linus", 1200)]


class Database:
    """A SQLite file; every call opens it anew, so that any thread may ask."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.connect() as connection:
            connection.executescript(SCHEMA)
            connection.executemany("INSERT INTO product (name, price, active) VALUES (?, ?, ?)", PRODUCTS)
            connection.executemany("INSERT INTO score VALUES (?, ?)", SCORES)
            connection.commit()

    def connect(self) -> contextlib.closing[sqlite3.Connection]:
        return contextlib.closing(sqlite3.connect(self.path))

    def rows(self, sql: str, *values: Any) -> amfgate.Rows:
        """A result set as it comes from the cursor: tuples, and the names of the columns once."""
        with self.connect() as connection:
            cursor = connection.execute(sql, values)
            return amfgate.Rows([column[0] for column in cursor.description], cursor.fetchall())


class Catalog:
    """Products."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, offset: int = 0, limit: int = 5) -> amfgate.Rows:
        """Products by name, `limit` of them from `offset` on."""
        return self._database.rows("SELECT * FROM product ORDER BY name LIMIT ? OFFSET ?", limit, offset)

    def find(self, text: str) -> amfgate.Rows:
        """Products whose name contains a text."""
        return self._database.rows("SELECT * FROM product WHERE instr(lower(name), lower(?)) ORDER BY name", text)


class Scores:
    """High scores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def top(self, limit: int = 10) -> amfgate.Rows:
        """The best players, best first."""
        return self._database.rows("SELECT * FROM score ORDER BY points DESC LIMIT ?", limit)

    def add(self, player: str, points: int) -> int:
        """Enter a score; the answer is its rank.  A nameless player gets a fault."""
        if not player.strip():
            raise amfgate.Fault("Scores.NoName", "a score needs the name of a player")
        with self._database.connect() as connection:
            connection.execute("INSERT INTO score VALUES (?, ?)", (player, points))
            connection.commit()
            better = connection.execute("SELECT count(*) FROM score WHERE points > ?", (points,)).fetchone()
        return int(better[0]) + 1


def services_on(database: Database) -> amfgate.ServiceRegistry:
    return amfgate.ServiceRegistry({"catalog": Catalog(database), "scores": Scores(database)})


def site_about(services: amfgate.ServiceRegistry) -> Callable[..., Iterable[bytes]]:
    """The WSGI application that gets wrapped: a page, its script, and the table of services as JSON."""
    pages = {
        "/": ("text/html; charset=utf-8", (HERE / "page.html").read_bytes()),
        "/amf0.mjs": ("text/javascript; charset=utf-8", (HERE / "amf0.mjs").read_bytes()),
        "/services.json": ("application/json", json.dumps(services.describe()).encode()),
    }

    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        kind, content = pages.get(environ["PATH_INFO"], ("text/plain; charset=utf-8", b"nothing here\n"))
        status = "200 OK" if environ["PATH_INFO"] in pages else "404 Not Found"
        start_response(status, [("Content-Type", kind), ("Content-Length", str(len(content)))])
        return [content]

    return site


class Server(ThreadingMixIn, WSGIServer):
    """A thread for each request; enough for a page on one's own machine."""

    daemon_threads = True


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about a request; the gateway logs the calls."""


def call_once(port: int) -> int:
    """Call catalog.page as a Flash program would, and print what went over the wire."""
    packet = amfgate.Packet(0, [], [amfgate.Body("catalog.page", "/1", [0, 2])])
    request = packet.to_bytes()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/amf", data=request, headers={"Content-Type": "application/x-amf"}
    )
    with urllib.request.urlopen(asked, timeout=10) as answered:
        reply = answered.read()
    body = amfgate.Packet.from_bytes(reply).bodies[0]
    print(f"request  {request.hex(' ')}\nreply    {reply.hex(' ')}\n{body.target}  {body.value}")
    right = body.target == "/1/onResult" and [row["name"] for row in body.value] == ["Brass sextant", "Field compass"]
    return 0 if right else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="A demonstration of amfgate: a page that calls Python with real AMF.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--once", action="store_true", help="make one call on a free port, print its bytes, stop")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="amfgate-demo-") as folder:
        services = services_on(Database(Path(folder) / "demo.sqlite3"))
        gateway = amfgate.Gateway(site_about(services), services)
        host, port = ("127.0.0.1", 0) if options.once else (options.host, options.port)
        with make_server(host, port, gateway, Server, QuietHandler) as server:
            if options.once:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                return call_once(server.server_port)
            print(f"the demo is on http://{host}:{server.server_port}/ - interrupt to stop", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
