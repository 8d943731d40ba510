"""Ids of sessions: how they are made, which text can be one, and under which key a store has it.

An id is worth as much as a password, so it is random (from `secrets`), at least 120 bits of what nobody can guess.

An id that came with a request is one of ours if a store has a session under it.  The id of a Flex client, DSId, is a
special case.  It is given out at the first ping, when there is nothing to store yet, and the client never takes
another one; to store an empty session for every ping would let anybody fill the store.  So such an id carries a mark
that only a gateway with this store can make: a part of it is the HMAC of the rest.  A session may begin under a marked
id that the store does not know.  A name that somebody made up has no mark, and no session ever begins under it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Any, Final

from ..flex.messages import id_of

_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{20,64}", re.ASCII)
_MARKED: Final = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}", re.ASCII)
_MARK: Final = 10  # hexadecimal digits: whoever forges one mark in 2**40 has an empty session of his own


def new_id() -> str:
    """A fresh id of 256 random bits, for a session that the store has from the start: 43 letters, digits, - and _."""
    return secrets.token_urlsafe(32)


def new_marked_id(secret: bytes) -> str:
    """A fresh id that `is_marked`: in the shape of a UUID (version 4), as Flex clients know DSIds."""
    text = id_of(secrets.token_hex(16).upper())[:-_MARK]
    return text + _mark(text, secret)


def is_marked(text: str, secret: bytes) -> bool:
    """Whether `new_marked_id` made it with this secret."""
    if _MARKED.fullmatch(text) is None:
        return False
    return hmac.compare_digest(text[-_MARK:], _mark(text[:-_MARK], secret))


def _mark(text: str, secret: bytes) -> str:
    return hmac.digest(secret, text.replace("-", "").encode("ascii"), "sha256").hex()[:_MARK].upper()


def can_be_id(text: Any) -> bool:
    """Whether this, which came from a client, has the shape of an id; the rest is not even looked for."""
    return isinstance(text, str) and _SHAPE.fullmatch(text) is not None


def key_of(session_id: str) -> str:
    """What a store knows the session by: a hash of its id, so that a copy of the store logs nobody in."""
    return hashlib.sha256(session_id.encode("ascii")).hexdigest()
