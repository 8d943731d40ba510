"""Limits: depth, values, size; one value more is one too many."""

from __future__ import annotations

import pytest

from amfgate import DecodeError, EncodeError, Limits, Vector

H = bytes.fromhex
THREE = Limits(max_depth=3)


def nested(levels, make=lambda inner: [inner]):
    value = None
    for _ in range(levels):
        value = make(value)
    return value


MAKERS = [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,)]


@pytest.mark.parametrize("make", MAKERS, ids=["list", "dict", "tuple"])
@pytest.mark.parametrize("version", [0, 3])
def test_512_levels_are_written(codec, version, make):
    assert codec.dumps(nested(512, make), version=version)


@pytest.mark.parametrize("make", MAKERS, ids=["list", "dict", "tuple"])
@pytest.mark.parametrize("version", [0, 3])
def test_513_are_too_many_for_the_encoder(codec, version, make):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(nested(513, make), version=version)
    assert (caught.value.message, caught.value.hint) == (
        "more than 512 containers within each other",
        "Limits(max_depth=...) sets how many",
    )


@pytest.mark.parametrize(("version", "open", "close"), [(3, "09 03 01", ""), (0, "0A 00000001", "")])
def test_512_levels_are_read(codec, version, open, close):
    value = codec.loads(H(open) * 512 + H("01 00")[: 1 + (version == 0)], version=version)
    depth = 0
    while isinstance(value, list):
        (value,), depth = value, depth + 1
    assert depth == 512


@pytest.mark.parametrize(("version", "open", "offset"), [(3, "09 03 01", 512 * 3), (0, "0A 00000001", 512 * 5)])
def test_513_are_too_many_for_the_decoder(codec, version, open, offset):
    with pytest.raises(DecodeError) as caught:
        codec.Decoder(H(open) * 513 + H("05"), version=version).decode()
    assert (caught.value.message, caught.value.offset) == (
        "more than 512 containers within each other (Limits(max_depth=...) sets how many)",
        offset,
    )


@pytest.mark.parametrize(
    "data",
    [
        "09 03 01 09 03 01 09 03 01 09 01 01",
        "0A 0B 01 03 61 0A 01 00 0A 01 00 0A 01 01 01 01 01",
        "09 01 03 61 09 01 00 09 01 00 09 01 00 01 01 01 01 01",
        "10 03 00 01 10 03 00 01 10 03 00 01 10 01 00 01",
        "11 03 00 01 11 03 00 01 11 03 00 01 11 01 00",
        "0A 13 03 41 03 61 0A 01 0A 01 0A 01 01",
    ],
    ids=["array", "object", "associative", "vector", "dictionary", "typed"],
)
def test_every_container_of_amf3_counts_as_a_level(codec, data):
    with pytest.raises(DecodeError, match="more than 3 containers within each other"):
        codec.loads(H(data), limits=THREE)


@pytest.mark.parametrize(
    "open",
    ["03 0001 61", "08 00000000 0001 61", "0A 00000001", "10 0001 41 0001 61"],
    ids=["object", "ecma", "strict", "typed"],
)
def test_every_container_of_amf0_counts_as_a_level(codec, open):
    with pytest.raises(DecodeError, match="more than 3 containers within each other"):
        codec.loads(H(open) * 4 + H("05"), version=0, limits=THREE)


def test_depth_goes_on_behind_11(codec):
    with pytest.raises(DecodeError, match="more than 3 containers"):
        codec.loads(H("0A 00000001 0A 00000001 11 09 03 01 09 01 01"), version=0, limits=THREE)


def test_scalars_dates_bytes_and_vectors_of_numbers_are_no_level(codec):
    data = H("09 03 01 09 03 01 09 09 01 0D 01 00 0C 01 08 01 0000000000000000 06 01")
    assert codec.loads(data, limits=THREE)


def test_scalars_bytes_and_vectors_of_numbers_are_no_level_for_the_encoder(codec):
    assert codec.dumps([[[Vector("int", [1]), b"ab", 1]]], limits=THREE)


@pytest.mark.parametrize("version", [0, 3])
def test_as_many_values_as_allowed_are_written(codec, version):
    assert codec.dumps([None] * 9, version=version, limits=Limits(max_values=10))


@pytest.mark.parametrize(
    "value",
    [
        [None] * 10,
        dict.fromkeys("abcdefghij"),
        [[None] * 8, None],
        {*range(10)},
        Vector("object", [None] * 10),
    ],
    ids=["list", "dict", "nested", "iterable", "vector"],
)
@pytest.mark.parametrize("version", [0, 3])
def test_one_more_is_an_error(codec, version, value):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(value, version=version, limits=Limits(max_values=10))
    assert (caught.value.message, caught.value.hint) == ("more than 10 values", "Limits(max_values=...) sets how many")


