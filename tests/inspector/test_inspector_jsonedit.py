"""Paths into a shared object: what they lead through, and what they change."""

from __future__ import annotations

from typing import Any

import pytest

from amfgate import Dictionary, EcmaArray, EncodeError, TypedObject, Vector, sol
from amfgate.flex import ArrayCollection
from amfgate.inspector import from_json, read_sol, to_json
from amfgate.inspector.jsonedit import put, remove

MEMBERS: dict[str, Any] = {
    "list": [1, 2],
    "ecma": EcmaArray({0: "a", "n": 5}),
    "hero": TypedObject("game.Hero", {"level": 1}, dynamic=True),
    "$odd": {"$x": 1, "a.b": {"c": 1}},
}
MEMBERS3: dict[str, Any] = {
    **MEMBERS,
    "rows": ArrayCollection([{"q": 1}]),
    "numbers": Vector("int", [1, 2]),
    "seen": Dictionary({"k": 1}),
}


def document(version: int) -> dict[str, Any]:
    data = sol.dumps(sol.SharedObject("slot", MEMBERS if version == 0 else MEMBERS3, version))
    return to_json(read_sol(data), data)


def members(edited: dict[str, Any]) -> dict[str, Any]:
    return sol.loads(from_json(edited)).data


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize(
    ("path", "value", "name", "expected"),
    [
        ("list[1]", 9, "list", [1, 9]),
        ("ecma[0]", "z", "ecma", {0: "z", "n": 5}),
        ("ecma.n", 6, "ecma", {0: "a", "n": 6}),
        ("hero.level", 2, "hero", {"level": 2}),
        ("hero.name", "Ada", "hero", {"level": 1, "name": "Ada"}),
        ("$odd.$x", 2, "$odd", {"$x": 2, "a.b": {"c": 1}}),
        ('$odd."a.b".c', 2, "$odd", {"$x": 1, "a.b": {"c": 2}}),
        ("new", [{"a": 1}], "new", [{"a": 1}]),
    ],
)
def test_a_path_sets_one_value(version: int, path: str, value: Any, name: str, expected: Any) -> None:
    edited = document(version)
    put(edited, path, value)
    found = members(edited)
    assert found.pop(name) == expected
    assert found == {key: item for key, item in (MEMBERS if version == 0 else MEMBERS3).items() if key != name}


def test_a_path_leads_through_collections_vectors_and_dictionaries() -> None:
    edited = document(3)
    put(edited, "rows[0].q", 2)
    put(edited, "numbers[1]", 3)
    put(edited, "seen.k", 4)
    put(edited, "seen.new", 5)
    found = members(edited)
    assert found["rows"].source == [{"q": 2}]
    assert found["numbers"] == [1, 3]
    assert dict(found["seen"].items()) == {"k": 4, "new": 5}


def test_removing() -> None:
    edited = document(3)
    remove(edited, "list[0]")
    remove(edited, "ecma.n")
    remove(edited, "numbers[0]")
    remove(edited, "$odd")
    found = members(edited)
    assert (found["list"], found["ecma"], found["numbers"]) == ([2], ["a"], [2])
    assert "$odd" not in found


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("", "the path is empty"),
        ("a..b", "a path is like player.items[2].\"odd name\", not 'a..b'"),
        ("list[2]", "list[2]: there are 2 items, counted from 0"),
        ("list.x", "list.x: what it should be in has no members"),
        ("nobody.x", "there is nothing at nobody"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(path: str, complaint: str) -> None:
    with pytest.raises(EncodeError) as caught:
        put(document(0), path, 1)
    assert str(caught.value) == complaint


def test_a_value_that_is_met_again_is_not_taken_away() -> None:
    shared = [1]
    data = sol.dumps(sol.SharedObject("slot", {"one": shared, "other": shared}, 3))
    with pytest.raises(EncodeError) as caught:
        put(to_json(read_sol(data), data), "one", 5)
    assert str(caught.value) == (
        "one: this value is met again elsewhere ($ref 1); give those places another value first"
    )
    edited = to_json(read_sol(data), data)
    put(edited, "other", 6)
    put(edited, "one", 5)
    assert members(edited) == {"one": 5, "other": 6}


def test_a_member_that_a_class_declares_stays() -> None:
    with pytest.raises(EncodeError, match=r"hero\.level: the class 'game\.Hero' declares this member; it can be set"):
        remove(document(3), "hero.level")
