"""Flex's collections and messages as values."""

from __future__ import annotations

import os
import uuid
import warnings

import pytest

import amfgate
from amfgate import DecodeError, EncodeError, TypedObject, alias_of
from amfgate.flex import (
    ArrayCollection,
    ArrayList,
    ManagedObjectProxy,
    ObjectProxy,
    SmallMessage,
    acknowledge,
    complete,
    error,
    kind_of,
    messages,
)
from amfgate.flex.messages import new_id

ID_1 = "0123456789ABCDEF0123456789ABCDEF"
ID_2 = "FEDCBA9876543210FEDCBA9876543210"
ID_3 = "00112233445566778899AABBCCDDEEFF"


def as_text(digits):
    return str(uuid.UUID(digits)).upper()


def wire(*parts):
    """Bytes as they are, str as hex digits."""
    return b"".join(bytes.fromhex(part) if isinstance(part, str) else part for part in parts)


def external(alias, *payload, traits="07"):
    return wire("0A", traits, f"{len(alias) << 1 | 1:02X}", alias.encode(), *payload)


# --- collections ----------------------------------------------------------------------------------------------------

WRAPPERS = [
    ("ArrayCollection", ArrayCollection, "09 05 01 04 01 04 02", [1, 2]),
    ("ArrayList", ArrayList, "09 05 01 04 01 04 02", [1, 2]),
    ("ObjectProxy", ObjectProxy, "0A 0B 01 03 61 04 01 01", {"a": 1}),
    ("ManagedObjectProxy", ManagedObjectProxy, "0A 0B 01 03 61 04 01 01", {"a": 1}),
]


@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_a_wrapper_travels_as_its_one_value(codec, name, cls, payload, source):
    data = external(f"flex.messaging.io.{name}", payload)
    got = codec.loads(data)
    assert type(got) is cls and got.source == source
    assert alias_of(got) == f"flex.messaging.io.{name}"
    assert codec.dumps(got) == data
    assert codec.dumps(cls(source)) == data


@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_the_traits_of_a_dynamic_class_are_kept(codec, name, cls, payload, source):
    data = external(f"flex.messaging.io.{name}", payload, traits="0F")
    got = codec.loads(data)
    assert type(got) is cls
    assert codec.dumps(got) == data


@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_the_name_of_servers_with_small_messages_is_kept(codec, name, cls, payload, source):
    data = external(f"flex.messaging.io.{name}Ext", payload)
    got = codec.loads(data)
    assert type(got) is cls
    assert alias_of(got) == f"flex.messaging.io.{name}Ext"
    assert codec.dumps(got) == data


@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_plain_gives_the_source(codec, name, cls, payload, source):
    got = codec.loads(external(f"flex.messaging.io.{name}", payload), plain=True)
    assert type(got) is type(source) and got == source


@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_amf0_has_only_the_source(codec, name, cls, payload, source):
    assert codec.dumps(cls(source), version=0) == codec.dumps(source, version=0)


def test_a_wrapper_and_its_source_have_a_slot_each(codec):
    data = wire(
        "09 07 01", external("flex.messaging.io.ArrayCollection", "09 01 01"), "0A 02", "09 04"
    )  # the list itself is 0, the collection 1, its source 2
    outer = codec.loads(data)
    assert outer[1] is outer[0] and outer[2] is outer[0].source
    assert codec.dumps(outer) == data


def test_a_collection_may_hold_itself(codec):
    data = external("flex.messaging.io.ArrayCollection", "09 03 01 0A 00")
    got = codec.loads(data)
    assert got.source[0] is got
    assert codec.dumps(got) == data


def test_a_collection_without_a_source_is_empty(codec):
    data = external("flex.messaging.io.ArrayCollection", "01")
    got = codec.loads(data)
    assert got.source is None and len(got) == 0 and list(got) == []
    with pytest.raises(IndexError):
        got[0]
    assert codec.dumps(got) == data
    got.append("x")
    assert got.source == ["x"]


