"""The command line, run in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from amfgate import cli


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit status."""

    status: int
    data: bytes
    err: str

    @property
    def out(self) -> str:
        return self.data.decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def amfgate_command(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """`run("inspect", "0a0b01")` gives what was printed; `stdin` is bytes."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        status = cli.run([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return Outcome(status, captured.out, captured.err.decode())

    return run
