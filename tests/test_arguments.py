"""How the arguments of a call are fitted to a method: their number, their types, and what is filled in."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Optional, TypedDict
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest

import amfgate
from amfgate import Call, EcmaArray, Exchange, Fault, TypedObject, Xml, undefined
from amfgate.arguments import Binder, converter

if TYPE_CHECKING:
    from nowhere import Missing


class FakeCall:
    def __init__(self, args: list[Any]) -> None:
        self.args: Any = args
        self.keywords: Any = None
        self.exchange = "the exchange"


def bound(function: Any, *args: Any) -> Any:
    """What the function returns when it is called with these arguments from the wire."""
    call = FakeCall(list(args))
    Binder(function, "svc.f").bind(call)
    return function(*call.args, **(call.keywords or {}))


def refusal(function: Any, *args: Any) -> str:
    with pytest.raises(Fault) as caught:
        bound(function, *args)
    assert caught.value.code == "Client.Arguments"
    return caught.value.description


# Number


def test_arguments_are_bound_in_their_order() -> None:
    def f(a, b, c=3):  # type: ignore[no-untyped-def]
        return a, b, c

    assert bound(f, 1, 2) == (1, 2, 3)
    assert bound(f, 1, 2, "x") == (1, 2, "x")


def test_a_missing_argument_is_named() -> None:
    def f(a, b, c=3):  # type: ignore[no-untyped-def]
        raise AssertionError

    assert refusal(f) == "svc.f(a, b, c=): 0 arguments were given; missing: 'a', 'b'"
    assert refusal(f, 1) == "svc.f(a, b, c=): 1 arguments were given; missing: 'b'"


def test_too_many_arguments_are_counted() -> None:
    def f(a, b=2):  # type: ignore[no-untyped-def]
        raise AssertionError

    assert refusal(f, 1, 2, 3, 4) == "svc.f(a, b=): 4 arguments were given, 2 too many"


def test_any_number_fits_a_starred_parameter() -> None:
    def f(a, *more: int):  # type: ignore[no-untyped-def]
        return a, more

    assert bound(f, 1) == (1, ())
    assert bound(f, 1, 2, 3) == (1, (2, 3))
    assert refusal(f) == "svc.f(a, *more): 0 arguments were given; missing: 'a'"
    assert refusal(f, 1, 2, "x") == "svc.f: argument 'more': expected int, got str"


def test_keyword_only_parameters_keep_their_defaults() -> None:
    def f(a, *, b=2, **rest):  # type: ignore[no-untyped-def]
        return a, b, rest

    assert bound(f, 1) == (1, 2, {})
    assert refusal(f, 1, 5) == "svc.f(a): 2 arguments were given, 1 too many"


def test_a_keyword_only_parameter_without_default_is_refused_at_once() -> None:
    def f(a, *, b):  # type: ignore[no-untyped-def]
        raise AssertionError

    with pytest.raises(TypeError, match=r"svc.f cannot be called: its parameter 'b' is taken by keyword only"):
        Binder(f, "svc.f")


# Filled in


def test_parameters_annotated_call_or_exchange_are_filled_in() -> None:
    def first(call: Call, a: Any) -> Any:
        return call, a

    def last(a: Any, exchange: Exchange) -> Any:
        return a, exchange

    def both(a: Any, call: Call, b: Any, exchange: Exchange, c: Any = 3) -> Any:
        return a, call, b, exchange, c

    def keyword(a: Any, *, call: Call) -> Any:
        return a, call

    def optional(a: Any, call: Call | None = None, exchange: Exchange | None = None) -> Any:
        return a, call, exchange

    for function, places in ((first, (0,)), (last, ()), (both, (1,)), (keyword, (1,)), (optional, (1,))):
        call = FakeCall([1, 2] if function is both else [1])
        Binder(function, "svc.f").bind(call)
        found = function(*call.args, **(call.keywords or {}))
        assert [place for place, value in enumerate(found) if value is call] == list(places)
        assert (found.count("the exchange") == 1) == (function in (last, both, optional))


def test_defaults_stand_in_for_what_the_caller_leaves_out_in_front_of_a_filled_parameter() -> None:
    def f(a: int = 1, b: int = 2, call: Call = None, c: int = 3, exchange: Exchange = None) -> Any:  # type: ignore[assignment]
        return a, b, type(call), c, exchange

    assert bound(f) == (1, 2, FakeCall, 3, "the exchange")
    assert bound(f, 7) == (7, 2, FakeCall, 3, "the exchange")
    assert bound(f, 7, 8, 9) == (7, 8, FakeCall, 9, "the exchange")
    assert refusal(f, 1, 2, 3, 4) == "svc.f(a=, b=, c=): 4 arguments were given, 1 too many"


def test_a_class_may_say_how_its_parameters_are_filled() -> None:
    assert bound(with_session, 1) == (1, "session of the exchange")


class Session:
    @staticmethod
    def __from_call__(call: Any) -> str:
        return f"session of {call.exchange}"


def with_session(a: int, session: Session) -> Any:
    return a, session


# Types


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Line:
    name: str
    quantity: int = 1


@dataclasses.dataclass
class Order:
    lines: list[Line]


class Point(msgspec.Struct):
    x: int
    y: int = 0


@attrs.define
class Size:
    width: float


class Pair(NamedTuple):
    a: int
    b: str


class Options(TypedDict):
    depth: int


class Model(pydantic.BaseModel):
    count: int


class Ordinary:
    pass


def as_(annotation: Any, value: Any) -> Any:
    convert = converter(annotation)
    assert convert is not None
    return convert(value)


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (float, 2.5, 2.5),
        (str, "a", "a"),
        (bool, True, True),
        (bytes, b"a", b"a"),
        (bytearray, b"a", bytearray(b"a")),
        (list[int], [1, 2], [1, 2]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2, 1], {1, 2}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[int, str], EcmaArray({3: "a"}), {3: "a"}),
        (Sequence[int], [1], [1]),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (Literal["a", "b"], "a", "a"),
        (int | None, None, None),
        (Optional[int], 3, 3),  # noqa: UP045
        (int | str, "a", "a"),
        (Annotated[int, msgspec.Meta(ge=1)], 3, 3),
        (Colour, "red", Colour.RED),
        (Decimal, "1.50", Decimal("1.50")),
        (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
        (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
        (dt.time, "10:30:00", dt.time(10, 30)),
        (Line, {"name": "tea", "quantity": 2}, Line("tea", 2)),
        (Line, {"name": "tea"}, Line("tea", 1)),
        (Line, TypedObject("com.Line", {"name": "tea"}), Line("tea", 1)),
        (Order, {"lines": [{"name": "tea"}]}, Order([Line("tea", 1)])),
        (Point, {"x": 1}, Point(1, 0)),
        (Size, {"width": 2}, Size(2.0)),
        (Pair, [1, "a"], Pair(1, "a")),
        (Options, {"depth": 3}, {"depth": 3}),
        (Model, {"count": 3}, Model(count=3)),
        (list[Model], [{"count": 3}], [Model(count=3)]),
    ],
)
def test_values_are_converted_to_the_annotation(annotation: Any, value: Any, expected: Any) -> None:
    found = as_(annotation, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int, "5", "Expected `int`, got `str`"),
        (int, 2.5, "Expected `int`, got `float`"),
        (int, True, "Expected `int`, got `bool`"),
        (float, True, "Expected `float`, got `bool`"),
        (str, 5, "Expected `str`, got `int`"),
        (bool, 1, "Expected `bool`, got `int`"),
        (int, None, "Expected `int`, got `null`"),
        (int, undefined, "Expected `int`, got `null`"),
        (bytes, "abcd", "Expected `bytes`, got `str`"),
        (dt.datetime, amfgate.invalid_date, "Expected `datetime`, got `InvalidDate`"),
        (list[int], [1, "a"], "Expected `int`, got `str` - at `$[1]`"),
        (Order, {"lines": [{"name": "tea", "quantity": "2"}]}, "Expected `int`, got `str` - at `$.lines[0].quantity`"),
        (Order, {}, "Object missing required field `lines`"),
        (Colour, "blue", "Invalid enum value 'blue'"),
        (Ordinary, {}, "Expected `Ordinary`, got `dict`"),
        (list[Ordinary], [5], "Expected `Ordinary`, got `int` - at `$[0]`"),
        (Model, {"count": "x"}, "expected int, got str - at `$.count`"),
        (Model, 5, "Expected `Model`, got `int`"),
    ],
)
def test_values_that_do_not_fit_are_refused(annotation: Any, value: Any, text: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=re.escape(text)):
        as_(annotation, value)


def test_no_annotation_any_and_object_take_anything() -> None:
    assert converter(Any) is None
    assert converter(object) is None


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Ordinary, Ordinary()),
        (Line, Line("tea")),
        (Point, Point(1)),
        (Model, Model(count=1)),
        (list, [1]),
        (list, amfgate.Vector("int", [1])),
        (dict, {"a": 1}),
        (dict, TypedObject("a.B", {"a": 1})),
        (str, Xml("<a/>")),
        (TypedObject, TypedObject("a.B")),
        (amfgate.Dictionary, amfgate.Dictionary()),
        (dt.datetime, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
        (dt.date, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
        (Optional[Ordinary], Ordinary()),  # noqa: UP045
        (Sequence, [1]),
        (Mapping, {}),
    ],
)
def test_a_value_of_the_annotated_class_passes_as_it_is(annotation: Any, value: Any) -> None:
    assert as_(annotation, value) is value


def test_instances_inside_converted_containers_are_the_same_objects() -> None:
    line = Line("tea")
    assert as_(list[Line], [line])[0] is line


def test_converted_containers_are_copies() -> None:
    inner = [1]
    value = [inner]
    found = as_(list[list[int]], value)
    assert found == value
    assert found is not value and found[0] is not inner
    assert as_(list[Any], value)[0] is inner


def test_arguments_are_converted_in_their_place() -> None:
    def f(a: float, b, c: tuple[int, ...] = ()):  # type: ignore[no-untyped-def]
        return a, b, c

    assert repr(bound(f, 1, 2)) == "(1.0, 2, ())"
    assert repr(bound(f, 1, 2, [3])) == "(1.0, 2, (3,))"


def test_the_list_of_arguments_that_came_is_not_changed() -> None:
    def f(a: float, b: Any) -> Any: ...

    args = [1, 2]
    call = FakeCall(args)
    Binder(f, "svc.f").bind(call)
    assert args == [1, 2] and type(args[0]) is int
    assert call.args == [1.0, 2]


def test_a_misfit_is_told_with_parameter_and_path() -> None:
    def f(order: Order, number: int = 1) -> Any: ...

    bad = {"lines": [{"name": "a"}, {"name": "b"}, {"name": "c", "quantity": "3"}]}
    assert refusal(f, bad) == "svc.f: argument 'order' $.lines[2].quantity: expected int, got str"
    assert refusal(f, {"lines": []}, "x") == "svc.f: argument 'number': expected int, got str"


def test_text_of_the_wire_is_escaped_in_what_is_told() -> None:
    def f(colour: Colour) -> Any: ...

    assert refusal(f, "a\nb") == r"svc.f: argument 'colour': invalid enum value 'a\nb'"


def test_null_is_taken_where_it_is_the_default() -> None:
    def f(a: int = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013
        return a

    assert bound(f, None) is None
    assert refusal(f, "x") == "svc.f: argument 'a': expected int | null, got str"


def test_undefined_is_null_for_an_annotated_parameter_and_itself_for_another() -> None:
    def f(a: int | None, b):  # type: ignore[no-untyped-def]
        return a, b

    assert bound(f, undefined, undefined) == (None, undefined)


# Cycles, and copies without end


class Node(msgspec.Struct):
    child: Node | None = None


Tree = dict[str, "Tree"]


class Branch(msgspec.Struct):
    branches: list[Branch]


def takes_node(node: Node) -> Any: ...


def takes_rows(rows: list[list[int]]) -> Any: ...


def takes_branch(branch: Branch) -> Any: ...


CYCLE = ": it contains itself, and so it cannot be converted"


def test_a_cycle_into_a_converted_type_is_a_fault() -> None:
    node: dict[str, Any] = {}
    node["child"] = {"child": node}
    assert refusal(takes_node, node) == "svc.f: argument 'node'" + CYCLE
    rows: list[Any] = []
    rows.append(rows)
    assert refusal(takes_rows, rows) == "svc.f: argument 'rows'" + CYCLE


def test_a_cycle_back_to_a_container_that_is_copied_is_a_fault_below_any_too() -> None:
    def f(rows: list[Any]) -> Any:
        return rows

    rows: list[Any] = []
    rows.append(rows)
    assert refusal(f, rows) == "svc.f: argument 'rows'" + CYCLE


def test_a_cycle_among_values_that_are_not_converted_is_none_of_our_business() -> None:
    def f(rows: list[Any], graph: dict, free: Any) -> Any:  # type: ignore[type-arg]
        return rows, graph, free

    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    rows, graph, free = bound(f, [cycle], cycle, cycle)
    assert rows[0] is cycle and graph is cycle and free is cycle


def test_a_long_chain_is_no_recursion_error() -> None:
    chain: dict[str, Any] = {}
    for _ in range(100_000):
        chain = {"child": chain}
    assert refusal(takes_node, chain) == "svc.f: argument 'node': it nests too deep, or contains itself"


def test_shared_values_are_copied_up_to_ten_thousand_repeats() -> None:
    row = [1] * 99
    assert len(bound(lambda_rows, [row] * 100)) == 100
    assert refusal(lambda_rows, [row] * 103) == (
        "svc.f: argument 'rows': it repeats more than 10000 values, each of which would be copied"
    )


def lambda_rows(rows: list[list[int]]) -> Any:
    return rows


def test_forty_levels_of_sharing_end_at_once() -> None:
    branch: dict[str, Any] = {"branches": []}
    for _ in range(40):
        branch = {"branches": [branch, branch]}
    assert "repeats more than 10000 values" in refusal(takes_branch, branch)


# Annotations


def test_an_annotation_that_cannot_be_made_out_is_refused_at_once() -> None:
    def f(a: Missing, b: int) -> Any: ...

    with pytest.raises(TypeError, match=r"svc.f: the annotation 'Missing' of 'a' cannot be made out .*at run time"):
        Binder(f, "svc.f")


def test_an_annotation_that_is_unknown_only_in_the_result_does_not_matter() -> None:
    def f(a: int) -> Missing: ...

    assert refusal(f, "x") == "svc.f: argument 'a': expected int, got str"


def test_a_union_that_cannot_be_told_apart_is_refused_at_once() -> None:
    def f(a: int | Ordinary) -> Any: ...

    with pytest.raises(TypeError, match=r"svc.f: the annotation of 'a' cannot be converted to: Type unions"):
        Binder(f, "svc.f")


def test_methods_partials_and_callable_objects_have_their_annotations() -> None:
    import functools

    class Service:
        def method(self, a: int) -> Any:
            return a

        def __call__(self, a: int) -> Any:
            return a

    def f(b: str, a: int) -> Any:
        return a

    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return f(*args)

    for function in (Service().method, functools.partial(f, "b"), Service(), functools.partial(wrapper, "b")):
        assert bound(function, 1) == 1
        assert refusal(function, "x") == "svc.f: argument 'a': expected int, got str"
