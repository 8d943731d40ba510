"""The loop, and the two things that travel through it.

A request is one `Exchange`: one packet in, one packet out.  It passes the gateway's filters.  Each body of the packet
is one `Call`, and passes the actions.  Both lists are run by the same `Pipeline`, and a step of either is written in
the same way: `on_request(x)` on the way in, `on_response(x)` on the way back, each of them optional, or a plain
function, which has the way in only.

Why a loop.  Middleware usually nests: each part calls the next, and the first is still on the stack when the last one
runs.  Every filter then costs a frame for the whole request, and every traceback shows all of them.  Here a step is
called, returns, and the next is called: the stack in the last of ten thousand steps is that of the first.

What nesting gives for free has to be promised instead.  Steps run forward, in the order of the list, until
`x.response` is set: that is how a step answers early, by stating the answer.  Then back, over exactly the steps
that were entered, the last first.  A step is entered when the way forward has reached it, also when its `on_request`
raised or gave the answer; so whoever was entered leaves, and nobody leaves who was not entered.  Each hook is
called in its own `try`: an Exception becomes data, `x.fail(error)`, and the way goes on with the answer that it made.
A BaseException (KeyboardInterrupt, SystemExit, a worker's timeout) is nobody's answer: the steps that were entered
leave, then it is raised on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from http import HTTPStatus
from logging import INFO
from typing import TYPE_CHECKING, Any, Final, Protocol

from .envelope import PLAIN, Envelope, as_fault
from .errors import DecodeError, Fault, said
from .log import log_error, logger, message_of, printable
from .packet import Body, Header, Packet

if TYPE_CHECKING:
    from .gateway import Gateway
    from .services import Method

Hook = Callable[[Any], Any]

_LINES: Final = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}
_BODYLESS: Final = (204, 304)

# Where in the environ a framework's step keeps the framework's own request.
REQUEST: Final = "amfgate.request"


class Pipeline:
    """Steps, run in a loop.

        Pipeline([step, other_step]).run(x)

    A step is an object with `on_request(x)` or `on_response(x)` or both, or a function, which is its own
    `on_request`.  Hooks are looked up here, once: TypeError for a step that has neither, for a class in place of an
    instance, and for an `async def` or a generator.  x has `response`, None until there is an answer, and
    `fail(error)`.
    """

    __slots__ = ("_enters", "_leaves", "_skips", "steps")

    def __init__(self, steps: Iterable[Any]) -> None:
        self.steps: tuple[Any, ...] = tuple(steps)
        enters: list[tuple[int, Hook]] = []
        leaves: list[Hook] = []
        counts = [0]  # how many of the first n steps have a way back
        for place, step in enumerate(self.steps, 1):
            enter, leave = _hooks(step, place)
            if enter is not None:
                enters.append((place, enter))
            if leave is not None:
                leaves.append(leave)
            counts.append(len(leaves))
        self._enters = tuple(enters)
        self._leaves = tuple(reversed(leaves))
        self._skips = tuple(len(leaves) - count for count in counts)

    def run(self, x: Any) -> None:
        """Take x, which has no response yet, through the steps and back."""
        leaves = self._leaves
        entered = 0
        try:
            for entered, enter in self._enters:
                try:
                    enter(x)
                except Exception as error:
                    x.fail(error)
                if x.response is not None:
                    leaves = leaves[self._skips[entered] :]
                    break
        except BaseException:
            self._back(x, leaves[self._skips[entered] :])
            raise
        if leaves:
            self._back(x, leaves)

    def _back(self, x: Any, leaves: tuple[Hook, ...]) -> None:
        """Call all of `leaves`, whatever happens in them."""
        escaped: BaseException | None = None
        for leave in leaves:
            try:
                leave(x)
            except Exception as error:
                x.fail(error)
            except BaseException as error:
                escaped = error
        if escaped is not None:
            raise escaped

    def __repr__(self) -> str:
        return ", ".join(step_name(step) for step in self.steps)


def step_name(step: Any) -> str:
    """How a step is called in the order that `repr(gateway)` prints."""
    if inspect.isfunction(step) or inspect.ismethod(step) or inspect.isbuiltin(step):
        return step.__name__
    has_own = any("__repr__" in vars(base) for base in type(step).__mro__[:-1])
    return repr(step) if has_own else type(step).__name__


def _hooks(step: Any, place: int) -> tuple[Hook | None, Hook | None]:
    if isinstance(step, type):
        raise TypeError(f"step {place} is the class {step.__name__}; put an instance in the list: {step.__name__}()")
    enter = getattr(step, "on_request", None)
    leave = getattr(step, "on_response", None)
    if enter is None and leave is None:
        if not callable(step):
            raise TypeError(
                f"step {place}, {step!r}, has neither on_request(x) nor on_response(x) and is no function: "
                "it would never be called"
            )
        enter = step
    for name, hook in (("on_request", enter), ("on_response", leave)):
        if hook is None:
            continue
        if not callable(hook):
            raise TypeError(f"{name} of step {place}, {step!r}, is {hook!r}, which cannot be called")
        if inspect.iscoroutinefunction(hook) or inspect.isasyncgenfunction(hook):
            raise TypeError(f"{name} of step {place}, {step!r}, is an async def; the pipeline runs plain functions")
        if inspect.isgeneratorfunction(hook):
            raise TypeError(
                f"{name} of step {place}, {step!r}, is a generator: called, it would not run; take out yield"
            )
    return enter, leave


class Response:
    """An HTTP answer, for a filter that does not answer with a packet.

    `status` is a number (`403`) or a whole line (`"403 Forbidden"`), `body` bytes, text (sent as UTF-8) or an iterable
    of bytes, which is closed when the server is done with it, `headers` pairs of text (or a mapping).  A body without a
    Content-Type among the headers is sent as plain text; the Content-Length of bytes and text is added.

        exchange.response = amfgate.Response(403, "not from there")
    """

    __slots__ = ("body", "headers", "status")

    def __init__(
        self,
        status: int | str,
        body: bytes | str | Iterable[bytes] = b"",
        headers: Iterable[tuple[str, str]] | Mapping[str, str] = (),
    ) -> None:
        line = _LINES.get(status, f"{status} Unknown") if isinstance(status, int) else status
        if len(line) < 4 or not line[:3].isdigit() or line[3] != " ":
            raise ValueError(f"a status is a number or a line such as '403 Forbidden', not {status!r}")
        pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
        if isinstance(body, str):
            body = body.encode("utf-8", "backslashreplace")
        if int(line[:3]) not in _BODYLESS:
            present = {name.lower() for name, _ in pairs}
            if "content-type" not in present:
                pairs.append(("Content-Type", "text/plain; charset=utf-8"))
            if isinstance(body, bytes) and "content-length" not in present:
                pairs.append(("Content-Length", str(len(body))))
        self.status = line
        self.body = body
        self.headers = pairs

    def __repr__(self) -> str:
        size = f"{len(self.body)} bytes" if isinstance(self.body, bytes) else "an iterable"
        return f"<Response {self.status}, {size}>"


def plain(status: int, sentence: str, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """A short answer in plain text, for people: `exchange.response = plain(413, "...")`.

    It may quote the request, so browsers are told to take it for nothing but text.
    """
    return Response(status, sentence + "\n", [*headers, ("X-Content-Type-Options", "nosniff")])


class SessionKeeper(Protocol):
    """What `exchange.sessions` has to offer: `amfgate.filters.Sessions`, or a framework's own."""

    def flex_client_id(self, exchange: Exchange, known: str | None) -> str:
        """The DSId that this client is to use from now on; `known` is the one that it sent, if it sent one."""
        ...

    def user(self, exchange: Exchange) -> Any:
        """Who is logged in since a former request; None for nobody."""
        ...

    def log_in(self, exchange: Exchange, userid: str, user: Any) -> None: ...

    def log_out(self, exchange: Exchange) -> None: ...


