"""Servers as processes: how each is started, asked and stopped.

A server and what it starts is a process group of its own, in a folder of its own, and goes away with it.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.metadata
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from real import leave_out

import amfgate
from amfgate import Body, Packet

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
MODULES = Path("/usr/lib/apache2/modules")
SECONDS = 20  # for one to start, and for one request; they need less than one
AMF = {"Content-Type": "application/x-amf"}


Command = Callable[[int, Path], list[str]]


@dataclass(frozen=True)
class Server:
    """How a server is started, and what may be expected of it.

    command: its command line for a port and a folder.
    needs: the distribution that it is.
    chunked: the HTTP status of a chunked request; 200 where the server reads it.
    keeps: whether a connection serves more than one request.
    workers: how many processes answer; None if that is not to be known.
    """

    name: str
    command: Command
    needs: str | None = None
    chunked: int = 200
    keeps: bool = True
    workers: int = 1


def gunicorn(*more: str) -> Command:
    def command(port: int, folder: Path) -> list[str]:
        options = ["-b", f"127.0.0.1:{port}", "--no-control-socket", "--log-level", "warning", *more]
        return [str(BIN / "gunicorn"), *options, "server_app:application"]

    return command


def wsgiref(port: int, folder: Path) -> list[str]:
    return [sys.executable, "-W", "error", str(HERE / "server_app.py"), str(port)]


def waitress(port: int, folder: Path) -> list[str]:
    return [str(BIN / "waitress-serve"), f"--listen=127.0.0.1:{port}", "--threads=4", "server_app:application"]


def granian(port: int, folder: Path) -> list[str]:
    options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--workers", "2", "--no-access-log"]
    return [str(BIN / "granian"), *options, "--log-level", "warning", "server_app:application"]


def uwsgi(port: int, folder: Path) -> list[str]:
    options = ["--master", "--die-on-term", "--processes", "2", "--threads", "2", "--need-app", "--disable-logging"]
    options += ["--reload-mercy", "1", "--worker-reload-mercy", "1"]
    options += ["--http11-socket", f"127.0.0.1:{port}", "--module", "server_app:application"]
    return [str(BIN / "uwsgi"), *options]


APACHE = """
ServerName localhost
ServerRoot {folder}
DefaultRuntimeDir {folder}
PidFile {folder}/apache.pid
Mutex file:{folder} default
ErrorLog {folder}/log
Listen 127.0.0.1:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
{user}
WSGISocketPrefix {folder}/wsgi
WSGIDaemonProcess amf processes=1 threads=4 python-path={folder}/site shutdown-timeout=1
WSGIProcessGroup amf
WSGIChunkedRequest On
<Directory {folder}/site>
    Require all granted
