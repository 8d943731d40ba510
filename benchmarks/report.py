"""Tables as text and as Markdown, and the conditions that every number travels with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Table:
    """A table with a title, a line on how to read it, and rows of text; the first column is left-aligned."""

    title: str
    columns: list[str]
    note: str = ""
    rows: list[list[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(list(cells))

    def text(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        body = [
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))
            ).rstrip()
            for line in lines
        ]
        body.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(["", self.title, *([self.note] if self.note else []), *body])

    def markdown(self) -> str:
        head = f"| {' | '.join(self.columns)} |"
        rule = f"|---|{'--:|' * (len(self.columns) - 1)}"
        body = [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([f"## {self.title}", "", *([self.note, ""] if self.note else []), head, rule, *body, ""])


def microseconds(seconds: float) -> str:
    """Three digits that matter, in microseconds."""
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit that is measured, and whether the tree differs from it."""
    try:
        name = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "not in a repository"
    return name.stdout.strip()


def conditions(versions: Iterable[tuple[str, str]], digest: str, how: str) -> list[str]:
    """Machine, versions and command, one a line."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return [
        f"machine: {processor()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}",
        f"load when it began: {load:.2f}",
        f"Python: {platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}",
        f"commit: {commit()}",
        f"libraries: {', '.join(f'{name} {version}' for name, version in versions)}",
        f"data: {digest}",
        f"how: {how}",
        f"command: python {' '.join([os.path.relpath(sys.argv[0], ROOT), *sys.argv[1:]])}",
        f"date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    ]
