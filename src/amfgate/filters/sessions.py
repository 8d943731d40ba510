"""What is remembered of a client from one request to the next."""

from __future__ import annotations

from ..pipeline import Exchange
from ..sessions import SessionStore


class Sessions:
    """Gives each exchange its session."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store

    def on_request(self, exchange: Exchange) -> None:
        """Find the session."""
