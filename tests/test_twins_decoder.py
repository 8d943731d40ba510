"""The two decoders side by side: whatever the bytes are, the same values, the same errors at the same offsets.

What is compared is told in tests/fuzz/compare.py: types, bits, order, which containers are one and the same, error
classes and texts, and where the decoder stands afterwards.  `make fuzz` goes on where these tests stop.
"""

from __future__ import annotations

import datetime as dt
import gc
import os
import threading
import weakref

import pytest
from fuzz import compare, seeds
from fuzz.compare import CLASSES, SMALL, outcome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amfgate import (
    ClassRegistry,
    DecodeError,
    Dictionary,
    EcmaArray,
    Limits,
    TypedObject,
    Vector,
    Xml,
    invalid_date,
    undefined,
)
from amfgate.flex import ArrayCollection, ObjectProxy, SmallMessage

EXAMPLES = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # frames are several times as large, and memory is kept
HOWS = ("values", "body", "uncounted", "strings", "mixed")
SEEDS = [(version, data) for version, inputs in seeds.seeds().items() for data in inputs]


@st.composite
def options(draw):
    return {
        "version": draw(st.sampled_from([3, 0])),
        "plain": draw(st.booleans()),
        "dates": draw(st.sampled_from(["datetime", "ms"])),
        "limits": draw(st.sampled_from([None, SMALL, Limits(max_depth=2), Limits(max_values=5)])),
        "classes": draw(st.sampled_from([None, CLASSES])),
    }


def same(twins, data, how="values", **given_options):
    python, cython = twins
    expected = outcome(python.Decoder, data, how, **given_options)
    assert outcome(cython.Decoder, data, how, **given_options) == expected
    return expected


# --- values that the encoder writes ----------------------------------------------------------------------------------

texts = st.text(max_size=12) | st.sampled_from(
    ["", "id", "name", "0", "1", "2", "01", "4294967294", "é" * 70, "x" * 200]
)
scalars = (
    st.none()
    | st.booleans()
    | st.just(undefined)
    | st.integers(-(1 << 28) - 2, 1 << 28)
    | st.sampled_from([0, 127, 128, 1 << 14, 1 << 21, -1, -(1 << 28), 1 << 53])
    | st.floats()
    | texts
    | st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
    | st.just(invalid_date)
)


def containers(items):
    names = st.text(max_size=6).map("k{}".format) | st.sampled_from(["id", "name", "a", "b"])
    members = st.dictionaries(names, items, max_size=4)
    fields = st.tuples(items, items)
    return (
        st.lists(items, max_size=5)
        | members
        | st.dictionaries(st.integers(0, 3) | names, items, max_size=4).map(EcmaArray)
        | st.builds(lambda alias, of, dynamic: TypedObject(alias, of, sealed=list(of)[:2], dynamic=dynamic),
                    st.sampled_from(["", "com.example.A", "p", "zz"]), members, st.just(True))
        | st.builds(lambda of: TypedObject("", of, sealed=list(of)), members)
        | st.lists(items, max_size=3).map(ArrayCollection)
        | members.map(ObjectProxy)
        | fields.map(lambda of: compare.Plain(*of))
        | fields.map(lambda of: compare.Frozen(*of))
        | fields.map(lambda of: compare.Slotted(*of))
        | fields.map(lambda of: compare.Pair(*of))
        | items.map(lambda item: [item, item])  # one value, twice
    )  # fmt: skip


newer = (
    st.binary(max_size=20)
    | st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=5).map(lambda of: Vector("int", of))
    | st.lists(st.floats(), max_size=5).map(lambda of: Vector("double", of, fixed=True))
    | texts.map(Xml)
    | st.lists(st.tuples(scalars, scalars), max_size=3).map(Dictionary)
    | st.builds(lambda body: SmallMessage("DSK", {"body": body}), scalars)
)
amf0_values = st.recursive(scalars, containers, max_leaves=14)
amf3_values = st.recursive(scalars | newer, containers, max_leaves=14)


def encoded(codec, version, value):
    return codec.Encoder(version=version, classes=CLASSES).encode(value)


