"""A client for test suites: calls a WSGI application in this process, without a server and without httpx.

    import amfgate.testing
    from shop.wsgi import application

    def test_the_first_page():
        client = amfgate.testing.Client(application)
        assert client.catalog.page(0, 1) == [{"id": 1, "name": "Hand lens"}]

Everything goes over the wire format, both ways, as it does for a Flash program.  What makes it fit for tests: a
fault that a gateway in this process answered with has the exception behind it as its cause, so that pytest shows the
traceback of the service; and cookies are kept, so that logins work.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

from . import client as _client
from ._wire import Limits
from .classes import ClassRegistry
from .client.calls import Headers
from .client.faults import Answer, HttpError
from .errors import Fault

__all__ = ["Client"]

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_ORIGIN: Final = "http://localhost"


class Client(_client.Client):
    """An `amfgate.Client` for a WSGI application in this process.

        client = amfgate.testing.Client(app)
        client.catalog.page(1)

    app: the application: a Gateway, or whatever a Gateway was put into (a Flask or Django application).
    path: where its gateway answers, with a query if need be; or a whole URL, whose host the application then sees.
    causes: give a fault the exception that the service raised as its `__cause__`.  It is taken from the log
        `amfgate`, where the gateway writes it, so it needs a gateway in this process and a log that is not disabled.
    environ: entries to put into the WSGI environ of each request: `{"REMOTE_ADDR": "203.0.113.7"}`.

    The other arguments, methods and errors are those of `amfgate.Client`; `timeout` and the like have no meaning here.
    An exception that escapes from the application is raised as it is.

    In a suite, as a fixture:

        @pytest.fixture
        def client():
            return amfgate.testing.Client(create_app())
    """

    def __init__(
        self,
        app: WsgiApp,
        path: str = "/amf",
        *,
        causes: bool = True,
        environ: Mapping[str, Any] | None = None,
        version: int | None = None,
        flex: bool | str = False,
        credentials: tuple[str, str] | None = None,
        headers: Headers = (),
        on_header: Mapping[str, Callable[[Any], object]] | None = None,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        plain: bool = True,
        cookies: Mapping[str, str] | None = None,
        http_headers: Mapping[str, str] | None = None,
        compress: bool = False,
        default: Callable[[Any], Any] | None = None,
        big_ints: str = "error",
        decimals: str = "float",
    ) -> None:
        if not callable(app):
            raise TypeError(f"app is a WSGI application, not {app!r}")
        self._app = app
        self._environ = dict(environ or {})
        self._causes = causes
        super().__init__(
            path if "://" in path else _ORIGIN + (path if path.startswith("/") else f"/{path}"),
            version=version,
            flex=flex,
            credentials=credentials,
            headers=headers,
            on_header=on_header,
            classes=classes,
            limits=limits,
            plain=plain,
            cookies=cookies,
            http_headers=http_headers,
            compress=compress,
            default=default,
            big_ints=big_ints,
            decimals=decimals,
        )

    def _poster(self, timeout: Any, transport: Any, cookies: Mapping[str, str] | None, http: Any) -> WsgiPost:
        return WsgiPost(self._app, self._environ, cookies)

    def _exchange(self, calls: list[Any], bodies: list[Any], headers: list[Any]) -> None:
        if not self._causes:
            super()._exchange(calls, bodies, headers)
            return
        watch = _Watch()
        log = logging.getLogger("amfgate")
        log.addHandler(watch)
        try:
            super()._exchange(calls, bodies, headers)
        finally:
            log.removeHandler(watch)
        watch.explain([call.fault for call in calls if isinstance(call.fault, Fault)])


class _Watch(logging.Handler):
    """Keeps the exceptions that a gateway logs while it is called in this thread."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[BaseException] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None and record.thread == self._thread:
            self.seen.append(record.exc_info[1])

    def explain(self, faults: list[Fault]) -> None:
        """Give each fault its cause: they are logged in the order of the calls, or once for the whole packet."""
        if len(self.seen) == 1:
            causes = self.seen * len(faults)
        elif len(self.seen) == len(faults):
            causes = self.seen
        else:
            return
        for fault, cause in zip(faults, causes, strict=True):
            fault.__cause__ = cause


class WsgiPost:
    """Posts to a WSGI application by calling it, as a server would (PEP 3333)."""

    def __init__(self, app: WsgiApp, environ: Mapping[str, Any], cookies: Mapping[str, str] | None) -> None:
        self._app = app
        self._environ = environ
        self._cookies = dict(cookies or {})

    def post(self, url: str, data: bytes, headers: Mapping[str, str], limit: int | None) -> Answer:
        started: list[tuple[str, list[tuple[str, str]]]] = []
        written: list[bytes] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], Any]:
            if exc_info is not None and started and written:
                raise exc_info[1].with_traceback(exc_info[2])
            started[:] = [(status, headers)]
            return written.append

        body = self._app(self._request(url, data, headers), start_response)
        try:
            for part in body:
                written.append(part)
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        if not started:
            raise AssertionError("the application answered without calling start_response")
        status, pairs = started[-1]
        self._keep_cookies(pairs)
        number, _, reason = status.partition(" ")
        answer = Answer(url, int(number), reason, {name.lower(): value for name, value in pairs}, b"".join(written))
        if limit is not None and len(answer.body) > limit:
            raise HttpError(answer, f"more than {limit} bytes, the limit (max_body)")
        return answer

    def cookies(self) -> dict[str, str]:
        return dict(self._cookies)

    def close(self) -> None:
        """Nothing is open."""

    def _request(self, url: str, data: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        parts = urlsplit(url)
        environ: dict[str, Any] = {
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(parts.path or "/").decode("latin-1"),
            "QUERY_STRING": parts.query,
            "SERVER_NAME": parts.hostname,
            "SERVER_PORT": str(parts.port or (443 if parts.scheme == "https" else 80)),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": parts.netloc.rpartition("@")[2],
            "CONTENT_LENGTH": str(len(data)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": parts.scheme,
            "wsgi.input": io.BytesIO(data),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in headers.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        if self._cookies:
            environ["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        environ.update(self._environ)
        return environ

    def _keep_cookies(self, headers: list[tuple[str, str]]) -> None:
        for name, value in headers:
            if name.lower() != "set-cookie":
                continue
            try:
                found = SimpleCookie(value)
            except CookieError:
                continue
            for morsel in found.values():
                if morsel["max-age"] == "0" or "1970" in morsel["expires"]:
                    self._cookies.pop(morsel.key, None)
                else:
                    self._cookies[morsel.key] = morsel.coded_value
