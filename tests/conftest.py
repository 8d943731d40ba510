"""Fixtures: every test that asks for `codec` runs on each twin."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The modules of each twin.  A missing extension fails: skipped, half of the tests could vanish unseen.
TWINS = {
    "python": ("amfgate._encoder_py", "amfgate._decoder_py"),
    "cython": ("amfgate._encoder", "amfgate._decoder"),
}


def twins_to_test() -> list[str]:
    """Both, unless AMFGATE_EXTENSIONS=off says that only the Python twin is there."""
    if os.environ.get("AMFGATE_EXTENSIONS", "auto") == "off" or not (ROOT / "src/amfgate/_decoder.pyx").exists():
        return ["python"]
    return ["python", "cython"]


@dataclass(frozen=True)
class Codec:
    """One twin: what `amfgate.dumps`, `loads`, `Encoder` and `Decoder` are when it is the chosen one."""

    name: str
    dumps: Callable[..., bytes]
    loads: Callable[..., Any]
    Encoder: type[Any]
    Decoder: type[Any]


def load_twin(name: str) -> Codec:
    from amfgate.codec import bind

    encoder_module, decoder_module = TWINS[name]
    encoder = importlib.import_module(encoder_module).Encoder
    decoder = importlib.import_module(decoder_module).Decoder
    dumps, loads = bind(encoder, decoder)
    return Codec(name, dumps, loads, encoder, decoder)


@pytest.fixture(params=twins_to_test())
def codec(request: pytest.FixtureRequest) -> Codec:
    """The codec, once for each twin."""
    return load_twin(request.param)


@pytest.fixture
def twins() -> tuple[Codec, Codec]:
    """Both twins side by side, for tests that compare them."""
    if twins_to_test() != ["python", "cython"]:
        pytest.skip("AMFGATE_EXTENSIONS=off: there is one twin only")
    return load_twin("python"), load_twin("cython")
