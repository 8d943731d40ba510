"""What is remembered of a client from one request to the next, and how the client is known again.

A session is found by an id that the client presents, and there are three ways to have it do so:

    "url"     the reply's header AppendToGatewayUrl: `?amfsession=...` is in the URL of each request from then on
    "cookie"  a cookie of the name `amfsession`
    "flex"    DSId, the id of a Flex client, in the headers of each of its messages

Which client takes which, as their sources say:

- Flash Player hands AppendToGatewayUrl to a method of that name of the NetConnection's `client`.  Flex's channels have
  the method, and so has `mx.remoting` of ActionScript 2: both put the text behind the URL that they began with, in
  place of a former one.  Other clients (PyAMF's) put it behind the URL that they have.  So the last id in a URL
  counts.  A NetConnection whose client has no such method needs cookies.
- Flash Player in a browser has the browser's cookies.  Royale has them for calls to the site of its page only: it never
  asks for those of other sites.  Its AMF channel reads over AppendToGatewayUrl.
- Flex and Royale take DSId from the reply that connects their channel, a ping's or a login's, and only while they have
  none: `FlexClient.id == null`.  They send it with each message for as long as the program runs, and never take
  another.

The last point decides how a login works.  The id of a session has to change with it, or who knew the id before would
be logged in too, and the DSId of a Flex client cannot change.  So DSId carries the session until the login; its session
goes over to a new id, which the client is told in all three ways, and the DSId is worth what a stranger's is.  Flash
clients follow by URL or cookie, Royale by cookie, `amfgate.Client` by any.  A channel that connects with credentials
(`ChannelSet.setCredentials`) begins with the login, and its DSId is the session's.  What cannot follow is a Royale
page that calls another site, logged in on an open channel: it has to give its credentials before it connects
(`setCredentials`).

Only one way counts in a request: the first of URL, cookie and DSId that brings an id at all.  So a client is in one
session, and a logout does not drop it into another.

Cookies are sent by browsers also for pages of other sites.  A request with an Origin that is neither this host's nor
named in `cors` is served as if it had no cookie, and sets none.  A URL or a DSId nobody else can send.

An id that the store does not know is never taken over: the session that begins gets a fresh one.  A DSId, which is
given out before anything is stored, has a mark by which it is known to be ours; see `amfgate.sessions.ids`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from ..envelope import PLAIN
from ..flex import messages as m
from ..log import log_error, logger, printable
from ..packet import Packet
from ..pipeline import Call, Exchange
from ..sessions import Rules, Session, SessionStore
from ..sessions.ids import can_be_id

WAYS: Final = ("url", "cookie", "flex")
MOST_COOKIES: Final = 3  # of our name: a page of a neighbouring host can set one more

# Where in the environ what is known of this request's session is kept.
_VISIT: Final = "amfgate.sessions.visit"

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_SAME_SITE: Final = ("Lax", "Strict", "None")


class _Visit:
    """What one request says of its session.

    way: that of WAYS by which it presents an id, None if it presents none.
    flex: whether there are Flex messages in the packet.
    cookies: whether cookies count, and may be set.
    cookie: whether there was a cookie of our name.
    made: the DSId that this request was given.
    """

    __slots__ = ("cookie", "cookies", "flex", "made", "session", "set_cookie", "way")

    def __init__(self) -> None:
        self.way: str | None = None
        self.flex = self.cookies = self.cookie = False
        self.made: str | None = None
        self.set_cookie: str | None = None
        self.session: Session


class Sessions:
    """Gives each call its session: `Gateway(..., sessions=store)` puts this filter in its place, behind PacketCodec.

        class Counter:
            def next(self, call: amfgate.Call) -> int:
                call.session["count"] = call.session.get("count", 0) + 1
                return call.session["count"]

        Gateway(app, {"counter": Counter()}, sessions=amfgate.MemoryStore())

    `call.session` is a mapping, see `amfgate.sessions.Session`.  A client that never has anything in its session has
    none: nothing is stored, and no cookie set.  A call that does not look at its session, and asks for no user, does
    not ask the store.

    Who logs in, by the login of a Flex client or in a service by `call.exchange.log_in(userid, user)`, is `call.user`
    in the requests that follow.  The id of the session changes, and what was in it stays, unless it was another user's.
    The user is kept as `authenticate` gave it if that is plain data, a dict for example; other objects, those of an
    ORM, need `load_user`.  `call.exchange.log_out()` deletes the session.

    store: `amfgate.MemoryStore()` or `amfgate.RedisStore(url)`.
    expiry: seconds that a session is kept after it was last used; 30 minutes.  To be used is to be looked at.
    max_age: seconds after which it ends in any case, counted from its beginning or the login; 24 hours.  None: never.
    max_size: bytes that a session may have, as encoded; 65536.  What would make it larger is a fault.  Requests at the
        same time do not see what the others add.
    ways: which ways to present an id there are, of "url", "cookie" and "flex"; all.  URLs are seen by proxies and
        written into logs: leave "url" out where all clients have cookies.
    name: of the cookie, and of the parameter in the URL.
    cookie_path: that the cookie is for; None is the path at which this application is mounted.
    same_site: "Lax", "Strict" or "None".  Pages of other sites, those that `cors` names, need "None", and https.
    secure: whether the cookie goes over https only; None is if this request came over https (`wsgi.url_scheme`).
    load_user: `load_user(userid)` gives the user of a login, or None if there is none any more.  With it, nothing but
        the userid is kept of a user.

    The cookie is HttpOnly, and gone when the browser is closed.  A wrong option is an error here.
    """

    def __init__(
        self,
        store: SessionStore,
        *,
        expiry: float = 1800.0,
        max_age: float | None = 86400.0,
        max_size: int = 65536,
        ways: Iterable[str] = WAYS,
        name: str = "amfsession",
        cookie_path: str | None = None,
        same_site: str = "Lax",
        secure: bool | None = None,
        load_user: Callable[[str], Any] | None = None,
    ) -> None:
        for method in ("load", "save", "touch", "delete", "secret"):
            if isinstance(store, type) or not callable(getattr(store, method, None)):
                raise TypeError(f"sessions are kept in a store, MemoryStore() or RedisStore(url), not in {store!r}")
        for option, number in (("expiry", expiry), ("max_age", max_age), ("max_size", max_size)):
            if number is None and option == "max_age":
                continue
            if not isinstance(number, (int, float)) or not 0 < number < math.inf:
                unit = "bytes" if option == "max_size" else "seconds"
                raise ValueError(f"{option} is a number of {unit}, more than 0, not {number!r}")
        self.ways = tuple([ways] if isinstance(ways, str) else ways)
        if not self.ways or not set(self.ways) <= set(WAYS):
            raise ValueError(f"ways={ways!r}: there are {', '.join(map(repr, WAYS))}, and at least one is needed")
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise ValueError(
                f"name={name!r}: the name of the cookie and parameter is of letters, digits, '_', '-' and '.'"
            )
        if cookie_path is not None and (not cookie_path.startswith("/") or quote(cookie_path) != cookie_path):
            raise ValueError(f"cookie_path={cookie_path!r}: a path starts with '/', and is quoted as in a URL")
        if same_site not in _SAME_SITE:
            raise ValueError(f"same_site={same_site!r}: there are {', '.join(map(repr, _SAME_SITE))}")
        if load_user is not None and not callable(load_user):
            raise TypeError(f"load_user is a function load_user(userid), not {load_user!r}")
        self.store = store
        self.rules = Rules(expiry, math.inf if max_age is None else max_age, max_size)
        self.name = name
        self.cookie_path = cookie_path
        self.same_site = same_site
        self.secure = secure
        self.load_user = load_user
        self._alone = bool(getattr(store, "one_process", False))
        self._warned = False
        # One behind the other is what a client makes that appends to the URL which it has.
        self._in_url = re.compile(rf"(?:^|[?&;]){re.escape(name)}=([A-Za-z0-9_-]*)(?=[?&;]|$)", re.ASCII)

    # The filter

    def on_request(self, exchange: Exchange) -> None:
        environ = exchange.environ
        visit = _Visit()
        presented = self._presented(exchange, visit)
        ids = tuple(filter(can_be_id, presented)) if presented else ()
        visit.session = exchange.session = Session(self.store, self.rules, ids, partial(_caller, exchange))
        if visit.way == "flex" and ids:
            visit.session.may_begin = ids[0]
        environ[_VISIT] = visit
        exchange.sessions = self
        if self._alone and not self._warned and environ.get("wsgi.multiprocess"):
            self._warned = True
            warnings.warn(  # last: where warnings are errors, this one is the answer
                f"{type(self.store).__name__} keeps sessions in one process, and this server has several "
                "(wsgi.multiprocess): a client is known to one of them only; amfgate.RedisStore is for all",
                RuntimeWarning,
                stacklevel=2,
            )

    def on_response(self, exchange: Exchange) -> None:
        visit = exchange.environ[_VISIT]
        session = visit.session
        try:
            for call, error in session.save():
                if call is None:
                    raise error
                _fail(exchange, call, error)
        finally:
            if session.new_id is not None:
                self._tell(exchange, visit, session.new_id)
            session.close()

    def http_headers(self, exchange: Exchange) -> list[tuple[str, str]]:
        """What the gateway adds to the HTTP answer: the cookie, if there is one to set or to take away."""
        visit = exchange.environ.get(_VISIT)
        return [] if visit is None or visit.set_cookie is None else [("Set-Cookie", visit.set_cookie)]

    # The keeper: `exchange.sessions`

    def user(self, exchange: Exchange) -> Any:
        """Who is logged in: the user of a former request's `log_in`; None for nobody."""
        login = exchange.environ[_VISIT].session.login
        if login is None:
            return None
        return login.get("user") if self.load_user is None else self.load_user(login["id"])

    def flex_client_id(self, exchange: Exchange, known: Any) -> str:
        """The DSId for a Flex client: the one that it sent, `known`, if that can be one, else a fresh one.

        One that is not ours is left to it too, for most clients would not take another: the store need not be asked.
        When there is something to keep, the client is told an id by all ways.
        """
        visit: _Visit = exchange.environ[_VISIT]
        session = visit.session
        if "flex" in self.ways:
            if session.new_id is not None:
                return session.new_id
            known = known if can_be_id(known) else session.may_begin
        if can_be_id(known):
            return str(known)
        if visit.made is None:
            visit.made = self._made(visit)
        return visit.made

    def log_in(self, exchange: Exchange, userid: str, user: Any) -> None:
        if not isinstance(userid, str):
            raise TypeError(f"userid is text, not {userid!r}")
        login = {"id": userid}
        if self.load_user is None:
            login["user"] = user
        try:
            exchange.environ[_VISIT].session.log_in(login, lambda former: former.get("id") == userid)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"the user {printable(userid, 60)!r} cannot be kept for the next request: {error}. Have authenticate "
                "give plain data, or tell how to find a user again: sessions=Sessions(store, load_user=...)"
            ) from error

    def log_out(self, exchange: Exchange) -> None:
        visit: _Visit = exchange.environ[_VISIT]
        visit.session.end()
        if visit.cookie and visit.cookies:
            visit.set_cookie = self._cookie(exchange.environ, "", "; Max-Age=0")

    # Inside

    def _made(self, visit: _Visit) -> str:
        """A fresh DSId; a session of this client may begin under it, if it presents nothing else."""
        if "flex" in self.ways:
            try:
                made = visit.session.marked_id()
            except Exception as error:
                # Whoever pings can be answered without a store; the client has to follow by URL or cookie then.
                log_error("a Flex client's id is not marked: the store of sessions does not answer", error)
            else:
                if visit.way is None:
                    visit.session.may_begin = made
                return made
        return m.new_id()

    def _presented(self, exchange: Exchange, visit: _Visit) -> list[Any]:
        """What the request has in the place of an id, by the first way that has anything."""
        environ = exchange.environ
        found: list[Any] = []
        if "flex" in self.ways:
            for call in exchange.calls:
                if call.target in ("null", "") and len(call.args) == 1 and m.kind_of(call.args[0]) is not None:
                    visit.flex = True
                    headers = call.args[0].get("headers")
                    known = headers.get(m.FLEX_CLIENT_ID) if isinstance(headers, Mapping) else None
                    if known is not None and known != "nil":
                        visit.way = "flex"
                        found = [known]
                        break
        if "cookie" in self.ways:
            header = environ.get("HTTP_COOKIE")
            cookies = _cookies(header, self.name) if header else []
            visit.cookie = bool(cookies)
            visit.cookies = not _foreign(exchange)
            if cookies and visit.cookies:
                visit.way = "cookie"
                found = cookies
        if "url" in self.ways:
            query = environ.get("QUERY_STRING")
            in_url = self._in_url.findall(query) if query else None
            if in_url:
                visit.way = "url"
                found = in_url[-1:]
        return found

    def _tell(self, exchange: Exchange, visit: _Visit, session_id: str) -> None:
        """Have the client present this id from now on."""
        if visit.cookies:
            visit.set_cookie = self._cookie(exchange.environ, session_id)
        # A client that has brought a cookie, and no URL, need not be asked for another way.
        if "url" in self.ways and visit.way != "cookie":
            others = self._in_url.sub("", exchange.environ.get("QUERY_STRING", ""))
            exchange.append_to_gateway_url(f"{'&' if others else '?'}{self.name}={session_id}")
        if visit.flex:
            for call in exchange.calls:
                if call.response is None or call.envelope is PLAIN:
                    continue  # a message in the answer of a plain call is a service's own
                message: Any = call.response.value
                if m.kind_of(message) is not None and isinstance(message.get("headers"), dict):
                    message["headers"][m.FLEX_CLIENT_ID] = session_id

    def _cookie(self, environ: dict[str, Any], value: str, more: str = "") -> str:
        path = self.cookie_path
        if path is None:
            # PEP 3333: the bytes of the path as Latin-1 characters.
            path = quote(environ.get("SCRIPT_NAME", "").encode("latin-1")) or "/"
        secure = environ["wsgi.url_scheme"] == "https" if self.secure is None else self.secure
        if secure or self.same_site == "None":
            more += "; Secure"  # browsers refuse SameSite=None without it
        return f"{self.name}={value}; Path={path}; HttpOnly; SameSite={self.same_site}{more}"


