"""The AMF in a recording of web traffic: HAR files of browsers and proxies, WARC files of web archives, raw HTTP.

for exchange in exchanges(Path("session.har").read_bytes(), target="catalog.*"):
    print(exchange.url, exchange.targets, exchange.request, exchange.reply)
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import DecodeError
from ..packet import REPLY_ENDINGS, Packet
from ..types import TypedObject

AMF_TYPES: Final = ("application/x-amf", "application/vnd.amf", "application/amf")
UNPACKED_MOST: Final = 64 * 1024 * 1024  # bytes of one body of raw HTTP after unpacking
_STARTS: Final = (b"POST ", b"GET ", b"PUT ", b"OPTIONS ", b"HEAD ", b"HTTP/1.", b"HTTP/2", b"HTTP/3")
Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request and its reply, as far as the recording has them: None where it has none.

    when: the time as the recording says it; notes: what is wrong with what it holds.
    """

    url: str
    method: str = ""
    status: int = 0
    when: str = ""
    request: bytes | None = None
    reply: bytes | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def targets(self) -> list[str]:
        """What is called: the targets of the bodies; of a Flex call `destination.operation`."""
        for data in (self.request, self.reply):
            try:
                packet = Packet.from_bytes(data) if data else None
            except DecodeError:
                continue
            if packet is not None:
                return [_target(body) for body in packet.bodies]
        return []


def _target(body: Any) -> str:
    if body.target.endswith(REPLY_ENDINGS):
        return str(body.target)
    try:
        value = body.value
    except DecodeError:
        return str(body.target)
    message = value[0] if isinstance(value, list) and len(value) == 1 else None
    if isinstance(message, TypedObject) and "operation" in message:
        owner = message.get("source") or message.get("destination") or body.target
        return f"{owner}.{message['operation']}"
    return str(body.target)


def kind_of(data: bytes) -> str:
    """ "har", "warc" or "http"; "" for what is no recording."""
    if data.startswith(_STARTS):
        return "http"
    if data.startswith(b"WARC/"):
        return "warc"
    if data[:2] == b"\x1f\x8b":
        try:
            return "warc" if zlib.decompressobj(31).decompress(data, 8).startswith(b"WARC/") else ""
        except zlib.error:
            return ""
    head = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return "har" if head.startswith(b"{") and b'"log"' in data[:4096] and b'"entries"' in data else ""


def exchanges(data: bytes, *, target: str = "", progress: Progress = None) -> Iterator[Recorded]:
    """The exchanges of a recording that are AMF, in its order.

    target: only those with a call of that name, `*` and `?` as in a shell.
    progress: called with how much is done and how much there is.

    DecodeError for what is no recording, and behind the last exchange of a WARC file that breaks off; ImportError for a
    WARC file without `warcio` installed.
    """
    readers = {"har": _har, "warc": _warc, "http": _http}
    kind = kind_of(data)
    if not kind:
        raise DecodeError("no HAR or WARC file and no HTTP message")
    for exchange in readers[kind](data, progress):
        if not target or any(fnmatch.fnmatchcase(each, target) for each in exchange.targets):
            yield exchange


def _is_amf(content_type: Any, data: bytes | None) -> bool:
    """By its content type, or because it reads as a packet: clients in JavaScript may call it text."""
    if not data:
        return False
    if str(content_type).partition(";")[0].strip().lower() in AMF_TYPES:
        return True
    if data[:1] != b"\x00":
        return False
    try:
        return bool(Packet.from_bytes(data).bodies)
    except DecodeError:
        return False


# --- HAR -----------------------------------------------------------------------------------------------------


def _har(data: bytes, progress: Progress) -> Iterator[Recorded]:
    try:
        entries = _object(_object(json.loads(data)).get("log")).get("entries")
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"no HAR file: {error}") from None
    if not isinstance(entries, list):
        raise DecodeError('no HAR file: there is no list "entries" in an object "log"')
    for index, entry in enumerate(map(_object, entries)):
        if progress is not None:
            progress(index + 1, len(entries))
        request, response = _object(entry.get("request")), _object(entry.get("response"))
        posted, content = _object(request.get("postData")), _object(response.get("content"))
        notes: list[str] = []
        sent = _har_body(posted, "the request", notes)
        received = _har_body(content, "the reply", notes)
        if not (_is_amf(posted.get("mimeType"), sent) or _is_amf(content.get("mimeType"), received)):
            continue
        yield Recorded(
            str(request.get("url", "")),
            str(request.get("method", "")),
            status if isinstance(status := response.get("status"), int) else 0,
            str(entry.get("startedDateTime", "")),
            sent,
            received,
            tuple(notes),
        )


def _object(value: Any) -> dict[str, Any]:
    """An object of a HAR file; what a broken one has in its place is as good as nothing."""
    return value if isinstance(value, dict) else {}


def _har_body(content: dict[str, Any], which: str, notes: list[str]) -> bytes | None:
    """Bytes from what a HAR file has: base64, or text with a character for each byte."""
    text = content.get("text")
    if text is None:
        return None
    if (content.get("encoding") or content.get("_encoding")) == "base64":
        try:
            return base64.b64decode(text)
        except (binascii.Error, ValueError):
            notes.append(f"{which} says that it is base64, and is not")
            return None
    try:
        return str(text).encode("latin-1")
    except UnicodeEncodeError:
        lost = str(text).count("\ufffd")
        notes.append(
            f"the recorder took {which} for UTF-8 text"
            + (f": {lost} bytes above 7F are lost (shown as EF BF BD)" if lost else "")
        )
        return str(text).encode("utf-8", "surrogatepass")


# --- WARC ----------------------------------------------------------------------------------------------------