@pytest.mark.parametrize("ending", ["", "Ext"])
@pytest.mark.parametrize(("name", "cls", "payload", "source"), WRAPPERS)
def test_the_sealed_form_of_coldfusion_is_read_and_written_as_it_came(codec, name, cls, payload, source, ending):
    alias = f"flex.messaging.io.{name}{ending}"
    data = wire("0A 13", f"{len(alias) << 1 | 1:02X}", alias.encode(), "0D", b"source", payload)
    got = codec.loads(data)
    assert alias_of(got) == alias and got["source"] == source
    assert codec.dumps(got) == data
    plain = codec.loads(data, plain=True)
    assert type(plain) is type(source) and plain == source


def test_the_sealed_form_may_have_more_members(codec):
    data = wire(
        "0A 23 43", b"flex.messaging.io.ArrayCollection", "05", b"id", "0D", b"source", "04 01", "09 03 01 04 07"
    )
    got = codec.loads(data)
    assert dict(got) == {"id": 1, "source": [7]}
    assert codec.dumps(got) == data
    assert codec.loads(data, plain=True) == [7]


def test_the_sealed_form_s_source_keeps_its_slot(codec):
    """The list is 0, the collection 1, its source 2."""
    data = wire("09 05 01 0A 13 43", b"flex.messaging.io.ArrayCollection", "0D", b"source", "09 03 01 04 07", "09 04")
    got = codec.loads(data)
    assert got[1] is got[0]["source"]
    assert codec.dumps(got) == data
    plain = codec.loads(data, plain=True)
    assert plain == [[7], [7]] and plain[0] is plain[1]


def test_the_sealed_form_in_amf0(codec):
    data = wire("10 0021", b"flex.messaging.io.ArrayCollection", "0006", b"source", "0A 00000001 02 0001 61 000009")
    got = codec.loads(data, version=0)
    assert alias_of(got) == "flex.messaging.io.ArrayCollection" and got["source"] == ["a"]
    assert codec.dumps(got, version=0) == data
    assert codec.loads(data, version=0, plain=True) == ["a"]


def test_a_collection_cut_short_is_an_error(codec):
    data = external("flex.messaging.io.ArrayCollection", "09 03 01 0A 0B 01 03 61 04 01 01")
    for size in range(len(data)):
        with pytest.raises((DecodeError, EOFError)):
            codec.loads(data[:size])


def test_a_collection_is_used_like_a_list():
    got = ArrayCollection(["a", "b"])
    assert len(got) == 2 and list(got) == ["a", "b"] and got[0] == "a" and got[-1:] == ["b"] and "b" in got
    got.append("c")
    got[0] = "A"
    del got[1]
    assert got == ["A", "c"] and got.index("c") == 1
    assert got == ArrayCollection(["A", "c"]) and got != ArrayList(["A", "c"]) and got != ["A"]
    assert repr(got) == "ArrayCollection(['A', 'c'])"
    assert not ArrayCollection() and ArrayCollection().source == []
    source = [1]
    assert ArrayCollection(source).source is source


def test_a_proxy_is_used_like_a_dict():
    got = ObjectProxy({"a": 1})
    got["b"] = 2
    assert got == {"a": 1, "b": 2} and list(got) == ["a", "b"] and got.get("x") is None and "a" in got and len(got) == 2
    del got["a"]
    assert got == ObjectProxy({"b": 2}) and got != ManagedObjectProxy({"b": 2})
    assert repr(got) == "ObjectProxy({'b': 2})"
    empty = ObjectProxy()
    empty.source = None
    assert list(empty) == [] and empty.get("a") is None and not empty
    empty["a"] = 1
    assert empty.source == {"a": 1}


def test_rows_go_into_a_collection(codec):
    rows = ArrayCollection(amfgate.Rows(["id"], [(1,), (2,)]))
    assert codec.dumps(rows) == external(
        "flex.messaging.io.ArrayCollection", "09 05 01 0A 13 01 05", b"id", "04 01 0A 05 04 02"
    )


# --- small messages -------------------------------------------------------------------------------------------------

TEXTS = ["body", "clientId", "destination", "headers", "messageId", "correlationId"]
EMPTY = {**dict.fromkeys(TEXTS), "timestamp": 0, "timeToLive": 0}


