"""The string table of AMF3, and the columns in which `strings="adaptive"` stops looking for repeats.

In most of these tests a value of many distinct texts ends in a repeat of the first of them: as a reference (`06 00`)
where its column is still looking, in full where it is not.
"""

from __future__ import annotations

import pytest

from amfgate import Dictionary, EcmaArray, Rows, TypedObject, Vector
from amfgate.flex import ArrayCollection

H = bytes.fromhex
REFERENCE = H("06 00")  # to the first text of the table
IN_FULL = H("06 09") + b"t000"


def texts(count, start=0):
    """Distinct texts of four bytes; the first is t000."""
    return [f"t{n:03}" for n in range(start, start + count)]


def test_a_repeated_text_is_written_as_a_reference(codec):
    assert codec.dumps(["ab", "ab"]) == H("09 05 01 06 05 6162 06 00")


def test_equal_texts_in_distinct_objects_are_one_entry(codec):
    assert codec.dumps(["".join(["a", "b"]), "".join(["a", "b"])]) == H("09 05 01 06 05 6162 06 00")


def test_the_empty_text_never_enters_the_table(codec):
    assert codec.dumps(["", "", "a", "a"]) == H("09 09 01 06 01 06 01 06 03 61 06 00")


def test_keys_aliases_names_and_values_share_one_table(codec):
    value = [{"a": "b"}, TypedObject("a", {"b": "c"}), Vector("object", ["c"], alias="b")]
    assert codec.dumps(value) == H(
        "09 07 01"
        "0A 0B 01 03 61 06 03 62 01"  # a is 0, b is 1
        "0A 13 00 02 06 03 63"  # c is 2
        "10 03 00 02 06 04"
    )


def test_the_alias_of_a_vector_is_an_entry(codec):
    assert codec.dumps([Vector("object", [], alias="A"), "A"]) == H("09 05 01 10 01 00 03 41 06 00")


def test_a_reference_may_be_to_a_key(codec):
    assert codec.dumps({"a": "a"}) == H("0A 0B 01 03 61 06 00 01")


def test_text_that_is_no_utf8_is_an_entry_as_any_other(codec):
    assert codec.dumps(["\udcff", "\udcff"]) == H("09 05 01 06 03 FF 06 00")


def test_reference_64_takes_two_bytes(codec):
    value = [*texts(65), "t063", "t064"]
    assert codec.dumps(value, strings="all")[-5:] == H("06 7E 06 8100")


def test_reference_1024_is_past_the_precomputed_ones(codec):
    value = [f"{n:04}" for n in range(1025)]
    assert codec.dumps([*value, value[1024]], strings="all")[-3:] == H("06 9000")


def test_a_text_reference_is_read(codec):
    assert codec.loads(H("09 07 01 06 05 6162 06 01 06 00")) == ["ab", "", "ab"]


def test_the_empty_text_takes_no_entry_when_read(codec):
    assert codec.loads(H("09 07 01 06 01 06 03 61 06 00")) == ["", "a", "a"]


@pytest.mark.parametrize("strings", ["all", "adaptive"])
def test_amf0_has_no_string_table(codec, strings):
    assert codec.dumps(["a", "a"], version=0, strings=strings) == H("0A 00000002 02 0001 61 02 0001 61")


# --- adaptive columns ------------------------------------------------------------------------------------------------


def column(values):
    """One column of a result set: the values under the key `k`."""
    return [{"k": value} for value in values]


def end_of(codec, value, **options):
    """The bytes of the last text of a column: what stands before the end of the last object."""
    data = codec.dumps(value, **options)
    return REFERENCE if data.endswith(H("06 02 01")) else IN_FULL if data.endswith(IN_FULL + H("01")) else data


def test_the_64th_text_of_a_column_is_still_looked_up(codec):
    assert end_of(codec, column([*texts(63), "t000"])) == REFERENCE


def test_after_64_with_no_repeat_the_column_is_off(codec):
    assert end_of(codec, column([*texts(64), "t000"])) == IN_FULL


def test_seven_repeats_in_64_are_too_few(codec):
    assert end_of(codec, column([*texts(57), *texts(7), "t000"])) == IN_FULL


def test_eight_repeats_in_64_are_enough(codec):
    assert end_of(codec, column([*texts(56), *texts(8), "t000"])) == REFERENCE


