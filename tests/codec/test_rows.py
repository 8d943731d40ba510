"""Rows: a result set as names once, then values."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from amfgate import EncodeError, Limits, Rows

H = bytes.fromhex
TWO = "09 05 01 0A 23 01 03 61 03 62 04 01 04 02 0A 01 04 03 04 04"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(lambda: [(1, 2), (3, 4)], id="tuples"),
        pytest.param(lambda: [[1, 2], [3, 4]], id="lists"),
        pytest.param(lambda: ((1, 2), (3, 4)), id="tuple"),
        pytest.param(lambda: iter([(1, 2), (3, 4)]), id="cursor"),
        pytest.param(lambda: (iter(row) for row in [(1, 2), (3, 4)]), id="iterators"),
        pytest.param(lambda: ({"x": 1, "y": 2}.values(), (3, 4)), id="views"),
    ],
)
def test_rows_of_any_sequence_are_written_alike(codec, rows):
    assert codec.dumps(Rows(["a", "b"], rows())) == H(TWO)


def test_columns_may_be_an_iterator(codec):
    assert codec.dumps(Rows(iter(["a", "b"]), [(1, 2), (3, 4)])) == H(TWO)


def test_rows_without_columns(codec):
    assert codec.dumps(Rows([], [(), ()])) == H("09 05 01 0A 03 01 0A 01")


def test_rows_share_traits_with_sealed_anonymous_objects(codec):
    assert codec.dumps([Rows(["a"], [(1,)]), Rows(["a"], [(2,)])]) == H(
        "09 05 01 09 03 01 0A 13 01 03 61 04 01 09 03 01 0A 01 04 02"
    )


def test_a_value_shared_by_two_rows_is_a_reference(codec):
    shared: list = []
    assert codec.dumps(Rows(["a"], [(shared,), (shared,)])) == H("09 05 01 0A 13 01 03 61 09 01 01 0A 01 09 04")


def test_rows_come_back_as_a_list_of_dicts_with_plain(codec):
    assert codec.loads(H(TWO), plain=True) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("row", [(1,), (1, 2, 3), []])
def test_a_row_of_another_length_is_an_error_that_names_it(codec, version, row):
    with pytest.raises(EncodeError, match=f"a row of {len(row)} values under 2 columns") as caught:
        codec.dumps({"r": Rows(["a", "b"], [(1, 2), row])}, version=version)
    assert caught.value.path == "$.r[1]"


def test_a_row_without_end_is_an_error(codec):
    def forever():
        while True:
            yield 1

    with pytest.raises(EncodeError, match="a row of more than 2 values under 2 columns"):
        codec.dumps(Rows(["a", "b"], [forever()]))


@pytest.mark.parametrize("version", [0, 3])
def test_two_columns_of_one_name_are_an_error(codec, version):
    with pytest.raises(EncodeError, match="two columns are named 'a'") as caught:
        codec.dumps([Rows(["a", "a"], [])], version=version)
    assert caught.value.path == "$[0]"


def test_a_column_whose_name_is_no_text_is_an_error(codec):
    with pytest.raises(EncodeError, match="a column's name is text, not 1"):
        codec.dumps(Rows([1], []))  # type: ignore[list-item]


@pytest.mark.parametrize("version", [0, 3])
def test_an_error_in_a_row_names_row_and_column(codec, version):
    with pytest.raises(EncodeError, match="cannot encode object") as caught:
        codec.dumps({"r": Rows(["a", "b"], [(1, 2), (3, object())])}, version=version)
    assert caught.value.path == "$.r[1].b"


def test_a_row_that_is_no_sequence_is_an_error(codec):
    with pytest.raises(EncodeError) as caught:
        codec.dumps(Rows(["a"], [5]))
    assert caught.value.path == "$[0]"


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("row", [{"a": 1}, OrderedDict(a=1), "a", b"a"], ids=["dict", "mapping", "str", "bytes"])
def test_a_row_of_names_or_letters_is_an_error_and_not_sent_in_place_of_values(codec, version, row):
    with pytest.raises(EncodeError, match="a row is a sequence of values, not") as error:
        codec.dumps([Rows(["a"], [(1,), row])], version=version)
    assert error.value.path == "$[0][1]"


def test_one_result_set_met_twice_is_read_once(codec):
    rows = Rows(["a"], iter([(1,)]))
    assert codec.dumps([rows, rows]) == H("09 05 01 09 03 01 0A 13 01 03 61 04 01 09 02")


@pytest.mark.parametrize("version", [0, 3])
def test_a_row_is_a_level(codec, version):
    assert codec.dumps(Rows(["a"], [(1,)]), version=version, limits=Limits(max_depth=2))
    with pytest.raises(EncodeError, match="more than 1 containers within each other") as caught:
        codec.dumps(Rows(["a"], [(1,)]), version=version, limits=Limits(max_depth=1))
    assert caught.value.path == "$[0]"


@pytest.mark.parametrize("version", [0, 3])
def test_rows_and_their_values_are_counted(codec, version):
    rows = Rows(["a", "b"], [(1, 2), (3, 4)])  # the list, two rows, four values
    assert codec.dumps(rows, version=version, limits=Limits(max_values=7))
    with pytest.raises(EncodeError, match="more than 6 values"):
        codec.dumps(rows, version=version, limits=Limits(max_values=6))
