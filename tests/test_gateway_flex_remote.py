"""setRemoteCredentials: a Flex client sends them once, and the session remembers who that was."""

from __future__ import annotations

import base64
from typing import Any

from flex_client import ID, command, gateway, remoting
from wsgi_client import Reply, post

from amfgate import Body, Gateway, MemoryStore, Packet

PASSWORDS = {"ada": "lovelace", "bob": "builder"}


def check(userid: str, password: str) -> str | None:
    return userid if PASSWORDS.get(userid) == password else None


def who(credentials: str | None = None, client: str | None = ID) -> Any:
    headers = {} if client is None else {"DSId": client}
    if credentials is not None:
        headers["DSRemoteCredentials"] = base64.b64encode(credentials.encode()).decode()
    return remoting("who", headers=headers)


class Browser:
    """Keeps the gateway's cookie; `bodies` are those of the last reply's messages."""

    def __init__(self, app: Gateway) -> None:
        self.app = app
        self.cookies: list[str] = []

    def send(self, *messages: Any) -> list[Any]:
        packet = Packet(3, [], [Body("null", f"/{number}", [one]) for number, one in enumerate(messages)])
        reply: Reply = post(self.app, packet.to_bytes(), HTTP_COOKIE=self.cookies[-1] if self.cookies else None)
        if "Set-Cookie" in reply.headers:
            self.cookies.append(reply.headers["Set-Cookie"].partition(";")[0])
        return [body.value["body"] for body in reply.bodies]


def browser() -> Browser:
    return Browser(gateway(authenticate=check, sessions=MemoryStore()))


def test_they_are_remembered_as_a_login_is() -> None:
    client = browser()
    assert client.send(who("ada:lovelace")) == ["ada"]
    assert client.send(who()) == ["ada"]
    assert len(client.cookies) == 1
    # Whoever knew the id before is not logged in.
    client.cookies.clear()
    assert client.send(who()) == [None]


def test_the_empty_ones_that_a_channel_sends_when_it_connects_again_are_no_logout() -> None:
    client = browser()
    client.send(who("ada:lovelace"))
    assert client.send(who("")) == ["ada"]
    assert client.send(command(9), who("")) == ["success", None]


def test_the_same_ones_again_change_nothing() -> None:
    client = browser()
    client.send(who("ada:lovelace"))
    assert client.send(who("ada:lovelace"), who("ada:lovelace")) == ["ada", "ada"]
    assert len(client.cookies) == 1


def test_those_of_another_user_are_a_login_of_that_one() -> None:
    client = browser()
    client.send(who("ada:lovelace"))
    assert client.send(who("bob:builder")) == ["bob"]
    assert client.send(who()) == ["bob"]
    assert len(set(client.cookies)) == 2


def test_wrong_ones_are_a_fault_and_change_nothing() -> None:
    client = browser()
    client.send(who("ada:lovelace"))
    assert client.send(who("bob:wrong"), who()) == [None, "ada"]
    assert client.send(who()) == ["ada"]


def test_in_a_packet_they_are_for_the_calls_behind_them() -> None:
    client = browser()
    assert client.send(who(), who("ada:lovelace"), who(), who("bob:builder"), who()) == [
        None,
        "ada",
        "ada",
        "bob",
        "bob",
    ]


def test_who_sends_no_dsid_sends_them_each_time_and_gets_no_session() -> None:
    client = browser()
    assert client.send(who("ada:lovelace", client=None)) == ["ada"]
    assert client.send(who(client=None)) == [None]
    assert client.cookies == []
