"""Who makes the request: the `Credentials` header of NetConnection, asked of a function of yours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Fault
from ..pipeline import Exchange


class Credentials:
    """Finds out the user of a request: `Gateway(..., authenticate=check)` puts this filter in its place.

    `check(userid, password)` gives the user, any object of yours, or None for a stranger.  The user is
    `exchange.user` and `call.user` from then on.  A request without the header is made by nobody (user None): methods
    that ask for somebody say so, by `@amfgate.requires`.  A request whose credentials are wrong is not served at all:
    each of its calls is answered by a fault, `Client.Authentication`.  An exception of `check` is a fault too,
    `Server.Processing`.

    Credentials come with each request, in clear: use https.  Compare secrets in constant time, also for a user that
    does not exist, or the time of the answer tells which users there are:

        import hashlib, hmac

        NOBODY = (b"no salt", bytes(32), None)

        def check(userid, password):
            salt, expected, user = ACCOUNTS.get(userid, NOBODY)
            given = hashlib.scrypt(password.encode("utf-8", "surrogateescape"), salt=salt, n=2**14, r=8, p=1, dklen=32)
            return user if hmac.compare_digest(given, expected) else None

    NetConnection.addHeader("Credentials", false, {userid: "ada", password: "..."}) sends them; so does
    NetConnection.setCredentials of Flash MX.  Flex clients have other ways; see `amfgate.filters.flex`.
    """

    headers = ("Credentials",)

    def __init__(self, check: Callable[[str, str], Any]) -> None:
        if not callable(check):
            raise TypeError(f"authenticate is a function check(userid, password), not {check!r}")
        self.check = check

    def on_request(self, exchange: Exchange) -> None:
        exchange.check = self.check
        if exchange.request is None or not exchange.request.headers:
            return
        value = exchange.header("Credentials")
        if value is None:
            return
        userid = password = None
        if isinstance(value, Mapping):
            userid, password = value.get("userid"), value.get("password")
        if not isinstance(userid, str) or not isinstance(password, str):
            raise Fault(
                "Client.Authentication",
                "the Credentials header has to be an object with userid and password, both text",
            )
        exchange.user = authenticated(self.check, userid, password)


def authenticated(check: Callable[[str, str], Any], userid: str, password: str) -> Any:
    """The user that `check` knows by these credentials; a Fault if it knows none."""
    user = check(userid, password)
    if user is None:
        raise Fault("Client.Authentication", "the user id or the password is wrong")
    return user
