"""Packets: what is read, what is written, and what is said of input that is neither."""

from __future__ import annotations

import copy
import datetime as dt
import gzip
import logging
import pickle
import random
import zlib

import pytest

import amfgate
from amfgate import AmfError, Body, DecodeError, EncodeError, Header, Limits, Packet, Vector, undefined
from amfgate.flex import ArrayCollection


@pytest.fixture(autouse=True)
def twin(codec, monkeypatch):
    """Each test runs with each twin under the packet."""
    monkeypatch.setattr("amfgate.packet.Decoder", codec.Decoder)
    monkeypatch.setattr("amfgate.packet.Encoder", codec.Encoder)


def text(string):
    data = string.encode()
    return len(data).to_bytes(2, "big") + data


def wire(*parts):
    """Bytes as they are, str as hex digits."""
    return b"".join(bytes.fromhex(part) if isinstance(part, str) else part for part in parts)


def body(target, response, value, length=None):
    """One body; the length is the real one unless it is given."""
    value = wire(value)
    size = len(value) if length is None else length
    return text(target) + text(response) + size.to_bytes(4, "big") + value


def packet(version, *bodies, headers=()):
    return wire(f"{version:04X} {len(headers):04X}", *headers, f"{len(bodies):04X}", *bodies)


def value_of(data, **options):
    (only,) = Packet.from_bytes(data, **options).bodies
    return only.value


FLASH = wire(
    "0000 0000 0001", text("test.method"), text("/1"), "00000035",
    "0A 00000004",
    "02", text("Argument 1"),
    "01 01",
    "00 405EC00000000000",
    "03", text("key"), "02", text("Hello World!"), "0000 09",
)  # fmt: skip

FLEX = packet(3, body("null", "/2", wire(
    "0A 00000001 11 0A 33 4B", b"flex.messaging.messages.FooMessages--",
    "09", b"body", "13", b"operation", "0B", b"count",
    "09 05 01 06 07", b"abc", "04 05",
    "06 09", b"save",
    "04 03",
)))  # fmt: skip


# --- reading --------------------------------------------------------------------------------------------------------


def test_a_call_of_flash_is_read():
    got = Packet.from_bytes(FLASH)
    assert got == Packet(0, [], [Body("test.method", "/1", ["Argument 1", True, 123, {"key": "Hello World!"}])])
    assert got.bodies[0].size == 0x35
    assert got.dropped == 0


def test_a_version_3_call_has_complex_arguments_behind_11():
    (call,) = Packet.from_bytes(FLEX).bodies
    (message,) = call.value
    assert message.alias == "flex.messaging.messages.FooMessages--"
    assert dict(message) == {"body": ["abc", 5], "operation": "save", "count": 3}
    assert (call.target, call.response) == ("null", "/2")


def test_each_argument_is_unwrapped_on_its_own():
    assert value_of(packet(3, body("a.b", "/1", "0A 00000003 11 04 01 11 04 02 11 04 03"))) == [1, 2, 3]


def test_the_tables_of_amf3_reach_over_all_values_of_a_body():
    data = packet(3, body("a.b", "/1", "0A 00000002 11 0A 0B 01 03 6B 06 03 76 01 11 0A 00"))
    first, second = value_of(data)
    assert first == {"k": "v"} and second is first


def test_the_tables_of_amf3_end_with_the_body():
    one = body("a.b", "/1", "0A 00000001 11 09 03 01 06 03 78")
    data = packet(3, one, body("a.b", "/2", "0A 00000001 11 09 03 01 06 00"))
    got = Packet.from_bytes(data)
    assert got.bodies[0].value == [["x"]]
    with pytest.raises(DecodeError):
        _ = got.bodies[1].value


def test_the_slots_of_amf0_end_with_the_body():
    same = "0A 00000001 03 0001 61 05 0000 09"
    got = Packet.from_bytes(packet(0, body("a.b", "/1", same), body("a.b", "/2", "0A 00000001 07 0001")))
    assert got.bodies[0].value == [{"a": None}]
    with pytest.raises(DecodeError):
        _ = got.bodies[1].value


def test_a_whole_body_behind_11_is_a_list_of_arguments_too():
    assert value_of(packet(3, body("a.b", "/1", "11 09 03 01 04 2A"))) == [42]


