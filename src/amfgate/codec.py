"""Chooses the twin, and offers the codec: `dumps`, `loads`, `Encoder`, `Decoder`.

`AMFGATE_EXTENSIONS` in the environment says which twin:

auto     the compiled one if it is there; the Python one, quietly, if it is not; the Python one and a RuntimeWarning
         if it is there and does not load, as in a second sub-interpreter
require  the compiled one, or its ImportError
off      the Python one

`IMPLEMENTATION` is "cython" or "python"; `WHY` says why it is not cython, or where the extension was loaded from.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ._wire import Limits
from .classes import ClassRegistry
from .errors import DecodeError
from .flex import collections as _collections  # registers the Flex collections, which every registry knows
from .flex import small as _small  # and the small messages
from .looks import explained

__all__ = ["IMPLEMENTATION", "WHY", "Decoder", "Encoder", "bind", "dumps", "loads"]

_REGISTERED = (_collections, _small)


def _choose(setting: str) -> tuple[str, str, Any, Any]:
    """(implementation, why, encoder class, decoder class) for a setting of AMFGATE_EXTENSIONS."""
    if setting not in ("auto", "require", "off"):
        raise ImportError(f"AMFGATE_EXTENSIONS is auto, require or off, not {setting!r}")
    if setting == "off":
        return "python", "switched off by AMFGATE_EXTENSIONS=off", *_python_twins()
    try:
        encoder = importlib.import_module("amfgate._encoder")
        decoder = importlib.import_module("amfgate._decoder")
    except ModuleNotFoundError as error:
        if setting == "require" or error.name not in ("amfgate._encoder", "amfgate._decoder"):
            raise
        return "python", "no compiled extension is installed", *_python_twins()
    except ImportError as error:
        if setting == "require":
            raise
        why = f"the compiled extension does not load: {error}"
        warnings.warn(f"amfgate runs in Python: {why}", RuntimeWarning, stacklevel=2)
        return "python", why, *_python_twins()
    return "cython", f"loaded from {encoder.__file__}", encoder.Encoder, decoder.Decoder


def _python_twins() -> tuple[Any, Any]:
    encoder = importlib.import_module("amfgate._encoder_py")
    decoder = importlib.import_module("amfgate._decoder_py")
    return encoder.Encoder, decoder.Decoder


def bind(encoder_class: Any, decoder_class: Any) -> tuple[Callable[..., bytes], Callable[..., Any]]:
    """`dumps` and `loads` over one twin; the tests hold both."""

    def dumps(
        value: Any,
        *,
        version: int = 3,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        strings: str = "adaptive",
        default: Callable[[Any], Any] | None = None,
        big_ints: str = "error",
        decimals: str = "float",
    ) -> bytes:
        """The AMF bytes of one value.

        version: 3, or 0 for AMF0.
        classes: the ClassRegistry to look classes up in; None is the process-wide one.
        limits: `max_depth` and `max_values` apply; None bounds the depth alone (512).
        strings: "adaptive" stops looking for repeats in a column of distinct strings; "all" refers to every repeat, as
            a canonical writer does.  Same value, slightly other bytes.
        default: called with what nothing else can send; returns what to send instead.
        big_ints: an int beyond 2**53, which a double would change: "error", "float" (send the nearest double) or
            "string" (its digits).
        decimals: "float" sends a Decimal as a double if that is exact and is an error if not; "string" sends its
            digits.

        EncodeError names the path of what cannot be sent exactly, ValueError an option that is none.
        """
        encoder = encoder_class(
            version=version,
            classes=classes,
            limits=limits,
            strings=strings,
            default=default,
            big_ints=big_ints,
            decimals=decimals,
        )
        data: bytes = encoder.encode(value)
        return data

    def loads(
        data: Any,
        *,
        version: int = 3,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        plain: bool = False,
        dates: str = "datetime",
    ) -> Any:
        """The value that AMF bytes mean: one value, the whole input.

        data: any bytes-like object; TypeError for a str.
        version: 3, or 0 for AMF0; it is never guessed.
        classes: the ClassRegistry to look aliases up in; None is the process-wide one.  What it does not know comes
            as TypedObject.
        limits: see `amfgate.Limits`; None bounds the depth alone (512).
        plain: ordinary Python for services: an associative array with keys 0 to n-1 is a list, a whole double within
            2**53 an int, an anonymous sealed object a dict, a Flex collection its source.
        dates: "datetime" gives aware datetimes in UTC, "ms" milliseconds since the epoch as float.

        DecodeError says what was found and where; one with bytes behind the value is an error too.
        """
        decoder = decoder_class(data, version=version, classes=classes, limits=limits, plain=plain, dates=dates)
        try:
            value = decoder.decode()
        except EOFError:
            raise DecodeError("no value: the input is empty", 0) from None
        except DecodeError as error:
            raise explained(error, data) from error.__cause__
        if not decoder.at_end:
            raise explained(DecodeError(f"{decoder.bytes_left} bytes follow the value", decoder.offset), data)
        return value

    found: list[Callable[..., Any]] = []
    for function, twin in ((dumps, encoder_class), (loads, decoder_class)):
        compiled = getattr(sys.modules[twin.__module__], function.__name__, None)
        if compiled is not None:  # the same without the detour; its manual page is the one above
            compiled.__doc__ = function.__doc__
        found.append(compiled or function)
    return found[0], found[1]


IMPLEMENTATION, WHY, Encoder, Decoder = _choose(os.environ.get("AMFGATE_EXTENSIONS", "auto"))
dumps, loads = bind(Encoder, Decoder)
