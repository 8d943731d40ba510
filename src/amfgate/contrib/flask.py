"""Services in a Flask application: in its contexts, with its session and its users.

    from flask import Flask
    from amfgate.contrib.flask import Amf

    app = Flask(__name__)
    amf = Amf(app)

    @amf.service("catalog")
    class Catalog:
        def products(self):
            return [dict(row) for row in g.db.execute("SELECT id, name FROM product")]

    @amf.service
    def hello(name: str) -> str:
        return f"hello {name}, hello {session.get('name')}"

The gateway is a route of the application.  So a packet is a request like any other: `before_request` and
`after_request` functions run, `g`, `session`, `request` and `current_app` are there, teardown functions run at the end,
and `app.test_client()` reaches it.

- `call.request` is Flask's request.  `call.user` is who the Credentials header names, with `authenticate=`; else
  Flask-Login's `current_user` where the application has a login manager and somebody is logged in; else None.
- `call.session` is Flask's session.  `call.exchange.log_in(name, user)` and `log_out()`, and with `authenticate=` the
  login and logout of Flex clients, are those of Flask-Login where the application has a login manager; without one a
  login holds for its packet.
- `abort(403)` is the fault `Client.Authorization`, `abort(401)` `Client.Authentication`, `abort(404)`
  `Server.ResourceNotFound`; others are named after the error, `Client.Conflict`.  So it is wherever a call gets to:
  in a method, in `requires`, in a filter.  What a `before_request` function aborts gets no further than Flask,
  which answers it as it does everywhere.  `faults=` adds exceptions of your own; see `amfgate.faults`.
- A page of another site could call with the cookies of its visitor.  Such a request, one with an Origin whose host
  is neither this site's nor among `cors`, is refused.
- What is deferred (`call.exchange.defer`) runs before the contexts end.
- `flask amf` lists the services.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, Final, TypeVar, overload

import click
from flask import Flask, current_app, request, session
from flask.sessions import NullSession
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.wrappers import Response

from .. import actions
from .._wire import Limits
from ..actions import adapt, bind, find, invoke
from ..cross_origin import CROSSDOMAIN_PATH
from ..errors import Fault
from ..faults import Faults, check_faults
from ..filters import Credentials, Dispatch, Flex, PacketCodec
from ..flex import messages as m
from ..gateway import Gateway
from ..pipeline import REQUEST, Call, Exchange
from ..services import ServiceRegistry
from ..sessions.ids import can_be_id
from .listing import lines
from .origin import check_origin

T = TypeVar("T", bound=Callable[..., Any])

EXTENSION: Final = "amf"  # in app.extensions, and the name of the endpoint

_CODES: Final = {401: "Client.Authentication", 403: "Client.Authorization", 404: "Server.ResourceNotFound"}


class Amf:
    """The extension.  `Amf(app)`, or `Amf()` and later `init_app(app)`, for as many applications as there are.

    services: what can be called, as `amfgate.Gateway` takes it; the decorator `service` adds to them.
    options: those of `amfgate.Gateway`: `path`, `authenticate`, `cors`, `crossdomain`, `limits`, `targets`, ...  An
        application may have its own, in its configuration: `AMF_PATH`, `AMF_CORS`, ...; what is said here wins.

    `debug` is that of the application, and MAX_CONTENT_LENGTH the `max_body`, unless something else is said.  With
    `actions=` the list is yours: `authorize` of this module belongs into it.
    """

    def __init__(
        self,
        app: Flask | None = None,
        services: Mapping[str, Any] | Iterable[Any] | ServiceRegistry = (),
        **options: Any,
    ) -> None:
        self.services = ServiceRegistry(services)
        self._options = options
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Give `app` a route for the gateway, and the command `flask amf`.

        A wrong option is an error here; `targets` are looked at with the first request, when all services are there.
        """
        if EXTENSION in app.extensions:
            raise ValueError(f"{app!r} has an Amf already; register all services with that one")
        served = _Served(self.services, app, {**app.config.get_namespace("AMF_"), **self._options})
        app.extensions[EXTENSION] = served
        for number, rule in enumerate(served.rules):
            app.add_url_rule(
                rule,
                endpoint=EXTENSION if number == 0 else f"{EXTENSION}_{number}",
                view_func=served.view,
                methods=["GET", "POST", "OPTIONS"],
            )
        app.cli.add_command(_command())

    @overload
    def service(self, name: str) -> Callable[[T], T]: ...

    @overload
    def service(self, name: T) -> T: ...

    def service(self, name: str | T) -> Callable[[T], T] | T:
        """Serve a function or a class: `@amf.service("catalog")`, or `@amf.service` by its own name.

        A class is instantiated, without arguments; an instance is given as `amf.service("catalog")(Catalog(db))`.
        """
        if not isinstance(name, str):
            return self.service(name.__name__)(name)

        def register(thing: T) -> T:
            self.services.add(name, thing() if isinstance(thing, type) else thing)
            return thing

        return register


