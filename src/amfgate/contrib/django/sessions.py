"""Django's own session as `call.session`, and logins that it remembers."""

from __future__ import annotations

from typing import Any, Final

from ...flex import messages as m
from ...pipeline import REQUEST, Exchange
from ...sessions.ids import can_be_id


class DjangoSessions:
    """`exchange.sessions`: logs users in and out by `django.contrib.auth`.

    A login gives the session another key, and empties it if it was another user's; a logout deletes it.  A client is
    known again by Django's cookie; the DSId of a Flex client is only a name.
    """

    def flex_client_id(self, exchange: Exchange, known: Any) -> str:
        return str(known) if can_be_id(known) else m.new_id()

    def user(self, exchange: Exchange) -> Any:
        return None  # `authorize` finds out: a service may log somebody in between two calls

    def log_in(self, exchange: Exchange, userid: str, user: Any) -> None:
        from django.contrib.auth import login

        login(exchange.environ[REQUEST], user)

    def log_out(self, exchange: Exchange) -> None:
        from django.contrib.auth import logout

        logout(exchange.environ[REQUEST])


_SESSIONS: Final = DjangoSessions()


def project_session(exchange: Exchange) -> None:
    """Make `call.session` the session of the request, if the project has a SessionMiddleware around its calls."""
    session = getattr(exchange.environ[REQUEST], "session", None)
    if session is not None:
        exchange.session = session
        exchange.sessions = _SESSIONS
