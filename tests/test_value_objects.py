"""Value objects of every kind, from the wire to a service's annotated parameter and back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import typing
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, NamedTuple

import attrs
import msgspec
import pydantic
import pydantic.dataclasses
import pytest
import wsgi_client
from both_twins import Codec
from one_method import Calls, typed

import amfgate
from amfgate import ClassRegistry, undefined
from amfgate.flex import ArrayCollection

H = bytes.fromhex


# --- classes of every kind -------------------------------------------------------------------------------------------

MISSING = object()


def build(kind: str, name: str, /, **fields: Any) -> Any:
    """A class of a kind; each field an annotation, or a pair of it and a default."""
    pairs = {key: value if isinstance(value, tuple) else (value, MISSING) for key, value in fields.items()}
    if kind.startswith("dataclass"):
        options = {"frozen": "frozen" in kind, "slots": "slots" in kind}
        declared = [
            (key, one) if default is MISSING else (key, one, dataclasses.field(default=default))
            for key, (one, default) in pairs.items()
        ]
        return dataclasses.make_dataclass(name, declared, namespace={"__module__": __name__}, **options)
    if kind.startswith("attrs"):
        made = {key: attrs.field() if one is MISSING else attrs.field(default=one) for key, (_, one) in pairs.items()}
        decorate = attrs.frozen if "frozen" in kind else attrs.define
        return decorate(type(name, (), {"__annotations__": {k: one for k, (one, _) in pairs.items()}, **made}))
    if kind.startswith("pydantic"):
        config = pydantic.ConfigDict(frozen="frozen" in kind, arbitrary_types_allowed=True)
        declared_ = {key: (one, ... if default is MISSING else default) for key, (one, default) in pairs.items()}
        return pydantic.create_model(name, __config__=config, **declared_)
    if kind.startswith("struct"):
        listed = [(key, one) if default is MISSING else (key, one, default) for key, (one, default) in pairs.items()]
        return msgspec.defstruct(name, listed, frozen="frozen" in kind)
    if kind == "named tuple":
        cls = NamedTuple(name, [(key, one) for key, (one, _) in pairs.items()])  # type: ignore[misc]
        defaults = [default for _, default in pairs.values() if default is not MISSING]
        cls.__new__.__defaults__ = tuple(defaults)
        cls._field_defaults = dict(list(zip(reversed(list(pairs)), reversed(defaults)))[::-1])
        return cls
    space = {key: default for key, (_, default) in pairs.items() if default is not MISSING}
    space["__init__"] = lambda self, **given: self.__dict__.update(given)
    return type(name, (), {"__annotations__": {key: one for key, (one, _) in pairs.items()}, **space})


MUTABLE = [
    *("dataclass", "dataclass, frozen", "dataclass, slots", "attrs", "attrs, frozen"),
    *("pydantic", "pydantic, frozen", "struct", "struct, frozen", "ordinary"),
]
KINDS = [*MUTABLE, "named tuple"]


def registry(**classes: Any) -> ClassRegistry:
    found = ClassRegistry()
    for alias, cls in classes.items():
        found.register(cls, alias)
    return found


def item_of(kind: str) -> Any:
    return build(kind, "Item", unit_price=float, name=(str, "tea"), stock=(int, 1), secret=(str, "s"), owner=(str, "o"))


def items(kind: str) -> tuple[Any, ClassRegistry]:
    cls, classes = item_of(kind), ClassRegistry()
    classes.register(cls, "I", rename="camel", exclude=["secret"], readonly=["owner"])
    return cls, classes


def values(item: Any) -> tuple[Any, ...]:
    return item.unit_price, item.name, item.stock, item.secret, item.owner


# unitPrice=2.5, name="tea", stock=2, owner="o"
NAMES = "13 756E69745072696365 09 6E616D65 0B 73746F636B 0B 6F776E6572"
SENT = H(f"0A 43 03 49 {NAMES} 05 4004000000000000 06 07 746561 04 02 06 03 6F")


# --- through the codec -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_instance_is_sent_under_its_names_on_the_wire_without_what_is_excluded(codec: Codec, kind: str) -> None:
    cls, classes = items(kind)
    instance = cls(unit_price=2.5, name="tea", stock=2, secret="s", owner="o")
    assert codec.dumps(instance, classes=classes) == SENT
    assert codec.dumps(instance, version=0, classes=classes) == H(
        "10 0001 49 0009 756E69745072696365 00 4004000000000000 0004 6E616D65 02 0003 746561 "
        "0005 73746F636B 00 4000000000000000 0005 6F776E6572 02 0001 6F 000009"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_is_an_instance_and_what_is_closed_is_as_the_class_says(codec: Codec, kind: str) -> None:
    cls, classes = items(kind)
    names = NAMES.replace("6F776E6572", "6F776E6572 0D 736563726574")  # secret behind owner
    data = H(f"0A 53 03 49 {names} 05 4004000000000000 06 07 626561 04 02 06 03 78 06 03 78")
    instance = codec.loads(data, classes=classes)
    assert (type(instance), values(instance)) == (cls, (2.5, "bea", 2, "s", "o"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("version", "data"),
    [
        (3, "0A 13 03 49 13 756E69745072696365 05 4004000000000000"),
        (0, "10 0001 49 0009 756E69745072696365 00 4004000000000000 000009"),
    ],
)
def test_what_does_not_come_is_the_default(codec: Codec, kind: str, version: int, data: str) -> None:
    _, classes = items(kind)
    assert values(codec.loads(H(data), version=version, classes=classes)) == (2.5, "tea", 1, "s", "o")


@pytest.mark.parametrize("kind", KINDS)
def test_members_that_only_the_client_knows_are_dropped(codec: Codec, kind: str) -> None:
    _, classes = items(kind)
    data = H("0A 2B 03 49 13 756E69745072696365 07 6E6577 05 4004000000000000 04 01 07 6F6464 04 02 01")  # new, odd
    instance = codec.loads(data, classes=classes)
    assert values(instance) == (2.5, "tea", 1, "s", "o")
    assert not hasattr(instance, "new") and not hasattr(instance, "odd")


@pytest.mark.parametrize("kind", ["dataclass", "dataclass, frozen", "attrs", "pydantic", "ordinary"])
def test_a_dynamic_class_keeps_them_and_sends_them_again(codec: Codec, kind: str) -> None:
    cls = build(kind, "Item", a=int)
    if kind == "attrs":
        cls = attrs.make_class("Item", ["a"], slots=False)
    classes = ClassRegistry()
    classes.register(cls, "I", dynamic=True)
    data = H("0A 1B 03 49 03 61 04 01 07 6F6464 04 02 01")
    instance = codec.loads(data, classes=classes)
    assert (instance.a, instance.odd) == (1, 2)
    assert codec.dumps(instance, classes=classes) == data


# --- through a gateway -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", [0, 3])
def test_a_service_gets_the_instance(kind: str, version: int) -> None:
    cls, classes = items(kind)
    call = Calls(cls, classes)
    got = call(typed("I", unitPrice=2.5, name="bea", stock=2, owner="x", secret="x", new=[1]), version)
    assert (type(got), values(got)) == (cls, (2.5, "bea", 2, "s", "o"))
    assert type(call.got[-1].unit_price) is float


@pytest.mark.parametrize("kind", KINDS)
def test_a_plain_object_becomes_an_instance_under_the_same_rules(kind: str) -> None:
    cls, classes = items(kind)
    call = Calls(cls, classes)
    got = call({"unitPrice": 3, "stock": 2, "owner": "x", "secret": "x", "new": 1})
    assert (type(got), values(got)) == (cls, (3.0, "tea", 2, "s", "o"))
    assert call.fault({"stock": 2}) == "argument 'order': object missing required field unitPrice"
    assert call.fault({"unit_price": 2.5}) == "argument 'order': object missing required field unitPrice"


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_does_not_fit_is_a_fault_with_its_path(kind: str) -> None:
    cls, classes = items(kind)
    call = Calls(list[cls], classes)
    good = typed("I", unitPrice=2.5, name="tea", stock=2)
    for bad in (typed("I", unitPrice=2.5, stock="two"), {"unitPrice": 2.5, "stock": "two"}):
        assert call.fault([good, bad]) == "argument 'order' $[1].stock: expected int, got str"
    assert call.fault([good, typed("I", unitPrice="much")]) == (
        "argument 'order' $[1].unitPrice: expected float, got str"
    )


@pytest.mark.parametrize("outer", MUTABLE)
@pytest.mark.parametrize("inner", KINDS)
def test_every_kind_in_every_kind(outer: str, inner: str) -> None:
    line = build(inner, "Line", quantity=int)
    order = build(outer, "Order", lines=list[line], by_name=(dict[str, line] | None, None))
    call = Calls(order, registry(Order=order, Line=line))
    shared = typed("Line", quantity=2)
    got = call(typed("Order", lines=[shared, shared, {"quantity": 3}], by_name={"a b": shared}))
    assert [type(one) for one in got.lines] == [line] * 3
    assert [one.quantity for one in got.lines] == [2, 2, 3]
    if inner != "named tuple":
        assert got.lines[0] is got.lines[1] is got.by_name["a b"]
    assert call.fault(typed("Order", lines=[shared, typed("Line", quantity=1), typed("Line", quantity="x")])) == (
        "argument 'order' $.lines[2].quantity: expected int, got str"
    )
    assert call.fault(typed("Order", lines=[], by_name={"a b": typed("Line", quantity=[])})) == (
        "argument 'order' $.by_name['a b'].quantity: expected int, got array"
    )


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


RICH = {
    "colour": Colour,
    "size": Size,
    "day": dt.date,
    "moment": dt.datetime,
    "price": Decimal,
    "number": uuid.UUID,
    "pair": tuple[int, float],
    "tags": set[str],
    "weight": float,
    "count": int,
    "days": list[dt.date],
    "note": str | None,
    "anything": Any,
}
NUMBER = uuid.UUID(int=5)
RICH_SENT = {
    "colour": "red",
    "size": 1,
    "day": dt.date(2020, 1, 2),
    "moment": dt.datetime(2020, 1, 2, 3, tzinfo=dt.UTC),
    "price": "1.50",
    "number": str(NUMBER),
    "pair": [1, 2],
    "tags": ["a", "a"],
    "weight": 3,
    "count": float(2**60),
    "days": [dt.date(2020, 1, 2)],
    "note": undefined,
    "anything": [{"a": undefined}],
}
RICH_GOT = {
    **RICH_SENT,
    "colour": Colour.RED,
    "size": Size.SMALL,
    "price": Decimal("1.50"),
    "number": NUMBER,
    "pair": (1, 2.0),
    "tags": {"a"},
    "weight": 3.0,
    "count": 2**60,
    "note": None,
}


@pytest.mark.parametrize("kind", KINDS)
def test_members_are_converted_to_what_their_class_declares(kind: str) -> None:
    cls = build(kind, "Rich", **RICH)
    call = Calls(cls, registry(Rich=cls))
    for sent in (typed("Rich", **RICH_SENT), RICH_SENT):
        got = call(sent)
        assert {name: getattr(got, name) for name in RICH} == RICH_GOT
        assert {name: type(getattr(got, name)) for name in RICH} == {name: type(one) for name, one in RICH_GOT.items()}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("pydantic")])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("colour", "blue", ".colour: invalid enum value 'blue'"),
        ("size", True, ".size: expected int, got bool"),
        (
            "day",
            dt.datetime(2020, 1, 2, 3),
            ".day: expected date, got datetime: 2020-01-02T03:00:00+00:00 is not midnight in UTC",
        ),
        ("moment", amfgate.invalid_date, ".moment: expected datetime, got InvalidDate"),
        ("price", "dear", ".price: invalid decimal string"),
        ("pair", [1], ".pair: expected array of length 2, got 1"),
        ("pair", [1, "2"], ".pair[1]: expected float, got str"),
        ("tags", [1], ".tags[0]: expected str, got int"),
        ("weight", None, ".weight: expected float, got null"),
        ("count", 2.5, ".count: expected int, got float"),
        ("days", ["monday"], ".days[0]: invalid RFC3339 encoded date"),
        ("note", 5, ".note: expected str | null, got int"),
    ],
)
def test_what_members_cannot_be_converted_from(kind: str, name: str, value: Any, text: str) -> None:
    cls = build(kind, "Rich", **RICH)
    call = Calls(cls, registry(Rich=cls))
    assert call.fault(typed("Rich", **{**RICH_SENT, name: value})) == f"argument 'order' ${text}"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("colour", "blue", ".colour: input should be 'red'"),
        ("moment", amfgate.invalid_date, ".moment: expected datetime, got InvalidDate"),
        ("pair", [1, "x"], ".pair[1]: expected float, got str"),
        ("tags", [1], ".tags[0]: expected str, got int"),
        ("weight", None, ".weight: expected float, got null"),
        ("count", 2.5, ".count: expected int, got float"),
        ("note", 5, ".note: expected str, got int"),
    ],
)
def test_a_pydantic_model_has_its_own_rules(name: str, value: Any, text: str) -> None:
    cls = build("pydantic", "Rich", **RICH)
    call = Calls(cls, registry(Rich=cls))
    assert call.fault(typed("Rich", **{**RICH_SENT, name: value})) == f"argument 'order' ${text}"
    assert call(typed("Rich", **{**RICH_SENT, "weight": "2.5"})).weight == 2.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_required_member_that_does_not_come_is_a_fault(kind: str) -> None:
    cls = build(kind, "Item", a=int)
    text = Calls(cls, registry(I=cls)).fault(typed("I"))
    if kind.startswith("pydantic"):
        assert text == "argument 'order': object missing required field a"
    else:
        assert text == "argument 'order' $.a: expected int, got null"


@pytest.mark.parametrize("kind", KINDS)
def test_a_null_default_is_taken_though_the_annotation_does_not_say_so(kind: str) -> None:
    cls = build(kind, "Item", a=(int, None))
    call = Calls(cls, registry(I=cls))
    assert call(typed("I")).a is None
    if not kind.startswith("pydantic"):  # its rules say that null is no int
        assert call(typed("I", a=None)).a is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_only_need_not_fit(kind: str) -> None:
    cls, classes = build(kind, "Item", id=int, a=int), ClassRegistry()
    classes.register(cls, "I", readonly=["id"])
    call = Calls(cls, classes)
    if kind == "pydantic, frozen":
        cls = build(kind, "Item", id=(int, None), a=int)
        classes = ClassRegistry()
        classes.register(cls, "I", readonly=["id"])
        call = Calls(cls, classes)
    got = call(typed("I", id=9, a=2))
    assert (got.id, got.a) == (None, 2)
    assert call.fault(typed("I", a="x")) == "argument 'order' $.a: expected int, got str"


# --- graphs ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class DataNode:
    next: DataNode | None = None
    many: list[DataNode] = dataclasses.field(default_factory=list)
    a: int = 0


@attrs.frozen(eq=False)
class AttrsNode:
    next: AttrsNode | None = None
    many: list[AttrsNode] = attrs.Factory(list)
    a: int = 0


class ModelNode(pydantic.BaseModel):
    next: ModelNode | None = None
    many: list[ModelNode] = []
    a: int = 0


class StructNode(msgspec.Struct, eq=False):
    next: StructNode | None = None
    many: list[StructNode] = []
    a: int = 0


class OrdinaryNode:
    next: OrdinaryNode | None = None
    many: list[OrdinaryNode] = []
    a: int = 0


@dataclasses.dataclass
class SelfNode:
    next: typing.Self | None = None
    many: list[typing.Self] = dataclasses.field(default_factory=list)
    a: int = 0


NODES = [SelfNode, DataNode, AttrsNode, ModelNode, StructNode, OrdinaryNode]


@pytest.mark.parametrize("cls", NODES)
@pytest.mark.parametrize("version", [0, 3])
def test_a_cyclic_graph_comes_and_goes_as_it_is(cls: Any, version: int) -> None:
    call = Calls(cls, registry(N=cls), answer=True)
    first, second = typed("N", a=1), typed("N", a=2)
    first.update(next=second, many=[first, second])
    second.update(next=first, many=[])
    value = wsgi_client.call(call.gateway, "f", first, version=version).value
    (got,) = call.got
    assert (type(got), got.a, got.next.a) == (cls, 1, 2)
    assert got.next.next is got and got.many[0] is got and got.many[1] is got.next
    assert value["next"]["next"] is value
    if version == 3:  # an AMF0 reply repeats what is no cycle
        assert value["many"][1] is value["next"]


@pytest.mark.parametrize("cls", NODES)
def test_a_misfit_in_a_cyclic_graph_is_found_once(cls: Any) -> None:
    call = Calls(cls, registry(N=cls))
    first, second = typed("N"), typed("N", a="x")
    first.update(next=second)
    second.update(next=first)
    assert call.fault(first) == "argument 'order' $.next.a: expected int, got str"


@pytest.mark.parametrize("cls", NODES)
def test_a_plain_object_may_contain_itself_where_its_class_is_registered(cls: Any) -> None:
    call = Calls(cls, registry(N=cls))
    plain: dict[str, Any] = {"a": 3}
    plain["next"] = plain
    got = call(plain)
    assert type(got) is cls and got.next is got


@pytest.mark.parametrize("cls", NODES)
def test_a_chain_is_as_long_as_the_limits_allow(cls: Any) -> None:
    call = Calls(cls, registry(N=cls))
    chain = None
    for _ in range(400):
        chain = typed("N", next=chain)
    assert type(call(chain)) is cls


def test_a_list_that_is_shared_is_fitted_once() -> None:
    @dataclasses.dataclass
    class Thing:
        days: list[dt.date]

    call = Calls(list[Thing], registry(T=Thing))
    days = [dt.date(2020, 1, 2)]
    first, second = call([typed("T", days=days), typed("T", days=days)])
    assert first.days == days and first.days is second.days


@pytest.mark.parametrize("kind", MUTABLE)
def test_the_list_in_a_member_stays_the_same_if_its_items_fit(kind: str) -> None:
    if kind.startswith("pydantic"):
        return  # pydantic copies
    line = build(kind, "Line", a=int)
    order = build(kind, "Order", lines=list[line], same=(Any, None))
    lines = [typed("Line", a=1)]
    got = Calls(order, registry(Order=order, Line=line))(typed("Order", lines=lines, same=lines))
    assert got.lines is got.same


# --- inheritance -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Base:
    unit_price: float
    margin: float = 0.5
    id: int = 0


@dataclasses.dataclass
class Child(Base):
    in_stock: int = 1


def test_a_child_has_the_members_and_the_rules_of_its_base(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Base, "B", rename="camel", exclude=["margin"], readonly=["id"])
    classes.register(Child, "C")
    assert codec.dumps(Child(2.5), classes=classes) == H(
        "0A 33 03 43 13 756E69745072696365 05 6964 0F 696E53746F636B 05 4004000000000000 04 00 04 01"
    )
    got = Calls(Base, classes)(typed("C", unitPrice=1, id=7, margin=9, inStock=3))
    assert got == Child(1.0, 0.5, 0, 3)


def test_a_child_may_have_names_of_its_own(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Base, "B", rename="camel")
    classes.register(Child, "C", rename={}, exclude=["margin", "id"])
    assert codec.dumps(Child(2.5), classes=classes) == H(
        "0A 23 03 43 15 756E69745F7072696365 11 696E5F73746F636B 05 4004000000000000 04 01"
    )


def test_a_child_that_nobody_registered_keeps_the_secrets_of_its_base(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Base, "B", rename="camel", exclude=["margin", "id"])
    assert codec.dumps(Child(2.5), classes=classes) == H(
        "0A 23 01 13 756E69745072696365 0F 696E53746F636B 05 4004000000000000 04 01"
    )


def test_a_member_may_be_of_a_child_and_is_checked_as_that() -> None:
    @dataclasses.dataclass
    class Cart:
        items: list[Base]

    call = Calls(Cart, registry(Cart=Cart, B=Base, C=Child))
    got = call(typed("Cart", items=[typed("B", unit_price=1), typed("C", unit_price=2, in_stock=3)]))
    assert got == Cart([Base(1.0), Child(2.0, in_stock=3)])
    assert call.fault(typed("Cart", items=[typed("C", unit_price=2, in_stock="x")])) == (
        "argument 'order' $.items[0].in_stock: expected int, got str"
    )


# --- what may stand where a value object is wanted -------------------------------------------------------------------


@dataclasses.dataclass
class Line:
    quantity: int


@dataclasses.dataclass
class Order:
    lines: list[Line]


class Options(typing.TypedDict, total=False):
    line: typing.Required[Line]
    day: dt.date
    depth: int


def test_a_value_of_another_kind_is_a_fault() -> None:
    call = Calls(Order, registry(Order=Order, Line=Line))
    assert call.fault(typed("Line", quantity=1)) == "argument 'order': expected Order, got Line"
    assert call.fault(5) == "argument 'order': expected Order, got int"
    assert call.fault([]) == "argument 'order': expected Order, got array"
    assert call.fault(None) == "argument 'order': expected Order, got null"
    assert call.fault(typed("Order", lines=typed("Line", quantity=1))) == (
        "argument 'order' $.lines: expected array, got Line"
    )
    assert call.fault(typed("Order", lines=[None])) == "argument 'order' $.lines[0]: expected Line, got null"
    assert call.fault(typed("Order")) == "argument 'order' $.lines: expected array, got null"


def test_an_array_collection_is_a_list_of_what_it_holds() -> None:
    call = Calls(Order, registry(Order=Order, Line=Line))
    lines = ArrayCollection([typed("Line", quantity=1), ArrayCollection([])])
    assert call.fault(typed("Order", lines=lines)) == "argument 'order' $.lines[1]: expected Line, got array"
    assert call(typed("Order", lines=ArrayCollection([typed("Line", quantity=1)]))) == Order([Line(1)])


def test_instances_in_a_class_that_is_not_registered_are_looked_into() -> None:
    call = Calls(Order, registry(Line=Line))
    assert call({"lines": [typed("Line", quantity=2), {"quantity": 3}]}) == Order([Line(2), Line(3)])
    for bad in (typed("Line", quantity="x"), {"quantity": "x"}):
        assert call.fault({"lines": [bad]}) == "argument 'order' $.lines[0].quantity: expected int, got str"
    assert call.fault({}) == "argument 'order': object missing required field lines"


@pytest.mark.parametrize("kind", [kind for kind in MUTABLE if kind != "ordinary"])
def test_a_plain_object_inside_one_is_under_the_rules_of_its_class_too(kind: str) -> None:
    line = build(kind, "Line", quantity=int, owner=(str, "o"))
    order = build(kind, "Order", lines=list[line])
    classes = ClassRegistry()
    classes.register(line, "L", readonly=["owner"])
    (got,) = Calls(order, classes)({"lines": [{"quantity": 1, "owner": "x"}]}).lines
    assert (got.quantity, got.owner) == (1, "o")


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Line | None, None, None),
        (Line | None, typed("L", quantity=1), Line(1)),
        (Line | None, {"quantity": 1}, Line(1)),
        (list[Line] | None, [typed("L", quantity=1)], [Line(1)]),
        (tuple[Line, ...], [typed("L", quantity=1)], (Line(1),)),
        (tuple[str, Line], ["a", typed("L", quantity=1)], ("a", Line(1))),
        (dict[str, list[Line]], {"a": [typed("L", quantity=1)]}, {"a": [Line(1)]}),
        (dict[int, Line], amfgate.EcmaArray({7: typed("L", quantity=1)}), {7: Line(1)}),
        (Annotated[list[Line], msgspec.Meta(min_length=1)], [typed("L", quantity=1)], [Line(1)]),
        (typing.Sequence[Line], [typed("L", quantity=1)], [Line(1)]),
        (typing.Iterable[Line], [typed("L", quantity=1)], [Line(1)]),
        (
            Options,
            {"line": typed("L", quantity=1), "day": dt.date(2020, 1, 2), "more": 1},
            {"line": Line(1), "day": dt.date(2020, 1, 2)},
        ),
        (typing.NewType("Row", Line), typed("L", quantity=1), Line(1)),
        (dt.date, dt.date(2020, 1, 2), dt.date(2020, 1, 2)),
        (dt.timedelta, 1.5, dt.timedelta(seconds=1.5)),
        (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
        (int, float(2**60), 2**60),
        (PurePosixPath, "a/b", PurePosixPath("a/b")),
    ],
)
def test_annotations_of_parameters(annotation: Any, value: Any, expected: Any) -> None:
    got = Calls(annotation, registry(L=Line))(value)
    assert got == expected and type(got) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (Line | None, 5, ": expected Line, got int"),
        (Line | None, typed("L", quantity="x"), " $.quantity: expected int, got str"),
        (tuple[str, Line], ["a"], ": expected array of length 2, got 1"),
        (tuple[str, Line], ["a", typed("L", quantity="x")], " $[1].quantity: expected int, got str"),
        (dict[int, Line], amfgate.EcmaArray({7: typed("L", quantity="x")}), " $[7].quantity: expected int, got str"),
        (dict[str, dict[str, int]], {"a": {"b": "x"}}, " $[...][...]: expected int, got str"),
        (Annotated[list[Line], msgspec.Meta(min_length=1)], [], ": expected array of length >= 1"),
        (set[Line], [typed("L", quantity=1)], ": unhashable type: 'Line'"),
        (Options, {"line": 5}, " $.line: expected Line, got int"),
        (Options, {}, ": object missing required field line"),
        (dt.timedelta, 1e300, ": expected timedelta, got 1e+300 seconds"),
        (dt.timedelta, [], ": expected duration, got array"),
        (list[dt.date], [5], " $[0]: expected date, got int"),
    ],
)
def test_what_annotations_of_parameters_refuse(annotation: Any, value: Any, text: str) -> None:
    assert Calls(annotation, registry(L=Line)).fault(value) == f"argument 'order'{text}"


def test_the_argument_at_fault_is_named() -> None:
    def f(first: Line, second: Line | None = None, *more: Line) -> Any: ...

    gateway = amfgate.Gateway(None, {"f": f}, classes=registry(L=Line))
    good, bad = typed("L", quantity=1), typed("L", quantity="x")
    for arguments, name in (([good, bad], "second"), ([bad], "first"), ([good, None, good, bad], "more")):
        reply = wsgi_client.call(gateway, "f", *arguments)
        assert reply.value["description"] == f"f: argument '{name}' $.quantity: expected int, got str"


def test_nothing_is_looked_into_where_nothing_is_annotated() -> None:
    call = Calls(Any, registry(L=Line))
    assert call([typed("L", quantity="x")]) == [Line("x")]  # type: ignore[arg-type]


def test_a_class_registered_after_the_gateway_was_made_is_known() -> None:
    classes = ClassRegistry()
    call = Calls(Line, classes)
    assert call({"quantity": 1}) == Line(1)
    classes.register(Line, "L", rename={"quantity": "q"})
    assert call({"q": 1}) == Line(1)
    assert call.fault(typed("L", q="x")) == "argument 'order' $.q: expected int, got str"


@dataclasses.dataclass
class Shape:
    form: Line | Order | None = None
    free: int | str = 0
    when: dt.date | str | None = None


def test_a_member_of_several_classes_is_told_by_the_class_that_came() -> None:
    call = Calls(Shape, registry(S=Shape, L=Line, Order=Order))
    assert call(typed("S", form=typed("L", quantity=1))).form == Line(1)
    assert call(typed("S", form=typed("Order", lines=[]), free="a", when="b")) == Shape(Order([]), "a", "b")
    assert call(typed("S", when=dt.date(2020, 1, 2))).when == dt.date(2020, 1, 2)
    assert call.fault(typed("S", form={"quantity": 1})) == (
        "argument 'order' $.form: expected test_value_objects.Line | test_value_objects.Order | None, got object"
    )
    assert call.fault(typed("S", form=typed("L", quantity="x"))) == (
        "argument 'order' $.form.quantity: expected int, got str"
    )
    assert call.fault(typed("S", free=[])) == "argument 'order' $.free: expected int | str, got array"


# --- the rules of attrs, msgspec and pydantic ------------------------------------------------------------------------


@attrs.define
class Validated:
    a: int = attrs.field(validator=attrs.validators.ge(3))
    b: str = attrs.field(default="b", validator=attrs.validators.instance_of(str))
    c: Decimal = attrs.field(default=Decimal(0), converter=Decimal)

    @b.validator
    def _no_x(self, attribute: Any, value: str) -> None:
        if value == "x":
            raise ValueError("no x")


def test_validators_and_converters_of_attrs_run_when_the_instance_is_bound(codec: Codec) -> None:
    call = Calls(Validated, registry(V=Validated))
    assert call(typed("V", a=3, c="1.5")) == Validated(3, "b", Decimal("1.5"))
    assert call.fault(typed("V", a=2)) == "argument 'order' $.a: 'a' must be >= 3: 2"
    assert call.fault(typed("V", a=3, b="x")) == "argument 'order' $.b: no x"
    assert call.fault(typed("V", a=3, c="dear")).startswith("argument 'order' $.c: ")
    data = codec.dumps(typed("V", a=2, b=5, c="x"))
    assert codec.loads(data, classes=registry(V=Validated)).c == "x"  # decoded as it came


def test_validators_of_attrs_are_left_out_where_attrs_has_them_disabled() -> None:
    call = Calls(Validated, registry(V=Validated))
    with attrs.validators.disabled():
        assert call(typed("V", a=2)).a == 2


class Bounded(msgspec.Struct):
    a: Annotated[int, msgspec.Meta(ge=3)]
    b: Annotated[str, msgspec.Meta(max_length=2)] = ""


def test_constraints_of_msgspec_hold() -> None:
    call = Calls(Bounded, registry(B=Bounded))
    assert call.fault(typed("B", a=2)) == "argument 'order' $.a: expected int >= 3"
    assert call.fault(typed("B", a=3, b="abc")) == "argument 'order' $.b: expected str of length <= 2"
    assert call(typed("B", a=3)) == Bounded(3)


class Ranged(pydantic.BaseModel):
    low: int = pydantic.Field(ge=0)
    high: int = pydantic.Field(alias="top")
    tag: str = "t"
    _seen: list[int] = pydantic.PrivateAttr(default_factory=list)

    @pydantic.field_validator("tag")
    @classmethod
    def _upper(cls, value: str) -> str:
        return value.upper()

    @pydantic.model_validator(mode="after")
    def _ordered(self) -> Ranged:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def test_a_pydantic_model_is_validated_in_place() -> None:
    classes = ClassRegistry()
    classes.register(Ranged, "R", rename={"low": "lowest"})
    call = Calls(list[Ranged], classes)
    same = typed("R", lowest="1", high=2, tag="a")
    first, second = call([same, same])
    assert first is second
    assert (first.low, first.high, first.tag, first._seen) == (1, 2, "A", [])
    assert first.model_fields_set == {"low", "high", "tag"}
    assert call.fault([typed("R", lowest=-1, high=2)]) == (
        "argument 'order' $[0].lowest: input should be greater than or equal to 0"
    )
    assert call.fault([typed("R", lowest=3, high=2)]) == "argument 'order' $[0]: low is above high"
    assert call.fault([typed("R", lowest=3)]) == "argument 'order' $[0]: object missing required field high"


def test_the_dynamic_members_of_a_pydantic_model_outlive_its_validation() -> None:
    classes = ClassRegistry()
    model = pydantic.create_model("Model", a=(int, ...))
    classes.register(model, "M", dynamic=True)
    got = Calls(model, classes)(typed("M", a=1, odd=2))
    assert (got.a, got.odd) == (1, 2)


@pydantic.dataclasses.dataclass(config={"validate_assignment": True})
class Checked:
    a: int
    b: str = pydantic.Field(default="b", max_length=2)
    own: str = "o"

    def __post_init__(self) -> None:
        if self.a > 9:
            raise ValueError("too many")


def test_a_dataclass_of_pydantic_is_validated_in_place(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Checked, "C", readonly=["own"])
    data = H("0A 13 03 43 03 61 06 03 78")
    assert vars(codec.loads(data, classes=classes)) == {"a": "x", "b": "b", "own": "o"}  # decoded as it came
    call = Calls(list[Checked], classes)
    same = typed("C", a="3", own="x")
    first, second = call([same, same])
    assert first is second and first == Checked(3, "b", "o")
    assert call.fault([typed("C", a="x")]) == "argument 'order' $[0].a: expected int, got str"
    assert call.fault([typed("C", a=1, b="abc")]) == "argument 'order' $[0].b: string should have at most 2 characters"
    assert call.fault([typed("C", a=10)]) == "argument 'order' $[0]: too many"


class Totals(pydantic.BaseModel):
    lines: list[Ranged]
    total: int = 0

    @pydantic.model_validator(mode="after")
    def _sum(self) -> Totals:
        self.total = sum(line.low for line in self.lines)
        return self


def test_inner_models_are_valid_before_outer_ones_are_validated() -> None:
    call = Calls(Totals, registry(T=Totals, R=Ranged))
    lines = [typed("R", low="1", high=2), typed("R", low="2", high=2)]
    assert call(typed("T", lines=lines)).total == 3


def test_post_init_is_not_called() -> None:
    @dataclasses.dataclass
    class Thing:
        a: int

        def __post_init__(self) -> None:
            raise AssertionError("called")

    call = Calls(Thing, registry(T=Thing))
    assert call(typed("T", a=1)).a == 1
    assert call({"a": 1}).a == 1


def test_a_setter_that_refuses_what_a_member_is_converted_to_is_a_fault() -> None:
    class Thing:
        day: dt.date

        def __setattr__(self, name: str, value: Any) -> None:
            if type(value) is dt.date:
                raise ValueError("no dates")
            object.__setattr__(self, name, value)

    assert Calls(Thing, registry(T=Thing)).fault(typed("T", day=dt.date(2020, 1, 2))) == (
        "argument 'order' $.day: no dates"
    )


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Faults are logged; here they are what is asked for."""
    with caplog.at_level("CRITICAL", logger="amfgate"):
        yield
