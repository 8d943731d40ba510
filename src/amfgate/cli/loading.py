"""MODULE and MODULE:NAME of a command line: what they name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click


def load(text: str) -> Any:
    """What MODULE:NAME names; NAME may have dots, and `()` behind it for a function that makes the application."""
    module_name, colon, names = text.rpartition(":")
    if not colon or not module_name or not names:
        raise click.UsageError(f"{text!r} is not MODULE:APP, as in shop:app")
    value: Any = load_module(module_name)
    call = names.endswith("()")
    names = names.removesuffix("()")
    for name in names.split("."):
        try:
            value = getattr(value, name)
        except AttributeError:
            raise click.UsageError(f"{module_name} has no {names}") from None
    return value() if call else value


def load_module(name: str) -> ModuleType:
    """The module of a name, here or installed, or of a file's name that ends in .py."""
    sys.path.insert(0, "")
    if name.endswith(".py"):
        path = Path(name)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.exists():
            raise click.UsageError(f"there is no file {name}")
        sys.path.insert(0, str(path.parent))
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses and annotations look their module up
        spec.loader.exec_module(module)
        return module
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise click.UsageError(f"there is no module {name} here or installed") from None
