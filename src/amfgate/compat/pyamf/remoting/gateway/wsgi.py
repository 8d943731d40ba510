"""PyAMF's WSGIGateway, over amfgate's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .....access import REQUIRES
from .....actions import adapt, authorize, bind, find, invoke
from .....errors import Fault
from .....filters.flex import FlexEnvelope, user_and_password
from .....flex.messages import REMOTE_CREDENTIALS, REMOTE_CREDENTIALS_CHARSET
from .....gateway import Gateway
from .....log import printable
from .....pipeline import Call
from .....services import Method, ServiceRegistry, expose
from ...values import translate
from . import AUTHENTICATOR, EXPOSE_REQUEST, PREPROCESSOR, ServiceRequest, ServiceWrapper

__all__ = ["WSGIGateway"]


class WSGIGateway:
    """A WSGI application that answers remoting at any path, with PyAMF's options.

    services: names -> functions, objects, classes (an instance is made for each call) or modules with `__all__`.
    authenticator: `f(username, password)`; only True lets a call pass.  It is asked for every call, also one of a Flex
        client; both are None for a client that sent no credentials.
    preprocessor: `f(service_request)`, called before a method is; for a Flex client also with the arguments.
    expose_request: give methods the WSGI environ as their first argument.
    debug: send text and traceback of unexpected exceptions.
    strict and logger are taken and change nothing: the log is Python's, under `amfgate`.

    What is exposed follows amfgate's rules, not PyAMF's: see `amfgate.ServiceRegistry`.  An exception whose class has
    `_amf_code` is sent with that code and its text; the text of others stays in the log.
    """

    def __init__(
        self,
        services: Mapping[str, Any] | None = None,
        *,
        authenticator: Callable[..., Any] | None = None,
        preprocessor: Callable[..., Any] | None = None,
        expose_request: bool = False,
        strict: bool = False,
        logger: Any = None,
        timezone_offset: Any = None,
        debug: bool = False,
    ) -> None:
        if services is not None and not isinstance(services, Mapping):
            raise TypeError(f"services is a mapping of names to services, not {services!r}")
        if timezone_offset:
            raise TypeError("timezone_offset: dates travel in UTC here; convert them in the service")
        self.authenticator = authenticator
        self.preprocessor = preprocessor
        self.expose_request = expose_request
        self.services: dict[str, ServiceWrapper] = {}
        actions = [self._find, self._authenticate, authorize, self._prepare, bind, self._invoke, adapt]
        self._gateway = Gateway(None, {}, path="", actions=actions, debug=debug)
        for name, service in (services or {}).items():
            self._put(service, name, ServiceWrapper(service))
        self._register()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        return self._gateway.answer(environ, start_response)  # at any path, with the environ as it is

    def addService(
        self,
        service: Any,
        name: str | None = None,
        description: str | None = None,
        authenticator: Callable[..., Any] | None = None,
        expose_request: bool | None = None,
        preprocessor: Callable[..., Any] | None = None,
    ) -> None:
        """Add a service, by default under its own name; ValueError if there is one of that name."""
        name = name or getattr(service, "__name__", None) or type(service).__name__
        self._put(service, name, ServiceWrapper(service, description, authenticator, expose_request, preprocessor))
        try:
            self._register()
        except BaseException:
            del self.services[name]
            raise

    def removeService(self, service: Any) -> None:
        """Take a service out, by its name or itself; NameError if it is not there."""
        for name, wrapper in self.services.items():
            if service == name or service is wrapper.service:
                del self.services[name]
                self._register()
                return
        raise NameError(f"there is no service {service!r}")

    def _put(self, service: Any, name: str, wrapper: ServiceWrapper) -> None:
        if name in self.services:
            raise ValueError(f"there are two services named {name!r}")
        self.services[name] = wrapper

    def _register(self) -> None:
        """Make the registry anew, and with it what is to be done for each target."""
        exposed: dict[str, Any] = {}
        owners: dict[str, tuple[str, ServiceWrapper]] = {}
        for name, wrapper in self.services.items():
            found = _methods_of_class(name, wrapper.service) if isinstance(wrapper.service, type) else None
            for target, thing in (found or {name: wrapper.service}).items():
                exposed[target] = thing
            owners[name] = name, wrapper
        registry = ServiceRegistry(exposed)
        self._requests: dict[str, tuple[ServiceWrapper, str | None]] = {}
        for target in registry:
            owner = target
            while owner not in owners:
                owner = owner.rpartition(".")[0]
            name, wrapper = owners[owner]
            self._requests[target] = wrapper, target[len(name) + 1 :] or None
        self._gateway.services = registry

    def _find(self, call: Call) -> None:
        try:
            find(call)
        except Fault:
            name, _, method = call.target.replace("/", ".").rpartition(".")
            if name in self.services:
                raise Fault("Service.MethodNotFound", f"Unknown method {printable(method, 200)}") from None
            raise Fault("Service.ResourceNotFound", f"Unknown service {printable(call.target, 200)}") from None

    def _authenticate(self, call: Call) -> None:
        assert call.method is not None
        wrapper, _ = self._requests[call.method.target]
        function = call.method.function
        authenticator = getattr(function, AUTHENTICATOR, None) or wrapper.authenticator or self.authenticator
        if authenticator is None:
            return
        credentials = _credentials(call)
        exposes = getattr(authenticator, EXPOSE_REQUEST, False)
        asked = (call.exchange.environ, *credentials) if exposes else credentials
        if authenticator(*asked) is not True:
            raise Fault("AuthenticationError", "Authentication failed")
        call.user = credentials[0]

    def _prepare(self, call: Call) -> None:
        """Between letting a call pass and fitting its arguments: PyAMF's types, the preprocessor, the request."""
        assert call.method is not None
        wrapper, method = self._requests[call.method.target]
        function = call.method.function
        environ = call.exchange.environ
        call.args = translate(list(call.args))

        preprocessor = getattr(function, PREPROCESSOR, None) or wrapper.preprocessor or self.preprocessor
        if preprocessor is not None:
            given: tuple[Any, ...] = (ServiceRequest(call.exchange.request, wrapper, method),)
            if isinstance(call.envelope, FlexEnvelope):
                given = (*given, *call.args)
            if getattr(preprocessor, EXPOSE_REQUEST, False):
                given = (environ, *given)
            _with_code(preprocessor, *given)

        exposes = getattr(function, EXPOSE_REQUEST, wrapper.expose_request)
        if self.expose_request if exposes is None else exposes:
            call.args = [environ, *call.args]

    def _invoke(self, call: Call) -> None:
        _with_code(invoke, call)


