"""The content views in mitmproxy itself, of whichever version is installed: `make mitmproxy` runs these.

mitmproxy pins what it needs (h11, flask and others) and cannot live beside this project's other tools, so it has an
environment of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "mitmproxy.version", reason="make mitmproxy installs it in an environment of its own, and runs these"
)

from mitmproxy import contentviews, http, io
from mitmproxy.test import taddons, tflow

import amfgate.contrib.mitmproxy

CALL = bytes.fromhex("0000 0000 0001 000c 636174616c6f672e70616765 0002 2f31 0000000e 0a 00000001 00 3ff0000000000000")
TREE = """\
000000  packet, version 0 (AMF0), 0 headers, 1 body, 42 bytes
000006    body 0: call of "catalog.page", to be answered to "/1"
00001c      value: strict array, 1 item  #0
000021        [0]: number 1"""
REPLY = bytes.fromhex("0003 0000 0001 000b 2f312f6f6e526573756c74 0004 6e756c6c ffffffff 11 09 03 01 06 05 6f6b")

INTERACTIVE = hasattr(contentviews, "InteractiveContentview")  # from version 12 on


def flow(content_type: str = "application/x-amf") -> Any:
    made = tflow.tflow(resp=True)
    made.request = http.Request.make("POST", "http://example.org/amf", CALL, {"Content-Type": content_type})
    made.response = http.Response.make(200, REPLY, {"Content-Type": content_type, "Content-Encoding": "gzip"})
    assert made.response.raw_content[:2] == b"\x1f\x8b"  # mitmproxy has packed it
    return made


def shown(message: Any, of: Any, view: str = "auto") -> str:
    """The text that mitmproxy shows for a message."""
    if INTERACTIVE:
        return str(contentviews.prettify_message(message, of, view).text)
    _, lines, error = contentviews.get_message_content_view(view, message, of)
    assert error is None
    return "\n".join("".join(text for _, text in line) for line in lines)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> Iterator[None]:
    amfgate.contrib.mitmproxy.load()
    amfgate.contrib.mitmproxy.load()  # scripts are loaded again when they change
    with taddons.context():  # the options that mitmproxy's own code asks for
        yield


def test_a_request_is_shown_as_a_tree() -> None:
    one = flow()
    assert shown(one.request, one) == TREE
    assert shown(one.request, one, "amf") == TREE


def test_a_reply_is_unpacked_first() -> None:
    one = flow()
    assert [line[8:].strip() for line in shown(one.response, one).splitlines()] == [
        "packet, version 3 (the client reads AMF3), 0 headers, 1 body, 37 bytes",
        'body 0: answer "/1/onResult"  length 4294967295 declared, 8 there',
        "value (AMF3 from here): avm+",
        "array, 1 item  #0",
        '[0]: string "ok"',
    ]


def test_a_packet_of_another_content_type_is_recognised() -> None:
    one = flow("text/plain; charset=utf-8")
    assert shown(one.request, one) == TREE


@pytest.mark.parametrize(
    "body, content_type", [(b"<p>hi</p>", "text/html"), (b'{"a": 1}', "application/json"), (b"", "")]
)
def test_other_bodies_are_left_to_the_other_views(body: bytes, content_type: str) -> None:
    one = flow()
    one.request = http.Request.make("POST", "http://example.org/", body, {"Content-Type": content_type})
    with_ours = shown(one.request, one)
    assert with_ours == "" if not body else "0000" not in with_ours


def test_a_page_sent_as_amf_is_shown_as_it_is() -> None:
    one = flow()
    one.request.content = b"<p>hi</p>"
    if INTERACTIVE:
        assert shown(one.request, one) == "<p>hi</p>"
    else:
        _, lines, error = contentviews.get_message_content_view("auto", one.request, one)
        assert ["".join(text for _, text in line) for line in lines] == ["<p>hi</p>"]
        assert error is not None
        assert "ValueError: no AMF: it looks like XML or HTML" in error


@pytest.mark.skipif(not INTERACTIVE, reason="mitmproxy 12 brought views that can be edited")
def test_the_json_view_is_edited_and_sent_as_amf() -> None:
    one = flow()
    document = json.loads(shown(one.request, one, "amf-json"))
    document["bodies"][0]["target"] = "catalog.all"
    edited = contentviews.reencode_message(json.dumps(document), one.request, one, "amf-json")
    assert edited == bytes.fromhex(
        "0000 0000 0001 000b 636174616c6f672e616c6c 0002 2f31 0000000e 0a 00000001 00 3ff0000000000000"
    )


@pytest.mark.parametrize(
    "script", ["from amfgate.contrib.mitmproxy import load\n", None], ids=["one line", "the module"]
)
def test_mitmdump_prints_the_tree(tmp_path: Path, script: str | None) -> None:
    """A recorded flow is printed by mitmdump, which loads the view as users do."""
    with (tmp_path / "flows").open("wb") as file:
        io.FlowWriter(file).add(flow())
    if script is None:
        path = Path(amfgate.contrib.mitmproxy.__file__)
    else:
        path = tmp_path / "amf.py"
        path.write_text(script)
    mitmdump = Path(sys.executable).with_name("mitmdump")
    options = ["-n", "-r", "flows", "--set", "flow_detail=3", "--set", f"confdir={tmp_path}", "-s", str(path)]
    done = subprocess.run([mitmdump, *options], cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if line[:6] in ("000000", "000006", "00001c", "000021")][:4] == [
        line.strip() for line in TREE.splitlines()
    ], done.stdout + done.stderr
