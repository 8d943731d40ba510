"""`Encoder.encode_body(wrap_lists=...)`: arrays that go as collections, which is what `flex_collections="deep"` does.

In the hex, C stands for the first collection of a value: `0A 07`, the traits of an externalizable object, and its
alias.  Further ones have a reference to these traits, `0A 01` where they are the first of the value.
"""

from __future__ import annotations

import dataclasses
import enum

import numpy
import pytest

from amfgate import ClassRegistry, Dictionary, EcmaArray, EncodeError, Limits, Rows, TypedObject, Vector
from amfgate.classes import plan
from amfgate.flex import ArrayCollection, ArrayList, ObjectProxy, SmallMessage

ALIAS = b"flex.messaging.io.ArrayCollection"
C = "0A 07 43" + ALIAS.hex()
LIST = "0A 07 37" + b"flex.messaging.io.ArrayList".hex()
PROXY = "0A 07 3B" + b"flex.messaging.io.ObjectProxy".hex()


def body(codec, value, *, avmplus=True, **options):
    encoder = codec.Encoder(version=0, **options)
    return encoder.encode_body(value, avmplus=avmplus, wrap_lists=plan(ArrayCollection))


def amf3(text):
    return bytes.fromhex("11" + text)


@dataclasses.dataclass
class Order:
    lines: list


class Shade(enum.Enum):
    PAIR = [1, 2]


class Written:
    def __writeamf__(self, output):
        output.writeObject([1])

    def __readamf__(self, input):
        input.readObject()


def shared():
    items = [1]
    return [items, items]


def cyclic():
    items = []
    items.append(items)
    return items


def used_twice(*makers):
    """One list, wrapped in several ways."""
    items = [1]
    return [make(items) for make in makers]


def itself(value):
    return value


# A list takes two slots of the object table: 0 is the outermost collection, 1 the array inside it, 2 what comes next.
CASES = {
    "empty": ([], C + "09 01 01"),
    "list": ([1, "a"], C + "09 05 01 04 01 06 03 61"),
    "tuple": ((1,), C + "09 03 01 04 01"),
    "empty-tuple": ((), C + "09 01 01"),
    "set": ({1}, C + "09 03 01 04 01"),
    "empty-frozenset": (frozenset(), C + "09 01 01"),
    "generator": (lambda: (n for n in (1, 2)), C + "09 05 01 04 01 04 02"),
    "range": (range(2), C + "09 05 01 04 00 04 01"),
    "subclass": (type("Items", (list,), {})([1]), C + "09 03 01 04 01"),
    "enum-with-a-list": (Shade.PAIR, C + "09 05 01 04 01 04 02"),
    "nested": ([[1], []], C + "09 05 01 0A 01 09 03 01 04 01 0A 01 09 01 01"),
    "in-a-dict": ({"a": [1]}, "0A 0B 01 03 61 0A 07 43" + ALIAS.hex() + "09 03 01 04 01 01"),
    "in-a-dataclass": (Order([1]), "0A 13 01 0B 6C696E6573" + C + "09 03 01 04 01"),
    "in-a-typed-object": (TypedObject("T", {"a": [1]}), "0A 13 03 54 03 61" + C + "09 03 01 04 01"),
    "two-empty-tuples-are-two": ([(), ()], C + "09 05 01 0A 01 09 01 01 0A 01 09 01 01"),
    "shared": (shared, C + "09 05 01 0A 01 09 03 01 04 01 0A 04"),
    "cyclic": (cyclic, C + "09 03 01 0A 00"),
    "rows": (
        Rows(["a"], [(1,), ([2],)]),
        C + "09 05 01 0A 13 01 03 61 04 01 0A 05 0A 01 09 03 01 04 02",
    ),
    "rows-twice": (lambda: [Rows(["a"], [])] * 2, C + "09 05 01 0A 01 09 01 01 0A 04"),
    "matrix": (
        numpy.array([[1]], "int32"),
        C + "09 03 01 0D 03 00 00000001",
    ),
    "text-in-two-lists-is-one": ([["ab"], ["ab"]], C + "09 05 01 0A 01 09 03 01 06 05 6162 0A 01 09 03 01 06 02"),
    "externalizable": (Written(), "0A 07 03 57" + C + "09 03 01 04 01"),
    "small-message": (SmallMessage("DSK", {"body": [1]}), "0A 07 07 44534B 01" + C + "09 03 01 04 01 00 00"),
}


def registry():
    classes = ClassRegistry()
    classes.register(Written, "W", external=True)
    return classes


@pytest.mark.parametrize("name", CASES)
def test_what_would_be_an_array_is_a_collection(codec, name):
    value, expected = CASES[name]
    made = value() if type(value) is type(shared) else value
    assert body(codec, made, classes=registry()) == amf3(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(Vector("int", [1]), "0D 03 00 00000001", id="vector"),
        pytest.param(numpy.array([1], "int32"), "0D 03 00 00000001", id="numpy"),
        pytest.param(EcmaArray({0: 1}), "09 03 01 04 01", id="ecma"),
        pytest.param(b"ab", "0C 05 6162", id="bytes"),
        pytest.param({}, "0A 0B 01 01", id="dict"),
        pytest.param(Dictionary([(1, 2)]), "11 03 00 04 01 04 02", id="dictionary"),
    ],
)
def test_what_is_no_array_stays_what_it_is(codec, value, expected):
    assert body(codec, value) == amf3(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(EcmaArray({0: [1]}), "09 03 01" + C + "09 03 01 04 01", id="ecma"),
        pytest.param(Vector("object", [[1]]), "10 03 00 01" + C + "09 03 01 04 01", id="vector"),
        pytest.param(Dictionary([(1, [1])]), "11 03 00 04 01" + C + "09 03 01 04 01", id="dictionary"),
    ],
)
def test_lists_inside_it_are_collections(codec, value, expected):
    assert body(codec, value) == amf3(expected)


