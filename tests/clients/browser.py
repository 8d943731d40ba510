"""Programs in headless Chromium: how a page with one is run, and what comes of it.

Values as the programs describe them: {"undefined": true}, {"Number": "NaN"}, {"Date": milliseconds}, {"XML": text},
{"ByteArray": hex}, {"Vector": class, "items": …}, {"Dictionary": pairs}, {"class": alias, …},
{"Array": members, "length": n} for an array with holes or names, {"seen": n} for the nth object met in this value.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flash_app

HERE = Path(__file__).parent
UNDEFINED = {"undefined": True}
UNEXPECTED = "The call failed; the log of the server says why."


@dataclass(repr=False)  # too long to be of use in a failing test
class Run:
    """One run of programs: their reports by case, what the service got by case, the packets, and the log."""

    reports: dict[str, Any]
    arrived: dict[str, Any]
    packets: list[flash_app.Packet]
    log: list[str]

    def report(self, case: str) -> str:
        """What a program said about a case, as JSON text, in which 1 and true differ."""
        assert case in self.reports, f"nothing about {case!r}.\n{self.story()}"
        return text(self.reports[case])

    def packet(self, part: str) -> flash_app.Packet:
        """The one packet whose request holds this text."""
        [packet] = [packet for packet in self.packets if part.encode() in packet.request]
        return packet

    def story(self) -> str:
        packets = [
            f"sent {packet.request[:200].hex()}\n got {packet.reply[:200].hex()}" for packet in self.packets[-3:]
        ]
        return "\n".join(["browser:", *self.log[-40:], "last packets:", *packets])


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def canonical(value: Any) -> Any:
    """In which 1, 1.0 and True differ, and the order of members does not count: Ruffle does not keep it."""
    if isinstance(value, dict):
        members = sorted((repr(key), canonical(item)) for key, item in value.items())
        return [type(value).__name__, getattr(value, "count", None), members]
    if type(value) is list:
        return [canonical(item) for item in value]
    return repr(value)


def compile_swf(swf: Path, *arguments: str) -> None:
    """Have Haxe make an ActionScript 3 program; what it is made of is looked for in haxe/."""
    built = subprocess.run(
        ["haxe", *arguments, "-swf", str(swf)],
        cwd=HERE / "haxe",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert built.returncode == 0, built.stdout


def left_out() -> str:
    """install.sh's line about what is missing; empty when everything is there."""
    bash = shutil.which("bash")
    if bash is None:
        return "left out: the tests of tests/clients/test_ruffle.py, for want of bash"
    return subprocess.run([bash, HERE / "install.sh", "--check"], stdout=subprocess.PIPE, text=True).stdout.strip()


def open_page(url: str, seconds: int, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Have the browser open a page, until its programs have ended; what they reported, and the log.

    folder: for the browser's profile, which would stay behind if run.mjs, with which the browser dies, were killed.
    """
    browser = ["node", str(HERE / "run.mjs"), str(shutil.which("chromium")), url, str(seconds)]
    own = {**os.environ, "TMPDIR": str(folder)}
    ran = subprocess.run(browser, capture_output=True, text=True, env=own, timeout=seconds + 30)
    assert ran.returncode == 0, ran.stderr
    outcome = json.loads(ran.stdout)
    reports, log = outcome["reports"], outcome["log"]
    assert outcome["ended"], "\n".join(
        [f"no end within {seconds} s; the last report: {list(reports)[-1:]}", *log[-40:]]
    )
    return reports, log