def test_an_acknowledgement_in_the_small_form(codec):
    data = external(
        "DSK",
        "A1 03",  # body and timestamp; another byte: both ids as bytes
        "06 05 6F6B", "05 4270000000000000",
        "0C 21", ID_1, "0C 21", ID_2,
        "02", "0C 21", ID_3,  # correlationId as bytes
        "00",  # AcknowledgeMessage's own
    )  # fmt: skip
    got = codec.loads(data)
    assert type(got) is SmallMessage and got.alias == "DSK" == alias_of(got)
    assert dict(got) == {
        "body": "ok",
        "clientId": as_text(ID_1),
        "destination": None,
        "headers": None,
        "messageId": as_text(ID_2),
        "timestamp": 1099511627776.0,
        "timeToLive": 0,
        "correlationId": as_text(ID_3),
    }
    assert codec.dumps(got) == data


def test_a_command_in_the_small_form(codec):
    data = external(
        "DSC",
        "5E",  # clientId, destination, headers, messageId, timeToLive
        "06 03 63", "06 01", "0A 0B 01 09", b"DSId", "06 07", b"nil", "01", "06 03 6D", "04 05",
        "01 06 03 72",  # correlationId
        "01 04 08",  # operation
    )  # fmt: skip
    got = codec.loads(data)
    assert got["operation"] == 8 and got["headers"] == {"DSId": "nil"} and got["clientId"] == "c"
    assert (got["messageId"], got["timeToLive"], got["destination"], got["correlationId"]) == ("m", 5, "", "r")
    assert codec.dumps(got) == data


def test_absent_fields_are_null_or_0(codec):
    got = codec.loads(external("DSC", "00 00 00"))
    assert dict(got) == {**EMPTY, "operation": 0}
    assert codec.dumps(got) == external("DSC", "00 00 00")
    assert dict(codec.loads(external("DSA", "00 00"))) == EMPTY


def test_unknown_bits_are_read_and_dropped(codec):
    data = external(
        "DSA",
        "81 BC 3F",  # body; byte 2 with four unknown bits; a byte 3 of six
        "04 01",
        "04 0A 04 0B 04 0C 04 0D",
        "04 10 04 11 04 12 04 13 04 14 04 15",
        "3D 06 03 63 04 1E 04 1F 04 20 04 21",  # correlationId and four unknown ones
    )
    got = codec.loads(data)
    assert (got["body"], got["correlationId"]) == (1, "c")
    assert codec.dumps(got) == external("DSA", "01 04 01 01 06 03 63")


def test_bit_40_is_a_field_only_in_the_first_byte(codec):
    got = codec.loads(external("DSA", "C0 40", "04 07", "40"))
    assert got["timeToLive"] == 7
    assert codec.dumps(got) == external("DSA", "40 04 07 00")


def test_flag_bytes_of_0_are_read_and_not_written(codec):
    got = codec.loads(external("DSK", "80 80 00 80 00 00"))
    assert codec.dumps(got) == external("DSK", "00 00 00")


def test_values_of_a_small_message_share_the_tables(codec):
    shared = {}
    message = SmallMessage("DSK", {"body": [shared, "text"], "headers": shared, "destination": "text"})
    data = external("DSK", "0D 09 05 01 0A 0B 01 01 06 09", b"text", "06 02", "0A 04", "00 00")
    assert codec.dumps(message) == data
    again = codec.loads(data)
    assert again["headers"] is again["body"][0]


def test_ids_that_are_no_canonical_uuid_go_as_they_are(codec):
    lower = as_text(ID_3).lower()
    for text in ("me", lower, "{" + as_text(ID_3)[1:-1] + "}", "x" * 36):
        data = external("DSA", "02 06", f"{len(text) << 1 | 1:02X}", text.encode(), "00")
        assert codec.dumps(SmallMessage("DSA", {"clientId": text})) == data
        assert codec.loads(data)["clientId"] == text


def test_a_uuid_goes_as_bytes(codec):
    message = SmallMessage("DSA", {"messageId": uuid.UUID(ID_1)})
    assert codec.dumps(message) == external("DSA", "80 02 0C 21", ID_1, "00")


def test_bytes_that_are_no_id_are_kept(codec):
    assert codec.loads(external("DSA", "80 01 0C 03 AB", "00"))["clientId"] == b"\xab"


