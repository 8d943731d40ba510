"""Several values in one stream: Encoder and Decoder from call to call."""

from __future__ import annotations

import pytest

from amfgate import ClassRegistry, DecodeError, EncodeError

H = bytes.fromhex


def test_the_tables_of_an_encoder_go_on(codec):
    encoder, shared = codec.Encoder(), ["ab"]
    assert [encoder.encode(shared), encoder.encode("ab"), encoder.encode(shared)] == [
        H("09 03 01 06 05 6162"),
        H("06 00"),
        H("09 00"),
    ]


def test_the_traits_of_an_encoder_go_on(codec):
    encoder = codec.Encoder()
    assert [encoder.encode({}), encoder.encode({})] == [H("0A 0B 01 01"), H("0A 01 01")]


def test_the_slots_of_an_amf0_encoder_go_on(codec):
    encoder, shared = codec.Encoder(version=0), []
    assert [encoder.encode(shared), encoder.encode(shared)] == [H("0A 00000000"), H("07 0000")]


def test_values_are_kept_alive_so_that_no_other_takes_their_place(codec):
    encoder = codec.Encoder()
    assert [encoder.encode([n]) for n in range(3)] == [H(f"09 03 01 04 0{n}") for n in range(3)]


def test_an_encoder_is_unusable_after_an_error(codec):
    encoder = codec.Encoder()
    with pytest.raises(EncodeError):
        encoder.encode(["ab", object()])
    with pytest.raises(EncodeError, match="this encoder has failed before: its tables no longer match"):
        encoder.encode(None)


@pytest.mark.parametrize("version", [0, 3])
def test_and_so_for_its_other_methods(codec, version):
    encoder = codec.Encoder(version=version)
    with pytest.raises(EncodeError):
        encoder.encode(object())
    for call in (lambda: encoder.encode_string("a"), lambda: encoder.encode_body(None, avmplus=True)):
        with pytest.raises(EncodeError, match="this encoder has failed before"):
            call()


def test_an_encoder_can_be_used_from_within_itself_by_no_one(codec):
    encoder = None

    def default(value):
        return encoder.encode([1])

    encoder = codec.Encoder(default=default)
    with pytest.raises(EncodeError, match="this encoder is at work already"):
        encoder.encode([object()])


def test_a_keyboard_interrupt_goes_through_and_leaves_the_encoder_unusable(codec):
    def default(value):
        raise KeyboardInterrupt

    encoder = codec.Encoder(default=default)
    with pytest.raises(KeyboardInterrupt):
        encoder.encode([object()])
    with pytest.raises(EncodeError, match="this encoder has failed before"):
        encoder.encode(1)


# --- decoding --------------------------------------------------------------------------------------------------------


def test_the_tables_of_a_decoder_go_on(codec):
    decoder = codec.Decoder(H("09 03 01 06 05 6162 06 00 09 00"))
    first, second, third = decoder
    assert (first, second, third is first) == (["ab"], "ab", True)


def test_the_slots_of_an_amf0_decoder_go_on(codec):
    first, second = codec.Decoder(H("0A 00000000 07 0000"), version=0)
    assert first is second


def test_amf3_tables_last_from_one_11_to_the_next(codec):
    first, second = codec.Decoder(H("11 09 01 01 11 09 00"), version=0)
    assert first is second


def test_offset_is_where_the_next_value_begins(codec):
    decoder = codec.Decoder(H("04 05 06 05 6162 01"))
    offsets = [decoder.offset]
    for _ in decoder:
        offsets.append(decoder.offset)
    assert offsets == [0, 2, 6, 7]


def test_at_end(codec):
    decoder = codec.Decoder(H("01 01"))
    states = [decoder.at_end]
    for _ in decoder:
        states.append(decoder.at_end)
    assert states == [False, False, True]


def test_an_empty_input_is_at_its_end(codec):
    decoder = codec.Decoder(b"")
    assert (decoder.at_end, list(decoder)) == (True, [])


def test_past_the_end_is_an_eof_error(codec):
    decoder = codec.Decoder(H("01"))
    decoder.decode()
    for _ in range(2):
        with pytest.raises(EOFError, match="all of the input is read"):
            decoder.decode()


