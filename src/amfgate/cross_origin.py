"""Who else may call from a browser: CORS for Ruffle and JavaScript clients, crossdomain.xml for Flash Player and AIR.

Both are off unless asked for.  Without them a page or program can call only the server that it came from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from xml.sax.saxutils import quoteattr

_METHODS: Final = ("Access-Control-Allow-Methods", "POST, OPTIONS")
_AGE: Final = ("Access-Control-Max-Age", "600")
_VARY: Final = ("Vary", "Origin")

CROSSDOMAIN_PATH: Final = "/crossdomain.xml"


class Cors:
    """The headers that let pages of other origins call (Fetch standard, "CORS protocol").

    `origins` are allowed origins such as `"https://games.example"` (scheme, host, port, no path), or `"*"` for every
    one. A listed origin may send cookies along; with `"*"` nobody may.
    """

    def __init__(self, origins: str | Iterable[str]) -> None:
        self.origins = frozenset([origins] if isinstance(origins, str) else origins)
        if not self.origins:
            raise ValueError('cors= needs allowed origins, or "*" for all; leave it out for none')
        for origin in self.origins:
            if not isinstance(origin, str):
                raise TypeError(f"cors= takes origins as text, not {origin!r}")
            scheme, found, host = origin.partition("://")
            if origin not in ("*", "null") and (not found or not scheme or not host or "/" in host or "*" in host):
                raise ValueError(
                    f"cors={origin!r} is no origin; one looks like https://games.example or http://localhost:8080"
                )

    def headers(self, environ: dict[str, Any]) -> list[tuple[str, str]]:
        """What to add to the answer of this request."""
        origin = environ.get("HTTP_ORIGIN")
        every = "*" in self.origins
        if not origin or not every and origin not in self.origins:
            return [] if every else [_VARY]
        if origin in self.origins and origin != "*":
            headers = [("Access-Control-Allow-Origin", origin), _VARY]
            if origin != "null":  # every sandboxed page has that origin
                headers.append(("Access-Control-Allow-Credentials", "true"))
        else:
            headers = [("Access-Control-Allow-Origin", "*")]
        if environ["REQUEST_METHOD"] == "OPTIONS":
            headers += [_METHODS, ("Access-Control-Allow-Headers", _requested(environ)), _AGE]
        return headers


def _requested(environ: dict[str, Any]) -> str:
    """The request headers that a preflight asks for: all are allowed, they are as harmless as those of a program."""
    asked = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "")
    names = [name.strip() for name in asked.split(",")]
    good = [name for name in names if name and name.replace("-", "").isalnum() and name.isascii()]
    return ", ".join(["content-type", *(name for name in good if name.lower() != "content-type")])


def crossdomain_xml(domains: str | Iterable[str]) -> bytes:
    """The policy file for `domains`: `"*.example.com"`, `"*"`; text that starts with `<` is taken as the whole file."""
    if isinstance(domains, str):
        if domains.lstrip().startswith("<"):
            return domains.encode("utf-8")
        domains = [domains]
    names = list(domains)
    if not names:
        raise ValueError('crossdomain= needs domains, or "*" for all; leave it out for none')
    for name in names:
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"crossdomain={name!r} is no domain; one looks like example.com or *.example.com")
    lines = [f"  <allow-access-from domain={quoteattr(name)}/>\n" for name in names]
    lines += [f'  <allow-http-request-headers-from domain={quoteattr(name)} headers="*"/>\n' for name in names]
    return ('<?xml version="1.0"?>\n<cross-domain-policy>\n' + "".join(lines) + "</cross-domain-policy>\n").encode(
        "utf-8"
    )
