"""AMF3 in: what each run of bytes means."""

from __future__ import annotations

import pytest

from amfgate import DecodeError, Dictionary, TypedObject, Vector, Xml, undefined
from amfgate.flex import ArrayCollection

H = bytes.fromhex


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param("00", undefined, id="undefined"),
        pytest.param("01", None, id="null"),
        pytest.param("02", False, id="false"),
        pytest.param("03", True, id="true"),
        pytest.param("05 4008000000000000", 3.0, id="a-whole-double-stays-a-float"),
        pytest.param("06 01", "", id="empty-text"),
        pytest.param("06 07 68 C3A9", "h\u00e9", id="text"),
        pytest.param("06 8001", "", id="long-form-of-no-length"),
        pytest.param("06 8003 61", "a", id="long-form-of-a-length"),
        pytest.param("09 01 01", [], id="empty-list"),
        pytest.param("09 05 01 01 03", [None, True], id="list"),
        pytest.param("0A 0B 01 01", {}, id="empty-object"),
        pytest.param("0A 0B 01 03 61 01 01", {"a": None}, id="object"),
        pytest.param("0C 05 00FF", b"\x00\xff", id="bytes"),
        pytest.param("0C 01", b"", id="no-bytes"),
        pytest.param("10 03 01 03 41 01", Vector("object", [None], fixed=True, alias="A"), id="vector"),
        pytest.param("11 03 00 03 01", Dictionary([(True, None)]), id="dictionary"),
    ],
)
def test_a_value_is_read(codec, data, expected):
    value = codec.loads(H(data))
    assert (type(value), value) == (type(expected), expected)


def test_a_list_of_200_is_read_by_its_whole_count(codec):
    assert codec.loads(H("09 8311 01") + H("01") * 200) == [None] * 200


@pytest.mark.parametrize(("marker", "legacy"), [("07", True), ("0B", False)])
def test_xml_remembers_its_marker(codec, marker, legacy):
    value = codec.loads(H(marker + "09 3C612F3E"))
    assert (type(value), value, value.legacy) == (Xml, "<a/>", legacy)


def test_a_sealed_anonymous_object_is_a_typed_object_without_alias(codec):
    value = codec.loads(H("0A 13 01 03 78 01"))
    assert (type(value), value.alias, value.sealed, value.dynamic) == (TypedObject, "", ("x",), False)


def test_a_class_that_nobody_registered_is_a_typed_object(codec):
    value = codec.loads(H("0A 1B 03 41 03 78 01 03 79 03 01"))
    assert (value.alias, dict(value), value.sealed, value.dynamic) == ("A", {"x": None, "y": True}, ("x",), True)


def test_a_collection_is_the_wrapper_with_its_source(codec):
    value = codec.loads(H("0A 07 43") + b"flex.messaging.io.ArrayCollection" + H("09 03 01 01"))
    assert (type(value), value.source) == (ArrayCollection, [None])


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        ("12", "0x12 is no marker of AMF3", 0),
        ("FF", "0xFF is no marker of AMF3", 0),
        ("06", "unexpected end of input: 1 byte expected, 0 left", 1),
        ("06 80", "unexpected end of input: 1 byte expected, 0 left", 2),
        ("06 00", "string reference 0, and only 0 strings came before", 1),
        ("06 07 6161", "a text of 3 bytes runs past the end: 2 are left", 2),
        ("04", "unexpected end of input: 1 byte expected, 0 left", 1),
        ("04 FFFFFF", "unexpected end of input: 1 byte expected, 0 left", 4),
        ("05 3FF0", "unexpected end of input: 8 bytes expected, 2 left", 1),
        ("09 00", "object reference 0, and only 0 objects came before", 0),
        ("09 03 01 09 04", "object reference 2, and only 1 objects came before", 3),
        ("09 07 01 01", "an array of 3 does not fit in the 2 bytes that are left", 2),
        ("0A 01", "traits reference 0, and only 0 traits came before", 0),
        ("0A 33 01 03 61", "traits with a member count of 3 does not fit in the 2 bytes that are left", 3),
        ("0A 0B 01 03 61", "unexpected end of input: 1 byte expected, 0 left", 5),
        ("0A 0B 01 03 61 01", "unexpected end of input: 1 byte expected, 0 left, object not closed", 6),
        ("0A 07 03 41", "'A' is externalizable and is not registered: only its class knows how long it is", 0),
        ("0C 07 6161", "a ByteArray of 3 does not fit in the 2 bytes that are left", 2),
        ("0D 05 00 00000001", "a Vector of 2 does not fit in the 5 bytes that are left", 2),
        ("10 05 00 01 01", "a Vector of 2 does not fit in the 1 bytes that are left", 4),
        ("11 05 00 01 01", "a Dictionary of 2 does not fit in the 3 bytes that are left", 2),
        ("08 01 0000", "unexpected end of input: 8 bytes expected, 2 left", 2),
        ("0B 07 6161", "a text of 3 bytes runs past the end: 2 are left", 2),
    ],
)
def test_what_is_no_value_is_an_error_with_its_offset(codec, data, message, offset):
    with pytest.raises(DecodeError) as caught:
        codec.Decoder(H(data)).decode()
    assert (caught.value.message, caught.value.offset) == (message, offset)
