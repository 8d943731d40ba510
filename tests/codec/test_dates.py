"""Dates: milliseconds since the epoch in UTC."""

from __future__ import annotations

import datetime as dt

import pytest

import amfgate
from amfgate import DecodeError, invalid_date

H = bytes.fromhex
UTC = dt.UTC

MOMENTS = [
    (dt.datetime(1970, 1, 1, tzinfo=UTC), "0000000000000000"),
    (dt.datetime(2023, 1, 1, tzinfo=UTC), "427856AA0C800000"),
    (dt.datetime(1969, 12, 31, tzinfo=UTC), "C194997000000000"),
    (dt.datetime(1, 1, 1, tzinfo=UTC), "C2CC4189166C0000"),
    (dt.datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC), "42ECCEFA43FB7FE0"),
    (dt.datetime(2023, 11, 14, 22, 13, 20, 123, tzinfo=UTC), "4278BCFE568001F8"),
    (dt.datetime(2023, 11, 14, 22, 13, 20, 123457, tzinfo=UTC), "4278BCFE5687B750"),
    (dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "BF50624DD2F1A9FC"),
]


@pytest.mark.parametrize(("moment", "bits"), MOMENTS)
def test_amf3_writes_a_datetime_as_milliseconds(codec, moment, bits):
    assert codec.dumps(moment) == H("08 01" + bits)


@pytest.mark.parametrize(("moment", "bits"), MOMENTS)
def test_amf0_writes_a_datetime_as_milliseconds_and_the_zone_zero(codec, moment, bits):
    assert codec.dumps(moment, version=0) == H("0B" + bits + "0000")


@pytest.mark.parametrize(("moment", "bits"), MOMENTS)
@pytest.mark.parametrize(("version", "head", "tail"), [(0, "0B", "0000"), (3, "08 01", "")])
def test_a_date_is_read_as_an_aware_datetime_to_the_microsecond(codec, version, head, tail, moment, bits):
    value = codec.loads(H(head + bits + tail), version=version)
    assert (value, value.tzinfo) == (moment, UTC)


def test_the_zone_of_amf0_is_ignored(codec):
    assert codec.loads(H("0B 0000000000000000 FFC4"), version=0) == dt.datetime(1970, 1, 1, tzinfo=UTC)


def test_an_aware_datetime_is_converted_to_utc(codec):
    zone = dt.timezone(dt.timedelta(hours=1))
    assert codec.dumps(dt.datetime(1970, 1, 1, tzinfo=zone)) == H("08 01 C14B774000000000")


def test_a_naive_datetime_is_taken_as_utc(codec):
    assert codec.dumps(dt.datetime(1970, 1, 2)) == H("08 01 4194997000000000")


def test_a_date_is_midnight_utc(codec):
    assert codec.dumps(dt.date(1970, 1, 2)) == H("08 01 4194997000000000")


def test_a_subclass_of_datetime_travels_as_one(codec):
    class Stamp(dt.datetime):
        pass

    assert codec.dumps(Stamp(1970, 1, 2)) == H("08 01 4194997000000000")


@pytest.mark.parametrize("bits", ["7FF8000000000000", "FFF8000000000000", "7FF0000000000000", "FFF0000000000000"])
@pytest.mark.parametrize(("version", "head", "tail"), [(0, "0B", "0000"), (3, "08 01", "")])
def test_a_date_that_is_no_number_is_the_invalid_date(codec, version, head, tail, bits):
    assert codec.loads(H(head + bits + tail), version=version) is invalid_date


def test_the_invalid_date_is_false(codec):
    assert not codec.loads(H("08 01 7FF8000000000000"))


@pytest.mark.parametrize("bits", ["42ECCEFA43FB8000", "C2CC4189166C0080", "7FEFFFFFFFFFFFFF"])
@pytest.mark.parametrize(("version", "head", "tail", "at"), [(0, "0B", "0000", 1), (3, "08 01", "", 2)])
def test_a_date_outside_the_years_1_to_9999_is_an_error(codec, version, head, tail, at, bits):
    with pytest.raises(DecodeError, match=r"outside the years 1 to 9999 \(dates=\"ms\" reads it\)") as caught:
        codec.loads(H(head + bits + tail), version=version)
    assert caught.value.offset == at


@pytest.mark.parametrize("bits", ["42ECCEFA43FB8000", "0000000000000000"])
@pytest.mark.parametrize(("version", "head", "tail"), [(0, "0B", "0000"), (3, "08 01", "")])
def test_dates_ms_reads_any_number(codec, version, head, tail, bits):
    value = codec.loads(H(head + bits + tail), version=version, dates="ms")
    assert (type(value), value) == (float, {"42EC": 253402300800000.0, "0000": 0.0}[bits[:4]])


def test_the_last_datetime_does_not_become_year_10000(codec):
    assert codec.loads(codec.dumps(dt.datetime.max)).year == 9999


def test_the_last_datetime_is_the_last_double_before_year_10000(codec):
    assert codec.dumps(dt.datetime.max) == H("08 01 42ECCEFA43FB7FFF")


def test_one_date_met_twice_is_a_reference_in_amf3(codec):
    moment = dt.datetime(1970, 1, 1)
    assert codec.dumps([moment, moment]) == H("09 05 01 08 01 0000000000000000 08 02")


def test_equal_dates_are_two(codec):
    moments = [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1)]
    assert codec.dumps(moments) == H("09 05 01 08 01 0000000000000000 08 01 0000000000000000")


def test_amf0_writes_a_date_met_twice_in_full(codec):
    moment = dt.datetime(1970, 1, 1)
    assert codec.dumps([moment, moment], version=0) == H(
        "0A 00000002 0B 0000000000000000 0000 0B 0000000000000000 0000"
    )


def test_the_invalid_date_is_written_out_each_time_in_its_own_slot(codec):
    shared: list = []
    assert codec.dumps([invalid_date, invalid_date, shared, shared]) == H(
        "09 09 01 08 01 7FF8000000000000 08 01 7FF8000000000000 09 01 01 09 06"
    )


def test_a_date_reference_is_the_same_date(codec):
    first, second = codec.loads(H("09 05 01 08 01 0000000000000000 08 02"))
    assert first is second


def test_a_zone_that_raises_is_an_encode_error(codec):
    class Broken(dt.tzinfo):
        def utcoffset(self, when):
            raise RuntimeError("no such zone")

    with pytest.raises(amfgate.EncodeError, match="RuntimeError while reading a value: no such zone") as caught:
        codec.dumps({"at": dt.datetime(1970, 1, 1, tzinfo=Broken())})
    assert caught.value.path == "$.at"
