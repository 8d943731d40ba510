"""Sessions in Redis: for any number of processes on any number of machines."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Mapping
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

SECRET_SECONDS: Final = 60.0  # how long a process takes its word for the secret, and does not ask

# Write fields only if there is a session, or if it is a new one; keep it for a time.  Redis runs a script as one step.
# Arguments: new?, milliseconds, how many fields are set, name and value of each of them, the names to take out.
_SAVE: Final = """
if ARGV[1] == '0' and redis.call('EXISTS', KEYS[1]) == 0 then
    return 0
end
local at = 4
for n = 1, tonumber(ARGV[3]) do
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
    at = at + 2
end
for n = at, #ARGV do
    redis.call('HDEL', KEYS[1], ARGV[n])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""


class RedisStore:
    """Keeps sessions in a Redis server, version 4 or newer, or in one of its relatives (Valkey).

        Gateway(app, services, sessions=RedisStore("redis://localhost:6379/0"))

    It needs redis-py: `pip install 'amfgate[redis]'`.

    url_or_client: `redis://`, `rediss://` (TLS) or `unix://`, or a client of yours, `redis.Redis(...)`, which must not
        have `decode_responses`.  With a URL nothing is connected to before the first session is used, and each process
        has connections of its own, also one that was forked (`gunicorn --preload`).
    prefix: what the keys in Redis start with.  Gateways with the same server and prefix share their sessions.
    timeout: seconds to wait for Redis, to connect and for an answer.  A client of yours has timeouts of its own.

    A session is a Redis hash that Redis forgets when it expires.  Its key is a hash of the session's id, so a copy of
    the database logs nobody in; what services keep in sessions is readable in it.  Redis may be started again at any
    time: the next request connects again.  While it does not answer, calls that use their session, or need a user, are
    answered by the fault `Server.ResourceUnavailable`; all others are served.

    Redis has to keep what it is told to keep: with a `maxmemory-policy` that evicts, clients lose their sessions.
    """

    one_process = False

    def __init__(self, url_or_client: Any, *, prefix: str = "amfgate:session:", timeout: float = 2.0) -> None:
        try:
            import redis
        except ImportError as error:
            raise ImportError(
                "RedisStore needs redis, which is not installed: pip install 'amfgate[redis]'", name="redis"
            ) from error
        if not isinstance(prefix, str):
            raise TypeError(f"prefix is text, not {prefix!r}")
        if not timeout > 0:
            raise ValueError(f"timeout is a number of seconds, more than 0, not {timeout!r}")
        self.prefix = prefix
        self._given: Any = None
        self._clients: dict[int, Any] = {}  # by process
        self._secret: tuple[bytes, float] | None = None
        if isinstance(url_or_client, str):
            self._url, self._timeout = url_or_client, timeout
            self._name = _without_password(url_or_client)
            self._connect()  # a URL that is none is an error now; nothing is connected to
            self._clients.clear()
            return
        if not callable(getattr(url_or_client, "pipeline", None)):
            raise TypeError(f"RedisStore takes the URL of a Redis server or a redis.Redis, not {url_or_client!r}")
        pool = getattr(url_or_client, "connection_pool", None)
        if getattr(pool, "connection_kwargs", {}).get("decode_responses"):
            raise TypeError("RedisStore needs a client without decode_responses: sessions are bytes, not text")
        self._given = url_or_client
        self._name = type(url_or_client).__name__
        del redis

    def __repr__(self) -> str:
        return f"<RedisStore {self._name}, {self.prefix}*>"

    def load(self, key: str) -> tuple[dict[str, bytes], float] | None:
        pipeline = self._client().pipeline(transaction=False)
        pipeline.hgetall(self.prefix + key)
        pipeline.pttl(self.prefix + key)
        fields, milliseconds = pipeline.execute()
        if not fields or milliseconds < 0:
            return None
        return {name.decode(): value for name, value in fields.items()}, milliseconds / 1000

    def save(
        self, key: str, changed: Mapping[str, bytes], removed: Collection[str], seconds: float, *, new: bool
    ) -> bool:
        arguments: list[Any] = [int(new), _milliseconds(seconds), len(changed)]
        for pair in changed.items():
            arguments += pair
        return bool(self._client().eval(_SAVE, 1, self.prefix + key, *arguments, *removed))

    def touch(self, key: str, seconds: float) -> None:
        self._client().pexpire(self.prefix + key, _milliseconds(seconds))

    def delete(self, key: str) -> None:
        self._client().delete(self.prefix + key)

    def secret(self) -> bytes:
        known = self._secret
        if known is not None and monotonic() <= known[1]:
            return known[0]
        # Where Redis has lost it, it is given back: the ids of Flex clients, who never take another, stay good.
        secret = secrets.token_bytes(32) if known is None else known[0]
        client, name = self._client(), self.prefix + "secret"
        try:
            client.set(name, secret, nx=True)
            kept = client.get(name)
        except Exception:
            if known is None:
                raise
        else:
            if not kept:
                raise RuntimeError(f"Redis forgot {name} at once; its maxmemory-policy seems to evict")
            secret = kept
        self._secret = (secret, monotonic() + SECRET_SECONDS)
        return secret

    def _client(self) -> Any:
        if self._given is not None:
            return self._given
        client = self._clients.get(os.getpid())
        return self._connect() if client is None else client

    def _connect(self) -> Any:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        # A connection that Redis has closed in the meantime is made again, once; that a server does not answer is said
        # at once, for each call that waits holds up a worker.
        retry: Any = Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,))
        self._clients[os.getpid()] = client = redis.Redis.from_url(
            self._url,
            socket_timeout=self._timeout,
            socket_connect_timeout=self._timeout,
            retry=retry,
            retry_on_error=[redis.exceptions.ConnectionError],
        )
        return client


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