def test_numbers_of_a_vector_count(codec):
    with pytest.raises(EncodeError, match="more than 10 values"):
        codec.dumps(Vector("int", [1] * 10), limits=Limits(max_values=10))


@pytest.mark.parametrize(
    ("data", "version", "values"),
    [
        pytest.param("09 05 01 01 01", 3, 3, id="array"),
        pytest.param("0A 0B 01 03 61 01 03 62 01 01", 3, 3, id="dynamic"),
        pytest.param("0A 23 01 03 61 03 62 01 01", 3, 3, id="sealed"),
        pytest.param("09 03 03 61 01 01 01", 3, 3, id="associative"),
        pytest.param("11 05 00 01 01 02 01", 3, 5, id="dictionary-keys-and-values"),
        pytest.param("10 05 00 01 01 01", 3, 3, id="vector"),
        pytest.param("0D 05 00 00000001 00000001", 3, 3, id="vector-of-ints"),
        pytest.param("0A 00000002 05 05", 0, 3, id="strict-array"),
        pytest.param("03 0001 61 05 0001 62 05 000009", 0, 3, id="object"),
        pytest.param("08 00000000 0001 61 05 0001 62 05 000009", 0, 3, id="ecma-array"),
        pytest.param("10 0001 41 0001 61 05 000009", 0, 2, id="typed-object"),
        pytest.param("0A 00000001 11 09 03 01 01", 0, 3, id="avm-plus"),
    ],
)
def test_members_and_items_are_counted_when_read(codec, data, version, values):
    codec.loads(H(data), version=version, limits=Limits(max_values=values))
    with pytest.raises(DecodeError, match=rf"more than {values - 1} values \(Limits\(max_values=...\) sets how many\)"):
        codec.loads(H(data), version=version, limits=Limits(max_values=values - 1))


def test_values_are_counted_for_each_decode_alone(codec):
    decoder = codec.Decoder(H("09 03 01 01") * 5, limits=Limits(max_values=2))
    assert list(decoder) == [[None]] * 5


def test_values_are_counted_for_each_encode_alone(codec):
    encoder = codec.Encoder(limits=Limits(max_values=2))
    assert [encoder.encode([None]) for _ in range(5)] == [H("09 03 01 01")] * 5


def test_an_input_over_max_body_is_refused_at_once(codec):
    with pytest.raises(DecodeError, match="an input of 5 bytes is over the limit of 4"):
        codec.Decoder(H("01 01 01 01 01"), limits=Limits(max_body=4))


def test_max_body_counts_from_the_offset(codec):
    assert codec.Decoder(H("01 01 01 01 01"), limits=Limits(max_body=4), offset=1).decode() is None


@pytest.mark.parametrize("max_depth", [1, 4096])
def test_the_deepest_and_the_shallowest_limit(codec, max_depth):
    limits = Limits(max_depth=max_depth)
    assert codec.loads(codec.dumps(nested(max_depth), limits=limits), limits=limits)


def test_4096_levels_fit_on_the_stack_of_a_thread(codec):
    import threading

    limits, done = Limits(max_depth=4096), []

    def work():
        for version in (0, 3):
            data = codec.dumps(nested(4096, MAKERS[1]), version=version, limits=limits)
            codec.loads(data, version=version, limits=limits)
            done.append(version)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [0, 3]


@pytest.mark.parametrize("name", ["max_body", "max_depth", "max_values", "max_bodies"])
def test_a_limit_is_at_least_1(name):
    with pytest.raises(ValueError, match=rf"Limits\({name}=0\): it has to be at least 1"):
        Limits(**{name: 0})


@pytest.mark.parametrize("value", ["5", 5.0, True])
def test_a_limit_is_a_whole_number(value):
    with pytest.raises(TypeError, match=r"Limits\(max_values=...\) is a whole number, not"):
        Limits(max_values=value)


def test_depth_cannot_be_unlimited():
    with pytest.raises(TypeError, match=r"Limits\(max_depth=...\) is a whole number, not None"):
        Limits(max_depth=None)  # type: ignore[arg-type]


def test_depth_has_a_ceiling():
    with pytest.raises(ValueError, match="more than 4096 does not fit on a thread's stack"):
        Limits(max_depth=4097)


def test_the_source_of_a_collection_counts(codec):
    data = H("0A 07 43") + b"flex.messaging.io.ArrayCollection" + H("01")
    assert codec.loads(data, limits=Limits(max_values=2)).source is None
    with pytest.raises(DecodeError, match="more than 1 values"):
        codec.loads(data, limits=Limits(max_values=1))


@pytest.mark.parametrize("data", ["09 01 03 61 01 03 62 01 03 63 01 01", "0A 0B 01 03 61 01 03 62 01 03 63 01 01"])
def test_the_last_member_is_one_too_many(codec, data):
    with pytest.raises(DecodeError, match="more than 3 values"):
        codec.loads(H(data), limits=Limits(max_values=3))