def test_a_version_3_packet_need_not_hold_any_amf3():
    assert value_of(packet(3, body("/1/onResult", "null", "02 0002 6869"))) == "hi"


def test_version_1_reads_as_amf0():
    got = Packet.from_bytes(packet(1, body("a.b", "/1", "0A 00000000")))
    assert (got.version, got.bodies[0].value) == (1, [])


@pytest.mark.parametrize("length", [0, 1, 0xFFFFFFFF, 7, 12, 4000])
def test_no_length_is_believed_while_values_can_be_read(length):
    data = packet(0, body("a.b", "/1", "0A 00000001 01 01", length), body("c.d", "/2", "0A 00000000", length))
    assert [call.value for call in Packet.from_bytes(data).bodies] == [[True], []]


def test_headers_come_with_their_flag():
    data = packet(
        0,
        headers=[
            wire(text("Credentials"), "00 00000000 03", text("userid"), "02", text("ada"), "0000 09"),
            wire(text("Needed"), "01 FFFFFFFF 05"),
        ],
    )
    got = Packet.from_bytes(data)
    assert got.headers == [Header("Credentials", {"userid": "ada"}), Header("Needed", None, must_understand=True)]
    assert got.bodies == []


def test_each_header_has_its_own_tables():
    one = wire(text("a"), "00 00000000 11 09 03 01 06 03 78")
    two = wire(text("b"), "00 00000000 11 06 00")
    with pytest.raises(DecodeError, match="the header 'b'"):
        Packet.from_bytes(packet(3, headers=[one, two]))


def test_two_bodies_may_share_a_response():
    data = packet(0, body("a.b", "/1", "0A 00000000"), body("a.c", "/1", "0A 00000000"))
    assert [(call.target, call.response) for call in Packet.from_bytes(data).bodies] == [("a.b", "/1"), ("a.c", "/1")]


def test_text_that_is_not_utf_8_survives():
    data = packet(0, wire("0003 61 FF 62 0002 2F31 00000005 0A 00000000"))
    got = Packet.from_bytes(data)
    assert got.bodies[0].target == "a\udcffb"
    assert got.to_bytes() == data


def test_any_kind_of_bytes_will_do():
    for kind in (bytearray, memoryview):
        assert Packet.from_bytes(kind(FLASH)) == Packet.from_bytes(FLASH)
    with pytest.raises(TypeError, match=r"bytes\.fromhex"):
        Packet.from_bytes("00000000")


def test_plain_gives_lists_for_the_arrays_of_ruffle():
    data = packet(0, body("a.b", "/1", wire("0A 00000001 08 00000001", text("0"), "02", text("x"), "0000 09")))
    assert value_of(data, plain=True) == [["x"]]
    assert value_of(data) == [amfgate.EcmaArray({0: "x"})]


def test_plain_gives_the_source_of_a_collection():
    alias = b"flex.messaging.io.ArrayCollection"
    data = packet(3, body("a.b", "/1", wire("0A 00000001 11 0A 07 43", alias, "09 03 01 04 07")))
    assert value_of(data, plain=True) == [[7]]
    assert type(value_of(data)[0]) is ArrayCollection


# --- the slot of the arguments --------------------------------------------------------------------------------------


def test_a_reference_of_an_actionscript_3_client_does_not_count_the_arguments():
    data = packet(0, body("a.b", "/1", "0A 00000002 03 0001 61 05 0000 09 07 0000"))
    first, second = value_of(data)
    assert first == {"a": None} and second is first


def test_a_reference_of_an_actionscript_2_client_counts_the_arguments():
    xml = wire("03", text("doc"), "0F 00000004", b"<a/>", text("ref"), "07 0002 0000 09")
    (got,) = value_of(packet(0, body("a.b", "/1", wire("0A 00000001", xml))))
    assert got["doc"] == "<a/>" and got["ref"] is got["doc"]


def test_a_reference_that_can_be_meant_in_two_ways_is_logged(caplog):
    data = packet(0, body("shop\n.buy", "/1", "0A 00000003 03 0000 09 03 0000 09 07 0001"))
    with caplog.at_level(logging.WARNING, "amfgate.packet"):
        one, two, three = value_of(data)
    assert three is two and three is not one
    (record,) = caplog.records
    assert record.levelname == "WARNING" and record.name == "amfgate.packet"
    assert "'shop\\n.buy'" in record.getMessage()


