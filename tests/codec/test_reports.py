"""What users of other AMF libraries reported, and what is right: a test for each, named after its number."""

from __future__ import annotations

import datetime as dt
import time
import urllib.request
import zlib

import pytest

import amfgate
from amfgate import (
    Body,
    ClassRegistry,
    DecodeError,
    Dictionary,
    EcmaArray,
    EncodeError,
    Packet,
    ServiceRegistry,
    TypedObject,
    Vector,
    undefined,
)
from amfgate.flex import ArrayCollection

H = bytes.fromhex


def test_r1_a_reference_of_flash_8_counts_the_arguments_and_the_xml(codec):
    data = H("0A 00000001 03 0005") + b"n_xml" + H("0F 00000004 3C612F3E 0009") + b"n_xml_ref" + H("07 0002 000009")
    (argument,) = codec.Decoder(data, version=0).decode_body()
    assert argument["n_xml"] is argument["n_xml_ref"]


def test_r4_amf3_tables_last_from_one_switch_to_the_next(codec):
    first, second = codec.loads(H("0A 00000002 11 0A0B01 036B 060376 01 11 0A00"), version=0)
    assert (first, second is first) == ({"k": "v"}, True)


def test_r6_the_switch_covers_one_value(codec):
    assert list(codec.Decoder(H("02 0001 61 11 06 03 62 02 0001 63"), version=0)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("data", "inside"),
    [
        ("0A 0B 01 09 73656C66 0A 00 01", lambda value: value["self"]),
        ("09 03 01 09 00", lambda value: value[0]),
        ("10 03 00 01 10 00", lambda value: value[0]),
        ("11 03 00 01 11 00", lambda value: value[None]),
    ],
    ids=["object", "array", "vector", "dictionary"],
)
def test_r7_what_contains_itself_is_read_with_its_identity(codec, data, inside):
    value = codec.loads(H(data))
    assert inside(value) is value


def test_r8_an_externalizable_has_its_slot_before_its_body(codec):
    class Thing:
        def __readamf__(self, input):
            self.byte = input.readUnsignedByte()

        def __writeamf__(self, output):
            output.writeByte(self.byte)

    classes = ClassRegistry()
    classes.register(Thing, "X", external=True)
    first, second = codec.Decoder(H("0A07 0358 2A 0A00"), classes=classes)
    assert (first.byte, second is first) == (42, True)


def test_r10_dense_items_of_an_ecma_array_are_written_with_the_named_ones(codec):
    value = EcmaArray({0: "first", 1: "second", "propertyA": None})
    assert codec.dumps(value, version=0) == H(
        "08 00000002 0001 30 02 0005 6669727374 0001 31 02 0006 7365636F6E64 0009"
    ) + (b"propertyA" + H("05 000009"))


def test_r11_an_empty_name_in_the_middle_is_a_member(codec):
    data = H("03 0001 61 02 0001 78 0000 02 0004 616E6F6E 0001 62 02 0001 79 0000 09")
    assert codec.loads(data, version=0) == {"a": "x", "": "anon", "b": "y"}


@pytest.mark.parametrize("plain", [False, True])
def test_r12_an_ecma_array_with_gaps_is_a_mapping(codec, plain):
    value = codec.loads(H("08 00000001 0001 31 02 0005 68656C6C6F 000009"), version=0, plain=plain)
    assert (type(value), value) == (EcmaArray, {1: "hello"})


def test_r13_a_nine_inside_a_text_ends_nothing(codec):
    data = H("08 00000001 0007 76657273696F6E 02 0009 302C302C302C303030 000009")
    assert codec.loads(data, version=0) == {"version": "0,0,0,000"}


@pytest.mark.parametrize(
    ("value", "data"),
    [(-1, "04 FFFFFFFF"), (-268435456, "04 C0808000"), (-268435457, "05 C1B0000001000000")],
)
def test_r15_negative_integers(codec, value, data):
    assert (codec.dumps(value), codec.loads(H(data))) == (H(data), value)


@pytest.mark.parametrize(
    ("value", "data"), [(2097151, "04 FFFF7F"), (2097152, "04 80C08000"), (268435455, "04 BFFFFFFF")]
)
def test_r16_four_byte_integers(codec, value, data):
    assert (codec.dumps(value), codec.loads(H(data))) == (H(data), value)


def test_r18_the_version_is_an_argument_and_never_guessed(codec):
    assert (codec.loads(H("06"), version=0), codec.loads(H("06 01"), version=3)) == (undefined, "")


def test_r19_counts_over_63(codec):
    assert codec.loads(H("09 8311 01") + H("01") * 200) == [None] * 200