def damaged(data, draw):
    """`data` with a few changes: bytes set, cut out, doubled, or the rest cut off."""
    made = bytearray(data)
    for _ in range(draw(st.integers(0, 3))):
        if not made:
            break
        place = draw(st.integers(0, len(made) - 1))
        change = draw(st.integers(0, 3))
        if change == 0:
            made[place] = draw(st.sampled_from(list(range(0x13)) + [0x7F, 0x80, 0xFF]) | st.integers(0, 255))
        elif change == 1:
            del made[place : place + draw(st.integers(1, 4))]
        elif change == 2:
            made[place:place] = made[place : place + draw(st.integers(1, 8))]
        else:
            del made[place:]
    return bytes(made)


@EXAMPLES
@given(data=st.binary(max_size=60), how=st.sampled_from(HOWS), options=options())
def test_any_bytes(twins, data, how, options):
    same(twins, data, how, **options)


@EXAMPLES
@given(value=amf3_values, second=amf3_values, options=options(), draw=st.data())
def test_amf3_values_whole_and_damaged(twins, value, second, options, draw):
    encoder = twins[0].Encoder(classes=CLASSES)
    data = encoder.encode(value) + encoder.encode(second)
    options["version"] = 3
    same(twins, data, **options)
    same(twins, damaged(data, draw.draw), draw.draw(st.sampled_from(HOWS)), **options)


@EXAMPLES
@given(value=amf0_values, second=amf0_values, options=options(), draw=st.data())
def test_amf0_values_whole_and_damaged(twins, value, second, options, draw):
    encoder = twins[0].Encoder(version=0, classes=CLASSES)
    data = encoder.encode(value) + encoder.encode(second)
    options["version"] = 0
    same(twins, data, **options)
    same(twins, damaged(data, draw.draw), draw.draw(st.sampled_from(HOWS)), **options)


@EXAMPLES
@given(seed=st.sampled_from(SEEDS), other=st.sampled_from(SEEDS), options=options(), draw=st.data())
def test_seeds_damaged_and_spliced(twins, seed, other, options, draw):
    version, data = seed
    options["version"] = version
    cut = draw.draw(st.integers(0, len(data)))
    data = damaged(data[:cut] + other[1][:40] + data[cut:], draw.draw)
    same(twins, data, draw.draw(st.sampled_from(HOWS)), **options)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("how", HOWS)
def test_seeds(twins, how, plain):
    for version, data in SEEDS:
        for limits in (None, SMALL):
            same(twins, data, how, version=version, plain=plain, limits=limits, classes=CLASSES)


def test_cut_off_at_every_offset(twins):
    for version, data in SEEDS:
        if len(data) < 150:
            for end in range(len(data)):
                found = same(twins, data[:end], version=version, plain=bool(end & 1), classes=CLASSES)
                assert found == [] if end == 0 else found


@EXAMPLES
@given(
    milliseconds=st.floats(-62135596800001, 253402300800001) | st.integers(-(1 << 47), 1 << 47).map(lambda n: n / 8192)
)
def test_dates_to_the_microsecond(twins, milliseconds):
    import struct

    same(twins, b"\x08\x01" + struct.pack(">d", milliseconds))


def test_offsets_and_options_that_are_none(twins):
    for arguments in (
        {"offset": -1},
        {"offset": 4},
        {"version": 2},
        {"version": True},
        {"version": 3.0},
        {"dates": "seconds"},
        {"limits": 5},
    ):
        messages = []
        for codec in twins:
            with pytest.raises((TypeError, ValueError)) as caught:
                codec.Decoder(b"\x01\x01\x01", **arguments)
            messages.append((caught.type, str(caught.value)))
        assert messages[0] == messages[1]


@pytest.mark.parametrize("version", [0, 3, False, 3.0])
def test_one_value_as_another_version(twins, version):
    found = [codec.Decoder(b"\x05" + b"\0" * 8, version=3 - int(version)).decode(version) for codec in twins]
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("version", [1, True, "3"])
def test_a_version_that_is_none(twins, version):
    for codec in twins:
        with pytest.raises(ValueError, match="version is 0"):
            codec.Decoder(b"\x01").decode(version)


