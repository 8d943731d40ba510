"""What a client might try at an annotated method: members that are not his to set, and a little that becomes a lot."""

from __future__ import annotations

import dataclasses
import datetime as dt
import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import attrs
import msgspec
import pydantic
import pydantic.dataclasses
import pytest
import wsgi_client
from one_method import Calls, typed
from typing_extensions import TypeAliasType

import amfgate
from amfgate import ClassRegistry
from amfgate.fitting import Fitting, fit_of
from amfgate.fitting.annotations import annotation_fit

T = TypeVar("T")


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.CRITICAL, "amfgate"):
        yield


# --- members that no client sets -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Order:
    id: int
    secret: str = "secret"
    owner: str = "owner"


class Pair(NamedTuple):
    id: int
    secret: str = "secret"
    owner: str = "owner"


class Row(msgspec.Struct, array_like=True):
    id: int
    secret: str = "secret"
    owner: str = "owner"


CLASSES = ClassRegistry()
for one in (Order, Pair, Row):
    CLASSES.register(one, one.__name__, exclude=["secret"], readonly=["owner"])

HACK = {"id": 1, "secret": "hacked", "owner": "hacked"}


@dataclasses.dataclass
class Box(Generic[T]):
    value: T


class StructBox(msgspec.Struct, Generic[T]):
    value: list[T]


class ArrayBox(msgspec.Struct, array_like=True):
    order: Order


@attrs.define
class AttrsBox(Generic[T]):
    _value: T = attrs.field(alias="value")


class ModelBox(pydantic.BaseModel, Generic[T]):
    value: T


class TupleBox(NamedTuple, Generic[T]):
    value: T


class DictBox(TypedDict, Generic[T]):
    value: T


Bound = TypeVar("Bound", bound=Order)


@dataclasses.dataclass
class BoundBox(Generic[Bound]):
    value: Bound


