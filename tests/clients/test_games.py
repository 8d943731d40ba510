"""The walk of docs/games.md, for real: its code, its page, a game of ours, in Ruffle.

The game (game/Game.hx) has the address of its server built in.  The page is the one of the manual, with the functions
in front by which the game tells what came of its calls.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
import types
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flask
import pytest
from browser import HERE, compile_swf, left_out, open_page
from real import leave_out, serving

pytestmark = pytest.mark.clients

MANUAL = HERE.parent.parent / "docs/games.md"
SECONDS = 30
REPORTS = """<script>
var running = 1, reports = {};
function report(name, outcome) { reports[name] = JSON.parse(outcome); }
function done() { running = 0; }
</script>
"""


def fenced(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", MANUAL.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_words_of_a_swf_file_are_read_whatever_packs_it() -> None:
    """Needs no player: the first block of the manual."""
    manual: dict[str, Any] = {}
    exec(fenced("python")[0], manual)
    words = manual["words"]
    data = b"\0http://old.example/gateway.php\0Game.start\0flash.net\0"
    expected = ["Game.start", "http://old.example/gateway.php", "old.example/gateway.php"]
    assert words(b"FWS\x09\0\0\0\0" + data) == expected
    assert words(b"CWS\x09\0\0\0\0" + zlib.compress(data)) == expected
    packed = lzma.compress(data, lzma.FORMAT_ALONE)  # properties, size, data
    assert words(b"ZWS\x0d\0\0\0\0" + len(packed[13:]).to_bytes(4, "little") + packed[:5] + packed[13:]) == expected
    with pytest.raises(ValueError, match="no SWF file: it begins with b'<html>"):
        words(b"<html>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the manual has the reader make it: the game, the page, Ruffle."""
    reason = left_out().replace("test_ruffle.py", "test_games.py")
    if reason:
        leave_out(reason)
    folder = tmp_path_factory.mktemp("standin")
    game = folder / "game"
    game.mkdir()
    compile_swf(game / "game.swf", "-main", "Game", "-swf-version", "15", "-cp", str(HERE / "game"))
    [page] = fenced("html")
    (game / "game.html").write_text(page.replace("<script>", REPORTS + "<script>", 1), encoding="utf-8")
    (game / "ruffle").symlink_to(HERE / "node_modules/@ruffle-rs/ruffle")
    return folder


@pytest.fixture
def manual(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The names of the manual's code, after all of it ran in that folder."""
    monkeypatch.chdir(folder)
    module = types.ModuleType("manual")  # where annotations are looked up
    monkeypatch.setitem(sys.modules, "manual", module)
    for block in fenced("python"):
        exec(block, vars(module))
    yield vars(module)
    for left in ("notes.jsonl", "scores.db"):
        (folder / left).unlink(missing_ok=True)


def play(app: Any, folder: Path, page: str) -> dict[str, Any]:
    """What the game reports."""
    with serving(app) as port:
        reports, _ = open_page(f"http://127.0.0.1:{port}/{page}", SECONDS, folder)
    return reports


def test_the_address_and_the_targets_are_in_the_program(folder: Path, manual: dict[str, Any]) -> None:
    found = manual["words"]((folder / "game/game.swf").read_bytes())
    assert {"HighScores.getTop", "highscores.SubmitScore", "Ads.getBanner"} <= set(found)
    assert "http://highscores.example/flashservices/gateway" in {word[: word.find("gateway") + 7] for word in found}


def test_the_stand_in_takes_notes(folder: Path, manual: dict[str, Any]) -> None:
    """As the manual prints them."""
    gone = {"fault": "Server.ResourceNotFound"}
    assert play(manual["site"], folder, "game.html") == {
        "HighScores.getTop": gone,
        "highscores.SubmitScore": gone,
        "Ads.getBanner": gone,
    }
    [printed] = fenced("jsonl")
    notes = [json.loads(line) for line in (folder / "notes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert notes == [json.loads(line) for line in printed.splitlines()]


def test_the_stand_in_answers_a_page_of_another_origin(folder: Path, manual: dict[str, Any]) -> None:
    """The page and the files from one port, the gateway at another: a preflight, then the calls."""
    site = flask.Flask("museum", static_folder=None)
    site.get("/<path:name>")(lambda name: flask.send_from_directory(folder / "game", name))
    page = (folder / "game/game.html").read_text(encoding="utf-8")
    scores = manual["Scores"]("scores.db")
    scores.submit({"player": "grace", "level": 9, "score": 5000})
    with serving(manual["gateway"]()) as port:
        away = page.replace('location.origin + "/"', f'"http://127.0.0.1:{port}/"')
        (folder / "game/away.html").write_text(away, encoding="utf-8")
        reports = play(site, folder, "away.html")
    assert away != page
    assert reports == {
        "HighScores.getTop": {"result": [{"rank": 1, "player": "grace", "score": 5000}]},
        "highscores.SubmitScore": {"result": True},
        "Ads.getBanner": {"result": None},
    }
    assert [row["player"] for row in scores.top()] == ["grace", "ada"]
    assert not (folder / "notes.jsonl").exists()
