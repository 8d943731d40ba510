"""The command line as a whole: help, exit status, errors in one line, colours, completion, missing extras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import amfgate.cli
from amfgate.__main__ import main

SOURCES = Path(amfgate.__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ["inspect"],
        ["from-json"],
        ["call"],
        ["serve"],
        ["as3"],
        ["completion"],
        ["sol", "show"],
        ["sol", "edit"],
        ["sol", "from-json"],
    ],
    ids=" ".join,
)
def test_each_command_has_help_with_examples(amfgate_command: Any, command: list[str]) -> None:
    done = amfgate_command(*command, "--help")
    assert done.status == 0
    assert f"  amfgate {' '.join(command)} " in done.out


def test_a_usage_error_is_two_and_names_the_help(amfgate_command: Any) -> None:
    done = amfgate_command("inspect")
    assert (done.status, done.out) == (2, "")
    assert done.err == "amfgate: Missing argument 'FILE|-|HEX...'. (see amfgate inspect --help)\n"


def test_an_error_is_one_line(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "-", stdin=b"<html>")
    assert (done.status, done.err) == (1, "amfgate: standard input: no AMF: it looks like HTML\n")


@pytest.mark.parametrize("place", [0, 1, 3])
def test_debug_shows_the_traceback_wherever_it_stands(amfgate_command: Any, place: int) -> None:
    arguments = ["inspect", "-"]
    arguments.insert(place, "--debug")
    done = amfgate_command(*arguments, stdin=b"<html>")
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith("amfgate: standard input: no AMF: it looks like HTML\n")


def test_a_file_that_cannot_be_read_is_three(amfgate_command: Any, tmp_path: Path) -> None:
    done = amfgate_command("inspect", tmp_path)
    assert (done.status, done.err) == (3, f"amfgate: {tmp_path}: Is a directory\n")


def test_no_colour_when_piped_and_colour_when_asked_for(amfgate_command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert b"\x1b[" not in amfgate_command("inspect", "0401").data
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert b"\x1b[36m" in amfgate_command("inspect", "0401").data
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[" not in amfgate_command("inspect", "0401").data


def test_a_bar_on_long_work_leaves_the_output_alone(tmp_path: Path) -> None:
    """Standard error is a terminal, standard output a file: the file gets what is printed, the terminal the bar."""
    pty = pytest.importorskip("pty")
    call = {"mimeType": "application/x-amf", "text": "\0\0\0\0\0\1\0\3a.b\0\2/1\0\0\0\5\x0a\0\0\0\0"}
    entries = [{"request": {"method": "POST", "url": "http://example.org/amf", "postData": call}}]
    (tmp_path / "long.har").write_text(json.dumps({"log": {"entries": entries, "comment": "x" * (1 << 20)}}))
    code = "import sys; from amfgate import cli; sys.exit(cli.run(['inspect', 'long.har']))"
    environ = {**os.environ, "PYTHONPATH": str(SOURCES), "TERM": "xterm-256color"}
    master, terminal = pty.openpty()
    with (tmp_path / "out").open("wb") as out:
        started = subprocess.Popen(
            [sys.executable, "-c", code], cwd=tmp_path, env=environ, stdout=out, stderr=terminal, close_fds=True
        )
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:  # what Linux says of a terminal that everybody left
            pass
        os.close(master)
        assert started.wait(timeout=60) == 0
    assert b'call of "a.b"' in (tmp_path / "out").read_bytes()
    assert b"long.har" in shown and b"call of" not in shown


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_for_a_shell(amfgate_command: Any, shell: str) -> None:
    assert f"_AMFGATE_COMPLETE={shell}_complete" in amfgate_command("completion", shell).out


def test_completion_completes(amfgate_command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AMFGATE_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", "amfgate sol e")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        amfgate_command()


def test_completion_completes_names_of_files(capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AMFGATE_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", "amfgate inspect sav")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        amfgate.cli.run([])
    assert capfd.readouterr().out == "file\nsav\n_\n"


def test_the_version(amfgate_command: Any) -> None:
    assert amfgate_command("--version").out == f"amfgate {amfgate.__version__}\n"


def test_the_module_without_arguments_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"amfgate {amfgate.__version__}, codec: ")
    assert printed.out.count("\n") == 1
    assert printed.err == ""


def test_the_console_script_alone_prints_its_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["amfgate"])
    with pytest.raises(SystemExit) as ended:
        amfgate.cli.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("Usage: amfgate [OPTIONS] COMMAND [ARGS]...")


def test_without_click_the_module_says_how_to_get_the_rest(tmp_path: Path) -> None:
    """In an interpreter that finds no click: the version line stays, and commands say what is missing."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['click'] = None\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCES}"}
        command = [sys.executable, "-m", "amfgate", *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)

    done = run()
    assert done.returncode == 0
    assert done.stdout.startswith("amfgate ")
    assert done.stderr == f"{amfgate.cli.HOW_TO_GET}\n"
    done = run("inspect", "0401")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", f"amfgate: {amfgate.cli.HOW_TO_GET}\n")


def test_a_closed_pipe_is_no_error() -> None:
    code = "import sys; from amfgate import cli; sys.exit(cli.run(['inspect', '--hex', '-']))"
    command = f'{sys.executable} -c "{code}" | head -c 1'
    data = amfgate.dumps(list(range(5000)))
    environ = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(command, shell=True, input=data, env=environ, capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"0", b"")


def test_a_closed_pipe_is_no_bad_news() -> None:
    code = "import sys; from amfgate import cli; sys.exit(cli.run(['inspect', '0401', '--json']))"
    environ = {**os.environ, "PYTHONPATH": str(SOURCES)}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], env=environ, stdout=writer, stderr=subprocess.PIPE, timeout=60
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
