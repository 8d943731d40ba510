"""The content views, without mitmproxy: what they print, and what they claim.  tests/mitm has mitmproxy itself."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from amfgate.contrib.mitmproxy import LARGEST, AmfJsonView, AmfView

CALL = bytes.fromhex("0000 0000 0001 000c 636174616c6f672e70616765 0002 2f31 0000000e 0a 00000001 00 3ff0000000000000")
TREE = """\
000000  packet, version 0 (AMF0), 0 headers, 1 body, 42 bytes
000006    body 0: call of "catalog.page", to be answered to "/1"
00001c      value: strict array, 1 item  #0
000021        [0]: number 1"""


def test_a_packet_is_a_tree_with_offsets() -> None:
    assert AmfView().prettify(CALL) == TREE


def test_mitmproxy_11_gets_lines_of_styled_pieces() -> None:
    title, lines = AmfView()(CALL, content_type="application/x-amf", flow=None)
    assert title == "AMF"
    assert next(lines) == [("offset", "000000  "), ("text", "packet, version 0 (AMF0), 0 headers, 1 body, 42 bytes")]


def test_what_is_damaged_is_shown_as_far_as_it_goes_and_marked() -> None:
    _, lines = AmfView()(CALL[:-3])
    styles = {text.split()[0]: style for _, (style, text) in lines}
    assert styles == {"packet,": "text", "body": "error", "value:": "error", "SKIPPED": "error"}


def test_a_value_without_a_packet_says_how_it_was_recognised() -> None:
    assert AmfView().prettify(bytes.fromhex("09 05 01 06 05 6162 06 00")).splitlines()[0] == (
        "one value of AMF3, an array, to the end"
    )


@pytest.mark.parametrize("data, why", [(b"<html>", "looks like HTML"), (b"", "the input is empty")])
def test_what_is_no_amf_is_an_error(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        AmfView().prettify(data)
    with pytest.raises(ValueError, match=why):
        AmfView()(data)


def test_a_body_that_would_take_long_is_not_read() -> None:
    with pytest.raises(ValueError, match=r"^1048577 bytes take too long to show here; save the body"):
        AmfView().prettify(CALL + bytes(LARGEST + 1 - len(CALL)))


@pytest.mark.parametrize(
    "data, content_type, priority",
    [
        (CALL, "application/x-amf", 2.0),
        (CALL, "text/plain", 1.5),
        (CALL, None, 1.5),
        (b"<html>", "application/x-amf", 2.0),
        (b"", "application/x-amf", -1.0),
        (b"<html>", "text/html", -1.0),
        (bytes(64), "application/octet-stream", -1.0),
        (bytes.fromhex("0000 0001 0001 54 00 ffffffff 05 0000"), None, 1.5),
    ],
)
def test_what_the_view_is_sure_of(data: bytes, content_type: str | None, priority: float) -> None:
    assert AmfView().render_priority(data, SimpleNamespace(content_type=content_type)) == priority
    assert AmfView().render_priority(data, content_type=content_type, flow=None) == priority


def test_the_json_view_gives_back_every_byte_and_takes_edits() -> None:
    view = AmfJsonView()
    text = view.prettify(CALL)
    assert view.reencode(text) == CALL
    document = json.loads(text)
    document["bodies"][0]["target"] = "catalog.all"
    assert view.reencode(json.dumps(document)) == bytes.fromhex(
        "0000 0000 0001 000b 636174616c6f672e616c6c 0002 2f31 0000000e 0a 00000001 00 3ff0000000000000"
    )
    assert view.render_priority(CALL, SimpleNamespace(content_type="application/x-amf")) == -1.0


def test_views_can_be_sorted() -> None:
    assert [view.name for view in sorted([AmfJsonView(), AmfView()])] == ["AMF", "AMF-JSON"]