def test_the_next_64_are_counted_anew(codec):
    first, second = [*texts(56), *texts(8)], texts(64, start=100)
    assert end_of(codec, column([*first, *second, "t000"])) == IN_FULL


def test_the_64th_of_the_second_sample_is_still_looked_up(codec):
    first, second = [*texts(56), *texts(8)], texts(63, start=100)
    assert end_of(codec, column([*first, *second, "t000"])) == REFERENCE


def test_strings_all_refers_to_every_repeat(codec):
    assert end_of(codec, column([*texts(64), "t000"]), strings="all") == REFERENCE


def test_a_text_of_a_column_that_is_off_is_not_found_later(codec):
    value = [*column([*texts(64), "late"]), {"n": "late"}]
    assert codec.dumps(value).endswith(H("0A 01 00 06 09 6C617465 01 0A 01 03 6E 06 09 6C617465 01"))


def test_but_it_takes_a_number_since_the_reader_gives_it_one(codec):
    # k is 0, t000 to t063 are 1 to 64, the two of the column that is off 65 and 66: n is 67, or 8106 as a reference
    value = [*column([*texts(64), "late", "t000"]), {"n": None}, {"n": True}]
    assert codec.dumps(value).endswith(H("0A 01 03 6E 01 01 0A 01 8106 03 01"))


def test_a_text_after_a_column_that_is_off_has_the_number_that_the_reader_gives_it(codec):
    value = [column([*texts(64), "late"]), "new", "new"]  # new is 66
    assert codec.dumps(value).endswith(H("06 07 6E6577 06 8104"))


def test_so_do_an_alias_and_a_name(codec):
    value = [*column([*texts(64), "late"]), TypedObject("A", {"x": None}), TypedObject("x", {"A": None})]
    assert codec.dumps(value).endswith(H("0A 13 03 41 03 78 01 0A 13 8106 8104 01"))  # A is 66, x 67


def test_numbers_go_on_from_call_to_call(codec):
    encoder = codec.Encoder()
    encoder.encode(column([*texts(64), "late"]))
    assert [encoder.encode("new"), encoder.encode("new")] == [H("06 07 6E6577"), H("06 8104")]


def test_many_columns_on_and_off_mean_the_same_value(codec):
    value = [{"a": f"a{n}", "b": f"b{n % 7}", "c": f"c{n // 3}", "d": [f"a{n // 2}", f"e{n}"]} for n in range(500)]
    assert codec.loads(codec.dumps(value)) == value


def test_empty_texts_are_not_counted(codec):
    assert end_of(codec, column([*texts(63), *[""] * 10, "t000"])) == REFERENCE


def test_values_that_are_no_texts_are_not_counted(codec):
    assert end_of(codec, column([*texts(63), *[None, 1, 2.5] * 10, "t000"])) == REFERENCE


def test_the_texts_under_another_key_at_the_same_place_start_anew(codec):
    value = [*column(texts(64)), {"j": "t000"}]
    assert codec.dumps(value).endswith(H("0A 01 03 6A 06 02 01"))


def test_and_so_does_the_key_that_comes_back(codec):
    value = [*column(texts(64)), {"j": None}, {"j": "x"}, {"k": "t000"}]
    assert end_of(codec, value) == REFERENCE


def test_keys_that_alternate_never_switch_off(codec):
    value = [{"kj"[n % 2]: text} for n, text in enumerate(texts(200))]
    assert end_of(codec, [*value, {"k": "t000"}]) == REFERENCE


def test_each_place_of_a_row_is_a_column_of_its_own(codec):
    value = [{"k": text, "n": "same"} for text in texts(64)]
    assert codec.dumps([*value, {"k": "t000", "n": "same"}]).endswith(
        H("0A 01 00 06 09 74303030 04 06 06 01")  # k is entry 0, t000 1, n 2, same 3
    )


def test_the_same_key_at_another_place_is_another_column(codec):
    value = [*column(texts(64)), {"n": None, "k": "t000"}]
    assert codec.dumps(value).endswith(H("00 06 02 01"))


def test_the_same_key_at_another_depth_is_another_column(codec):
    assert codec.dumps([*column(texts(64)), [{"k": "t000"}]]).endswith(H("0A 01 00 06 02 01"))


def test_rows_that_are_lists_have_columns_by_place(codec):
    assert codec.dumps([*[[text] for text in texts(64)], ["t000"]]).endswith(H("09 03 01") + IN_FULL)


