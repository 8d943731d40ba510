"""Who may call what: `requires`, and the conditions that it leaves on services and methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from .errors import Fault

T = TypeVar("T")

REQUIRES: Final = "__amfgate_requires__"  # where a service or a method keeps its conditions


def requires(*needed: str | Callable[[Any], Any]) -> Callable[[T], T]:
    """Let a method, or all methods of a class, be called only by some: a role, or a question asked about the user.

        @amfgate.requires("editor")
        def publish(self, page): ...

        @amfgate.requires(lambda user: user.is_staff)
        def totals(self): ...

    The roles of a user are `user.roles` or `user["roles"]`, or the user itself where it is a set, list or tuple.
    A function is called with the user; one whose first parameter is named `call` gets the Call, and is asked also when
    there is no user.  Without an argument any user will do.  Of several, and of several decorators, all have to agree.

    Nobody is let in as `Client.Authentication` when there is no user, as `Client.Authorization` when it is the wrong
    one.
    """
    if (
        len(needed) == 1
        and (inspect.isfunction(needed[0]) or inspect.isclass(needed[0]))
        and not _is_predicate(needed[0])
    ):
        raise TypeError("@amfgate.requires is written with brackets: @amfgate.requires() for any user")
    requirements = tuple(Requirement(one) for one in needed) or (Requirement(None),)

    def mark(thing: T) -> T:
        setattr(thing, REQUIRES, (*getattr(thing, REQUIRES, ()), *requirements))
        return thing

    return mark


class Requirement:
    """One condition of `@amfgate.requires`: a role, a predicate, or None for any user."""

    __slots__ = ("about_call", "needed")

    def __init__(self, needed: str | Callable[[Any], Any] | None) -> None:
        if needed is not None and not isinstance(needed, str) and not callable(needed):
            raise TypeError(f"@amfgate.requires takes names of roles and functions, not {needed!r}")
        self.needed = needed
        self.about_call = callable(needed) and _first_parameter(needed) == "call"

    def check(self, call: Any) -> None:
        """Raise the Fault that keeps `call` out, if it does."""
        needed, user = self.needed, call.user
        if callable(needed):
            allowed = needed(call) if self.about_call else user is not None and needed(user)
        else:
            allowed = user is not None and (needed is None or needed in roles_of(user))
        if allowed:
            return
        if user is None:
            raise Fault("Client.Authentication", "this call needs a user who is logged in")
        raise Fault("Client.Authorization", "the user may not make this call")

    def __repr__(self) -> str:
        return (
            "any user"
            if self.needed is None
            else repr(self.needed)
            if isinstance(self.needed, str)
            else _name_of(self.needed)
        )


def roles_of(user: Any) -> Any:
    """The roles of a user, as a container of names: see `requires`."""
    roles: Any
    if isinstance(user, (set, frozenset, list, tuple)):
        roles = user
    elif isinstance(user, Mapping):
        roles = user.get("roles")
    else:
        roles = getattr(user, "roles", None)
    if isinstance(roles, str):
        return (roles,)
    return () if roles is None else roles


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _first_parameter(function: Any) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):
        return None


def _is_predicate(thing: Any) -> bool:
    return _first_parameter(thing) not in (None, "self")