class _Served:
    """One application's gateway.  It is made with the first request: services are registered after `Amf(app)`."""

    def __init__(self, services: ServiceRegistry, app: Flask, options: dict[str, Any]) -> None:
        self.services = services
        self.app = app
        options["faults"] = {**FAULTS, **check_faults(options.get("faults"))}
        self.options = options
        self._gateway: Gateway | None = None
        self._lock = Lock()
        # What is wrong with the options is said now.
        paths = Gateway(None, (), **{**options, "targets": None}).paths
        self.rules = [rule for path in paths for rule in ((path, path + "/") if path else ("/",))]
        if options.get("crossdomain") is not None:
            self.rules.append(CROSSDOMAIN_PATH)

    @property
    def gateway(self) -> Gateway:
        if self._gateway is None:
            with self._lock:
                self._gateway = self._gateway or self._make()
        return self._gateway

    def _make(self) -> Gateway:
        options = {"debug": self.app.debug, **self.options}
        most = self.app.config["MAX_CONTENT_LENGTH"]
        if most is not None:
            options.setdefault("limits", Limits(max_body=most))
        if "filters" not in options:
            authenticate = options.pop("authenticate", None)
            steps = options.pop("actions", None) or [find, authorize, bind, invoke, adapt]
            who = [] if authenticate is None else [Credentials(authenticate)]
            options["filters"] = [PacketCodec(), own_origin, own_session, *who, Flex(), Dispatch(steps)]
        return Gateway(None, self.services, **options)

    def view(self) -> Response:
        """The view: hands the request to the gateway."""
        environ = request.environ
        environ[REQUEST] = request._get_current_object()  # type: ignore[attr-defined]
        read = getattr(request, "_cached_data", None)
        if read is not None:  # a before_request function has looked at the body
            environ["wsgi.input"] = io.BytesIO(read)
        try:
            return current_app.response_class.from_app(self.gateway, environ, buffered=True)
        finally:
            del environ[REQUEST]  # they hold each other


def own_origin(exchange: Exchange) -> None:
    """Refuse calls of other sites' pages with the visitor's session: see `amfgate.contrib.origin`.

    Only hosts are compared: behind a proxy that ends TLS, Flask may take https for http.
    """
    if "HTTP_ORIGIN" in exchange.environ:
        check_origin(exchange, (f"http://{request.host}", f"https://{request.host}"), "cors=")


def own_session(exchange: Exchange) -> None:
    """Make `call.session` Flask's session; without a SECRET_KEY it is empty, and an error to write to."""
    current = session._get_current_object()  # type: ignore[attr-defined]
    exchange.session = current
    if not isinstance(current, NullSession):
        exchange.sessions = _SESSIONS


class FlaskSessions:
    """`exchange.sessions`: logs users in and out by Flask-Login, where the application has it.

    Without it nobody remembers a login: the user is that of the packet.  A login gives the session another id where
    sessions have ids (Flask-Session's `regenerate`), and empties it if it was another user's; a logout empties it.  A
    client is known again by Flask's cookie; the DSId of a Flex client is only a name.
    """

    def flex_client_id(self, exchange: Exchange, known: Any) -> str:
        return str(known) if can_be_id(known) else m.new_id()

    def user(self, exchange: Exchange) -> Any:
        return None  # `authorize` finds out: a service may log somebody in between two calls

    def log_in(self, exchange: Exchange, userid: str, user: Any) -> None:
        if getattr(current_app, "login_manager", None) is not None:
            from flask_login import current_user, login_user

            if current_user.is_authenticated and current_user.get_id() != user.get_id():
                session.clear()
            if not login_user(user):
                raise Fault("Client.Authentication", "this user may not log in")
        regenerate = getattr(current_app.session_interface, "regenerate", None)
        if regenerate is not None:
            regenerate(exchange.session)

    def log_out(self, exchange: Exchange) -> None:
        session.clear()
        if getattr(current_app, "login_manager", None) is not None:
            from flask_login import logout_user

            logout_user()  # last: it notes in the session that its other cookie goes too


_SESSIONS: Final = FlaskSessions()


def authorize(call: Call) -> None:
    """Set `call.user` to who is logged in, and let the call pass if that user may make it: see `amfgate.requires`.

    Who gave credentials with the request comes first.
    """
    if call.user is None and getattr(current_app, "login_manager", None) is not None:
        from flask_login import current_user

        user = current_user._get_current_object()
        if user.is_authenticated:
            call.user = user
    actions.authorize(call)


def http_fault(error: HTTPException) -> Fault | None:
    """The fault for `abort(...)` and werkzeug's other HTTP errors: named after the status, with their description.

    `abort(response)` goes by the status of the response.  One that is no error, a redirect to a login page as a rule,
    is nothing that a Flash program can follow; it is not told.
    """
    status = error.code if error.response is None else error.response.status_code
    if status is None or status < 400:
        return None
    name = error.name if error.response is None else HTTP_STATUS_CODES.get(status, "Unknown Error")
    code = _CODES.get(status, f"{'Client' if status < 500 else 'Server'}.{name.replace(' ', '')}")
    return Fault(code, str(error.description or name))


FAULTS: Final[Faults] = {HTTPException: http_fault}


def _command() -> click.Command:
    from flask.cli import with_appcontext

    @click.command("amf", help="Lists what Flash programs can call, or the methods of SERVICE alone.")
    @click.argument("service", required=False)
    @with_appcontext
    def amf(service: str | None) -> None:
        registry = current_app.extensions[EXTENSION].gateway.services
        if service is not None and not registry.knows(service):
            raise click.ClickException(f"there is no service {service!r}")
        for line in lines(registry, service):
            click.echo(line)

    return amf
