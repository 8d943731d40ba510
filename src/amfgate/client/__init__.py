"""A client for AMF gateways: this one, and those of AMFPHP, BlazeDS, PyAMF, Zend, RubyAMF.

    client = amfgate.Client("https://example.org/amf")
    client.catalog.page(1)

Attribute access builds the target, `catalog.page`; calling it sends a packet and gives the answer's value, or raises
the Fault that the server answered with.  It needs httpx: `pip install 'amfgate[client]'`.

What a packet says is worked out here and in the modules beside it; only `http.py` knows of HTTP, so that
`amfgate.testing` can put a WSGI application in its place.
"""

from __future__ import annotations

import gzip
import logging
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from .._version import __version__
from .._wire import Limits, check_options
from ..classes import ClassRegistry
from ..errors import DecodeError, EncodeError
from ..flex import messages as m
from ..log import printable
from ..packet import Body, Header, Packet
from ..types import TypedObject
from .calls import Batch, Headers, Pending, Target, as_headers
from .faults import Answer, HttpError, RemoteFault, fault_of, shown_url
from .http import HttpxPost, Post
from .messages import Conversation, command_message, encoded_credentials, remoting_message
from .urls import appended, checked_url, replaced

__all__ = [
    "Answer",
    "Batch",
    "Client",
    "HttpError",
    "Pending",
    "RemoteFault",
    "Target",
    "command_message",
    "remoting_message",
]

log = logging.getLogger("amfgate.client")

MOST_CALLS: Final = 0xFFFF  # their number is a u16
# In AMF0 a value met again is written out again, so often, before references are used, as Ruffle does.  Servers do not
# agree which value a reference means: AMFPHP counts the array of arguments, PyAMF does not.
REPEATS: Final = 10_000
_OBEYED: Final = ("AppendToGatewayUrl", "ReplaceGatewayUrl", "RequestPersistentHeader")
_pack_words = struct.Struct(">HH").pack
_pack_word = struct.Struct(">H").pack


