"""Local shared objects: reading, writing, and saving without loss."""

from __future__ import annotations

import os
import random
import stat
import sys

import pytest

import amfgate
from amfgate import AmfError, DecodeError, EncodeError, TypedObject, Vector, sol
from amfgate.flex import ArrayCollection, ObjectProxy
from amfgate.sol import SharedObject


@pytest.fixture(autouse=True)
def twin(codec, monkeypatch):
    """Each test runs with each twin under the shared object."""
    monkeypatch.setattr("amfgate.sol.Decoder", codec.Decoder)
    monkeypatch.setattr("amfgate.sol.Encoder", codec.Encoder)


def text(string):
    data = string.encode()
    return len(data).to_bytes(2, "big") + data


def wire(*parts):
    """Bytes as they are, str as hex digits."""
    return b"".join(bytes.fromhex(part) if isinstance(part, str) else part for part in parts)


def file(version, *elements, name="save"):
    rest = wire("5443534F 0004 0000 0000", text(name), "000000", f"{version:02X}", *elements)
    return wire("00BF", len(rest).to_bytes(4, "big"), rest)


AMF0 = file(
    0,
    text("volume"), "00 3FE0000000000000 00",
    text("name"), "02", text("Ada"), "00",
    text("seen"), "08 00000002", text("0"), "0101", text("1"), "0100", "0000 09 00",
    text("last"), "05 00",
)  # fmt: skip

AMF3 = file(
    3,
    "0D", b"coins!", "04 07 00",
    "09", b"bags", "09 05 01 0A 0B 01 09", b"kind", "06 07", b"big", "01 0A 01 06 06 04 01 00",
    "04 0A 02 00",
)  # fmt: skip


# --- reading --------------------------------------------------------------------------------------------------------


def test_an_amf0_file_is_read_in_its_order():
    so = sol.loads(AMF0)
    assert (so.name, so.version) == ("save", 0)
    assert list(so.data.items()) == [
        ("volume", 0.5),
        ("name", "Ada"),
        ("seen", amfgate.EcmaArray({0: True, 1: False}, count=2)),
        ("last", None),
    ]


def test_an_amf3_file_has_one_string_and_object_table():
    so = sol.loads(AMF3)
    assert so.version == 3
    assert list(so.data) == ["coins!", "bags", "kind"]
    first, second = so.data["bags"]
    assert first == {"kind": "big"}
    assert second == {"big": "kind"}
    assert so.data["kind"] is first


def test_the_object_itself_is_slot_0_in_amf0():
    so = sol.loads(file(0, text("a"), "03", text("up"), "07 0000", text("me"), "07 0001 0000 09 00"))
    assert so.data["a"]["up"] is so.data
    assert so.data["a"]["me"] is so.data["a"]


def test_a_reference_of_amf0_reaches_an_earlier_member():
    so = sol.loads(file(0, text("a"), "0A 00000000 00", text("b"), "07 0001 00"))
    assert so.data["b"] is so.data["a"]


def test_a_member_may_be_named_nothing():
    data = file(0, "0000 05 00")
    assert sol.loads(data).data == {"": None}
    assert sol.dumps(sol.loads(data)) == data


def test_an_empty_file_is_read():
    for version in (0, 3):
        data = file(version)
        so = sol.loads(data)
        assert (so.data, so.version) == ({}, version)
        assert sol.dumps(so) == data


def test_vectors_and_collections_of_a_save_are_read():
    data = file(
        3,
        "03", b"v", "10 05 00 01 04 01 06 00 00",
        "03", b"c", "0A 07 43", b"flex.messaging.io.ArrayCollection",
        "09 03 01 0A 0F 3B", b"flex.messaging.io.ObjectProxy", "0A 0B 01 03 78 03 01 00",
    )  # fmt: skip
    so = sol.loads(data)
    assert so.data["v"] == Vector("object", [1, "v"])
    assert so.data["c"] == ArrayCollection([ObjectProxy({"x": True})])
    assert sol.dumps(so) == data


# --- what is no shared object ---------------------------------------------------------------------------------------

EMPTY = file(0)


