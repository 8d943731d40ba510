"""`plain=True`: ordinary Python for services."""

from __future__ import annotations

import pytest

from amfgate import Dictionary, EcmaArray, TypedObject, Vector, Xml, undefined

H = bytes.fromhex
COLLECTION = H("0A 07 43") + b"flex.messaging.io.ArrayCollection"
PROXY = H("0A 07 3B") + b"flex.messaging.io.ObjectProxy"


@pytest.mark.parametrize(
    ("data", "version", "expected"),
    [
        pytest.param("08 00000000 000009", 0, [], id="empty-ecma-array"),
        pytest.param("08 00000002 0001 30 05 0001 31 01 01 000009", 0, [None, True], id="ecma-array-0-to-n"),
        pytest.param("08 00000002 0001 31 01 01 0001 30 05 000009", 0, [None, True], id="in-another-order"),
        pytest.param("08 00000002 0001 31 05 000009", 0, EcmaArray({1: None}), id="gap"),
        pytest.param("08 00000002 0001 30 05 0001 61 05 000009", 0, EcmaArray({0: None, "a": None}), id="name"),
        pytest.param("08 00000000 0002 3030 05 000009", 0, EcmaArray({"00": None}), id="text-that-is-no-index"),
        pytest.param("09 01 03 30 05 3FF0000000000000 03 31 01 01", 3, [1, None], id="amf3-associative-0-to-n"),
        pytest.param("09 03 03 31 04 01 01 04 05", 3, [5, 1], id="amf3-associative-and-dense"),
        pytest.param("09 01 03 31 04 01 01", 3, EcmaArray({1: 1}), id="amf3-gap"),
        pytest.param("05 4008000000000000", 3, 3, id="whole-double"),
        pytest.param("05 3FF8000000000000", 3, 1.5, id="fraction"),
        pytest.param("05 4340000000000000", 3, 2**53, id="2**53"),
        pytest.param("05 4340000000000001", 3, 2.0**53 + 2, id="beyond-2**53"),
        pytest.param("05 7FF0000000000000", 3, float("inf"), id="infinity"),
        pytest.param("0A 13 01 03 61 01", 3, {"a": None}, id="anonymous-sealed-object"),
        pytest.param("0A 1B 01 03 61 01 03 62 01 01", 3, {"a": None, "b": None}, id="anonymous-sealed-and-dynamic"),
        pytest.param("0A 13 03 41 03 61 01", 3, TypedObject("A", {"a": None}), id="unregistered-class"),
        pytest.param("00", 3, undefined, id="undefined"),
        pytest.param("0D 03 00 00000001", 3, Vector("int", [1]), id="vector"),
        pytest.param("11 03 00 03 01", 3, Dictionary([(True, None)]), id="dictionary"),
        pytest.param("0B 03 61", 3, Xml("a"), id="xml"),
    ],
)
def test_a_value_is_ordinary_python(codec, data, version, expected):
    value = codec.loads(H(data), version=version, plain=True)
    assert (type(value), value) == (type(expected), expected)


def test_doubles_in_a_vector_stay_floats(codec):
    (value,) = codec.loads(H("0F 03 00 3FF0000000000000"), plain=True)
    assert type(value) is float


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(COLLECTION + H("09 03 01 01"), [None], id="array-collection"),
        pytest.param(PROXY + H("0A 0B 01 03 61 01 01"), {"a": None}, id="object-proxy"),
        pytest.param(COLLECTION + H("01"), None, id="of-null"),
        pytest.param(COLLECTION + H("06 03 61"), "a", id="of-text"),
        pytest.param(COLLECTION + H("0A 01 09 03 01 01"), [None], id="of-a-collection"),
        pytest.param(COLLECTION + H("09 01 03 30 01 01"), [None], id="of-an-associative-array"),
        pytest.param(
            H("0A 13 43") + b"flex.messaging.io.ArrayCollection" + H("0D") + b"source" + H("09 03 01 01"),
            [None],
            id="written-with-members",
        ),
    ],
)
def test_a_flex_collection_is_its_source(codec, data, expected):
    value = codec.loads(data, plain=True)
    assert (type(value), value) == (type(expected), expected)