# --- what was found by fuzzing, or by reading the C with bad intentions ----------------------------------------------


def test_a_limit_beyond_64_bits(twins):
    for codec in twins:
        assert codec.Decoder(b"\x01", limits=Limits(max_values=1 << 70)).decode() is None


def test_a_negative_count_does_not_move_the_cursor_before_the_input(twins):
    for codec in twins:
        decoder = codec.Decoder(b"\x01\x02\x03")
        with pytest.raises(DecodeError, match="a length of -2 bytes was asked for"):
            decoder.take(-2)
        assert decoder.offset == 0


def test_a_frozen_instance_that_is_a_key_before_it_is_complete(twins):
    data = bytes.fromhex("0a230366056964096e616d65 110300 0a00 01 01")
    for codec in twins:
        with pytest.raises(DecodeError, match="a key of a Dictionary cannot be one: AttributeError") as caught:
            codec.loads(data, classes=CLASSES)
        assert caught.value.offset == 12


def test_arrays_within_arrays_that_all_claim_the_rest_of_the_input(codec):
    """Each of 500 arrays says that it has as many items as bytes are left: room for all of them would be 4 GB."""
    resource = pytest.importorskip("resource", reason="there is no ru_maxrss on Windows")
    size = 1_000_000
    count = size - 10_000
    length = count << 1 | 1
    head = bytes((0x09, 0x80 | length >> 14, 0x80 | length >> 7 & 0x7F, length & 0x7F, 0x01))
    data = (head * 500).ljust(size, b"\x01")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DecodeError):
        codec.loads(data)
    assert SANITIZED or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_decoder_that_its_values_hold_is_collected(codec):
    """The instance keeps its stream, the stream the decoder, the decoder's table the instance."""

    class Keeper:
        def __readamf__(self, stream):
            self.stream = stream

        def __writeamf__(self, stream):
            pass

    classes = ClassRegistry()
    classes.register(Keeper, "k", external=True)
    gone = weakref.ref(codec.loads(bytes.fromhex("0a07036b"), classes=classes))
    gc.collect()
    assert gone() is None


def test_a_class_whose_new_makes_something_else(twins):
    """Its members go through that one's own `__setattr__`: a type's, for one, has caches to look after."""
    import dataclasses

    made = []

    @dataclasses.dataclass
    class Chameleon:
        id: object

        def __new__(cls, *arguments):
            made.append(type("Target", (), {"id": 1}))
            return made[-1]

    classes = ClassRegistry()
    classes.register(Chameleon, "c")
    for codec in twins:
        for version, data in ((3, "0a130363056964 0405"), (0, "10000163 0002696400 4014000000000000 000009")):
            found = codec.loads(bytes.fromhex(data), version=version, classes=classes)
            assert found is made[-1] and found.id == 5


def test_a_list_that_is_emptied_while_it_is_read(codec):
    """An externalizable in it gets hold of it by reference."""

    class Thief:
        def __readamf__(self, stream):
            stream.readObject().clear()

        def __writeamf__(self, stream):
            pass

    classes = ClassRegistry()
    classes.register(Thief, "t", external=True)
    data = bytes.fromhex("0909010401 0a070374 0900 0402 0403")
    found = codec.loads(data, classes=classes)
    assert found[1:] == [2, 3] and type(found[0]) is Thief


def test_a_list_that_is_sorted_while_it_is_read(codec):
    class Sorter:
        def __readamf__(self, stream):
            whole = stream.readObject()
            whole.sort(key=lambda item: stream.readObject())

        def __writeamf__(self, stream):
            pass

    classes = ClassRegistry()
    classes.register(Sorter, "i", external=True)
    data = bytes.fromhex("0909010401 0a070369 0900 0402 0403 0404")
    found = codec.loads(data, classes=classes)
    assert [item for item in found if type(item) is int] == [1, 3, 4]


