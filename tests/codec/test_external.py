"""Externalizable classes: they write and read themselves through IDataOutput and IDataInput."""

from __future__ import annotations

import pytest

from amfgate import ClassRegistry, DecodeError, EncodeError, Limits

H = bytes.fromhex


def registry(write=None, read=None, alias="X"):
    """A registry with one externalizable class, `.cls`, made of the two functions."""

    class Thing:
        def __writeamf__(self, output):
            write(self, output)

        def __readamf__(self, input):
            read(self, input)

    classes = ClassRegistry()
    classes.register(Thing, alias, external=True)
    return classes, Thing


def written(codec, method, *arguments):
    """The payload that one method of IDataOutput writes."""
    classes, cls = registry(write=lambda self, output: getattr(output, method)(*arguments))
    data = codec.dumps(cls(), classes=classes)
    assert data.startswith(H("0A 07 03 58"))
    return data[4:]


def was_read(codec, payload, method, *arguments):
    """What one method of IDataInput reads."""

    def read(self, input):
        self.value = getattr(input, method)(*arguments)

    classes, _ = registry(read=read)
    return codec.loads(H("0A 07 03 58") + H(payload), classes=classes).value


@pytest.mark.parametrize(
    ("method", "value", "expected"),
    [
        ("writeBoolean", True, "01"),
        ("writeBoolean", False, "00"),
        ("writeByte", -1, "FF"),
        ("writeByte", 255, "FF"),
        ("writeUnsignedByte", 200, "C8"),
        ("writeShort", -2, "FFFE"),
        ("writeUnsignedShort", 65535, "FFFF"),
        ("writeInt", -2, "FFFFFFFE"),
        ("writeUnsignedInt", 2**32 - 1, "FFFFFFFF"),
        ("writeFloat", 1.5, "3FC00000"),
        ("writeDouble", 1.5, "3FF8000000000000"),
        ("writeBytes", b"\x01\x02", "0102"),
        ("writeBytes", bytearray(b"\x01\x02"), "0102"),
        ("writeUTF", "h\u00e9", "0003 68C3A9"),
        ("writeUTFBytes", "h\u00e9", "68C3A9"),
        ("writeObject", [None], "09 03 01 01"),
    ],
)
def test_what_a_method_writes(codec, method, value, expected):
    assert written(codec, method, value) == H(expected)


def test_write_bytes_of_a_part(codec):
    assert written(codec, "writeBytes", b"abcde", 1, 3) == b"bcd"


def test_write_multi_byte(codec):
    assert written(codec, "writeMultiByte", "\u00e9", "latin-1") == H("E9")


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("writeByte", 256),
        ("writeByte", -129),
        ("writeShort", 65536),
        ("writeInt", 2**32),
        ("writeInt", -(2**31) - 1),
        ("writeUTF", "x" * 65536),
        ("writeUTFBytes", "\ud800"),
        ("writeFloat", 1e300),
        ("writeDouble", "1"),
        ("writeBytes", 5),
        ("writeBytes", "text"),
        ("writeObject", object()),
    ],
)
def test_what_does_not_fit_is_an_encode_error_that_names_the_object(codec, method, value):
    classes, cls = registry(write=lambda self, output: getattr(output, method)(value))
    with pytest.raises(EncodeError) as caught:
        codec.dumps({"x": cls()}, classes=classes)
    assert caught.value.path == "$.x"


@pytest.mark.parametrize(
    ("payload", "method", "arguments", "expected"),
    [
        ("02", "readBoolean", (), True),
        ("00", "readBoolean", (), False),
        ("FF", "readByte", (), -1),
        ("FF", "readUnsignedByte", (), 255),
        ("FFFE", "readShort", (), -2),
        ("FFFE", "readUnsignedShort", (), 65534),
        ("FFFFFFFE", "readInt", (), -2),
        ("FFFFFFFE", "readUnsignedInt", (), 4294967294),
        ("3FC00000", "readFloat", (), 1.5),
        ("3FF8000000000000", "readDouble", (), 1.5),
        ("0102", "readBytes", (2,), b"\x01\x02"),
        ("", "readBytes", (0,), b""),
        ("0003 68C3A9", "readUTF", (), "h\u00e9"),
        ("68C3A9", "readUTFBytes", (3,), "h\u00e9"),
        ("FF", "readUTFBytes", (1,), "\udcff"),
        ("E9", "readMultiByte", (1, "latin-1"), "\u00e9"),
        ("09 03 01 01", "readObject", (), [None]),
    ],
)
def test_what_a_method_reads(codec, payload, method, arguments, expected):
    assert was_read(codec, payload, method, *arguments) == expected