def test_r22_class_names_and_member_names_share_one_table_in_the_order_of_the_stream(codec):
    inner = TypedObject("cls", {"i": 2, "b": False, "n": None})
    outer = TypedObject("cls", {"i": 1, "b": True, "n": inner})
    data = H("0A 33 07 636C73 03 69 03 62 03 6E 04 01 03 0A 01 04 02 02 01")
    assert (codec.dumps(outer), list(codec.loads(data)["n"])) == (data, ["i", "b", "n"])


def test_r23_a_dict_is_an_object_and_no_associative_array(codec):
    assert codec.dumps([{"4": 19448, "0": 1798}]) == H("09 03 01 0A 0B 01 03 34 04 819778 03 30 04 8E06 01")


def test_r23_both_are_read(codec):
    array, obj = H("09 01 03 34 04 819778 03 30 04 8E06 01"), H("0A 0B 01 03 34 04 819778 03 30 04 8E06 01")
    assert (codec.loads(array), codec.loads(obj)) == ({4: 19448, 0: 1798}, {"4": 19448, "0": 1798})


@pytest.mark.parametrize(
    "data", ["09 05 01 04 01 04 02", "0A 0B 01 03 61 01 01", "09 01 03 61 01 01", "0A 13 03 41 03 61 01"]
)
def test_r24_what_was_read_is_written_as_it_came(codec, data):
    assert codec.dumps(codec.loads(H(data))) == H(data)


def test_r25_a_traits_reference(codec):
    value = codec.loads(H("09 05 01 0A 23 03 78 03 61 03 62 01 02 0A 01 03 01"))
    assert value == [TypedObject("x", {"a": None, "b": False}), TypedObject("x", {"a": True, "b": None})]


def test_r26_a_value_is_consumed_exactly(codec):
    decoder = codec.Decoder(H("09 01 03 61 09 01 03 62 01 01 01 09 02 04 05"))
    values = [(value, decoder.offset) for value in decoder]
    assert values == [({"a": {"b": None}}, 11), ({"b": None}, 13), (5, 15)]


def test_r26_what_is_left_over_is_an_error(codec):
    with pytest.raises(DecodeError, match="1 bytes follow the value, at offset 2"):
        codec.loads(H("04 05 61"))


def test_r27_a_dictionary_takes_keys_of_any_kind_and_keeps_order_and_flag(codec):
    data = H("11 05 01 06 07 626172 06 0B 6173646631 0A 13 07 6B6579 03 78 04 01 06 02")
    value = codec.loads(data)
    assert (type(value), [value[key] for key in value], value.weak, codec.dumps(value)) == (
        Dictionary,
        ["asdf1", "asdf1"],
        True,
        data,
    )


def test_r28_text_is_utf8(codec):
    assert codec.loads(H("06 13 E38386E382B9E38388")) == "\u30c6\u30b9\u30c8"


def test_r28_vectors_are_read_with_their_kind(codec):
    value = codec.loads(H("0D 07 00 00000001 00000002 00000003"))
    assert (type(value), value.kind, list(value)) == (Vector, "int", [1, 2, 3])


def test_r29_a_date_is_a_date_both_ways(codec):
    data = H("08 01 4273F4FC00000000")
    value = codec.loads(data)
    assert (type(value), codec.dumps(value), codec.loads(data, dates="ms")) == (
        dt.datetime,
        data,
        value.timestamp() * 1000,
    )


def test_r30_an_amf0_date_is_eleven_bytes(codec):
    value = dt.datetime(2023, 1, 1, tzinfo=dt.UTC)
    assert codec.dumps(value, version=0) == H("0B 427856AA0C800000 0000")


@pytest.mark.parametrize(
    ("data", "version", "expected"),
    [
        ("08 01 C2CC4189166C0000", 3, dt.datetime(1, 1, 1, tzinfo=dt.UTC)),
        ("0B C194997000000000 0000", 0, dt.datetime(1969, 12, 31, tzinfo=dt.UTC)),
    ],
)
def test_r31_dates_before_1970(codec, data, version, expected):
    assert codec.loads(H(data), version=version) == expected


def test_r31_a_date_outside_the_years_1_to_9999_is_an_error_with_the_number(codec):
    with pytest.raises(DecodeError, match=r"the date -62135596800001.0 ms is outside the years 1 to 9999"):
        codec.loads(H("08 01 C2CC4189166C0080"))


def test_r33_amf0_and_amf3_in_one_message(codec):
    data = H("02 0003 666F6F 00 3FF0000000000000 05 11 0A0B01 0361 0401 01")
    assert list(codec.Decoder(data, version=0)) == ["foo", 1, None, {"a": 1}]


def test_r34_the_switch_in_a_list_of_amf0_values(codec):
    data = H("02 000D") + b"@setDataFrame" + H("02 000A") + b"onMetaData" + H("11 0A0B01 0B 7769647468 04 8150 01")
    assert list(codec.Decoder(data, version=0)) == ["@setDataFrame", "onMetaData", {"width": 208}]