def test_a_reference_with_one_meaning_is_not_logged(caplog):
    with caplog.at_level(logging.DEBUG, "amfgate.packet"):
        value_of(packet(0, body("a.b", "/1", "0A 00000001 03 0001 61 07 0001 0000 09")))
    assert caplog.records == []


def test_a_reference_that_has_no_meaning_is_an_error():
    with pytest.raises(DecodeError, match="reference") as caught:
        value_of(packet(0, body("a.b", "/1", "0A 00000002 03 0000 09 07 0002")))
    assert caught.value.offset is not None


def test_the_root_of_an_answer_is_slot_0():
    got = value_of(packet(0, body("/1/onResult", "null", "0A 00000001 07 0000")))
    assert got[0] is got


# --- bodies that cannot be decoded ----------------------------------------------------------------------------------

UNKNOWN = "0A 00000001 11 0A 07 05 58 59 04 01"  # an externalizable that nobody registered


def test_reading_the_value_raises_its_error_each_time():
    got = Packet.from_bytes(packet(3, body("a.b", "/1", UNKNOWN)))
    (call,) = got.bodies
    for _ in range(3):
        with pytest.raises(DecodeError, match="'XY'") as caught:
            _ = call.value
    depth, frame = 0, caught.value.__traceback__
    while frame is not None:
        depth, frame = depth + 1, frame.tb_next
    assert depth == 2  # it does not grow
    assert (call.target, call.response) == ("a.b", "/1")


def test_offsets_of_errors_count_from_the_start_of_the_packet():
    data = packet(0, body("a.b", "/1", "0A 00000001 04"))
    with pytest.raises(DecodeError) as caught:
        value_of(data)
    assert caught.value.offset == len(data) - 1


def test_after_an_undecodable_body_the_next_is_found_by_the_length():
    data = packet(3, body("a.b", "/1", UNKNOWN), body("c.d", "/2", "0A 00000001 01 01"))
    first, second = Packet.from_bytes(data).bodies
    assert second.value == [True]
    assert (first.size, second.size) == (13, 7)
    with pytest.raises(DecodeError):
        _ = first.value


@pytest.mark.parametrize("length", [0, 1, 0xFFFFFFFF, 12, 14, 5000])
def test_a_length_that_leads_nowhere_drops_the_rest(length):
    data = packet(
        3, body("a.b", "/1", "0A 00000000"), body("c.d", "/2", UNKNOWN, length), body("e.f", "/3", "0A 00000000")
    )
    got = Packet.from_bytes(data)
    assert [call.target for call in got.bodies] == ["a.b", "c.d"]
    assert got.dropped == 1
    assert "1 bodies dropped" in repr(got)


def test_of_two_undecodable_bodies_both_are_kept():
    data = packet(3, body("a.b", "/1", UNKNOWN), body("c.d", "/2", UNKNOWN), body("e.f", "/3", "0A 00000000"))
    got = Packet.from_bytes(data)
    assert [call.response for call in got.bodies] == ["/1", "/2", "/3"]
    assert got.bodies[2].value == []


def test_a_length_that_leads_to_nonsense_two_bodies_on_is_not_followed():
    hollow = wire(UNKNOWN, body("x.y", "/9", UNKNOWN, 0xFFFFFFFF))
    data = packet(3, body("a.b", "/1", hollow, 13), body("c.d", "/2", "0A 00000000"))
    got = Packet.from_bytes(data)
    assert [call.target for call in got.bodies] == ["a.b"]
    assert got.dropped == 1


def test_failures_may_not_cost_more_than_so_much(monkeypatch):
    data = packet(3, *[body("a.b", "/1", UNKNOWN)] * 5)
    assert len(Packet.from_bytes(data).bodies) == 5
    monkeypatch.setattr("amfgate.packet.RETRY_BYTES", 2 * len(data))
    got = Packet.from_bytes(data)
    assert (len(got.bodies), got.dropped) == (1, 4)