def _warc(data: bytes, progress: Progress) -> Iterator[Recorded]:
    """Requests and responses of one address belong together by WARC-Concurrent-To, else by their order."""
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise ImportError("WARC files need warcio: pip install 'amfgate[cli]'") from error
    stream = io.BytesIO(data)
    waiting: list[tuple[str, str, str, Recorded, bool]] = []  # record id, concurrent to, type, half of one, is it AMF
    read, broken = 0, ""
    try:
        for record in ArchiveIterator(stream):
            read += 1
            if progress is not None:
                progress(stream.tell(), len(data))
            if record.rec_type not in ("request", "response") or record.http_headers is None:
                continue
            half, amf = _warc_half(record)
            mine = record.rec_headers.get_header("WARC-Record-ID") or ""
            other = record.rec_headers.get_header("WARC-Concurrent-To") or ""
            mate = next((each for each in waiting if _mates(each, mine, other, record.rec_type, half.url)), None)
            if mate is None:
                waiting.append((mine, other, record.rec_type, half, amf))
                continue
            waiting.remove(mate)
            if amf or mate[4]:
                yield _together(mate[3], half) if mate[2] == "request" else _together(half, mate[3])
    except Exception as error:  # warcio raises AttributeError and others where an archive is cut off
        why = error if isinstance(error, ArchiveLoadFailed) else "it breaks off in the middle of a record's head"
        if not read:
            raise DecodeError(f"no WARC file: {why}") from error
        broken = f"the archive cannot be read on from its record {read + 1}: {why}"
    for _, _, _, half, amf in waiting:
        if amf:
            yield half
    if broken:
        raise DecodeError(broken)


def _mates(each: tuple[str, str, str, Recorded, bool], mine: str, other: str, kind: str, url: str) -> bool:
    if each[2] == kind or each[3].url != url:
        return False
    named = each[1] or other
    return not named or each[1] == mine or other == each[0]


def _warc_half(record: Any) -> tuple[Recorded, bool]:
    notes: list[str] = []
    try:
        body = record.content_stream().read()
    except Exception as error:  # whatever the unpacking of a damaged record raises
        notes.append(f"the body cannot be unpacked: {error}")
        body = record.raw_stream.read()
    missing = getattr(record.raw_stream, "limit", 0)  # what is left to read of the record where nothing comes any more
    if missing:
        notes.append(f"the archive ends {missing} bytes before the end of this record")
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    when = record.rec_headers.get_header("WARC-Date") or ""
    amf = _is_amf(record.http_headers.get_header("Content-Type"), body)
    if record.rec_type == "request":
        method = record.http_headers.protocol
        return Recorded(url, method, 0, when, body or None, None, tuple(notes)), amf
    status = record.http_headers.get_statuscode()
    return Recorded(url, "", int(status) if status.isdecimal() else 0, when, None, body or None, tuple(notes)), amf


def _together(request: Recorded, response: Recorded) -> Recorded:
    notes = request.notes + response.notes
    when = request.when or response.when
    return Recorded(request.url, request.method, response.status, when, request.request, response.reply, notes)


# --- raw HTTP ------------------------------------------------------------------------------------------------


def _http(data: bytes, progress: Progress) -> Iterator[Recorded]:
    """A TCP stream as Wireshark saves it: requests, replies, or both in turn.

    Without both in one file a request has no reply; several requests in a row get their replies in their order.
    """
    total, open_requests = len(data), []
    for url, method, status, body, kind, at in _messages(data):
        if progress is not None:
            progress(at, total)
        if method:
            open_requests.append((url, method, body, kind))
            continue
        if not open_requests:
            if _is_amf(kind, body):
                yield Recorded("", "", status, "", None, body)
            continue
        url, method, sent, sent_kind = open_requests.pop(0)
        if _is_amf(sent_kind, sent) or _is_amf(kind, body):
            yield Recorded(url, method, status, "", sent, body)
    for url, method, sent, sent_kind in open_requests:
        if _is_amf(sent_kind, sent):
            yield Recorded(url, method, 0, "", sent, None)


def _messages(data: bytes) -> Iterator[tuple[str, str, int, bytes | None, str, int]]:
    """(url, method, status, body, content type, offset behind it) of each HTTP message."""
    at = 0
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        if end < 0:
            return
        first, *fields = data[at:end].decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)}
        body, at = _http_body(data, end + 4, headers)
        words = first.split(" ", 2)
        status = int(words[1]) if first.startswith("HTTP/") and len(words) > 1 and words[1].isdecimal() else 0
        if status == 100:
            continue
        url, method = ("", "") if first.startswith("HTTP/") else (words[1] if len(words) > 1 else "", words[0])
        if url.startswith("/"):
            url = f"http://{headers.get('host', '')}{url}"
        yield url, method, status, body, headers.get("content-type", ""), at


def _http_body(data: bytes, at: int, headers: dict[str, str]) -> tuple[bytes | None, int]:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = bytearray()
        while True:
            line = data.find(b"\r\n", at)
            try:
                size = int(data[at:line].partition(b";")[0], 16) if line >= 0 else 0
            except ValueError:
                size = 0
            if size <= 0:
                end = data.find(b"\r\n\r\n", at)
                return _unpacked(bytes(body), headers), len(data) if end < 0 else end + 4
            body += data[line + 2 : line + 2 + size]
            at = line + 2 + size + 2
    length = headers.get("content-length", "")
    size = int(length) if length.isdecimal() else 0
    return _unpacked(data[at : at + size], headers), at + size


def _unpacked(body: bytes, headers: dict[str, str]) -> bytes | None:
    coding = headers.get("content-encoding", "").lower()
    if coding not in ("gzip", "x-gzip", "deflate") or not body:
        return body or None
    try:
        return zlib.decompressobj(47).decompress(body, UNPACKED_MOST)
    except zlib.error:
        return body
