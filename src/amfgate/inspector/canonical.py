"""A stable text of a packet: for archives that look requests up, and for diffs.

Two packets that say the same give the same text: the order of members is not kept, ids and times that are new in each
message are left out, and so is how the bytes were put (AMF0 or AMF3, lengths, references to strings).  The first
line has the version of the text; a change of what it holds will change it.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any, Final

from ..classes import ClassRegistry, alias_of
from ..codec import dumps, loads
from ..errors import AmfError
from ..packet import REPLY_ENDINGS, Packet
from ..types import Dictionary, EcmaArray, TypedObject, Vector, Xml, invalid_date, undefined

VERSION: Final = 1
EXACT: Final = 1 << 53

# What Flex makes anew for each message, client or session.
_MESSAGES: Final = ("flex.messaging.messages.", "flex.messaging.io.")
_SMALL: Final = ("DSA", "DSC", "DSK")
_MADE: Final = frozenset(("messageId", "correlationId", "clientId", "timestamp"))
_MADE_HEADERS: Final = frozenset(("DSId",))


def canonical(packet: Packet | bytes) -> str:
    """The text of a packet, or of its bytes; it ends with a line feed.

    Left out: the names by which answers are told apart ("/1"); of Flex messages messageId, correlationId, clientId,
    timestamp and the header DSId.  Members are in the order of their names, lists in their own.  A value that is
    met again, in itself or elsewhere, is `&1` where it stands first and `*1` afterwards.  Whole numbers are written
    alike whether they came as integer or double, and an associative array with the keys 0 to n-1 as a list.

    DecodeError for bytes that are no packet.  A body that could not be decoded is one line with its error.
    """
    if not isinstance(packet, Packet):
        packet = Packet.from_bytes(packet, classes=ClassRegistry())
    lines = [f"amfgate canonical {VERSION}", f"packet {0 if packet.version == 1 else packet.version}"]
    for header in sorted(packet.headers, key=lambda each: each.name):
        lines.append(f"header {_text(header.name)}{' must understand' if header.must_understand else ''}")
        lines += _lines(header.value)
    for body in packet.bodies:
        ending = next((end for end in REPLY_ENDINGS if body.target.endswith(end)), "")
        lines.append(f"answer {ending}" if ending else f"call {_text(body.target)}")
        try:
            value = body.value
        except AmfError as error:
            lines.append(f"  not decoded: {error}")
        else:
            lines += _lines(value)
    return "\n".join(lines) + "\n"


def canonical_value(value: Any) -> str:
    """The text of any other value: one that `loads` gave, or the data of a shared object."""
    return "\n".join([f"amfgate canonical {VERSION}", "value", *_lines(value)]) + "\n"


def _lines(value: Any) -> list[str]:
    """The lines of one value, two spaces in.  A stack instead of recursion: values nest deeper than Python does."""
    lines: list[str] = []
    seen: dict[int, int] = {}  # a container: its line
    labels: dict[int, int] = {}
    alive: list[Any] = []  # what was made here, so that no id is used twice
    waiting: list[tuple[str, Any, int, bool]] = [("", value, 1, False)]
    while waiting:
        prefix, value, depth, done = waiting.pop()
        start = f"{'  ' * depth}{prefix}"
        if done:
            lines.append(start)
            continue
        scalar = _scalar(value)
        if scalar is not None:
            lines.append(start + scalar)
            continue
        if id(value) in seen:
            line = seen[id(value)]
            if line not in labels:
                labels[line] = len(labels) + 1
            lines.append(f"{start}*{labels[line]}")
            continue
        seen[id(value)] = len(lines)
        alive.append(value)
        value = _without_class(value)
        alive.append(value)
        head, close, children = _opened(value)
        if not children:
            lines.append(start + head + close)
            continue
        lines.append(start + head)
        waiting.append((close, None, depth, True))
        waiting.extend((name, child, depth + 1, False) for name, child in reversed(children))
    for line, label in labels.items():
        lines[line] += f" &{label}"
    return lines


def _scalar(value: Any) -> str | None:
    """The text of a value that holds no others; None for one that does."""
    if value is None:
        return "null"
    if value is undefined:
        return "undefined"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Xml):
        return f"xml {_text(str(value))}"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bytes, bytearray)):
        return f"bytes {bytes(value).hex()}"
    if value is invalid_date:
        return "date invalid"
    if isinstance(value, dt.datetime):
        utc = value.astimezone(dt.UTC) if value.tzinfo else value
        return f"date {utc.replace(tzinfo=None).isoformat()}Z"
    return None


def _number(value: int | float) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return str(int(value))  # -0.0 too
    return repr(value)


def _text(text: str) -> str:
    return json.dumps(str(text))


def _without_class(value: Any) -> Any:
    """An instance of a registered class as its members; other values as they are."""
    if isinstance(value, (dict, list, tuple, Dictionary)) or hasattr(value, "source"):
        return value
    data = dumps(value, strings="all")
    try:
        return loads(data, classes=ClassRegistry())
    except AmfError:  # externalizable: only its class can tell what is in it, so its bytes have to do
        return TypedObject(alias_of(value) or type(value).__name__, {"bytes": data})


def _opened(value: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """(first line, last line, named children) of a container."""
    if isinstance(value, Vector):
        alias = f" {_text(value.alias)}" if value.alias else ""
        return f"vector {value.kind}{alias}{' fixed' if value.fixed else ''} [", "]", [("", item) for item in value]
    if isinstance(value, (list, tuple)):
        return "[", "]", [("", item) for item in value]
    if isinstance(value, Dictionary):
        return f"dictionary{' weak' if value.weak else ''} {{", "}", _entries(value)
    if isinstance(value, EcmaArray):
        if all(index in value for index in range(len(value))):
            return "[", "]", [("", value[index]) for index in range(len(value))]
        ordered = sorted(value.items(), key=lambda pair: (isinstance(pair[0], str), pair[0]))
        return "associative {", "}", [(f"{_text(str(key))}: ", item) for key, item in ordered]
    if not isinstance(value, dict):  # a Flex collection
        return f"object {_text(alias_of(value) or '')} (", ")", [("", value.source)]
    alias = value.alias if isinstance(value, TypedObject) else ""
    pairs = [(str(key), item) for key, item in value.items()]
    if alias in _SMALL or alias.startswith(_MESSAGES):
        pairs = [(key, _without_made(key, item)) for key, item in pairs if key not in _MADE]
    pairs.sort(key=lambda pair: pair[0])
    return f"object {_text(alias)} {{" if alias else "{", "}", [(f"{_text(key)}: ", item) for key, item in pairs]


def _without_made(name: str, value: Any) -> Any:
    """The headers of a Flex message without the id of the client."""
    if name != "headers" or type(value) is not dict:
        return value
    return {key: item for key, item in value.items() if key not in _MADE_HEADERS}


def _entries(value: Dictionary) -> list[tuple[str, Any]]:
    """Entries in the order of their keys' texts; those whose keys are containers last, as they came."""
    plain: list[tuple[str, Any]] = []
    others: list[tuple[str, Any]] = []
    for key, item in value.items():
        text = _scalar(key)
        if text is None:
            others += [("key ", key), ("value ", item)]
        else:
            plain.append((f"{text}: ", item))
    plain.sort(key=lambda pair: pair[0])
    return plain + others
