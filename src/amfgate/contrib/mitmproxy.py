"""AMF in mitmproxy: a content view that shows packets as a tree with offsets, and one that lets them be edited.

In a file of your own, `amf.py`:

    from amfgate.contrib.mitmproxy import load

    mitmproxy -s amf.py          (or mitmweb, or mitmdump --set flow_detail=3)

amfgate has to be installed where mitmproxy is; nothing has to be compiled.  Requests and replies of the type
application/x-amf are then shown by the view `AMF`, and so are bodies that look like packets under another type, as
Royale and JavaScript clients send them.  The reader goes on after damage and says what it skipped.

From mitmproxy 12 on there is `AMF-JSON` too: the packet as JSON, in a form that keeps every byte; what is edited there
is sent as AMF again.

The views are plain objects with what mitmproxy calls on them, in the way of version 12 (`prettify`) and in that of the
versions before (calling the view).  This module imports mitmproxy only to register them, and names amfgate's modules
in full, so that mitmproxy can also load it as the script that it is.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any, Final

from amfgate.inspector import Node, from_json, jsonform, to_json, tree, what
from amfgate.inspector.salvage import name_end

__all__ = ["AmfJsonView", "AmfView", "load"]

# Above 1 for a body of this type: some other views take 1 for what they know, and ties are lost.
_SURE: Final = 2.0
_LIKELY: Final = 1.5
_NO: Final = -1.0
# The reader takes some five seconds for so much, in which the proxy's screen stands still.
LARGEST: Final = 1 << 20

Line = list[tuple[str, str]]


class AmfView:
    """The view `AMF`: a line for each value, with its offset, as `amfgate inspect` prints it."""

    name = "AMF"
    syntax_highlight = "none"

    def prettify(self, data: bytes, metadata: Any = None) -> str:
        """The tree as text; ValueError for what is no AMF, upon which mitmproxy shows the bytes."""
        return "\n".join(f"{offset}{text}" for offset, text, _ in _lines(data))

    def __call__(self, data: bytes, **metadata: Any) -> tuple[str, Iterator[Line]]:
        """The tree for mitmproxy 11 and before: a title, and lines of styled pieces."""
        lines = _lines(data)  # here, not when the first is asked for: mitmproxy expects errors from this call
        return self.name, iter(
            [("offset", offset), ("error" if damaged else "text", text)] for offset, text, damaged in lines
        )

    def render_priority(self, data: bytes, metadata: Any = None, **more: Any) -> float:
        """How sure this view is that the body is its own; below 0 when it is not."""
        kind = more.get("content_type") or getattr(metadata, "content_type", None)
        if not data:
            return _NO
        if kind == "application/x-amf":
            return _SURE
        return _LIKELY if _looks_like_a_packet(data) else _NO

    def __lt__(self, other: Any) -> bool:
        return bool(self.name < other.name)


class AmfJsonView:
    """The view `AMF-JSON`, for reading and editing: what `amfgate inspect --json` prints, and `from-json` reads."""

    name = "AMF-JSON"
    syntax_highlight = "yaml"

    def prettify(self, data: bytes, metadata: Any = None) -> str:
        root, _ = _read(data)
        return jsonform.dumps(to_json(root, data))

    def reencode(self, prettified: str, metadata: Any = None) -> bytes:
        """The bytes of edited JSON; its errors say where in it they are."""
        return from_json(json.loads(prettified))

    def render_priority(self, data: bytes, metadata: Any = None, **more: Any) -> float:
        """Chosen by hand only."""
        return _NO

    def __lt__(self, other: Any) -> bool:
        return bool(self.name < other.name)


def load(loader: Any = None) -> None:
    """Register the views; mitmproxy calls it when it loads a script that has it."""
    contentviews = importlib.import_module("mitmproxy.contentviews")
    if hasattr(contentviews, "InteractiveContentview"):
        contentviews.add(AmfView())
        contentviews.add(AmfJsonView())
        return
    known = contentviews.get(AmfView.name)
    if known is not None:  # before version 12 a second view of a name is refused, and scripts are loaded again
        contentviews.remove(known)
    contentviews.add(AmfView())


def _read(data: bytes) -> tuple[Node, str]:
    """What was read, and for what is no packet how that was seen.  ValueError for what is no AMF."""
    if len(data) > LARGEST:
        raise ValueError(f"{len(data)} bytes take too long to show here; save the body, and `amfgate inspect` reads it")
    found = what(data)
    if found.root is None:
        raise ValueError(found.why)
    return found.root, "" if found.kind == "packet" else found.why


def _lines(data: bytes) -> list[tuple[str, str, bool]]:
    """The tree, line by line: the offset, the text, and whether something is wrong there."""
    root, why = _read(data)
    shown = [("", why, False)] if why else []
    for line in tree.lines(root):
        text = str(line)
        at = text.index("  ") + 2
        shown.append((text[:at], text[at:], line.kind == "skipped" or "DAMAGED" in line.notes))
    return shown


def _looks_like_a_packet(data: bytes) -> bool:
    """A version word, no headers or few, and the name of the first header or call."""
    if data[:2] not in (b"\0\0", b"\0\3") or len(data) < 8 or data[2]:
        return False
    return name_end(data, 6 if data[3] == 0 else 4, len(data)) > 0
