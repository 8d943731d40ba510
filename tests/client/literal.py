"""What the client's tests share: packets written out byte by byte, and a server that answers with such."""

from __future__ import annotations

import re
from typing import Any

import httpx

from amfgate import Client

_PARTS = re.compile(r"'([^']*)'|\s+|([0-9A-Fa-f]{2})")


def amf(text: str) -> bytes:
    """Bytes written as hex digits and quoted ASCII: `amf("0002 'hi' 05")`."""
    out = bytearray()
    at = 0
    while at < len(text):
        part = _PARTS.match(text, at)
        assert part is not None, f"not hex and not quoted: {text[at : at + 20]!r}"
        out += part[1].encode("ascii") if part[1] is not None else bytes.fromhex(part[2] or "")
        at = part.end()
    return bytes(out)


def reply(*bodies: str, version: int = 0, headers: tuple[str, ...] = ()) -> bytes:
    """A packet of bodies and headers, each written for `amf`."""
    parts = [
        version.to_bytes(2, "big"),
        len(headers).to_bytes(2, "big"),
        *map(amf, headers),
        len(bodies).to_bytes(2, "big"),
        *map(amf, bodies),
    ]
    return b"".join(parts)


NULL_RESULT = reply("000B '/1/onResult' 0004 'null' 00000001 05")


class Canned:
    """Answers each request with the next of `answers`: bytes of a packet, or a whole httpx.Response."""

    def __init__(self, *answers: bytes | httpx.Response) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, bytes):
            return httpx.Response(200, content=answer, headers={"Content-Type": "application/x-amf"})
        return answer

    @property
    def bodies(self) -> list[bytes]:
        return [request.content for request in self.requests]

    @property
    def urls(self) -> list[str]:
        return [str(request.url) for request in self.requests]


def canned(
    *answers: bytes | httpx.Response, url: str = "http://example.org/amf", **options: Any
) -> tuple[Client, Canned]:
    """A client of a server that gives these answers, and that server."""
    server = Canned(*answers)
    return Client(url, transport=server.transport, **options), server
