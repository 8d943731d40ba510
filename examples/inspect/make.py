"""Makes the files of this folder, which docs/inspect.md walks through: a browser's HAR and a save game.

    python examples/inspect/make.py [FOLDER]

The replies in the HAR are what the gateway answers.  Nothing here depends on the time or on chance.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import sys
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from shop import services  # noqa: E402

import amfgate  # noqa: E402
from amfgate.sol import SharedObject  # noqa: E402

PAGE = "<!doctype html><title>Shop</title><script src=shop.js></script>"


def post(data: bytes) -> bytes:
    """What the gateway answers."""
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    environ.update(REQUEST_METHOD="POST", PATH_INFO="/amf", CONTENT_TYPE="application/x-amf")
    environ.update({"CONTENT_LENGTH": str(len(data)), "wsgi.input": io.BytesIO(data), "wsgi.errors": io.StringIO()})
    gateway = amfgate.Gateway(lambda environ, start_response: [], services)
    return b"".join(gateway(environ, lambda status, headers, error=None: lambda data: None))


def entry(when: str, url: str, request: bytes | None, content: dict[str, Any]) -> dict[str, Any]:
    """One entry of a HAR file, as a browser writes it, without what nobody reads here."""
    sent: dict[str, Any] = {"method": "GET" if request is None else "POST", "url": url, "httpVersion": "HTTP/1.1"}
    if request is not None:
        # Browsers put the bytes of a request into text, one character for each.
        sent["postData"] = {"mimeType": "application/x-amf", "text": request.decode("latin-1")}
    response = {"status": 200, "statusText": "OK", "content": content}
    return {"startedDateTime": when, "time": 12, "request": sent, "response": response}


def amf_entry(when: str, request: bytes) -> dict[str, Any]:
    reply = post(request)
    text = base64.b64encode(reply).decode()
    content = {"size": len(reply), "mimeType": "application/x-amf", "text": text, "encoding": "base64"}
    return entry(when, "https://shop.example/amf", request, content)


def har() -> str:
    """Three requests: the page, and two calls."""
    page = {"size": len(PAGE), "mimeType": "text/html", "text": PAGE}
    first = amfgate.Packet(0, [], [amfgate.Body("catalog.page", "/1", [0, 2])])
    second = amfgate.Packet(0, [], [amfgate.Body("catalog.find", "/2", ["Sextant"])])
    entries = [
        entry("2026-03-01T10:00:00.000Z", "https://shop.example/", None, page),
        amf_entry("2026-03-01T10:00:01.250Z", first.to_bytes()),
        amf_entry("2026-03-01T10:00:02.500Z", second.to_bytes()),
    ]
    log = {"version": "1.2", "creator": {"name": "examples/inspect/make.py", "version": "1"}, "entries": entries}
    return json.dumps({"log": log}, indent=1, ensure_ascii=True) + "\n"


def save_game() -> bytes:
    """A save game in AMF3; both heroes carry the same map."""
    treasure = amfgate.TypedObject("game.Map", {"name": "Old harbour", "seen": [1, 2, 5]})
    data = {
        "player": "Ada",
        "coins": 40,
        "volume": 0.8,
        "heroes": [
            amfgate.TypedObject("game.Hero", {"name": "Ada", "level": 7, "map": treasure}),
            amfgate.TypedObject("game.Hero", {"name": "Grace", "level": 9, "map": treasure}),
        ],
    }
    return amfgate.sol.dumps(SharedObject("slot1", data, version=3))


def main(folder: Path = HERE) -> None:
    """Write the files."""
    logging.getLogger("amfgate").setLevel(logging.CRITICAL)  # the fault is wanted
    (folder / "shop.har").write_text(har(), encoding="ascii")
    (folder / "slot1.sol").write_bytes(save_game())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