class Aliased(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    order: Order = pydantic.Field(alias="theOrder")


class Choices(pydantic.BaseModel):
    order: Order = pydantic.Field(validation_alias=pydantic.AliasChoices("a", "b", pydantic.AliasPath("c", 0)))


@pydantic.dataclasses.dataclass
class PydanticBox:
    order: Order


class Alias:
    """As `type Name = ...` makes one, which needs Python 3.12."""

    def __init__(self, value: Any) -> None:
        self._value = value

    @property
    def __value__(self) -> Any:
        return self._value()


Tree: Any = Alias(lambda: Order | list[Tree])
Named = TypeAliasType("Named", dict[str, T], type_params=(T,))


def orders_in(value: Any) -> Iterator[Any]:
    """Every Order in what a method got."""
    if isinstance(value, Order):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from orders_in(item)
    elif isinstance(value, dict):
        yield from orders_in(list(value.values()))
    elif not isinstance(value, int):
        names = getattr(value, "__dict__", None) or getattr(value, "__struct_fields__", None) or ["_value"]
        yield from orders_in([getattr(value, name) for name in names])


@pytest.mark.parametrize(
    "annotation, value",
    [
        (Order, HACK),
        (list[Order], [HACK]),
        (tuple[Order, int], [HACK, 1]),
        (dict[str, list[Order]], {"a": [HACK]}),
        (Order | int | None, HACK),
        (Annotated[list[Order], msgspec.Meta(max_length=2)], [HACK]),
        (Box[Order], {"value": HACK}),
        (Box[list[Order]], {"value": [HACK]}),
        (Box[Box[Order]], {"value": {"value": HACK}}),
        (BoundBox, {"value": HACK}),
        (StructBox[Order], {"value": [HACK]}),
        (AttrsBox[Order], {"_value": HACK}),
        (ModelBox[Order], {"value": HACK}),
        (TupleBox[Order], [HACK]),
        (DictBox[Order], {"value": HACK}),
        (Aliased, {"theOrder": HACK}),
        (Aliased, {"order": HACK}),
        (Aliased, {"theOrder": HACK, "order": HACK}),
        (Choices, {"a": HACK}),
        (Choices, {"b": HACK}),
        (Choices, {"order": HACK, "b": HACK}),
        (PydanticBox, {"order": HACK}),
        (Named[Order], {"a": HACK}),
    ],
)
def test_what_is_closed_stays_closed_by_whatever_way_it_comes(annotation: Any, value: Any) -> None:
    found = list(orders_in(Calls(annotation, CLASSES)(value)))
    assert found
    assert {(order.id, order.secret, order.owner) for order in found} == {(1, "secret", "owner")}


def test_what_is_closed_stays_closed_in_an_alias_that_contains_itself() -> None:
    fit = annotation_fit(Tree)
    assert fit is not None
    found = list(orders_in(fit([HACK, [[HACK]]], None, Fitting(CLASSES))))
    assert [(order.secret, order.owner) for order in found] == [("secret", "owner")] * 2


@pytest.mark.parametrize(
    "annotation, value, text",
    [
        (Pair, [1, "hacked", "hacked"], "argument 'order': expected Pair, got array"),
        (list[Pair], [[1]], "argument 'order' $[0]: expected Pair, got array"),
        (Row, [1, "hacked", "hacked"], "argument 'order': expected Row, got array"),
        (ArrayBox, [HACK], "argument 'order': expected ArrayBox, got array"),
        (Choices, {"c": [HACK]}, "argument 'order' $.c: expected Order, got array"),
    ],
)
def test_an_array_does_not_set_by_place_what_no_client_sets_by_name(annotation: Any, value: Any, text: str) -> None:
    assert Calls(annotation, CLASSES).fault(value) == text


def test_an_array_is_a_tuple_or_a_struct_that_has_nothing_to_hide() -> None:
    assert Calls(list[Pair], ClassRegistry())([[1, "a", "b"], [2]]) == [Pair(1, "a", "b"), Pair(2)]
    assert Calls(list[Row], ClassRegistry())([[1, "a"]]) == [Row(1, "a")]


# --- constraints -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Limited:
    count: Annotated[int, msgspec.Meta(le=5)] = 1
    orders: Annotated[list[Order] | None, msgspec.Meta(max_length=1)] = None


def test_constraints_hold_for_whole_numbers_that_come_as_doubles_and_for_what_may_be_null() -> None:
    classes = ClassRegistry()
    classes.register(Limited, "L")
    call = Calls(Limited, classes)
    assert call.fault(typed("L", count=1e20)) == "argument 'order' $.count: expected int <= 5"
    assert Calls(Annotated[int, msgspec.Meta(le=5)], classes).fault(1e20) == "argument 'order': expected int <= 5"
    assert call.fault(typed("L", orders=[{"id": 1}, {"id": 2}])) == (
        "argument 'order' $.orders: expected array of length <= 1"
    )
    assert call(typed("L", orders=None)).orders is None
    assert call(typed("L", orders=[{"id": 1}])).orders == [Order(1)]


class Checked(pydantic.BaseModel):
    count: int


class Sum(pydantic.BaseModel):
    checked: Checked

    @pydantic.model_validator(mode="after")
    def is_checked_first(self) -> Sum:
        assert type(self.checked.count) is int
        return self


class Both(pydantic.BaseModel):
    checked: Checked
    sums: list[Sum]


def test_what_is_shared_is_valid_before_each_that_refers_to_it_is_validated() -> None:
    classes = ClassRegistry()
    for cls in (Checked, Sum, Both):
        classes.register(cls, cls.__name__)
    shared = typed("Checked", count="5")
    got = Calls(Both, classes)(typed("Both", checked=shared, sums=[typed("Sum", checked=shared)]))
    assert got.checked is got.sums[0].checked
    assert got.checked.count == 5


@pydantic.dataclasses.dataclass
class Even:
    n: int

    @pydantic.field_validator("n")
    @classmethod
    def is_even(cls, n: int) -> int:
        if n % 2:
            raise ValueError("odd")
        return n


@dataclasses.dataclass
class HasEven:
    even: Even


def test_the_rules_of_a_dataclass_of_pydantic_hold_for_plain_objects() -> None:
    for annotation, value, place in [
        (Even, {"n": 3}, " $.n"),
        (HasEven, {"even": {"n": 3}}, " $.even.n"),
        (list[HasEven], [{"even": {"n": 3}}], " $[0].even.n"),
    ]:
        assert Calls(annotation, ClassRegistry()).fault(value) == f"argument 'order'{place}: odd"


# --- type variables --------------------------------------------------------------------------------------------------


class Orders(Box[list[Order]]):
    pass


class Pages(Orders):
    pass


def test_type_variables_are_what_the_annotation_or_the_base_makes_of_them() -> None:
    classes = ClassRegistry()
    for cls in (Order, Box, Orders, Pages):
        classes.register(cls, cls.__name__)
    assert Calls(Box[int], classes).fault(typed("Box", value="x")) == (
        "argument 'order' $.value: expected int, got str"
    )
    assert Calls(list[Box[Box[int]]], classes).fault([typed("Box", value=typed("Box", value="x"))]) == (
        "argument 'order' $[0].value.value: expected int, got str"
    )
    for alias in ("Orders", "Pages"):
        assert Calls(Box, classes).fault(typed(alias, value=[typed("Order", id="x")])) == (
            "argument 'order' $.value[0].id: expected int, got str"
        )
    assert Calls(Box, classes)(typed("Box", value="anything")).value == "anything"
    described = {one["alias"]: one["members"][0]["type"] for one in classes.describe()}
    assert described["Pages"] == "list[test_value_objects_hostile.Order]"


@dataclasses.dataclass
class Nest(Generic[T]):
    inner: Nest[list[T]] | None
    value: T


@dataclasses.dataclass
class Nests:
    nest: Nest[int]


def test_a_type_that_leads_to_new_ones_without_end_is_followed_as_far_as_values_go() -> None:
    classes = ClassRegistry()
    classes.register(Nests, "N")
    call = Calls(Nests, classes)
    got = call(typed("N", nest={"inner": {"inner": None, "value": [1]}, "value": 1}))
    assert got.nest.inner.value == [1]
    assert call.fault(typed("N", nest={"inner": {"inner": None, "value": 1}, "value": 1})) == (
        "argument 'order' $.nest.inner.value: expected array, got int"
    )


# --- several classes -------------------------------------------------------------------------------------------------


class Circle(msgspec.Struct, tag=True):
    r: float


class Square(msgspec.Struct, tag=True):
    s: float


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


class Owner(pydantic.BaseModel):
    pet: Cat | Dog = pydantic.Field(discriminator="kind")


@pytest.mark.parametrize("registered", [False, True])
def test_a_plain_object_may_say_by_its_tag_which_of_several_structs_it_is(registered: bool) -> None:
    classes = ClassRegistry()
    if registered:
        classes.register(Circle, "C")
        classes.register(Square, "S")
    call = Calls(list[Circle | Square], classes)
    assert call([{"type": "Square", "s": 1}, {"type": "Circle", "r": 2}]) == [Square(1.0), Circle(2.0)]
    assert call.fault([{"type": "Square", "s": "x"}]) == "argument 'order' $[0].s: expected float, got str"
    assert call.fault([{"type": "Line", "s": 1}]).endswith("Square, got object")


def test_pydantic_tells_its_models_apart() -> None:
    assert Calls(Cat | Dog, ClassRegistry())({"kind": "dog"}) == Dog(kind="dog")
    classes = ClassRegistry()
    classes.register(Owner, "O")
    assert Calls(Owner, classes)(typed("O", pet={"kind": "dog"})).pet == Dog(kind="dog")


# --- a little that becomes a lot -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Rows:
    rows: list[list[int]] = dataclasses.field(default_factory=list)


class ModelRows(pydantic.BaseModel):
    rows: list[list[int]]


@dataclasses.dataclass
class Holder:
    model: ModelRows


REPEATED = "it repeats more than 10000 values, each of which would be copied"


@pytest.mark.parametrize(
    "annotation, wrap, place",
    [
        (list[Rows], lambda rows: {"rows": [rows]}, "$[11]"),
        (list[Rows], lambda rows: typed("Rows", rows=[rows]), "$[11].rows"),
        (list[ModelRows], lambda rows: {"rows": [rows]}, "$[11]"),
        (list[ModelRows], lambda rows: typed("ModelRows", rows=[rows]), "$[11].rows"),
        (list[Holder], lambda rows: {"model": {"rows": [rows]}}, "$[11]"),
    ],
)
def test_what_is_repeated_in_many_objects_is_copied_up_to_ten_thousand_values(
    annotation: Any, wrap: Any, place: str
) -> None:
    classes = ClassRegistry()
    if isinstance(wrap([0]), amfgate.TypedObject):
        classes.register(Rows, "Rows")
        classes.register(ModelRows, "ModelRows")
    call = Calls(annotation, classes)
    shared = list(range(999))
    assert len(call([wrap(shared) for _ in range(11)])) == 11
    assert call.fault([wrap(shared) for _ in range(12)]) == f"argument 'order' {place}: {REPEATED}"


def test_what_is_repeated_in_starred_arguments_is_counted_too() -> None:
    got: list[Any] = []

    def method(*rows: list[list[int]]) -> None:
        got.append(rows)

    gateway = amfgate.Gateway(None, {"f": method})
    shared = list(range(999))
    assert wsgi_client.call(gateway, "f", *([shared] for _ in range(11)), version=3).codes == [None]
    reply = wsgi_client.call(gateway, "f", *([shared] for _ in range(12)), version=3)
    assert reply.value["description"] == f"f: argument 'rows': {REPEATED}"
    assert len(got) == 1
    same = [[1]]
    wsgi_client.call(gateway, "f", same, same, version=3)
    assert got[-1][0] is got[-1][1]


class Fork(NamedTuple):
    left: Fork | None
    right: Fork | None


@pytest.mark.parametrize("registered", [False, True])
def test_a_named_tuple_that_is_met_twice_is_fitted_once(registered: bool) -> None:
    classes = ClassRegistry()
    classes.register(Fork, "F")
    value: Any = None
    for _ in range(60):
        value = typed("F", left=value, right=value) if registered else [value, value]
    got = Calls(Fork, classes)(value)
    for _ in range(59):
        assert got.left is got.right
        got = got.left
    assert got == (None, None)


@dataclasses.dataclass
class Either:
    rows: list[list[dt.date] | list[Order]]


class Slow(list[Any]):
    """A list that counts how often it is gone through."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()


def test_which_of_several_it_is_is_found_out_once_for_a_list_that_is_shared() -> None:
    classes = ClassRegistry()
    classes.register(Either, "E")
    shared = Slow([Order(1)])
    instance = Either([shared] * 50)
    fitting, fit = Fitting(classes), fit_of(Either)
    assert fit is not None
    fit(instance, None, fitting)
    fitting.run()
    assert shared.walks == 2  # as dates, as orders


@dataclasses.dataclass
class Other:
    x: int


@dataclasses.dataclass
class Several:
    rows: list[Order] | list[Other]
    order: Order | None = None


def test_what_did_not_fit_one_of_several_is_not_taken_for_what_contains_itself() -> None:
    classes = ClassRegistry()
    for cls in (Order, Other, Several):
        classes.register(cls, cls.__name__)
    call, plain = Calls(Several, classes), {"x": 1}
    assert call(typed("Several", rows=[plain])).rows == [Other(1)]
    assert call.fault(typed("Several", rows=[plain], order=plain)) == (
        "argument 'order' $.order: object missing required field id"
    )


def test_a_misfit_in_a_model_in_a_dataclass_has_its_whole_path() -> None:
    assert Calls(list[Holder], ClassRegistry()).fault([{"model": {"rows": [[1, "x"]]}}]) == (
        "argument 'order' $[0].model.rows[0][1]: expected int, got str"
    )
    assert Calls(dict[int, Order], CLASSES).fault({"a": HACK}) == "argument 'order' key in $: expected int, got str"


@pytest.mark.parametrize("annotation", [Decimal, list[Decimal], dict[str, Decimal | None]])
def test_a_number_of_a_thousand_digits_is_refused(annotation: Any) -> None:
    wrap = {Decimal: lambda text: text, list[Decimal]: lambda text: [text]}.get(annotation, lambda text: {"a": text})
    call = Calls(annotation, ClassRegistry())
    assert call.fault(wrap("1" * 1000)).endswith("expected a number, got a text of 1000 characters")
    assert call(wrap("1" * 999)) == wrap(Decimal("1" * 999))


def test_a_long_text_beside_a_number_is_a_text() -> None:
    @dataclasses.dataclass
    class Product:
        price: Decimal
        text: str

    assert Calls(Product, ClassRegistry())({"price": "1.5", "text": "word " * 999}).price == Decimal("1.5")


@pytest.mark.parametrize("cyclic", [False, True])
def test_classes_that_refer_to_one_another_are_worked_out_in_no_time(cyclic: bool) -> None:
    names = [f"Class{number}" for number in range(25)]  # 2**24 ways from the first to the last, or 25! without end
    for place, name in enumerate(names):
        fields = [(other.lower(), f"list[{other}]") for other in (names if cyclic else names[place + 1 :])]
        globals()[name] = dataclasses.make_dataclass(name, fields, namespace={"__module__": __name__})
    try:
        annotation: Any = list.__class_getitem__(globals()["Class0"])
        Calls(annotation, ClassRegistry())
    finally:
        for name in names:
            del globals()[name]
