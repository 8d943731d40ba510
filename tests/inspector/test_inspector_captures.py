"""HAR, WARC and raw HTTP: every exchange that is AMF, and no other."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from amfgate import Body, DecodeError, Packet, TypedObject
from amfgate.inspector import exchanges
from amfgate.inspector.captures import Recorded, kind_of

CALL = Packet(0, [], [Body("catalog.page", "/1", [0, 2])]).to_bytes()
REPLY = Packet(0, [], [Body("/1/onResult", "null", ["lens"])]).to_bytes()
OTHER = Packet(0, [], [Body("user.login", "/2", ["ada"])]).to_bytes()
FLEX = Packet(
    3,
    [],
    [
        Body(
            "null",
            "/3",
            [TypedObject("flex.messaging.messages.RemotingMessage", {"destination": "shop", "operation": "buy"})],
        )
    ],
).to_bytes()


def har(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def entry(sent: Any, received: Any, kind: str = "application/x-amf") -> dict[str, Any]:
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {"method": "POST", "url": "http://h/amf", "postData": {"mimeType": kind, **sent}},
        "response": {"status": 200, "content": {"mimeType": kind, **received}},
    }


def as_base64(data: bytes) -> dict[str, str]:
    return {"text": base64.b64encode(data).decode(), "encoding": "base64"}


def as_text(data: bytes) -> dict[str, str]:
    return {"text": data.decode("latin-1")}


def test_a_har_gives_request_and_reply() -> None:
    (found,) = exchanges(har(entry(as_text(CALL), as_base64(REPLY))))
    assert found == Recorded("http://h/amf", "POST", 200, "2026-01-01T00:00:00Z", CALL, REPLY)
    assert found.targets == ["catalog.page"]


def test_other_traffic_is_left_out() -> None:
    page = entry({"text": "a=1"}, {"text": "<html>"}, "text/html")
    assert list(exchanges(har(page))) == []


def test_amf_under_another_content_type_is_found() -> None:
    (found,) = exchanges(har(entry(as_base64(CALL), as_base64(REPLY), "text/plain")))
    assert found.request == CALL


def test_only_calls_of_a_target() -> None:
    recording = har(*(entry(as_base64(data), as_base64(REPLY)) for data in (CALL, OTHER, FLEX)))
    assert [found.request for found in exchanges(recording, target="user.login")] == [OTHER]
    assert [found.request for found in exchanges(recording, target="catalog.*")] == [CALL]
    assert [found.request for found in exchanges(recording, target="shop.buy")] == [FLEX]


def test_a_request_that_the_recorder_spoiled_is_told() -> None:
    spoiled = (CALL + b"\xff").decode("utf-8", "replace")
    (found,) = exchanges(har(entry({"text": spoiled}, as_base64(REPLY))))
    assert found.notes == (
        "the recorder took the request for UTF-8 text: 1 bytes above 7F are lost (shown as EF BF BD)",
    )


def test_a_reply_without_its_body() -> None:
    (found,) = exchanges(har(entry(as_base64(CALL), {})))
    assert (found.request, found.reply) == (CALL, None)


def test_progress_is_told() -> None:
    heard: list[tuple[int, int]] = []
    list(exchanges(har(*[entry(as_base64(CALL), {})] * 2), progress=lambda done, total: heard.append((done, total))))
    assert heard == [(1, 2), (2, 2)]


def warc(gzipped: bool, encoding: str = "") -> bytes:
    """A web archive, record by record: two calls and a page."""
    body = gzip.compress(REPLY, mtime=0) if encoding else REPLY
    coded = f"Content-Encoding: {encoding}\r\n" if encoding else ""
    amf = "Content-Type: application/x-amf\r\n"
    records = []
    for number, call in enumerate((CALL, OTHER)):
        answer = f"HTTP/1.1 200 OK\r\n{amf}{coded}\r\n".encode() + body
        records.append(record("response", "http://h/amf", f"<urn:a{number}>", answer))
        asked = f"POST /amf HTTP/1.1\r\n{amf}\r\n".encode() + call
        records.append(record("request", "http://h/amf", f"<urn:q{number}>", asked, f"<urn:a{number}>"))
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"
    records.append(record("response", "http://h/", "<urn:p>", page))
    return b"".join(gzip.compress(each, mtime=0) if gzipped else each for each in records)


def record(kind: str, url: str, name: str, content: bytes, concurrent: str = "") -> bytes:
    fields = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Date: 2026-01-01T00:00:00Z",
        f"WARC-Record-ID: {name}",
        f"Content-Type: application/http; msgtype={kind}",
        f"Content-Length: {len(content)}",
    ]
    if concurrent:
        fields.append(f"WARC-Concurrent-To: {concurrent}")
    return "\r\n".join([*fields, "", ""]).encode() + content + b"\r\n\r\n"


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_warc_pairs_requests_with_their_replies(gzipped: bool, encoding: str) -> None:
    data = warc(gzipped, encoding)
    assert kind_of(data) == "warc"
    found = list(exchanges(data))
    assert [(each.request, each.reply, each.status) for each in found] == [(CALL, REPLY, 200), (OTHER, REPLY, 200)]
    assert found[0].url == "http://h/amf"
    assert found[0].method == "POST"


def http(start: str, body: bytes, *fields: str) -> bytes:
    return "\r\n".join([start, "Host: h", *fields, "", ""]).encode() + body


def test_raw_http_of_both_directions() -> None:
    kind = "Content-Type: application/x-amf"
    chunked = b"5\r\n" + REPLY[:5] + b"\r\n" + f"{len(REPLY) - 5:x};x=y\r\n".encode() + REPLY[5:] + b"\r\n0\r\n\r\n"
    packed = gzip.compress(REPLY, mtime=0)
    stream = (
        http("POST /amf HTTP/1.1", CALL, kind, f"Content-Length: {len(CALL)}")
        + http("HTTP/1.1 200 OK", chunked, kind, "Transfer-Encoding: chunked")
        + http("GET / HTTP/1.1", b"")
        + http("HTTP/1.1 404 Not Found", b"no", "Content-Length: 2")
        + http("POST /amf HTTP/1.1", OTHER, kind, f"Content-Length: {len(OTHER)}")
        + http("HTTP/1.1 200 OK", packed, kind, "Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    )
    assert [(each.url, each.status, each.request, each.reply) for each in exchanges(stream)] == [
        ("http://h/amf", 200, CALL, REPLY),
        ("http://h/amf", 200, OTHER, REPLY),
    ]


def test_raw_http_of_one_direction() -> None:
    kind = "Content-Type: application/x-amf"
    stream = http("POST /amf HTTP/1.1", CALL, kind, f"Content-Length: {len(CALL)}")
    assert [(each.request, each.reply) for each in exchanges(stream)] == [(CALL, None)]
    stream = http("HTTP/1.1 200 OK", REPLY, kind, f"Content-Length: {len(REPLY)}")
    assert [(each.request, each.reply) for each in exchanges(stream)] == [(None, REPLY)]


@pytest.mark.parametrize("data", [b"", CALL, b"<html>", b'{"log": 1}', gzip.compress(CALL)])
def test_what_is_no_recording_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        list(exchanges(data))


def test_a_har_that_is_broken_is_refused() -> None:
    with pytest.raises(DecodeError, match="no HAR file"):
        list(exchanges(b'{"log": {"entries": [}'))


@pytest.mark.parametrize("text", ["[]", '{"log": [], "entries": 1}', '{"log": {"entries": 5}}'])
def test_a_har_without_entries_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="no HAR file|no HAR or WARC file"):
        list(exchanges(text.encode()))


def test_broken_entries_of_a_har_are_passed_over() -> None:
    broken = (
        b'1, {"request": [], "response": 5}, {"request": {"postData": "x"}, "response": {"status": "x", "content": 1}}'
    )
    assert list(exchanges(b'{"log": {"entries": [' + broken + b"]}}")) == []


@pytest.mark.parametrize("gzipped", [False, True])
def test_a_warc_that_is_cut_off_anywhere_gives_what_came_before(gzipped: bool) -> None:
    data, most = warc(gzipped, ""), 0
    for end in range(120, len(data), 7):
        found = []
        try:
            for exchange in exchanges(data[:end]):
                found.append(exchange)
        except DecodeError as error:
            assert str(error).startswith(("no WARC file: ", "the archive cannot be read on from its record "))
        whole = [each for each in found if (each.request, each.reply) in ((CALL, REPLY), (OTHER, REPLY))]
        assert len(whole) >= most
        most = len(whole)
    assert most == 2


def test_a_broken_warc_is_refused() -> None:
    with pytest.raises(DecodeError, match="no WARC file"):
        list(exchanges(b"WARC/nonsense\r\n\r\nxxxx"))
