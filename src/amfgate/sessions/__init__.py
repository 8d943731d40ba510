"""Where sessions are kept between requests: the stores that `amfgate.filters.Sessions` is given."""

from __future__ import annotations

from typing import Protocol


class SessionStore(Protocol):
    """What a store of sessions has to offer."""