def test_a_reference_to_a_collection_is_its_source(codec):
    first, second = codec.loads(H("09 05 01") + COLLECTION + H("09 01 01 0A 02"), plain=True)
    assert first is second


def test_a_reference_to_the_source_is_the_same_list(codec):
    first, second = codec.loads(H("09 05 01") + COLLECTION + H("09 01 01 09 04"), plain=True)
    assert first is second


def test_a_collection_that_holds_itself_holds_its_source(codec):
    value = codec.loads(COLLECTION + H("09 03 01 0A 00"), plain=True)
    assert value[0] is value


def test_a_registered_class_is_an_instance_all_the_same(codec):
    from amfgate import ClassRegistry

    class Thing:
        a: int

    classes = ClassRegistry()
    classes.register(Thing, "A")
    value = codec.loads(H("0A 13 03 41 03 61 05 3FF0000000000000"), classes=classes, plain=True)
    assert (type(value), value.a, type(value.a)) == (Thing, 1, int)


# What refers to an associative array from inside it has to get the object that it becomes.


def test_a_list_that_holds_itself(codec):
    value = codec.loads(H("08 00000001 0001 30 07 0000 000009"), version=0, plain=True)
    assert (type(value), value[0] is value) == (list, True)


def test_an_array_with_names_that_holds_itself(codec):
    value = codec.loads(H("08 00000001 0001 61 07 0000 000009"), version=0, plain=True)
    assert (type(value), value["a"] is value) == (EcmaArray, True)


def test_an_array_that_holds_itself_before_its_names_come(codec):
    value = codec.loads(H("08 00000001 0001 30 07 0000 0001 61 05 000009"), version=0, plain=True)
    assert (type(value), value[0] is value) == (EcmaArray, True)


def test_amf3_array_that_holds_itself_before_its_names_come(codec):
    value = codec.loads(H("09 03 03 30 09 00 03 61 01 01 04 01"), plain=True)
    assert (type(value), value) == (EcmaArray, {0: 1, "a": None})


def test_two_arrays_that_hold_each_other(codec):
    value = codec.loads(
        H("08 00000000 0001 61 08 00000000 0001 30 07 0000 0001 62 07 0001 000009 000009"), version=0, plain=True
    )
    inner = value["a"]
    assert (inner[0] is value, inner["b"] is inner) == (True, True)


def test_a_reference_after_the_array_is_the_list(codec):
    first, second = codec.loads(H("0A 00000002 08 00000001 0001 30 05 000009 07 0001"), version=0, plain=True)
    assert (first is second, first) == (True, [None])


def test_reading_twice_counts_values_once(codec):
    from amfgate import Limits

    data = H("08 00000001 0001 30 07 0000 0001 61 05 000009")
    value = codec.loads(data, version=0, plain=True, limits=Limits(max_values=3))
    assert value[0] is value


def test_dates_ms_stays_a_float(codec):
    assert type(codec.loads(H("08 01 0000000000000000"), plain=True, dates="ms")) is float


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("11 03 00 01 0A 00", Dictionary),
        ("10 03 00 01 0A 00", Vector),
        ("0A 0B 01 03 61 0A 00 01", dict),
        ("09 01 03 61 0A 00 01", EcmaArray),
        ("09 01 03 30 0A 00 01", list),
    ],
)
def test_a_source_of_any_kind_can_hold_its_collection(codec, source, expected):
    value = codec.loads(COLLECTION + H(source), plain=True)
    (inside,) = value.values() if hasattr(value, "values") else value
    assert (type(value), inside is value) == (expected, True)


def test_amf0_collection_written_with_members(codec):
    data = H("10 0021") + b"flex.messaging.io.ArrayCollection" + H("0006") + b"source" + H("0A 00000001 05 000009")
    assert codec.loads(data, version=0, plain=True) == [None]
