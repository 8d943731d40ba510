"""`Encoder.encode_body`: the value of one body of a remoting packet."""

from __future__ import annotations

import time

import pytest

from amfgate import ClassRegistry, Dictionary, EncodeError, Limits, Rows, Vector, invalid_date, undefined

H = bytes.fromhex


def body(codec, value, **options):
    encoder_options = {name: options.pop(name) for name in ("limits", "classes", "default") if name in options}
    return codec.Encoder(version=0, **encoder_options).encode_body(value, **options)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "05", id="null"),
        pytest.param(undefined, "06", id="undefined"),
        pytest.param(True, "01 01", id="boolean"),
        pytest.param(1, "00 3FF0000000000000", id="int"),
        pytest.param(1.5, "00 3FF8000000000000", id="float"),
        pytest.param("a", "02 0001 61", id="text"),
        pytest.param([], "11 09 01 01", id="list"),
        pytest.param({}, "11 0A 0B 01 01", id="dict"),
        pytest.param(b"ab", "11 0C 05 6162", id="bytes"),
        pytest.param(invalid_date, "11 08 01 7FF8000000000000", id="date"),
        pytest.param([None, "a", 1], "11 09 07 01 01 06 03 61 04 01", id="scalars-inside-are-amf3"),
    ],
)
def test_a_peer_that_reads_amf3_gets_scalars_bare_and_anything_else_behind_one_11(codec, value, expected):
    assert body(codec, value, avmplus=True) == H(expected)


def test_what_travels_as_a_scalar_is_bare_too(codec):
    import decimal
    import enum
    import uuid

    values = [enum.Enum("E", {"A": "x"}).A, decimal.Decimal("1.5"), uuid.UUID(int=0)]
    assert [body(codec, value, avmplus=True)[:1] for value in values] == [H("02"), H("00"), H("02")]


def test_default_is_called_once(codec):
    calls = []

    def default(value):
        calls.append(value)
        return [1]

    assert (body(codec, object(), avmplus=True, default=default), len(calls)) == (H("11 09 03 01 04 01"), 1)


@pytest.mark.parametrize(("arguments", "value", "path"), [(False, object(), "$"), (True, [1, object()], "$[1]")])
def test_an_exception_of_default_is_the_cause_of_an_encode_error(codec, arguments, value, path):
    def default(value):
        raise KeyError("boom")

    with pytest.raises(EncodeError) as caught:
        body(codec, value, avmplus=True, arguments=arguments, default=default)
    assert str(caught.value) == f"KeyError while reading a value: 'boom' at {path}"
    assert type(caught.value.__cause__) is KeyError


def test_a_peer_that_reads_amf0_gets_amf0(codec):
    assert body(codec, {"a": [None]}, avmplus=False) == H("03 0001 61 0A 00000001 05 000009")


def test_a_tuple_is_no_scalar(codec):
    assert body(codec, (), avmplus=True) == H("11 09 01 01")


# --- arguments -------------------------------------------------------------------------------------------------------


def test_arguments_are_a_strict_array_of_values_each_on_its_own(codec):
    assert body(codec, [None, "a", [1], 2], avmplus=True, arguments=True) == H(
        "0A 00000004 05 02 0001 61 11 09 03 01 04 01 00 4000000000000000"
    )


def test_arguments_may_be_a_tuple(codec):
    assert body(codec, ([],), avmplus=True, arguments=True) == H("0A 00000001 11 09 01 01")


def test_arguments_that_are_no_list_are_a_value_as_any_other(codec):
    assert body(codec, {}, avmplus=True, arguments=True) == H("11 0A 0B 01 01")


def test_no_arguments(codec):
    assert body(codec, [], avmplus=True, arguments=True) == H("0A 00000000")


def test_amf3_tables_are_shared_by_all_arguments(codec):
    shared = ["ab"]
    assert body(codec, [shared, shared, ["ab"]], avmplus=True, arguments=True) == H(
        "0A 00000003 11 09 03 01 06 05 6162 11 09 00 11 09 03 01 06 00"
    )


def test_amf0_arguments(codec):
    assert body(codec, [{}, None], avmplus=False, arguments=True) == H("0A 00000002 03 000009 05")


@pytest.mark.parametrize(("counted", "slot"), [(True, "0001"), (False, "0000")])
def test_counted_says_whether_the_arguments_take_a_slot(codec, counted, slot):
    shared: dict = {}
    assert body(codec, [shared, shared], avmplus=False, arguments=True, counted=counted) == H(
        "0A 00000002 03 000009 07" + slot
    )


@pytest.mark.parametrize("avmplus", [True, False])
def test_an_error_in_an_argument_names_it(codec, avmplus):
    with pytest.raises(EncodeError) as caught:
        body(codec, [1, {"a": object()}], avmplus=avmplus, arguments=True)
    assert caught.value.path == "$[1].a"


def test_arguments_count_as_values(codec):
    with pytest.raises(EncodeError, match="more than 3 values"):
        body(codec, [None] * 3, avmplus=True, arguments=True, limits=Limits(max_values=3))


def test_as_many_arguments_as_allowed(codec):
    assert body(codec, [None] * 2, avmplus=True, arguments=True, limits=Limits(max_values=3))


def test_arguments_count_as_a_level(codec):
    with pytest.raises(EncodeError, match="more than 2 containers within each other"):
        body(codec, [[[]]], avmplus=True, arguments=True, limits=Limits(max_depth=2))