@pytest.mark.parametrize("package", ["flex.messaging.messages", "flex.messaging.io"])
@pytest.mark.parametrize(
    ("name", "short", "rest"), [("Async", "DSA", ""), ("Command", "DSC", "00"), ("Acknowledge", "DSK", "00")]
)
def test_the_long_names_of_small_messages_are_kept(codec, package, name, short, rest):
    alias = f"{package}.{name}MessageExt"
    data = external(alias, "01 04 07 00", rest)
    got = codec.loads(data)
    assert type(got) is SmallMessage and got.alias == alias and got["body"] == 7
    assert codec.dumps(got) == data
    assert kind_of(got) == kind_of(SmallMessage(short)) == f"{name}Message"


def test_the_form_with_plain_traits_is_read_too(codec):
    data = wire("0A 23 07 44534B 09", b"body", "1B", b"correlationId", "04 07", "06 03 72")
    got = codec.loads(data)
    assert dict(got) == {"body": 7, "correlationId": "r"}
    assert alias_of(got) == "DSK" and kind_of(got) == "AcknowledgeMessage"
    assert codec.dumps(got) == data


def test_a_small_message_cut_anywhere_is_an_error(codec):
    data = external("DSK", "A1 03", "06 05 6F6B", "05 4270000000000000", "0C 21", ID_1, "0C 21", ID_2, "02 06 03 72 00")
    for size in range(1, len(data)):
        with pytest.raises(DecodeError) as caught:
            codec.loads(data[:size])
        assert caught.value.offset is not None


def test_flag_bytes_without_end_are_an_error(codec):
    assert dict(codec.loads(external("DSA", b"\x80" * 31, "00 00"))) == EMPTY
    with pytest.raises(DecodeError, match="more than 32 flag bytes in one block of a small message") as caught:
        codec.loads(external("DSA", b"\xc0" * 32, "00 00"))
    assert caught.value.offset == 0


def test_small_messages_within_each_other_are_bounded(codec):
    nested = wire("0A 07 07 444341".replace("444341", "445341"), "01", b"\x0a\x01\x01" * 100_000)
    with pytest.raises(DecodeError):
        codec.loads(nested)


def test_a_small_message_of_another_name_cannot_be_written(codec):
    with pytest.raises(EncodeError, match="DSA, DSC or DSK, not 'DSX'"):
        codec.dumps(SmallMessage("DSX"))


def test_plain_keeps_messages(codec):
    got = codec.loads(external("DSK", "01 04 07 00 00"), plain=True)
    assert type(got) is SmallMessage and got["body"] == 7


def test_small_messages_print():
    assert repr(SmallMessage("DSK", {"body": 1})) == "SmallMessage('DSK', {'body': 1})"


# --- long messages --------------------------------------------------------------------------------------------------


def test_messages_are_known_by_their_names(codec):
    data = wire("0A 0B 4F", b"flex.messaging.messages.RemotingMessage", "13", b"operation", "06 09", b"save", "01")
    got = codec.loads(data)
    assert kind_of(got) == "RemotingMessage" and got["operation"] == "save"
    assert codec.dumps(got) == data
    for value in (None, {}, [], TypedObject("com.example.RemotingMessage"), TypedObject()):
        assert kind_of(value) is None


def test_an_error_message_with_some_members_gets_defaults_and_keeps_the_rest(codec):
    data = wire(
        "0A 0B 49", b"flex.messaging.messages.ErrorMessage",
        "13", b"faultCode", "06 03 78", "0B", b"extra", "04 01", "01",
    )  # fmt: skip
    got = codec.loads(data)
    assert dict(got) == {"faultCode": "x", "extra": 1}
    assert complete(got) is got
    assert got["faultCode"] == "x" and got["extra"] == 1 and got["faultString"] is None and got["timestamp"] == 0
    assert got["correlationId"] is None and got["rootCause"] is None


def test_the_members_of_each_kind():
    common = {"body", "clientId", "destination", "headers", "messageId", "timestamp", "timeToLive"}
    assert set(messages.DEFAULTS["RemotingMessage"]) == common | {"operation", "source"}
    assert set(messages.DEFAULTS["AsyncMessage"]) == common | {"correlationId"}
    assert set(messages.DEFAULTS["CommandMessage"]) == common | {"correlationId", "operation", "messageRefType"}
    assert set(messages.DEFAULTS["ErrorMessage"]) == common | {
        "correlationId", "extendedData", "faultCode", "faultDetail", "faultString", "rootCause"
    }  # fmt: skip
    assert set(messages.DEFAULTS["HTTPMessage"]) == common | {
        "contentType", "httpHeaders", "method", "recordHeaders", "remotePassword", "remoteUsername", "url"
    }  # fmt: skip
    assert messages.DEFAULTS["SOAPMessage"] == messages.DEFAULTS["HTTPMessage"]
    assert set(messages.DEFAULTS["AcknowledgeMessage"]) == set(messages.DEFAULTS["AsyncMessage"])
    with pytest.raises(ValueError, match=r"com\.example"):
        complete(TypedObject("com.example.Message"))


