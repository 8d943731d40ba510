"""AMF0 out: each value's bytes, worked out by hand from the format."""

from __future__ import annotations

import pytest

import amfgate
from amfgate import EcmaArray, EncodeError, Rows, TypedObject, Vector, Xml, invalid_date, undefined
from amfgate.flex import ArrayCollection

H = bytes.fromhex


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, H("05"), id="null"),
        pytest.param(undefined, H("06"), id="undefined"),
        pytest.param(True, H("01 01"), id="true"),
        pytest.param(False, H("01 00"), id="false"),
        pytest.param(1, H("00 3FF0000000000000"), id="one-is-a-double"),
        pytest.param(0, H("00 0000000000000000"), id="zero"),
        pytest.param(-1, H("00 BFF0000000000000"), id="minus-one"),
        pytest.param(1.5, H("00 3FF8000000000000"), id="float"),
        pytest.param(2**53, H("00 4340000000000000"), id="largest-exact-int"),
        pytest.param("", H("02 0000"), id="empty-text"),
        pytest.param("h\u00e9", H("02 0003 68 C3A9"), id="text-counts-bytes"),
        pytest.param([], H("0A 00000000"), id="empty-list"),
        pytest.param([1, None], H("0A 00000002 00 3FF0000000000000 05"), id="list"),
        pytest.param((True,), H("0A 00000001 01 01"), id="tuple"),
        pytest.param({}, H("03 000009"), id="empty-dict"),
        pytest.param({"a": None, "bc": True}, H("03 0001 61 05 0002 6263 01 01 000009"), id="dict-in-order"),
        pytest.param({7: None}, H("03 0001 37 05 000009"), id="int-key-is-its-digits"),
        pytest.param({-7: None}, H("03 0002 2D37 05 000009"), id="negative-int-key"),
        pytest.param({"": True}, H("03 0000 01 01 000009"), id="member-named-by-nothing"),
        pytest.param(TypedObject("A.B", {"x": None}), H("10 0003 412E42 0001 78 05 000009"), id="typed-object"),
        pytest.param(TypedObject("", {"x": None}), H("03 0001 78 05 000009"), id="object-without-alias"),
        pytest.param(Xml("<a/>"), H("0F 00000004 3C612F3E"), id="xml"),
        pytest.param(invalid_date, H("0B 7FF8000000000000 0000"), id="invalid-date"),
        pytest.param(Vector("int", [1]), H("0A 00000001 00 3FF0000000000000"), id="vector-is-a-strict-array"),
        pytest.param(ArrayCollection([None]), H("0A 00000001 05"), id="flex-collection-is-its-source"),
        pytest.param(b"\x01\x02", H("11 0C 05 0102"), id="bytes-switch-to-amf3"),
        pytest.param(
            Rows(["a", "b"], [(None, True)]),
            H("0A 00000001 03 0001 61 05 0001 62 01 01 000009"),
            id="rows-are-objects",
        ),
        pytest.param(Rows(["a"], [(None,)], "R"), H("0A 00000001 10 0001 52 0001 61 05 000009"), id="rows-of-a-class"),
    ],
)
def test_a_value_is_written_as_its_marker_and_body(codec, value, expected):
    assert codec.dumps(value, version=0) == expected


def test_text_of_65535_bytes_has_a_two_byte_length(codec):
    assert codec.dumps("x" * 65_535, version=0) == H("02 FFFF") + b"x" * 65_535


def test_text_of_65536_bytes_is_a_long_string(codec):
    assert codec.dumps("x" * 65_536, version=0) == H("0C 00010000") + b"x" * 65_536


def test_a_key_of_65535_bytes_is_written(codec):
    assert codec.dumps({"k" * 65_535: None}, version=0) == H("03 FFFF") + b"k" * 65_535 + H("05 000009")


def test_a_key_of_65536_bytes_is_an_error_and_no_broken_stream(codec):
    with pytest.raises(EncodeError, match="a key of 65536 bytes; AMF0 has two bytes for its length"):
        codec.dumps({"k" * 65_536: None}, version=0)


def test_an_alias_of_65536_bytes_is_an_error(codec):
    with pytest.raises(EncodeError, match="an alias of 65536 bytes"):
        codec.dumps(TypedObject("k" * 65_536), version=0)