class Client:
    """Calls the services of a gateway.

        with amfgate.Client("https://example.org/amf") as client:
            client.catalog.page(1)                  # or client.call("catalog.page", 1)

    url: text, or an object whose text is a URL (`httpx.URL`, `yarl.URL`).
    version: 0 sends AMF0; 3 AMF3, for byte arrays, vectors and identity kept.  None is 0, or 3 with `flex`.
    flex: True calls as Flex's RemoteObject does, `catalog.page` being `page` of the destination `catalog`; text names
        one destination for everything, as AMFPHP's "amfphp", and `catalog` is the source.
    credentials: (user, password).  They travel in the `Credentials` header; with `flex`, by a login before the first
        call and with each message.  In clear: use https.
    headers: AMF headers to send with every packet: a mapping of names to values, or Header objects.
    on_header: functions by name for headers of replies, each called with the header's value.  A reply with a header
        that must be understood, and that is neither here nor one of remoting's own, is refused.
    classes: the ClassRegistry for typed objects; None is the one that `@remote_class` fills.
    limits: `amfgate.Limits` for replies, `max_body` counted unpacked; None bounds the depth alone.
    plain: decode to ordinary Python, as services get it (see `amfgate.loads`); False gives each value as it came.
    timeout: seconds to wait for a connection, for each part of the reply and so on, None for ever; or an
        httpx.Timeout.
    transport: None for the network; a WSGI application, which is called in this process; or an httpx transport.
    cookies: to begin with.  Those that the server sets are kept and sent back.
    http_headers: HTTP headers to send, beside or in place of the usual ones.
    compress: send packets gzipped.  This gateway reads them; ask for others.
    http: an httpx.Client of yours in place of one made here, for certificates, proxies and the like.  It is not closed.
    default, big_ints, decimals: as for `amfgate.dumps`.

    What the server asks for by headers is done from then on: AppendToGatewayUrl, ReplaceGatewayUrl (not from https to
    http) and RequestPersistentHeader.

    Errors: `Fault` (a RemoteFault) for a call that the server refused; HttpError for an answer that is no packet, or
    has no answer to the call; DecodeError for an answer that cannot be decoded; EncodeError for arguments that
    cannot be sent; TimeoutError and ConnectionError from the network; ImportError without httpx.

    Of a client, `headers` are the AMF headers that every packet gets, by name, those that the server asked for among
    them; `reply` is the packet that came last, None before the first.

    A service whose name is that of a method here is reached by `call`: `client.call("batch.run")`.  One client may be
    used by several threads; `reply` is then whichever came last.
    """

    def __init__(
        self,
        url: Any,
        *,
        version: int | None = None,
        flex: bool | str = False,
        credentials: tuple[str, str] | None = None,
        headers: Headers = (),
        on_header: Mapping[str, Callable[[Any], object]] | None = None,
        classes: ClassRegistry | None = None,
        limits: Limits | None = None,
        plain: bool = True,
        timeout: Any = 30.0,
        transport: Any = None,
        cookies: Mapping[str, str] | None = None,
        http_headers: Mapping[str, str] | None = None,
        compress: bool = False,
        http: Any = None,
        default: Callable[[Any], Any] | None = None,
        big_ints: str = "error",
        decimals: str = "float",
    ) -> None:
        if version is None:
            version = 3 if flex else 0
        check_options(version, limits, big_ints=big_ints, decimals=decimals)
        if classes is not None and not isinstance(classes, ClassRegistry):
            raise TypeError(f"classes is an amfgate.ClassRegistry, not {classes!r}")
        if not isinstance(flex, (bool, str)) or flex == "":
            raise TypeError(f"flex is True, False or the name of a destination, not {flex!r}")
        self._base = checked_url(url)
        self._suffix = ""
        self._version = version
        self._flex = None if flex is False else Conversation(flex)
        self._credentials = _checked_credentials(credentials)
        self._handlers = dict(on_header or {})
        self._classes = classes
        self._limits = limits
        self._plain = plain
        self._options: dict[str, Any] = {
            "classes": classes,
            "default": default,
            "big_ints": big_ints,
            "decimals": decimals,
        }
        self._compress = compress
        self._http_headers = {
            "Content-Type": "application/x-amf",
            "Accept": "application/x-amf, */*;q=0.1",
            "User-Agent": f"amfgate/{__version__}",
            **(http_headers or {}),
        }
        self._login = threading.Lock()
        self._post = self._poster(timeout, transport, cookies, http)
        self.headers: dict[str, Header] = {header.name: header for header in as_headers(headers)}
        self.reply: Packet | None = None

    @property
    def url(self) -> str:
        """The URL in use: as given, or as the server had it changed."""
        return appended(self._base, self._suffix)

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies that are sent, by name; a copy."""
        return self._post.cookies()

    def call(self, target: str, *args: Any, headers: Headers = ()) -> Any:
        """Make one call and give its result; `client.catalog.page(1)` is `client.call("catalog.page", 1)`.

        headers: AMF headers for this packet alone.
        """
        pending = Pending(target, args)
        self._send([pending], headers)
        return pending.result

    def batch(self, *, headers: Headers = ()) -> Batch:
        """Several calls in one packet; see Batch.  A gateway may bound their number, this one does at 100."""
        return Batch(self._send, headers)

    def send(self, packet: Packet | bytes) -> Packet:
        """Send a packet made by hand, as it is, and give the packet that came back, whatever it says.

        No header is added, and a fault is not raised.  What the server asks for by headers is done.
        """
        data = packet.to_bytes(**self._options) if isinstance(packet, Packet) else bytes(packet)
        reply = self._read(self.post(data))
        self._obey(reply.headers)
        return reply

    def post(self, data: bytes) -> Answer:
        """Post bytes, and give the HTTP answer as it is, of any status: `.status`, `.headers`, `.body`."""
        headers = self._http_headers
        if self._compress:
            data = gzip.compress(data, mtime=0)
            headers = {**headers, "Content-Encoding": "gzip"}
        return self._post.post(self.url, data, headers, None if self._limits is None else self._limits.max_body)

    def add_header(self, name: str, value: Any, must_understand: bool = False) -> None:
        """Send the header `name` with every packet from now on, as `NetConnection.addHeader` does."""
        (header,) = as_headers([Header(name, value, must_understand)])
        self.headers[name] = header

    def remove_header(self, name: str) -> None:
        """Send the header `name` no more; one that is not sent is no error."""
        self.headers.pop(name, None)

    def login(self, user: str, password: str) -> Any:
        """Use these credentials from now on; with `flex`, log in by them at once and give the server's word."""
        credentials = _checked_credentials((user, password))
        assert credentials is not None
        flex = self._flex
        if flex is None:
            self._credentials = credentials
            return None
        message = command_message(
            m.LOGIN,
            encoded_credentials(credentials),
            headers={m.FLEX_CLIENT_ID: flex.client, "DSCredentialsCharset": "UTF-8"},
        )
        answered = self._command("login", message)
        self._credentials = credentials
        flex.logged_in = True
        return answered.result

    def logout(self) -> None:
        """Use no credentials from now on; with `flex`, after telling the server so."""
        flex = self._flex
        if flex is not None and flex.logged_in:
            message = command_message(m.LOGOUT, headers={m.FLEX_CLIENT_ID: flex.client})
            self._command("logout", message).result  # noqa: B018
            flex.logged_in = False
        self._credentials = None

    def ping(self) -> dict[str, Any]:
        """Ask a Flex server for a sign of life, as a channel does when it connects; give its answer's headers.

        The server names this client (DSId) by it; a first call does that too, so nobody has to ping.
        """
        if self._flex is None:
            raise TypeError("ping is a command of Flex: Client(url, flex=True)")
        headers = {m.FLEX_CLIENT_ID: self._flex.client, m.MESSAGING_VERSION: 1}
        answered = self._command("ping", command_message(m.PING, headers=headers))
        answered.result  # noqa: B018
        found = answered.message.get("headers") if isinstance(answered.message, TypedObject) else None
        return dict(found) if isinstance(found, Mapping) else {}

    def close(self) -> None:
        """Close the connections."""
        self._post.close()

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return Target(self.call, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {shown_url(self._base)}, {'Flex, ' if self._flex else ''}AMF{self._version}>"

    def _poster(self, timeout: Any, transport: Any, cookies: Mapping[str, str] | None, http: Any) -> Post:
        """What posts for this client; `amfgate.testing` has another, without HTTP."""
        return HttpxPost(timeout, transport, cookies, http)

    def _send(self, calls: list[Pending], headers: Headers) -> None:
        """Send calls in one packet, and give each its answer."""
        for call in calls:
            if not isinstance(call.target, str) or not call.target:
                raise TypeError(f"a target is text such as 'catalog.page', not {call.target!r}")
        flex = self._flex
        if flex is None:
            bodies = [Body(call.target, f"/{place}", list(call.args)) for place, call in enumerate(calls, 1)]
            self._exchange(calls, bodies, as_headers(headers))
            return
        credentials = self._credentials
        if credentials is not None and not flex.logged_in:
            with self._login:
                if not flex.logged_in:
                    self.login(*credentials)
        messages = [flex.message(call.target, call.args, credentials) for call in calls]
        bodies = [Body("null", f"/{place}", [message]) for place, message in enumerate(messages, 1)]
        self._exchange(calls, bodies, as_headers(headers))

    def _command(self, name: str, message: TypedObject) -> Pending:
        """Send one CommandMessage."""
        pending = Pending(name, ())
        self._exchange([pending], [Body("null", "/1", [message])], [])
        return pending

    def _exchange(self, calls: list[Pending], bodies: list[Body], headers: list[Header]) -> None:
        answer = self.post(self._write(calls, bodies, headers))
        reply = self._read(answer)
        for header in reply.headers:
            if header.must_understand and header.name not in _OBEYED and header.name not in self._handlers:
                name = printable(header.name, 100)
                for call in calls:
                    call.refuse(
                        RemoteFault(
                            "Client.Header.MustUnderstand",
                            f"the reply has the header '{name}', which must be understood: "
                            f"on_header={{'{name}': function}} takes it",
                            target=call.target,
                            value=header.value,
                        )
                    )
                return
        _distribute(calls, bodies, reply, answer)
        for call, body in zip(calls, bodies, strict=True):
            self._open(call, body)
        self._obey(reply.headers)

    def _write(self, calls: list[Pending], bodies: list[Body], headers: list[Header]) -> bytes:
        """The packet as bytes; the EncodeError of an argument says in which call it is."""
        if len(bodies) > MOST_CALLS:
            raise ValueError(f"{len(bodies)} calls: a packet holds at most {MOST_CALLS}")
        given: dict[str, Header] = {}
        if self._credentials is not None and self._flex is None:
            user, password = self._credentials
            given["Credentials"] = Header("Credentials", {"userid": user, "password": password})
        given.update(self.headers)
        given.update((header.name, header) for header in headers)
        parts = [_pack_words(self._version, len(given))]
        what = ""
        try:
            for header in given.values():
                what = f"the header {header.name!r}"
                parts.append(header.to_bytes(self._version, **self._options))
            parts.append(_pack_word(len(bodies)))
            for call, body in zip(calls, bodies, strict=True):
                what = f"the arguments of {call.target}"
                parts.append(body.to_bytes(self._version, repeats=REPEATS, **self._options))
        except EncodeError as error:
            raise EncodeError(f"{what}: {error.message}", error.path, error.hint) from error
        return b"".join(parts)

    def _read(self, answer: Answer) -> Packet:
        """The packet of an answer; HttpError for one that holds none.

        A packet counts whatever the status says: some servers send their faults with 500.
        """
        try:
            reply = self._packet(answer.body)
        except DecodeError as error:
            if answer.status == 200:
                raise HttpError(answer, str(error)) from error
            raise HttpError(answer, "no AMF packet") from None
        self.reply = reply
        return reply

    def _packet(self, data: bytes) -> Packet:
        try:
            return Packet.from_bytes(data, classes=self._classes, limits=self._limits, plain=self._plain)
        except DecodeError as error:
            # A PHP script that ends in an empty line writes it behind the packet.
            end = error.offset
            if end is None or end < 6 or not data[end:] or data[end:].strip():
                raise
        return Packet.from_bytes(data[:end], classes=self._classes, limits=self._limits, plain=self._plain)

    def _open(self, call: Pending, body: Body) -> None:
        """Take the value out of a Flex message, and learn what it says of the conversation."""
        value: Any = getattr(call.fault, "value", None) if call.fault is not None else call.result
        kind = m.kind_of(value)
        if kind is None:
            return
        flex = self._flex
        if flex is not None:
            sent = body.value[0]
            flex.learn(value, sent.get("destination") if m.kind_of(sent) == "RemotingMessage" else None)
            if call.fault is None and kind != "ErrorMessage":
                call.answer(value.get("body"), value)
                return
            call.message = value
        if kind == "ErrorMessage" and call.fault is None:
            call.refuse(fault_of(value, call.target))

    def _obey(self, headers: list[Header]) -> None:
        """Do what the headers of a reply ask for, in their order."""
        for header in headers:
            name, value = header.name, header.value
            if name in _OBEYED:
                try:
                    self._obey_one(name, value)
                except (TypeError, ValueError) as error:
                    log.warning("the server's header %s is not obeyed: %s", name, printable(str(error)))
            handler = self._handlers.get(name)
            if handler is not None:
                handler(value)

    def _obey_one(self, name: str, value: Any) -> None:
        if name == "RequestPersistentHeader":
            wanted = value.get("name") if isinstance(value, Mapping) else None
            if not isinstance(wanted, str):
                raise ValueError("it has to be an object with the name of a header and its data")
            self.add_header(wanted, value.get("data"), bool(value.get("mustUnderstand")))
            return
        if not isinstance(value, str):
            raise ValueError(f"it has to be text, and is a {type(value).__name__}")
        if name == "AppendToGatewayUrl":
            checked_url(appended(self._base, value))
            self._suffix = value  # in the place of what was appended before: servers send it again and again
        else:
            self._base, self._suffix = replaced(self._base, value), ""


def _distribute(calls: list[Pending], sent: list[Body], reply: Packet, answer: Answer) -> None:
    """Give each call its answer: that with its response URI; where a server lost those, the one in its place."""
    bodies = [body for body in reply.bodies if not body.target.endswith("/onDebugEvents")]
    by_uri: dict[str, list[Body]] = {}
    for body in bodies:
        by_uri.setdefault(body.target.rpartition("/")[0], []).append(body)
    if len(bodies) == len(calls) and any(body.response not in by_uri for body in sent):
        found: list[Body | None] = list(bodies)
    else:
        found = [by_uri[body.response].pop(0) if by_uri.get(body.response) else None for body in sent]
    for call, one in zip(calls, found, strict=True):
        if one is None:
            there = ", ".join(printable(repr(body.target), 60) for body in reply.bodies[:5]) or "no answer at all"
            lost = f", and {reply.dropped} that cannot be read" if reply.dropped else ""
            call.refuse(
                HttpError(answer, f"the packet has no answer to {printable(call.target)}; it has {there}{lost}")
            )
            continue
        try:
            value = one.value
        except DecodeError as error:
            call.refuse(error)
            continue
        if one.target.endswith("/onStatus"):
            call.refuse(fault_of(value, call.target))
        else:
            call.answer(value)


def _checked_credentials(credentials: Any) -> tuple[str, str] | None:
    """The pair, or None.  The error does not show what was given: it holds a password."""
    if credentials is None:
        return None
    if isinstance(credentials, (str, bytes)) or len(credentials) != 2:
        raise TypeError("credentials are a pair, (user, password)")
    user, password = credentials
    if not isinstance(user, str) or not isinstance(password, str):
        raise TypeError("credentials are a pair of texts, (user, password)")
    return user, password