def test_lists_and_objects_at_one_place_are_two_columns(codec):
    assert codec.dumps([*[[text] for text in texts(64)], {"k": "t000"}]).endswith(H("03 6B 06 00 01"))


def test_rows_of_one_class_have_columns_by_its_traits(codec):
    rows = Rows(["k"], [(text,) for text in [*texts(64), "t000"]])
    assert codec.dumps(rows).endswith(H("0A 01") + IN_FULL)


def test_another_class_at_the_same_place_starts_anew(codec):
    value = [*[TypedObject("A", {"k": text}) for text in texts(64)], TypedObject("B", {"k": "t000"})]
    assert codec.dumps(value).endswith(H("0A 13 03 42 02 06 04"))  # A is entry 0, k 1, t000 2


def test_dynamic_members_are_counted_from_place_0(codec):
    value = [TypedObject("A", {"s": None, "k": text}, sealed=["s"], dynamic=True) for text in [*texts(64), "t000"]]
    assert codec.dumps(value).endswith(IN_FULL + H("01"))


def test_a_flat_list_has_31_places_and_one_for_the_rest(codec):
    # places 0 to 30 see one text each, place 31 and on are one column: 64 of its texts are places 31 to 94
    assert codec.dumps([*texts(95), "t000"]).endswith(IN_FULL)


def test_the_64th_text_of_the_rest_of_a_list_is_looked_up(codec):
    assert codec.dumps([*texts(94), "t000"]).endswith(REFERENCE)


def test_the_dense_and_the_associative_part_of_an_array_are_counted_apart(codec):
    value = [EcmaArray({0: text, "k": "same"}) for text in texts(64)]
    assert codec.dumps([*value, EcmaArray({0: "t000", "k": "same"})]).endswith(
        H("09 03 00 06 02 01") + H("06 04")  # k is entry 0, same 1, t000 2
    )


def nested(value, levels):
    for _ in range(levels):
        value = [value]
    return value


def test_at_depth_16_columns_switch_off(codec):
    assert codec.dumps(nested([*texts(95), "t000"], 15)).endswith(IN_FULL)


def test_deeper_every_text_is_looked_up(codec):
    assert codec.dumps(nested([*texts(95), "t000"], 16)).endswith(REFERENCE)


def test_columns_start_anew_with_each_call(codec):
    encoder = codec.Encoder()
    encoder.encode(texts(95))
    assert encoder.encode([None] * 31 + ["t000"]).endswith(REFERENCE)


@pytest.mark.parametrize(
    "value",
    [
        Vector("object", [*texts(200), "t000"]),
        Dictionary([*((text, None) for text in texts(200)), (None, "t000")]),
    ],
    ids=["vector", "dictionary"],
)
def test_items_of_vectors_and_dictionaries_are_looked_up_always(codec, value):
    assert codec.dumps(value).endswith(REFERENCE)


def test_the_source_of_a_collection_is_a_list_as_any_other(codec):
    assert codec.dumps(ArrayCollection([*texts(95), "t000"])).endswith(IN_FULL)


def test_keys_are_looked_up_however_many_there_are(codec):
    value = [dict.fromkeys(texts(200)), {"t000": None}]
    assert codec.dumps(value).endswith(H("0A 01 00 01 01"))


def test_adaptive_means_the_same_value(codec):
    value = column([*texts(64), *texts(64)])
    assert codec.loads(codec.dumps(value)) == value


def test_a_text_that_is_known_by_its_key_counts_as_found(codec):
    value = [dict.fromkeys(texts(8), None), *column([*texts(8), *texts(56, start=100), "t100"])]
    assert codec.dumps(value)[-3:] == H("06 12 01")  # t000 to t007 are entries 0 to 7, k is 8, t100 is 9


def test_decode_string_reads_a_key_through_the_table(codec):
    decoder = codec.Decoder(H("05 6162 00"))
    assert [decoder.decode_string(), decoder.decode_string()] == ["ab", "ab"]


def test_encode_string_writes_a_key_through_the_table(codec):
    encoder = codec.Encoder(strings="all")
    assert [encoder.encode_string("ab"), encoder.encode("ab"), encoder.encode_string("")] == [
        H("05 6162"),
        H("06 00"),
        H("01"),
    ]
