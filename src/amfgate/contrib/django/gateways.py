"""`gateway`, for wsgi.py, and `view`, for urls.py: both made out of settings and arguments."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.utils.module_loading import import_string

from ..._wire import Limits
from ...actions import adapt, bind, find, invoke
from ...filters import Dispatch, Flex, PacketCodec
from ...gateway import Gateway, WsgiApp
from ...pipeline import REQUEST
from ...services import ServiceRegistry
from .faults import faults_of
from .services import discover
from .sessions import project_session
from .steps import Atomic, DjangoCredentials, ProjectMiddleware, RequestCycle, authorize, trusted_origin

# What AMFGATE may have, and what is handed on to Gateway under the same name.
_GATEWAY: Final = (
    "path",
    "cors",
    "crossdomain",
    "limits",
    "targets",
    "case_insensitive",
    "debug",
    "classes",
    "faults",
    "flex_collections",
)
_DJANGO: Final = ("services", "atomic", "middleware", "credentials")

# By name: to import those of an app that is not installed is an error.
_KEEPERS: Final = frozenset(
    [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.RemoteUserMiddleware",
    ]
)


def gateway(app: WsgiApp | None, services: Any = None, **options: Any) -> Gateway:
    """Wrap the WSGI application of a Django project: `application = gateway(get_wsgi_application())`.

    services: as `amfgate.Gateway` takes them; None is what the settings name and `amf_services` modules hold.
    options: those of AMFGATE, in small letters; they win over the settings.

    ImproperlyConfigured for a setting that is none.  See `amfgate.contrib.django` for what a call has around it.
    """
    config = _configured(options)
    inner = _filters(config)
    middleware = config.pop("middleware")
    filters = [
        RequestCycle(),
        PacketCodec(),
        ProjectMiddleware(_own_middleware() if middleware is None else middleware, inner),
    ]
    return Gateway(app, _services(services, config), filters=filters, **config)


def view(services: Any = None, **options: Any) -> Callable[[Any], Any]:
    """The same as a view: `path("amf", view())` in urls.py.

    All of the project's middleware runs, as for any view, and `django.test.Client` reaches it.  The view is exempt from
    CSRF tokens, which no Flash program has; the Origin of a request is checked instead.  Django reads no chunked
    requests.  `path`, `middleware` and `crossdomain` are not taken: what is at which address is said by urls.py.
    """
    for name in ("path", "middleware", "crossdomain"):
        if name in options:
            raise TypeError(f"view() takes no {name}=: urls.py and MIDDLEWARE say that")
    config = _configured(options)
    inner = _filters(config)
    config.update(path="")
    del config["middleware"]
    served = Gateway(None, _services(services, config), filters=[PacketCodec(), *inner], **config)

    def amf(request: Any) -> Any:
        environ = {**request.environ, "PATH_INFO": "", REQUEST: request}
        if hasattr(request, "_body"):  # some middleware has read it
            environ["wsgi.input"] = io.BytesIO(request.body)
        seen: list[Any] = []
        body: Any = served(environ, lambda status, headers, exc_info=None: seen.extend((status, headers)))
        try:
            data = b"".join(body)
        finally:
            if hasattr(body, "close"):
                body.close()
        status, headers = seen
        code, _, reason = status.partition(" ")
        response = HttpResponse(data, status=int(code), reason=reason)
        for name, value in headers:
            response[name] = value
        return response

    amf.csrf_exempt = True  # type: ignore[attr-defined]
    return amf


def _configured(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `gateway`, those of the settings among them."""
    given = getattr(settings, "AMFGATE", {})
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(f"AMFGATE is a dict of settings, not {given!r}")
    known = (*_GATEWAY, *_DJANGO)
    for name in given:
        if not isinstance(name, str) or name.lower() not in known or name != name.upper():
            names = ", ".join(one.upper() for one in sorted(known))
            raise ImproperlyConfigured(f"AMFGATE[{name!r}] is no setting of amfgate; there are {names}")
    for name in options:
        if name not in known:
            raise TypeError(f"gateway() has no option {name!r}; there are {', '.join(sorted(known))}")
    config = {"debug": settings.DEBUG, "middleware": None, "atomic": None, "credentials": False, "services": None}
    config.update((name.lower(), value) for name, value in given.items())
    config.update(options)
    if isinstance(config.get("limits"), Mapping):
        config["limits"] = Limits(**config["limits"])
    config["faults"] = faults_of(config.get("faults"))
    return config


def _services(services: Any, config: dict[str, Any]) -> ServiceRegistry | Any:
    named = config.pop("services")
    return discover(named) if services is None else services


def _filters(config: dict[str, Any]) -> list[Any]:
    """The filters behind PacketCodec, and the actions in the last of them."""
    filters: list[Any] = [trusted_origin, project_session]
    if config.pop("credentials"):
        filters.append(DjangoCredentials())
    atomic = _atomic(config.pop("atomic"))
    steps = [find, authorize, bind, *([atomic] if atomic.databases else []), invoke, adapt]
    return [*filters, Flex(), Dispatch(steps)]


def _atomic(wanted: bool | str | Iterable[str] | None) -> Atomic:
    if wanted is None:
        return Atomic()
    if isinstance(wanted, bool):
        return Atomic(["default"] if wanted else [])
    return Atomic([wanted] if isinstance(wanted, str) else wanted)


def _own_middleware() -> list[str]:
    """Those of the project's middleware that find out the session and the user, in the project's order."""
    own: list[str] = []
    for path in settings.MIDDLEWARE:
        found = import_string(path)
        bases = found.__mro__ if isinstance(found, type) else ()
        if not _KEEPERS.isdisjoint(f"{base.__module__}.{base.__qualname__}" for base in bases):
            own.append(path)
    return own
