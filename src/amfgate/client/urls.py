"""The gateway's URL: what a caller may give, and what a server may make of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin, urlsplit


def checked_url(url: Any) -> str:
    """The URL as text; TypeError or ValueError for what cannot be called.

    Text, and any object whose text is a URL: `httpx.URL`, `yarl.URL`, the results of `urllib.parse`.
    """
    if isinstance(url, (bytes, bytearray)) or url is None:
        raise TypeError(f"url is text or a URL object, not {url!r}")
    geturl = getattr(url, "geturl", None)  # urllib's results are tuples, whose text is no URL
    text = str(geturl() if callable(geturl) else url).strip()
    parts = urlsplit(text)
    try:
        parts.port  # noqa: B018
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        hint = ""
        if parts.scheme.startswith("rtmp"):
            hint = "; RTMP is another protocol, which this client does not speak"
        elif not text.startswith("/"):
            hint = f"; perhaps http://{text}" if "://" not in text else ""
        raise ValueError(f"a gateway's URL starts with http:// or https:// and a host, not {text!r}{hint}")
    text = text.partition("#")[0]
    if not parts.path:  # what a server appends belongs to the path, not to the host
        host, question, query = text.partition("?")
        text = f"{host}/{question}{query}"
    return text


def appended(url: str, suffix: str) -> str:
    """`url` with what AppendToGatewayUrl says.

    Servers send `?sid=1a2b` or, Java ones, `;jsessionid=1a2b`.  Flash puts the text behind the text.  Where the URL has
    a query of its own, that would spoil both, so it goes to where it is meant to be.
    """
    path, question, query = url.partition("?")
    if suffix.startswith(";"):
        return path + suffix + question + query
    if question and suffix.startswith("?"):
        return f"{url}{'' if url.endswith(('?', '&')) else '&'}{suffix[1:]}"
    return url + suffix


def replaced(url: str, new: str) -> str:
    """The URL that ReplaceGatewayUrl says; a relative one is meant from `url`.

    ValueError for one that cannot be called, and for http in the place of https: what was private, credentials
    included, would travel in the open.
    """
    target = checked_url(urljoin(url, new))
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
        raise ValueError(f"{target!r} is not https, as the URL in use is")
    return target