# --- whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([None, b"ab"], "11 09 05 01 01 0C 05 6162", id="bytes"),
        pytest.param(b"ab", "11 0C 05 6162", id="bytes-alone"),
        pytest.param({"a": [b"ab"]}, "11 0A 0B 01 03 61 09 03 01 0C 05 6162 01", id="deep-inside"),
        pytest.param([Vector("int", [1])], "11 09 03 01 0D 03 00 00000001", id="vector"),
        pytest.param([Vector("object", [])], "11 09 03 01 10 01 00 01", id="vector-of-objects"),
        pytest.param([Dictionary([(1, None)])], "11 09 03 01 11 03 00 04 01 01", id="dictionary"),
    ],
)
def test_whole_puts_a_value_that_needs_amf3_behind_one_11(codec, value, expected):
    assert body(codec, value, avmplus=False, whole=True) == H(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([None], "0A 00000001 05"),
        ({"a": Dictionary({"b": None})}, "03 0001 61 03 0001 62 05 000009 000009"),
        (Rows(["a"], [(None,)]), "0A 00000001 03 0001 61 05 000009"),
    ],
)
def test_whole_leaves_any_other_in_amf0(codec, value, expected):
    assert body(codec, value, avmplus=False, whole=True) == H(expected)


def test_without_whole_only_the_bytes_are_behind_11(codec):
    assert body(codec, [None, b"ab"], avmplus=False) == H("0A 00000002 05 11 0C 05 6162")


class Told:
    def __writeamf__(self, output):
        output.writeObject("ab")


def test_an_externalizable_object_needs_amf3_and_its_texts_are_in_the_table_once(codec):
    classes = ClassRegistry()
    Told.__readamf__ = lambda self, input: None
    classes.register(Told, "X", external=True)
    assert body(codec, [Told(), "ab", b"ab"], avmplus=False, whole=True, classes=classes) == H(
        "11 09 07 01 0A 07 03 58 06 05 6162 06 02 0C 05 6162"
    )


def test_a_generator_is_read_once_although_the_value_is_written_twice(codec):
    assert body(codec, [(n for n in [1]), b"ab"], avmplus=False, whole=True) == H(
        "11 09 05 01 09 03 01 04 01 0C 05 6162"
    )


def test_whole_holds_for_arguments_too(codec):
    assert body(codec, [None, b"ab"], avmplus=False, arguments=True, whole=True) == H("11 09 05 01 01 0C 05 6162")


def test_whole_values_are_counted_anew_behind_11(codec):
    assert body(codec, [None, b"ab"], avmplus=False, whole=True, limits=Limits(max_values=3))


def test_whole_is_of_no_meaning_with_avmplus(codec):
    assert body(codec, b"ab", avmplus=True, whole=True) == H("11 0C 05 6162")


# --- repeats ---------------------------------------------------------------------------------------------------------


def test_a_value_met_again_is_written_out_again(codec):
    shared = [None]
    assert body(codec, [shared, shared], avmplus=False, repeats=100) == H("0A 00000002 0A 00000001 05 0A 00000001 05")


def test_without_repeats_it_is_a_reference(codec):
    shared = [None]
    assert body(codec, [shared, shared], avmplus=False) == H("0A 00000002 0A 00000001 05 07 0001")


def test_a_cycle_is_a_reference_all_the_same(codec):
    value: list = []
    value.append(value)
    assert body(codec, value, avmplus=False, repeats=100) == H("0A 00000001 07 0000")


def test_a_cycle_inside_a_value_met_again_refers_to_the_first(codec):
    inner: dict = {}
    inner["a"] = inner
    assert body(codec, [inner, inner], avmplus=False, repeats=100) == H(
        "0A 00000002 03 0001 61 07 0001 000009 03 0001 61 07 0001 000009"
    )


def test_a_repeated_list_counts_itself_and_its_items(codec):
    shared = [None]  # two values each time: after two repeats four of four are used
    assert body(codec, [shared] * 4, avmplus=False, repeats=4) == H(
        "0A 00000004 0A 00000001 05 0A 00000001 05 0A 00000001 05 07 0001"
    )


def test_what_is_written_again_takes_slots_of_its_own(codec):
    first, second = [None], {}
    assert body(codec, [first, first, second, second], avmplus=False, repeats=2) == H(
        "0A 00000004 0A 00000001 05 0A 00000001 05 03 000009 07 0003"
    )


def test_behind_11_repeats_are_of_no_meaning(codec):
    shared = [None]
    assert body(codec, [shared, shared], avmplus=True, repeats=100) == H("11 09 05 01 09 03 01 01 09 02")


def doubling(levels):
    value: list = []
    for _ in range(levels):
        value = [value, value]
    return value


def test_40_levels_of_x_twice_are_bounded_in_size(codec):
    data = body(codec, doubling(40), avmplus=False, repeats=10_000)
    assert len(data) < 10_000 * 5 + 1_000


def test_40_levels_of_x_twice_are_bounded_in_time(codec):
    start = time.perf_counter()
    body(codec, doubling(40), avmplus=False, repeats=10_000)
    assert time.perf_counter() - start < 2


def test_40_levels_of_x_twice_come_back_as_they_were(codec):
    value = codec.loads(body(codec, doubling(40), avmplus=False, repeats=10_000), version=0)
    levels = 0
    while value:
        value, levels = value[0], levels + 1
    assert levels == 40


def test_repeats_are_counted_for_each_body_alone(codec):
    shared = [None]
    encoder = codec.Encoder(version=0)
    encoder.encode_body([shared, shared], avmplus=False, repeats=2)
    assert encoder.encode_body([shared, [1]], avmplus=False, repeats=2) == H(
        "0A 00000002 0A 00000001 05 0A 00000001 00 3FF0000000000000"
    )
