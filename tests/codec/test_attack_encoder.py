"""Values that lie, raise, or change while they are written: an EncodeError, or bytes that can be read."""

from __future__ import annotations

import collections
import gc
import itertools
import threading
from array import array

import numpy
import pytest

from amfgate import ClassRegistry, Dictionary, EcmaArray, EncodeError, Limits, Rows, TypedObject, Vector, Xml

H = bytes.fromhex


def registry(*classes):
    found = ClassRegistry()
    for cls in classes:
        found.register(cls, cls.__name__)
    return found


# --- lengths that lie ------------------------------------------------------------------------------------------------


class Length:
    """Two items, and a length that is not true."""

    def __init__(self, length):
        self.length = length

    def __iter__(self):
        return iter([1, 2])

    def __len__(self):
        return self.length

    def __length_hint__(self):
        return self.length


@pytest.mark.parametrize("length", [0, 1, 3, 1 << 40, 1 << 61])
@pytest.mark.parametrize(
    ("version", "expected"), [(3, "09 05 01 04 01 04 02"), (0, "0A 00000002 00 3FF0000000000000 00 4000000000000000")]
)
def test_an_iterable_is_written_as_it_iterates_whatever_its_length_says(codec, version, expected, length):
    assert codec.dumps(Length(length), version=version) == H(expected)


@pytest.mark.parametrize("base", [list, tuple, set, frozenset, collections.deque])
@pytest.mark.parametrize("length", [0, 5, 1 << 61])
@pytest.mark.parametrize("version", [0, 3])
def test_a_subclass_whose_length_lies(codec, version, length, base):
    cls = type("Lying", (base,), {"__len__": lambda self: length, "__length_hint__": lambda self: length})
    assert codec.loads(codec.dumps(cls([7]), version=version), version=version) == [7]


