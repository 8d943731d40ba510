"""What travels by its natural value, and what `default=` offers for the rest."""

from __future__ import annotations

import collections
import datetime as dt
import enum
import pathlib
import uuid

import numpy
import pytest

from amfgate import EncodeError

H = bytes.fromhex


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Point(enum.Enum):
    ORIGIN = [0, 0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(Color.RED, "06 07 726564", id="enum"),
        pytest.param(Level.HIGH, "04 03", id="int-enum"),
        pytest.param(Word.YES, "06 07 796573", id="str-enum"),
        pytest.param(Bits.A | Bits.B, "04 03", id="flags"),
        pytest.param(Point.ORIGIN, "09 05 01 04 00 04 00", id="enum-of-a-list"),
        pytest.param(dt.timedelta(seconds=1, milliseconds=500), "05 3FF8000000000000", id="timedelta-in-seconds"),
        pytest.param(dt.time(12, 30), "06 11 31323A33303A3030", id="time-as-iso-text"),
        pytest.param(pathlib.PurePosixPath("/a/b"), "06 09 2F612F62", id="path"),
        pytest.param(numpy.int64(5), "04 05", id="numpy-int64"),
        pytest.param(numpy.uint8(5), "04 05", id="numpy-uint8"),
        pytest.param(numpy.float64(1.5), "05 3FF8000000000000", id="numpy-float64"),
        pytest.param(numpy.float32(1.5), "05 3FF8000000000000", id="numpy-float32"),
        pytest.param(numpy.float16(1.5), "05 3FF8000000000000", id="numpy-float16"),
        pytest.param(numpy.bool_(True), "03", id="numpy-bool"),
        pytest.param(numpy.str_("a"), "06 03 61", id="numpy-str"),
        pytest.param(numpy.bytes_(b"ab"), "0C 05 6162", id="numpy-bytes"),
        pytest.param(numpy.datetime64("1970-01-02"), "08 01 4194997000000000", id="numpy-datetime64"),
        pytest.param(numpy.datetime64("NaT", "us"), "08 01 7FF8000000000000", id="numpy-nat"),
        pytest.param(numpy.timedelta64(1500, "ms"), "05 3FF8000000000000", id="numpy-timedelta64"),
        pytest.param(numpy.timedelta64("NaT", "s"), "08 01 7FF8000000000000", id="numpy-timedelta-nat"),
        pytest.param({1}, "09 03 01 04 01", id="set"),
        pytest.param(frozenset([1]), "09 03 01 04 01", id="frozenset"),
        pytest.param(range(2), "09 05 01 04 00 04 01", id="range"),
        pytest.param(collections.deque([1]), "09 03 01 04 01", id="deque"),
        pytest.param({1: 2}.keys(), "09 03 01 04 01", id="keys-view"),
        pytest.param({1: 2}.values(), "09 03 01 04 02", id="values-view"),
        pytest.param(collections.OrderedDict(a=1), "0A 0B 01 03 61 04 01 01", id="ordered-dict"),
        pytest.param(collections.defaultdict(int, a=1), "0A 0B 01 03 61 04 01 01", id="default-dict"),
        pytest.param(collections.Counter("a"), "0A 0B 01 03 61 04 01 01", id="counter"),
        pytest.param(collections.ChainMap({"a": 1}), "0A 0B 01 03 61 04 01 01", id="chain-map"),
        pytest.param(collections.UserDict(a=1), "0A 0B 01 03 61 04 01 01", id="user-dict"),
        pytest.param(collections.UserList([1]), "09 03 01 04 01", id="user-list"),
    ],
)
def test_a_value_travels_by_its_natural_value(codec, value, expected):
    assert codec.dumps(value) == H(expected)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: (n for n in [1]), "09 03 01 04 01"),
        (lambda: iter([1]), "09 03 01 04 01"),
        (lambda: map(int, "1"), "09 03 01 04 01"),
        (lambda: zip([1], strict=True), "09 03 01 09 03 01 04 01"),
    ],
    ids=["generator", "iterator", "map", "zip"],
)
def test_what_can_be_read_only_once_is_a_list(codec, make, expected):
    assert codec.dumps(make()) == H(expected)


def test_a_uuid_is_its_text(codec):
    value = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    assert codec.dumps(value) == H("06 49") + b"00112233-4455-6677-8899-aabbccddeeff"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Color.RED, "02 0003 726564"),
        (Level.HIGH, "00 4008000000000000"),
        (dt.timedelta(seconds=1.5), "00 3FF8000000000000"),
        (numpy.int64(5), "00 4014000000000000"),
        (numpy.datetime64("NaT", "us"), "0B 7FF8000000000000 0000"),
        ({1}, "0A 00000001 00 3FF0000000000000"),
        (collections.OrderedDict(a=None), "03 0001 61 05 000009"),
    ],
    ids=repr,
)
def test_and_in_amf0_as_well(codec, value, expected):
    assert codec.dumps(value, version=0) == H(expected)


