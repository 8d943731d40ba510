"""The demo: it starts, its page is served, and the page's own script gets right answers from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import amfgate

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo"
NODE = shutil.which("node")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a running demo is; its port is free and its own."""
    command = [sys.executable, "-W", "error", str(DEMO / "app.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        try:
            assert found, "the demo did not say where it is"
            yield found[0]
        finally:
            process.terminate()


def get(url: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read()


def test_once_prints_a_call_and_its_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(DEMO / "app.py"), "--once"], text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    request, reply, value = done.stdout.splitlines()
    assert request.split(maxsplit=1)[1] == (
        "00 00 00 00 00 01 00 0c 63 61 74 61 6c 6f 67 2e 70 61 67 65 00 02 2f 31 00 00 00 17 "
        "0a 00 00 00 02 00 00 00 00 00 00 00 00 00 00 40 00 00 00 00 00 00 00"
    )
    assert reply.split(maxsplit=1)[1].startswith(
        "00 00 00 00 00 01 00 0b 2f 31 2f 6f 6e 52 65 73 75 6c 74 00 04 6e 75 6c 6c"
    )
    assert value.startswith("/1/onResult  [{'id': 1, 'name': 'Brass sextant', 'price': 149.5, 'active': 1}, ")


def test_the_page_comes_from_the_wrapped_application(address: str) -> None:
    kind, content = get(address)
    assert kind == "text/html; charset=utf-8"
    assert b"<h1>A call, and its bytes</h1>" in content


def test_the_table_lists_what_can_be_called(address: str) -> None:
    rows = json.loads(get(address + "services.json")[1])
    assert [row["name"] for row in rows] == ["catalog.find", "catalog.page", "scores.add", "scores.top"]


def test_the_gateway_answers_beside_the_page(address: str) -> None:
    packet = amfgate.Packet(0, [], [amfgate.Body("scores.top", "/7", [1])])
    asked = urllib.request.Request(address + "amf", packet.to_bytes(), {"Content-Type": "application/x-amf"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        (body,) = amfgate.Packet.from_bytes(answer.read()).bodies
    assert (body.target, body.value) == ("/7/onResult", [{"player": "ada", "points": 4200}])


CALLS = """
import { call } from %(script)s;
const said = [];
for (const [target, ...args] of [
  ["catalog.find", "LINE"],
  ["scores.add", "héloïse", 4000],
  ["scores.top", 2],
  ["scores.add", " ", 1],
  ["catalog.__init__"],
]) {
  const { target: answered, value } = await call(%(url)s, target, args);
  said.push([answered, answered.endsWith("/onResult") ? value : value.code]);
}
console.log(JSON.stringify(said));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed: the page's script is not run")
def test_the_script_of_the_page_calls_the_services(address: str, tmp_path: Path) -> None:
    program = tmp_path / "calls.mjs"
    program.write_text(
        CALLS % {"script": json.dumps((DEMO / "amf0.mjs").as_uri()), "url": json.dumps(address + "amf")},
        encoding="utf-8",
    )
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run(
        [str(NODE), str(program)],
        capture_output=True,
        timeout=60,
        encoding="utf-8",
        env={**os.environ, "NODE_OPTIONS": ""},
    )
    assert done.returncode == 0, done.stderr
    found, added, top, nameless, private = json.loads(done.stdout)
    assert found == ["/1/onResult", [{"id": 6, "name": "Plumb line", "price": 9.99, "active": 1}]]
    assert added == ["/1/onResult", 2]
    assert top == ["/1/onResult", [{"player": "ada", "points": 4200}, {"player": "héloïse", "points": 4000}]]
    assert nameless == ["/1/onStatus", "Scores.NoName"]
    assert private[0] == "/1/onStatus"