@pytest.mark.parametrize(
    ("payload", "method", "arguments", "offset"),
    [
        ("", "readByte", (), 4),
        ("00", "readShort", (), 4),
        ("000000", "readInt", (), 4),
        ("00", "readDouble", (), 4),
        ("01", "readBytes", (2,), 4),
        ("0005 61", "readUTF", (), 6),
        ("FF", "readMultiByte", (1, "ascii"), 4),
        ("", "readObject", (), 4),
        ("FF", "readObject", (), 4),
        ("01", "readBytes", (-1,), 0),
        ("01", "readBytes", (2**62,), 4),
    ],
)
def test_what_is_not_there_is_a_decode_error_with_an_offset(codec, payload, method, arguments, offset):
    with pytest.raises(DecodeError) as caught:
        was_read(codec, payload, method, *arguments)
    assert caught.value.offset == offset


def test_bytes_available_is_what_is_left_of_the_input(codec):
    def read(self, input):
        self.left = input.bytesAvailable
        input.readBytes(2)

    classes, _ = registry(read=read)
    assert codec.loads(H("0A 07 03 58 0102"), classes=classes).left == 2


def test_objects_inside_share_the_tables(codec):
    shared: list = []
    classes, cls = registry(write=lambda self, output: (output.writeObject("X"), output.writeObject(shared)))
    assert codec.dumps([cls(), shared], classes=classes) == H("09 05 01 0A 07 03 58 06 00 09 01 01 09 04")


def test_the_object_takes_its_slot_before_its_payload(codec):
    def read(self, input):
        self.inner = input.readObject()

    classes, _ = registry(read=read)
    first, second = codec.loads(H("09 05 01 0A 07 03 58 09 01 01 09 04"), classes=classes)
    assert first.inner is second


def test_an_object_can_refer_to_itself_from_its_payload(codec):
    def read(self, input):
        self.inner = input.readObject()

    classes, _ = registry(read=read)
    value = codec.loads(H("0A 07 03 58 0A 00"), classes=classes)
    assert value.inner is value


def test_the_second_of_a_class_refers_to_its_traits(codec):
    classes, cls = registry(write=lambda self, output: output.writeByte(7))
    assert codec.dumps([cls(), cls()], classes=classes) == H("09 05 01 0A 07 03 58 07 0A 01 07")


def test_amf0_writes_it_behind_11(codec):
    classes, cls = registry(write=lambda self, output: output.writeByte(7))
    assert codec.dumps([cls()], version=0, classes=classes) == H("0A 00000001 11 0A 07 03 58 07")


def test_one_whose_class_is_not_externalizable_is_an_error(codec):
    class Other:
        pass

    classes = ClassRegistry()
    classes.register(Other, "X")
    with pytest.raises(DecodeError, match="'X' is externalizable and is registered without external=True") as caught:
        codec.loads(H("09 03 01 0A 07 03 58"), classes=classes)
    assert caught.value.offset == 3


def test_a_known_externalizable_sent_with_members_is_a_typed_object(codec):
    classes, _ = registry()
    value = codec.loads(H("0A 13 03 58 03 61 04 01"), classes=classes)
    assert (value.alias, dict(value)) == ("X", {"a": 1})


@pytest.mark.parametrize("error", [ValueError("no"), EncodeError("no"), RecursionError("no"), EOFError("no")])
def test_what_reading_raises_is_a_decode_error_at_the_object(codec, error):
    def read(self, input):
        raise error

    classes, _ = registry(read=read)
    with pytest.raises(DecodeError, match=f"could not be filled: {type(error).__name__}: no") as caught:
        codec.loads(H("09 03 01 0A 07 03 58"), classes=classes)
    assert (caught.value.offset, caught.value.__cause__) == (3, error)


def test_a_decode_error_of_the_class_gets_the_offset_of_the_object(codec):
    def read(self, input):
        raise DecodeError("not mine")

    classes, _ = registry(read=read)
    with pytest.raises(DecodeError, match="not mine, at offset 3"):
        codec.loads(H("09 03 01 0A 07 03 58"), classes=classes)


@pytest.mark.parametrize("error", [ValueError("no"), DecodeError("no"), RecursionError("no")])
def test_what_writing_raises_is_an_encode_error_with_the_path(codec, error):
    def write(self, output):
        raise error

    classes, cls = registry(write=write)
    with pytest.raises(EncodeError, match=f"{type(error).__name__} while reading a value: no at \\$\\[1\\]") as caught:
        codec.dumps([1, cls()], classes=classes)
    assert caught.value.__cause__ is error


