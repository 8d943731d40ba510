"""flash.utils.Dictionary: keys of any kind."""

from __future__ import annotations

import pytest

from amfgate import Dictionary, TypedObject

H = bytes.fromhex


def test_entries_are_written_in_order(codec):
    value = Dictionary([("b", 1), ("a", 2)])
    assert codec.dumps(value) == H("11 05 00 06 03 62 04 01 06 03 61 04 02")


def test_true_one_and_the_double_one_are_three_keys(codec):
    value = Dictionary([(True, None), (1, None), (1.0, None)])
    assert codec.dumps(value) == H("11 07 00 03 01 04 01 01 05 3FF0000000000000 01")


def test_they_are_three_keys_when_read(codec):
    value = codec.loads(H("11 07 00 03 04 0A 04 01 04 0B 05 3FF0000000000000 04 0C"))
    assert list(value.items()) == [(True, 10), (1, 11), (1.0, 12)]


def test_of_equal_keys_the_last_wins_in_the_place_of_the_first(codec):
    value = codec.loads(H("11 07 00 06 03 61 04 01 06 03 62 04 02 06 00 04 03"))
    assert list(value.items()) == [("a", 3), ("b", 2)]


def test_objects_are_keys_by_identity(codec):
    value = codec.loads(H("11 05 00 0A 0B 01 01 04 01 0A 01 01 04 02"))
    assert list(value.items()) == [({}, 1), ({}, 2)]


def test_an_object_met_twice_is_one_key(codec):
    value = codec.loads(H("11 05 00 0A 0B 01 01 04 01 0A 02 04 02"))
    assert list(value.items()) == [({}, 2)]


def test_a_typed_object_can_be_a_key(codec):
    value = codec.loads(H("11 03 00 0A 03 03 41 01"))
    assert list(value.items()) == [(TypedObject("A"), None)]


def test_a_dictionary_can_be_a_key(codec):
    value = codec.loads(H("11 03 00 11 01 00 01"))
    assert list(value.items()) == [(Dictionary(), None)]


@pytest.mark.parametrize(("byte", "weak"), [("00", False), ("01", True), ("02", False), ("FF", False)])
def test_only_01_means_weak(codec, byte, weak):
    assert codec.loads(H("11 01" + byte)).weak is weak


@pytest.mark.parametrize(("weak", "data"), [(False, "11 01 00"), (True, "11 01 01")])
def test_weak_is_written(codec, weak, data):
    assert codec.dumps(Dictionary(weak=weak)) == H(data)


def test_the_dictionary_takes_its_slot_before_its_keys(codec):
    inner: list = []
    assert codec.dumps([Dictionary([(inner, inner)]), inner]) == H("09 05 01 11 03 00 09 01 01 09 04 09 04")


def test_a_dictionary_keeps_what_it_came_with(codec):
    data = H("11 05 00 06 07 626172 06 0B 6173646631 0A 13 07 666F6F 00 04 01 02")
    assert codec.dumps(codec.loads(data), strings="all") == data