def _with_code(function: Callable[..., Any], *args: Any) -> None:
    """Call it; an exception whose class says under which code it is sent becomes that Fault."""
    try:
        function(*args)
    except Exception as error:
        code = getattr(type(error), "_amf_code", None)
        if not isinstance(code, str):
            raise
        raise Fault(code, str(error)) from error


def _credentials(call: Call) -> tuple[Any, Any]:
    """(username, password) as the client sent them, with its message or for the packet; (None, None) without."""
    if isinstance(call.envelope, FlexEnvelope):
        headers = call.envelope.message.get("headers")
        if isinstance(headers, Mapping) and headers.get(REMOTE_CREDENTIALS):
            return user_and_password(headers[REMOTE_CREDENTIALS], headers.get(REMOTE_CREDENTIALS_CHARSET))
    value = call.exchange.header("Credentials")
    if isinstance(value, Mapping):
        return value.get("userid"), value.get("password")
    return None, None


def _methods_of_class(name: str, cls: type) -> dict[str, Callable[..., Any]]:
    """target -> a function that makes an instance and calls the method, with the method's own signature."""
    try:
        exposed = expose(name, cls())
    except TypeError as error:
        raise TypeError(f"the service {name!r} is a class that cannot be made: {error}; add an instance") from error
    return {method.target: _on_new_instance(cls, method) for method in exposed or ()}


def _on_new_instance(cls: type, method: Method) -> Callable[..., Any]:
    word = method.target.rpartition(".")[2]

    @functools.wraps(method.function)
    def called(*args: Any, **keywords: Any) -> Any:
        return getattr(cls(), word)(*args, **keywords)

    setattr(called, REQUIRES, method.requires)
    return called
