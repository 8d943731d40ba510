"""The documentation runs: each ```python block is executed, each ```pycon block is a session whose output must match.

The blocks of one file share one namespace, in the order in which a reader meets them.  A block that cannot run by
itself (it needs a server, a framework that is not installed, or is only a shape) is fenced as ```py-fragment, and
only has to be Python.
"""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^```(python|pycon|py-fragment)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, int, str]]:
    """The fenced blocks of a page: their kind, the lines above them, their text."""
    text = page.read_text(encoding="utf-8")
    return [(found[1], text.count("\n", 0, found.start(2)), found[2]) for found in FENCE.finditer(text)]


def run_session(page: Path, line: int, text: str, namespace: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(text, namespace, page.name, str(page), line)
    session.globs = namespace  # the parser makes a copy; names have to reach the next block
    report: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=report.append, clear_globs=False)
    assert outcome.attempted, f"{page.name}:{line}: a pycon block without >>>"
    assert not outcome.failed, "".join(report)


def run_page(page: Path) -> None:
    """Run the blocks of a page, in this process."""
    module = sys.modules["page"] = types.ModuleType("page")  # where dataclasses and annotations look names up
    namespace = vars(module)
    for kind, line, text in blocks(page):
        if kind == "pycon":
            run_session(page, line, text, namespace)
            continue
        padded = "\n" * line + text  # so that a traceback names the line of the page
        if kind == "py-fragment":
            ast.parse(padded, str(page))
        else:
            exec(compile(padded, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    """In a process of its own: pages register classes, under aliases that other pages use too."""
    command = [sys.executable, "-W", "error", __file__, str(page)]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_and_the_manuals_have_code_that_runs() -> None:
    """Guards the test above: a fence that is spelt otherwise would pass by not running."""
    pages_with_code = {page.name for page in PAGES if any(kind != "py-fragment" for kind, _, _ in blocks(page))}
    manuals = {"usage.md", "codec.md", "pipeline.md", "clients.md", "reading-captures.md", "client.md", "testing.md"}
    manuals |= {"frameworks.md", "servers.md", "games.md", "from-pyamf.md", "flex.md"}
    assert {"README.md", *manuals} <= pages_with_code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