def test_a_sealed_member_that_is_missing_goes_out_as_undefined(codec):
    assert codec.dumps(TypedObject("A", {}, sealed=["x"]), version=0) == H("10 0001 41 0001 78 06 000009")


def test_an_ecma_array_declares_its_highest_index_and_one(codec):
    assert codec.dumps(EcmaArray({4: True}), version=0) == H("08 00000005 0001 34 01 01 000009")


def test_an_ecma_array_of_named_members_declares_zero(codec):
    assert codec.dumps(EcmaArray({"a": None}), version=0) == H("08 00000000 0001 61 05 000009")


def test_an_ecma_array_keeps_the_count_that_it_came_with(codec):
    assert codec.dumps(EcmaArray({"a": None}, count=9), version=0) == H("08 00000009 0001 61 05 000009")


def test_a_dictionary_with_text_keys_is_an_object(codec):
    value = amfgate.Dictionary({"a": None})
    assert codec.dumps(value, version=0) == H("03 0001 61 05 000009")


def test_a_dictionary_with_other_keys_is_an_error_that_names_the_key(codec):
    with pytest.raises(EncodeError, match=r"AMF0 has no Dictionary, and 7 is no name of a member at \$\.key1"):
        codec.dumps(amfgate.Dictionary([("a", None), (7, None)]), version=0)


def test_a_list_met_twice_is_a_reference_to_its_slot(codec):
    shared: list = []
    assert codec.dumps([shared, shared], version=0) == H("0A 00000002 0A 00000000 07 0001")


def test_equal_lists_are_written_twice(codec):
    assert codec.dumps([[], []], version=0) == H("0A 00000002 0A 00000000 0A 00000000")


def test_a_cycle_is_a_reference_to_slot_0(codec):
    value: list = []
    value.append(value)
    assert codec.dumps(value, version=0) == H("0A 00000001 07 0000")


def test_dates_and_what_stands_behind_11_take_no_slot(codec):
    shared: dict = {}
    value = [invalid_date, b"ab", shared, shared]
    assert codec.dumps(value, version=0) == H("0A 00000004 0B 7FF8000000000000 0000 11 0C 05 6162 03 000009 07 0001")


def test_xml_takes_a_slot(codec):
    xml = Xml("x", True)
    assert codec.dumps([xml, xml], version=0) == H("0A 00000002 0F 00000001 78 07 0001")


def test_a_row_takes_a_slot_of_its_own(codec):
    shared: dict = {}
    value = [Rows(["a"], [(None,), (None,)]), shared, shared]
    assert codec.dumps(value, version=0) == H(
        "0A 00000003 0A 00000002 03 0001 61 05 000009 03 0001 61 05 000009 03 000009 07 0004"
    )


def test_an_empty_tuple_met_twice_is_written_twice_and_takes_two_slots(codec):
    shared: list = []
    assert codec.dumps([(), (), shared, shared], version=0) == H(
        "0A 00000004 0A 00000000 0A 00000000 0A 00000000 07 0003"
    )


def test_the_value_in_slot_65535_has_a_reference(codec):
    value: list = [[] for _ in range(65_535)]  # the outer list is slot 0
    value.append(value[-1])
    assert codec.dumps(value, version=0)[-8:] == H("0A 00000000 07 FFFF")


def test_the_value_after_slot_65535_has_none_and_is_written_out_again(codec):
    value: list = [[] for _ in range(65_536)]
    value.append(value[-1])
    assert codec.dumps(value, version=0)[-10:] == H("0A 00000000 0A 00000000")


def test_tables_of_amf3_last_for_all_switches_of_one_value(codec):
    shared = b"ab"
    assert codec.dumps([shared, shared], version=0) == H("0A 00000002 11 0C 05 6162 11 0C 00")


def test_collections_within_each_other_are_their_innermost_source(codec):
    assert codec.dumps(ArrayCollection(ArrayCollection([None])), version=0) == H("0A 00000001 05")


def test_a_collection_that_is_its_own_source_is_an_error(codec):
    value = ArrayCollection()
    value.source = value
    with pytest.raises(EncodeError, match="32 collections within each other hold nothing else"):
        codec.dumps(value, version=0)
