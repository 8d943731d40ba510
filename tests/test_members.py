"""What is known of a class's members: `members_of`, and `ClassRegistry.describe`."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import attrs
import msgspec
import pydantic
import pytest

from amfgate import ClassRegistry
from amfgate.members import Member, members_of

if TYPE_CHECKING:
    from nowhere import Missing


@dataclass
class Base:
    """What has a number.

    More of it.
    """

    id: int


@dataclass
class Line(Base):
    unit_price: float = 2.5
    tags: list[str] = field(default_factory=list)


@attrs.define
class Attrs:
    a: int
    b: str | None = "x"
    c: list[int] = attrs.Factory(list)


class Model(pydantic.BaseModel):
    a: int
    b: str | None = "x"
    c: list[int] = pydantic.Field(default_factory=list)


class Struct(msgspec.Struct):
    a: int
    b: str | None = "x"
    c: list[int] = msgspec.field(default_factory=list)


@dataclass
class Data:
    a: int
    b: str | None = "x"
    c: list[int] = field(default_factory=list)


class Ordinary:
    """An ordinary class."""

    a: int
    b: Missing
    c: str = "q"


class Child(Ordinary):
    d: ClassVarOf = 1
    e: typing.ClassVar[int] = 5


ClassVarOf = int


class External:
    a: int

    def __readamf__(self, stream: Any) -> None: ...

    def __writeamf__(self, stream: Any) -> None: ...


def registry(*classes: type, **options: Any) -> ClassRegistry:
    found = ClassRegistry()
    for cls in classes:
        found.register(cls, f"a.{cls.__name__}", **options)
    return found


def members(cls: type, **options: Any) -> tuple[Member, ...]:
    (plan,) = registry(cls, **options).plans()
    return members_of(plan)


@pytest.mark.parametrize("cls", [Attrs, Model, Struct, Data])
def test_a_member_has_its_annotation_and_its_default(cls: type) -> None:
    assert members(cls, readonly=["c"]) == (
        ("a", "a", int, True, False, None),
        ("b", "b", str | None, False, False, "x"),
        ("c", "c", list[int], False, True, None),
    )


def test_the_members_of_an_ordinary_class_are_what_it_annotates() -> None:
    assert members(Child) == (
        ("a", "a", int, True, False, None),
        ("b", "b", Any, True, False, None),  # its annotation cannot be found
        ("c", "c", str, False, False, "q"),
        ("d", "d", int, False, False, 1),
    )


def test_the_members_of_a_base_come_first_and_each_is_renamed() -> None:
    found = [(member.attribute, member.name) for member in members(Line, rename="camel", exclude=["tags"])]
    assert found == [("id", "id"), ("unit_price", "unitPrice")]


def test_a_registry_describes_its_classes_by_alias() -> None:
    classes = registry(Line, Base, rename="camel", readonly=["id"])
    description = classes.describe()
    assert json.loads(json.dumps(description)) == description
    number = {"name": "id", "attribute": "id", "type": "int", "required": True, "readonly": True}
    assert description == [
        {
            "alias": "a.Base",
            "class": f"{__name__}.Base",
            "description": "What has a number.",
            "base": None,
            "dynamic": False,
            "external": False,
            "members": [number],
        },
        {
            "alias": "a.Line",
            "class": f"{__name__}.Line",
            "description": "",
            "base": "a.Base",
            "dynamic": False,
            "external": False,
            "members": [
                number,
                {
                    "name": "unitPrice",
                    "attribute": "unit_price",
                    "type": "float",
                    "required": False,
                    "readonly": False,
                },
                {"name": "tags", "attribute": "tags", "type": "list[str]", "required": False, "readonly": False},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("register", "dynamic", "external", "names"),
    [
        (lambda classes: classes.register(Data, "C", dynamic=True), True, False, ["a", "b", "c"]),
        (lambda classes: classes.register(External, "C", external=True), False, True, ["a"]),
        (lambda classes: classes.register(type("Bare", (), {}), "C"), True, False, []),
    ],
)
def test_what_a_description_says_of_unusual_classes(
    register: Callable[[ClassRegistry], None], dynamic: bool, external: bool, names: list[str]
) -> None:
    classes = ClassRegistry()
    register(classes)
    (found,) = classes.describe()
    assert (found["dynamic"], found["external"]) == (dynamic, external)
    assert [member["name"] for member in found["members"]] == names


def test_the_docstring_that_a_dataclass_writes_itself_is_no_description() -> None:
    assert registry(Data).describe()[0]["description"] == ""