def test_an_undecodable_last_body_loses_nothing():
    data = packet(3, body("a.b", "/1", "0A 00000000"), body("c.d", "/2", UNKNOWN, 0xFFFFFFFF))
    got = Packet.from_bytes(data)
    assert len(got.bodies) == 2 and got.dropped == 0
    assert got.bodies[1].size == 13


def test_a_missing_value_is_the_error_of_its_body():
    with pytest.raises(DecodeError):
        value_of(packet(0, body("a.b", "/1", "")))


def test_a_class_that_fails_to_be_built_is_the_error_of_its_body():
    class Refusing:
        def __readamf__(self, input):
            raise RuntimeError("not today")

        def __writeamf__(self, output):
            raise AssertionError

    classes = amfgate.ClassRegistry()
    classes.register(Refusing, "XY", external=True)
    data = packet(3, body("a.b", "/1", UNKNOWN), body("c.d", "/2", "0A 00000000"))
    first, second = Packet.from_bytes(data, classes=classes).bodies
    assert second.value == []
    with pytest.raises(DecodeError, match="not today"):
        _ = first.value


def test_a_new_value_takes_the_place_of_an_error():
    got = Packet.from_bytes(packet(3, body("a.b", "/1", UNKNOWN)))
    got.bodies[0].value = [1]
    assert got.to_bytes() == packet(3, body("a.b", "/1", "0A 00000001 00 3FF0000000000000"))


def test_an_undecodable_body_cannot_be_written():
    with pytest.raises(DecodeError, match="'XY'"):
        Packet.from_bytes(packet(3, body("a.b", "/1", UNKNOWN))).to_bytes()


# --- limits and lies ------------------------------------------------------------------------------------------------


def test_too_many_bodies_are_refused():
    data = packet(0, *[body("a", "/1", "05")] * 4)
    assert len(Packet.from_bytes(data, limits=Limits(max_bodies=4)).bodies) == 4
    with pytest.raises(DecodeError, match=r"4 bodies in one packet; the limit is 3 \(max_bodies\)"):
        Packet.from_bytes(data, limits=Limits(max_bodies=3))


def test_a_packet_over_the_size_is_refused():
    with pytest.raises(DecodeError, match="the limit is 20"):
        Packet.from_bytes(FLASH, limits=Limits(max_body=20))


def test_values_are_counted_for_each_body():
    data = packet(0, *[body("a", "/1", "0A 00000003 05 05 05")] * 4)
    got = Packet.from_bytes(data, limits=Limits(max_values=4))
    assert [call.value for call in got.bodies] == [[None] * 3] * 4
    got = Packet.from_bytes(data, limits=Limits(max_values=3))
    for call in got.bodies:
        with pytest.raises(DecodeError):
            _ = call.value


def test_depth_is_bounded_without_limits_too():
    with pytest.raises(DecodeError):
        value_of(packet(0, body("a", "/1", "0A 00000001" * 600 + "05")))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ("0000 FFFF 0000", "65535 headers cannot be in the 2 bytes left"),
        ("0000 0000 FFFF", "65535 bodies cannot be in the 0 bytes left"),
        ("0000 0000 0002" + "0001 61 0001 62 00000000 05", "2 bodies cannot be in the 11 bytes left"),
    ],
)
def test_counts_that_cannot_be_true_are_refused_at_once(data, what):
    with pytest.raises(DecodeError, match=what) as caught:
        Packet.from_bytes(wire(data))
    assert caught.value.offset in (2, 4)


@pytest.mark.parametrize("count", ["FFFFFFFF", "10000000", "00000100"])
@pytest.mark.parametrize("marker", ["0A", "11 09", "08"])
def test_a_count_of_items_that_lies_is_an_error(marker, count):
    count = "FFFFFFFF" if marker == "11 09" else count
    with pytest.raises(DecodeError):
        value_of(packet(0, body("a.b", "/1", f"{marker} {count}")))


def test_bytes_behind_the_last_body_are_an_error():
    with pytest.raises(DecodeError, match="3 bytes are left behind the last body") as caught:
        Packet.from_bytes(FLASH + b"\r\n\0")
    assert caught.value.offset == len(FLASH)


