"""Vectors, and the arrays of numpy and the standard library that travel as them."""

from __future__ import annotations

import sys
from array import array
from enum import IntEnum

import numpy
import pytest

from amfgate import DecodeError, EncodeError, Vector

H = bytes.fromhex
TEXT = "w" if sys.version_info >= (3, 13) else "u"  # the type code of characters


class Level(IntEnum):
    HIGH = 3


NUMBERS = [
    (Vector("int", [1, -1]), "0D 05 00 00000001 FFFFFFFF"),
    (Vector("int", [2**31 - 1, -(2**31)]), "0D 05 00 7FFFFFFF 80000000"),
    (Vector("uint", [0, 2**32 - 1]), "0E 05 00 00000000 FFFFFFFF"),
    (Vector("double", [1.5, -0.0]), "0F 05 00 3FF8000000000000 8000000000000000"),
    (Vector("int", [], fixed=True), "0D 01 01"),
    (Vector("object", ["a", None], alias="A"), "10 05 00 03 41 06 03 61 01"),
    (Vector("object", [], fixed=True), "10 01 01 01"),
]


@pytest.mark.parametrize(("value", "data"), NUMBERS)
def test_a_vector_is_written(codec, value, data):
    assert codec.dumps(value) == H(data)


@pytest.mark.parametrize(("expected", "data"), NUMBERS)
def test_a_vector_is_read_with_its_kind_and_whether_it_is_fixed(codec, expected, data):
    value = codec.loads(H(data))
    assert (type(value), value, value.kind, value.fixed, value.alias) == (
        Vector,
        expected,
        expected.kind,
        expected.fixed,
        expected.alias,
    )


def test_the_bits_of_a_nan_in_a_vector_are_kept(codec):
    data = H("0F 03 00 FFF8000000000000")
    assert codec.dumps(codec.loads(data)) == data


def test_any_byte_but_zero_means_fixed(codec):
    assert codec.loads(H("0D 01 02")).fixed


@pytest.mark.parametrize(
    ("kind", "item"),
    [("int", 2**31), ("int", -(2**31) - 1), ("uint", -1), ("uint", 2**32), ("double", 2**53 + 1)],
)
def test_a_number_that_does_not_fit_is_an_error_that_names_its_place(codec, kind, item):
    with pytest.raises(EncodeError, match=f"{item} does not fit a Vector of {kind}") as caught:
        codec.dumps({"v": Vector(kind, [0, item])})
    assert caught.value.path == "$.v[1]"


@pytest.mark.parametrize("kind", ["int", "uint", "double"])
@pytest.mark.parametrize("item", ["1", None, True, [1]])
def test_what_is_no_number_is_an_error_that_names_its_place(codec, kind, item):
    with pytest.raises(EncodeError, match=f"a Vector of {kind} cannot hold a {type(item).__name__}") as caught:
        codec.dumps(Vector(kind, [0, item]))
    assert caught.value.path == "$[1]"


@pytest.mark.parametrize("item", [1.0, 1.5])
def test_a_float_is_no_item_of_a_vector_of_ints(codec, item):
    with pytest.raises(EncodeError, match="a Vector of int cannot hold a float"):
        codec.dumps(Vector("int", [item]))


@pytest.mark.parametrize("item", [3, Level.HIGH, numpy.int64(3), numpy.uint8(3)])
@pytest.mark.parametrize(("kind", "data"), [("int", "0D 03 00 00000003"), ("double", "0F 03 00 4008000000000000")])
def test_an_item_travels_by_its_natural_value(codec, kind, data, item):
    assert codec.dumps(Vector(kind, [item])) == H(data)


