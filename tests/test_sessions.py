"""The Sessions filter: the three ways to know a client again, logins, limits, and what a hostile client can do."""

from __future__ import annotations

import gc
import re
import time
import warnings
import weakref
from datetime import UTC, datetime
from typing import Any

import pytest
from wsgi_client import Reply, call, packet, post

import amfgate
from amfgate import Body, Fault, Gateway, MemoryStore, Packet, Sessions, TypedObject, requires
from amfgate.sessions import Rules, Session
from amfgate.sessions.ids import key_of
from amfgate.sessions.store import SessionStore

NEW = "new-id-0123456789abcdefghijklmnopqrstuvwxyz"
USERS = {"ada": {"name": "Ada"}, "bob": {"name": "Bob"}}


class Counter:
    """What a service does with a session."""

    def next(self, call: amfgate.Call) -> int:
        call.session["count"] = call.session.get("count", 0) + 1
        return int(call.session["count"])

    def put(self, call: amfgate.Call, key: str, value: Any) -> None:
        call.session[key] = value

    def get(self, call: amfgate.Call, key: str) -> Any:
        return call.session.get(key)

    def add(self, call: amfgate.Call, value: Any) -> int:
        cart = call.session.setdefault("cart", [])
        cart.append(value)
        return len(cart)

    def clear(self, call: amfgate.Call) -> None:
        call.session.clear()

    def enter(self, exchange: amfgate.Exchange, name: str) -> None:
        exchange.log_in(name, USERS[name])

    def leave(self, exchange: amfgate.Exchange) -> None:
        exchange.log_out()

    def user(self, call: amfgate.Call) -> Any:
        return call.user

    @requires()
    def own(self, call: amfgate.Call) -> Any:
        return call.user

    def ping(self) -> str:
        return "pong"


class Watched(MemoryStore):
    """A store that says what was asked of it, and fails where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fails: tuple[str, ...] = ()

    def _watch(self, name: str) -> None:
        self.asked.append(name)
        if name in self.fails:
            raise OSError(f"{name}: no connection")

    def load(self, key: str) -> Any:
        self._watch("load")
        return super().load(key)

    def save(self, *args: Any, **more: Any) -> bool:
        self._watch("save")
        return super().save(*args, **more)

    def touch(self, key: str, seconds: float) -> None:
        self._watch("touch")
        super().touch(key, seconds)

    def delete(self, key: str) -> None:
        self._watch("delete")
        super().delete(key)

    def secret(self) -> bytes:
        self._watch("secret")
        return super().secret()


@pytest.fixture
def store() -> Watched:
    return Watched()


@pytest.fixture
def gateway(store: Watched) -> Gateway:
    return gate(store)


def gate(store: SessionStore, **options: Any) -> Gateway:
    more = {name: options.pop(name) for name in ("cors",) if name in options}
    return Gateway(None, {"counter": Counter()}, sessions=Sessions(store, **options), authenticate=check, **more)


def check(userid: str, password: str) -> Any:
    return USERS.get(userid) if password == "sextant" else None


@pytest.fixture
def fixed_id(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("amfgate.sessions.session.new_id", lambda: NEW)
    return NEW


class Clock:
    """The time of sessions and of MemoryStore, which goes on only where a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1e9
        monkeypatch.setattr("amfgate.sessions.session.time", lambda: self.now)
        monkeypatch.setattr("amfgate.sessions.memory.monotonic", lambda: self.now - 1e8)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Program:
    """A client that presents what it was told, by the ways that it knows: "url", "cookie", "flex"."""

    def __init__(self, gateway: Gateway, *ways: str, **environ: Any) -> None:
        self.gateway = gateway
        self.ways = ways
        self.environ = environ
        self.query = ""
        self.cookie: str | None = None
        self.client = "nil"
        self.takes_another = False  # DSId, once it has one; Flex clients do not

    def post(self, data: bytes, **more: Any) -> Reply:
        environ: dict[str, Any] = {"QUERY_STRING": self.query, **self.environ, **more}
        if self.cookie is not None:
            environ["HTTP_COOKIE"] = f"theme=dark; {self.cookie}; lang=en"
        reply = post(self.gateway, data, **environ)
        assert reply.status == "200 OK"
        for header in reply.packet.headers:
            if header.name == "AppendToGatewayUrl" and "url" in self.ways:
                self.query = header.value[1:]
        if "Set-Cookie" in reply.headers and "cookie" in self.ways:
            pair, _, attributes = reply.headers["Set-Cookie"].partition(";")
            self.cookie = None if "Max-Age=0" in attributes else pair
        return reply

    def calls(self, *calls: tuple[str, list[Any]], **more: Any) -> Reply:
        """Calls of one packet; as messages if this is a Flex client."""
        if "flex" not in self.ways:
            return self.post(packet(*calls), **more)
        messages = [self.message(target, args) for target, args in calls]
        bodies = [Body("null", f"/{number}", [message]) for number, message in enumerate(messages, 1)]
        reply = self.post(Packet(3, [], bodies).to_bytes(), **more)
        for body in reply.bodies:
            told = body.value["headers"].get("DSId")
            if told is not None and (self.client == "nil" or self.takes_another):
                self.client = told
        return reply

    def message(self, target: str, args: list[Any]) -> TypedObject:
        destination, _, operation = target.rpartition(".")
        members: dict[str, Any] = {"headers": {"DSId": self.client}, "messageId": "M", "clientId": "C", "body": args}
        if destination == "command":
            members |= {"operation": {"ping": 5, "login": 8, "logout": 9}[operation], "body": args[0] if args else None}
            return TypedObject("flex.messaging.messages.CommandMessage", members)
        members |= {"destination": destination, "operation": operation}
        return TypedObject("flex.messaging.messages.RemotingMessage", members)

    def call(self, target: str, *args: Any, **more: Any) -> Any:
        """The result of a call, or the code of its fault."""
        (body,) = self.calls((target, list(args)), **more).bodies
        if "flex" in self.ways:
            return body.value.get("faultCode") or body.value["body"]
        return body.value["code"] if body.target.endswith("/onStatus") else body.value

    def log_in(self, name: str = "ada") -> Program:
        if "flex" in self.ways:
            # base64 of name:sextant
            known = {"ada": "YWRhOnNleHRhbnQ=", "bob": "Ym9iOnNleHRhbnQ="}
            assert self.call("command.login", known[name]) == "success"
        else:
            assert self.call("counter.enter", name) is None
        return self

    def again(self) -> Program:
        """Another program that presents the same as this one now."""
        other = Program(self.gateway, *self.ways, **self.environ)
        other.query, other.cookie, other.client = self.query, self.cookie, self.client
        return other


WAYS = [("url",), ("cookie",), ("flex",), ("flex", "url"), ("flex", "cookie"), ("url", "cookie", "flex")]


