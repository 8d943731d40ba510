"""The gateway: WSGI in, WSGI out.

`Gateway.__call__` decides one thing, whether a request is ours, and by one look-up.  What is not goes to the wrapped
application as it came.  What is becomes an Exchange and passes the filters; the last lines of `answer` hand the
result to the server.  Everything else is in a filter, an action or a service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import getrefcount
from typing import Any, Final

from ._wire import Limits
from .actions import default_actions
from .classes import ClassRegistry, default_registry
from .cross_origin import CROSSDOMAIN_PATH, Cors, crossdomain_xml
from .faults import Faults, check_faults
from .filters import Sessions, default_filters
from .filters.packet_codec import encode_reply
from .flex.collections import check_flex_collections
from .log import log_calls
from .packet import Packet
from .pipeline import Exchange, Pipeline, Response, plain
from .services import ServiceRegistry
from .sessions import SessionStore

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]

__all__ = ["Gateway", "default_actions", "default_filters"]

GATEWAY_LIMITS: Final = Limits()


class Gateway:
    """WSGI middleware that answers Flash remoting at a path of its own and leaves everything else to `app`.

        app = amfgate.Gateway(app, {"catalog": Catalog()})

    app: the WSGI application to wrap; None answers everything else by 404.
    services: what can be called: a mapping of names to objects, functions or modules, a list of what `@amfgate.service`
        decorated, or a ServiceRegistry.
    path: where, below the path at which this application is mounted; with and without a slash at the end.  A
        tuple for several.
    filters: the list that every request passes, in place of `default_filters(authenticate, actions)`.
    actions: the list that every call passes, in place of `find, authorize, bind, invoke, adapt`.
    authenticate: `check(userid, password)`, which gives the user or None; see `amfgate.filters.Credentials`.
    sessions: where sessions are kept, `MemoryStore()` or `RedisStore(url)`; see `amfgate.filters.Sessions`, which may
        be given too.
    classes: the ClassRegistry for typed objects; None is the one that `@remote_class` fills.
    limits: `amfgate.Limits`, about one request.  None is `Limits()`: 16 MiB, 512 levels, 1,000,000 values, 100 calls.
    targets: other names for targets, `{"Old.getScores": "scores.top"}`.
    cors: origins whose pages may call, `"*"` for all.  None: no CORS headers.
    crossdomain: domains whose Flash programs may call, or a whole crossdomain.xml; it is served at /crossdomain.xml
        next to the path.  None: that path is the application's.
    debug: send the text and traceback of unexpected exceptions to the caller, and what calls log to a client that asks
        for it by the header amf_server_debug.  Not for a public server.
    case_insensitive: find targets without regard to case, as PHP servers did.
    flex_collections: True sends a list that a method returns as Flex's ArrayCollection, `"deep"` also every list
        inside its result or its fault.  A service or a method may say otherwise; see `amfgate.service`.
    faults: exceptions that are meant for the caller, `{KeyError: "Shop.NoSuchThing"}`; see `amfgate.faults`.

    A wrong argument, a service that cannot be called and a step without hooks are errors here, not at a request.  A
    gateway is safe to call from any number of threads, and keeps nothing between requests but what is in the store of
    `sessions`: any worker answers any of them. `repr(gateway)` shows the filters and actions in their order.
    """

    def __init__(
        self,
        app: WsgiApp | None,
        services: Mapping[str, Any] | Iterable[Any] | ServiceRegistry,
        *,
        path: str | Iterable[str] = "/amf",
        filters: Iterable[Any] | None = None,
        actions: Iterable[Any] | None = None,
        authenticate: Callable[[str, str], Any] | None = None,
        sessions: SessionStore | Sessions | None = None,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        targets: Mapping[str, str] | None = None,
        cors: str | Iterable[str] | None = None,
        crossdomain: str | Iterable[str] | None = None,
        debug: bool = False,
        case_insensitive: bool = False,
        flex_collections: bool | str = False,
        faults: Faults | None = None,
    ) -> None:
        if app is not None and not callable(app):
            raise TypeError(f"app is a WSGI application or None, not {app!r}")
        if filters is not None and actions is not None:
            raise TypeError(
                "filters= has Dispatch in it, which holds the actions: Dispatch(actions); leave actions= out"
            )
        if filters is not None and authenticate is not None:
            raise TypeError("filters= has Credentials in it: Credentials(check); leave authenticate= out")
        if filters is not None and sessions is not None:
            raise TypeError("filters= has Sessions in it: Sessions(store); leave sessions= out")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits is an amfgate.Limits, not {limits!r}")
        if classes is not None and not isinstance(classes, ClassRegistry):
            raise TypeError(f"classes is an amfgate.ClassRegistry, not {classes!r}")
        self.app: WsgiApp = _not_found if app is None else app
        if isinstance(services, ServiceRegistry) and not targets and not case_insensitive:
            self.services = services
        else:
            self.services = ServiceRegistry(services, targets=targets, case_insensitive=case_insensitive)
        self.classes = default_registry if classes is None else classes
        self.limits = GATEWAY_LIMITS if limits is None else limits
        # Limits are about requests.  An answer is as large as the service makes it; only its depth has a bound.
        self.reply_limits = Limits(max_body=None, max_depth=self.limits.max_depth, max_values=None, max_bodies=None)
        self.debug = bool(debug)
        self.flex_collections = check_flex_collections(flex_collections)
        if self.flex_collections:
            self.services.expect_collections()
        self.faults = check_faults(faults)
        self.filters = Pipeline(default_filters(authenticate, actions, sessions) if filters is None else filters)
        self.understood = frozenset(name for step in self.filters.steps for name in getattr(step, "headers", ()))
        self.envelopes = tuple(step.envelope for step in self.filters.steps if hasattr(step, "envelope"))
        self._http_headers = tuple(step.http_headers for step in self.filters.steps if hasattr(step, "http_headers"))
        self.paths = _paths(path)
        self.cors = None if cors is None else Cors(cors)
        self._more_headers = bool(self._http_headers) or cors is not None
        self._routes: dict[str, WsgiApp] = {}
        if crossdomain is not None:
            policy = crossdomain_xml(crossdomain)
            self._routes[CROSSDOMAIN_PATH] = lambda environ, start_response: _policy(policy, environ, start_response)
        for one in self.paths:
            # PATH_INFO holds the bytes of the URL as Latin-1 characters (PEP 3333, "Unicode Issues").
            served = one.encode("utf-8").decode("latin-1")
            self._routes[served] = self._routes[served + "/"] = self.answer

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        route = self._routes.get(environ.get("PATH_INFO", ""))
        if route is None:
            return self.app(environ, start_response)
        return route(environ, start_response)

    def __repr__(self) -> str:
        return f"<Gateway {', '.join(path or '/' for path in self.paths)}: {self.filters!r}>"

    def answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request as remoting, whatever its path: for who has done the routing already."""
        exchange = Exchange(environ, self)
        try:
            self.filters.run(exchange)
            response = exchange.response
            if not isinstance(response, Response):
                response = _http(exchange)
            if exchange.logged:
                log_calls(exchange.calls)
            headers = response.headers
            if self._more_headers:
                headers = list(headers)
                for more in self._http_headers:
                    headers += more(exchange)
                if self.cors is not None:
                    headers += self.cors.headers(environ)
            body = response.body
            start_response(response.status, headers)
        except BaseException:
            exchange.run_deferred()
            raise
        if isinstance(body, bytes):
            if environ["REQUEST_METHOD"] == "HEAD":
                body = b""
            if exchange._deferred is None:
                calls = exchange.calls
                if getrefcount(exchange) <= 2 + len(calls):
                    # Nobody kept the exchange: its calls, which know it, need not wait for the garbage collector.
                    calls.clear()
                return [body]
            return _Closing((body,), exchange)
        return _Closing(body, exchange)