def test_a_vector_whose_kind_was_spoilt_is_an_error(codec):
    value = Vector("int", [1])
    value.kind = "float"
    with pytest.raises(EncodeError):
        codec.dumps(value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (array("i", [1, -1]), "0D 05 00 00000001 FFFFFFFF"),
        (array("b", [1]), "0D 03 00 00000001"),
        (array("h", [-2]), "0D 03 00 FFFFFFFE"),
        (array("q", [1]), "0D 03 00 00000001"),
        (array("I", [2**32 - 1]), "0E 03 00 FFFFFFFF"),
        (array("B", [255]), "0E 03 00 000000FF"),
        (array("Q", [1]), "0E 03 00 00000001"),
        (array("d", [1.5]), "0F 03 00 3FF8000000000000"),
        (array("f", [1.5]), "0F 03 00 3FF8000000000000"),
        (array(TEXT, "ab"), "09 05 01 06 03 61 06 03 62"),
        (array("i"), "0D 01 00"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:The 'u' type code:DeprecationWarning")
def test_an_array_is_a_vector_of_its_kind(codec, value, data):
    assert codec.dumps(value) == H(data)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (numpy.array([1, -1], "int32"), "0D 05 00 00000001 FFFFFFFF"),
        (numpy.array([1, -1], ">i2"), "0D 05 00 00000001 FFFFFFFF"),
        (numpy.array([1], "int64"), "0D 03 00 00000001"),
        (numpy.array([255], "uint8"), "0E 03 00 000000FF"),
        (numpy.array([1.5], "float64"), "0F 03 00 3FF8000000000000"),
        (numpy.array([1.5], "float32"), "0F 03 00 3FF8000000000000"),
        (numpy.array([1.5], "float16"), "0F 03 00 3FF8000000000000"),
        (numpy.array([1.5], ">f8"), "0F 03 00 3FF8000000000000"),
        (numpy.arange(6, dtype="int32")[::3], "0D 05 00 00000000 00000003"),
        (numpy.array([], "float64"), "0F 01 00"),
        (numpy.array([True, False]), "09 05 01 03 02"),
        (numpy.array(["a", "b"]), "09 05 01 06 03 61 06 03 62"),
        (numpy.array([None, 1], object), "09 05 01 01 04 01"),
        (numpy.array([[1], [2]], "int32"), "09 05 01 0D 03 00 00000001 0D 03 00 00000002"),
        (numpy.array(5, "int32"), "09 03 01 04 05"),
    ],
    ids=repr,
)
def test_a_numpy_array_of_one_dimension_is_a_vector_and_any_other_a_list(codec, value, data):
    assert codec.dumps(value) == H(data)


@pytest.mark.parametrize(
    ("value", "kind"), [(numpy.array([0, 2**31]), "int"), (numpy.array([0, 2**32], "uint64"), "uint")]
)
def test_a_number_of_a_numpy_array_that_does_not_fit_is_named(codec, value, kind):
    with pytest.raises(EncodeError, match=f"{value[1]} does not fit a Vector of {kind}, which is 32 bits") as caught:
        codec.dumps([value])
    assert caught.value.path == "$[0][1]"


def test_a_number_of_an_array_that_does_not_fit_is_named(codec):
    with pytest.raises(EncodeError, match="does not fit a Vector of int, which is 32 bits") as caught:
        codec.dumps(array("q", [0, 2**31]))
    assert caught.value.path == "$[1]"


def test_the_bits_of_a_nan_in_a_numpy_array_are_kept(codec):
    value = numpy.frombuffer(H("FFF8000000000001"), ">f8")
    assert codec.dumps(value) == H("0F 03 00 FFF8000000000001")


@pytest.mark.parametrize("value", [Vector("int", [1, 2]), array("i", [1, 2]), numpy.array([1, 2], "int32")], ids=repr)
def test_amf0_writes_each_as_a_strict_array(codec, value):
    assert codec.dumps(value, version=0) == H("0A 00000002 00 3FF0000000000000 00 4000000000000000")


def test_a_masked_array_sends_what_is_masked_as_null(codec):
    value = numpy.ma.masked_array([1, 2], mask=[False, True])
    assert codec.dumps(value) == H("09 05 01 04 01 01")


def test_a_vector_is_no_longer_than_the_bytes_that_are_left(codec):
    with pytest.raises(DecodeError, match="a Vector of 268435455 does not fit in the 1 bytes that are left") as caught:
        codec.Decoder(H("0F FFFFFFFF 00")).decode()
    assert caught.value.offset == 5
