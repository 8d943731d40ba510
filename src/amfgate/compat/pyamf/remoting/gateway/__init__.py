"""PyAMF's `remoting.gateway`: what a service or one of its methods says about itself.

from amfgate.compat.pyamf.remoting.gateway import authenticate, expose_request, preprocess

@expose_request
def login(request, name): ...

authenticate(login, lambda name, password: ...)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["ServiceRequest", "ServiceWrapper", "authenticate", "expose_request", "preprocess"]

AUTHENTICATOR: Final = "_pyamf_authenticator"
PREPROCESSOR: Final = "_pyamf_preprocessor"
EXPOSE_REQUEST: Final = "_pyamf_expose_request"


@dataclass(eq=False)
class ServiceWrapper:
    """A service and what was said about it when it was added."""

    service: Any
    description: str | None = None
    authenticator: Callable[..., Any] | None = None
    expose_request: bool | None = None
    preprocessor: Callable[..., Any] | None = None


@dataclass(eq=False)
class ServiceRequest:
    """What a preprocessor is given: the packet, the service, and the name of the method, None for a function."""

    request: Any
    service: ServiceWrapper
    method: str | None


def authenticate(func: F, c: Callable[..., Any], expose_request: bool = False) -> F:
    """Have `c(username, password)` decide about calls of `func`: only True lets them pass."""
    return _said(func, AUTHENTICATOR, _exposing(c) if expose_request else c)


def preprocess(func: F, c: Callable[..., Any], expose_request: bool = False) -> F:
    """Have `c(service_request, *args)` called before `func` is."""
    return _said(func, PREPROCESSOR, _exposing(c) if expose_request else c)


def expose_request(func: F) -> F:
    """Give `func` the request, the WSGI environ, as its first argument."""
    return _said(func, EXPOSE_REQUEST, True)


_exposing = expose_request  # where a parameter has its name


def _said(func: F, name: str, value: Any) -> F:
    for one in (func, value):
        if one is not True and not callable(one):
            raise TypeError(f"a function was expected, not {one!r}")
    setattr(getattr(func, "__func__", func), name, value)
    return func


def __getattr__(name: str) -> Any:
    if name == "wsgi":
        return importlib.import_module(f"{__name__}.wsgi")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
