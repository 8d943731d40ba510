"""Traits of AMF3: headers, references, sealed and dynamic members."""

from __future__ import annotations

import pytest

from amfgate import TypedObject

H = bytes.fromhex


def test_the_second_plain_dict_refers_to_the_traits_of_the_first(codec):
    assert codec.dumps([{}, {}]) == H("09 05 01 0A 0B 01 01 0A 01 01")


def test_the_second_dict_is_not_empty(codec):
    assert codec.dumps([{"a": None}, {"a": True}]) == H("09 05 01 0A 0B 01 03 61 01 01 0A 01 00 03 01")


def test_the_third_dict_of_one_shape_is_written_as_the_second(codec):
    value = [{"a": None, "b": 1}, {"a": True, "b": 2}, {"a": False, "b": 3}]
    assert codec.dumps(value) == H(
        "09 07 01 0A 0B 01 03 61 01 03 62 04 01 01 0A 01 00 03 02 04 02 01 0A 01 00 02 02 04 03 01"
    )


def test_the_same_keys_in_another_order_keep_that_order(codec):
    value = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2}]
    assert codec.dumps(value).endswith(H("0A 01 02 04 02 00 04 01 01 0A 01 00 04 01 02 04 02 01"))


def test_dicts_of_one_shape_within_each_other(codec):
    assert codec.dumps({"a": {"a": {"a": None}}}) == H("0A 0B 01 03 61 0A 01 00 0A 01 00 01 01 01 01")


def test_traits_are_told_apart_by_alias_names_and_dynamic(codec):
    value = [
        TypedObject("A", {"x": None}),
        TypedObject("B", {"x": None}),
        TypedObject("A", {"y": None}),
        TypedObject("A", {"x": None}, sealed=["x"], dynamic=True),
        TypedObject("A", {"x": None}),
    ]
    assert codec.dumps(value) == H(
        "09 0B 010A 13 03 41 03 78 010A 13 03 42 02 010A 13 00 03 79 010A 1B 00 02 01 010A 01 01"
    )


def test_eight_sealed_members_need_a_header_of_two_bytes(codec):
    value = TypedObject("A", dict.fromkeys("abcdefgh"))
    assert codec.dumps(value) == H("0A 8103 03 41 0361 0362 0363 0364 0365 0366 0367 0368 0101010101010101")


def test_traits_reference_32_needs_two_bytes(codec):
    value = [*(TypedObject(f"{n:02}") for n in range(33)), TypedObject("32")]
    assert codec.dumps(value)[-3:] == H("0A 8101")


def test_both_objects_of_a_class_are_read(codec):
    value = codec.loads(H("09 05 01 0A 13 03 41 03 78 01 0A 01 03"))
    assert value == [TypedObject("A", {"x": None}), TypedObject("A", {"x": True})]


def test_a_traits_reference_carries_the_dynamic_flag(codec):
    value = codec.loads(H("09 05 01 0A 0B 01 01 0A 01 03 61 01 01"))
    assert value == [{}, {"a": None}]


def test_dynamic_members_follow_the_sealed_ones(codec):
    value = codec.loads(H("0A 1B 03 41 03 78 01 03 79 03 01"))
    assert list(value.items()) == [("x", None), ("y", True)]


def test_a_sealed_member_may_be_named_by_nothing(codec):
    assert dict(codec.loads(H("0A 13 03 41 01 01"))) == {"": None}


def test_a_class_without_members_ends_with_its_header(codec):
    assert codec.loads(H("09 05 01 0A 03 03 41 01")) == [TypedObject("A"), None]


def test_an_externalizable_with_the_dynamic_bit_is_read_and_written_alike(codec):
    data = H("0A 0F 3B") + b"flex.messaging.io.ObjectProxy" + H("0A 0B 01 01")
    assert codec.dumps(codec.loads(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        "0A 13 03 41 03 78 01",
        "0A 1B 03 41 03 78 01 03 79 03 01",
        "0A 1B 03 41 03 78 01 01",
        "0A 13 01 03 78 01",
        "0A 03 03 41",
        "0A 0B 03 41 01",
        "0A 0B 01 03 61 01 01",
        "09 05 01 0A 13 03 41 03 78 01 0A 01 03",
    ],
)
def test_an_object_goes_out_as_it_came(codec, data):
    assert codec.dumps(codec.loads(H(data)), strings="all") == H(data)