class _Closing:
    """A body that runs what was deferred when the server closes it (PEP 3333, "close")."""

    __slots__ = ("_body", "_exchange", "_iterator")

    def __init__(self, body: Iterable[bytes], exchange: Exchange) -> None:
        self._body = body
        self._exchange = exchange
        self._iterator: Iterator[bytes] | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._iterator is None:
            self._iterator = iter(self._body)
        return next(self._iterator)

    def close(self) -> None:
        body, self._body = self._body, ()
        try:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        finally:
            self._exchange.run_deferred()


def _http(exchange: Exchange) -> Response:
    """The HTTP answer of an exchange that came back without one: with a packet (a late fault), or nothing."""
    if exchange.response is None:
        exchange.fail(RuntimeError("no filter answered; the list has to hold PacketCodec() and end with Dispatch()"))
    response = exchange.response
    if isinstance(response, Packet):
        return encode_reply(exchange, response)
    if isinstance(response, Response):
        return response
    exchange.fail(TypeError(f"exchange.response is an amfgate.Response or a Packet, not {response!r}"))
    return _http(exchange)


def _paths(path: str | Iterable[str]) -> tuple[str, ...]:
    given = (path,) if isinstance(path, str) else tuple(path)
    if not given:
        raise ValueError("path is empty: the gateway would answer nowhere")
    for one in given:
        if not isinstance(one, str):
            raise TypeError(f"path is text or a tuple of texts, not {one!r}")
        if one and not one.startswith("/"):
            raise ValueError(f"path {one!r} has to start with '/'")
    return tuple(dict.fromkeys(one.rstrip("/") for one in given))


def _send(response: Response, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    start_response(response.status, response.headers)
    assert isinstance(response.body, bytes)
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else response.body]


def _not_found(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    return _send(plain(404, "There is nothing here."), environ, start_response)


def _policy(policy: bytes, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return _send(plain(405, "This is a file to read.", [("Allow", "GET, HEAD")]), environ, start_response)
    return _send(Response(200, policy, [("Content-Type", "text/x-cross-domain-policy")]), environ, start_response)
