"""One session during one request: read from the store when it is first looked at, what changed in it written back.

What two requests of one client do at the same time.  Each has the session as it was when it first looked.  Written is
what changed, key by key: two requests that set different keys both have their way, of two that set the same key the
later one has.  There is no lock; who counts in a session from several requests at once counts too little, and wants a
database.  A session that one request ended, by logout or by login, is not revived by what the other writes.

What changed is seen by comparing: a list that was taken out of the session and appended to is written too.  Each value
is a field of its own in the store, in the bytes that `values.pack` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from time import time
from typing import Any, Final

from ..errors import Fault
from ..log import log_error, logger
from .ids import is_marked, key_of, new_id, new_marked_id
from .store import SessionStore
from .values import TooLarge, pack, unpack

# Fields in the store: a dot and the key for what services keep, and two of our own.
_CREATED: Final = "created"
_LOGIN: Final = "login"

# Of the time that a session is kept, how much has to be over before it is kept longer for being used.
_TOUCH_AFTER: Final = 0.1

_LOOKED_AT: Final = 1 << 20  # bytes: a value larger than that is refused before it is known how large it is


@dataclass(frozen=True)
class Rules:
    """What holds for all sessions of a gateway: seconds without use, seconds in all, bytes."""

    expiry: float
    max_age: float
    max_size: int


class Session(MutableMapping[str, Any]):
    """What is remembered of a client: `call.session`.

        call.session["cart"] = []
        call.session["cart"].append(7)
        call.session.setdefault("seen", 0)

    A mapping of texts to values, empty for a client that is new.  Kept are None, bool, int, float, str, bytes, datetime
    in UTC, and lists and dicts of these; anything else is a TypeError or ValueError where it is put in.  A session that
    gets too large is a Fault there.  The store is asked when the session is first looked at, and told what changed
    after the last call of the packet; a Fault, `Server.ResourceUnavailable`, says that it cannot be asked.

    What a call has changed stays changed when it fails later on.  Once the reply is being sent, changes are a
    RuntimeError.
    """

    def __init__(
        self, store: SessionStore, rules: Rules, ids: tuple[str, ...], caller: Callable[[], Any] = lambda: None
    ) -> None:
        """ids: what the client presents, each of which can be an id.  caller: who is using the session right now."""
        self._store = store
        self._rules = rules
        self._ids = ids
        self._caller = caller
        self._found = False  # whether the store was asked
        self._error: Exception | None = None  # that it answered with
        self._closed = False
        self._failures: list[tuple[Any, Exception]] = []  # callers whose changes cannot be kept

        self.may_begin: str | None = None
        """An id that the client has, which the session may get if there is none and it has our mark."""

        self.new_id: str | None = None
        """The id that the client has to be told; None if it has the right one."""

    def _begin(self) -> None:
        """Be a session that nothing is known of."""
        self._key: str | None = None  # under which the store has it
        self._left = 0.0  # seconds that the store will keep it
        self._created = time()
        self._login: bytes | None = None
        self._stored: dict[str, bytes] = {}  # as in the store
        self._packed: dict[str, bytes] = {}  # as last set
        self._values: dict[str, Any] = {}  # those that somebody has in hands
        self._users: dict[str, Any] = {}  # of a key, the caller who had it last
        self._bytes = 0  # of all that is packed, names too

    # What services use

    def __getitem__(self, key: str) -> Any:
        self._find()
        if key not in self._values:
            self._values[key] = unpack(self._packed[key])
        self._users[key] = self._caller()
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"a key of a session is text, not {key!r}")
        self._open()
        try:
            key.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"a key of a session is Unicode, not {key!a:.60}: {error}") from None
        self._put(key, self._pack(f"session[{key!r:.60}]", value))
        self._values[key] = value
        self._users[key] = self._caller()

    def __delitem__(self, key: str) -> None:
        self._open()
        packed = self._packed.pop(key)
        self._bytes -= len(key.encode()) + len(packed)
        self._values.pop(key, None)
        self._users[key] = self._caller()

    def __iter__(self) -> Iterator[str]:
        self._find()
        return iter(list(self._packed))

    def __len__(self) -> int:
        self._find()
        return len(self._packed)

    def __contains__(self, key: object) -> bool:
        self._find()
        return key in self._packed

    def clear(self) -> None:
        """Take everything out; who is logged in stays logged in."""
        for key in self:
            del self[key]

    def __repr__(self) -> str:
        if not self._found:
            return "<Session, not looked at yet>"
        return f"<Session {dict(self.items())!r}>" if self._error is None else "<Session, its store does not answer>"

    # What the filter uses

    @property
    def login(self) -> Any:
        """Who is logged in, as `log_in` was told; None for nobody."""
        self._find()
        return None if self._login is None else unpack(self._login)

    def log_in(self, login: dict[str, Any], same: Callable[[Any], bool]) -> None:
        """Remember `login`, a value that can be kept, under a new id; the old one is worth nothing any more.

        What is in the session stays in it, unless it belongs to somebody else: `same` says so of a former login.
        """
        self._open()
        fields = {} if self._login is not None and not same(unpack(self._login)) else self._settled()
        packed = self._pack("login", login)
        size = _bytes_of(fields) + len(packed)
        if size > self._rules.max_size:
            raise self._too_large(size)
        fresh, created = new_id(), time()
        seconds = min(self._rules.expiry, self._rules.max_age)
        everything = {f".{key}": value for key, value in fields.items()}
        try:
            self._store.save(
                key_of(fresh), {**everything, _LOGIN: packed, _CREATED: _packed_time(created)}, (), seconds, new=True
            )
            if self._key is not None:
                self._store.delete(self._key)
        except Exception as error:
            raise _unavailable(error) from error
        self._values = {key: value for key, value in self._values.items() if key in fields}
        self._packed, self._stored, self._bytes = fields, dict(fields), size
        self._login, self._created = packed, created
        self._key, self._left = key_of(fresh), seconds
        self.new_id = fresh

    def end(self) -> None:
        """Forget everything, in the store too; a session that begins afterwards has a new id."""
        self._open()
        if self._key is not None:
            try:
                self._store.delete(self._key)
            except Exception as error:
                raise _unavailable(error) from error
        self._begin()
        self.new_id = self.may_begin = None

    def marked_id(self) -> str:
        """A fresh id under which a session may begin: `may_begin`."""
        return new_marked_id(self._store.secret())

    def marked(self, session_id: str) -> bool:
        """Whether `marked_id` made it, here or in another process."""
        return is_marked(session_id, self._store.secret())

    def save(self) -> list[tuple[Any, Exception]]:
        """Write what changed.  The callers whose changes were not kept, with the reason."""
        if not self._found or self._error is not None:
            return []
        fields = self._settled()
        failures = self._failures
        changed = {key: value for key, value in fields.items() if self._stored.get(key) != value}
        removed = [key for key in self._stored if key not in fields]
        seconds = self._seconds()
        try:
            if changed or removed:
                self._write(changed, removed, seconds)
        except Exception as error:
            callers = {id(caller): caller for key in (*changed, *removed) if (caller := self._users.get(key))}
            failures += [(caller, _unavailable(error)) for caller in callers.values() or [None]]
        else:
            if self._key is not None and seconds - self._left > self._rules.expiry * _TOUCH_AFTER:
                self._touch(seconds)
        return failures

    def close(self) -> None:
        """From now on it can be read only."""
        self._closed = True
        self._caller = _nobody
        if self._found:
            self._users.clear()  # calls, which know this session

    # Inside

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("the session is saved and the reply on its way: what is changed now would be lost")
        self._find()

    def _find(self) -> None:
        """Ask the store for the session, once."""
        if self._error is not None:
            raise _unavailable(self._error) from self._error
        if self._found:
            return
        self._found = True
        self._begin()
        try:
            for one in self._ids:
                kept = self._store.load(key_of(one))
                if kept is not None and self._take(key_of(one), *kept):
                    return
        except Exception as error:
            self._error = error
            raise _unavailable(error) from error

    def _take(self, key: str, fields: dict[str, bytes], left: float) -> bool:
        """Be the session that the store has; not if it is too old."""
        created = float(unpack(fields[_CREATED]))
        if time() >= created + self._rules.max_age:
            self._store.delete(key)
            return False
        self._key, self._left, self._created = key, left, created
        self._login = fields.get(_LOGIN)
        self._bytes = len(self._login or b"")
        self._stored = {name[1:]: value for name, value in fields.items() if name.startswith(".")}
        self._packed = dict(self._stored)
        self._bytes += _bytes_of(self._packed)
        return True

    def _settled(self) -> dict[str, bytes]:
        """All there is, in bytes, with what was done to lists and dicts since they were taken out or put in.

        A value that cannot be kept any more is left as it was, and whoever had it last is among the failures.
        """
        grown: list[tuple[int, str, bytes]] = []
        failed: list[tuple[str, Exception]] = []
        for key, value in self._values.items():
            if type(value) is list or type(value) is dict:
                try:
                    packed = self._pack(f"session[{key!r:.60}]", value)
                except Exception as error:
                    failed.append((key, error))
                else:
                    if packed != self._packed[key]:
                        grown.append((len(packed) - len(self._packed[key]), key, packed))
        for _, key, packed in sorted(grown):  # those that have shrunk make room for the others
            try:
                self._put(key, packed)
            except Fault as error:
                failed.append((key, error))
        for key, reason in failed:
            del self._values[key]
            self._failures.append((self._users.get(key), reason))
        return dict(self._packed)

    def _write(self, changed: dict[str, bytes], removed: list[str], seconds: float) -> None:
        fields = {f".{key}": value for key, value in changed.items()}
        if self._key is None:
            begin, told = self.may_begin, self.new_id
            if begin is None or not self.marked(begin):
                begin = told = new_id()
            self._store.save(key_of(begin), {**fields, _CREATED: _packed_time(self._created)}, (), seconds, new=True)
            self._key, self.new_id = key_of(begin), told
        elif not self._store.save(self._key, fields, [f".{key}" for key in removed], seconds, new=False):
            logger.warning("a session ended while a request was using it; what that changed in it is lost")
        self._left = seconds

    def _touch(self, seconds: float) -> None:
        assert self._key is not None
        try:
            self._store.touch(self._key, seconds)
        except Exception as error:
            log_error("a session that was used is not kept longer: the store does not answer", error)

    def _seconds(self) -> float:
        return max(0.001, min(self._rules.expiry, self._created + self._rules.max_age - time()))

    def _pack(self, name: str, value: Any) -> bytes:
        try:
            return pack(value, name, max(self._rules.max_size, _LOOKED_AT))
        except TooLarge:
            raise self._too_large(f"more than {_LOOKED_AT}") from None

    def _put(self, key: str, packed: bytes) -> None:
        former = self._packed.get(key)
        size = self._bytes + len(packed) + (len(key.encode()) if former is None else -len(former))
        if size > self._rules.max_size and size > self._bytes:  # requests at the same time may have made it too large
            raise self._too_large(size)
        self._packed[key] = packed
        self._bytes = size

    def _too_large(self, size: Any) -> Fault:
        return Fault(
            "Server.Processing", f"the session would take {size} bytes; {self._rules.max_size} are kept (max_size)"
        )


def _bytes_of(fields: dict[str, bytes]) -> int:
    return sum(len(key.encode()) + len(value) for key, value in fields.items())


def _packed_time(seconds: float) -> bytes:
    return pack(seconds, _CREATED, 9)


def _unavailable(error: Exception) -> Fault:
    fault = Fault("Server.ResourceUnavailable", "the store of sessions does not answer")
    fault.__cause__ = error
    return fault


def _nobody() -> None:
    return None
