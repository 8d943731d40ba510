"""What a packet passes on its way through the gateway: one file each, in the order of `default_filters`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..sessions import SessionStore
from .credentials import Credentials
from .dispatch import Dispatch
from .flex import Flex
from .packet_codec import PacketCodec
from .sessions import Sessions

__all__ = ["Credentials", "Dispatch", "Flex", "PacketCodec", "Sessions", "default_filters"]


def default_filters(
    authenticate: Callable[[str, str], Any] | None = None,
    actions: Iterable[Any] | None = None,
    sessions: SessionStore | Sessions | None = None,
) -> list[Any]:
    """A fresh list of the filters of a gateway, to edit and hand to `Gateway(filters=...)`.

    `[PacketCodec(), Flex(), Dispatch(actions)]`, with `Sessions(sessions)` and `Credentials(authenticate)` behind the
    first if they are given.
    """
    filters: list[Any] = [PacketCodec(), Flex(), Dispatch(actions)]
    if authenticate is not None:
        filters.insert(1, Credentials(authenticate))
    if sessions is not None:
        filters.insert(1, sessions if isinstance(sessions, Sessions) else Sessions(sessions))
    return filters
