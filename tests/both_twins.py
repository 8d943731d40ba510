"""The twins by name, and which of them are to be tested."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# The modules of each twin.  A missing extension fails: skipped, half of the tests could vanish unseen.
TWINS = {
    "python": ("amfgate._encoder_py", "amfgate._decoder_py"),
    "cython": ("amfgate._encoder", "amfgate._decoder"),
}


def twins_to_test() -> list[str]:
    """Both, unless AMFGATE_EXTENSIONS=off says that only the Python twin is there."""
    if os.environ.get("AMFGATE_EXTENSIONS", "auto") == "off":
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
