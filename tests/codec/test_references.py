"""Objects by identity: slots, references, cycles, both ways, in AMF3 (AMF0's slots are in test_amf0_*)."""

from __future__ import annotations

from array import array

import pytest

from amfgate import ClassRegistry, DecodeError, Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml
from amfgate.flex import ArrayCollection

H = bytes.fromhex


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ([], "09 02"),
        ({}, "0A 02"),
        (EcmaArray(), "09 02"),
        (TypedObject("A"), "0A 02"),
        (Vector("int"), "0D 02"),
        (Vector("uint"), "0E 02"),
        (Vector("double"), "0F 02"),
        (Vector("object"), "10 02"),
        (Dictionary(), "11 02"),
        (Rows([], []), "09 02"),
        (set(), "09 02"),
        ((None,), "09 02"),
        (bytearray(), "0C 02"),
        (Xml("x"), "0B 02"),
        (Xml("x", True), "07 02"),
        (array("i"), "0D 02"),
        (array("H"), "0E 02"),
        (array("f"), "0F 02"),
    ],
    ids=repr,
)
def test_a_value_met_twice_is_a_reference_behind_its_own_marker(codec, value, reference):
    assert codec.dumps([value, value]).endswith(H(reference))


def test_a_collection_takes_its_slot_before_its_source(codec):
    inner: list = []
    value = [ArrayCollection(inner), inner]
    assert codec.dumps(value).endswith(H("09 01 01 09 04"))


def test_an_array_takes_its_slot_before_its_items(codec):
    inner: list = []
    assert codec.dumps([[inner], inner]) == H("09 05 01 09 03 01 09 01 01 09 04")


def test_each_row_takes_a_slot(codec):
    shared: list = []
    value = [Rows(["a"], [(None,), (None,)]), shared, shared]
    assert codec.dumps(value) == H("09 07 01 09 05 01 0A 13 01 03 61 01 0A 01 01 09 01 01 09 08")


def test_a_slot_belongs_to_a_value_by_identity_not_by_equality(codec):
    assert codec.dumps([[], []]) == H("09 05 01 09 01 01 09 01 01")


def test_values_that_are_made_on_the_way_are_kept_apart(codec):
    class Made:
        __slots__ = ()

    # each hook call makes a list of its own; were it dropped, the next could get the same id
    assert codec.dumps([Made(), Made()], default=lambda value: []) == H("09 05 01 09 01 01 09 01 01")


@pytest.mark.parametrize("version", [0, 3])
def test_a_temporary_list_of_a_generator_does_not_become_a_reference(codec, version):
    value = codec.loads(codec.dumps(([n] for n in range(500)), version=version), version=version)
    assert value == [[n] for n in range(500)]


def test_the_empty_tuple_is_written_out_each_time_in_its_own_slot(codec):
    shared: list = []
    assert codec.dumps([(), (), frozenset(), shared, shared]) == H("09 0B 01 09 01 01 09 01 01 09 01 01 09 01 01 09 08")


def test_slot_64_takes_two_bytes(codec):
    value: list = [[] for _ in range(64)]
    assert codec.dumps([*value, value[-1]])[-3:] == H("09 8100")


@pytest.mark.parametrize(
    ("data", "inner"),
    [
        pytest.param("09 03 01 09 00", lambda value: value[0], id="array"),
        pytest.param("0A 0B 01 03 61 0A 00 01", lambda value: value["a"], id="object"),
        pytest.param("09 01 03 61 09 00 01", lambda value: value["a"], id="associative-array"),
        pytest.param("09 03 03 61 01 01 09 00", lambda value: value[0], id="dense-part-of-it"),
        pytest.param("10 03 00 01 10 00", lambda value: value[0], id="vector"),
        pytest.param("11 03 00 11 00 01", lambda value: next(iter(value)), id="key-of-a-dictionary"),
        pytest.param("11 03 00 01 11 00", lambda value: value[None], id="value-of-a-dictionary"),
        pytest.param("0A 13 03 41 03 61 0A 00", lambda value: value["a"], id="typed-object"),
    ],
)
def test_a_value_can_hold_itself(codec, data, inner):
    value = codec.loads(H(data))
    assert inner(value) is value


@pytest.mark.parametrize(
    "data",
    [
        "09 03 01 09 00",
        "0A 0B 01 03 61 0A 00 01",
        "09 01 03 61 09 00 01",
        "10 03 00 01 10 00",
        "11 03 00 11 00 01",
        "0A 13 03 41 03 61 0A 00",
    ],
)
def test_a_cycle_is_written_as_it_came(codec, data):
    assert codec.dumps(codec.loads(H(data)), strings="all") == H(data)


def test_a_collection_can_hold_itself(codec):
    data = H("0A 07 43") + b"flex.messaging.io.ArrayCollection" + H("09 03 01 0A 00")
    value = codec.loads(data)
    assert value.source[0] is value


def test_an_instance_can_hold_itself(codec):
    class Node:
        next: object

    classes = ClassRegistry()
    classes.register(Node, "N")
    value = codec.loads(H("0A 13 03 4E 09 6E657874 0A 00"), classes=classes)
    assert value.next is value


def test_a_reference_is_looked_up_by_index_alone(codec):
    value = codec.loads(H("09 05 01 0A 0B 01 01 0C 02"))
    assert value[0] is value[1]


def test_every_kind_takes_a_slot_when_read(codec):
    value = codec.loads(
        H(
            "09 19 01"  # slot 0
            "07 03 61 0B 03 61 08 01 0000000000000000 09 01 01 0A 0B 01 01 0C 03 61"  # 1 to 6
            "0D 01 00 0E 01 00 0F 01 00 10 01 00 01 11 01 00"  # 7 to 11
            "11 16"
        )
    )
    assert value[11] is value[10]


def test_strings_and_numbers_take_none(codec):
    value = codec.loads(H("09 0D 01 06 03 61 04 01 05 3FF0000000000000 03 0A 0B 01 01 0A 02"))
    assert value[5] is value[4]


def test_a_named_tuple_cannot_be_referred_to_before_it_is_complete(codec):
    from collections import namedtuple

    classes = ClassRegistry()
    classes.register(namedtuple("Pair", ["a"]), "P")
    with pytest.raises(DecodeError, match="object reference 0 is to an object that is not complete") as caught:
        codec.loads(H("0A 13 03 50 03 61 0A 00"), classes=classes)
    assert caught.value.offset == 6


@pytest.mark.parametrize("version", [0, 3])
def test_a_shared_list_is_one_list_after_decoding(codec, version):
    shared = [1]
    first, second = codec.loads(codec.dumps([shared, shared], version=version), version=version)
    assert first is second


def test_a_generator_met_twice_is_one_list(codec):
    items = (n for n in [None])
    assert codec.dumps([items, items]) == H("09 05 01 09 03 01 01 09 02")


def test_amf0_has_no_reference_to_a_named_tuple_either(codec):
    from collections import namedtuple

    classes = ClassRegistry()
    classes.register(namedtuple("Pair", ["a"]), "P")
    with pytest.raises(DecodeError, match="reference 0 is to an object that is not complete") as caught:
        codec.loads(H("10 0001 50 0001 61 07 0000 000009"), version=0, classes=classes)
    assert caught.value.offset == 7
