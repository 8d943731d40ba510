"""Sessions in a real Redis, with three processes on it: two workers of gunicorn, and waitress.

Any of them answers any request; each of them, and Redis, is killed and started again, and nobody is logged out.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import AMF, Running, Server, gunicorn, need, packet, running, wait_for, waitress
from redis_server import RedisServer, redis_running

from amfgate import Body, Packet, TypedObject

pytestmark = pytest.mark.servers

APPLICATION = "sessions_app:application"


def two_workers(port: int, folder: Path) -> list[str]:
    return [*gunicorn("-w", "2")(port, folder)[:-1], APPLICATION]


def one_more(port: int, folder: Path) -> list[str]:
    return [*waitress(port, folder)[:-1], APPLICATION]


GUNICORN = Server("gunicorn", two_workers, "gunicorn", workers=2)
WAITRESS = Server("waitress", one_more, "waitress")


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_running(tmp_path_factory.mktemp("redis")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMFGATE_TEST_REDIS", server.url)
        yield server


@pytest.fixture(scope="module")
def workers(redis_server: RedisServer) -> Iterator[Running]:
    need(GUNICORN)
    with running(GUNICORN, "auto", "any") as one:
        yield one


@pytest.fixture(scope="module")
def third(redis_server: RedisServer) -> Iterator[Running]:
    need(WAITRESS)
    with running(WAITRESS, "auto", "any") as one:
        yield one


class Visitor:
    """A client that keeps its cookie, or as a Flex client its DSId, and calls whom it wants to."""

    def __init__(self, flex: bool = False) -> None:
        self.cookie = ""
        self.client = "nil" if flex else None

    def call(self, one: Running, target: str, *args: Any) -> Any:
        """The result, or the code of the fault."""
        if self.client is None:
            value = self._post(one, packet((target, list(args))))
            return value["code"] if isinstance(value, dict) and "code" in value else value
        destination, _, operation = target.partition(".")
        members = {"destination": destination, "operation": operation, "body": list(args)}
        message = TypedObject("flex.messaging.messages.RemotingMessage", {**members, "headers": {"DSId": self.client}})
        value = self._post(one, Packet(3, [], [Body("null", "/1", [message])]).to_bytes())
        self.client = value["headers"].get("DSId", self.client)
        return value.get("faultCode") or value["body"]

    def _post(self, one: Running, data: bytes) -> Any:
        connection = one.connect()
        try:
            connection.request("POST", "/amf", data, {**AMF, "Cookie": self.cookie})
            answer = connection.getresponse()
            told = answer.getheader("Set-Cookie")
            (body,) = Packet.from_bytes(answer.read()).bodies
        finally:
            connection.close()
        if told is not None and self.client is None:
            self.cookie = told.partition(";")[0]
        return body.value


@pytest.mark.parametrize("flex", [False, True])
def test_three_processes_count_as_one(workers: Running, third: Running, flex: bool) -> None:
    visitor, other = Visitor(flex), Visitor(flex)
    seen: list[Any] = []

    def all_have_answered() -> bool:
        for one in (workers, third, workers):
            seen.append(visitor.call(one, "counter.next"))
        return len({process for _, process in seen}) == 3

    assert wait_for(all_have_answered)
    assert [count for count, _ in seen] == list(range(1, len(seen) + 1))
    assert other.call(third, "counter.next")[0] == 1


def test_a_login_at_one_is_known_to_the_others(workers: Running, third: Running) -> None:
    visitor = Visitor()
    assert visitor.call(third, "counter.enter", "ada") is None
    for one in (workers, third) * 4:
        assert visitor.call(one, "counter.own") == {"name": "ada"}


def test_a_worker_may_be_killed(workers: Running) -> None:
    visitor = Visitor()
    visitor.call(workers, "counter.enter", "ada")
    count, killed = visitor.call(workers, "counter.next")
    os.kill(killed, signal.SIGKILL)
    assert wait_for(lambda: _is_gone(killed))
    for _ in range(4):
        count, answered = count + 1, visitor.call(workers, "counter.next")
        assert answered[0] == count
        assert answered[1] != killed
    assert visitor.call(workers, "counter.own") == {"name": "ada"}


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_server_may_be_killed_and_started_again(redis_server: RedisServer, third: Running) -> None:
    need(GUNICORN)
    visitor = Visitor()
    with running(GUNICORN, "auto", "any") as one:
        visitor.call(one, "counter.enter", "ada")
        assert visitor.call(one, "counter.next")[0] == 1
        os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait(10)
        assert visitor.call(third, "counter.next")[0] == 2
    with running(GUNICORN, "auto", "any") as again:
        assert visitor.call(again, "counter.next")[0] == 3
        assert visitor.call(again, "counter.own") == {"name": "ada"}


@pytest.mark.parametrize("kill", [False, True])
def test_redis_may_be_stopped_and_started_again(
    redis_server: RedisServer, workers: Running, third: Running, kill: bool
) -> None:
    visitor = Visitor()
    visitor.call(workers, "counter.enter", "ada")
    assert visitor.call(workers, "counter.next")[0] == 1
    redis_server.stop(kill)
    for one in (workers, third):
        assert visitor.call(one, "counter.ping") == "pong"
        assert visitor.call(one, "counter.next") == "Server.ResourceUnavailable"
        assert visitor.call(one, "counter.own") == "Server.ResourceUnavailable"
        assert "ConnectionError: Error 111 connecting to 127.0.0.1" in one.log.read_text()
    redis_server.start()
    for count, one in enumerate((workers, third, workers, third), 2):
        assert visitor.call(one, "counter.next")[0] == count
        assert visitor.call(one, "counter.own") == {"name": "ada"}


def test_memory_in_two_workers_is_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    need(GUNICORN)
    monkeypatch.delenv("AMFGATE_TEST_REDIS", raising=False)
    with running(GUNICORN, "auto", "any") as one:
        Visitor().call(one, "counter.next")
        assert "RuntimeWarning: MemoryStore keeps sessions in one process, and this server has several" in one.story()
