"""A compiled Royale application, and the page that it runs in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import flask
from browser import HERE
from real import leave_out


def compiled(name: str) -> Path:
    """Where the application of the folder `name` is, compiled; a skip or a failure where something is missing."""
    wanting = f"left out: tests/clients/test_{name}.py, for want of"
    found = f"{wanting} bash"
    if shutil.which("bash"):
        installer = ["bash", str(HERE / name / "install.sh"), "--check"]
        found = subprocess.run(installer, stdout=subprocess.PIPE, text=True).stdout.strip()
    for program in ("chromium", "node"):
        if shutil.which(program) is None:
            found = f"{wanting} {program} (bash tests/clients/install.sh)"
    if not (HERE / "node_modules/playwright-core").exists():
        found = f"{wanting} playwright-core (bash tests/clients/install.sh)"
    if found.startswith("left out:"):
        leave_out(found)
    return Path(found)


def site(app_folder: Path) -> flask.Flask:
    """Serves the application, with page.js in front of it."""
    site = flask.Flask("royale")
    script = (HERE / "royale/page.js").read_text(encoding="utf-8")
    page = (app_folder / "index.html").read_text(encoding="utf-8")
    page = page.replace("<head>", f"<head><script>{script}</script>", 1)

    @site.get("/")
    def index() -> str:
        return page

    @site.get("/favicon.ico")
    def icon() -> tuple[str, int]:
        return "", 204

    @site.get("/<path:name>")
    def file(name: str) -> flask.Response:
        return flask.send_from_directory(app_folder, name)

    return site