def test_an_error_inside_the_payload_is_not_the_classes_to_swallow(codec):
    """Half of the list has been written when the lock in it turns up: nothing after it could be read."""

    def write(self, output):
        try:
            output.writeObject([1, object()])
        except EncodeError:
            output.writeObject(None)

    classes, cls = registry(write=write)
    with pytest.raises(EncodeError, match="cannot encode object") as caught:
        codec.dumps({"x": cls()}, classes=classes)
    assert caught.value.path == "$.x[1]"


def nest(levels):
    """An externalizable that holds another, `levels` deep; the innermost holds null."""

    def write(self, output):
        output.writeObject(self.inner)

    def read(self, input):
        self.inner = input.readObject()

    classes, cls = registry(write, read)
    value = None
    for _ in range(levels):
        outer = cls()
        outer.inner = value
        value = outer
    return classes, value


def test_32_may_nest(codec):
    classes, value = nest(32)
    assert codec.dumps(value, classes=classes) == H("0A 07 03 58") + H("0A 01") * 31 + H("01")


def test_33_may_not_be_written(codec):
    classes, value = nest(33)
    with pytest.raises(EncodeError, match="more than 32 externalizable objects within each other"):
        codec.dumps(value, classes=classes)


def test_32_are_read(codec):
    classes, _ = nest(0)
    value = codec.loads(H("0A 07 03 58") + H("0A 01") * 31 + H("01"), classes=classes)
    depth = 0
    while value is not None:
        value, depth = value.inner, depth + 1
    assert depth == 32


def test_33_may_not_be_read(codec):
    classes, _ = nest(0)
    with pytest.raises(DecodeError, match="more than 32 externalizable objects within each other") as caught:
        codec.loads(H("0A 07 03 58") + H("0A 01") * 32 + H("01"), classes=classes)
    assert caught.value.offset == 4 + 31 * 2


@pytest.mark.parametrize("direction", ["write", "read"])
def test_32_fit_on_a_stack_that_is_500_frames_deep_already(codec, direction):
    classes, value = nest(32)
    data = H("0A 07 03 58") + H("0A 01") * 31 + H("01")

    def deep(frames):
        if frames:
            return deep(frames - 1)
        return codec.dumps(value, classes=classes) if direction == "write" else codec.loads(data, classes=classes)

    assert deep(500)


def test_values_inside_a_payload_count(codec):
    classes, cls = registry(write=lambda self, output: [output.writeObject(None) for _ in range(3)])
    with pytest.raises(EncodeError, match="more than 3 values"):
        codec.dumps(cls(), classes=classes, limits=Limits(max_values=3))


def test_values_read_from_a_payload_count(codec):
    classes, _ = registry(read=lambda self, input: [input.readObject() for _ in range(3)])
    with pytest.raises(DecodeError, match="more than 3 values"):
        codec.loads(H("0A 07 03 58 01 01 01"), classes=classes, limits=Limits(max_values=3))


def test_depth_goes_on_inside_a_payload(codec):
    classes, cls = registry(write=lambda self, output: output.writeObject([[]]))
    with pytest.raises(EncodeError, match="more than 3 containers within each other"):
        codec.dumps([cls()], classes=classes, limits=Limits(max_depth=3))


def test_depth_goes_on_when_read(codec):
    classes, _ = registry(read=lambda self, input: input.readObject())
    with pytest.raises(DecodeError, match="more than 3 containers within each other"):
        codec.loads(H("09 03 01 0A 07 03 58 09 03 01 09 01 01"), classes=classes, limits=Limits(max_depth=3))


def test_a_stream_is_good_for_its_own_object_alone(codec):
    kept = []
    classes, cls = registry(write=lambda self, output: kept.append(output))
    codec.dumps(cls(), classes=classes)
    for call in (lambda: kept[0].writeByte(1), lambda: kept[0].writeObject(1)):
        with pytest.raises(EncodeError, match="this encoder is not at work"):
            call()


def test_a_stream_of_another_object_is_not_good_while_one_is_written(codec):
    kept = []

    def write(self, output):
        kept.append(output)
        kept[0].writeByte(len(kept))

    classes, cls = registry(write=write)
    with pytest.raises(EncodeError, match="this encoder is not at work"):
        codec.dumps([cls(), cls()], classes=classes)