SAMPLES = {
    "flash": FLASH,
    "flex": FLEX,
    "two": packet(
        3,
        body("a.b", "/1", "0A 00000002 11 0A 0B 01 03 6B 06 03 76 01 11 0A 00"),
        body("c.d", "/2", "0A 00000001 03 0001 61 0B 4270000000000000 0000 0000 09"),
        headers=[wire(text("Credentials"), "01 00000008 11 0A 0B 01 03 61 01 01")],
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_packet_cut_anywhere_is_an_error(name):
    data = SAMPLES[name]
    for size in range(len(data)):
        with pytest.raises(AmfError) as caught:
            got = Packet.from_bytes(data[:size])
            for each in got.bodies:
                _ = each.value
        assert isinstance(caught.value, DecodeError)
        assert caught.value.offset is not None and 0 <= caught.value.offset <= size


@pytest.mark.parametrize("name", SAMPLES)
def test_a_packet_with_a_byte_changed_is_read_or_refused(name, caplog):
    data = SAMPLES[name]
    rng = random.Random(name)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] = rng.choice([0, 1, 0x11, 0x7F, 0xFF, rng.randrange(256)])
        try:
            got = Packet.from_bytes(bytes(changed), limits=Limits())
        except AmfError:
            continue
        for each in got.bodies:
            try:
                _ = each.value
            except AmfError:
                pass


# --- input that is no packet ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the input is empty"),
        (b"<!DOCTYPE html><title>404</title>", "looks like HTML"),
        (b"\n<html><body>oops", "looks like HTML"),
        (b'<?xml version="1.0"?><fault/>', r"3C 3F 78 6D 6C .*\(<\?xml versio\.\.\.\) and looks like XML"),
        (b'{"error": "no such page"}', "looks like JSON"),
        (b"[1, 2]", "looks like JSON"),
        (zlib.compress(FLASH), "looks like zlib"),
        (gzip.compress(FLASH), r"1F 8B 08 .* looks like gzip"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + FLASH, "whole HTTP response"),
        (b"POST /amf HTTP/1.1\r\n", "whole HTTP request"),
        (b"......junk", "looks like text; of a captured connection only the body"),
        (b"\xef\xbb\xbf" + FLASH, "byte order mark"),
        (b"\r\n" + FLASH, "white space"),
        (bytes.fromhex("0A0B0103610401 01"), r"bare AMF3 value: amfgate\.loads\(data, version=3\)"),
        (bytes.fromhex("030001610500 0009"), r"bare AMF0 value: amfgate\.loads\(data, version=0\)"),
        (bytes.fromhex("00BF0000 0011 5443534F 0004 00000000 0001 74 000000 00"), r"amfgate\.sol\.loads"),
        (bytes.fromhex("FFFF 0000 0000"), "has to begin with 00 00 or 00 03, not with FF FF 00 00 00 00"),
        (bytes.fromhex("0002 0000 0000"), "has to begin with 00 00 or 00 03"),
    ],
)
def test_an_error_says_what_the_input_looks_like(data, what):
    with pytest.raises(DecodeError, match=what) as caught:
        Packet.from_bytes(data)
    assert caught.value.offset == 0


def test_a_guess_does_not_decode_for_long():
    nested = b"\x09\x03\x01" * 100_000
    with pytest.raises(DecodeError, match="has to begin with"):
        Packet.from_bytes(nested)


# --- writing --------------------------------------------------------------------------------------------------------

