"""How output looks: colours on a terminal, plain text elsewhere, a progress bar for long work."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..inspector.hexdump import Row
from ..inspector.tree import Line

LONG: Final = 1 << 20  # bytes of input from which on a bar is shown
SIDE_BY_SIDE: Final = 140  # columns from which on requests and replies stand beside each other
_STYLES: Final = {
    "string": "green",
    "long string": "green",
    "number": "cyan",
    "integer": "cyan",
    "double": "cyan",
    "boolean": "magenta",
    "null": "dim",
    "undefined": "dim",
    "reference": "yellow",
    "skipped": "bold red",
    "date": "blue",
}


def console() -> Console:
    """Standard output.  It counts as no terminal where NO_COLOR is set: rich would leave bold and dim text."""
    if os.environ.get("NO_COLOR"):
        return Console(file=sys.stdout, force_terminal=False, highlight=False, markup=False, soft_wrap=True)
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def out(text: str = "") -> None:
    """A line of plain text."""
    sys.stdout.write(f"{text}\n")


def heading(text: str) -> None:
    screen = console()
    if screen.is_terminal:
        screen.print(Text(text, style="bold"))
    else:
        out(text)


def tree_lines(lines: Iterable[Line]) -> None:
    """The lines of a tree."""
    screen = console()
    if not screen.is_terminal:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    for line in lines:
        screen.print(_coloured(line))


def _coloured(line: Line) -> Text:
    text = Text(f"{line.offset:06x}  ", style="dim")
    text.append(f"{'  ' * line.depth}{f'{line.label}: ' if line.label else ''}", style="not dim bold")
    text.append(line.what, style=f"not dim {_STYLES.get(line.kind, 'default')}")
    if line.notes:
        text.append(
            f"  {line.notes}", style="not dim red" if "DAMAGED" in line.notes or line.kind == "skipped" else "dim"
        )
    return text


def hex_rows(rows: Iterable[Row]) -> None:
    """The rows of an annotated dump."""
    screen = console()
    if not screen.is_terminal:
        sys.stdout.writelines(f"{row}\n" for row in rows)
        return
    for row in rows:
        line = str(row)
        text = Text(line[:8], style="dim")
        text.append(line[8:57], style=f"not dim {_STYLES.get(row.kind, 'default')}")
        text.append(line[57:], style="dim" if not row.meaning else "not dim")
        screen.print(text)


def beside(left: Iterable[str], right: Iterable[str], width: int) -> None:
    """Two texts side by side, each line cut where its half ends."""
    half = (width - 3) // 2
    for one, other in itertools.zip_longest(left, right, fillvalue=""):
        out(f"{_cut(one, half):<{half}} | {_cut(other, half)}".rstrip())


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 3]}..."


def columns() -> int:
    """The width of the terminal; 0 where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


class Bar:
    """How far long work has come, on standard error: called with how much is done, and of how much."""

    def __init__(self, progress: Progress, task: TaskID, total: int) -> None:
        self._progress = progress
        self._task = task
        self._total = total

    def __call__(self, done: int, total: int | None = None) -> None:
        self._progress.update(self._task, completed=done, total=self._total if total is None else total)

    def give_way(self) -> None:
        """Before output: on one terminal both would be a jumble, and the output shows the progress itself."""
        if sys.stdout.isatty():
            self._progress.stop()


@contextmanager
def progress(what: str, size: int) -> Iterator[Bar | None]:
    """A bar on standard error for long work, for whoever looks; None for work that is not, or where nobody does."""
    screen = Console(stderr=True)
    if size < LONG or not screen.is_terminal:
        yield None
        return
    # rich would send what is printed meanwhile to the bar's own stream: `inspect big.har > file` would stay empty.
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        yield Bar(bar, bar.add_task(what, total=size), size)