def test_version_is_for_one_value_alone(codec):
    decoder = codec.Decoder(H("02 0001 61 06 03 62 02 0001 63"), version=0)
    assert [decoder.decode(), decoder.decode(3), decoder.decode()] == ["a", "b", "c"]


def test_version_tells_what_the_decoder_is(codec):
    assert [codec.Decoder(b"").version, codec.Decoder(b"", version=0).version] == [3, 0]


@pytest.mark.parametrize("version", [1, "3", 2])
def test_a_version_that_is_none_is_a_value_error(codec, version):
    with pytest.raises(ValueError, match=r"version is 0 \(AMF0\) or 3 \(AMF3\), not"):
        codec.Decoder(b"\1").decode(version)


def test_a_decoder_begins_at_its_offset(codec):
    decoder = codec.Decoder(H("FF FF 04 05"), offset=2)
    assert (decoder.decode(), decoder.offset) == (5, 4)


def test_offsets_of_errors_are_in_the_whole_input(codec):
    with pytest.raises(DecodeError) as caught:
        codec.Decoder(H("00 00 09 03 01 FF"), offset=2).decode()
    assert caught.value.offset == 5


@pytest.mark.parametrize("offset", [-1, 4, 2**70])
def test_an_offset_outside_the_input_is_a_value_error(codec, offset):
    with pytest.raises(ValueError, match=f"offset {offset} is outside the input of 3 bytes"):
        codec.Decoder(H("01 01 01"), offset=offset)


@pytest.mark.parametrize("offset", [-1, 4])
def test_an_offset_cannot_be_set_outside_the_input(codec, offset):
    decoder = codec.Decoder(H("01 01 01"))
    with pytest.raises(ValueError, match=f"offset {offset} is outside the input of 3 bytes"):
        decoder.offset = offset


def test_setting_the_offset_skips_what_is_no_amf(codec):
    decoder = codec.Decoder(H("06 03 61 00 06 00"))
    first = decoder.decode()
    decoder.offset += 1
    assert [first, decoder.decode()] == ["a", "a"]


def test_a_decoder_repeats_its_error(codec):
    decoder = codec.Decoder(H("01 FF 01"))
    decoder.decode()
    errors = []
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            decoder.decode()
        errors.append((caught.value.message, caught.value.offset))
    assert errors == [("0xFF is no marker of AMF3", 1)] * 2


def test_its_other_methods_repeat_it_too(codec):
    decoder = codec.Decoder(H("FF"))
    for call in (decoder.decode, decoder.decode_body, decoder.decode_string):
        with pytest.raises(DecodeError, match="0xFF is no marker of AMF3"):
            call()


def test_the_iterator_ends_with_the_error(codec):
    values = []
    with pytest.raises(DecodeError):
        for value in codec.Decoder(H("04 05 FF")):
            values.append(value)
    assert values == [5]


def test_a_decoder_can_be_iterated_in_parts(codec):
    decoder = codec.Decoder(H("04 05 04 06"))
    assert [next(iter(decoder)), list(decoder)] == [5, [6]]


def test_bytes_left(codec):
    decoder = codec.Decoder(H("04 05 04 06"))
    decoder.decode()
    assert decoder.bytes_left == 2


def test_a_decoder_that_a_setter_uses_is_an_error(codec):
    class Thing:
        a: object

        def __setattr__(self, name, value):
            decoder.decode()

    classes = ClassRegistry()
    classes.register(Thing, "A")
    decoder = codec.Decoder(H("09 03 01 0A 13 03 41 03 61 09 01 01"), classes=classes)
    with pytest.raises(DecodeError):
        decoder.decode()


def test_a_key_that_is_no_text_is_a_type_error(codec):
    with pytest.raises(TypeError, match=r"encode_string\(\) takes a str, not int"):
        codec.Encoder().encode_string(5)


def test_a_key_that_cannot_be_written_is_an_error(codec):
    with pytest.raises(EncodeError, match=r"text with the lone surrogate U\+D800"):
        codec.Encoder().encode_string("\ud800")


def test_a_key_that_is_cut_is_an_error_with_its_offset(codec):
    decoder = codec.Decoder(H("03 61 05 61"))
    assert decoder.decode_string() == "a"
    with pytest.raises(DecodeError, match="a text of 2 bytes runs past the end: 1 are left, at offset 3"):
        decoder.decode_string()
