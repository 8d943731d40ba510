"""Flex clients that log in: the login command, its packet, the credentials that come with a call, sessions."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from flex_client import ID, UUID, answer, check, command, gateway, remoting, send
from wsgi_client import post

from amfgate import Body, Exchange, Header, Packet
from amfgate.filters import Flex, default_filters


def encoded(text: str, charset: str = "utf-8") -> str:
    return base64.b64encode(text.encode(charset)).decode()


def test_login_is_checked() -> None:
    app = gateway(authenticate=check)
    assert answer(app, command(8, body=encoded("ada:love:läce")))["body"] == "success"
    reply = answer(app, command(8, body=encoded("ada:wrong")))
    assert (reply["faultCode"], reply["faultString"]) == (
        "Client.Authentication",
        "the user id or the password is wrong",
    )
    assert answer(app, command(9))["body"] == "success"


def test_the_charset_of_a_login_is_in_a_header() -> None:
    app = gateway(authenticate=check)
    body = encoded("ada:love:läce", "latin-1")
    headers: dict[str, Any] = {"DSId": ID, "DSCredentialsCharset": "ISO-8859-1"}
    assert answer(app, command(8, body=body, headers=headers))["body"] == "success"
    headers["DSCredentialsCharset"] = "UTF-8"
    assert answer(app, command(8, body=body, headers=headers))["faultString"] == (
        "credentials have to be the base64 of user:password"
    )
    for charset, shown in [
        ("unicode_escape", "'unicode_escape'"),
        ("x" * 61, f"'{'x' * 60}... (61 characters)'"),
        ([1], "an array of one item, a number"),
        (5, "5"),
    ]:
        headers["DSCredentialsCharset"] = charset
        assert answer(app, command(8, body=body, headers=headers))["faultString"] == (
            f"credentials are read in UTF-8, ISO-8859-1 and Windows-1252, not in {shown}"
        )


def test_without_the_header_it_is_utf_8_or_else_iso_8859_1() -> None:
    """Flex sends the header for UTF-8 alone: without it, the bytes are the low bytes of the characters."""
    app = gateway(authenticate=check)
    assert answer(app, command(8, body="YWRhOmxvdmU6bMOkY2U="))["body"] == "success"
    assert answer(app, command(8, body="YWRhOmxvdmU6bORjZQ=="))["body"] == "success"
    headers = {"DSId": ID, "DSCredentialsCharset": None}
    assert answer(app, command(8, body="YWRhOmxvdmU6bORjZQ==", headers=headers))["body"] == "success"


def test_the_lines_of_76_characters_of_flex_s_base64_are_one_text() -> None:
    seen: list[str] = []
    app = gateway(authenticate=lambda userid, password: seen.append(password) or userid)
    body = encoded("ada:" + "x" * 100)
    assert answer(app, command(8, body=f"{body[:76]}\n{body[76:]}"))["body"] == "success"
    headers = {"DSRemoteCredentials": f"{body[:76]}\n{body[76:]}"}
    assert answer(app, remoting("who", headers=headers))["body"] == "ada"
    assert seen == ["x" * 100] * 2


@pytest.mark.parametrize("body", [None, 5, "", "%%%", encoded("no colon"), [], {}, b"YTpi", "YTpié", "YT%pi"])
def test_a_login_of_another_shape_is_a_fault(body: Any) -> None:
    reply = answer(gateway(authenticate=check), command(8, body=body))
    assert reply["faultCode"] == "Client.Authentication"
    assert reply["faultString"] == "credentials have to be the base64 of user:password"


def test_without_authenticate_a_login_is_a_clear_error() -> None:
    reply = answer(gateway(), command(8, body=encoded("a:b")))
    assert reply["faultCode"] == "Server.ResourceUnavailable"
    assert reply["faultString"] == "login: this gateway asks nobody to log in"


def test_a_logout_is_acknowledged_whoever_asks_for_it() -> None:
    """Nobody is logged in behind it.  An ErrorMessage would leave a Flex program logged in as it believes."""
    assert answer(gateway(), command(9))["body"] == "success"
    assert answer(gateway(authenticate=check), command(9))["body"] == "success"


@pytest.mark.parametrize(("password", "alias"), [("love:läce", "AcknowledgeMessage"), ("wrong", "ErrorMessage")])
def test_a_login_may_open_the_channel_in_the_place_of_a_ping(password: str, alias: str) -> None:
    """As after `setCredentials` before the channel is connected.  The channel is then connected in either case."""
    headers = {"DSId": "nil"}
    reply = answer(gateway(authenticate=check), command(8, body=encoded(f"ada:{password}"), headers=headers))
    assert reply.alias == f"flex.messaging.messages.{alias}"
    assert reply["headers"]["DSMessagingVersion"] == 1
    assert UUID.fullmatch(reply["headers"]["DSId"])


def test_calls_behind_a_login_are_made_by_its_user() -> None:
    login = command(8, body=encoded("ada:love:läce"))
    reply = send(gateway(authenticate=check), remoting("who"), login, remoting("who"), command(9), remoting("who"))
    assert [body.value["body"] for body in reply.bodies] == [None, "success", "ada", "success", None]


def test_plain_calls_behind_a_login_too() -> None:
    login = command(8, body=encoded("ada:love:läce"))
    bodies = [Body("catalog.who", "/1", []), Body("null", "/2", [login]), Body("catalog.who", "/3", [])]
    reply = post(gateway(authenticate=check), Packet(3, [], bodies).to_bytes())
    assert [reply.bodies[0].value, reply.bodies[2].value] == [None, "ada"]


def test_a_login_that_fails_leaves_the_user_as_it_was() -> None:
    headers = [Header("Credentials", {"userid": "ada", "password": "love:läce"})]
    login = command(8, body=encoded("ada:wrong"))
    reply = send(gateway(authenticate=check), login, remoting("who"), headers=headers)
    assert [body.value.get("faultCode") for body in reply.bodies] == ["Client.Authentication", None]
    assert reply.bodies[1].value["body"] == "ada"


def test_an_exception_of_authenticate_is_told_as_any_other() -> None:
    def broken(userid: str, password: str) -> Any:
        raise KeyError(password)

    reply = answer(gateway(authenticate=broken), command(8, body=encoded("ada:secret")))
    assert reply["faultCode"] == "Server.Processing"
    assert "secret" not in str(dict(reply))


def test_credentials_with_a_message_make_the_user_of_that_call() -> None:
    app = gateway(authenticate=check)
    headers = {"DSId": ID, "DSRemoteCredentials": encoded("ada:love:läce"), "DSRemoteCredentialsCharset": "UTF-8"}
    reply = send(app, remoting("who", headers=headers), remoting("who"))
    assert [body.value["body"] for body in reply.bodies] == ["ada", None]
    headers["DSRemoteCredentials"] = encoded("ada:wrong")
    assert answer(app, remoting("who", headers=headers))["faultCode"] == "Client.Authentication"
    headers["DSRemoteCredentials"] = ""
    assert answer(app, remoting("who", headers=headers))["body"] is None
    assert answer(gateway(), remoting("who", headers=headers))["body"] is None


def test_wrong_credentials_of_the_packet_are_an_error_in_the_shape_of_each_call() -> None:
    headers = [Header("Credentials", {"userid": "ada", "password": "wrong"})]
    reply = send(gateway(authenticate=check), remoting("who"), headers=headers)
    (body,) = reply.bodies
    assert body.target == "/1/onStatus"
    assert body.value.alias == "flex.messaging.messages.ErrorMessage"
    assert body.value["faultCode"] == "Client.Authentication"


def test_credentials_with_a_message_have_a_charset_of_their_own() -> None:
    app = gateway(authenticate=check)
    headers = {"DSId": ID, "DSRemoteCredentials": encoded("ada:love:läce", "latin-1"), "DSCredentialsCharset": "UTF-8"}
    assert answer(app, remoting("who", headers=headers))["body"] == "ada"
    headers["DSRemoteCredentialsCharset"] = "UTF-8"
    assert answer(app, remoting("who", headers=headers))["faultCode"] == "Client.Authentication"


# Who keeps sessions


class Keeper:
    """A keeper as `exchange.sessions` has it: it calls each client "SESSION", and writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def on_request(self, exchange: Exchange) -> None:
        exchange.sessions = self

    def user(self, exchange: Exchange) -> Any:
        return "grace"

    def flex_client_id(self, exchange: Exchange, known: str | None) -> str:
        self.asked.append(known)
        return "SESSION"

    def log_in(self, exchange: Exchange, userid: str, user: Any) -> None:
        self.asked.append(("in", userid, user))

    def log_out(self, exchange: Exchange) -> None:
        self.asked.append("out")