FAITHFUL = {
    **SAMPLES,
    "arguments behind 11": packet(3, body("a.b", "/1", "0A 00000002 11 09 01 01 02 0001 61")),
    "no arguments": packet(0, body("a.b", "/1", "0A 00000000")),
    "all behind 11": packet(3, body("a.b", "/1", "11 09 03 01 04 2A")),
    "all behind 11 in version 0": packet(0, body("a.b", "/1", "11 09 03 01 0C 05 6162")),
    "one argument behind 11 in version 0": packet(0, body("a.b", "/1", "0A 00000001 11 0D 03 00 00000001")),
    "a scalar behind 11": packet(3, body("/1/onResult", "null", "11 04 2A")),
    "bare text": packet(3, body("/1/onResult", "null", "02 0002 6869")),
    "an AMF0 object in version 3": packet(3, body("/1/onStatus", "null", "03 0001 61 05 0000 09")),
    "AMF0 rows in version 3": packet(3, body("/1/onResult", "null", "0A 00000001 0A 00000001 05")),
    "AMF0 rows in version 0": packet(0, body("/1/onResult", "", "0A 00000002 0A 00000001 05 07 0000")),
    "a debug body": packet(0, body("/1/onDebugEvents", "null", "0A 00000001 0A 00000000")),
    "a message without a list": packet(3, body("null", "/1", "11 0A 0B 01 01")),
    "ActionScript 2 references": packet(0, body("a.b", "/1", "0A 00000001 03 0001 61 07 0001 0000 09")),
    "ActionScript 3 references": packet(0, body("a.b", "/1", "0A 00000002 03 0000 09 07 0000")),
    "text above 65535": packet(0, body("a.b", "/1", wire("0A 00000001 0C 00010000", b"x" * 65536))),
    "a header in AMF3": packet(3, headers=[wire(text("h"), "01 00000004 11 09 01 01")]),
    "a header in AMF0": packet(3, headers=[wire(text("h"), "00 00000004 03 0000 09")]),
    "a header of one scalar behind 11": packet(3, headers=[wire(text("h"), "00 00000002 11 02")]),
}


@pytest.mark.parametrize("name", FAITHFUL)
def test_a_packet_that_was_read_is_written_as_it_came(name):
    assert Packet.from_bytes(FAITHFUL[name]).to_bytes() == FAITHFUL[name]


@pytest.mark.parametrize("length", [0, 1, 0xFFFFFFFF])
def test_the_real_length_is_written(length):
    data = packet(0, body("a.b", "/1", "0A 00000001 01 01", length))
    assert Packet.from_bytes(data).to_bytes() == packet(0, body("a.b", "/1", "0A 00000001 01 01"))


def test_a_call_in_version_3_puts_complex_arguments_behind_11():
    made = Packet(3, [], [Body("a.b", "/1", [1, "x", None, undefined, [1], {"k": b"z"}])])
    assert made.to_bytes() == packet(
        3,
        body(
            "a.b",
            "/1",
            "0A 00000006 00 3FF0000000000000 02 0001 78 05 06 11 09 03 01 04 01 11 0A 0B 01 03 6B 0C 03 7A 01",
        ),
    )


def test_a_call_in_version_0_is_amf0():
    made = Packet(0, [], [Body("a.b", "/1", [[1], {"k": "v"}])])
    assert made.to_bytes() == packet(
        0, body("a.b", "/1", "0A 00000002 0A 00000001 00 3FF0000000000000 03 0001 6B 02 0001 76 0000 09")
    )


def test_a_call_numbers_its_references_without_the_arguments():
    shared = {"a": None}
    made = Packet(0, [], [Body("a.b", "/1", [shared, shared])])
    assert made.to_bytes() == packet(0, body("a.b", "/1", "0A 00000002 03 0001 61 05 0000 09 07 0000"))


def test_an_answer_in_version_3_has_one_11_for_the_whole_value():
    made = Packet(3, [], [Body("/1/onResult", "null", [1, [2]])])
    assert made.to_bytes() == packet(3, body("/1/onResult", "null", "11 09 05 01 04 01 09 03 01 04 02"))


def test_a_scalar_answer_in_version_3_is_bare():
    made = Packet(3, [], [Body("/1/onResult", "null", 42), Body("/2/onStatus", "null", "no")])
    assert made.to_bytes() == packet(
        3, body("/1/onResult", "null", "00 4045000000000000"), body("/2/onStatus", "null", "02 0002 6E6F")
    )


def test_an_answer_in_version_0_counts_its_root():
    answer = [{}]
    answer.append(answer[0])
    made = Packet(0, [], [Body("/1/onResult", "null", answer)])
    assert made.to_bytes() == packet(0, body("/1/onResult", "null", "0A 00000002 03 0000 09 07 0001"))


def test_an_answer_in_version_0_with_bytes_goes_wholly_behind_11():
    made = Packet(0, [], [Body("/1/onResult", "null", [1, b"ab"])])
    assert made.to_bytes() == packet(0, body("/1/onResult", "null", "11 09 05 01 04 01 0C 05 6162"))