def test_a_list_that_another_thread_sorts_while_it_is_read(codec):
    """CPython takes the items of a list away while it is sorted, and puts them back, whatever has been added."""
    sorting, go_on, ends = threading.Event(), threading.Event(), []

    def sort(whole):
        try:
            whole.sort(key=lambda item: (sorting.set(), go_on.wait(10)) and item)
        except ValueError as error:
            ends.append(str(error))

    class Shared:
        def __readamf__(self, stream):
            self.thread = threading.Thread(target=sort, args=(stream.readObject(),))
            self.thread.start()
            assert sorting.wait(10)

        def __writeamf__(self, stream):
            pass

    classes = ClassRegistry()
    classes.register(Shared, "s", external=True)
    made = []
    # [[2, 1, Shared, 3, 0.5, "ab", 4, 5], 6]: numbers and texts come while the list has no room
    data = bytes.fromhex(
        "09050109 1101 0402 0401 0a070373 0902 0403 05 3fe0000000000000 0605 6162 0404 0405 0406".replace(" ", "")
    )
    try:
        found = codec.loads(data, classes=classes)
        made = [item for item in found[0] if type(item) is Shared]
    finally:
        go_on.set()
    made[0].thread.join()
    assert found == [[1, 2], 6] and ends == ["list modified during sort"]


def test_a_decoder_in_two_threads(codec):
    """Nonsense comes of it, or an error; no more."""
    data = (codec.dumps([{"id": i, "name": f"n{i}", "list": [i, 0.5]} for i in range(300)])) * 4
    decoder = codec.Decoder(data, plain=True)
    failures = []

    def work():
        for _ in range(50):
            try:
                decoder.offset = 0
                decoder.decode()
            except (DecodeError, EOFError):
                pass
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codec.loads(codec.dumps([1, 2])) == [1, 2]
    assert codec.name == "python" or not failures


DEEP = {
    "list": (3, b"\x09\x03\x01", b"\x01", b""),
    "vector": (3, b"\x10\x03\x00\x01", b"\x01", b""),
    "dictionary": (3, b"\x11\x03\x00\x01", b"\x01", b""),
    "strict array": (0, b"\x0a\0\0\0\x01", b"\x05", b""),
    "object": (0, b"\x03\0\x01a", b"\x05", b"\0\0\x09"),
    "ECMA array": (0, b"\x08\0\0\0\0\0\x01a", b"\x05", b"\0\0\x09"),
    "typed object": (0, b"\x10\0\x01p\0\x02id", b"\x05", b"\0\0\x09"),
}
# those whose repeats are shorter than the first
ONCE = {
    "associative array": (3, b"\x09\x01\x03a", b"\x09\x01\x00", b"\x01", b"\x01"),
    "anonymous object": (3, b"\x0a\x0b\x01\x03a", b"\x0a\x01\x00", b"\x01", b"\x01"),
    "sealed object": (3, b"\x0a\x13\x03t\x03a", b"\x0a\x01", b"\x01", b""),
    "dataclass": (3, b"\x0a\x13\x03p\x05id", b"\x0a\x01", b"\x01", b""),
    "slots": (3, b"\x0a\x13\x03s\x05id", b"\x0a\x01", b"\x01", b""),
    "collection": (3, b"\x0a\x07\x43flex.messaging.io.ArrayCollection", b"\x0a\x01", b"\x01", b""),
}


def deep(name, depth):
    if name in ONCE:
        version, first, other, middle, end = ONCE[name]
        return version, first + other * (depth - 1) + middle + end * depth
    version, begin, middle, end = DEEP[name]
    return version, begin * depth + middle + end * depth


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", [*DEEP, *ONCE])
def test_the_greatest_depth_fits_on_a_quarter_of_a_thread_s_stack(codec, name, plain):
    """4,096 levels on 2 MiB: a thread has 8 on Linux, and they are made, let go of, and refused one level further."""
    limits = Limits(max_depth=4096)
    results = []

    def work():
        version, data = deep(name, 4096)
        options = {"version": version, "classes": CLASSES, "limits": limits, "plain": plain}
        results.append(codec.loads(data, **options) is not results)
        with pytest.raises(DecodeError, match="more than 4096 containers"):
            codec.loads(deep(name, 4097)[1], **options)
        results.append(True)

    before = threading.stack_size((64 if SANITIZED else 2) * 1024 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert results == [True, True]
