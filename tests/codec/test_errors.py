"""Errors: what was found, where, what was expected, what to do; and options that are none."""

from __future__ import annotations

import gzip
import pickle
import zlib

import pytest

from amfgate import AmfError, DecodeError, EcmaArray, EncodeError, Limits, Rows, TypedObject, Vector
from amfgate import Dictionary as AmfDictionary
from amfgate.flex import ArrayCollection

H = bytes.fromhex


class Lock:
    pass


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Lock(), "$"),
        ([Lock()], "$[0]"),
        ((1, Lock()), "$[1]"),
        ({"a": Lock()}, "$.a"),
        ({"a b": Lock()}, "$['a b']"),
        ({"1": Lock()}, "$['1']"),
        ({1: Lock()}, "$[1]"),
        ({"h\u00e9": Lock()}, "$.h\u00e9"),
        ([{"a": 1, "b": [0, Lock()]}], "$[0].b[1]"),
        ([{"a": 1}, {"a": 1}, {"a": Lock()}], "$[2].a"),
        (EcmaArray({0: 1, "a": Lock()}), "$.a"),
        (TypedObject("A", {"x": 1, "y": Lock()}), "$.y"),
        (TypedObject("A", {"x": 1, "y": Lock()}, sealed=["x"], dynamic=True), "$.y"),
        (Rows(["a", "b"], [(1, 2), (1, Lock())]), "$[1].b"),
        ({1: Lock()}.values(), "$[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("version", [0, 3])
def test_an_encode_error_names_the_path(codec, version, value, path):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(value, version=version)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (EcmaArray({"a": 1, 0: Lock()}), "$[0]"),
        (Vector("object", [1, Lock()]), "$[1]"),
        (AmfDictionary([(1, 2), (3, Lock())]), "$.value1"),
        (AmfDictionary([(1, 2), (Lock(), 3)]), "$.key1"),
        (ArrayCollection([1, Lock()]), "$.source[1]"),
    ],
)
def test_an_encode_error_of_amf3_names_the_path(codec, value, path):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(value)
    assert caught.value.path == path


def test_an_error_is_a_value_error_and_an_amf_error(codec):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(Lock())
    assert isinstance(caught.value, (AmfError, ValueError))


def test_an_encode_error_can_be_pickled(codec):
    with pytest.raises(EncodeError) as caught:
        codec.dumps([Lock()])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_decode_error_can_be_pickled(codec):
    with pytest.raises(DecodeError) as caught:
        codec.loads(b"\xff")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.offset) == (str(caught.value), 0)


def test_the_text_of_a_decode_error_ends_with_the_offset(codec):
    with pytest.raises(DecodeError) as caught:
        codec.loads(H("09 03 01 FF"))
    assert str(caught.value) == "0xFF is no marker of AMF3, at offset 3"


def test_no_input_is_an_error(codec):
    with pytest.raises(DecodeError, match="no value: the input is empty") as caught:
        codec.loads(b"")
    assert caught.value.offset == 0


def test_bytes_behind_the_value_are_an_error_that_says_where(codec):
    with pytest.raises(DecodeError) as caught:
        codec.loads(H("04 05 01 01"))
    assert (caught.value.message, caught.value.offset) == ("2 bytes follow the value", 2)


PAGE = b"<!DOCTYPE html><html><head><title>404 Not Found</title>"


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        pytest.param(PAGE, "HTML", id="html"),
        pytest.param(b"  \r\n" + PAGE, "HTML", id="html-behind-white-space"),
        pytest.param(b'<?xml version="1.0"?><a/>', "XML or HTML", id="xml"),
        pytest.param(b'{"a": [1, 2]}', "JSON", id="json"),
        pytest.param(b"[1, 2]", "JSON", id="json-array"),
        pytest.param(zlib.compress(b"abc"), "zlib: decompress it first", id="zlib"),
        pytest.param(gzip.compress(b"abc"), "gzip: decompress it first", id="gzip"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", "a whole HTTP response", id="http-response"),
        pytest.param(b"POST /amf HTTP/1.1\r\n\r\n", "a whole HTTP request", id="http-request"),
        pytest.param(
            H("0003 0000 0001 0004 6E756C6C"), "a remoting packet: amfgate.Packet.from_bytes reads it", id="packet"
        ),
        pytest.param(H("0000 0000 0001 0004 6E756C6C"), "a remoting packet", id="packet-of-version-0"),
        pytest.param(b"......................", "text; of a captured connection", id="capture"),
        pytest.param(H("00BF 00000010 5443534F 0004"), "a local shared object", id="sol"),
    ],
)
@pytest.mark.parametrize("version", [0, 3])
def test_the_error_says_what_the_input_looks_like(codec, version, data, hint):
    with pytest.raises(DecodeError) as caught:
        codec.loads(data, version=version)
    assert f"; the input looks like {hint}" in caught.value.message


