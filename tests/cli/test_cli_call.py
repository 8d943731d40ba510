"""`amfgate call` and `amfgate serve`, one against the other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real import serving

import amfgate
from amfgate import Body, Packet

ROOT = Path(__file__).resolve().parents[2]


class Echo:
    """Says what it was given."""

    def back(self, value: Any) -> Any:
        return value

    def kind(self, value: Any) -> str:
        return f"{amfgate.alias_of(value) or type(value).__name__}"

    def fail(self) -> None:
        raise amfgate.Fault("Shop.Closed", "back at nine", details="a sign on the door")

    def trace(self) -> None:
        raise amfgate.Fault("Shop.Broken", "\x1b[31mred", details="Traceback of the server:\n  \x1b[31min a file\n")


def not_found(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/html")])
    return [b"<html>nothing here"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    def check(name: str, password: str) -> str | None:
        return name if (name, password) == ("ada", "secret") else None

    gateway = amfgate.Gateway(
        amfgate.Gateway(not_found, {"echo": Echo()}),
        {"echo": Echo()},
        path="/private",
        authenticate=check,
    )
    with serving(gateway) as port:
        yield f"http://127.0.0.1:{port}/amf"


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        ("5", 5),
        ("1.5", 1.5),
        ('"5"', "5"),
        ("Ada", "Ada"),
        ("null", None),
        ('[1, {"a": true}]', [1, {"a": True}]),
        ('{"$date": 0}', {"$date": 0}),
    ],
)
def test_arguments_are_json_or_text(amfgate_command: Any, url: str, argument: str, answer: Any) -> None:
    done = amfgate_command("call", url, "echo.back", argument)
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == answer


def test_an_object_of_a_class(amfgate_command: Any, url: str) -> None:
    argument = '{"$class": "com.example.Product", "$members": {"id": 1}}'
    assert json.loads(amfgate_command("call", url, "echo.kind", argument).out) == "com.example.Product"


def test_amf3_and_flex(amfgate_command: Any, url: str) -> None:
    assert json.loads(amfgate_command("call", "--amf3", url, "echo.kind", '{"$bytes": "00"}').out) == "bytes"
    assert json.loads(amfgate_command("call", "--flex", url, "echo.back", "[1]").out) == [1]


def test_a_fault_is_one(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url, "echo.fail")
    assert (done.status, done.out) == (1, "")
    assert done.err == "amfgate: fault: echo.fail: Shop.Closed: back at nine (a sign on the door)\n"


def test_the_traceback_of_a_server_is_shown_with_debug(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url, "echo.trace")
    assert (done.status, done.err) == (1, "amfgate: fault: echo.trace: Shop.Broken: \\x1b[31mred\n")
    done = amfgate_command("--debug", "call", url, "echo.trace")
    assert done.err.startswith("Traceback of the server:\n  \\x1b[31min a file\n")
    assert done.err.endswith("\namfgate: fault: echo.trace: Shop.Broken: \\x1b[31mred\n")


def test_credentials(amfgate_command: Any, url: str) -> None:
    private = url.replace("/amf", "/private")
    assert amfgate_command("call", private, "echo.back", "1", "--user", "ada:wrong").status == 1
    assert amfgate_command("call", private, "echo.back", "1", "--user", "ada:secret").out == "1\n"


def test_headers(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url, "echo.back", "1", "--header", 'lang={"code": "de"}', "--http-header", "X-A: b")
    assert done.out == "1\n"
    assert amfgate_command("call", url, "echo.back", "--header", "lang").status == 2
    assert amfgate_command("call", url, "echo.back", "--http-header", "lang").status == 2


def test_the_answer_as_a_tree(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url, "echo.back", "[1]", "--tree")
    assert done.lines == ["000000  array, 1 item  #0", "000003    [0]: integer 1"]


def test_an_error_page_is_told(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url.replace("/amf", "/nowhere"), "echo.back", "1")
    assert done.status == 1
    assert "answered HTTP 404 Not Found; text/html, 18 bytes" in done.err


def test_a_server_that_is_not_there_is_three(amfgate_command: Any) -> None:
    done = amfgate_command("call", "http://127.0.0.1:1/amf", "echo.back")
    assert done.status == 3
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["127.0.0.1:8000/amf", "echo.back"], "perhaps http://127.0.0.1:8000/amf"),
        (["http://127.0.0.1:1/amf", "back", "--flex"], "with flex=True a target is destination.operation"),
    ],
)
def test_what_cannot_be_called_is_two(amfgate_command: Any, arguments: list[str], complaint: str) -> None:
    done = amfgate_command("call", *arguments)
    assert done.status == 2
    assert complaint in done.err


def test_json_that_is_none(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url, "echo.back", "{a: 1}")
    assert done.err == "amfgate: this argument begins like JSON and is none: {a: 1}\n"


def test_nothing_to_call(amfgate_command: Any, url: str) -> None:
    done = amfgate_command("call", url)
    assert done.status == 2
    assert "say what to call, as in catalog.page, or give --raw FILE" in done.err


def test_raw_bytes_and_raw_json(amfgate_command: Any, url: str, tmp_path: Path) -> None:
    path = tmp_path / "call.amf"
    path.write_bytes(Packet(0, [], [Body("echo.back", "/1", ["hi"])]).to_bytes())
    done = amfgate_command("call", url, "--raw", path)
    assert done.status == 0
    assert done.lines[0] == (
        "HTTP 200 OK, 34 bytes: version word 0, and its headers and bodies end where the input does"
    )
    assert done.lines[-1] == '00001d      value: string "hi"'
    path.write_bytes(amfgate_command("inspect", path, "--json").data.replace(b'"hi"', b'"ho"'))
    assert amfgate_command("call", url, "--raw", path).lines[-1] == '00001d      value: string "ho"'
    path.write_bytes(Packet(0, [], [Body("echo.fail", "/1", [])]).to_bytes())
    assert amfgate_command("call", url, "--raw", path).status == 1


def test_raw_bytes_to_something_else(amfgate_command: Any, url: str, tmp_path: Path) -> None:
    path = tmp_path / "call.amf"
    path.write_bytes(b"\x00\x00")
    done = amfgate_command("call", url.replace("/amf", "/nowhere"), "--raw", path)
    assert (done.status, done.out) == (1, "")
    assert "/nowhere answered HTTP 404 Not Found; text/html, 18 bytes: " in done.err
    assert done.err.endswith("; no AMF: it looks like HTML\n")


# --- serve


def serve(*arguments: str, cwd: Path, without: str = "") -> tuple[subprocess.Popen[str], str]:
    """A server of its own, and where it answers."""
    start = f"import sys; sys.modules[{without!r}] = None; " if without else "import sys; "
    code = f"{start}from amfgate import cli; sys.exit(cli.run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.match(r"serving on (http://127\.0\.0\.1:\d+/) with (\w+); Ctrl\+C stops\n", line)
    assert found, line
    return process, found[1]


@pytest.mark.parametrize("without", ["", "waitress"])
def test_services_alone_are_served(amfgate_command: Any, without: str) -> None:
    process, address = serve("examples/inspect/shop.py:services", cwd=ROOT, without=without)
    try:
        done = amfgate_command("call", f"{address}amf", "catalog.find", "Compass")
        assert json.loads(done.out) == {"id": 2, "name": "Compass", "price": 19.5}
        assert amfgate_command("call", f"{address}other", "x.y").status == 1
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_an_application_of_a_module_is_served(amfgate_command: Any, tmp_path: Path) -> None:
    (tmp_path / "served_shop.py").write_text(
        "import amfgate\n"
        "def add(a: int, b: int) -> int:\n    return a + b\n"
        "class Holder:\n    app = amfgate.Gateway(lambda e, s: [], {'math.add': add}, path='/gate')\n"
    )
    process, address = serve("served_shop:Holder.app", cwd=tmp_path)
    try:
        assert amfgate_command("call", f"{address}gate", "math.add", "1", "2").out == "3\n"
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("shop", "'shop' is not MODULE:APP, as in shop:app"),
        ("no_such_module:app", "there is no module no_such_module here or installed"),
        ("nofile.py:app", "there is no file nofile.py"),
        ("json:nothing", "json has no nothing"),
        ("json:__version__", "json:__version__ is no WSGI application and no mapping of services, but '"),
    ],
)
def test_what_cannot_be_served(
    amfgate_command: Any, monkeypatch: pytest.MonkeyPatch, name: str, complaint: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    done = amfgate_command("serve", name)
    assert done.status == 2
    assert complaint in done.err