@pytest.mark.parametrize("length", [0, 5, 1 << 61])
@pytest.mark.parametrize("version", [0, 3])
def test_a_dict_whose_length_lies(codec, version, length):
    cls = type("Lying", (dict,), {"__len__": lambda self: length})
    assert codec.loads(codec.dumps(cls(a=7), version=version), version=version) == {"a": 7}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (type("S", (str,), {"__len__": lambda self: 99})("ab"), "06 05 6162"),
        (type("B", (bytes,), {"__len__": lambda self: 99})(b"ab"), "0C 05 6162"),
        (type("V", (Vector,), {"__len__": lambda self: 99})("int", [1]), "0D 03 00 00000001"),
        (type("E", (EcmaArray,), {"__len__": lambda self: 99})({"a": 1}), "09 01 03 61 04 01 01"),
        (type("T", (TypedObject,), {"__len__": lambda self: 99})("A", {"a": 1}), "0A 13 03 41 03 61 04 01"),
        (type("X", (Xml,), {"__len__": lambda self: 99})("ab"), "0B 05 6162"),
        (type("A", (array,), {"__len__": lambda self: 99})("i", [1]), "0D 03 00 00000001"),
        (type("D", (Dictionary,), {"__len__": lambda self: 99})([(1, 2)]), "11 03 00 04 01 04 02"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_any_other_subclass_whose_length_lies(codec, value, expected):
    assert codec.dumps(value) == H(expected)


def test_a_numpy_array_whose_size_lies(codec):
    cls = type("N", (numpy.ndarray,), {"size": 99})
    assert codec.dumps(numpy.array([1], "int32").view(cls)) == H("0D 03 00 00000001")


# --- overridden methods ----------------------------------------------------------------------------------------------


def test_a_str_subclass_travels_as_its_text(codec):
    class Text(str):
        __slots__ = ()

        def encode(self, *arguments):
            return b"wrong"

        def __str__(self):
            return "wrong"

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return True

    assert codec.dumps([Text("ab"), Text("cd"), "ab"]) == H("09 07 01 06 05 6162 06 05 6364 06 00")


@pytest.mark.parametrize("version", [0, 3])
def test_a_key_that_equals_everything_travels_as_its_text(codec, version):
    class Key(str):
        __slots__ = ()

        def __hash__(self):
            return hash(str.__str__(self))

        def __eq__(self, other):
            return True

    value = [{Key("a"): 1}, {Key("a"): 2}, {Key("a"): 3}]
    assert codec.loads(codec.dumps(value, version=version), version=version) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_an_int_subclass_travels_as_its_number(codec):
    class Number(int):
        def __int__(self):
            return 9

        def __index__(self):
            return 9

        def __ge__(self, other):
            return True

        def __neg__(self):
            return 9

        def __pos__(self):
            return 9

    assert codec.dumps([Number(5), Number(300)]) == H("09 05 01 04 05 04 822C")


def test_a_float_subclass_travels_as_its_number(codec):
    class Number(float):
        def __float__(self):
            return 9.0

        def __pos__(self):
            return 9.0

    assert codec.dumps(Number(1.5)) == H("05 3FF8000000000000")


def test_a_dict_subclass_with_its_own_items_travels_as_those(codec):
    class Items(dict):
        def items(self):
            return [("b", 2)]

    assert codec.dumps(Items(a=1)) == H("0A 0B 01 03 62 04 02 01")


def test_a_list_subclass_that_iterates_by_itself_travels_as_it_iterates(codec):
    class Items(list):
        def __iter__(self):
            return iter([2])

    assert codec.dumps(Items([1])) == H("09 03 01 04 02")


@pytest.mark.parametrize("items", [[1], [(1,)], [(1, 2, 3)], 5, None], ids=repr)
@pytest.mark.parametrize("base", [dict, Dictionary, collections.UserDict])
@pytest.mark.parametrize("version", [0, 3])
def test_items_that_are_no_pairs_are_an_error(codec, version, base, items):
    cls = type("Odd", (base,), {"items": lambda self: items})
    with pytest.raises(EncodeError, match="while reading a value"):
        codec.dumps([cls()], version=version)


@pytest.mark.parametrize("iterate", [lambda self: 5, lambda self: None, lambda self: [1]])
@pytest.mark.parametrize("version", [0, 3])
def test_an_iter_that_gives_no_iterator_is_an_error(codec, version, iterate):
    cls = type("Odd", (), {"__iter__": iterate})
    with pytest.raises(EncodeError, match="TypeError while reading a value"):
        codec.dumps([cls()], version=version)


def test_a_class_that_lies_about_itself(codec):
    class Liar:
        @property
        def __class__(self):
            return dict

    with pytest.raises(EncodeError, match="cannot encode Liar"):
        codec.dumps(Liar())


def test_a_vector_whose_kind_changes_from_look_to_look(codec):
    class Changing(Vector):
        looks = itertools.cycle(["int", "double"])

        @property
        def kind(self):
            return next(self.looks)

        @kind.setter
        def kind(self, value):
            pass

    data = codec.dumps([Changing("int", [1, 2]), "end"])
    assert codec.loads(data)[1] == "end"


# --- without end -----------------------------------------------------------------------------------------------------


class Forever:
    def __iter__(self):
        return itertools.repeat(None)


class ForeverMapping(collections.UserDict):
    def items(self):
        return ((str(n), n) for n in itertools.count())


class ForeverDictionary(Dictionary):
    def items(self):
        return ((n, n) for n in itertools.count())


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: itertools.count(), id="count"),
        pytest.param(lambda: itertools.repeat(None), id="repeat"),
        pytest.param(lambda: (n for n in itertools.count()), id="generator"),
        pytest.param(Forever, id="iterable"),
        pytest.param(ForeverMapping, id="mapping"),
        pytest.param(ForeverDictionary, id="dictionary"),
        pytest.param(lambda: Rows(["a"], ((n,) for n in itertools.count())), id="rows"),
        pytest.param(lambda: Rows([], itertools.repeat(())), id="rows-without-columns"),
        pytest.param(lambda: range(10**30), id="range-beyond-c"),
        pytest.param(lambda: range(10**12), id="range"),
        pytest.param(lambda: [itertools.count()], id="inside"),
    ],
)
def test_what_has_no_end_stops_at_the_limit(codec, make):
    with pytest.raises(EncodeError):
        codec.dumps(make(), limits=Limits(max_values=10_000))