@pytest.fixture(params=WAYS, ids="+".join)
def ways(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return tuple(request.param)


# The three ways, byte for byte


def text(value: str) -> bytes:
    return len(value).to_bytes(2, "big") + value.encode()


NEXT = bytes.fromhex("0000 0000 0001") + text("counter.next") + text("/1") + bytes.fromhex("00000005 0a00000000")


def test_a_new_session_is_told_by_url_and_cookie_byte_for_byte(gateway: Gateway, fixed_id: str) -> None:
    reply = post(gateway, NEXT)
    assert reply.data == (
        bytes.fromhex("0000 0001")
        + text("AppendToGatewayUrl")
        + bytes.fromhex("00 0000003a 02")
        + text("?amfsession=" + NEW)
        + bytes.fromhex("0001")
        + text("/1/onResult")
        + text("null")
        + bytes.fromhex("00000009 00 3ff0000000000000")
    )
    assert reply.headers["Set-Cookie"] == f"amfsession={NEW}; Path=/; HttpOnly; SameSite=Lax"
    assert reply.headers["Content-Length"] == str(len(reply.data))
    assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "presented",
    [
        {"QUERY_STRING": f"amfsession={NEW}"},
        {"QUERY_STRING": f"a=b&amfsession={NEW}"},
        {"QUERY_STRING": f"amfsession={NEW}&a=b"},
        {"QUERY_STRING": f"amfsession=old?amfsession={NEW}"},
        {"HTTP_COOKIE": f"amfsession={NEW}"},
        {"HTTP_COOKIE": f"a=b;amfsession={NEW} ; c"},
        {"HTTP_COOKIE": f"amfsession=; amfsession=stale0123456789abcdefgh; amfsession={NEW}"},
    ],
)
def test_the_next_request_is_known_by_url_or_cookie(gateway: Gateway, fixed_id: str, presented: dict[str, str]) -> None:
    post(gateway, NEXT)
    reply = post(gateway, NEXT, **presented)
    assert reply.data == (
        bytes.fromhex("0000 0000 0001")
        + text("/1/onResult")
        + text("null")
        + bytes.fromhex("00000009 00 4000000000000000")
    )
    assert "Set-Cookie" not in reply.headers


def amf3(value: str) -> bytes:
    return bytes([len(value) << 1 | 1]) + value.encode()


def flex_next(client: str) -> bytes:
    """A RemotingMessage for counter.next, as a dynamic object, with this DSId."""
    message = (
        bytes.fromhex("0a 0b")
        + amf3("flex.messaging.messages.RemotingMessage")
        + (amf3("operation") + b"\6" + amf3("next"))
        + (amf3("destination") + b"\6" + amf3("counter"))
        + (amf3("headers") + bytes.fromhex("0a 0b 01") + amf3("DSId") + b"\6" + amf3(client) + b"\1")
        + (amf3("body") + bytes.fromhex("09 01 01"))
        + b"\1"
    )
    value = bytes.fromhex("0a 00000001 11") + message
    return bytes.fromhex("0003 0000 0001") + text("null") + text("/1") + len(value).to_bytes(4, "big") + value


def test_a_flex_client_is_known_by_its_dsid(gateway: Gateway, store: Watched) -> None:
    first = post(gateway, flex_next("nil"))
    (body,) = first.bodies
    client = body.value["headers"]["DSId"]
    assert re.fullmatch("[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}", client)
    assert body.value["body"] == 1
    assert store.load(key_of(client)) is not None
    second = post(gateway, flex_next(client))
    assert second.value["body"] == 2
    assert b"DSId" not in second.data
    for reply in (first, second):
        assert "Set-Cookie" not in reply.headers
        assert not reply.packet.headers


# A session


def test_a_session_is_kept_from_one_request_to_the_next(gateway: Gateway, ways: tuple[str, ...]) -> None:
    one, other = Program(gateway, *ways), Program(gateway, *ways)
    assert [one.call("counter.next") for _ in range(3)] == [1, 2, 3]
    assert other.call("counter.next") == 1
    assert one.call("counter.next") == 4


