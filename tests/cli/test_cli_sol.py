"""`amfgate sol`: only what was touched changes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import amfgate
from amfgate.sol import SharedObject

# A file as Flash would not write it: a time zone, a false count, a name twice, a long string of one character.
ODD = bytes.fromhex(
    "0001 61 0b 0000000000000000 003c 00"
    "0001 62 08 00000063 0001 78 00 3ff0000000000000 0001 78 05 000009 00"
    "0001 63 0c 00000001 79 00"
    "0005 636f696e73 00 4044000000000000 00"
)


def shared_object(body: bytes, version: int = 0) -> bytes:
    rest = b"TCSO\x00\x04\x00\x00\x00\x00\x00\x04save\x00\x00\x00" + bytes((version,)) + body
    return b"\x00\xbf" + len(rest).to_bytes(4, "big") + rest


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.sol"
    path.write_bytes(shared_object(ODD))
    return path


@pytest.fixture
def save(tmp_path: Path) -> Path:
    path = tmp_path / "save.sol"
    hero = amfgate.TypedObject("game.Hero", {"name": "Ada", "level": 7})
    data = {
        "coins": 40,
        "heroes": [hero, amfgate.TypedObject("game.Hero", {"name": "Bo", "level": 1})],
        "a.b": {"x": 1},
    }
    amfgate.sol.save(SharedObject("save", data, version=3), path)
    return path


def test_setting_a_number_touches_its_eight_bytes_alone(amfgate_command: Any, odd: Path) -> None:
    before = odd.read_bytes()
    done = amfgate_command("sol", "edit", odd, "--set", "coins=500")
    assert done.out == f"{odd}: {len(before)} bytes before, {len(before)} now; the old file is {odd}.bak\n"
    after = odd.read_bytes()
    assert after == before.replace(bytes.fromhex("4044000000000000"), bytes.fromhex("407f400000000000"))
    assert Path(f"{odd}.bak").read_bytes() == before


def test_every_backup_is_kept(amfgate_command: Any, odd: Path) -> None:
    first = odd.read_bytes()
    for coins in (1, 2, 3):
        amfgate_command("sol", "edit", odd, "--set", f"coins={coins}")
    assert Path(f"{odd}.bak").read_bytes() == first
    assert sorted(path.name for path in odd.parent.iterdir()) == [
        "odd.sol",
        "odd.sol.bak",
        "odd.sol.bak2",
        "odd.sol.bak3",
    ]


def test_setting_what_is_there_already_changes_nothing(amfgate_command: Any, odd: Path) -> None:
    assert amfgate_command("sol", "edit", odd, "--set", "coins=40").out == "not changed\n"
    assert [path.name for path in odd.parent.iterdir()] == ["odd.sol"]


def test_the_mode_of_the_file_stays(amfgate_command: Any, odd: Path) -> None:
    odd.chmod(0o640)
    amfgate_command("sol", "edit", odd, "--set", "coins=1")
    assert stat.S_IMODE(odd.stat().st_mode) == 0o640


def test_paths_lead_through_classes_lists_and_odd_names(amfgate_command: Any, save: Path) -> None:
    done = amfgate_command(
        *("sol", "edit", save),
        *("--set", "heroes[1].level=10", "--set", '"a.b".x="new"', "--set", "added=[1, null]"),
        *("--set", 'seen={"$date": 0}', "--delete", "heroes[0]", "--delete", "coins"),
    )
    assert (done.status, done.err) == (0, "")
    data = amfgate.sol.load(save, classes=amfgate.ClassRegistry()).data
    assert list(data) == ["heroes", "a.b", "added", "seen"]
    assert data["heroes"] == [amfgate.TypedObject("game.Hero", {"name": "Bo", "level": 10})]
    assert data["a.b"] == {"x": "new"}
    assert data["added"] == [1, None]
    assert data["seen"].isoformat() == "1970-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--set", "coins=x"], "coins: x is no JSON; text stands in double quotes, as in 'coins=\"x\"'"),
        (["--delete", "nothing"], "there is nothing at nothing"),
        (["--set", "heroes[9].level=1"], "heroes[9]: there are 2 items, counted from 0"),
        (["--set", "coins.x=1"], "coins.x: what it should be in has no members"),
        (
            ["--set", "heroes[0].magic=1"],
            "heroes[0].magic: the class 'game.Hero' declares its members, and this is none of them",
        ),
        (["--delete", "heroes[0].name"], "heroes[0].name: the class 'game.Hero' declares this member; it can be set"),
        (["--set", "a..b=1"], "a path is like player.items[2].\"odd name\", not 'a..b'"),
        (["--set", 'x={"$datum": 1}'], "'$datum' is no tag; a name that begins with $ is written with one more"),
    ],
)
def test_mistakes_are_told_and_the_file_stays(
    amfgate_command: Any, save: Path, options: list[str], complaint: str
) -> None:
    before = save.read_bytes()
    done = amfgate_command("sol", "edit", save, *options)
    assert done.status == 1
    assert done.err.startswith(f"amfgate: {complaint}")
    assert save.read_bytes() == before
    assert [path.name for path in save.parent.iterdir()] == ["save.sol"]


def test_a_member_of_a_value_that_came_before_is_changed_there(amfgate_command: Any, tmp_path: Path) -> None:
    shared = {"x": 1}
    path = tmp_path / "s.sol"
    amfgate.sol.save(SharedObject("s", {"one": shared, "two": shared}, version=0), path)
    done = amfgate_command("sol", "edit", path, "--set", "two.x=2")
    assert done.err == "amfgate: two.x: what holds it is another value again ($ref 1); change it there\n"
    amfgate_command("sol", "edit", path, "--set", "one.x=2")
    data = amfgate.sol.load(path).data
    assert data["two"] is data["one"] == {"x": 2}


def test_the_editor(amfgate_command: Any, odd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/40/41/")
    before = odd.read_bytes()
    assert amfgate_command("sol", "edit", odd).status == 0
    assert odd.read_bytes() == before.replace(bytes.fromhex("4044000000000000"), bytes.fromhex("4044800000000000"))


def test_an_editor_that_changes_nothing(amfgate_command: Any, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "true")
    assert amfgate_command("sol", "edit", odd).out == "not changed\n"


def test_a_damaged_file_is_not_edited(amfgate_command: Any, odd: Path) -> None:
    odd.write_bytes(odd.read_bytes()[:-3])
    done = amfgate_command("sol", "edit", odd, "--set", "coins=1")
    assert done.status == 1
    assert done.err.startswith("amfgate: the shared object says that ")


def test_show(amfgate_command: Any, odd: Path) -> None:
    done = amfgate_command("sol", "show", odd)
    assert done.status == 0
    assert done.lines[:3] == [
        '000000  shared object "save", AMF0, 4 members  #0',
        "00001d    a: date 1970-01-01T00:00:00.000Z (0 ms)  time zone +60 minutes, which means nothing",
        "00002c    b: ecma array, 2 members, count 99 declared  #1",
    ]


def test_show_as_json_and_back(amfgate_command: Any, odd: Path, tmp_path: Path) -> None:
    shown = amfgate_command("sol", "show", odd, "--json")
    assert json.loads(shown.out)["members"]["coins"] == 40
    made = tmp_path / "made.sol"
    assert (
        amfgate_command("sol", "from-json", "-", made, stdin=shown.data).out
        == f"{made}: {len(odd.read_bytes())} bytes\n"
    )
    assert made.read_bytes() == odd.read_bytes()


def test_from_json_keeps_a_file_that_is_there(amfgate_command: Any, odd: Path) -> None:
    document = {"kind": "sol", "version": 3, "name": "s", "members": {"a": 1}}
    amfgate_command("sol", "from-json", "-", odd, stdin=json.dumps(document).encode())
    assert amfgate.sol.load(odd).data == {"a": 1}
    assert Path(f"{odd}.bak").read_bytes() == shared_object(ODD)


def test_from_json_refuses_what_is_no_shared_object(amfgate_command: Any, tmp_path: Path) -> None:
    done = amfgate_command("sol", "from-json", "-", tmp_path / "x", stdin=b'{"kind": "amf3", "values": []}')
    assert done.err == 'amfgate: this JSON is no shared object: "kind" has to be "sol"\n'
    assert list(tmp_path.iterdir()) == []