@pytest.mark.parametrize(
    "make", [itertools.count, Forever, ForeverMapping, lambda: Rows(["a"], ((n,) for n in itertools.count()))]
)
def test_and_in_amf0(codec, make):
    with pytest.raises(EncodeError, match="more than 10000 values"):
        codec.dumps(make(), version=0, limits=Limits(max_values=10_000))


def test_a_generator_is_read_no_further_than_the_limit(codec):
    read = []
    with pytest.raises(EncodeError):
        codec.dumps((read.append(n) for n in itertools.count()), limits=Limits(max_values=100))
    assert len(read) == 100


def test_a_range_that_no_array_can_hold_is_an_error_without_limits(codec):
    with pytest.raises(EncodeError, match="an array of 1000000000000 is longer than AMF3 can say"):
        codec.dumps(range(10**12))


@pytest.mark.parametrize("version", [0, 3])
def test_generators_within_generators_are_too_deep(codec, version):
    def nest():
        yield nest()

    with pytest.raises(EncodeError, match="more than 512 containers within each other"):
        codec.dumps(nest(), version=version)


# --- raising ---------------------------------------------------------------------------------------------------------


class Broken(Exception):
    def __str__(self):
        raise ValueError("not even a text")


def raising(error):
    """A class whose declared member raises, as an instance and in a registry."""

    class Thing:
        a: object

        def __getattribute__(self, name):
            if name == "a":
                raise error
            return object.__getattribute__(self, name)

    return Thing(), registry(Thing)


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyError("no"), RecursionError("no"), StopIteration("no"), EOFError()]
)
@pytest.mark.parametrize("version", [0, 3])
def test_a_member_that_raises_is_an_error_with_path_and_cause(codec, version, error):
    value, classes = raising(error)
    with pytest.raises(EncodeError, match=f"{type(error).__name__} while reading a value") as caught:
        codec.dumps({"x": [value]}, version=version, classes=classes)
    assert (caught.value.path, caught.value.__cause__) == ("$.x[0]", error)


@pytest.mark.parametrize("version", [0, 3])
def test_an_error_without_a_text(codec, version):
    value, classes = raising(Broken())
    with pytest.raises(EncodeError, match=r"Broken while reading a value: \(its text cannot be had\)"):
        codec.dumps(value, version=version, classes=classes)


@pytest.mark.parametrize("version", [0, 3])
def test_a_generator_that_raises(codec, version):
    def items():
        yield 1
        raise ValueError("no more")

    with pytest.raises(EncodeError, match="ValueError while reading a value: no more") as caught:
        codec.dumps([items()], version=version)
    assert caught.value.path == "$[0]"


@pytest.mark.parametrize("version", [0, 3])
def test_a_key_whose_repr_raises(codec, version):
    class Key:
        def __repr__(self):
            raise ValueError

    with pytest.raises(EncodeError, match="a key is text or a whole number, not a Key"):
        codec.dumps({Key(): 1}, version=version)


def test_a_member_that_never_comes_back_for_recursion(codec):
    class Thing:
        a: object

        def __getattribute__(self, name):
            return self.a if name == "a" else object.__getattribute__(self, name)

    with pytest.raises(EncodeError, match="RecursionError while reading a value"):
        codec.dumps(Thing(), classes=registry(Thing))


# --- changing what is being written ----------------------------------------------------------------------------------


def changing(change):
    """A class whose member changes something when it is read, and is 1."""

    class Thing:
        a: object

        def __getattribute__(self, name):
            if name == "a":
                change()
                return 1
            return object.__getattribute__(self, name)

    return Thing(), registry(Thing)


THING = "0A 13 0B 5468696E67 03 61 04 01"  # one Thing, the first of its class


CHANGES = {
    list: {
        "clear": lambda container: container.clear(),
        "append": lambda container: container.append(9),
        "reverse": lambda container: container.reverse(),
        "shrink": lambda container: container.__delitem__(-1),
    },
    dict: {
        "clear": lambda container: container.clear(),
        "grow": lambda container: container.update({str(n): n for n in range(100)}),
        "delete": lambda container: container.pop("a"),
        "replace": lambda container: container.update(b=[5]),
    },
}


