"""Whole numbers, doubles, Decimals."""

from __future__ import annotations

import math
import struct
from decimal import Decimal

import pytest

from amfgate import EncodeError

H = bytes.fromhex

# The edges of the one- to four-byte forms, of 29 bits and of what a double holds exactly.
INTEGERS = [
    (0, "04 00"),
    (1, "04 01"),
    (0x7F, "04 7F"),
    (0x80, "04 8100"),
    (1023, "04 877F"),
    (1024, "04 8800"),
    (0x3FFF, "04 FF7F"),
    (0x4000, "04 818000"),
    (0x1FFFFF, "04 FFFF7F"),
    (0x200000, "04 80C08000"),
    (0xFFFFFFF, "04 BFFFFFFF"),
    (-1, "04 FFFFFFFF"),
    (-0x10000000, "04 C0808000"),
]
DOUBLES = [
    (2**28, "05 41B0000000000000"),
    (-(2**28) - 1, "05 C1B0000001000000"),
    (2**53, "05 4340000000000000"),
    (-(2**53), "05 C340000000000000"),
]


@pytest.mark.parametrize(("value", "expected"), INTEGERS + DOUBLES)
def test_an_int_is_a_u29_in_29_bits_and_a_double_beyond(codec, value, expected):
    assert codec.dumps(value) == H(expected)


@pytest.mark.parametrize(("expected", "data"), INTEGERS)
def test_a_u29_is_an_int_of_29_bits_with_sign(codec, expected, data):
    assert codec.loads(H(data)) == expected


@pytest.mark.parametrize(("expected", "data"), DOUBLES)
def test_a_whole_double_stays_a_float(codec, expected, data):
    value = codec.loads(H(data))
    assert (type(value), value) == (float, expected)


@pytest.mark.parametrize(
    ("data", "expected"),
    [("04 807F", 127), ("04 80807F", 127), ("04 8080807F", 127), ("04 8080FFFF", 0x7FFF), ("04 80808000", 0)],
)
def test_a_longer_form_than_needed_is_read(codec, data, expected):
    assert codec.loads(H(data)) == expected


def test_the_fourth_byte_has_eight_bits(codec):
    assert codec.loads(H("04 808080FF")) == 255


def test_ints_in_a_row_are_written_each_in_its_own_form(codec):
    assert codec.dumps([1, 300, -1, 2**28, 5]) == H("09 0B 01 04 01 04 822C 04 FFFFFFFF 05 41B0000000000000 04 05")


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**30])
def test_an_int_that_a_double_would_change_is_an_error(codec, version, value):
    with pytest.raises(EncodeError, match=f"the int {value} is beyond 2\\*\\*53, where a double would change it"):
        codec.dumps(value, version=version)


def test_an_even_int_beyond_2_53_is_an_error_too(codec):
    with pytest.raises(EncodeError, match="beyond 2"):
        codec.dumps(2**54)


@pytest.mark.parametrize(("version", "marker"), [(0, "00"), (3, "05")])
def test_big_ints_float_sends_the_nearest_double(codec, version, marker):
    assert codec.dumps(2**64 + 1, version=version, big_ints="float") == H(marker + "43F0000000000000")


@pytest.mark.parametrize(("version", "head"), [(0, "02 0014"), (3, "06 29")])
def test_big_ints_string_sends_the_digits(codec, version, head):
    assert codec.dumps(2**64, version=version, big_ints="string") == H(head) + b"18446744073709551616"


def test_big_ints_changes_nothing_within_2_53(codec):
    assert codec.dumps(2**53, big_ints="string") == H("05 4340000000000000")


@pytest.mark.parametrize("choice", ["float", "string"])
def test_an_int_beyond_every_double_or_text_is_an_error(codec, choice):
    with pytest.raises(EncodeError, match="an int .*cannot be sent"):
        codec.dumps(10**5000, big_ints=choice)


def test_the_error_for_an_int_of_many_digits_does_not_print_them(codec):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(10**5000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "bits", ["7FF8000000000000", "FFF8000000000000", "7FFFFFFFFFFFFFFF", "7FF8000000000001", "8000000000000000"]
)
@pytest.mark.parametrize(("version", "marker"), [(0, "00"), (3, "05")])
def test_a_floats_own_bits_are_written(codec, version, marker, bits):
    value = struct.unpack(">d", H(bits))[0]
    assert codec.dumps(value, version=version) == H(marker + bits)


@pytest.mark.parametrize("bits", ["7FF8000000000000", "FFF8000000000000", "7FFFFFFFFFFFFFFF"])
@pytest.mark.parametrize(("version", "marker"), [(0, "00"), (3, "05")])
@pytest.mark.parametrize("plain", [False, True])
def test_any_nan_is_read(codec, version, marker, bits, plain):
    assert math.isnan(codec.loads(H(marker + bits), version=version, plain=plain))


@pytest.mark.parametrize(("version", "marker"), [(0, "00"), (3, "05")])
@pytest.mark.parametrize(("bits", "expected"), [("7FF0000000000000", math.inf), ("FFF0000000000000", -math.inf)])
def test_infinities_travel(codec, version, marker, bits, expected):
    data = H(marker + bits)
    assert (codec.loads(data, version=version), codec.dumps(expected, version=version)) == (expected, data)


@pytest.mark.parametrize("plain", [False, True])
def test_minus_zero_is_a_float(codec, plain):
    assert repr(codec.loads(H("05 8000000000000000"), plain=plain)) == "-0.0"


@pytest.mark.parametrize(
    ("digits", "bits"),
    [
        ("0.1", "3FB999999999999A"),
        ("0.10", "3FB999999999999A"),
        ("-2.5", "C004000000000000"),
        ("1E+16", "4341C37937E08000"),
        ("Infinity", "7FF0000000000000"),
        ("-0", "8000000000000000"),
        ("NaN", "7FF8000000000000"),
    ],
)
@pytest.mark.parametrize(("version", "marker"), [(0, "00"), (3, "05")])
def test_a_decimal_whose_digits_a_double_gives_back_is_that_double(codec, version, marker, digits, bits):
    assert codec.dumps(Decimal(digits), version=version) == H(marker + bits)


@pytest.mark.parametrize(
    "digits", ["0.1000000000000000055511151231257827", "9007199254740993", "1E+400", "3.14159265358979323846"]
)
@pytest.mark.parametrize("version", [0, 3])
def test_a_decimal_that_a_double_would_change_is_an_error(codec, version, digits):
    with pytest.raises(EncodeError, match="is not exact as a double") as caught:
        codec.dumps({"price": Decimal(digits)}, version=version)
    assert caught.value.path == "$.price"


@pytest.mark.parametrize(("version", "head"), [(0, "02 0004"), (3, "06 09")])
def test_decimals_string_sends_the_digits(codec, version, head):
    assert codec.dumps(Decimal("1.50"), version=version, decimals="string") == H(head) + b"1.50"


def test_equal_decimals_share_a_text(codec):
    value = [Decimal("1.50"), Decimal("1.50")]
    assert codec.dumps(value, decimals="string") == H("09 05 01 06 09 312E3530 06 00")