def kept(keeper: Keeper) -> Any:
    filters = default_filters(check)
    filters.insert(-2, keeper)
    assert isinstance(filters[-2], Flex)
    return gateway(filters=filters)


@pytest.mark.parametrize(("sent", "asked"), [("nil", None), (None, None), ("", ""), ("KNOWN", "KNOWN"), (5, None)])
def test_who_keeps_sessions_says_the_id_of_a_client(sent: Any, asked: Any) -> None:
    keeper = Keeper()
    reply = answer(kept(keeper), command(5, headers={"DSId": sent}))
    assert reply["headers"] == {"DSId": "SESSION", "DSMessagingVersion": 1}
    assert keeper.asked == [asked]


def test_who_keeps_sessions_is_asked_once_for_a_packet() -> None:
    keeper = Keeper()
    reply = send(
        kept(keeper),
        remoting("who", headers={"DSId": "SESSION"}),
        remoting("who", headers={"DSId": "OTHER"}),
        remoting("who", headers={"DSId": "nil"}),
        command(4, headers={}),
        remoting("who", headers={}),
    )
    assert keeper.asked == ["SESSION"]
    changed = {"DSId": "SESSION"}
    assert [body.value["headers"] for body in reply.bodies] == [{}, changed, changed, changed, {}]


def test_a_call_without_a_dsid_asks_for_no_session() -> None:
    keeper = Keeper()
    answer(kept(keeper), remoting("who", headers=None))
    assert keeper.asked == []


def test_who_keeps_sessions_learns_of_a_login_and_a_logout() -> None:
    keeper = Keeper()
    login = command(8, body=encoded("ada:love:läce"))
    reply = send(kept(keeper), remoting("who"), login, remoting("who"), command(9), remoting("who"))
    assert [body.value["body"] for body in reply.bodies] == ["grace", "success", "ada", "success", None]
    assert keeper.asked == [ID, ("in", "ada", "ada"), "out"]


def test_a_login_that_fails_is_not_told_to_who_keeps_sessions() -> None:
    keeper = Keeper()
    answer(kept(keeper), command(8, body=encoded("ada:wrong")))
    answer(kept(keeper), remoting("who", headers={"DSRemoteCredentials": encoded("ada:love:läce")}))
    assert keeper.asked == [ID]


def test_what_the_keeper_raises_is_that_message_s_fault() -> None:
    class Broken(Keeper):
        def flex_client_id(self, exchange: Exchange, known: str | None) -> str:
            raise KeyError("secret")

    reply = send(kept(Broken()), command(5), remoting("who", headers={}))
    assert [body.target for body in reply.bodies] == ["/1/onStatus", "/2/onResult"]
    assert reply.bodies[0].value["faultCode"] == "Server.Processing"
