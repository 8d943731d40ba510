"""Stores of sessions: what every one of them does, with a real Redis server for the one that needs it."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis_server import RedisServer, redis_running

import amfgate
from amfgate.sessions import SessionStore

KEY = hashlib.sha256(b"an id").hexdigest()
OTHER = hashlib.sha256(b"another id").hexdigest()


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_running(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_store(redis_server: RedisServer) -> Iterator[amfgate.RedisStore]:
    if not redis_server.answers():
        redis_server.start()
    store = amfgate.RedisStore(redis_server.url, timeout=1)
    with redis_server.client() as client:
        client.flushall()
    yield store
    for client in store._clients.values():
        client.close()


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> SessionStore:
    if request.param == "memory":
        return amfgate.MemoryStore()
    return request.getfixturevalue("redis_store")


# Both


def test_an_unknown_key_has_nothing(store: SessionStore) -> None:
    assert store.load(KEY) is None


def test_what_was_saved_is_loaded(store: SessionStore) -> None:
    assert store.save(KEY, {"a": b"\x01", ".ß\0": b"\0\xff\r\n"}, (), 60, new=True)
    fields, left = store.load(KEY) or ({}, 0)
    assert fields == {"a": b"\x01", ".ß\0": b"\0\xff\r\n"}
    assert 59 < left <= 60
    assert store.load(OTHER) is None


def test_only_what_changed_is_written(store: SessionStore) -> None:
    store.save(KEY, {"a": b"1", "b": b"2", "c": b"3"}, (), 60, new=True)
    assert store.save(KEY, {"b": b"22", "d": b"4"}, ["c", "none"], 60, new=False)
    assert (store.load(KEY) or ({},))[0] == {"a": b"1", "b": b"22", "d": b"4"}


def test_what_is_gone_is_not_revived(store: SessionStore) -> None:
    store.save(KEY, {"a": b"1"}, (), 60, new=True)
    store.delete(KEY)
    assert store.load(KEY) is None
    assert not store.save(KEY, {"b": b"2"}, (), 60, new=False)
    assert store.load(KEY) is None


def test_two_that_begin_the_same_session_both_have_their_way(store: SessionStore) -> None:
    store.save(KEY, {"a": b"1"}, (), 60, new=True)
    store.save(KEY, {"b": b"2"}, (), 60, new=True)
    assert (store.load(KEY) or ({},))[0] == {"a": b"1", "b": b"2"}


def test_to_delete_or_touch_nothing_is_no_error(store: SessionStore) -> None:
    store.delete(KEY)
    store.touch(KEY, 60)
    assert store.load(KEY) is None


def test_it_is_gone_after_its_time(store: SessionStore) -> None:
    store.save(KEY, {"a": b"1"}, (), 0.5, new=True)
    assert store.load(KEY) is not None
    time.sleep(0.55)
    assert store.load(KEY) is None
    assert not store.save(KEY, {"b": b"2"}, (), 60, new=False)


def test_to_be_touched_or_saved_keeps_it_longer(store: SessionStore) -> None:
    store.save(KEY, {"a": b"1"}, (), 5, new=True)
    store.touch(KEY, 50)
    assert 49 < (store.load(KEY) or ({}, 0))[1] <= 50
    store.save(KEY, {"a": b"2"}, (), 500, new=False)
    assert 499 < (store.load(KEY) or ({}, 0))[1] <= 500


def test_the_secret_stays(store: SessionStore) -> None:
    secret = store.secret()
    assert len(secret) == 32
    assert store.secret() == secret


def test_many_threads_lose_nothing(store: SessionStore) -> None:
    store.save(KEY, {"start": b"0"}, (), 60, new=True)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: store.save(KEY, {f"n{n}": b"1"}, ["start"], 60, new=False), range(100)))
    assert sorted((store.load(KEY) or ({},))[0]) == sorted(f"n{n}" for n in range(100))


def test_its_repr_says_where_it_is(store: SessionStore) -> None:
    assert repr(store).startswith(("<MemoryStore with 0 of at most 10000 sessions>", "<RedisStore redis://127.0.0.1:"))


# MemoryStore


def test_what_a_caller_does_to_the_fields_is_not_done_to_the_store() -> None:
    store = amfgate.MemoryStore()
    mine = {"a": b"1"}
    store.save(KEY, mine, (), 60, new=True)
    mine["a"] = b"2"
    fields, _ = store.load(KEY) or ({}, 0)
    fields["a"] = b"3"
    assert (store.load(KEY) or ({},))[0] == {"a": b"1"}


def test_the_one_that_was_unused_for_longest_makes_room(caplog: pytest.LogCaptureFixture) -> None:
    store = amfgate.MemoryStore(max_sessions=2)
    for key in ("first", "second"):
        store.save(key, {"a": b"1"}, (), 60, new=True)
    store.load("first")
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "amfgate"):
        store.save("third", {"a": b"1"}, (), 60, new=True)
    assert [key for key in ("first", "second", "third") if store.load(key)] == ["first", "third"]
    assert caplog.messages == ["a session was forgotten: there are more than 2 (max_sessions)"]


def test_those_that_have_expired_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("amfgate.sessions.memory.monotonic", lambda: now[0])
    store = amfgate.MemoryStore()
    for number in range(10):
        store.save(f"old {number}", {"a": b"1"}, (), 60, new=True)
    now[0] += 60
    sizes = []
    for number in range(4):
        store.save(f"new {number}", {"a": b"1"}, (), 60, new=True)
        sizes.append(len(store))
    assert sizes == [7, 4, 3, 4]
    assert bool(amfgate.MemoryStore())


def test_the_only_one_may_expire_while_it_is_saved() -> None:
    store = amfgate.MemoryStore()
    assert store.save(KEY, {"a": b"1"}, (), 0.0, new=True)
    assert store.load(KEY) is None


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", None])
def test_max_sessions_is_a_number(number: Any) -> None:
    with pytest.raises(ValueError, match="max_sessions is a number of sessions, 1 or more"):
        amfgate.MemoryStore(number)


# RedisStore


def test_what_is_in_redis(redis_store: amfgate.RedisStore, redis_server: RedisServer) -> None:
    redis_store.save(KEY, {"a": b"\x01"}, (), 60, new=True)
    secret = redis_store.secret()
    with redis_server.client() as client:
        assert sorted(client.keys()) == [b"amfgate:session:" + KEY.encode(), b"amfgate:session:secret"]
        assert client.hgetall(b"amfgate:session:" + KEY.encode()) == {b"a": b"\x01"}
        assert 59_000 < client.pttl(b"amfgate:session:" + KEY.encode()) <= 60_000
        assert client.get(b"amfgate:session:secret") == secret
        assert client.pttl(b"amfgate:session:secret") == -1


def test_gateways_share_a_secret_and_those_of_another_prefix_do_not(
    redis_store: amfgate.RedisStore, redis_server: RedisServer
) -> None:
    with redis_server.client() as client:
        assert amfgate.RedisStore(client).secret() == redis_store.secret()
        other = amfgate.RedisStore(client, prefix="other:")
        assert other.secret() != redis_store.secret()
        redis_store.save(KEY, {"a": b"1"}, (), 60, new=True)
        assert other.load(KEY) is None
        assert amfgate.RedisStore(client).load(KEY) is not None


def test_a_secret_that_redis_lost_is_given_back(
    redis_store: amfgate.RedisStore, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = redis_store.secret()
    with redis_server.client() as client:
        client.flushall()
        assert redis_store.secret() == before
        assert client.keys() == []
        later = time.monotonic() + 61
        monkeypatch.setattr("amfgate.sessions.redis.monotonic", lambda: later)
        assert redis_store.secret() == before
        assert amfgate.RedisStore(client).secret() == before  # who starts now finds it
        client.flushall()
        other = amfgate.RedisStore(client).secret()  # nobody gave it back in time
        assert other != before
        later += 61
        assert redis_store.secret() == other


def test_the_secret_is_known_while_redis_does_not_answer(
    redis_store: amfgate.RedisStore, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis

    before = redis_store.secret()
    redis_server.stop()
    later = time.monotonic() + 61
    monkeypatch.setattr("amfgate.sessions.redis.monotonic", lambda: later)
    assert redis_store.secret() == before
    with pytest.raises(redis.exceptions.ConnectionError):
        amfgate.RedisStore(redis_server.url).secret()
    redis_server.start()


def test_nothing_is_connected_to_before_it_is_needed() -> None:
    store = amfgate.RedisStore("redis://:geheim@127.0.0.1:1/3", timeout=0.2)
    assert repr(store) == "<RedisStore redis://127.0.0.1:1/3, amfgate:session:*>"
    import redis

    started = time.monotonic()
    with pytest.raises(redis.exceptions.ConnectionError):
        store.load(KEY)
    assert time.monotonic() - started < 2


def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    import socket

    import redis

    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = amfgate.RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        started = time.monotonic()
        with pytest.raises(redis.exceptions.TimeoutError):
            store.load(KEY)
        assert time.monotonic() - started < 2
        for client in store._clients.values():
            client.close()


@pytest.mark.parametrize("kill", [False, True])
def test_redis_may_be_started_again(redis_store: amfgate.RedisStore, redis_server: RedisServer, kill: bool) -> None:
    import redis

    redis_store.save(KEY, {"a": b"1"}, (), 60, new=True)
    secret = redis_store.secret()
    redis_server.stop(kill)
    with pytest.raises(redis.exceptions.ConnectionError):
        redis_store.load(KEY)
    redis_server.start()
    assert (redis_store.load(KEY) or ({},))[0] == {"a": b"1"}
    assert amfgate.RedisStore(redis_server.client()).secret() == secret


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_connections_of_its_own(
    redis_store: amfgate.RedisStore, redis_server: RedisServer
) -> None:
    redis_store.save(KEY, {"a": b"1"}, (), 60, new=True)
    code = (
        "import os, sys, amfgate\n"
        "store = amfgate.RedisStore(sys.argv[1])\n"
        "store.load('x')\n"
        "parent = store._client().client_id()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    other = store._client().client_id() != parent\n"
        "    os._exit(0 if other and store.save('y', {'a': b'1'}, (), 60, new=True) else 1)\n"
        "_, status = os.waitpid(pid, 0)\n"
        "assert status == 0 and store._client().client_id() == parent and store.load('y')\n"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", code, redis_server.url], check=True, timeout=20)


def test_a_client_that_decodes_is_refused(redis_server: RedisServer) -> None:
    import redis

    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        with pytest.raises(TypeError, match="a client without decode_responses: sessions are bytes"):
            amfgate.RedisStore(client)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"url_or_client": "http://localhost"}, ValueError, "Redis URL must specify one of"),
        ({"url_or_client": None}, TypeError, "takes the URL of a Redis server or a redis.Redis, not None"),
        ({"url_or_client": "redis://x", "prefix": b"a"}, TypeError, "prefix is text, not b'a'"),
        ({"url_or_client": "redis://x", "timeout": 0}, ValueError, "timeout is a number of seconds, more than 0"),
    ],
)
def test_a_wrong_argument_is_an_error_at_once(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        amfgate.RedisStore(**arguments)


def test_without_redis_py_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(
        ImportError, match=r"RedisStore needs redis, which is not installed: pip install 'amfgate\[redis\]'"
    ):
        amfgate.RedisStore("redis://localhost")