class Exchange:
    """One request to the gateway and its answer: what the filters see.

    environ: the WSGI environ.
    gateway: the Gateway, for its `classes`, `limits`, `services`, `debug`.
    data: the bytes of the packet, unpacked; b"" until they are read.
    request: the Packet, None until it is decoded.
    calls: a Call for each of its bodies, in their order.
    response: None until there is an answer; then the Packet to send, or a Response.
    user: who made the request, as the `authenticate` function of the gateway gave it, now or, with sessions, when that
        user logged in; None for nobody.
    check: that function, put here by the Credentials filter; None without one.
    reply_headers: headers of the reply so far; add to them by `add_header`.
    logged: whether each call is to be timed, and logged at INFO.
    sessions: who keeps sessions, put here by the Sessions filter or a framework's step; None without one.
    put_off: what Dispatch is to do with a call when its turn comes, before the actions: a function of each such call,
        which may answer it.  None, as nearly always, is nothing.
    """

    __slots__ = (
        "_deferred",
        "_session",
        "_user",
        "calls",
        "check",
        "data",
        "environ",
        "gateway",
        "logged",
        "put_off",
        "reply_headers",
        "request",
        "response",
        "sessions",
    )

    def __init__(self, environ: dict[str, Any], gateway: Gateway) -> None:
        self.environ = environ
        self.gateway = gateway
        self.data = b""
        self.request: Packet | None = None
        self.calls: list[Call] = []
        self.response: Packet | Response | None = None
        self.check: Callable[[str, str], Any] | None = None
        self.sessions: SessionKeeper | None = None
        self.put_off: dict[Call, Callable[[Call], None]] | None = None
        self.reply_headers: list[Header] = []
        self.logged = logger.isEnabledFor(INFO)
        self._deferred: list[tuple[Callable[..., Any], tuple[Any, ...]]] | None = None

    @staticmethod
    def __from_call__(call: Call) -> Exchange:
        """A service's parameter that is annotated Exchange is filled with this."""
        return call.exchange

    @property
    def user(self) -> Any:
        try:
            return self._user
        except AttributeError:
            pass  # nobody has asked yet
        self._user: Any = None if self.sessions is None else self.sessions.user(self)
        return self._user

    @user.setter
    def user(self, user: Any) -> None:
        self._user = user

    @property
    def session(self) -> MutableMapping[str, Any]:
        """What is remembered of this client from one request to the next; RuntimeError where nothing is."""
        try:
            return self._session
        except AttributeError:
            raise RuntimeError(
                "nothing keeps sessions here: give the gateway a store, Gateway(..., sessions=amfgate.MemoryStore())"
            ) from None

    @session.setter
    def session(self, session: MutableMapping[str, Any]) -> None:
        self._session = session

    def log_in(self, userid: str, user: Any) -> None:
        """Make `user`, whose credentials were right, the one who makes this request and, with sessions, the next."""
        if self.sessions is not None:
            self.sessions.log_in(self, userid, user)
        self.user = user

    def log_out(self) -> None:
        """Make this request, and with sessions the next, nobody's."""
        if self.sessions is not None:
            self.sessions.log_out(self)
        self.user = None

    def header(self, name: str, default: Any = None) -> Any:
        """The value of the request's header `name`; of several the last."""
        if self.request is not None:
            for header in reversed(self.request.headers):
                if header.name == name:
                    return header.value
        return default

    def add_header(self, name: str, value: Any, must_understand: bool = False) -> None:
        """Send a header with the reply.  With `must_understand` a client that does not know it gives up the reply."""
        if not isinstance(name, str):
            raise TypeError(f"a header's name is text, not {name!r}")
        self.reply_headers.append(Header(name, value, must_understand))

    def append_to_gateway_url(self, text: str, must_understand: bool = False) -> None:
        """Have the client append `text` (`"?sid=1a2b"`) to the gateway's URL from now on."""
        self.add_header("AppendToGatewayUrl", _text_for("append_to_gateway_url", text), must_understand)

    def replace_gateway_url(self, url: str, must_understand: bool = False) -> None:
        """Have the client call `url` from now on."""
        self.add_header("ReplaceGatewayUrl", _text_for("replace_gateway_url", url), must_understand)

    def request_persistent_header(self, name: str, value: Any, must_understand: bool = False) -> None:
        """Have the client send the header `name` with each request from now on, with `must_understand` as its flag."""
        value = {"name": _text_for("request_persistent_header", name), "mustUnderstand": must_understand, "data": value}
        self.add_header("RequestPersistentHeader", value)

    def defer(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call `function(*arguments)` when the server has sent the reply, or given it up.

        The last one deferred is called first.  Each is called once; one that raises is logged and keeps none of the
        others from being called.

            exchange.defer(pool.release, connection)
        """
        if not callable(function):
            raise TypeError(f"defer() takes a function and its arguments, not {function!r}")
        if self._deferred is None:
            self._deferred = []
        self._deferred.append((function, arguments))

    def run_deferred(self) -> None:
        """Call what was deferred.  The gateway does so; a second time there is nothing left to call."""
        deferred = self._deferred
        escaped: BaseException | None = None
        while deferred:
            function, arguments = deferred.pop()
            try:
                function(*arguments)
            except Exception as error:
                log_error(f"deferred {step_name(function)} failed: {message_of(error)}", error)
            except BaseException as error:
                escaped = error
        if escaped is not None:
            raise escaped

    def fail(self, error: Exception) -> None:
        """Answer everything with `error`: each call that has no fault of its own gets this one.

        Before there is a packet, the answer is HTTP: 400 for a DecodeError, 500 for anything else.
        """
        gateway = self.gateway
        if self.request is None:
            log_error(f"request failed: {message_of(error)}", error)
            status = 400 if isinstance(error, DecodeError) else 500
            fault = as_fault(error, gateway)
            text = str(error) if status == 400 else f"{fault.code}: {fault.description}"
            self.response = plain(status, f"{text}\n{fault.details}".rstrip("\n"))
            return
        fault = as_fault(error, gateway)
        log_error(f"packet of {len(self.calls)} calls failed: {printable(said(fault))}", error)
        for call in self.calls:
            if call.fault is None:
                if call.envelope is PLAIN:
                    # The filter that would have given it another may not have been reached.
                    for envelope in self.gateway.envelopes:
                        call.envelope = envelope(call) or PLAIN
                call.refuse(fault)
        self.answer()

    def answer(self) -> None:
        """Set the response to the packet of what the calls were answered.  Dispatch does so."""
        assert self.request is not None
        packet = Packet.__new__(Packet)  # the version is known to be good: this is once per request
        packet.version = 3 if self.request.version == 3 else 0  # Flash Communication Server's 1 is answered with 0
        packet.headers = self.reply_headers
        bodies: list[Body] = []
        for call in self.calls:
            if call.response is None:
                call.fail(RuntimeError("no action answered the call; the last one has to be adapt"))
            bodies.append(call.response)  # type: ignore[arg-type]
        packet.bodies = bodies
        packet.dropped = 0
        self.response = packet

    def __repr__(self) -> str:
        targets = ", ".join(repr(call.target) for call in self.calls)
        return f"<Exchange [{targets}], response {self.response!r}>"


class Call:
    """One body of a request and its answer: what the actions see.

    exchange, gateway: where it belongs.
    target: what is called, as the client wrote it (`"catalog.page"`), or as the Flex filter made it out.
    uri: where the client wants the answer (`"/1"`).
    args: the arguments, a list; after `bind`, converted.
    keywords: arguments given by name: parameters of the method that are annotated Call or Exchange.
    method: what the target stands for, set by `find`: an `amfgate.services.Method`.
    result: what the method returned, set by `invoke`.
    response: the reply's Body, None until there is an answer.
    envelope: makes the response out of the result or a fault.
    fault: the Fault that was answered, None without one.
    user: who calls; the exchange's user unless it is set here.
    session: the exchange's: a mapping that is kept from one request of this client to the next.
    seconds: how long the actions took; 0.0 while nobody logs at INFO.
    bytes_in: the size of the arguments in the packet.
    """

    __slots__ = (
        "_user",
        "args",
        "bytes_in",
        "envelope",
        "exchange",
        "fault",
        "gateway",
        "keywords",
        "method",
        "response",
        "result",
        "seconds",
        "target",
        "uri",
    )

    def __init__(self, exchange: Exchange, target: str, uri: str, args: list[Any], bytes_in: int = 0) -> None:
        self.exchange = exchange
        self.gateway = exchange.gateway
        self.target = target
        self.uri = uri
        self.args: Sequence[Any] = args
        self.bytes_in = bytes_in
        self.envelope: Envelope = PLAIN
        self.keywords: dict[str, Any] | None = None
        self.method: Method | None = None
        self.result: Any = None
        self.response: Body | None = None
        self.fault: Fault | None = None
        self.seconds = 0.0

    @staticmethod
    def __from_call__(call: Call) -> Call:
        """A service's parameter that is annotated Call is filled with this."""
        return call

    @property
    def user(self) -> Any:
        try:
            return self._user
        except AttributeError:
            return self.exchange.user

    @user.setter
    def user(self, user: Any) -> None:
        self._user = user

    @property
    def session(self) -> MutableMapping[str, Any]:
        return self.exchange.session

    @property
    def request(self) -> Any:
        """The request as the framework knows it, where a step of `amfgate.contrib` makes one."""
        try:
            return self.exchange.environ[REQUEST]
        except KeyError:
            raise AttributeError(
                "call.request is the request of a framework, and no step of this gateway makes one: see amfgate.contrib"
            ) from None

    def answer(self, result: Any) -> None:
        """Answer with `result`: for an action that knows it without calling the method."""
        self.result = result
        self.response = self.envelope.result(self)

    def fail(self, error: Exception) -> None:
        """Answer with `error`, and log it."""
        fault = as_fault(error, self.gateway)
        log_error(f"{printable(self.target)} failed: {printable(said(fault))}", error)
        self.refuse(fault)

    def refuse(self, fault: Fault) -> None:
        """Answer with `fault`, which somebody logged."""
        self.fault = fault
        self.result = None
        try:
            self.response = self.envelope.fault(self, fault)
        except Exception as error:
            log_error(f"{printable(self.target)}: its envelope cannot hold the fault", error)
            try:
                self.response = PLAIN.fault(self, fault)
            except Exception:  # a class of faults that does not call `Fault.__init__`: it has no code
                self.fault = as_fault(error, self.gateway)
                self.response = self.envelope.fault(self, self.fault)

    def __repr__(self) -> str:
        return f"<Call {self.target!r}, {len(self.args)} arguments, response {self.response!r}>"


def _text_for(method: str, text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{method}() takes text, not {text!r}")
    return text