def test_calls_of_one_packet_share_it(gateway: Gateway, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    reply = one.calls(("counter.next", []), ("counter.next", []), ("counter.get", ["count"]))
    values = [body.value for body in reply.bodies]
    assert [value["body"] if "flex" in ways else value for value in values] == [1, 2, 2]
    assert one.call("counter.next") == 3


def test_a_ping_and_a_call_in_one_packet_are_one_client(gateway: Gateway) -> None:
    one = Program(gateway, "flex")
    reply = one.calls(("command.ping", []), ("counter.next", []))
    assert {body.value["headers"]["DSId"] for body in reply.bodies} == {one.client}
    assert one.call("counter.next") == 2


def test_what_was_done_to_a_list_in_it_is_kept(gateway: Gateway) -> None:
    one = Program(gateway, "cookie")
    assert [one.call("counter.add", name) for name in "abc"] == [1, 2, 3]
    assert one.call("counter.get", "cart") == ["a", "b", "c"]


def test_it_is_a_mapping(store: Watched) -> None:
    seen: list[Any] = []

    def probe(call: amfgate.Call) -> None:
        session = call.session
        seen.append((len(session), list(session), "a" in session, 3 in session, session.get("a"), bool(session)))
        assert session is call.exchange.session
        session.update(a=1, b=[2])
        session["c"] = {"d": session.pop("b")}
        session["b"] = None
        del session["b"]
        with pytest.raises(KeyError):
            session["b"]
        with pytest.raises(KeyError):
            del session["b"]
        with pytest.raises(TypeError, match="a key of a session is text, not 3"):
            session[3] = 1  # type: ignore[index]
        with pytest.raises(ValueError, match=r"a key of a session is Unicode, not '\\udcff'"):
            session["\udcff"] = 1
        assert session == {"a": 1, "c": {"d": [2]}}
        assert session["c"] is session["c"]
        seen.append(repr(session))

    one = Program(Gateway(None, {"probe": probe}, sessions=store), "cookie")
    one.call("probe")
    one.call("probe")
    assert seen == [
        (0, [], False, False, None, False),
        "<Session {'a': 1, 'c': {'d': [2]}}>",
        (2, ["a", "c"], True, False, 1, True),
        "<Session {'a': 1, 'c': {'d': [2]}}>",
    ]


def test_values_come_back_as_they_were(gateway: Gateway) -> None:
    one = Program(gateway, "cookie")
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    for value in (None, True, 0.5, "ß", [1, [when]], {"a": {}}):
        one.call("counter.put", "value", value)
        assert one.call("counter.get", "value") == value


def test_to_clear_it_takes_everything_out_and_keeps_the_login(gateway: Gateway) -> None:
    one = Program(gateway, "cookie").log_in()
    one.call("counter.next")
    one.call("counter.clear")
    assert (one.call("counter.get", "count"), one.call("counter.own")) == (None, {"name": "Ada"})


def test_two_requests_at_once_lose_nothing_of_each_other(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie")
    one.call("counter.next")

    def meanwhile(call: amfgate.Call) -> None:
        call.session["mine"] = 1
        call.session["count"] = 100
        assert one.again().call("counter.put", "theirs", 2) is None
        assert one.again().call("counter.next") == 2

    slow = one.again()
    slow.gateway = Gateway(None, {"meanwhile": meanwhile}, sessions=store)
    slow.call("meanwhile")
    assert [one.call("counter.get", key) for key in ("mine", "theirs", "count")] == [1, 2, 100]


def test_what_a_call_changed_stays_changed_when_it_fails(store: Watched) -> None:
    def fails(call: amfgate.Call) -> None:
        call.session["tries"] = call.session.get("tries", 0) + 1
        raise Fault("Shop.SoldOut", str(call.session["tries"]))

    one = Program(Gateway(None, {"fails": fails}, sessions=store), "cookie")
    assert [one.calls(("fails", [])).value["description"] for _ in range(2)] == ["1", "2"]


def test_it_cannot_be_changed_when_the_reply_is_on_its_way(store: Watched) -> None:
    seen: list[Any] = []

    def later(exchange: amfgate.Exchange) -> None:
        exchange.session["a"] = 1
        exchange.defer(afterwards, exchange)

    def afterwards(exchange: amfgate.Exchange) -> None:
        seen.append(exchange.session["a"])
        with pytest.raises(RuntimeError, match="the session is saved and the reply on its way"):
            exchange.session["b"] = 1
        with pytest.raises(RuntimeError, match="the session is saved"):
            exchange.log_out()
        seen.append("done")

    call(Gateway(None, {"later": later}, sessions=store), "later")
    assert seen == [1, "done"]


def test_without_sessions_it_says_how_to_get_them() -> None:
    gateway = Gateway(None, {"counter": Counter()})
    with pytest.raises(Fault) as caught:
        amfgate.testing.Client(gateway).call("counter.next")
    assert str(caught.value.__cause__) == (
        "nothing keeps sessions here: give the gateway a store, Gateway(..., sessions=amfgate.MemoryStore())"
    )


# Nothing for nothing


@pytest.mark.parametrize("target", ["counter.ping", "counter.get", "counter.user"])
def test_a_client_without_anything_to_remember_has_no_session(
    gateway: Gateway, store: Watched, ways: tuple[str, ...], target: str
) -> None:
    args = ["x"] if target == "counter.get" else []
    for _ in range(3):
        reply = Program(gateway, *ways).calls((target, args))
        assert "Set-Cookie" not in reply.headers
        assert not reply.packet.headers
    assert len(store) == 0


def test_a_call_that_does_not_look_at_its_session_does_not_ask_the_store(
    gateway: Gateway, store: Watched, ways: tuple[str, ...]
) -> None:
    one = Program(gateway, *ways)
    one.call("counter.next")
    store.asked.clear()
    assert one.call("counter.ping") == "pong"
    one.takes_another = True
    one.log_in()
    store.asked.clear()
    assert one.call("counter.ping") == "pong"
    assert store.asked == []


def test_a_session_that_is_only_read_is_not_written(gateway: Gateway, store: Watched, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    one.call("counter.next")
    store.asked.clear()
    one.calls(("counter.get", ["count"]), ("counter.get", ["count"]))
    assert [name for name in store.asked if name != "secret"] == ["load"]


def test_the_same_value_again_is_no_change(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie")
    one.call("counter.put", "a", [1])
    store.asked.clear()
    one.call("counter.put", "a", [1])
    assert store.asked == ["load"]


def test_the_default_list_has_no_sessions() -> None:
    assert "Sessions" not in repr(Gateway(None, {"counter": Counter()}))
    assert repr(gate(MemoryStore())) == (
        "<Gateway /amf: PacketCodec, Sessions, Credentials, Flex, Dispatch(find, authorize, bind, invoke, adapt)>"
    )


def test_an_exchange_is_forgotten_at_once(store: Watched) -> None:
    gone: list[weakref.ref[Any]] = []

    class Seen:
        pass

    def touch(call: amfgate.Call) -> None:
        call.session["a"] = [call.user]
        seen = Seen()
        call.exchange.environ["probe"] = seen
        gone.append(weakref.ref(seen))

    actions = [touch, *amfgate.gateway.default_actions()]
    gateway = Gateway(None, {"counter": Counter()}, sessions=store, actions=actions)
    gc.collect()
    gc.disable()
    try:
        call(gateway, "counter.ping")
        assert gone[0]() is None
    finally:
        gc.enable()


# Strangers' ids


MADE_UP = "5E4B9C1A-0F3D-4B7A-9A55-0123456789AB"


@pytest.mark.parametrize("made_up", [MADE_UP, "a" * 43])
def test_a_made_up_id_is_never_taken_over(
    gateway: Gateway, store: Watched, ways: tuple[str, ...], made_up: str
) -> None:
    victim = Program(gateway, *ways)
    victim.query = f"amfsession={made_up}" if "url" in ways else ""
    victim.cookie = f"amfsession={made_up}" if "cookie" in ways else None
    victim.client = made_up
    attacker = victim.again()
    assert victim.call("counter.next") == 1
    assert store.load(key_of(made_up)) is None
    assert attacker.call("counter.get", "count") is None
    if ways != ("flex",):  # it keeps the made-up id, and nothing is kept under it
        assert victim.call("counter.next") == 2


def test_a_flex_client_with_a_strange_id_is_told_another(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "flex")
    one.client, one.takes_another = MADE_UP, True
    one.call("command.ping")
    assert (one.client, store.asked) == (MADE_UP, [])  # nothing is kept yet
    assert one.call("counter.next") == 1
    assert one.client != MADE_UP
    assert one.call("counter.next") == 2


@pytest.mark.parametrize("strange", [MADE_UP, "x"])
@pytest.mark.parametrize("way", ["url", "cookie"])
def test_a_flex_client_that_keeps_a_strange_id_follows_by_url_or_cookie(
    gateway: Gateway, store: Watched, way: str, strange: str
) -> None:
    one = Program(gateway, "flex", way)
    one.client = strange
    assert [one.call("counter.next") for _ in range(3)] == [1, 2, 3]
    assert (one.client, len(store)) == (strange, 1)


@pytest.mark.parametrize("way", ["url", "cookie"])
def test_a_flex_client_that_begins_with_a_stale_url_or_cookie_is_told_another(
    gateway: Gateway, store: Watched, way: str
) -> None:
    one = Program(gateway, "flex", way)
    one.query, one.cookie = ("amfsession=" + "a" * 43, None) if way == "url" else ("", "amfsession=" + "a" * 43)
    assert [one.call("counter.next") for _ in range(3)] == [1, 2, 3]
    assert len(store) == 1


@pytest.mark.parametrize(
    "hostile",
    ["", "x", "\0" * 40, "a" * 100_000, "ß" * 30, "a" * 30 + "\r\nSet-Cookie: a=b", "../../../etc/passwd/a/b/c", "nil"]
    + [None, 7, 1e300, True, b"a" * 30, ["a" * 30], {"a": "b"}, "\udcff" * 30, TypedObject("a", {})],
)
def test_a_hostile_dsid_is_no_id(gateway: Gateway, store: Watched, hostile: Any) -> None:
    one = Program(gateway, "flex")
    one.client = hostile
    for target in ("command.ping", "counter.next"):
        reply = one.calls((target, []))
        told = reply.value["headers"].get("DSId")
        assert told is None or re.fullmatch("[A-Za-z0-9_-]{36,43}", told)
        assert reply.value["body"] in (None, 1)
    assert len(store) == 1


@pytest.mark.parametrize(
    "hostile", ["a" * 60_000, "%00" * 20, "\xff\xfe" * 15, "=" * 30, "a" * 30 + "?" * 30, '"a"' * 9]
)
def test_hostile_urls_and_cookies_are_no_ids(gateway: Gateway, store: Watched, hostile: str) -> None:
    for environ in ({"QUERY_STRING": f"amfsession={hostile}"}, {"HTTP_COOKIE": f"amfsession={hostile}"}):
        reply = post(gateway, NEXT, **environ)
        assert reply.value == 1.0
        assert re.fullmatch("amfsession=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax", reply.headers["Set-Cookie"])


def test_a_hundred_thousand_ids_in_a_url_are_looked_over_once(gateway: Gateway, store: Watched) -> None:
    started = time.perf_counter()
    for part in (f"amfsession={'a' * 30}&", "amfsession=", "?" * 20):
        assert post(gateway, NEXT, QUERY_STRING=part * 100_000).value == 1.0
    many = "; ".join(f"amfsession=stale{number:020}" for number in range(10_000))
    store.asked.clear()
    assert post(gateway, NEXT, HTTP_COOKIE=many).value == 1.0
    assert store.asked.count("load") == 3
    assert time.perf_counter() - started < 5


def test_the_store_does_not_know_the_ids(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie").log_in()
    assert one.cookie is not None
    session_id = one.cookie.removeprefix("amfsession=")
    assert list(store._kept) == [key_of(session_id)]
    assert session_id not in repr(store._kept)
    one.cookie = f"amfsession={key_of(session_id)}"
    assert one.call("counter.user") is None


# Login and logout


def test_a_login_is_remembered(gateway: Gateway, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    if ways == ("flex",):
        one.takes_another = True  # Flex does not: it has URLs or cookies
    assert one.call("counter.own") == "Client.Authentication"
    one.call("counter.next")
    one.log_in()
    assert one.call("counter.own") == {"name": "Ada"}
    assert one.call("counter.next") == 2
    assert one.call("counter.own") == {"name": "Ada"}


def test_a_channel_that_begins_with_a_login_has_the_id_of_its_session(gateway: Gateway) -> None:
    one = Program(gateway, "flex").log_in()
    assert not one.takes_another
    assert one.call("counter.own") == {"name": "Ada"}


def test_the_id_from_before_the_login_is_worth_nothing(gateway: Gateway, store: Watched, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    one.call("counter.put", "secret", "plum")
    before = one.again()
    keys = set(store._kept)
    one.log_in()
    assert len(store) == 1
    assert keys.isdisjoint(store._kept)
    assert before.call("counter.get", "secret") is None
    assert before.call("counter.own") == "Client.Authentication"


def test_another_login_is_another_session(gateway: Gateway, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    one.takes_another = True
    one.log_in("ada").call("counter.put", "secret", "plum")
    ada = one.again()
    one.log_in("bob")
    assert (one.call("counter.own"), one.call("counter.get", "secret")) == ({"name": "Bob"}, None)
    assert ada.call("counter.own") == "Client.Authentication"


def test_the_same_login_again_keeps_what_is_there_under_another_id(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie").log_in()
    one.call("counter.next")
    before = one.again()
    one.log_in()
    assert before.cookie != one.cookie
    assert (one.call("counter.next"), before.call("counter.get", "count"), len(store)) == (2, None, 1)


def test_a_logout_ends_the_session(gateway: Gateway, store: Watched, ways: tuple[str, ...]) -> None:
    one = Program(gateway, *ways)
    one.takes_another = True
    one.log_in().call("counter.next")
    before = one.again()
    one.call("command.logout" if "flex" in ways else "counter.leave")
    assert len(store) == 0
    for program in (before, one):
        assert program.call("counter.own") == "Client.Authentication"
        assert program.call("counter.get", "count") is None
    assert one.call("counter.next") == 1
    assert one.call("counter.next") == 2


def test_a_logout_takes_the_cookie_away(gateway: Gateway) -> None:
    one = Program(gateway, "cookie").log_in()
    reply = one.calls(("counter.leave", []))
    assert reply.headers["Set-Cookie"] == "amfsession=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
    assert "Set-Cookie" not in Program(gateway, "cookie").calls(("counter.leave", [])).headers


def test_calls_behind_a_login_in_the_packet_are_that_user_s(gateway: Gateway) -> None:
    one = Program(gateway, "cookie")
    reply = one.calls(("counter.enter", ["ada"]), ("counter.next", []), ("counter.own", []), ("counter.leave", []))
    assert [body.value for body in reply.bodies] == [None, 1, {"name": "Ada"}, None]
    assert one.call("counter.own") == "Client.Authentication"


def test_calls_in_front_of_a_logout_have_the_session_that_it_ends(gateway: Gateway, store: Watched) -> None:
    """`cart.save(); channelSet.logout()` in one frame is one packet; nothing of it may come after the logout."""
    one = Program(gateway, "flex", "cookie").log_in()
    one.call("counter.next")
    reply = one.calls(("counter.next", []), ("counter.own", []), ("command.logout", []), ("counter.user", []))
    assert [body.value["body"] for body in reply.bodies] == [2, {"name": "Ada"}, "success", None]
    assert (len(store), one.cookie) == (0, None)


def test_calls_in_front_of_a_login_have_the_session_of_before(gateway: Gateway) -> None:
    one = Program(gateway, "flex", "cookie").log_in("bob")
    ada = "YWRhOnNleHRhbnQ="  # ada:sextant
    reply = one.calls(("counter.add", ["b"]), ("counter.own", []), ("command.login", [ada]), ("counter.add", ["a"]))
    assert [body.value["body"] for body in reply.bodies] == [1, {"name": "Bob"}, "success", 1]
    assert (one.call("counter.get", "cart"), one.call("counter.own")) == (["a"], {"name": "Ada"})


def test_a_login_that_fails_in_its_turn_is_its_own_fault(gateway: Gateway) -> None:
    one = Program(gateway, "flex", "cookie")
    reply = one.calls(("counter.next", []), ("command.login", ["YWRhOndyb25n"]), ("counter.next", []))  # ada:wrong
    assert [body.value.get("faultCode") or body.value["body"] for body in reply.bodies] == [
        1,
        "Client.Authentication",
        2,
    ]


def test_a_wrong_password_changes_nothing(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "flex")
    one.call("counter.next")
    kept = dict(store._kept)
    assert one.call("command.login", "YWRhOndyb25n") == "Client.Authentication"  # ada:wrong
    assert dict(store._kept) == kept
    assert one.call("counter.next") == 2


def test_credentials_of_the_request_come_before_the_login(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie").log_in("ada")
    header = amfgate.Header("Credentials", {"userid": "bob", "password": "sextant"})
    store.asked.clear()
    assert one.post(packet(("counter.own", []), headers=[header])).value == {"name": "Bob"}
    assert store.asked == []
    assert one.call("counter.own") == {"name": "Ada"}


class Account:
    """A user that is no plain data."""

    def __init__(self, name: str) -> None:
        self.name = name


def enter(exchange: amfgate.Exchange, name: str) -> None:
    exchange.log_in(name, Account(name))


def who(call: amfgate.Call) -> str | None:
    return None if call.user is None else f"{type(call.user).__name__} {call.user.name}"


def test_a_user_that_is_no_plain_data_needs_load_user(store: Watched, caplog: pytest.LogCaptureFixture) -> None:
    one = Program(Gateway(None, {"enter": enter, "who": who}, sessions=store), "cookie")
    assert one.call("enter", "ada") == "Server.Processing"
    assert (
        "TypeError: the user 'ada' cannot be kept for the next request: login['user'] is a Account, which a session "
        "cannot keep exactly: keep the plain values that it is made of. Have authenticate give plain data, or tell how "
        "to find a user again: sessions=Sessions(store, load_user=...)"
    ) in caplog.text
    assert (one.call("who"), len(store)) == (None, 0)


def test_load_user_finds_the_user_again(store: Watched) -> None:
    there = {"ada"}
    sessions = Sessions(store, load_user=lambda userid: Account(userid) if userid in there else None)
    one = Program(Gateway(None, {"enter": enter, "who": who}, sessions=sessions), "cookie")
    assert one.call("enter", "ada") is None
    assert one.call("who") == "Account ada"
    ((fields, _),) = store._kept.values()
    assert fields["login"] == bytes.fromhex("81 a2 6964 a3 616461")  # {"id": "ada"}
    there.clear()
    assert one.call("who") is None


def test_a_userid_is_text(store: Watched) -> None:
    def enter(exchange: amfgate.Exchange) -> None:
        with pytest.raises(TypeError, match="userid is text, not 7"):
            exchange.log_in(7, {})  # type: ignore[arg-type]

    assert Program(Gateway(None, {"enter": enter}, sessions=store), "cookie").call("enter") is None


def test_a_request_that_ran_during_the_logout_does_not_bring_the_session_back(
    gateway: Gateway, store: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    one = Program(gateway, "cookie").log_in()

    def meanwhile(call: amfgate.Call) -> None:
        call.session["late"] = 1
        one.again().call("counter.leave")

    slow = one.again()
    slow.gateway = Gateway(None, {"meanwhile": meanwhile}, sessions=store)
    assert slow.call("meanwhile") is None
    assert len(store) == 0
    assert "a session ended while a request was using it; what that changed in it is lost" in caplog.messages


# Which way counts


def test_the_url_counts_before_the_cookie_and_that_before_the_dsid(gateway: Gateway) -> None:
    url, cookie, flex = Program(gateway, "url"), Program(gateway, "cookie"), Program(gateway, "flex")
    for name, program in (("url", url), ("cookie", cookie), ("flex", flex)):
        program.call("counter.put", "name", name)
    flex.query, flex.cookie = url.query, cookie.cookie
    assert flex.call("counter.get", "name") == "url"
    flex.query = ""
    assert flex.call("counter.get", "name") == "cookie"
    flex.cookie = None
    assert flex.call("counter.get", "name") == "flex"


def test_a_logout_does_not_drop_a_client_into_another_session(gateway: Gateway) -> None:
    one = Program(gateway, "url").log_in("ada")
    one.cookie = Program(gateway, "cookie").log_in("bob").cookie
    one.call("counter.leave")
    assert one.call("counter.own") == "Client.Authentication"


def test_a_client_that_has_cookies_is_not_asked_for_another_way(gateway: Gateway) -> None:
    one = Program(gateway, "cookie")
    assert [header.name for header in one.calls(("counter.next", [])).packet.headers] == ["AppendToGatewayUrl"]
    reply = one.calls(("counter.enter", ["ada"]))
    assert not reply.packet.headers
    assert "Set-Cookie" in reply.headers


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "?"),
        ("a=b", "&"),
        ("amfsession=stale", "?"),
        ("a=b&amfsession=stale", "&"),
        ("amfsession=x?amfsession=y", "?"),
    ],
)
def test_what_is_appended_fits_the_url_that_the_client_began_with(
    gateway: Gateway, fixed_id: str, query: str, told: str
) -> None:
    (header,) = post(gateway, NEXT, QUERY_STRING=query).packet.headers
    assert (header.value, header.must_understand) == (f"{told}amfsession={NEW}", False)


@pytest.mark.parametrize("way", ["url", "cookie", "flex"])
def test_only_the_ways_that_are_wanted_are_used(store: Watched, way: str) -> None:
    gateway = gate(store, ways=way)
    one = Program(gateway, "url", "cookie", "flex")
    one.takes_another = True
    one.call("command.ping")
    one.call("counter.next")
    one.log_in()
    assert (one.query != "", one.cookie is not None) == (way == "url", way == "cookie")
    assert one.call("counter.own") == {"name": "Ada"}
    for other in {"url", "cookie", "flex"} - {way}:
        stranger = Program(gateway, other)
        stranger.query, stranger.cookie, stranger.client = (
            "amfsession=" + "a" * 43,
            "amfsession=" + "a" * 43,
            one.client,
        )
        assert stranger.call("counter.own") == "Client.Authentication"


@pytest.mark.parametrize("way", ["url", "cookie"])
def test_a_flex_client_s_first_session_is_told_by_the_ways_that_are_wanted(store: Watched, way: str) -> None:
    one = Program(gate(store, ways=way), "url", "cookie", "flex")
    one.call("command.ping")
    assert [one.call("counter.next") for _ in range(3)] == [1, 2, 3]
    one.log_in()
    assert re.fullmatch("[0-9A-F-]{36}", one.client)  # a name, as without sessions
    assert one.client not in f"{one.query}{one.cookie}"
    assert (len(store), "secret" in store.asked) == (1, False)


def test_a_client_without_a_dsid_is_the_one_that_has_it_in_the_same_packet(gateway: Gateway) -> None:
    one = Program(gateway, "flex")
    one.call("counter.next")
    messages = [Program(gateway, "flex").message("command.ping", []), one.message("counter.next", [])]
    data = Packet(3, [], [Body("null", f"/{n}", [message]) for n, message in enumerate(messages)]).to_bytes()
    first, second = (body.value for body in post(gateway, data).bodies)
    assert first["headers"]["DSId"] == one.client
    assert (second["body"], "DSId" in second["headers"]) == (2, False)


def test_a_message_in_the_answer_of_a_plain_call_is_not_written_on(store: Watched, fixed_id: str) -> None:
    relayed = TypedObject("flex.messaging.messages.AcknowledgeMessage", {"headers": {}, "body": "kept for all"})
    gateway = Gateway(None, {"counter": Counter(), "relay": lambda: relayed}, sessions=store)
    one = Program(gateway, "flex")
    one.client = "a" * 43
    data = Packet(3, [], [Body("relay", "/1", []), Body("null", "/2", [one.message("counter.next", [])])]).to_bytes()
    plain, message = (body.value for body in post(gateway, data).bodies)
    assert (plain["headers"], relayed["headers"]) == ({}, {})
    assert message["headers"]["DSId"] == NEW


def test_different_ids_in_one_packet_are_the_first_one_s(gateway: Gateway) -> None:
    ada, bob = Program(gateway, "flex").log_in("ada"), Program(gateway, "flex").log_in("bob")
    messages = [one.message("counter.own", []) for one in (ada, bob)]
    data = Packet(3, [], [Body("null", f"/{n}", [message]) for n, message in enumerate(messages)]).to_bytes()
    assert [body.value["body"] for body in post(gateway, data).bodies] == [{"name": "Ada"}] * 2


# The cookie


@pytest.mark.parametrize(
    ("options", "environ", "attributes"),
    [
        ({}, {}, "Path=/; HttpOnly; SameSite=Lax"),
        ({}, {"wsgi_url_scheme": "https"}, "Path=/; HttpOnly; SameSite=Lax; Secure"),
        ({"secure": True}, {}, "Path=/; HttpOnly; SameSite=Lax; Secure"),
        ({"secure": False}, {"wsgi_url_scheme": "https"}, "Path=/; HttpOnly; SameSite=Lax"),
        ({"same_site": "Strict"}, {}, "Path=/; HttpOnly; SameSite=Strict"),
        ({"same_site": "None"}, {}, "Path=/; HttpOnly; SameSite=None; Secure"),
        ({"cookie_path": "/amf"}, {"SCRIPT_NAME": "/x"}, "Path=/amf; HttpOnly; SameSite=Lax"),
        # Without a slash at the end: `/shop/` would not be for `/shop`, a gateway's at path="" (RFC 6265, 5.1.4).
        ({}, {"SCRIPT_NAME": "/shop"}, "Path=/shop; HttpOnly; SameSite=Lax"),
        ({}, {"SCRIPT_NAME": "/a;\r\n\xc3\x9f"}, "Path=/a%3B%0D%0A%C3%9F; HttpOnly; SameSite=Lax"),
    ],
)
def test_the_cookie_s_attributes(
    store: Watched, fixed_id: str, options: dict[str, Any], environ: dict[str, Any], attributes: str
) -> None:
    reply = post(gate(store, **options), NEXT, **environ)
    assert reply.headers["Set-Cookie"] == f"amfsession={NEW}; {attributes}"


def test_the_name_can_be_chosen(store: Watched, fixed_id: str) -> None:
    gateway = gate(store, name="__Host-amf.1")
    reply = post(gateway, NEXT)
    assert reply.headers["Set-Cookie"].startswith(f"__Host-amf.1={NEW}; ")
    assert reply.packet.headers[0].value == f"?__Host-amf.1={NEW}"
    assert post(gateway, NEXT, QUERY_STRING=f"__Host-amf.1={NEW}").value == 2.0
    assert post(gateway, NEXT, QUERY_STRING=f"__Host-amfx1={NEW}").value == 1.0


def test_it_is_on_an_answer_that_is_no_packet_too(store: Watched) -> None:
    class Refuse:
        def on_response(self, exchange: amfgate.Exchange) -> None:
            exchange.response = amfgate.Response(403, "no")

    filters = amfgate.gateway.default_filters(sessions=store)
    filters.insert(1, Refuse())
    reply = post(Gateway(None, {"counter": Counter()}, filters=filters), NEXT)
    assert (reply.status, reply.data) == ("403 Forbidden", b"no")
    assert reply.headers["Set-Cookie"].startswith("amfsession=")


# Pages of other sites


@pytest.mark.parametrize(
    ("environ", "own"),
    [
        ({}, True),
        ({"HTTP_ORIGIN": "http://localhost"}, True),
        ({"HTTP_ORIGIN": "https://localhost", "SERVER_PORT": "443"}, True),
        ({"HTTP_ORIGIN": "http://localhost:8000", "HTTP_HOST": "localhost:8000"}, True),
        ({"HTTP_ORIGIN": "http://Shop.example", "HTTP_HOST": "shop.example:80"}, True),
        ({"HTTP_ORIGIN": "http://shop.example:80", "HTTP_HOST": "shop.example"}, True),
        (
            {"HTTP_ORIGIN": "https://shop.example", "HTTP_HOST": "inside:8000", "HTTP_SEC_FETCH_SITE": "same-origin"},
            True,
        ),
        ({"HTTP_ORIGIN": "https://games.example"}, True),  # in cors
        ({"HTTP_ORIGIN": "https://evil.example"}, False),
        ({"HTTP_ORIGIN": "https://evil.example", "HTTP_SEC_FETCH_SITE": "cross-site"}, False),
        ({"HTTP_ORIGIN": "https://evil.example", "HTTP_SEC_FETCH_SITE": "same-site"}, False),
        ({"HTTP_ORIGIN": "null"}, False),
        ({"HTTP_ORIGIN": "http://localhost.evil.example"}, False),
        ({"HTTP_ORIGIN": "http://localhost:8000"}, False),
        ({"HTTP_ORIGIN": "localhost"}, False),
    ],
)
def test_a_page_of_another_site_has_no_use_of_the_cookie(
    store: Watched, caplog: pytest.LogCaptureFixture, environ: dict[str, str], own: bool
) -> None:
    gateway = gate(store, cors=["https://games.example", "null"])
    one = Program(gateway, "cookie").log_in()
    keys = set(store._kept)
    assert (one.call("counter.own", **environ) == {"name": "Ada"}) is own
    reply = one.calls(("counter.enter", ["bob"]), **environ)
    assert ("Set-Cookie" in reply.headers) is own
    assert (keys <= set(store._kept)) is not own
    assert ("the cookies of a call from a page of" in caplog.text) is not own


def test_every_origin_is_not_a_trusted_one(store: Watched) -> None:
    gateway = gate(store, cors="*")
    one = Program(gateway, "cookie").log_in()
    assert one.call("counter.own", HTTP_ORIGIN="https://evil.example") == "Client.Authentication"


def test_a_page_of_another_site_is_known_by_url_or_dsid(gateway: Gateway) -> None:
    for way in ("url", "flex"):
        one = Program(gateway, way, HTTP_ORIGIN="https://games.example")
        assert [one.call("counter.next") for _ in range(2)] == [1, 2]


# Time


def test_a_session_expires_when_it_is_not_used(store: Watched, clock: Clock) -> None:
    one = Program(gate(store), "cookie").log_in()
    clock.now += 1799
    assert one.again().call("counter.own") == {"name": "Ada"}  # which is to use it
    clock.now += 1799
    assert one.again().call("counter.own") == {"name": "Ada"}
    clock.now += 1800
    assert one.call("counter.own") == "Client.Authentication"


def test_it_is_not_kept_longer_for_each_look(store: Watched, clock: Clock) -> None:
    one = Program(gate(store, expiry=100), "cookie").log_in()
    store.asked.clear()
    for _ in range(3):
        clock.now += 5
        one.call("counter.user")
    assert store.asked == ["load", "load", "load", "touch"]
    ((_, until),) = store._kept.values()
    assert until == clock.now - 1e8 + 100


def test_a_session_ends_at_its_age_in_any_case(store: Watched, clock: Clock) -> None:
    one = Program(gate(store, expiry=60, max_age=100), "cookie").log_in()
    for _ in range(3):
        clock.now += 33
        assert one.call("counter.next")
    clock.now += 1
    assert one.call("counter.own") == "Client.Authentication"
    assert len(store) == 0


def test_the_age_counts_although_the_store_would_keep_it(store: Watched, clock: Clock) -> None:
    one = Program(gate(store, expiry=60, max_age=None), "cookie").log_in()
    clock.now += 50
    shorter = one.again()
    shorter.gateway = gate(store, expiry=60, max_age=40)
    assert shorter.call("counter.own") == "Client.Authentication"


def test_a_login_begins_a_new_life(store: Watched, clock: Clock) -> None:
    one = Program(gate(store, max_age=100), "cookie")
    one.call("counter.next")
    clock.now += 99
    one.log_in()
    clock.now += 99
    assert one.call("counter.next") == 2


def test_without_a_largest_age_it_lives_as_long_as_it_is_used(store: Watched, clock: Clock) -> None:
    one = Program(gate(store, expiry=60, max_age=None), "cookie").log_in()
    for _ in range(50):
        clock.now += 59
        assert one.call("counter.own") == {"name": "Ada"}


def test_a_flex_client_whose_session_expired_begins_again_with_its_dsid(store: Watched, clock: Clock) -> None:
    one = Program(gate(store), "flex")
    client = [one.call("counter.next"), one.client][1]
    clock.now += 1800
    assert [one.call("counter.next") for _ in range(2)] == [1, 2]
    assert one.client == client


# Size


def test_a_session_that_gets_too_large_is_a_fault_of_that_call(store: Watched) -> None:
    one = Program(gate(store, max_size=100), "cookie")
    assert one.call("counter.put", "a", "x" * 90) is None  # 1 + 2 + 90 bytes
    reply = one.calls(("counter.put", ["b", "x" * 5]), ("counter.put", ["b", "x" * 6]), ("counter.get", ["b"]))
    assert reply.codes == [None, "Server.Processing", None]
    assert reply.bodies[1].value["description"] == "the session would take 101 bytes; 100 are kept (max_size)"
    assert reply.bodies[2].value == "x" * 5
    assert one.call("counter.put", "a", "y" * 90) is None
    assert (one.call("counter.get", "a"), one.call("counter.get", "b")) == ("y" * 90, "x" * 5)


def test_a_session_that_two_requests_made_too_large_can_be_made_smaller() -> None:
    store, rules = MemoryStore(), Rules(60, 60, 18)
    one = Session(store, rules, ())
    one["a"] = "first"
    one.save()
    assert one.new_id is not None
    two = [Session(store, rules, (one.new_id,)) for _ in range(2)]
    for key, session in zip("bc", two, strict=True):
        session[key] = "0123456"
    for session in two:
        assert session.save() == []
    now = Session(store, rules, (one.new_id,))
    with pytest.raises(Fault, match="the session would take 26 bytes; 18 are kept"):
        now["a"] = "second"
    now["b"] = "0"  # 19 bytes: too many still
    del now["c"]
    now["a"] = "second"
    assert now.save() == []
    assert dict(Session(store, rules, (one.new_id,))) == {"a": "second", "b": "0"}
    for strange in ("d", 5, "\udcff"):
        with pytest.raises(KeyError):
            del now[strange]  # type: ignore[arg-type]


def test_a_list_that_grew_too_large_is_a_fault_of_the_call_that_had_it_last(store: Watched) -> None:
    one = Program(gate(store, max_size=60), "cookie")
    assert one.call("counter.add", "x" * 20) == 1
    reply = one.calls(("counter.next", []), ("counter.add", ["y" * 50]), ("counter.next", []))
    assert reply.codes == [None, "Server.Processing", None]
    assert "the session would take " in reply.bodies[1].value["description"]
    assert (one.call("counter.get", "cart"), one.call("counter.get", "count")) == (["x" * 20], 2)


def test_what_cannot_be_kept_is_a_fault_of_the_call_that_put_it_in(store: Watched) -> None:
    def put(call: amfgate.Call) -> None:
        call.session["pair"] = (1, 2)

    def spoil(call: amfgate.Call) -> int:
        call.session["cart"].append((1, 2))
        return 7

    services = {"put": put, "spoil": spoil, "counter": Counter()}
    one = Program(Gateway(None, services, sessions=store), "cookie")
    one.call("counter.add", "a")
    reply = one.calls(("counter.next", []), ("put", []), ("spoil", []), ("counter.next", []))
    assert reply.codes == [None, "Server.Processing", "Server.Processing", None]
    assert (one.call("counter.get", "cart"), one.call("counter.get", "count")) == (["a"], 2)


def test_forty_levels_of_the_same_list_twice_do_not_hold_up_the_gateway(store: Watched) -> None:
    def put(call: amfgate.Call, value: Any) -> None:
        call.session["value"] = value

    # [x, x] with x = [y, y] and so on, as AMF3 references
    inner = b"".join(b"\x09\x05\x01" for _ in range(40)) + b"\x04\x01\x04\x01"
    for level in range(39, 0, -1):
        inner += b"\x09" + bytes([level << 1])
    data = bytes.fromhex("0a00000001 11") + inner
    body = bytes.fromhex("0003 0000 0001") + text("put") + text("/1") + len(data).to_bytes(4, "big") + data
    reply = post(Gateway(None, {"put": put}, sessions=store), body)
    assert reply.codes == ["Server.Processing"]
    assert reply.value["description"] == "the session would take more than 1048576 bytes; 65536 are kept (max_size)"


def test_a_user_counts_too(store: Watched) -> None:
    one = Program(gate(store, max_size=20), "cookie")
    assert one.call("counter.enter", "ada") == "Server.Processing"
    assert len(store) == 0


# A store that does not answer


def test_without_the_store_calls_that_need_no_session_are_served(
    gateway: Gateway, store: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    one = Program(gateway, "cookie").log_in()
    store.fails = ("load",)
    store.asked.clear()
    reply = one.calls(
        ("counter.ping", []), ("counter.next", []), ("counter.own", []), ("counter.user", []), ("counter.ping", [])
    )
    assert reply.codes == [None, *["Server.ResourceUnavailable"] * 3, None]
    assert reply.bodies[1].value["description"] == "the store of sessions does not answer"
    assert "OSError: load: no connection" in caplog.text
    assert store.asked == ["load"]  # nobody waits for it twice
    store.fails = ()
    assert one.call("counter.own") == {"name": "Ada"}


@pytest.mark.parametrize("fails", ["save", "secret"])
def test_a_change_that_is_not_saved_is_a_fault_of_its_call(gateway: Gateway, store: Watched, fails: str) -> None:
    one = Program(gateway, "flex")
    one.call("command.ping")
    store.fails = (fails,)
    reply = one.calls(("counter.get", ["count"]), ("counter.next", []), ("counter.ping", []))
    faults = [body.value.get("faultCode") for body in reply.bodies]
    assert faults == [None, "Server.ResourceUnavailable", None]
    assert reply.bodies[2].value["body"] == "pong"
    assert [header.name for header in reply.packet.headers] == []


def test_a_change_by_a_filter_that_is_not_saved_is_everybody_s_fault(store: Watched) -> None:
    class Visits:
        def on_response(self, exchange: amfgate.Exchange) -> None:
            exchange.session["visits"] = exchange.session.get("visits", 0) + 1

    filters = amfgate.gateway.default_filters(sessions=store)
    filters.insert(2, Visits())
    one = Program(Gateway(None, {"counter": Counter()}, filters=filters), "cookie")
    assert one.call("counter.get", "visits") is None
    assert one.call("counter.get", "visits") == 1
    store.fails = ("save",)
    assert one.calls(("counter.ping", []), ("counter.ping", [])).codes == ["Server.ResourceUnavailable"] * 2


@pytest.mark.parametrize("fails", ["save", "delete"])
def test_a_login_that_is_not_saved_is_none(gateway: Gateway, store: Watched, fails: str) -> None:
    one = Program(gateway, "flex", "cookie")
    one.call("counter.next")
    store.fails = (fails,)
    assert one.call("command.login", "YWRhOnNleHRhbnQ=") == "Server.ResourceUnavailable"
    store.fails = ()
    assert one.call("counter.own") == "Client.Authentication"
    assert one.call("counter.next") == 2


def test_a_logout_that_is_not_saved_is_a_fault(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "cookie").log_in()
    store.fails = ("delete",)
    reply = one.calls(("counter.leave", []))
    assert reply.codes == ["Server.ResourceUnavailable"]
    assert "Set-Cookie" not in reply.headers
    assert one.call("counter.own") == {"name": "Ada"}


def test_that_a_session_is_not_kept_longer_is_no_fault(
    store: Watched, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    one = Program(gate(store), "cookie").log_in()
    clock.now += 1000
    store.fails = ("touch",)
    assert one.call("counter.own") == {"name": "Ada"}
    assert "a session that was used is not kept longer: the store does not answer" in caplog.text


def test_a_ping_is_answered_without_the_store(gateway: Gateway, store: Watched) -> None:
    store.fails = ("load", "secret", "save")
    one = Program(gateway, "flex")
    assert one.call("command.ping") is None
    unmarked = one.client
    assert re.fullmatch("[0-9A-F-]{36}", unmarked)
    assert one.call("counter.ping") == "pong"
    store.fails = ()
    one.takes_another = True
    assert [one.call("counter.next") for _ in range(2)] == [1, 2]
    assert one.client != unmarked


@pytest.mark.parametrize("way", ["url", "cookie"])
def test_a_flex_client_that_connected_without_the_store_follows_by_url_or_cookie(
    gateway: Gateway, store: Watched, way: str
) -> None:
    store.fails = ("load", "secret", "save")
    one = Program(gateway, "flex", way)
    one.call("command.ping")
    store.fails = ()
    assert [one.call("counter.next") for _ in range(3)] == [1, 2, 3]


def test_a_client_keeps_its_dsid_while_the_store_does_not_answer(gateway: Gateway, store: Watched) -> None:
    one = Program(gateway, "flex")
    one.takes_another = True
    one.log_in()
    store.fails = ("load", "secret", "save")
    assert one.call("command.ping") is None
    assert one.call("counter.own") == "Server.ResourceUnavailable"
    store.fails = ()
    assert one.call("counter.own") == {"name": "Ada"}


# Several processes


def test_a_store_of_one_process_warns_when_there_are_several(store: Watched) -> None:
    gateway = gate(store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert post(gateway, NEXT).value == 1.0
    with pytest.warns(RuntimeWarning, match=r"Watched keeps sessions in one process, and this server has several"):
        assert post(gateway, NEXT, wsgi_multiprocess=True).value == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        assert post(gateway, NEXT, wsgi_multiprocess=True).value == 1.0


def test_where_warnings_are_errors_it_is_the_answer_once(store: Watched, caplog: pytest.LogCaptureFixture) -> None:
    gateway = gate(store)
    assert [post(gateway, NEXT, wsgi_multiprocess=True).bodies[0].target for _ in range(2)] == [
        "/1/onStatus",
        "/1/onResult",
    ]
    assert "RuntimeWarning: Watched keeps sessions in one process" in caplog.text
    assert "KeyError" not in caplog.text


def test_a_store_of_several_processes_does_not_warn(store: Watched) -> None:
    store.one_process = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert post(gate(store), NEXT, wsgi_multiprocess=True).value == 1.0


# Options


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"store": None},
            TypeError,
            r"sessions are kept in a store, MemoryStore\(\) or RedisStore\(url\), not in None",
        ),
        ({"store": MemoryStore}, TypeError, "sessions are kept in a store"),
        ({"store": {}}, TypeError, r"not in \{\}"),
        ({"expiry": 0}, ValueError, "expiry is a number of seconds, more than 0, not 0"),
        ({"expiry": None}, ValueError, "expiry is a number of seconds, more than 0, not None"),
        ({"expiry": float("nan")}, ValueError, "expiry is a number of seconds"),
        ({"expiry": float("inf")}, ValueError, "expiry is a number of seconds, more than 0, not inf"),
        ({"max_age": "1"}, ValueError, "max_age is a number of seconds, more than 0, not '1'"),
        ({"max_size": -1}, ValueError, "max_size is a number of bytes, more than 0, not -1"),
        ({"ways": ()}, ValueError, r"ways=\(\): there are 'url', 'cookie', 'flex', and at least one is needed"),
        ({"ways": ["header"]}, ValueError, r"ways=\['header'\]: there are"),
        ({"name": "a b"}, ValueError, "name='a b': the name of the cookie and parameter is of letters"),
        ({"name": ""}, ValueError, "name='': the name"),
        ({"cookie_path": "amf"}, ValueError, "cookie_path='amf': a path starts with '/'"),
        ({"cookie_path": "/a;b"}, ValueError, "cookie_path='/a;b'"),
        ({"same_site": "lax"}, ValueError, "same_site='lax': there are 'Lax', 'Strict', 'None'"),
        ({"load_user": 7}, TypeError, r"load_user is a function load_user\(userid\), not 7"),
    ],
)
def test_a_wrong_option_is_an_error_at_once(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Sessions(**{"store": MemoryStore(), **options})


def test_a_gateway_takes_a_store_or_the_filter() -> None:
    for sessions in (MemoryStore(), Sessions(MemoryStore())):
        one = Program(Gateway(None, {"counter": Counter()}, sessions=sessions), "cookie")
        assert [one.call("counter.next") for _ in range(2)] == [1, 2]
    with pytest.raises(TypeError, match=r"filters= has Sessions in it: Sessions\(store\); leave sessions= out"):
        Gateway(None, {}, filters=[], sessions=MemoryStore())
    with pytest.raises(TypeError, match="sessions are kept in a store"):
        Gateway(None, {}, sessions="redis://localhost")  # type: ignore[arg-type]


def test_a_store_of_one_s_own(fixed_id: str) -> None:
    """As docs/ say: five methods."""

    class Shelf:
        one_process = True

        def __init__(self) -> None:
            self.kept: dict[str, dict[str, bytes]] = {}

        def load(self, key: str) -> tuple[dict[str, bytes], float] | None:
            return (dict(self.kept[key]), 60.0) if key in self.kept else None

        def save(self, key: str, changed: Any, removed: Any, seconds: float, *, new: bool) -> bool:
            self.kept.setdefault(key, {}).update(changed)
            return True

        def touch(self, key: str, seconds: float) -> None:
            pass

        def delete(self, key: str) -> None:
            self.kept.pop(key, None)

        def secret(self) -> bytes:
            return bytes(32)

    shelf = Shelf()
    one = Program(gate(shelf), "cookie")
    assert [one.call("counter.next") for _ in range(2)] == [1, 2]
    assert [sorted(fields) for fields in shelf.kept.values()] == [[".count", "created"]]
    assert list(shelf.kept) == [key_of(NEW)]


def test_other_programs_for_other_ways_are_served_by_one_gateway(gateway: Gateway) -> None:
    programs = [Program(gateway, *ways) for ways in WAYS]
    for count in (1, 2, 3):
        assert [one.call("counter.next") for one in programs] == [count] * len(WAYS)


def test_the_client_of_this_package_keeps_its_session(gateway: Gateway) -> None:
    for flex in (False, True):
        client = amfgate.testing.Client(gateway, flex=flex)
        assert [client.call("counter.next") for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("small", [False, True])
def test_a_flex_client_is_told_its_id_by_every_kind_of_message(gateway: Gateway, small: bool) -> None:
    one = Program(gateway, "flex")
    one.call("command.ping")
    messages = [
        one.message("counter.enter", ["ada"]),
        one.message("counter.fails", []),
        one.message("command.ping", []),
    ]
    if small:
        messages[0]["headers"]["DSMessagingVersion"] = 1
    data = Packet(3, [], [Body("null", f"/{n}", [message]) for n, message in enumerate(messages)]).to_bytes()
    reply = post(gateway, data)
    told = {body.value["headers"]["DSId"] for body in reply.bodies}
    assert len(told) == 1
    assert told != {one.client}
    assert [body.value.alias == "DSK" for body in reply.bodies] == [small, False, small]
    (one.client,) = told
    assert one.call("counter.own") == {"name": "Ada"}