class Unknown:
    def __init__(self, value=None):
        self.value = value


def test_what_nobody_knows_is_an_error_with_type_and_path(codec):
    with pytest.raises(EncodeError) as caught:
        codec.dumps({"rows": [1, 2, 3, {"owner": Unknown()}]})
    assert str(caught.value) == "cannot encode Unknown at $.rows[3].owner: register its class, or pass default="


@pytest.mark.parametrize("value", [object(), 1j, len, Unknown, collections, NotImplemented, ...], ids=repr)
@pytest.mark.parametrize("version", [0, 3])
def test_what_is_no_data_is_an_error(codec, version, value):
    with pytest.raises(EncodeError, match=f"cannot encode {type(value).__name__}"):
        codec.dumps(value, version=version)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("ab", "06 05 6162"), (None, "01"), (1, "04 01"), ([1], "09 03 01 04 01"), (Color.RED, "06 07 726564")],
)
def test_default_gives_what_to_send_instead(codec, given, expected):
    assert codec.dumps(Unknown(), default=lambda value: given) == H(expected)


@pytest.mark.parametrize("version", [0, 3])
def test_default_is_not_called_for_what_can_be_sent(codec, version):
    def default(value):
        raise AssertionError(value)

    assert codec.dumps([None, 1, "a", {}, b"ab", Color.RED, {1}], version=version, default=default)


def test_default_may_give_another_unknown(codec):
    assert codec.dumps(Unknown(Unknown(5)), default=lambda value: value.value) == H("04 05")


def test_default_that_leads_nowhere_is_an_error(codec):
    with pytest.raises(EncodeError, match="32 conversions led to no plain value"):
        codec.dumps(Unknown(), default=lambda value: value)


def test_default_that_nests_without_end_is_an_error(codec):
    with pytest.raises(EncodeError, match="more than 512 containers within each other"):
        codec.dumps(Unknown(), default=lambda value: [Unknown()])


def test_what_default_raises_is_an_encode_error_with_its_cause(codec):
    def default(value):
        raise KeyError("x")

    with pytest.raises(EncodeError, match=r"KeyError while reading a value: 'x' at \$\[0\]") as caught:
        codec.dumps([Unknown()], default=default)
    assert type(caught.value.__cause__) is KeyError


def test_default_may_raise_an_encode_error_of_its_own(codec):
    def default(value):
        raise EncodeError("no locks here", hint="unlock it")

    with pytest.raises(EncodeError) as caught:
        codec.dumps({"a": Unknown()}, default=default)
    assert str(caught.value) == "no locks here at $.a: unlock it"


def test_a_numpy_integer_beyond_2_53_is_an_error(codec):
    with pytest.raises(EncodeError, match=r"the int 9223372036854775807 is beyond 2\*\*53"):
        codec.dumps(numpy.int64(2**63 - 1))


def test_a_numpy_date_outside_the_years_1_to_9999_is_an_error(codec):
    with pytest.raises(EncodeError, match="is outside the years 1 to 9999"):
        codec.dumps(numpy.datetime64("20000-01-01"))


def test_something_like_pandas_nat_is_the_invalid_date(codec):
    class NaTType(dt.datetime):
        pass

    assert codec.dumps(NaTType(1970, 1, 1)) == H("08 01 7FF8000000000000")


def test_a_str_enum_is_a_key(codec):
    assert codec.dumps({Word.YES: None}) == H("0A 0B 01 07 796573 01 01")


def test_an_int_enum_is_a_key_by_its_digits(codec):
    assert codec.dumps({Level.HIGH: None}) == H("0A 0B 01 03 33 01 01")


def test_a_long_double_that_is_a_double_is_one(codec):
    assert codec.dumps(numpy.longdouble("1.5")) == H("05 3FF8000000000000")


def test_more_types_than_are_remembered(codec):
    classes = [collections.namedtuple(f"Row{n}", "a") for n in range(1200)]
    assert codec.dumps([cls(1) for cls in classes]).endswith(H("0A 01 04 01"))


@pytest.mark.parametrize("base", [dict, list, tuple, str, int, float, bytes, bytearray])
@pytest.mark.parametrize("version", [0, 3])
def test_a_plain_subclass_travels_as_its_base(codec, version, base):
    value = base(b"12") if base in (bytes, bytearray) else base("12") if base is not dict else base(a=1)
    assert codec.dumps(type("Sub", (base,), {})(value), version=version) == codec.dumps(value, version=version)