</Directory>
{scripts}
"""

# In the main interpreter of the process, where the compiled codec can always be loaded.
ONE_APPLICATION = "WSGIScriptAlias / {folder}/site/server_app.py application-group=%{{GLOBAL}}"
TWO_APPLICATIONS = """
WSGIScriptAlias /one {folder}/site/server_app.py application-group=one
WSGIScriptAlias /two {folder}/site/server_app.py application-group=two
"""


def mod_wsgi(scripts: str) -> Command:
    """Apache in the foreground, with applications in one daemon process.

    Its workers are somebody else if this is root, and cannot look into everybody's folders: they get a copy.
    """

    def command(port: int, folder: Path) -> list[str]:
        site = folder / "site"
        if not site.exists():
            for package in (amfgate, msgspec):
                source = Path(str(package.__file__)).parent
                shutil.copytree(source, site / source.name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(HERE / "server_app.py", site)
        user = "User www-data\nGroup www-data" if os.getuid() == 0 else ""
        text = APACHE.format(
            folder=folder, port=port, modules=MODULES, user=user, scripts=scripts.format(folder=folder)
        )
        (folder / "apache.conf").write_text(text)
        return ["/usr/sbin/apache2", "-f", str(folder / "apache.conf"), "-DFOREGROUND"]

    return command


SERVERS = [
    Server("wsgiref", wsgiref, chunked=400, keeps=False),
    Server("gunicorn-sync", gunicorn("-w", "2"), "gunicorn", keeps=False, workers=2),
    Server("gunicorn-gthread", gunicorn("-w", "2", "-k", "gthread", "--threads", "4"), "gunicorn", workers=2),
    Server("waitress", waitress, "waitress"),
    Server("granian", granian, "granian", workers=2),
    Server("uwsgi", uwsgi, "uwsgi", chunked=400, workers=2),
    Server("mod_wsgi", mod_wsgi(ONE_APPLICATION), "mod_wsgi"),
]


@dataclass
class Running:
    """A server that answers at a port."""

    server: Server
    codec: str
    port: int
    log: Path
    closed: Path
    process: subprocess.Popen[bytes]

    def starts(self) -> bool:
        """Wait until it answers; False if it ended instead."""
        wait_for(lambda: answers(self.port) or self.process.poll() is not None)
        return answers(self.port) and self.process.poll() is None

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def post(self, data: Any, path: str = "/amf", **more: Any) -> tuple[int, dict[str, str], bytes]:
        with contextlib.closing(self.connect()) as connection:
            return exchange(connection, data, path, **more)

    def call(self, target: str, *args: Any, version: int = 0, path: str = "/amf") -> Any:
        """The result of one call, or the code of its fault."""
        status, headers, data = self.post(packet((target, list(args)), version=version), path)
        assert (status, headers["content-type"]) == (200, "application/x-amf"), self.story()
        (body,) = Packet.from_bytes(data).bodies
        return body.value["code"] if body.target.endswith("/onStatus") else body.value

    def story(self) -> str:
        return f"{self.server.name} said:\n{self.log.read_text(errors='replace')[-4000:]}"


def packet(*calls: tuple[str, list[Any]], version: int = 0) -> bytes:
    return Packet(version, [], [Body(target, f"/{n}", args) for n, (target, args) in enumerate(calls, 1)]).to_bytes()


def exchange(connection: Any, data: Any, path: str = "/amf", **more: Any) -> tuple[int, dict[str, str], bytes]:
    """One POST; headers come with their names in small letters."""
    connection.request("POST", path, data, AMF, **more)
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


# Starting and stopping


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.5).close()
    except OSError:
        return False
    return True


def wait_for(condition: Callable[[], bool], seconds: float = SECONDS) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server and what it started: they are a process group of their own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # workers that outlived their master


@contextlib.contextmanager
def running(server: Server, extensions: str, codec: str) -> Iterator[Running]:
    """Start a server with this setting of AMFGATE_EXTENSIONS, which is expected to choose this codec."""
    with tempfile.TemporaryDirectory(prefix=f"amfgate-{server.name}-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        closed, log = folder / "closed", folder / "log"
        for file in (closed, log):
            file.touch()
            file.chmod(0o666)
        environ = {**os.environ, "AMFGATE_EXTENSIONS": extensions, "AMFGATE_TEST_CLOSED": str(closed)}
        environ["PYTHONPATH"] = os.pathsep.join([str(HERE), str(Path(amfgate.__file__).parents[1])])
        environ["PYTHONDONTWRITEBYTECODE"] = "1"
        for _ in range(3):  # somebody else may have taken the port in between
            port = free_port()
            with log.open("ab") as output:
                process = subprocess.Popen(
                    server.command(port, folder),
                    cwd=folder,
                    env=environ,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            one = Running(server, codec, port, log, closed, process)
            if one.starts():
                break
            stop(process)
        else:
            pytest.fail(f"{server.name} did not start; {one.story()}")
        try:
            yield one
        finally:
            stop(process)
            assert wait_for(lambda: not answers(port), 5), f"{server.name} still answers at port {port}"


def need(server: Server) -> None:
    """Skip the test, or fail it, where the server is not installed."""
    reason = None
    if server.needs in ("uwsgi", "mod_wsgi"):
        reason = left_out(server.needs)
    elif server.needs is not None:
        try:
            importlib.metadata.version(server.needs)
        except importlib.metadata.PackageNotFoundError:
            reason = f"left out: tests/servers with {server.needs} (pip installs it)"
    if reason is not None:
        leave_out(reason)


def left_out(name: str) -> str | None:
    """install.sh's line about a server that it did not bring."""
    bash = shutil.which("bash")
    if bash is None:
        return f"left out: tests/servers with {name} (no bash)"
    told = subprocess.run([bash, HERE / "install.sh", sys.executable, "--check"], stdout=subprocess.PIPE, text=True)
    return next((line for line in told.stdout.splitlines() if f" with {name} " in line), None)