@pytest.mark.parametrize("kind", messages.DEFAULTS)
def test_all_members_of_all_kinds_are_optional_and_others_are_kept(codec, kind):
    alias = f"flex.messaging.messages.{kind}"
    for traits, members, end in (("03", "", ""), ("0B", "0B 65 78 74 72 61 04 01", "01")):
        data = wire("0A", traits, f"{len(alias) << 1 | 1:02X}", alias.encode(), members, end)
        got = codec.loads(data, plain=True)
        assert kind_of(got) == kind and dict(got) == ({"extra": 1} if members else {})
        assert codec.dumps(got) == data
        assert complete(got).items() >= messages.DEFAULTS[kind].items() and ("extra" in got) == bool(members)


def test_the_operations():
    assert (messages.SUBSCRIBE, messages.UNSUBSCRIBE, messages.POLL) == (0, 1, 2)
    assert (messages.CLIENT_SYNC, messages.PING) == (4, 5)
    assert (messages.LOGIN, messages.LOGOUT, messages.DISCONNECT, messages.TRIGGER_CONNECT) == (8, 9, 12, 13)


def test_an_acknowledgement_answers_its_request():
    request = TypedObject("flex.messaging.messages.RemotingMessage", {"messageId": "M", "clientId": "C"})
    reply = acknowledge(request, [1])
    assert reply.alias == "flex.messaging.messages.AcknowledgeMessage" and type(reply) is TypedObject
    assert (reply["correlationId"], reply["clientId"], reply["body"], reply["headers"]) == ("M", "C", [1], {})
    assert set(reply) == set(messages.DEFAULTS["AcknowledgeMessage"])
    assert type(reply["timestamp"]) is int and reply["timestamp"] > 1_600_000_000_000
    assert acknowledge(request, [1])["messageId"] != reply["messageId"]
    small = acknowledge(request, [1], small=True)
    assert type(small) is SmallMessage and small.alias == "DSK" and small["correlationId"] == "M"


def test_a_client_without_an_id_gets_one():
    reply = acknowledge(TypedObject("flex.messaging.messages.CommandMessage"), None)
    assert reply["correlationId"] is None
    for made in (reply["clientId"], reply["messageId"]):
        parsed = uuid.UUID(made)
        assert parsed.version == 4 and parsed.variant == uuid.RFC_4122 and str(parsed).upper() == made


def test_no_id_is_given_twice_nor_in_two_processes():
    ids = [new_id() for _ in range(1000)]
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which Python 3.12 fears in a child
        child = os.fork()
    if child == 0:
        os.write(writer, "".join(new_id() for _ in range(100)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    text = os.read(reader, 3600).decode()
    os.close(reader)
    os.close(writer)
    ids += [new_id() for _ in range(100)]
    ids += [text[at : at + 36] for at in range(0, 3600, 36)]
    assert len(set(ids)) == 1200
    assert all(uuid.UUID(one).version == 4 and uuid.UUID(one).variant == uuid.RFC_4122 for one in ids)


def test_an_error_answers_its_request():
    request = TypedObject("flex.messaging.messages.RemotingMessage", {"messageId": "M", "clientId": "C"})
    reply = error(request, "Shop.SoldOut", "none left", details="d", root_cause={"n": 1}, extended_data=[2])
    assert reply.alias == "flex.messaging.messages.ErrorMessage"
    assert (reply["correlationId"], reply["clientId"], reply["body"]) == ("M", "C", None)
    assert (reply["faultCode"], reply["faultString"], reply["faultDetail"]) == ("Shop.SoldOut", "none left", "d")
    assert (reply["rootCause"], reply["extendedData"]) == ({"n": 1}, [2])
