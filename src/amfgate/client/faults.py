"""What a client raises: the faults that servers answer with, in all their shapes, and answers that are no AMF.

Servers agree that a failed call is answered at `/onStatus`, and on little else.  AMFPHP 1 and Flash remoting name the
members `code` and `description`, AMFPHP 2 and Flex `faultCode` and `faultString`; a code may be a number; BlazeDS
answers even plain calls with an ErrorMessage; some send a bare text.  Each is read member by member under both names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from ..errors import AmfError, Fault
from ..log import printable
from ..looks import first_bytes
from ..types import undefined

# The members of a Fault, under each of the names that servers use; the first that says something counts.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "code": ("faultCode", "code"),
    "description": ("faultString", "description"),
    "details": ("faultDetail", "details", "detail"),
    "root_cause": ("rootCause", "rootcause"),
    "extended_data": ("extendedData",),
    "level": ("level",),
    "type": ("type",),
}
_TEXT_SHOWN: Final = 120  # characters of a page of text, enough for a title or a PHP error


class RemoteFault(Fault):
    """The fault that a server answered a call with.  It is an `amfgate.Fault`, and catching that catches this.

    code, description, details, root_cause, extended_data: as in Fault; `code` is "" where the server sent none.
    level, type: what Flash remoting's fault objects say besides, "error" and the class of the exception as a rule; ""
        where they are missing.
    target: what was called.
    value: the server's fault object as it was decoded, with members that have no place above.
    """

    def __init__(
        self,
        code: str,
        description: str = "",
        *,
        details: str = "",
        root_cause: Any = None,
        extended_data: Any = None,
        level: str = "",
        type: str = "",
        target: str = "",
        value: Any = None,
    ) -> None:
        super().__init__(code, description, details=details, root_cause=root_cause, extended_data=extended_data)
        self.level = level
        self.type = type
        self.target = target
        self.value = value

    def __str__(self) -> str:
        """In one line, whatever the server sent: `catalog.page: Shop.Closed: back at nine`."""
        said = ": ".join(printable(part) for part in (self.target, self.code, self.description) if part)
        return said or "a fault without a word"


def fault_of(value: Any, target: str) -> RemoteFault:
    """The fault that the answer `value` means, whatever shape the server gave it."""
    members = value if isinstance(value, Mapping) else _attributes(value)
    if members is None:
        return RemoteFault("", _text(value), target=target, value=value)
    found = {name: _first(members, wire) for name, wire in _NAMES.items()}
    return RemoteFault(
        _text(found["code"]),
        _text(found["description"]),
        details=_text(found["details"]),
        root_cause=found["root_cause"],
        extended_data=found["extended_data"],
        level=_text(found["level"]),
        type=_text(found["type"]),
        target=target,
        value=value,
    )


def _attributes(value: Any) -> dict[str, Any] | None:
    """The members of an instance of a registered class; None for a text, a number and the like."""
    members = getattr(value, "__dict__", None)
    if isinstance(members, dict):
        return members
    names = [name for wire in _NAMES.values() for name in wire if hasattr(value, name)]
    return {name: getattr(value, name) for name in names} or None


def _first(members: Mapping[Any, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        value = members.get(name)
        if value is not None and value is not undefined and value != "":
            return value
    return None


def _text(value: Any) -> str:
    if value is None or value is undefined:
        return ""
    return value if type(value) is str else str(value)


class Answer(NamedTuple):
    """What came back over HTTP.  `headers` has lower-case names; `body` is unpacked."""

    url: str
    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class HttpError(AmfError):
    """The answer is not the packet that it should be: an error page, a redirect, nothing, or one without our answer.

    url: that was called.  status, reason: 404, "Not Found".  content_type: "" if the server sent none.
    body: all bytes of the answer, unpacked.
    """

    def __init__(self, answer: Answer, why: str) -> None:
        super().__init__(answer, why)
        self.url = answer.url
        self.status = answer.status
        self.reason = answer.reason
        self.content_type = answer.headers.get("content-type", "")
        self.body = answer.body
        self.headers = answer.headers
        self.why = why

    def __str__(self) -> str:
        kind = printable(self.content_type, 100) or "no content type"
        parts = [f"{shown_url(self.url)} answered HTTP {self.status} {printable(self.reason, 60)}".rstrip()]
        location = self.headers.get("location")
        if location is not None and 300 <= self.status < 400:
            parts.append(f"a redirect to {printable(shown_url(location), 200)}, which is not followed: use that URL")
        parts.append(f"{kind}, {len(self.body)} bytes" + (f": {_beginning(self.body)}" if self.body else ""))
        return "; ".join([*parts, self.why])


def _beginning(body: bytes) -> str:
    """The first bytes in hex, and of text so much that one sees what it is about."""
    try:
        text = body[: 4 * _TEXT_SHOWN].decode("utf-8", "ignore").strip()
    except ValueError:
        text = ""
    if not text or not all(character.isprintable() or character in "\r\n\t" for character in text):
        return first_bytes(body)
    line = " ".join(text.split())
    return f"{body[:4].hex(' ').upper()} {line[:_TEXT_SHOWN]!r}{'...' if len(line) > _TEXT_SHOWN else ''}"


def shown_url(url: str) -> str:
    """A URL for people and logs: without user, password and query, where sessions have their keys."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        return "(a URL that cannot be read)"
    host = f"[{host}]" if ":" in host else host
    start = f"{parts.scheme}://{host}" if parts.scheme else ""
    return f"{start}{f':{port}' if port else ''}{parts.path.partition(';')[0]}{'?...' if parts.query else ''}"
