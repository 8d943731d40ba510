"""Bytes of any kind, text that is not UTF-8, and XML, which is text."""

from __future__ import annotations

from array import array
from xml.etree import ElementTree

import pytest

from amfgate import EncodeError, Xml

H = bytes.fromhex


@pytest.mark.parametrize(
    "value",
    [
        b"\x01\x02",
        bytearray(b"\x01\x02"),
        memoryview(b"\x01\x02"),
        memoryview(b"\x01\x00\x02\x00")[::2],
        memoryview(array("B", [1, 2])),
        type("Blob", (bytes,), {})(b"\x01\x02"),
        type("Buffer", (bytearray,), {})(b"\x01\x02"),
    ],
    ids=["bytes", "bytearray", "memoryview", "strided", "of-an-array", "bytes-subclass", "bytearray-subclass"],
)
@pytest.mark.parametrize(("version", "expected"), [(3, "0C 05 0102"), (0, "11 0C 05 0102")])
def test_bytes_of_any_kind_are_a_byte_array(codec, version, expected, value):
    assert codec.dumps(value, version=version) == H(expected)


def test_a_byte_array_comes_back_as_bytes(codec):
    assert type(codec.loads(H("0C 05 0102"))) is bytes


def test_bytes_are_never_inflated(codec):
    packed = H("78 9C 03 00 00 00 00 01")  # what zlib makes of nothing
    assert codec.loads(H("0C 11") + packed) == packed


def test_bytes_met_twice_are_a_reference(codec):
    value = bytes(bytearray(b"ab"))
    assert codec.dumps([value, value]) == H("09 05 01 0C 05 6162 0C 02")


@pytest.mark.parametrize(("value", "once"), [(b"", "0C 01"), (b"a", "0C 03 61")])
def test_bytes_that_cpython_shares_are_written_out_each_in_its_own_slot(codec, value, once):
    shared: list = []
    assert codec.dumps([value, value, shared, shared]) == H("09 09 01" + once + once + "09 01 01 09 06")


def test_a_bytearray_of_one_byte_is_shared_by_its_owner_only(codec):
    value = bytearray(b"a")
    assert codec.dumps([value, value]) == H("09 05 01 0C 03 61 0C 02")


@pytest.mark.parametrize(("data", "version"), [("06 05 FF61", 3), ("02 0002 FF61", 0), ("0B 05 FF61", 3)])
def test_text_that_is_not_utf8_keeps_its_bytes_as_surrogates(codec, data, version):
    assert str(codec.loads(H(data), version=version)) == "\udcffa"


@pytest.mark.parametrize(("data", "version"), [("06 05 FF61", 3), ("02 0002 FF61", 0)])
def test_and_goes_out_as_the_same_bytes(codec, data, version):
    assert codec.dumps("\udcffa", version=version) == H(data)


def test_a_surrogate_pair_that_a_server_wrote_as_two_survives(codec):
    data = H("06 0D EDA0BD EDB880")  # CESU-8, as old Java writes it
    assert codec.dumps(codec.loads(data)) == data


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("value", ["ab\ud800", {"\ud800": 1}, Xml("\ud800")])
def test_any_other_lone_surrogate_is_an_error(codec, version, value):
    with pytest.raises(EncodeError, match=r"text with the lone surrogate U\+D800 at \d cannot be written"):
        codec.dumps(value, version=version)


def test_nul_and_the_highest_character_are_text(codec):
    assert codec.dumps("\0\U0010ffff") == H("06 0B 00 F48FBFBF")


@pytest.mark.parametrize(("version", "expected"), [(3, "0B 09 3C612F3E"), (0, "0F 00000004 3C612F3E")])
def test_xml_is_written_as_its_text(codec, version, expected):
    assert codec.dumps(Xml("<a/>"), version=version) == H(expected)


def test_an_element_is_written_as_text(codec):
    assert codec.dumps(ElementTree.fromstring("<a><b/></a>")) == H("0B 19") + b"<a><b /></a>"


def test_a_tree_is_written_as_its_root(codec):
    tree = ElementTree.ElementTree(ElementTree.fromstring("<a/>"))
    assert codec.dumps(tree) == H("0B 0B") + b"<a />"


def test_an_xml_value_is_no_string_of_the_string_table(codec):
    assert codec.dumps([Xml("ab"), "ab", "ab"]) == H("09 07 01 0B 05 6162 06 05 6162 06 00")


def test_one_xml_value_met_twice_is_an_object_reference(codec):
    xml = Xml("ab", legacy=True)
    assert codec.dumps([xml, xml]) == H("09 05 01 07 05 6162 07 02")


BOMB = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'


@pytest.mark.parametrize(("head", "version"), [("0B 8101", 3), ("07 8101", 3), ("0F 00000040", 0)])
def test_entities_stay_as_they_are_written(codec, head, version):
    assert len(BOMB) == 64
    assert codec.loads(H(head) + BOMB.encode(), version=version) == BOMB
