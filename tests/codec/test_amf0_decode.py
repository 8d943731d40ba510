"""AMF0 in: what each run of bytes means."""

from __future__ import annotations

import math

import pytest

from amfgate import DecodeError, EcmaArray, TypedObject, Xml, undefined

H = bytes.fromhex


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param("05", None, id="null"),
        pytest.param("06", undefined, id="undefined"),
        pytest.param("0D", undefined, id="unsupported-is-undefined"),
        pytest.param("01 00", False, id="false"),
        pytest.param("01 01", True, id="true"),
        pytest.param("01 7F", True, id="any-other-byte-is-true"),
        pytest.param("02 0000", "", id="empty-text"),
        pytest.param("02 0003 68 C3A9", "h\u00e9", id="text"),
        pytest.param("0C 00000001 61", "a", id="long-string"),
        pytest.param("0C 00000000", "", id="empty-long-string"),
        pytest.param("0A 00000000", [], id="empty-list"),
        pytest.param("0A 00000002 05 01 01", [None, True], id="list"),
        pytest.param("03 000009", {}, id="empty-object"),
        pytest.param("03 0001 61 05 0001 62 01 01 000009", {"a": None, "b": True}, id="object"),
        pytest.param("03 0000 05 000009", {"": None}, id="member-named-by-nothing"),
        pytest.param("03 0000 03 000009 000009", {"": {}}, id="object-in-a-member-named-by-nothing"),
        pytest.param("10 0001 41 0001 78 05 000009", TypedObject("A", {"x": None}), id="typed-object"),
        pytest.param("11 04 05", 5, id="avm-plus"),
        pytest.param("0A 00000002 11 06 03 62 02 0001 63", ["b", "c"], id="avm-plus-is-for-one-value"),
    ],
)
def test_a_value_is_read(codec, data, expected):
    value = codec.loads(H(data), version=0)
    assert (type(value), value) == (type(expected), expected)


@pytest.mark.parametrize(
    ("double", "expected"),
    [
        pytest.param("4008000000000000", 3, id="whole"),
        pytest.param("C008000000000000", -3, id="negative"),
        pytest.param("0000000000000000", 0, id="zero"),
        pytest.param("4340000000000000", 2**53, id="2**53"),
        pytest.param("C340000000000000", -(2**53), id="-2**53"),
        pytest.param("4340000000000001", 9007199254740994.0, id="beyond-2**53"),
        pytest.param("3FF8000000000000", 1.5, id="fraction"),
        pytest.param("7FF0000000000000", math.inf, id="infinity"),
    ],
)
def test_a_whole_number_within_2_53_is_an_int_and_any_other_a_float(codec, double, expected):
    value = codec.loads(H("00" + double), version=0)
    assert (type(value), value) == (type(expected), expected)


def test_minus_zero_stays_a_float(codec):
    assert repr(codec.loads(H("00 8000000000000000"), version=0)) == "-0.0"


def test_xml_is_legacy_text(codec):
    value = codec.loads(H("0F 00000004 3C612F3E"), version=0)
    assert (type(value), value, value.legacy) == (Xml, "<a/>", True)


def test_a_typed_object_without_alias_is_one_too(codec):
    value = codec.loads(H("10 0000 0001 78 05 000009"), version=0)
    assert (type(value), value.alias, dict(value)) == (TypedObject, "", {"x": None})


def test_an_ecma_array_remembers_the_count_and_sizes_nothing_by_it(codec):
    value = codec.loads(H("08 FFFFFFFF 0001 61 05 000009"), version=0)
    assert (type(value), value, value.count) == (EcmaArray, {"a": None}, 0xFFFFFFFF)