def test_headers_are_written_by_the_version():
    value = {"a": None}
    for version, expected in ((0, "03 0001 61 05 0000 09"), (3, "11 0A 0B 01 03 61 01 01")):
        made = Packet(version, [Header("h", value, must_understand=True)])
        length = f"{len(wire(expected)):08X}"
        assert made.to_bytes() == packet(version, headers=[wire(text("h"), "01", length, expected)])


def test_a_date_of_a_call_in_version_3_is_complex():
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    made = Packet(3, [], [Body("a.b", "/1", [moment])])
    assert made.to_bytes() == packet(3, body("a.b", "/1", "0A 00000001 11 08 01 0000000000000000"))


def test_a_vector_survives_a_call_in_version_3():
    made = Packet(3, [], [Body("a.b", "/1", [Vector("int", [1])])])
    assert made.to_bytes() == packet(3, body("a.b", "/1", "0A 00000001 11 0D 03 00 00000001"))


def test_repeats_are_written_out_again_when_asked():
    shared = []
    answer = Body("/1/onResult", "null", [shared, shared])
    assert answer.to_bytes(0) == body("/1/onResult", "null", "0A 00000002 0A 00000000 07 0001")
    assert answer.to_bytes(0, repeats=10) == body("/1/onResult", "null", "0A 00000002 0A 00000000 0A 00000000")


def test_an_error_of_the_encoder_names_the_place():
    made = Packet(3, [], [Body("a.b", "/1", []), Body("a.b", "/2", [{"rows": [1, object()]}])])
    with pytest.raises(EncodeError) as caught:
        made.to_bytes()
    assert caught.value.path == "$.bodies[1].value[0].rows[1]"
    with pytest.raises(EncodeError) as caught:
        Packet(3, [Header("h", object())]).to_bytes()
    assert caught.value.path == "$.headers[0].value"


def test_a_target_has_to_be_text_of_a_size_that_fits():
    with pytest.raises(EncodeError, match="a body's target is text, not None") as caught:
        Packet(0, [], [Body(None, "/1", [])]).to_bytes()
    assert caught.value.path == "$.bodies[0]"
    with pytest.raises(EncodeError, match="65536 bytes"):
        Packet(0, [], [Body("x" * 65536, "/1", [])]).to_bytes()
    with pytest.raises(EncodeError, match="lone surrogate"):
        Packet(0, [Header("\ud800", None)]).to_bytes()


def test_options_reach_the_encoder():
    made = Packet(0, [], [Body("a.b", "/1", [2**60])])
    with pytest.raises(EncodeError):
        made.to_bytes()
    assert made.to_bytes(big_ints="float") == packet(0, body("a.b", "/1", "0A 00000001 00 43B0000000000000"))


def test_a_wrong_version_is_refused():
    with pytest.raises(ValueError, match="0 or 3"):
        Packet(2, [], [])


# --- as Python objects ----------------------------------------------------------------------------------------------


def test_packets_compare_and_print():
    made = Packet(3, [Header("h", 1, must_understand=True)], [Body("a.b", "/1", [1])])
    assert made == Packet(3, [Header("h", 1, must_understand=True)], [Body("a.b", "/1", [1])])
    assert made != Packet(3, [Header("h", 1)], [Body("a.b", "/1", [1])])
    assert made != Packet(3, [Header("h", 1, must_understand=True)], [Body("a.b", "/1", [2])])
    assert repr(made) == "Packet(3, [Header('h', 1, must_understand=True)], [Body('a.b', '/1', [1])])"
    broken = Packet.from_bytes(packet(3, body("a.b", "/1", UNKNOWN)))
    assert "Body('a.b', '/1', <not decoded: " in repr(broken)
    assert broken == Packet.from_bytes(packet(3, body("a.b", "/1", UNKNOWN)))
    assert broken != Packet(3, [], [Body("a.b", "/1", None)])
    assert made != "a packet"


def test_packets_copy_and_pickle():
    got = Packet.from_bytes(FLASH)
    for again in (copy.deepcopy(got), pickle.loads(pickle.dumps(got))):
        assert again == got and again.to_bytes() == FLASH
