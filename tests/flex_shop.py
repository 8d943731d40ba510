"""The server of examples/flex_shop, for the tests that call it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

import amfgate
from amfgate.classes import default_registry

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples/flex_shop"


@contextmanager
def flex_shop() -> Iterator[ModuleType]:
    """The module, fresh.  The classes that it registers process-wide are forgotten afterwards."""
    before = set(default_registry)
    sys.path.insert(0, str(EXAMPLE))
    try:
        shop = import_module("shop")
        assert isinstance(shop.application, amfgate.Gateway)
        yield shop
    finally:
        sys.path.remove(str(EXAMPLE))
        sys.modules.pop("shop", None)
        for cls in set(default_registry) - before:
            default_registry.unregister(cls)