@pytest.mark.parametrize("length", [1, 2, 5, 6, 7, 8, 9, 13, 14, 15, 16, 22, 23, 62, 63, 64, 65])
def test_names_that_differ_in_one_letter_are_told_apart(codec, length):
    """Whatever a decoder expects of a row from the rows before it: the letter is the first, the last or in between."""
    names = ["n" * length]
    names += [names[0][:at] + "m" + names[0][at + 1 :] for at in sorted({0, length // 2, length - 1})]
    names += [names[0] + "n", "other"]
    rows = [[names[(row * (row // 5) + at) % len(names)] for at in range(3)] for row in range(60)]
    data = b"\x0a" + (60).to_bytes(4, "big")
    for n, row in enumerate(rows):
        data += b"\x03"
        for name in row:
            data += len(name).to_bytes(2, "big") + name.encode() + H(f"02 0001 {0x30 + n % 10:02x}")
        data += H("000009")
    assert codec.loads(data, version=0) == [dict.fromkeys(row, str(n % 10)) for n, row in enumerate(rows)]


def test_rows_cut_off_anywhere_are_an_error_that_is_not_behind_the_end(codec):
    names = ["a", "sevenbs", "a name of some length", "n" * 64, "abc"]
    row = b"\x03" + b"".join(len(name).to_bytes(2, "big") + name.encode() + b"\x05" for name in names) + H("000009")
    data = H("0A 00000004") + row * 4
    assert codec.loads(data, version=0) == [dict.fromkeys(names)] * 4
    for end in range(1, len(data)):
        with pytest.raises(DecodeError) as caught:
            codec.loads(data[:end], version=0)
        assert caught.value.offset <= end


def test_a_reference_is_the_same_object(codec):
    value = codec.loads(H("0A 00000002 03 000009 07 0001"), version=0)
    assert value[0] is value[1]


def test_slots_count_objects_arrays_typed_objects_and_xml_in_the_order_of_their_start(codec):
    value = codec.loads(
        H(
            "0A 00000005"  # slot 0
            "08 00000000 000009"  # 1
            "10 0001 41 000009"  # 2
            "0F 00000001 78"  # 3
            "03 000009"  # 4
            "03 0001 61 07 0001 0001 62 07 0002 0001 63 07 0003 0001 64 07 0004 000009"
        ),
        version=0,
    )
    last = value[4]
    assert [last[name] is item for name, item in zip("abcd", value, strict=False)] == [True] * 4


def test_strings_numbers_dates_and_amf3_take_no_slot(codec):
    value = codec.loads(
        H("0A 00000006 02 0001 61 00 0000000000000000 0B 0000000000000000 0000 11 0901 01 03 000009 07 0001"),
        version=0,
    )
    assert value[4] is value[5]


def test_an_object_can_hold_itself(codec):
    value = codec.loads(H("03 0001 61 07 0000 000009"), version=0)
    assert value["a"] is value


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        ("04", "0x04 is reserved in AMF0 and never sent", 0),
        ("0E", "0x0E is reserved in AMF0 and never sent", 0),
        ("09", "an end of object (09) where a value is expected", 0),
        ("0A 00000001 09", "an end of object (09) where a value is expected", 5),
        ("12", "0x12 is no marker of AMF0", 0),
        ("FF", "0xFF is no marker of AMF0", 0),
        ("07 0000", "reference 0, and only 0 objects came before", 0),
        ("0A 00000001 07 0001", "reference 1, and only 1 objects came before", 5),
        ("0A 00000002 05", "an array of 2 does not fit in the 1 bytes that are left", 5),
        ("02 0005 6161", "a text of 5 bytes runs past the end: 2 are left", 3),
        ("0C 00000005 6161", "a text of 5 bytes runs past the end: 2 are left", 5),
        ("00 3FF0", "unexpected end of input: 8 bytes expected, 2 left", 1),
        ("01", "unexpected end of input: 1 byte expected, 0 left", 1),
        ("0B 0000000000000000 00", "unexpected end of input: 2 bytes expected, 1 left", 9),
        ("11", "unexpected end of input: 1 byte expected, 0 left", 1),
        ("03 0001 61 05", "unexpected end of input: 2 bytes expected, 0 left, object not closed", 5),
        ("03 0000", "unexpected end of input: 1 byte expected, 0 left, object not closed", 3),
    ],
)
def test_what_is_no_value_is_an_error_with_its_offset(codec, data, message, offset):
    with pytest.raises(DecodeError) as caught:
        codec.Decoder(H(data), version=0).decode()
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_decode_body_counts_the_root_array_as_slot_0(codec):
    data = H("0A 00000002 03 000009 07 0001")
    value = codec.Decoder(data, version=0).decode_body()
    assert value[0] is value[1]


def test_decode_body_uncounted_gives_slot_0_to_the_first_argument(codec):
    data = H("0A 00000002 03 000009 07 0000")
    value = codec.Decoder(data, version=0).decode_body(counted=False)
    assert value[0] is value[1]


def test_decode_body_uncounted_still_counts_an_inner_array(codec):
    data = H("0A 00000002 0A 00000000 07 0000")
    value = codec.Decoder(data, version=0).decode_body(counted=False)
    assert value[0] is value[1]


def test_references_tells_how_many_were_resolved(codec):
    decoder = codec.Decoder(H("0A 00000003 03 000009 07 0001 07 0001"), version=0)
    decoder.decode_body()
    assert decoder.references == 2


def test_references_of_amf3_are_not_among_them(codec):
    decoder = codec.Decoder(H("11 09 05 01 09 01 01 09 02"), version=0)
    decoder.decode_body()
    assert decoder.references == 0