def test_r35_a_message_with_a_format_byte_before_its_amf0_values(codec):
    data = H("00 02 0006 5F6572726F72 00 3FF0000000000000 05 03 0005 6C6576656C 02 0005 6572726F72 000009")
    assert list(codec.Decoder(data, version=0, offset=1)) == ["_error", 1, None, {"level": "error"}]


def test_r35_the_version_can_be_chosen_for_each_value(codec):
    decoder = codec.Decoder(H("06 03 61 02 0001 62"))
    assert [decoder.decode(3), decoder.decode(0)] == ["a", "b"]


def test_r36_null_as_a_member(codec):
    assert codec.loads(H("03 0004 636F6465 05 0001 78 02 0001 79 000009"), version=0) == {"code": None, "x": "y"}


def test_r37_a_mapping_can_be_forced_to_be_an_ecma_array(codec):
    assert codec.dumps(EcmaArray({"width": 208}), version=0) == H(
        "08 00000000 0005 7769647468 00 406A000000000000 000009"
    )


def test_r38_several_values_in_one_go(codec):
    encoder = codec.Encoder(version=0)
    assert encoder.encode("onMetaData") + encoder.encode(EcmaArray({"a": 1, "b": 2}, count=2)) == (
        H("02 000A") + b"onMetaData" + H("08 00000002 0001 61 00 3FF0000000000000 0001 62 00 4000000000000000 000009")
    )


def test_r39_a_cycle_is_written_by_reference(codec):
    value: dict = {}
    value["self"] = value
    assert codec.dumps(value) == H("0A 0B 01 09 73656C66 0A 00 01")


def test_r39_ten_thousand_nested_lists_are_an_error_of_the_library(codec):
    value: list = []
    for _ in range(10_000):
        value = [value]
    with pytest.raises(EncodeError, match="more than 512 containers within each other"):
        codec.dumps(value)


def test_r41_dates_and_collections_each_take_a_slot(codec):
    data = (
        H("0A 23 03 54 03 61 03 62 0A 07 43")  # T is object 0, the collection 1
        + b"flex.messaging.io.ArrayCollection"
        + H("09 05 01 08 01 0000000000000000 08 06")  # its array 2, the date 3
        + H("09 07 01 08 06 09 04 0A 02")
    )
    value = codec.loads(data)
    collection, others = value["a"], value["b"]
    assert (
        type(collection),
        others[0] is collection.source[0],
        others[1] is collection.source,
        others[2] is collection,
    ) == (ArrayCollection, True, True, True)


def test_r42_mixed_keys_keep_their_order(codec):
    data = H("08 00000001 0001 30 02 0001 61 0003 666F6F 02 0003 626172 000009")
    value = codec.loads(data, version=0)
    assert (type(value), list(value.items())) == (EcmaArray, [(0, "a"), ("foo", "bar")])


def test_r43_two_equal_unhashable_objects_are_two(codec):
    first, second = codec.loads(codec.dumps([{"a": 1}, {"a": 1}]))
    assert first is not second


def test_r43_bytes_are_not_inflated(codec):
    data = zlib.compress(b"abc")
    assert codec.loads(H("0C") + bytes([len(data) << 1 | 1]) + data) == data


def test_r44_both_versions_and_an_offset(codec):
    decoder = codec.Decoder(H("0A 0B 01 03 61 01 01 03 0001 61 05 000009"))
    assert [decoder.decode(3), decoder.offset, decoder.decode(0), decoder.offset] == [{"a": None}, 7, {"a": None}, 15]


def test_r88_nothing_is_exposed_that_was_not_meant_to_be():
    class Service:
        attribute = ["b"]

        def __init__(self):
            self.a = self

        def shout(self):
            return "ok"

        def _private(self): ...

    registry = ServiceRegistry({"service": Service()})
    targets = [
        "service.shout",
        "service.__init__",
        "service._private",
        "service.__class__.mro",
        "service.a.shout",
        "service.attribute.append",
        "service.a",
    ]
    assert [registry.find(target) is not None for target in targets] == [True, *[False] * 6]


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (0, H("0A FFFFFFFF")),
        (3, H("0D FFFFFFFF 00")),
        (3, H("0C FFFFFFFF")),
        (3, H("11 FFFFFFFF 00")),
        (3, H("09 03 01") * 20_000),
        (0, H("0A 00000001") * 20_000),
    ],
    ids=["strict-array", "vector", "bytes", "dictionary", "nested-amf3", "nested-amf0"],
)
def test_r89_declared_sizes_and_depth_are_checked_first(codec, version, data):
    with pytest.raises(DecodeError):
        codec.loads(data, version=version)


ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'