@pytest.mark.parametrize("version", [0, 3])
def test_and_shows_its_first_bytes(codec, version):
    with pytest.raises(DecodeError, match=r"\[3C 21 44 4F 43 54 59 50 45 20 68 74 \.\.\. \(<!DOCTYPE ht\.\.\.\)\]"):
        codec.loads(PAGE, version=version)


@pytest.mark.parametrize("data", ["09 03 01 FF", "0A 13 03 41 03 61 FF", "06 05 61"])
def test_broken_amf_is_not_taken_for_something_else(codec, data):
    with pytest.raises(DecodeError) as caught:
        codec.loads(H(data))
    assert "looks like" not in caught.value.message


def test_a_broken_amf0_array_is_not_taken_for_a_packet(codec):
    with pytest.raises(DecodeError) as caught:
        codec.loads(H("0A 00000001 10 0001 41 0001 61 FF"), version=0)
    assert caught.value.message == "0xFF is no marker of AMF0"


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 4, "3", None, 3.0, True])
def test_a_version_that_is_none_is_a_value_error(codec, version):
    for call in (
        lambda: codec.dumps(None, version=version),
        lambda: codec.loads(b"\1", version=version),
        lambda: codec.Encoder(version=version),
        lambda: codec.Decoder(b"\1", version=version),
    ):
        with pytest.raises(ValueError, match=r"version is 0 \(AMF0\) or 3 \(AMF3\), not "):
            call()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"strings": "some"}, "strings is one of 'adaptive', 'all', not 'some'"),
        ({"big_ints": "int"}, "big_ints is one of 'error', 'float', 'string', not 'int'"),
        ({"decimals": None}, "decimals is one of 'float', 'string', not None"),
    ],
)
def test_an_option_of_the_encoder_that_is_none_names_those_there_are(codec, option, message):
    with pytest.raises(ValueError, match=message):
        codec.dumps(None, **option)


def test_an_option_of_the_decoder_that_is_none_names_those_there_are(codec):
    with pytest.raises(ValueError, match="dates is one of 'datetime', 'ms', not 'iso'"):
        codec.loads(b"\1", dates="iso")


@pytest.mark.parametrize("limits", [{"max_depth": 3}, 5])
def test_limits_of_another_type_are_a_value_error(codec, limits):
    with pytest.raises(ValueError, match=r"limits is an amfgate.Limits or None, not"):
        codec.dumps(None, limits=limits)
    with pytest.raises(ValueError, match=r"limits is an amfgate.Limits or None, not"):
        codec.loads(b"\1", limits=limits)


def test_classes_that_are_no_registry_are_a_value_error(codec):
    with pytest.raises(ValueError, match="classes is an amfgate.ClassRegistry or None, not 5"):
        codec.dumps(None, classes=5)
    with pytest.raises(ValueError, match="classes is an amfgate.ClassRegistry or None, not 5"):
        codec.loads(b"\1", classes=5)


def test_a_default_that_cannot_be_called_is_a_value_error(codec):
    with pytest.raises(ValueError, match="default is a function or None, not 5"):
        codec.dumps(None, default=5)


def test_str_given_to_loads_is_a_type_error_that_says_what_to_do(codec):
    with pytest.raises(TypeError, match=r"AMF is bytes, not str; bytes.fromhex\(\) reads a hex dump"):
        codec.loads("0501")


@pytest.mark.parametrize("data", [None, 5, [1]])
def test_what_is_no_bytes_is_a_type_error(codec, data):
    with pytest.raises(TypeError):
        codec.loads(data)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda data: memoryview(b"\0" + data + b"\0")[1:-1]])
def test_any_bytes_like_object_is_read(codec, make):
    assert codec.loads(make(H("06 05 6162"))) == "ab"


def test_what_is_mutable_is_copied(codec):
    data = bytearray(H("04 05 04 06"))
    decoder = codec.Decoder(data)
    data[:] = bytes(4)
    assert list(decoder) == [5, 6]


def test_an_unknown_option_is_a_type_error(codec):
    for call in (lambda: codec.dumps(None, strict=True), lambda: codec.Decoder(b"", strict=True)):
        with pytest.raises(TypeError):
            call()


def test_limits_do_not_replace_the_error_of_a_value(codec):
    with pytest.raises(EncodeError, match="cannot encode Lock"):
        codec.dumps([Lock()], limits=Limits())