def _cookies(header: str, name: str) -> list[str]:
    """The values of the cookies of this name, in their order."""
    found: list[str] = []
    for pair in header.split(";"):
        key, equals, value = pair.strip().partition("=")
        if equals and key == name:
            found.append(value)
            if len(found) == MOST_COOKIES:
                break
    return found


def _foreign(exchange: Exchange) -> bool:
    """Whether a page of another site makes this request (Fetch standard, "Origin header")."""
    environ = exchange.environ
    origin = environ.get("HTTP_ORIGIN")
    if not origin or environ.get("HTTP_SEC_FETCH_SITE") == "same-origin":  # both are the browser's own word
        return False
    cors = exchange.gateway.cors
    if cors is not None and origin in cors.origins and origin != "null":
        return False
    # Only hosts are compared: behind a proxy that ends TLS, https may be taken for http.
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    host = host.lower()
    scheme, _, own = origin.lower().partition("://")
    default = {"http": ":80", "https": ":443"}.get(scheme, "")
    if own == host or own + default == host or own == host + default:
        return False
    if environ.get("HTTP_COOKIE"):
        logger.warning(
            "the cookies of a call from a page of %s are not used: this is %s; cors= would have to name it",
            printable(origin, 100),
            printable(host, 100),
        )
    return True


def _caller(exchange: Exchange) -> Call | None:
    """The call that is being answered, as far as can be told; None for a filter.

    The actions of one call are done before those of the next.  What runs before them, as the commands of a Flex client
    do, has its own envelope already, and the ones behind it do not.
    """
    waiting = [call for call in exchange.calls if call.response is None]
    for call in waiting:
        if call.method is not None:
            return call
    for call in reversed(waiting):
        if call.envelope is not PLAIN:
            return call
    return waiting[0] if waiting else None


def _fail(exchange: Exchange, call: Call, error: Exception) -> None:
    """Answer a call, which has been answered, with a fault."""
    former = call.response
    call.fail(error)
    packet = exchange.response
    if isinstance(packet, Packet) and call.response is not None:
        packet.bodies = [call.response if body is former else body for body in packet.bodies]
