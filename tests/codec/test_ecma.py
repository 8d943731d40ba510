"""Associative arrays: EcmaArray both ways, in both versions."""

from __future__ import annotations

import pytest

from amfgate import EcmaArray, EncodeError

H = bytes.fromhex


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0", 0),
        ("1", 1),
        ("4294967294", 4294967294),
        ("4294967295", "4294967295"),
        ("99999999999", "99999999999"),
        ("01", "01"),
        ("-1", "-1"),
        ("2.5", "2.5"),
        ("+1", "+1"),
        ("1 ", "1 "),
        ("\u0661", "\u0661"),  # a digit, but not an ASCII one
        ("\u00b2", "\u00b2"),
    ],
)
@pytest.mark.parametrize("version", [0, 3])
def test_a_key_is_an_int_when_it_is_the_decimal_text_of_an_index(codec, version, text, key):
    name = text.encode()
    if version == 0:
        data = H("08 00000000") + len(name).to_bytes(2, "big") + name + H("05 000009")
    else:
        data = H("09 01") + bytes([len(name) << 1 | 1]) + name + H("01 01")
    ((found, _),) = codec.loads(data, version=version).items()
    assert (type(found), found) == (type(key), key)


def test_gaps_are_kept(codec):
    value = codec.loads(H("08 00000001 0001 31 02 0005 68656C6C6F 000009"), version=0)
    assert (type(value), value, value.count) == (EcmaArray, {1: "hello"}, 1)


def test_the_key_that_is_no_name_is_one_in_amf0(codec):
    assert codec.loads(H("08 00000000 0000 05 000009"), version=0) == {"": None}


def test_amf3_has_the_associative_part_before_the_dense_one(codec):
    value = codec.loads(H("09 05 03 61 01 01 04 05 04 06"))
    assert (type(value), list(value.items()), value.count) == (EcmaArray, [("a", None), (0, 5), (1, 6)], 2)


def test_of_a_repeated_index_the_dense_value_wins(codec):
    assert codec.loads(H("09 03 03 30 01 01 04 05")) == {0: 5}


def test_an_array_without_associative_part_is_a_list(codec):
    assert type(codec.loads(H("09 01 01"))) is list


def test_the_dense_part_is_what_runs_from_0(codec):
    value = EcmaArray({0: None, 1: True, 3: False, "a": None})
    assert codec.dumps(value) == H("09 05 03 33 02 03 61 01 01 01 03")


def test_an_array_with_the_count_0_has_no_dense_part(codec):
    assert codec.dumps(EcmaArray({0: None}, count=0)) == H("09 01 03 30 01 01")


def test_a_count_larger_than_the_array_is_no_more_than_it_has(codec):
    assert codec.dumps(EcmaArray({0: None, "a": True}, count=9)) == H("09 03 03 61 03 01 01")


@pytest.mark.parametrize(
    "data", ["09 01 03 61 01 01", "09 05 03 61 01 01 04 05 04 06", "09 01 03 30 01 01", "09 01 03 30 01 03 32 01 01"]
)
def test_amf3_goes_out_as_it_came(codec, data):
    assert codec.dumps(codec.loads(H(data)), strings="all") == H(data)


@pytest.mark.parametrize(
    "data",
    ["08 00000000 000009", "08 00000007 0001 61 05 000009", "08 00000002 0001 30 05 0001 61 05 000009"],
)
def test_amf0_goes_out_as_it_came(codec, data):
    assert codec.dumps(codec.loads(H(data), version=0), version=0) == H(data)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (EcmaArray(), "00000000"),
        (EcmaArray({0: None}), "00000001"),
        (EcmaArray({0: None, 1: None}), "00000002"),
        (EcmaArray({2**32 - 2: None}), "FFFFFFFF"),
        (EcmaArray({2**32 - 1: None}), "00000000"),
        (EcmaArray({-1: None}), "00000000"),
    ],
    ids=repr,
)
def test_amf0_declares_the_highest_index_and_one(codec, value, count):
    assert codec.dumps(value, version=0)[1:5] == H(count)


@pytest.mark.parametrize("value", [EcmaArray([(0, 1), ("0", 2)]), EcmaArray([(5, 1), ("5", 2)])], ids=repr)
@pytest.mark.parametrize("version", [0, 3])
def test_two_keys_that_are_one_on_the_wire_are_an_error(codec, version, value):
    with pytest.raises(EncodeError, match="are one on the wire"):
        codec.dumps(value, version=version)