def written(codec, value, version, classes):
    """What comes back of a value, when one after it comes back too."""
    back, end = codec.loads(codec.dumps([value, "end"], version=version, classes=classes), version=version)
    assert end == "end"
    return back


@pytest.mark.parametrize("make", [list, lambda: Vector("object")], ids=["list", "vector"])
@pytest.mark.parametrize("change", CHANGES[list])
@pytest.mark.parametrize("version", [0, 3])
def test_a_list_is_written_as_it_was_when_it_began(codec, make, change, version):
    container = make()
    value, classes = changing(lambda: CHANGES[list][change](container))
    container[:] = [value, 2, 3, 4]
    back = written(codec, container, version, classes)
    assert (back[0]["a"], back[1:]) == (1, [2, 3, 4])


@pytest.mark.parametrize(
    "make",
    [
        dict,
        EcmaArray,
        collections.OrderedDict,
        collections.UserDict,
        lambda: TypedObject("A"),
        lambda: TypedObject("A", dynamic=True, sealed=[]),
        lambda: TypedObject("A", dynamic=True, sealed=["a"]),
    ],
    ids=["dict", "ecma", "ordered-dict", "user-dict", "sealed", "dynamic", "sealed-and-dynamic"],
)
@pytest.mark.parametrize("change", CHANGES[dict])
@pytest.mark.parametrize("version", [0, 3])
def test_a_dict_is_written_as_it_was_when_it_began(codec, make, change, version):
    container = make()
    value, classes = changing(lambda: CHANGES[dict][change](container))
    container.update(a=value, b=2, c=3)
    back = written(codec, container, version, classes)
    assert (list(back), back["b"], back["c"]) == (["a", "b", "c"], 2, 3)


def test_a_dictionary_is_written_as_it_was_when_it_began(codec):
    container = Dictionary()
    value, classes = changing(container.clear)
    container[1], container[2] = value, 3
    assert codec.dumps(container, classes=classes) == H("11 05 00 04 01" + THING + "04 02 04 03")


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("change", ["clear", "grow"])
def test_rows_are_written_as_they_were_when_they_began(codec, version, change):
    rows: list = []
    value, classes = changing(rows.clear if change == "clear" else lambda: rows.extend([(5,)] * 50))
    rows.extend([(value,), (2,)])
    back = codec.loads(codec.dumps([Rows(["x"], rows), "end"], version=version, classes=classes), version=version)
    assert (len(back[0]), back[1]) == (2, "end")


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("change", ["clear", "grow"])
def test_a_row_is_written_as_it_was_when_it_began(codec, version, change):
    row: list = []
    value, classes = changing(row.clear if change == "clear" else lambda: row.extend([5] * 50))
    row.extend([value, 2])
    back = codec.loads(codec.dumps([Rows(["x", "y"], [row]), "end"], version=version, classes=classes), version=version)
    assert (list(back[0][0]), back[0][0]["y"], back[1]) == (["x", "y"], 2, "end")


@pytest.mark.parametrize("version", [0, 3])
def test_columns_are_written_as_they_were_when_they_began(codec, version):
    rows = Rows(["x"], [])

    def act():
        rows.columns, rows.alias = ("x", "y", "z"), "Other"

    value, classes = changing(act)
    rows.rows = [(value,), (2,)]
    back = codec.loads(codec.dumps([rows, "end"], version=version, classes=classes), version=version)
    assert ([list(row) for row in back[0]], back[1]) == ([["x"], ["x"]], "end")


@pytest.mark.parametrize("avmplus", [True, False])
@pytest.mark.parametrize("change", ["clear", "grow"])
def test_arguments_are_written_as_they_were_when_they_began(codec, avmplus, change):
    arguments: list = []
    value, classes = changing(arguments.clear if change == "clear" else lambda: arguments.extend([5] * 50))
    arguments.extend([value, "end"])
    data = codec.Encoder(version=0, classes=classes).encode_body(arguments, avmplus=avmplus, arguments=True)
    back = codec.loads(data, version=0)
    assert (len(back), back[1]) == (2, "end")


