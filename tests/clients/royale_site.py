"""A compiled Royale application, and the page that it runs in."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import flask
from browser import HERE
from real import leave_out

LIBRARIES = ("MXRoyaleBaseJS.swc", "MXRoyaleJS.swc")  # where mx.rpc is


def compiled_from(sources: Mapping[str, str], wanting: str) -> Path:
    """The folder of the application that is made of these files, Main.mxml among them, which may link mx.rpc.

    It is compiled here, once for each text, by the compiler that royale/install.sh puts into the cache, and Java.
    wanting: how the skip or the failure begins if that, or what a page needs, is missing.
    """
    compiler = _compiler(wanting)
    told = "".join(f"{name}\n{source}\n" for name, source in sources.items())
    digest = hashlib.sha256((told + str(compiler) + str(LIBRARIES)).encode()).hexdigest()
    app = _cache() / f"royale-app-{digest[:16]}"
    if (app / "index.html").exists():
        return app
    with tempfile.TemporaryDirectory(dir=_cache()) as work:
        for name, source in sources.items():
            path = Path(work, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        paths = [f"-js-library-path+={compiler / 'frameworks/js/libs' / library}" for library in LIBRARIES]
        script = compiler / "js/bin/mxmlc"
        command = ["bash", script, "-targets=JSRoyale", "-debug=true", *paths, Path(work, "Main.mxml")]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        said = ran.stdout
        assert "successfully compiled" in said and "Warning" not in said, said
        try:
            Path(work, "bin/js-debug").rename(app)
        except OSError:  # another run was faster
            assert (app / "index.html").exists()
    return app


def _cache() -> Path:
    """As in royale/install.sh."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("AMFGATE_TEST_CACHE") or Path(home) / "amfgate-tests")


def _compiler(wanting: str) -> Path:
    """Where the compiler is; a skip or a failure if it, or what else is needed, is missing."""
    found = re.search(r"^VERSION=(\S+)$", (HERE / "royale/install.sh").read_text(), re.MULTILINE)
    assert found is not None
    folder = _cache() / f"royale-{found[1]}/node_modules/@apache-royale/royale-js/royale-asjs"
    for program in ("bash", "java", "chromium", "node"):
        if shutil.which(program) is None:
            leave_out(f"{wanting} {program} (bash tests/clients/install.sh)")
    if not folder.exists():
        leave_out(f"{wanting} the compiler (bash tests/clients/royale/install.sh)")
    if not (HERE / "node_modules/playwright-core").exists():
        leave_out(f"{wanting} playwright-core (bash tests/clients/install.sh)")
    return folder


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