@pytest.mark.parametrize(
    ("data", "what", "offset"),
    [
        (b"", "has to begin with 00 BF, not with nothing", 0),
        (b"<html>", "looks like HTML", 0),
        (b"\x00\x03" + EMPTY[2:], "not with 00 03", 0),
        (EMPTY[:12], "ends in its head", 12),
        (EMPTY[:5] + b"\x13" + EMPTY[6:], "says that 19 bytes follow, but there are 20", 2),
        (EMPTY + b"\x00", "says that 20 bytes follow, but there are 21", 2),
        (EMPTY[:6] + b"TCSX" + EMPTY[10:], r"the signature is TCSO \(54 43 53 4F\), not 54 43 53 58 \(TCSX\)", 6),
        (EMPTY[:11] + b"\x05" + EMPTY[12:], "00 04 00 00 00 00 was expected, not 00 05", 10),
        (EMPTY[:16] + b"\x01\x00" + EMPTY[18:], "text of 256 bytes runs past the end", 16),
        (EMPTY[:23] + b"\x01" + EMPTY[24:], "three bytes 00 were expected behind the name", 22),
        (file(1), "values in AMF1, which is unknown", 25),
        (file(0, text("a"), "05 01"), "00 was expected behind the value of 'a', not 01", 30),
        (file(0, text("a"), "05"), "00 was expected behind the value of 'a', not the end", 30),
        (file(0, text("a")), "ends before the value of 'a'", 29),
        (file(3, "03 61 01 01"), "00 was expected behind the value of 'a', not 01", 29),
        (file(3, "03 61"), "ends before the value of 'a'", 28),
        (file(0, "00"), "runs past the end", 26),
        (file(0, text("a"), "04 00"), "04", 29),
        (file(0, text("a"), "07 0001 00"), "reference", 29),
        (file(3, "03 61 0A 00 00"), "reference", 28),
    ],
)
def test_a_malformed_file_is_an_error_with_an_offset(data, what, offset):
    with pytest.raises(DecodeError, match=what) as caught:
        sol.loads(data)
    assert caught.value.offset == offset


def test_a_file_that_ends_in_its_head_is_an_error():
    for size in range(len(EMPTY)):
        with pytest.raises(DecodeError):
            sol.loads(wire(EMPTY[:2], max(size - 6, 0).to_bytes(4, "big"), EMPTY[6:size])[:size])


@pytest.mark.parametrize("data", [AMF0, AMF3], ids=["amf0", "amf3"])
def test_a_file_cut_anywhere_is_an_error(data):
    whole = list(sol.loads(data).data)
    for size in range(len(data)):
        with pytest.raises(DecodeError):  # the length in the head is the first to tell
            sol.loads(data[:size])
        if size < 26:
            continue
        honest = wire(data[:2], (size - 6).to_bytes(4, "big"), data[6:size])
        try:
            assert list(sol.loads(honest).data) in [whole[:n] for n in range(len(whole))]  # cut between elements
        except DecodeError as error:
            assert error.offset is not None and error.offset <= size


@pytest.mark.parametrize("data", [AMF0, AMF3], ids=["amf0", "amf3"])
def test_a_file_with_a_byte_changed_is_read_or_refused(data):
    rng = random.Random(7)
    for at in range(len(data)):
        for value in (0, 0xFF, rng.randrange(256)):
            changed = bytearray(data)
            changed[at] = value
            try:
                sol.loads(bytes(changed))
            except AmfError:
                pass


def test_str_is_refused():
    with pytest.raises(TypeError, match="reads a file"):
        sol.loads("save.sol")


# --- writing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [AMF0, AMF3], ids=["amf0", "amf3"])
def test_what_was_not_changed_is_written_as_it_was(data):
    assert sol.dumps(sol.loads(data)) == data


def test_only_the_edited_bytes_change():
    so = sol.loads(AMF3)
    so.data["coins!"] = 9
    at = AMF3.index(bytes.fromhex("04 07 00"))
    assert sol.dumps(so) == AMF3[: at + 1] + b"\x09" + AMF3[at + 2 :]


def test_a_longer_value_changes_the_length_field():
    so = sol.loads(AMF0)
    so.data["name"] = "Grace"
    expected = AMF0.replace(text("Ada"), text("Grace"))
    assert sol.dumps(so) == expected[:2] + (len(expected) - 6).to_bytes(4, "big") + expected[6:]


def test_a_new_member_comes_last():
    so = sol.loads(file(0, text("b"), "05 00"))
    so.data["a"] = True
    assert sol.dumps(so) == file(0, text("b"), "05 00", text("a"), "0101 00")


def test_references_within_amf0_are_written_back():
    for data in (
        file(0, text("a"), "0A 00000000 00", text("b"), "07 0001 00"),
        file(0, text("a"), "03", text("up"), "07 0000", text("me"), "07 0001 0000 09 00", text("top"), "07 0000 00"),
    ):
        so = sol.loads(data)
        so._source = b""
        assert sol.dumps(so) == data


def test_a_save_made_here_follows_flash():
    so = SharedObject("game/slot", {"hp": 10, "bag": ["a", "a"]}, version=3)
    expected = wire(
        "00BF 00000031 5443534F 0004 0000 0000 0009", b"game/slot", "000000 03",
        "05", b"hp", "04 0A 00",
        "07", b"bag", "09 05 01 06 03", b"a", "06 04 00",
    )  # fmt: skip
    assert sol.dumps(so) == expected[:2] + (len(expected) - 6).to_bytes(4, "big") + expected[6:]