def test_a_set_that_changes_while_it_is_read_is_an_error(codec):
    class Items(set):
        def __iter__(self):
            for item in set.__iter__(self):
                self.add(item + 1)
                yield item

    with pytest.raises(EncodeError, match="RuntimeError while reading a value: Set changed size during iteration"):
        codec.dumps(Items([1]))


def test_a_member_that_deletes_itself(codec):
    class Thing:
        def __init__(self):
            self.a, self.b = [1], [2]

    thing = Thing()
    value, classes = changing(lambda: vars(thing).clear())
    thing.a = value
    classes.register(Thing, "Owner")
    assert codec.dumps([thing, "end"], classes=classes).endswith(H("04 01 09 03 01 04 02 06 07") + b"end")


def test_a_value_that_is_dropped_while_it_is_written(codec):
    holder: list = []
    value, classes = changing(holder.clear)
    holder.append([value, [1], [2]])
    data = codec.dumps([holder[0], "end"], classes=classes)
    del value
    assert codec.loads(data)[0][1:] == [[1], [2]]


@pytest.mark.parametrize(
    ("version", "before", "place", "after"),
    [
        (3, "09 05 01 0A 0B 01 03 61 04 01 01", "09 11 01", "0A 01 00 04 01 01"),
        (0, "0A 00000002 03 000161 00 3FF0000000000000 000009", "0A 00000008", "03 000161 00 3FF0000000000000 000009"),
    ],
)
def test_what_was_written_and_is_freed_gives_its_place_to_nothing_else(codec, version, before, place, after):
    """The first dict belongs to the list alone and is dropped by the second item, which makes others like it."""

    def replace(_):
        items.clear()
        gc.collect()
        return [{"a": 1} for _ in range(8)]

    items = [{"a": 1}, object()]
    assert codec.dumps(items, version=version, default=replace) == H(f"{before} {place} {after * 8}")


def test_new_values_of_a_property_are_told_apart(codec):
    class Thing:
        a: object

        def __getattribute__(self, name):
            return [] if name == "a" else object.__getattribute__(self, name)

    back = codec.loads(codec.dumps([Thing() for _ in range(200)], classes=registry(Thing)))
    assert len({id(thing["a"]) for thing in back}) == 200


def test_an_alias_that_changes(codec):
    value = TypedObject("A")

    def act():
        value.alias = "B" * 1000

    thing, classes = changing(act)
    value["x"] = thing
    assert codec.loads(codec.dumps([value, value, "end"], classes=classes))[2] == "end"


@pytest.mark.parametrize("version", [0, 3])
def test_another_thread_that_changes_the_dict(codec, version):
    value = {str(n): [n] for n in range(200)}
    stop = threading.Event()

    def change():
        for n in itertools.cycle(range(1000)):
            if stop.is_set():
                return
            value[f"x{n}"] = [n]
            value.pop(f"x{n - 500}", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(50):
            back = codec.loads(codec.dumps({"v": value, "end": 1}, version=version), version=version)
            assert (back["end"], back["v"]["199"]) == (1, [199])
    finally:
        stop.set()
        thread.join()


def test_another_thread_that_changes_the_list(codec):
    value = [[n] for n in range(200)]
    stop = threading.Event()

    def change():
        while not stop.is_set():
            value.append([0])
            value.pop()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(50):
            back = codec.loads(codec.dumps([value, "end"]))
            assert (back[0][199], back[1]) == ([199], "end")
    finally:
        stop.set()
        thread.join()


def test_an_encoder_that_another_thread_uses_says_so(codec):
    inside, go_on, results = threading.Event(), threading.Event(), []

    def default(value):
        inside.set()
        go_on.wait(10)
        return [1]

    encoder = codec.Encoder(default=default)
    thread = threading.Thread(target=lambda: results.append(encoder.encode([object(), "end"])))
    thread.start()
    inside.wait(10)
    try:
        with pytest.raises(EncodeError, match="this encoder is at work already"):
            encoder.encode([1])
    finally:
        go_on.set()
        thread.join()
    assert results == [H("09 05 01 09 03 01 04 01 06 07") + b"end"]


def test_deep_values_are_dropped_without_recursion(codec):
    value: list = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EncodeError, match="more than 512 containers"):
        codec.dumps(value)
