"""The filters and actions that do around a call what Django does around a view: in which order, and what for.

RequestCycle              signals, and cookies on the way back
PacketCodec
ProjectMiddleware         the request, and the project's middleware around all that follows:
    trusted_origin        no calls from other sites' pages
    project_session       `call.session`
    Flex
    Dispatch
        find
        authorize         the user and the permissions
        bind
        Atomic            a transaction
        invoke
        adapt
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.core.handlers.wsgi import WSGIRequest, get_script_name
from django.core.signals import request_finished, request_started
from django.db import connections, transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import set_script_prefix
from django.utils.module_loading import import_string

from ...errors import Fault
from ...filters import Credentials
from ...pipeline import REQUEST, Call, Exchange, Pipeline, Response
from ..origin import check_origin

# Places in the environ.
_EXCHANGE: Final = "amfgate.django.exchange"
_HEADERS: Final = "amfgate.django.headers"
_BLOCKS: Final = "amfgate.django.blocks"

_OURS: Final = ("content-type", "content-length", "cache-control")  # headers of the reply that PacketCodec writes


class RequestCycle:
    """The first filter: `request_started` before, `request_finished` when the server has closed the reply.

    Django's own receivers close old connections then, and forget the log of queries.  On the way back the headers that
    the project's middleware set, cookies among them, are put on the reply.
    """

    def on_request(self, exchange: Exchange) -> None:
        set_script_prefix(get_script_name(exchange.environ))
        exchange.defer(request_finished.send, type(self))
        request_started.send(sender=type(self), environ=exchange.environ)

    def on_response(self, exchange: Exchange) -> None:
        if isinstance(exchange.response, Response):
            exchange.response.headers.extend(exchange.environ.pop(_HEADERS, ()))


class ProjectMiddleware:
    """Makes `call.request`, and runs Django middleware around the filters that it holds, `inner`.

    `paths` are dotted names as in MIDDLEWARE, the first outermost.  They nest, as all of Django's do, and they see a
    response without content: the reply is encoded behind them.  What they set on it, headers and cookies, goes out with
    the reply.  A response of their own is sent in its place.  What they raise is a fault for each call.

    There is no view, so their `process_view` and `process_exception` are not called.
    """

    def __init__(self, paths: Iterable[str], inner: Iterable[Any]) -> None:
        self.pipeline = Pipeline(inner)
        self._envelopes = [step.envelope for step in self.pipeline.steps if hasattr(step, "envelope")]
        self._names: list[str] = []
        self._handler: Callable[[Any], Any] = self._serve
        for path in reversed(list(paths)):
            self._wrap(path)

    def envelope(self, call: Call) -> Any:
        """The envelope that one of the filters inside has for a call which failed before it got there."""
        return next((made for make in self._envelopes if (made := make(call)) is not None), None)

    def _wrap(self, path: str) -> None:
        try:
            factory = import_string(path)
        except ImportError as error:
            raise ImproperlyConfigured(f"AMFGATE['MIDDLEWARE']: {error}") from error
        if not getattr(factory, "sync_capable", True):
            raise ImproperlyConfigured(f"AMFGATE['MIDDLEWARE']: {path} is for async views only")
        try:
            handler = factory(self._handler)
        except MiddlewareNotUsed:
            return
        if handler is None:
            raise ImproperlyConfigured(f"AMFGATE['MIDDLEWARE']: {path} made no handler")
        self._handler = handler
        self._names.insert(0, path.rpartition(".")[2])

    def on_request(self, exchange: Exchange) -> None:
        environ = exchange.environ
        request = WSGIRequest(environ)
        request._body = exchange.data  # PacketCodec has read it
        request._stream = io.BytesIO(exchange.data)
        request._read_started = True
        environ[REQUEST] = request
        exchange.defer(environ.pop, REQUEST, None)  # they hold each other
        environ[_EXCHANGE] = exchange
        try:
            response = self._handler(request)
        finally:
            environ.pop(_EXCHANGE, None)
        headers = [(name, value) for name, value in response.items() if name.lower() not in _OURS]
        headers += [("Set-Cookie", cookie.OutputString()) for cookie in response.cookies.values()]
        if getattr(response, "holds_amf", False):
            environ[_HEADERS] = headers
            return
        if callable(getattr(response, "render", None)):
            response = response.render()
        headers += [(name, value) for name, value in response.items() if name.lower() in _OURS]
        status = f"{response.status_code} {response.reason_phrase}"
        exchange.response = Response(status, b"".join(response), headers)

    def _serve(self, request: Any) -> Any:
        """What the innermost middleware calls: the filters, and a response for the middleware to write on."""
        exchange = request.environ.pop(_EXCHANGE)
        self.pipeline.run(exchange)
        response = HttpResponse(content_type="application/x-amf")
        response.holds_amf = True
        return response

    def __repr__(self) -> str:
        return f"ProjectMiddleware({', '.join(self._names)}: {self.pipeline!r})"


def trusted_origin(exchange: Exchange) -> None:
    """Refuse calls of other sites' pages with the visitor's session: see `amfgate.contrib.origin`.

    The site's own origin, CSRF_TRUSTED_ORIGINS and those of `cors` may.
    """
    if "HTTP_ORIGIN" in exchange.environ:
        request = exchange.environ[REQUEST]
        own = f"{request.scheme}://{request.get_host()}"
        check_origin(exchange, (own, *settings.CSRF_TRUSTED_ORIGINS), "CSRF_TRUSTED_ORIGINS or cors=")


class DjangoCredentials:
    """Has the Credentials header of NetConnection, and the logins of Flex, checked by `django.contrib.auth`.

    Every backend of AUTHENTICATION_BACKENDS is asked, with the request, as in a login view.  The header makes no
    session; a login of Flex does, as `django.contrib.auth.login` in a view would.
    """

    headers = ("Credentials",)

    def on_request(self, exchange: Exchange) -> None:
        Credentials(partial(_check, exchange.environ[REQUEST])).on_request(exchange)


def _check(request: Any, userid: str, password: str) -> Any:
    from django.contrib.auth import authenticate

    return authenticate(request, username=userid, password=password)


def authorize(call: Call) -> None:
    """Set `call.user`, and let the call pass if that user may make it.

    The user is who gave credentials, or else who is logged in by the session; None for AnonymousUser.
    In `@amfgate.requires` a name with a dot is a permission (`"shop.change_product"`), another one a group, which a
    superuser need not be in.
    """
    request = call.exchange.environ[REQUEST]
    user = call.user
    if user is not None:
        request.user = user
    else:
        user = getattr(request, "user", None)
        if user is not None:
            user = user if user.is_authenticated else None
            call.user = user
    for requirement in () if call.method is None else call.method.requires:
        needed = requirement.needed
        if not isinstance(needed, str) or not hasattr(user, "has_perm"):
            requirement.check(call)
        elif not (user.has_perm(needed) if "." in needed else _in_group(user, needed)):
            raise Fault("Client.Authorization", "the user may not make this call")


def _in_group(user: Any, name: str) -> bool:
    if not user.is_active:
        return False
    return bool(user.is_superuser or user.groups.filter(name=name).exists())


class Atomic:
    """Puts each call in a transaction, which its fault rolls back.

    `databases` are the aliases; None is those that have ATOMIC_REQUESTS.  `@transaction.non_atomic_requests` on
    a method leaves it out, as on a view.  A QuerySet that a method returns is evaluated before the transaction ends.
    """

    def __init__(self, databases: Iterable[str] | None = None) -> None:
        if databases is None:
            databases = [alias for alias, options in connections.settings.items() if options["ATOMIC_REQUESTS"]]
        self.databases = tuple(databases)
        for alias in self.databases:
            if alias not in connections.settings:
                raise ImproperlyConfigured(f"AMFGATE['ATOMIC']: there is no database {alias!r} in DATABASES")

    def on_request(self, call: Call) -> None:
        blocks: list[Any] = []
        call.exchange.environ[_BLOCKS] = blocks
        left_out = () if call.method is None else getattr(call.method.function, "_non_atomic_requests", ())
        for alias in self.databases:
            if alias not in left_out:
                block = transaction.atomic(using=alias)
                block.__enter__()
                blocks.append(block)

    def on_response(self, call: Call) -> None:
        blocks = call.exchange.environ.pop(_BLOCKS, ())
        if blocks and call.fault is None and isinstance(call.result, QuerySet):
            try:
                len(call.result)
            except Exception as error:
                call.fail(error)
        while blocks:
            # Without an answer something that is no Exception is on its way up.
            reason = call.fault if call.response is not None else SystemExit()
            try:
                blocks.pop().__exit__(None if reason is None else type(reason), reason, None)
            except Exception as failed:
                call.fail(failed)  # to commit, for one: the other databases are then rolled back

    def __repr__(self) -> str:
        return f"Atomic({', '.join(self.databases)})"
