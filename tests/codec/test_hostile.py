"""Input of the worst will: an AmfError with an offset, in little time and memory, however deep the stack is already.

The corpus is one value of each kind in each version, written by hand.  It is cut at every offset, and a byte of it is
changed at a time: nothing but a value or a DecodeError may come of it.

Memory: a value takes more room in Python than on the wire.  The greatest multiple found is 80 times the input, for
dictionaries of one entry (5 bytes each on the wire, 400 in memory); the tests assert 100.  Counts that are not true
take nothing: the tests assert less than the input and 20 KB.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc

import pytest

from amfgate import AmfError, ClassRegistry, DecodeError, Limits

H = bytes.fromhex

CORPUS = [
    (3, "09 13 01 00 01 02 03 04 8101 05 3FF8000000000000 06 05 6162 06 00 06 01"),
    (3, "0A 0B 01 03 61 0A 01 03 62 09 03 01 01 01 03 63 0C 07 010203 01"),
    (3, "0A 2B 05 4162 03 61 03 62 04 01 06 00 03 63 0A 01 01 01 01 03 64 04 02 01"),
    (3, "09 05 05 6B31 06 07 616263 03 30 04 01 01 01 03"),
    (3, "09 0B 01 07 05 3C61 0B 05 3C61 08 01 4278BCFE56800000 08 06 0B 04"),
    (3, "0D 05 00 00000001 FFFFFFFF"),
    (3, "09 07 01 0E 03 01 00000001 0F 03 00 3FF8000000000000 10 05 00 03 41 06 00 10 04"),
    (3, "11 07 00 04 01 06 03 61 0A 0B 01 01 11 01 01 06 00 11 00"),
    (3, "0A 07 43 666C65782E6D6573736167696E672E696F2E4172726179436F6C6C656374696F6E 09 05 01 04 01 0A 00"),
    (3, "0A 07 07 44534B 81 00 06 03 61 00 00"),
    (3, "09 05 01 0A 13 03 52 03 78 04 01 0A 01 06 03 7A"),
    (0, "0A 00000005 00 3FF0000000000000 01 01 02 0002 6162 05 06"),
    (0, "03 0001 61 03 0001 62 0A 00000001 05 000009 0000 0D 000009"),
    (0, "08 00000002 0001 30 02 0001 78 0003 666F6F 07 0000 000009"),
    (0, "10 0003 412E42 0001 78 0C 00000002 6162 0001 79 0B 4278BCFE56800000 0000 000009"),
    (0, "0A 00000003 0F 00000004 3C612F3E 07 0001 11 0A 0B 01 03 61 06 03 62 01"),
    (0, "10 0001 52 0001 78 00 4000000000000000 000009"),
]


class Registered:
    x: object


def classes():
    registry = ClassRegistry()
    registry.register(Registered, "R")
    return registry


def deep(frames, call):
    """Call from so many frames deep."""
    return deep(frames - 1, call) if frames else call()


@pytest.mark.parametrize(("version", "data"), CORPUS)
def test_the_corpus_is_sound(codec, version, data):
    codec.loads(H(data), version=version, classes=classes())


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("version", "data"), CORPUS)
def test_a_value_cut_at_any_offset_is_an_error_with_its_offset(codec, version, data, plain):
    whole, registry = H(data), classes()
    for end in range(len(whole)):
        with pytest.raises(DecodeError) as caught:
            codec.loads(whole[:end], version=version, classes=registry, plain=plain)
        assert 0 <= caught.value.offset <= end


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("version", "data"), CORPUS)
def test_a_value_with_one_byte_changed_is_a_value_or_an_error_with_its_offset(codec, version, data, plain):
    whole, registry, dice = H(data), classes(), random.Random(data)
    changes = {0x00, 0x01, 0x02, 0x04, 0x07, 0x7F, 0x80, 0xFF, *(dice.randrange(256) for _ in range(12))}
    for at in range(len(whole)):
        for byte in changes:
            changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
            try:
                codec.loads(changed, version=version, classes=registry, plain=plain)
            except DecodeError as error:
                assert 0 <= error.offset <= len(whole)


@pytest.mark.parametrize("version", [0, 3])
def test_random_bytes_are_a_value_or_an_error_with_its_offset(codec, version):
    dice = random.Random(2)
    for _ in range(3000):
        data = bytes([dice.randrange(0x12)]) + dice.randbytes(dice.randrange(40))
        try:
            codec.loads(data, version=version)
        except DecodeError as error:
            assert 0 <= error.offset <= len(data)


MILLION = 1_000_000
NESTED = [
    pytest.param(3, "09 03 01", id="arrays"),
    pytest.param(3, "0A 0B 01 03 61", id="objects"),
    pytest.param(3, "09 01 03 61", id="associative-arrays"),
    pytest.param(3, "10 03 00 01", id="vectors"),
    pytest.param(3, "11 03 00", id="dictionary-keys"),
    pytest.param(3, "11 03 00 01", id="dictionary-values"),
    pytest.param(0, "0A 00000001", id="strict-arrays"),
    pytest.param(0, "03 0001 61", id="amf0-objects"),
    pytest.param(0, "08 00000000 0001 61", id="ecma-arrays"),
    pytest.param(0, "10 0001 41 0001 61", id="typed-objects"),
]


@pytest.mark.parametrize(("version", "open"), NESTED)
@pytest.mark.parametrize("frames", [0, 500])
@pytest.mark.parametrize("plain", [False, True])
def test_a_million_nested_containers_are_too_deep(codec, version, open, frames, plain):
    data = H(open) * MILLION
    with pytest.raises(DecodeError, match="more than 512 containers within each other") as caught:
        deep(frames, lambda: codec.loads(data, version=version, plain=plain))
    assert caught.value.offset == 512 * len(H(open))


@pytest.mark.parametrize("frames", [0, 500])
@pytest.mark.parametrize("plain", [False, True])
def test_nested_collections_are_too_deep(codec, frames, plain):
    data = H("0A 07 43") + b"flex.messaging.io.ArrayCollection" + H("0A 01") * 100_000
    with pytest.raises(DecodeError, match="more than 512 containers within each other"):
        deep(frames, lambda: codec.loads(data, plain=plain))


@pytest.mark.parametrize("frames", [0, 500])
def test_nested_small_messages_are_too_deep(codec, frames):
    data = H("0A 07 07 44534B 01") + H("0A 01 01") * 100_000  # each with a body
    with pytest.raises(DecodeError, match="more than 32 externalizable objects within each other"):
        deep(frames, lambda: codec.loads(data))


def test_values_of_the_allowed_depth_are_read_500_frames_deep(codec):
    data = H("09 03 01") * 512 + H("01")
    assert deep(500, lambda: codec.loads(data))


@pytest.mark.parametrize("version", [0, 3])
def test_values_of_the_allowed_depth_are_written_500_frames_deep(codec, version):
    value = None
    for _ in range(512):
        value = {"a": value}
    assert deep(500, lambda: codec.dumps(value, version=version))


CLAIMS = [
    pytest.param(3, "11 FFFFFFFF 00", id="dictionary-of-2^28"),
    pytest.param(3, "09 FFFFFFFF 01", id="array-of-2^28"),
    pytest.param(3, "0C FFFFFFFF", id="bytes-of-2^28"),
    pytest.param(3, "0D FFFFFFFF 00", id="vector-of-2^28-ints"),
    pytest.param(3, "0E FFFFFFFF 00", id="vector-of-2^28-uints"),
    pytest.param(3, "0F FFFFFFFF 00", id="vector-of-2^28-doubles"),
    pytest.param(3, "10 FFFFFFFF 00 01", id="vector-of-2^28-objects"),
    pytest.param(3, "06 FFFFFFFF", id="text-of-2^28"),
    pytest.param(3, "0B FFFFFFFF", id="xml-of-2^28"),
    pytest.param(3, "0A 84808003 01", id="traits-of-2^20"),
    pytest.param(3, "0A FFFFFFF3 01", id="traits-of-2^25"),
    pytest.param(0, "0A FFFFFFFF", id="strict-array-of-2^32"),
    pytest.param(0, "0C FFFFFFFF", id="long-string-of-2^32"),
    pytest.param(0, "0F FFFFFFFF", id="amf0-xml-of-2^32"),
]


@pytest.mark.parametrize(("version", "claim"), CLAIMS)
@pytest.mark.parametrize("more", [0, 100, 100_000])
def test_a_count_that_is_not_true_is_an_error_and_takes_no_memory(codec, version, claim, more):
    data = H(claim) + b"\x01" * more
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError) as caught:
            codec.loads(data, version=version)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (0 <= caught.value.offset <= len(data), peak < len(data) + 20_000) == (True, True)


@pytest.mark.parametrize(
    ("version", "data", "message"),
    [
        (3, "09 03 01 0A 7E", "object reference 63, and only 1 objects came before"),
        (3, "0A FFFFFFFE", "object reference 268435455, and only 0 objects came before"),
        (3, "06 FFFFFFFE", "string reference 268435455, and only 0 strings came before"),
        (3, "0A FFFFFFFD", "traits reference 134217727, and only 0 traits came before"),
        (0, "03 0001 61 07 FFFF 000009", "reference 65535, and only 1 objects came before"),
    ],
)
def test_a_reference_to_nowhere_is_an_error(codec, version, data, message):
    with pytest.raises(DecodeError) as caught:
        codec.loads(H(data), version=version)
    assert caught.value.message == message


def repeated(first, item, count=4_000):
    """An AMF3 array of `count` values: the first, then the same few bytes again and again."""
    head = count << 1 | 1
    return (
        H("09") + bytes([head >> 14 | 0x80, head >> 7 & 0x7F | 0x80, head & 0x7F, 1]) + H(first) + H(item) * (count - 1)
    )


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(repeated("11 03 00 01 01", "11 03 00 01 01"), id="dictionaries-of-one-entry"),
        pytest.param(repeated("0A 13 03 41 03 61 01", "0A 01 01"), id="typed-objects-of-one-member"),
        pytest.param(repeated("0A 13 03 41 03 61 01", "0A 13 00 02 01"), id="traits-of-one-member-each"),
        pytest.param(repeated("0A 03 03 41", "0A 03 00"), id="traits-without-members"),
        pytest.param(repeated("0A 03 03 41", "0A 01"), id="typed-objects-without-members"),
        pytest.param(repeated("0A 03 03 52", "0A 01"), id="instances-with-a-default"),
        pytest.param(repeated("0B 01", "0B 01"), id="xml-without-text"),
        pytest.param(repeated("0A 0B 01 03 61 01 01", "0A 01 00 01 01"), id="objects-of-one-member"),
        pytest.param(repeated("09 01 03 61 01 01", "09 01 00 01 01"), id="associative-arrays"),
        pytest.param(repeated("09 01 03 31 01 01", "09 01 00 01 01"), id="associative-arrays-with-an-index"),
        pytest.param(repeated("09 01 01", "09 01 01"), id="empty-arrays"),
        pytest.param(repeated("0D 01 00", "0D 01 00"), id="empty-vectors"),
        pytest.param(repeated("06 03 FF", "06 03 FF"), id="texts-of-one-byte-that-is-no-utf8"),
        pytest.param(repeated("01", "01"), id="nulls"),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_a_value_takes_less_than_100_times_its_input(codec, data, plain):
    registry = classes()
    codec.loads(data, plain=plain, classes=registry)
    gc.collect()
    tracemalloc.start()
    try:
        value = codec.loads(data, plain=plain, classes=registry)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(value), peak < 100 * len(data)) == (4_000, True)


@pytest.mark.parametrize(
    ("version", "data"),
    [
        pytest.param(3, repeated("0A 0B 01 03 61 01 01", "0A 01 00 01 01", 100_000), id="objects"),
        pytest.param(3, H("0A BACC03 01") + H("0361") + H("00") * 59_999 + H("01") * 60_000, id="traits-of-60000"),
        pytest.param(0, H("03") + H("0000 05") * 100_000 + H("000009"), id="one-name-again-and-again"),
        pytest.param(
            0,
            H("08 00000000")
            + b"".join(b"\0" + bytes([len(str(n))]) + str(n).encode() + b"\5" for n in range(0, 2**32 - 2, 131072))
            + H("000009"),
            id="indices-that-share-their-low-bits",
        ),
        pytest.param(
            0,
            H("08 00000000 0001 61") * 200 + H("0001 30 07 0000 0001 62 07 0001") + H("000009") * 200,
            id="references-into-open-arrays",
        ),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_time_is_in_proportion_to_the_input(codec, version, data, plain):
    start = time.perf_counter()
    try:
        codec.loads(data, version=version, plain=plain)
    except AmfError:
        pass
    assert time.perf_counter() - start < 3


def test_values_without_end_stop_at_the_limit(codec):
    data = repeated("09 01 01", "09 01 01", 100_000)
    with pytest.raises(DecodeError, match="more than 1000 values"):
        codec.loads(data, limits=Limits(max_values=1000))


def test_defaults_of_a_class_stop_at_the_limit(codec):
    data = repeated("0A 03 03 52", "0A 01", 100)
    with pytest.raises(DecodeError, match="more than 150 values"):
        codec.loads(data, limits=Limits(max_values=150), classes=classes())


def test_two_bytes_that_crash_another_decoder(codec):
    with pytest.raises(DecodeError, match="traits reference 4, and only 0 traits came before"):
        codec.loads(H("0A 11"))


def test_an_error_does_not_show_what_lies_behind_the_input(codec):
    data = memoryview(b"\x06\x15short" + b"secret")[:7]
    with pytest.raises(DecodeError) as caught:
        codec.loads(data)
    assert "secret" not in str(caught.value)
