"""What all commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click


@dataclass(slots=True)
class Settings:
    """One run of the command line."""

    debug: bool = False


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.find_root().ensure_object(Settings).debug = True


def debug_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--debug`, which may stand anywhere."""
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_set_debug,
        help="Show the traceback of an error, not only its one line.",
    )(command)
