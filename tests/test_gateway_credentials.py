"""Who makes a request: the Credentials header, `authenticate=`, `call.user`."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from typing import Any

import pytest
from wsgi_client import call, packet, post

from amfgate import Call, Exchange, Fault, Gateway, Header, requires
from amfgate.filters import Credentials, Dispatch, PacketCodec

PASSWORDS = {"ada": "lovelace", "grace": "hopper"}
ROLES = {"ada": ["editor"], "grace": []}


def check(userid: str, password: str) -> Any:
    return {"name": userid, "roles": ROLES[userid]} if PASSWORDS.get(userid) == password else None


class Service:
    def who(self, call: Call) -> Any:
        return None if call.user is None else call.user["name"]

    @requires("editor")
    def edit(self) -> str:
        return "edited"

    @requires()
    def read(self) -> str:
        return "read"


def gateway(authenticate: Any = check, **options: Any) -> Gateway:
    return Gateway(None, {"svc": Service()}, authenticate=authenticate, **options)


def credentials(userid: Any, password: Any) -> list[Header]:
    return [Header("Credentials", {"userid": userid, "password": password})]


def test_good_credentials_make_the_user_of_each_call() -> None:
    reply = post(
        gateway(), packet(("svc.who", []), ("svc.edit", []), ("svc.read", []), headers=credentials("ada", "lovelace"))
    )
    assert [body.value for body in reply.bodies] == ["ada", "edited", "read"]


def test_without_credentials_there_is_no_user() -> None:
    reply = post(gateway(), packet(("svc.who", []), ("svc.edit", []), ("svc.read", [])))
    assert reply.codes == [None, "Client.Authentication", "Client.Authentication"]
    assert reply.bodies[0].value is None
    assert reply.bodies[1].value["description"] == "this call needs a user who is logged in"


def test_a_user_without_the_role_is_told_so() -> None:
    reply = post(gateway(), packet(("svc.edit", []), ("svc.read", []), headers=credentials("grace", "hopper")))
    assert reply.codes == ["Client.Authorization", None]
    assert reply.bodies[0].value["description"] == "the user may not make this call"


@pytest.mark.parametrize(("userid", "password"), [("ada", "hopper"), ("nobody", "x"), ("", "")])
def test_wrong_credentials_are_a_fault_for_each_call(userid: str, password: str) -> None:
    reply = post(gateway(), packet(("svc.who", []), ("svc.nothing", []), headers=credentials(userid, password)))
    assert reply.status == "200 OK"
    assert reply.codes == ["Client.Authentication"] * 2
    assert reply.bodies[0].value["description"] == "the user id or the password is wrong"


@pytest.mark.parametrize(
    "value", ["ada", 5, [], {}, {"userid": "ada"}, {"userid": 5, "password": "x"}, {"userid": "ada", "password": None}]
)
def test_credentials_of_another_shape_are_a_fault(value: Any) -> None:
    reply = call(gateway(), "svc.who", headers=[Header("Credentials", value)])
    assert reply.codes == ["Client.Authentication"]
    assert "an object with userid and password, both text" in reply.value["description"]


def test_null_credentials_are_none() -> None:
    assert call(gateway(), "svc.who", headers=[Header("Credentials", None)]).value is None


def test_of_several_credentials_the_last_count() -> None:
    assert call(gateway(), "svc.who", headers=credentials("ada", "x") + credentials("grace", "hopper")).value == "grace"


def test_an_exception_of_check_is_a_fault_and_a_fault_is_itself() -> None:
    def broken(userid: str, password: str) -> Any:
        raise KeyError(password)

    def locked(userid: str, password: str) -> Any:
        raise Fault("Client.Authentication.Locked", "for an hour")

    reply = call(gateway(broken), "svc.who", headers=credentials("ada", "lovelace"))
    assert reply.codes == ["Server.Processing"]
    assert b"lovelace" not in reply.data
    assert call(gateway(locked), "svc.who", headers=credentials("ada", "x")).codes == ["Client.Authentication.Locked"]


def test_a_false_user_is_a_user() -> None:
    def zero(userid: str, password: str) -> Any:
        return 0

    assert call(gateway(zero), "svc.read", headers=credentials("ada", "x")).value == "read"


def test_without_authenticate_credentials_are_not_looked_at() -> None:
    assert call(gateway(None), "svc.who", headers=credentials("ada", "lovelace")).value is None
    assert call(gateway(None), "svc.read", headers=credentials("ada", "lovelace")).codes == ["Client.Authentication"]


def test_credentials_in_a_list_of_filters() -> None:
    app = Gateway(None, {"svc": Service()}, filters=[PacketCodec(), Credentials(check), Dispatch()])
    assert call(app, "svc.who", headers=credentials("ada", "lovelace")).value == "ada"


def test_the_check_of_the_docstring_works() -> None:
    text = inspect.cleandoc(Credentials.__doc__ or "")
    example = textwrap.dedent(text[text.index("    import hashlib") : text.index("NetConnection.addHeader")])
    key = hashlib.scrypt(b"lovelace", salt=b"salt", n=2**14, r=8, p=1, dklen=32)
    scope: dict[str, Any] = {"ACCOUNTS": {"ada": (b"salt", key, "the user")}}
    exec(example, scope)
    assert "compare_digest" in example
    assert scope["check"]("ada", "lovelace") == "the user"
    assert scope["check"]("ada", "hopper") is None
    assert scope["check"]("grace", "lovelace") is None
    assert scope["check"]("ada", "\udc80") is None


def test_a_call_may_have_a_user_of_its_own() -> None:
    exchange = Exchange({}, gateway())
    exchange.user = "theirs"
    first, second = Call(exchange, "a", "/1", []), Call(exchange, "b", "/2", [])
    first.user = "mine"
    assert (first.user, second.user, exchange.user) == ("mine", "theirs", "theirs")
    second.user = None
    assert second.user is None
