"""Posting packets: the one thing that a client needs HTTP for, done by httpx.

httpx is imported when a client is made, not before: amfgate itself runs without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .faults import Answer, HttpError, shown_url

if TYPE_CHECKING:
    import httpx


class Post(Protocol):
    """What a Client needs of a transport.

    `post` sends the bytes and gives what came back, unpacked, of any status; more than `limit` bytes are an
    HttpError.  TimeoutError or ConnectionError where nothing comes back.
    """

    def post(self, url: str, data: bytes, headers: Mapping[str, str], limit: int | None) -> Answer: ...

    def cookies(self) -> dict[str, str]: ...

    def close(self) -> None: ...


class HttpxPost:
    """Posts by httpx: connections are kept, cookies come back, gzip and deflate are unpacked, proxies are the system's.

    Redirects are not followed: a POST would become a GET on its way.
    """

    def __init__(self, timeout: Any, transport: Any, cookies: Mapping[str, str] | None, http: Any) -> None:
        self._httpx = httpx = _httpx()
        self._owned = http is None
        if http is not None:
            if transport is not None or cookies is not None:
                raise TypeError(
                    "http= is a client with its own transport and cookies; leave transport= and cookies= out"
                )
            if not isinstance(http, httpx.Client):
                raise TypeError(f"http is an httpx.Client, not {http!r}")
            self._http = http
            return
        self._http = httpx.Client(
            timeout=timeout, transport=_transport(httpx, transport), cookies=dict(cookies or {}), follow_redirects=False
        )

    def post(self, url: str, data: bytes, headers: Mapping[str, str], limit: int | None) -> Answer:
        httpx = self._httpx
        try:
            with self._http.stream("POST", url, content=data, headers=dict(headers)) as reply:
                head = Answer(str(reply.url), reply.status_code, reply.reason_phrase, dict(reply.headers), b"")
                try:
                    body = _bounded(reply.iter_bytes(), limit)
                except httpx.DecodingError as error:
                    coding = reply.headers.get("content-encoding", "")
                    raise HttpError(head, f"its body is not {coding}, as it says: {error}") from error
                if body is None:
                    raise HttpError(head, f"more than {limit} bytes, the limit (max_body)")
                return head._replace(body=body)
        except httpx.TimeoutException as error:
            raise TimeoutError(f"{shown_url(url)}: no answer in time ({type(error).__name__})") from error
        except httpx.TransportError as error:
            raise ConnectionError(f"{shown_url(url)}: {str(error) or type(error).__name__}") from error
        except httpx.InvalidURL as error:
            raise ValueError(f"{shown_url(url)}: httpx does not take this URL: {error}") from error

    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self._http.cookies.jar}

    def close(self) -> None:
        if self._owned:
            self._http.close()


def _httpx() -> Any:
    try:
        return importlib.import_module("httpx")
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise ImportError(
            "amfgate.Client needs httpx, which is not installed: pip install 'amfgate[client]'", name="httpx"
        ) from None


def _transport(httpx: Any, transport: Any) -> httpx.BaseTransport | None:
    """httpx's transport for what the caller gave: one already, or a WSGI application."""
    if transport is None or hasattr(transport, "handle_request"):
        return transport  # type: ignore[no-any-return]
    if callable(transport):
        return httpx.WSGITransport(app=transport)  # type: ignore[no-any-return]
    raise TypeError(f"transport is a WSGI application or an httpx transport, not {transport!r}")


def _bounded(chunks: Iterable[bytes], limit: int | None) -> bytes | None:
    """All of the chunks; None as soon as they are more than `limit` bytes."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if limit is not None and size > limit:
            return None
        parts.append(chunk)
    return b"".join(parts)