def test_a_reference_to_an_associative_array_is_one_to_an_array(codec):
    ecma = EcmaArray()
    assert body(codec, {"a": ecma, "b": ecma}) == amf3("0A 0B 01 03 61 09 01 01 03 62 09 02 01")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(ArrayCollection([1]), C + "09 03 01 04 01", id="collection"),
        pytest.param(ArrayCollection([[1]]), C + "09 03 01 0A 01 09 03 01 04 01", id="list-inside"),
        pytest.param(ArrayCollection(()), C + "09 01 01", id="tuple"),
        pytest.param(ArrayCollection(Rows(["a"], [(1,)])), C + "09 03 01 0A 13 01 03 61 04 01", id="rows"),
        pytest.param(ArrayCollection({1}), C + "09 03 01 04 01", id="set"),
        pytest.param(ArrayCollection(Shade.PAIR), C + "09 05 01 04 01 04 02", id="enum-with-a-list"),
        pytest.param(ArrayCollection(ArrayCollection([])), C + "0A 01 09 01 01", id="twice"),
        pytest.param(ArrayCollection(numpy.zeros((1, 1), "int32")), C + "09 03 01 0D 03 00 00000000", id="matrix"),
        pytest.param(ArrayList([1]), LIST + "09 03 01 04 01", id="array-list"),
        pytest.param(ObjectProxy({"a": [1]}), PROXY + "0A 0B 01 03 61" + C + "09 03 01 04 01 01", id="proxy"),
    ],
)
def test_the_source_of_a_collection_is_not_wrapped_again(codec, value, expected):
    assert body(codec, value) == amf3(expected)


def test_a_list_and_collections_of_it_share_one_array(codec):
    # 2 and 3 the list: collection and array; 4 and 5 the other two, around a reference to 3
    assert body(codec, used_twice(itself, ArrayCollection, ArrayList)) == amf3(
        C + "09 07 01 0A 01 09 03 01 04 01 0A 01 09 06" + LIST + "09 06"
    )


def test_a_collection_of_a_list_before_the_list_itself_shares_it_too(codec):
    # 2 the collection, 3 the array; 4 the list's own collection, which is met once more
    assert body(codec, used_twice(ArrayCollection, itself, itself)) == amf3(
        C + "09 07 01 0A 01 09 03 01 04 01 0A 01 09 06 0A 08"
    )


def test_a_list_that_is_met_again_by_code_of_the_users_is_the_same_collection(codec):
    items = [[1]]  # nobody else knows the inner list when it is written

    class Late:
        @property
        def late(self):
            return items[0]

    classes = ClassRegistry()
    classes.register(type("L", (Late,), {"__annotations__": {"late": list}}), "L")
    (late,) = list(classes)
    assert body(codec, [items, late()], classes=classes) == amf3(
        C + "09 05 01 0A 01 09 03 01 0A 01 09 03 01 04 01 0A 13 03 4C 09 6C617465 0A 08"
    )


@pytest.mark.parametrize(
    "value",
    [[1, [2, (3,), {"a": []}]], shared(), Rows(["a"], [([1],)]), {"a": ArrayCollection([1]), "b": {"c": [None]}}],
    ids=repr,
)
def test_a_reader_finds_collections_with_the_same_items(codec, value):
    def wrapped(value):
        if isinstance(value, (list, tuple)):
            return ArrayCollection([wrapped(item) for item in value])
        if isinstance(value, dict):
            return {name: wrapped(item) for name, item in value.items()}
        if isinstance(value, Rows):
            return ArrayCollection(
                [TypedObject("", dict(zip(value.columns, map(wrapped, row), strict=True))) for row in value.rows]
            )
        return value

    found = codec.Decoder(body(codec, value), version=0).decode_body()
    assert found == wrapped(value)


def test_a_reader_finds_the_cycle(codec):
    found = codec.Decoder(body(codec, cyclic()), version=0).decode_body()
    assert type(found) is ArrayCollection
    assert found[0] is found


def test_scalars_stay_bare(codec):
    assert body(codec, 1) == bytes.fromhex("00 3FF0000000000000")


def test_amf0_has_no_collections(codec):
    assert body(codec, [[1]], avmplus=False) == bytes.fromhex("0A 00000001 0A 00000001 00 3FF0000000000000")


def test_the_next_call_says_for_itself(codec):
    encoder = codec.Encoder(version=0)
    encoder.encode_body([], avmplus=True, wrap_lists=plan(ArrayCollection))
    assert encoder.encode_body([1], avmplus=True) == amf3("09 03 01 04 01")


def test_a_collection_is_no_level_and_no_value_of_its_own(codec):
    assert body(codec, [[1]], limits=Limits(max_depth=2, max_values=3)) == amf3(C + "09 03 01 0A 01 09 03 01 04 01")


@pytest.mark.parametrize("value", [[[[]]], [[()]], [[Rows(["a"], [])]], [[set()]]], ids=repr)
def test_depth_is_bounded(codec, value):
    with pytest.raises(EncodeError, match="more than 2 containers within each other"):
        body(codec, value, limits=Limits(max_depth=2))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, object()]}, "$.a[1]"),
        (ArrayCollection([object()]), "$.source[0]"),
        (Rows(["a"], [(object(),)]), "$[0].a"),
        (ArrayCollection(object()), "$.source"),
    ],
)
def test_an_error_names_the_place_in_the_list(codec, value, path):
    with pytest.raises(EncodeError) as caught:
        body(codec, value)
    assert caught.value.path == path