def test_what_flash_would_not_write_so_is_kept_while_nothing_changes():
    odd = file(
        0,
        text("when"), "0B 4270000000000000 FFC4 00",  # a zone of -60 minutes, which is written as 0
        text("n"), "01 7F 00",  # a boolean of 7F
    )  # fmt: skip
    so = sol.loads(odd)
    assert sol.dumps(so) == odd
    so.data["n"] = False
    assert sol.dumps(so) == file(0, text("when"), "0B 4270000000000000 0000 00", text("n"), "0100 00")


def test_registered_classes_travel():
    classes = amfgate.ClassRegistry()

    class Hero:
        def __init__(self, name):
            self.name = name

    classes.register(Hero, "game.Hero")
    data = file(3, "03 68 0A 13 13", b"game.Hero", "09", b"name", "06 07", b"Ada", "00")
    so = sol.loads(data, classes=classes)
    assert type(so.data["h"]) is Hero and so.data["h"].name == "Ada"
    so._source = b""
    assert sol.dumps(so, classes=classes) == wire(data[:28], "0A", data[29:])
    assert sol.loads(data).data["h"] == TypedObject("game.Hero", {"name": "Ada"})


def test_a_value_that_cannot_be_written_is_named():
    for version in (0, 3):
        with pytest.raises(EncodeError) as caught:
            sol.dumps(SharedObject("s", {"a": 1, "bag": [object()]}, version))
        assert caught.value.path == "$.bag[0]"


def test_names_have_to_be_text_that_fits():
    with pytest.raises(EncodeError, match="65536 bytes"):
        sol.dumps(SharedObject("x" * 65536))
    with pytest.raises(EncodeError, match="is text, not 5"):
        sol.dumps(SharedObject(5))
    with pytest.raises(EncodeError):
        sol.dumps(SharedObject("s", {"x" * 65536: None}, version=0))
    with pytest.raises(ValueError, match=r"0 .* or 3"):
        SharedObject("s", {}, version=1)


def test_shared_objects_compare_and_print():
    assert sol.loads(AMF3) == sol.loads(AMF3)
    assert SharedObject("s", {"a": 1}) != SharedObject("s", {"a": 1}, version=0)
    assert SharedObject("s", {"a": 1}) != SharedObject("s", {"a": 2})
    assert repr(SharedObject("s", {"a": 1})) == "SharedObject('s', {'a': 1}, version=3)"


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_file_is_loaded_changed_and_saved(tmp_path):
    path = tmp_path / "slot1.sol"
    path.write_bytes(AMF3)
    so = sol.load(path)
    so.data["coins!"] = 9
    sol.save(so, str(path))
    assert sol.load(path).data["coins!"] == 9
    assert os.listdir(tmp_path) == ["slot1.sol"]


def test_saving_what_cannot_be_written_leaves_the_file_alone(tmp_path):
    path = tmp_path / "slot1.sol"
    path.write_bytes(AMF3)
    so = sol.load(path)
    so.data["lock"] = object()
    with pytest.raises(EncodeError):
        sol.save(so, path)
    assert path.read_bytes() == AMF3
    assert os.listdir(tmp_path) == ["slot1.sol"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_fails_leaves_the_file_alone(tmp_path, monkeypatch, step):
    path = tmp_path / "slot1.sol"
    path.write_bytes(AMF3)

    def fail(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(f"amfgate.sol.os.{step}", fail)
    with pytest.raises(OSError, match="no space left"):
        sol.save(sol.loads(AMF0), path)
    monkeypatch.undo()
    assert path.read_bytes() == AMF3
    assert os.listdir(tmp_path) == ["slot1.sol"]


def test_the_bytes_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    path = tmp_path / "slot1.sol"
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr("amfgate.sol.os.fsync", lambda fd: (steps.append("fsync"), fsync(fd)))
    monkeypatch.setattr("amfgate.sol.os.replace", lambda a, b: (steps.append("replace"), replace(a, b)))
    sol.save(sol.loads(AMF0), path)
    assert steps[:2] == ["fsync", "replace"]
    assert path.read_bytes() == AMF0


@pytest.mark.skipif(sys.platform == "win32", reason="modes are a matter of POSIX")
def test_the_mode_of_a_file_is_kept(tmp_path):
    path = tmp_path / "slot1.sol"
    path.write_bytes(AMF3)
    path.chmod(0o640)
    sol.save(sol.loads(AMF0), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    fresh = tmp_path / "slot2.sol"
    old = os.umask(0o027)
    try:
        sol.save(sol.loads(AMF0), fresh)
    finally:
        os.umask(old)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.sol").write_bytes(AMF3)
    (tmp_path / "link.sol").symlink_to("real.sol")
    sol.save(sol.loads(AMF0), tmp_path / "link.sol")
    assert (tmp_path / "link.sol").is_symlink()
    assert (tmp_path / "real.sol").read_bytes() == AMF0
