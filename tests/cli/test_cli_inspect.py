"""`amfgate inspect` and `amfgate from-json`."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

import amfgate
from amfgate import Body, Packet

ROOT = Path(__file__).resolve().parents[2]
HAR = ROOT / "examples/inspect/shop.har"
OBJECT = "030003666f6f020003626172000009"


@pytest.mark.parametrize(
    "words",
    [
        [OBJECT],
        ["03", "0003", "666f6f", "020003626172", "000009"],
        ["03 00 03 66 6f 6f 02 00 03 62 61 72 00 00 09"],
        ["0x03,0x00,0x03,0x66,0x6f,0x6f,0x02,0x00,0x03,0x62,0x61,0x72,0x00,0x00,0x09"],
        [r"\x03\x00\x03\x66\x6f\x6f\x02\x00\x03\x62\x61\x72\x00\x00\x09"],
    ],
)
def test_hex_in_every_spelling(amfgate_command: Any, words: list[str]) -> None:
    done = amfgate_command("inspect", *words)
    assert (done.status, done.err) == (0, "")
    assert done.lines == [
        "hex: AMF0: one value of AMF0, an object, to the end",
        "000000  AMF0, 1 value",
        "000000    [0]: object, 1 member  #0",
        '000006      foo: string "bar"',
    ]


def test_base64(amfgate_command: Any) -> None:
    text = base64.b64encode(bytes.fromhex(OBJECT)).decode()
    assert amfgate_command("inspect", text).lines[0] == "base64: AMF0: one value of AMF0, an object, to the end"
    done = amfgate_command("inspect", "-", stdin=f"{text[:12]}\r\n{text[12:]}\n".encode())
    assert done.lines[0] == "standard input: AMF0: one value of AMF0, an object, to the end"
    assert done.err == "amfgate: standard input is text; read as the 15 bytes that its base64 says\n"


@pytest.mark.parametrize(
    "text",
    [
        "03 00 03 66 6f 6f 02 00\n03 62 61 72 00 00 09\n",
        "00000000: 0300 0366 6f6f 0200 0362 6172 0000 09    ...foo...bar...\n",
        "00000000  03 00 03 66 6f 6f 02 00  03 62 61 72 00 00 09     |...foo...bar...|\n0000000f\n",
        "0000   03 00 03 66 6f 6f 02 00   ...foo..\n0008   03 62 61 72 00 00 09   .bar...\n",
    ],
    ids=["digits", "xxd", "hexdump -C", "Wireshark"],
)
def test_a_text_file_with_a_dump(amfgate_command: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(text)
    done = amfgate_command("inspect", path)
    assert done.lines[-1] == '000006      foo: string "bar"'
    assert done.err == f"amfgate: {path} is text; read as the 15 bytes that its hex digits say\n"


def test_standard_input(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "-", stdin=bytes.fromhex(OBJECT))
    assert done.lines[0] == "standard input: AMF0: one value of AMF0, an object, to the end"


def test_neither_a_file_nor_hex(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "nofile.x")
    assert done.status == 2
    assert "there is no file 'nofile.x', and it is no hex digits" in done.err


def test_several_files(amfgate_command: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x04\x01")
    (tmp_path / "b").write_bytes(b"\x04\x02")
    assert amfgate_command("inspect", tmp_path / "a", tmp_path / "b").lines == [
        f"== {tmp_path}/a",
        f"{tmp_path}/a: AMF3: one value of AMF3, an integer, to the end",
        "000000  AMF3, 1 value",
        "000000    [0]: integer 1",
        f"== {tmp_path}/b",
        f"{tmp_path}/b: AMF3: one value of AMF3, an integer, to the end",
        "000000  AMF3, 1 value",
        "000000    [0]: integer 2",
    ]


def test_a_file_that_is_no_amf_does_not_keep_from_the_next(amfgate_command: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"<html>")
    (tmp_path / "b").write_bytes(b"\x04\x02")
    done = amfgate_command("inspect", tmp_path / "a", tmp_path / "b")
    assert (done.status, done.err) == (1, f"amfgate: {tmp_path}/a: no AMF: it looks like HTML\n")
    assert done.lines[-1] == "000000    [0]: integer 2"


def test_hex_too_long_for_the_name_of_a_file(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "0c8205" + "61" * 130, "--json")
    assert done.status == 0
    assert json.loads(done.out)["values"] == [{"$bytes": "61" * 130}]


def test_damage_is_shown_and_the_status_is_one(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", OBJECT[:-2])
    assert done.status == 1
    assert done.lines[0] == "hex: AMF0: it reads as AMF0 up to offset 14, and is damaged there"
    assert done.lines[-1] == (
        "damaged: the input ends here, object not closed, at offset 14; skipped 2 bytes from offset 12 (0xc)"
    )


def test_strict(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "--strict", OBJECT[:-2])
    assert (done.status, done.out) == (1, "")
    assert done.err == "amfgate: the input ends here, object not closed, at offset 14\n"


def test_insisting(amfgate_command: Any) -> None:
    assert amfgate_command("inspect", "--amf3", "0101").lines[1:] == [
        "000000  AMF3, 2 values",
        "000000    [0]: null",
        "000001    [1]: null",
    ]
    assert amfgate_command("inspect", "--amf0", "0101").lines[-1] == "000000    [0]: true"


def test_an_offset(amfgate_command: Any) -> None:
    assert amfgate_command("inspect", "--offset", 2, "--amf3", "aabb 0401").lines[-1] == "000002    [0]: integer 1"


def test_unpacking_behind_a_frame(amfgate_command: Any) -> None:
    packed = b"\x00\x00\x00\x0b\x00\x07" + zlib.compress(b"\x04\x01")
    done = amfgate_command("inspect", "--inflate", "--offset", 6, packed.hex())
    assert done.lines[-1] == "000000    [0]: integer 1"
    done = amfgate_command("inspect", packed[6:].hex())
    assert done.err == (
        "amfgate: hex: no AMF: it looks like zlib: decompress it first (zlib.decompress); --inflate does that here\n"
    )
    done = amfgate_command("inspect", "--inflate", "0401")
    assert (done.status, done.err.startswith("amfgate: hex: no zlib or gzip: ")) == (1, True)


def test_hex_view(amfgate_command: Any) -> None:
    assert amfgate_command("inspect", "--hex", "0401").lines == [
        "000000  04                                                 [0]: integer",
        "000001  01                                                 integer 1",
    ]


def test_json_there_and_back(amfgate_command: Any, tmp_path: Path) -> None:
    done = amfgate_command("inspect", "--json", OBJECT)
    assert json.loads(done.out) == {"amfgate": 1, "kind": "amf0", "values": [{"foo": "bar"}]}
    assert amfgate_command("from-json", "-", stdin=done.data).data == bytes.fromhex(OBJECT)
    assert amfgate_command("from-json", "-", "--hex", stdin=b'{"kind": "amf3", "values": [1]}').out == "04 01\n"
    file = tmp_path / "out"
    assert amfgate_command("from-json", "-", "-o", file, stdin=done.data).data == b""
    assert file.read_bytes() == bytes.fromhex(OBJECT)


def test_json_of_damage_gives_the_same_bytes(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", "--json", OBJECT[:-2])
    assert done.status == 1
    assert done.err.startswith("damaged: ")
    assert amfgate_command("from-json", "-", stdin=done.data).data == bytes.fromhex(OBJECT[:-2])


@pytest.mark.parametrize("text", [b"{", b"[1]", b'{"kind": "recording"}'])
def test_from_json_refuses_other_json(amfgate_command: Any, text: bytes) -> None:
    done = amfgate_command("from-json", "-", stdin=text)
    assert (done.status, done.data) == (1, b"")
    assert done.err.startswith("amfgate: this ")


def test_canonical(amfgate_command: Any) -> None:
    call = Packet(0, [], [Body("a.b", "/1", [])]).to_bytes()
    assert amfgate_command("inspect", "--canonical", call.hex()).out == (
        'amfgate canonical 1\npacket 0\ncall "a.b"\n  []\n'
    )
    assert amfgate_command("inspect", "--canonical", "0401").out == "amfgate canonical 1\nvalue\n  1\n"
    so = amfgate.sol.dumps(amfgate.sol.SharedObject("s", {"b": 1, "a": 2}))
    assert amfgate_command("inspect", "--canonical", so.hex()).lines[2:] == ["  {", '    "a": 2', '    "b": 1', "  }"]


def test_a_har_is_shown_call_by_call(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", HAR, "--target", "catalog.find")
    assert done.status == 0
    assert done.lines[0] == "== POST https://shop.example/amf -> 200  (2026-03-01T10:00:02.500Z)"
    assert '000006    body 0: call of "catalog.find", to be answered to "/2"' in done.lines
    assert '000024        code: string "Shop.Unknown"' in done.lines
    assert "catalog.page" not in done.out


def test_request_and_reply_side_by_side(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", HAR, "--target", "catalog.find", "--width", 131)
    assert done.lines[3] == (
        '000006    body 0: call of "catalog.find", to be answered to "/2" | 000006    body 0: answer "/2/onStatus"'
    )


def test_a_har_as_json(amfgate_command: Any) -> None:
    document = json.loads(amfgate_command("inspect", HAR, "--json").out)
    first, second = document["exchanges"]
    assert first["request"]["bodies"] == [{"target": "catalog.page", "response": "/1", "value": [0, 2]}]
    assert second["reply"]["bodies"][0]["value"]["code"] == "Shop.Unknown"


def test_the_packets_of_a_har_are_saved(amfgate_command: Any, tmp_path: Path) -> None:
    amfgate_command("inspect", HAR, "--save", tmp_path / "calls")
    assert sorted(path.name for path in (tmp_path / "calls").iterdir()) == [
        "0001-catalog.page-reply.amf",
        "0001-catalog.page-request.amf",
        "0002-catalog.find-reply.amf",
        "0002-catalog.find-request.amf",
    ]
    call = Packet.from_bytes((tmp_path / "calls/0001-catalog.page-request.amf").read_bytes())
    assert call.bodies == [Body("catalog.page", "/1", [0, 2])]


def test_a_target_that_is_not_there(amfgate_command: Any) -> None:
    done = amfgate_command("inspect", HAR, "--target", "nobody.*")
    assert (done.status, done.err) == (1, f"amfgate: {HAR}: no AMF in this recording with a call of nobody.*\n")


def test_the_example_files_are_what_their_maker_makes(tmp_path: Path) -> None:
    import subprocess
    import sys

    subprocess.run([sys.executable, ROOT / "examples/inspect/make.py", tmp_path], check=True, timeout=60)
    for name in ("shop.har", "slot1.sol"):
        assert (tmp_path / name).read_bytes() == (ROOT / "examples/inspect" / name).read_bytes()
