"""The walks of docs/inspect.md: each command is run, and prints what the page says.

A line `...` stands for any lines.  The page's server is started here, and its address put in place.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real import serving

import amfgate

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/inspect.md"
PAGE_ADDRESS = "http://127.0.0.1:8000/"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.syspath_prepend(str(ROOT / "examples/inspect"))
    import shop

    gateway = amfgate.Gateway(lambda environ, start_response: [], shop.services)
    with serving(gateway) as port:
        yield f"http://127.0.0.1:{port}/"
    del sys.modules["shop"]


def commands() -> list[tuple[str, list[str]]]:
    """The commands of the page, each with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def run_one(run: Any, command: str, folder: Path, address: str) -> list[str]:
    words = shlex.split(command.replace(PAGE_ADDRESS, address))
    if words[:2] == ["sed", "-i"]:
        _, _, script, name = words
        _, old, new, _ = script.split("/")
        path = folder / name
        path.write_text(path.read_text().replace(old, new))
        return []
    assert words[0] == "amfgate"
    into = None
    if ">" in words:
        into = folder / words[-1]
        words = words[: words.index(">")]
    done = run(*words[1:])
    if into is not None:
        into.write_bytes(done.data)
        return []
    return [*done.lines, *done.err.splitlines()]


def agrees(printed: list[str], expected: list[str]) -> bool:
    pattern = "".join("(?:.*\n)*" if line == "..." else f"{re.escape(line)}\n" for line in expected)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_every_walk_prints_what_the_page_says(
    amfgate_command: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shop.har", "slot1.sol"):
        shutil.copy(ROOT / "examples/inspect" / name, tmp_path)
    walks = commands()
    assert len(walks) > 12
    for command, expected in walks:
        printed = run_one(amfgate_command, command, tmp_path, address)
        assert agrees(printed, expected), "\n".join([f"$ {command}", *printed])


def test_the_page_reads_its_har_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples/inspect/shop.har", tmp_path)
    (code,) = re.findall(r"^```py-fragment\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["reply"].bodies[0].value["code"] == "Shop.Unknown"
