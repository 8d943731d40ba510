"""AMF3 out: each value's bytes, worked out by hand from the format."""

from __future__ import annotations

import pytest

from amfgate import Dictionary, EcmaArray, EncodeError, Rows, TypedObject, Vector, Xml, invalid_date, undefined
from amfgate.flex import ArrayCollection, ObjectProxy

H = bytes.fromhex


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(undefined, H("00"), id="undefined"),
        pytest.param(None, H("01"), id="null"),
        pytest.param(False, H("02"), id="false"),
        pytest.param(True, H("03"), id="true"),
        pytest.param(1.5, H("05 3FF8000000000000"), id="double"),
        pytest.param(2.0, H("05 4000000000000000"), id="whole-float-stays-a-double"),
        pytest.param("", H("06 01"), id="empty-text"),
        pytest.param("h\u00e9", H("06 07 68 C3A9"), id="text-counts-bytes"),
        pytest.param([], H("09 01 01"), id="empty-list"),
        pytest.param([None, True], H("09 05 01 01 03"), id="list"),
        pytest.param((None,), H("09 03 01 01"), id="tuple"),
        pytest.param({}, H("0A 0B 01 01"), id="empty-dict"),
        pytest.param({"a": None, "bc": True}, H("0A 0B 01 03 61 01 05 6263 03 01"), id="dict-in-order"),
        pytest.param({7: None}, H("0A 0B 01 03 37 01 01"), id="int-key-is-its-digits"),
        pytest.param(TypedObject("A", {"x": None}), H("0A 13 03 41 03 78 01"), id="sealed-object"),
        pytest.param(
            TypedObject("A", {"x": None, "y": True}, sealed=["x"], dynamic=True),
            H("0A 1B 03 41 03 78 01 03 79 03 01"),
            id="sealed-and-dynamic-object",
        ),
        pytest.param(TypedObject("", {"x": None}), H("0A 13 01 03 78 01"), id="anonymous-sealed-object"),
        pytest.param(Xml("<a/>"), H("0B 09 3C612F3E"), id="xml"),
        pytest.param(Xml("<a/>", legacy=True), H("07 09 3C612F3E"), id="xml-document"),
        pytest.param(Xml(""), H("0B 01"), id="empty-xml"),
        pytest.param(b"", H("0C 01"), id="no-bytes"),
        pytest.param(b"\x00\xff", H("0C 05 00FF"), id="bytes"),
        pytest.param(invalid_date, H("08 01 7FF8000000000000"), id="invalid-date"),
        pytest.param(EcmaArray({0: None, "a": True}), H("09 03 03 61 03 01 01"), id="associative-before-dense"),
        pytest.param(Vector("object", [None], alias="A"), H("10 03 00 03 41 01"), id="vector-of-a-class"),
        pytest.param(Dictionary([(True, None)]), H("11 03 00 03 01"), id="dictionary"),
        pytest.param(Dictionary([], weak=True), H("11 01 01"), id="weak-dictionary"),
        pytest.param(
            ArrayCollection([None]),
            H("0A 07 43") + b"flex.messaging.io.ArrayCollection" + H("09 03 01 01"),
            id="array-collection",
        ),
        pytest.param(
            ObjectProxy({}), H("0A 07 3B") + b"flex.messaging.io.ObjectProxy" + H("0A 0B 01 01"), id="object-proxy"
        ),
        pytest.param(
            Rows(["a", "b"], [(1, 2), (3, 4)]),
            H("09 05 01 0A 23 01 03 61 03 62 04 01 04 02 0A 01 04 03 04 04"),
            id="rows-name-their-columns-once",
        ),
        pytest.param(Rows(["a"], [(None,)], "R"), H("09 03 01 0A 13 03 52 03 61 01"), id="rows-of-a-class"),
        pytest.param(Rows(["a"], []), H("09 01 01"), id="no-rows"),
    ],
)
def test_a_value_is_written_as_its_marker_and_body(codec, value, expected):
    assert codec.dumps(value) == expected


def test_text_of_64_bytes_needs_a_length_of_two_bytes(codec):
    assert codec.dumps("x" * 64) == H("06 8101") + b"x" * 64


def test_text_of_63_bytes_needs_one(codec):
    assert codec.dumps("x" * 63) == H("06 7F") + b"x" * 63


def test_text_of_2000_bytes_goes_past_the_precomputed_lengths(codec):
    assert codec.dumps("x" * 2000) == H("06 9F21") + b"x" * 2000


def test_a_list_of_200_has_a_count_of_two_bytes(codec):
    assert codec.dumps([None] * 200) == H("09 8311 01") + H("01") * 200


def test_a_sealed_member_that_is_missing_goes_out_as_undefined(codec):
    assert codec.dumps(TypedObject("A", {}, sealed=["x"])) == H("0A 13 03 41 03 78 00")


def test_a_sealed_member_may_have_no_name(codec):
    assert codec.dumps(TypedObject("A", {"": None})) == H("0A 13 03 41 01 01")


def test_sealed_names_may_be_given_as_a_list_later(codec):
    value = TypedObject("A", {"x": None})
    value.sealed = ["x"]  # type: ignore[assignment]
    assert codec.dumps(value) == H("0A 13 03 41 03 78 01")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {"": 1}}, "$.a['']"),
        (EcmaArray({"": 1}), "$['']"),
        (TypedObject("A", {"": 1}, sealed=[], dynamic=True), "$['']"),
    ],
)
def test_a_dynamic_member_or_associative_key_without_name_is_refused(codec, value, path):
    with pytest.raises(EncodeError, match='a dynamic member named "" would end the object') as caught:
        codec.dumps(value)
    assert caught.value.path == path


@pytest.mark.parametrize("key", [1.5, None, True, (1,), b"a"])
@pytest.mark.parametrize("version", [0, 3])
def test_a_key_that_is_neither_text_nor_an_int_is_an_error(codec, key, version):
    with pytest.raises(EncodeError, match="a key is text or a whole number") as caught:
        codec.dumps([{key: 1}], version=version)
    assert caught.value.path == f"$[0][{key!r}]"


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("keys", [(1, "1"), ("1", 1)])
def test_two_keys_that_are_one_on_the_wire_are_an_error(codec, version, keys):
    with pytest.raises(EncodeError, match="the keys 1 and '1' are one on the wire"):
        codec.dumps(dict.fromkeys(keys), version=version)


def test_a_member_that_the_traits_have_no_place_for_is_an_error(codec):
    with pytest.raises(EncodeError, match="the class 'A' is sealed and has no member 'y'"):
        codec.dumps(TypedObject("A", {"x": 1, "y": 2}, sealed=["x"]))


@pytest.mark.parametrize("version", [0, 3])
def test_a_members_name_that_is_no_text_is_an_error(codec, version):
    with pytest.raises(EncodeError, match="a member's name is text, not 1"):
        codec.dumps(TypedObject("A", {1: None}), version=version)


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("alias", [5, b"A", ["A"]])
def test_an_alias_that_is_no_text_is_an_error(codec, version, alias):
    value = TypedObject("A")
    value.alias = alias
    with pytest.raises(EncodeError, match="an alias is text, not"):
        codec.dumps(value, version=version)