def test_r91_xml_is_text_and_its_entities_are_not_looked_at(codec):
    assert codec.loads(H("0F 00000040") + ENTITY.encode(), version=0) == ENTITY


def test_r92_nor_are_laughs_by_the_billion(codec):
    xml = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>'
    assert codec.loads(H("0B 8101") + xml.encode()) == xml


def test_r94_many_typed_objects_take_time_in_proportion(codec):
    def seconds(count):
        value = [TypedObject("A", {"x": n, "y": [n]}) for n in range(count)]
        took = []
        for _ in range(3):
            start = time.perf_counter()
            codec.dumps(value)
            took.append(time.perf_counter() - start)
        return min(took)

    assert seconds(32_000) < 8 * 6 * seconds(4_000)  # quadratic would be 64 times


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
@pytest.mark.parametrize(
    ("version", "data"), [(3, "0A 0B 01 03 68 0C 05 6162 01"), (0, "03 0001 68 11 0C 05 6162 000009")]
)
def test_r97_all_that_is_bytes_like_is_a_byte_array(codec, make, version, data):
    assert codec.dumps({"h": make(b"ab")}, version=version) == H(data)


def test_r98_iterating_a_decoder_ends_and_leaks_no_stop_iteration(codec):
    assert list(codec.Decoder(H("04 01 04 02"))) == [1, 2]


def test_r98_truncated_input_is_an_error(codec):
    with pytest.raises(DecodeError, match="an array of 1 does not fit in the 0 bytes that are left|unexpected end"):
        list(codec.Decoder(H("09 03 01")))


def test_r98_a_byte_array_is_bytes(codec):
    value = codec.loads(H("0C 03 78"))
    assert (type(value), bytes(value)) == (bytes, b"x")


def test_r99_text_is_text_wherever_a_target_is_named():
    packet = Packet(0, [], [Body("h\u00e9.call", "/1", [])])
    assert Packet.from_bytes(packet.to_bytes()).bodies[0].target == "h\u00e9.call"


def test_r100_the_error_names_xml_and_shows_its_first_bytes(codec):
    with pytest.raises(DecodeError, match=r"looks like XML or HTML \[3C 3F 78 6D 6C .*<\?xml"):
        codec.loads(b'<?xml version="1.0"?><error/>')


def test_r100_and_so_for_a_packet():
    with pytest.raises(DecodeError, match=r"begins with 3C 3F .* and looks like XML or HTML"):
        Packet.from_bytes(b'<?xml version="1.0"?><error/>')


def test_r101_a_capture_is_recognised(codec):
    with pytest.raises(DecodeError, match="looks like text; of a captured connection only the body"):
        codec.loads(b"......")


def test_r101_and_so_for_a_packet():
    with pytest.raises(DecodeError, match="captured connection"):
        Packet.from_bytes(b"......")


def test_r102_the_missing_end_of_an_object_is_said_to_be_missing(codec):
    data = H("03 0003 666F6F 02 0003 626172 0000")
    with pytest.raises(DecodeError, match="unexpected end of input.* object not closed, at offset 14"):
        codec.loads(data, version=0)


def test_r103_a_flex_message_by_hand():
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "shop", "operation": "list", "body": [1], "messageId": "m", "headers": {}},
    )
    data = Packet(3, [], [Body("null", "/1", [message])]).to_bytes()
    (argument,) = Packet.from_bytes(data).bodies[0].value
    assert (argument.alias, argument["destination"], argument["body"]) == (message.alias, "shop", [1])


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("head", ["0003 0000 0001", "0000 0000 0001"])
def test_r104_a_packet_given_to_loads_is_recognised(codec, head, version):
    with pytest.raises(DecodeError, match="looks like a remoting packet: amfgate.Packet.from_bytes reads it"):
        codec.loads(H(head) + H("0004 6E756C6C 0002 2F31 00000005 0A00000000"), version=version)


def test_r105_zlib_is_recognised(codec):
    with pytest.raises(DecodeError, match=r"looks like zlib: decompress it first \(zlib.decompress\)"):
        codec.loads(zlib.compress(b"\x0a\x0b\x01\x01"))


def test_r105_amf_behind_a_frame_of_its_own_is_read_at_its_offset(codec):
    assert codec.Decoder(H("DEADBEEF 04 05"), offset=4).decode() == 5


def test_r107_bytes_need_no_wrapping(codec):
    assert codec.loads(codec.dumps(b"\x00\xff")) == b"\x00\xff"


def test_nothing_is_fetched(codec, monkeypatch):
    def forbidden(*arguments, **options):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(urllib.request, "urlopen", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    assert amfgate.Xml(codec.loads(H("0B 8101") + ENTITY.encode())) == ENTITY
