"""The two encoders side by side: equal bytes and equal errors for whatever can be thought of, and one face.

Hypothesis draws a *recipe*, from which the same value is built once for each twin: a generator can be read only once,
and neither twin may profit from what the other left behind.  A recipe is a list of nodes, each a container whose items
are scalars or other nodes, earlier or later ones: so values are shared, and hold themselves.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import pathlib
import re
import struct
import typing
import uuid
from array import array

import msgspec
import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amfgate import (
    ClassRegistry,
    Dictionary,
    EcmaArray,
    EncodeError,
    Limits,
    Rows,
    TypedObject,
    Vector,
    Xml,
    invalid_date,
    undefined,
)
from amfgate.classes import plan
from amfgate.flex import ArrayCollection, ObjectProxy, SmallMessage

EXAMPLES = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

# --- classes ---------------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Unknown:
    def __repr__(self):
        return "Unknown()"


@dataclasses.dataclass
class Data:
    a: object = None
    b: object = None


class Plain:
    a: object = 1


class Slotted:
    __slots__ = ("a", "b")


class Open:
    a: object = 1


class Struct(msgspec.Struct):
    a: object = None


class Pair(typing.NamedTuple):
    a: object
    b: object


class External:
    def __init__(self, item=None):
        self.item = item

    def __writeamf__(self, output):
        output.writeUTF("x")
        output.writeObject(self.item)
        output.writeObject("ab")

    def __readamf__(self, input):
        input.readUTF()
        self.item = input.readObject()
        input.readObject()


class Raising:
    a: object

    def __getattribute__(self, name):
        if name == "a":
            raise ValueError("not today")
        return object.__getattribute__(self, name)


def registry():
    classes = ClassRegistry()
    for cls in (Data, Plain, Slotted, Struct, Raising):
        classes.register(cls, f"test.{cls.__name__}")
    classes.register(Open, "test.Open", dynamic=True)
    classes.register(External, "test.External", external=True)
    return classes


CLASSES = registry()
READ_CLASSES = ClassRegistry()  # of these, decoding needs only the one that reads itself
READ_CLASSES.register(External, "test.External", external=True)

# --- recipes ---------------------------------------------------------------------------------------------------------

TEXTS = ["", "a", "ab", "abc", "k0", "k1", "h\u00e9", "\u2603", "\U0001f600", "1", "01", "x" * 70, "y" * 2000]
KEYS = ["a", "b", "k0", "k1", "ab", "h\u00e9", "0", "1", "2", "x" * 70]
# Objects that exist once, so that a recipe may use the same one twice.
SINGLES = [
    b"",
    b"a",
    b"abc",
    bytearray(b"abc"),
    dt.datetime(2020, 1, 2, 3, 4, 5, 678901),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime.max,
    dt.date(1999, 12, 31),
    Xml("<a/>"),
    Xml("<a/>", legacy=True),
    uuid.UUID(int=5),
    decimal.Decimal("1.5"),
    decimal.Decimal("0.1000000000000000000001"),
    decimal.Decimal("NaN"),
    dt.timedelta(seconds=1.5),
    dt.time(1, 2),
    pathlib.PurePosixPath("a/b"),
    Color.RED,
    Color.TWO,
    numpy.int64(7),
    numpy.float32(1.5),
    numpy.datetime64("NaT", "us"),
    numpy.arange(3, dtype="int32"),
    numpy.ones((2, 2)),
    numpy.array([2**40]),
    array("d", [1.5]),
    array("I"),
    (),
    (1, "ab"),
    frozenset(),
    range(3),
    Vector("int", [1, -1]),
    Vector("uint", [-1]),
    Vector("double", [0.5, 3]),
    Rows(["a", "b"], [(1, "ab"), ("ab", None)]),
    Rows(["a", "b"], [(1, 2), (1,)]),
    Rows(["a", "a"], []),
    type("Text", (str,), {})("ab"),
    type("Number", (int,), {})(300),
]

scalars = st.one_of(
    st.sampled_from([None, True, False, undefined, invalid_date]),
    st.sampled_from(TEXTS),
    st.text(max_size=5),
    st.integers(-(2**29) - 2, 2**29 + 2),
    st.sampled_from(
        [0, 127, 128, 1023, 1024, 0x3FFF, 0x4000, 0x1FFFFF, 0x200000, 2**28 - 1, 2**28, -(2**28), -(2**28) - 1, 2**53]
    ),
    st.integers(),
    st.floats(),
    st.binary(min_size=8, max_size=8).map(lambda bits: struct.unpack(">d", bits)[0]),
    st.sampled_from(SINGLES),
)
odd = st.sampled_from(["\ud800", "\udcff", Unknown(), 1j, 2**53 + 1, 10**400])
places = st.one_of(st.tuples(st.just("is"), scalars), st.tuples(st.just("node"), st.integers(0, 11)))
rarely_odd = st.one_of(*[places] * 12, st.tuples(st.just("is"), odd))
keys = st.one_of(
    *[st.sampled_from(KEYS)] * 8, st.integers(-1, 4), st.sampled_from(["", None, 1.5, True, Color.RED, 2**70])
)
KINDS = [
    "list", "dict", "ecma", "typed", "typed-dynamic", "typed-sealed", "vector", "dictionary", "tuple", "generator",
    "rows", "collection", "proxy", "data", "plain", "slotted", "struct", "open", "pair", "external", "raising", "small",
    "set",
]  # fmt: skip
COMMON = ["list", "dict", "dict", "list", "typed", "data"]
node = st.tuples(
    st.one_of(st.sampled_from(COMMON), st.sampled_from(KINDS)),
    st.lists(st.tuples(keys, rarely_odd), max_size=6),
    st.integers(0, 7),
)
recipes = st.lists(node, min_size=1, max_size=10)


def begin(kind, flag):
    """A node with nothing in it; None for what can only be made complete."""
    makers = {
        "list": list,
        "dict": dict,
        "ecma": lambda: EcmaArray(count=None if flag & 1 else flag),
        "typed": lambda: TypedObject("test.T" if flag & 1 else ""),
        "typed-dynamic": lambda: TypedObject("test.D", sealed=["a", "b"], dynamic=True),
        "typed-sealed": lambda: TypedObject("test.S", sealed=["a", "b"]),
        "vector": lambda: Vector("object", fixed=bool(flag & 1), alias="test.T" if flag & 2 else ""),
        "dictionary": lambda: Dictionary(weak=bool(flag & 1)),
        "rows": lambda: Rows(["a", "b"], [], "test.R" if flag & 1 else ""),
        "collection": lambda: ArrayCollection([]),
        "proxy": ObjectProxy,
        "data": Data,
        "plain": Plain,
        "slotted": Slotted,
        "struct": Struct,
        "open": Open,
        "external": External,
        "raising": Raising,
        "small": lambda: SmallMessage("DSK"),
        "set": set,
    }
    return makers[kind]() if kind in makers else None


def build(recipe):
    """The value of a recipe: its first node."""
    made = [begin(kind, flag) for kind, _, flag in recipe]

    def at(place, before):
        """The scalar or node that a place stands for; an immutable node is there for those after it alone."""
        what, which = place
        if what == "is":
            return which
        return made[which % (len(made) if before is None else max(before, 1))]

    for index, (kind, members, flag) in enumerate(recipe):
        items = [at(place, None) for _, place in members]
        named = [(key, at(place, None)) for key, place in members]
        texts = [(key, item) for key, item in named if type(key) is str]
        target = made[index]
        if kind in ("list", "vector"):
            target.extend(items)
        elif kind in ("dict", "ecma", "dictionary"):
            for key, item in named:
                target[item if kind == "dictionary" and flag & 2 else key] = item
        elif kind.startswith("typed"):
            target.update(named if flag & 4 else texts)
        elif kind == "tuple":
            made[index] = tuple(at(place, index) for _, place in members)
        elif kind == "pair":
            made[index] = Pair(*([at(place, index) for _, place in members] + [None, None])[:2])
        elif kind == "generator":
            made[index] = (item for item in items)
        elif kind == "rows":
            rows = [items[n : n + 2] for n in range(0, len(items) - 1, 2)]
            target.rows = (tuple(row) for row in rows) if flag & 2 else rows
        elif kind == "collection":
            target.source = items if flag & 1 else at(members[0][1], None) if members else None
        elif kind == "proxy":
            target.source = dict(texts) if flag & 1 else at(members[0][1], None) if members else None
        elif kind == "external":
            target.item = items[0] if items else None
        elif kind == "small":
            target.update(body=items[0] if items else None, messageId=str(uuid.UUID(int=flag)).upper())
        elif kind == "set":
            target.update(n for n, _ in enumerate(items))
        elif kind not in ("raising", "generator"):
            for name, item in texts:
                if (
                    name.isidentifier()
                    and (kind != "slotted" or name in ("a", "b"))
                    and (kind != "struct" or name == "a")
                ):
                    setattr(target, name, item)
    return made[0]


ADDRESS = re.compile("0x[0-9A-Fa-f]+")  # in the repr of a key that has no other


def outcome(call):
    """What a call gave, or all that its error tells."""
    try:
        return call()
    except EncodeError as error:
        told = error.message, error.path, error.hint, str(error), type(error.__cause__).__name__
        return tuple(ADDRESS.sub("0x", str(part)) for part in told)


def hook(value):
    return [repr(value)] if isinstance(value, Unknown) else {"no": None}


options = st.fixed_dictionaries(
    {
        "strings": st.sampled_from(["adaptive", "all"]),
        "big_ints": st.sampled_from(["float", "string", "error"]),
        "decimals": st.sampled_from(["float", "string"]),
        "default": st.sampled_from([None, hook]),
        "limits": st.one_of(
            st.none(),
            st.builds(Limits, max_depth=st.integers(1, 6)),
            st.builds(Limits, max_values=st.integers(1, 40)),
        ),
    }
)


def same(twins, recipe, work):
    """Both twins do the same work on a value of their own; what came of it, once it is known to be equal."""
    first, second = (outcome(lambda codec=codec: work(codec, build(recipe))) for codec in twins)
    assert first == second
    return first


@pytest.mark.parametrize("version", [0, 3])
@EXAMPLES
@given(recipe=recipes, chosen=options)
def test_encode_is_equal(twins, version, recipe, chosen):
    data = same(twins, recipe, lambda codec, value: codec.dumps(value, version=version, classes=CLASSES, **chosen))
    if type(data) is bytes:  # and it can be read
        for codec in twins:
            assert (
                codec.Decoder(data, version=version, classes=READ_CLASSES, limits=Limits(max_depth=4096)).decode()
                is not ...
            )


@EXAMPLES
@given(
    recipe=recipes,
    chosen=options,
    how=st.fixed_dictionaries(
        {
            "avmplus": st.booleans(),
            "arguments": st.booleans(),
            "counted": st.booleans(),
            "whole": st.booleans(),
            "repeats": st.sampled_from([0, 1, 5, 10_000]),
            "wrap_lists": st.sampled_from([None, plan(ArrayCollection)]),
        }
    ),
)
def test_encode_body_is_equal(twins, recipe, chosen, how):
    def work(codec, value):
        return codec.Encoder(version=0, classes=CLASSES, **chosen).encode_body(value, **how)

    data = same(twins, recipe, work)
    if type(data) is bytes:
        arguments = how["arguments"] and recipe[0][0] in ("list", "tuple")
        for codec in twins:
            counted = how["counted"] or not arguments
            codec.Decoder(data, version=0, classes=READ_CLASSES).decode_body(counted=counted)


@pytest.mark.parametrize("version", [0, 3])
@EXAMPLES
@given(recipe=recipes, chosen=options, texts=st.lists(st.sampled_from(TEXTS), max_size=3))
def test_several_values_of_one_encoder_are_equal(twins, version, recipe, chosen, texts):
    def work(codec, value):
        encoder = codec.Encoder(version=version, classes=CLASSES, **chosen)
        parts = [outcome(lambda: encoder.encode(value))]
        parts += [outcome(lambda text=text: encoder.encode_string(text)) for text in texts]
        return [*parts, outcome(lambda: encoder.encode([value, *texts])), outcome(lambda: encoder.encode(value))]

    same(twins, recipe, work)


# --- rows: where columns of texts switch off, and keys are predicted -------------------------------------------------

column = st.sampled_from(["same", "distinct", "few", "seldom", "none", "mixed", "list", "row", "unicode"])
shapes = st.lists(
    st.lists(st.tuples(st.sampled_from(KEYS), column), min_size=1, max_size=5, unique_by=lambda pair: pair[0]),
    min_size=1,
    max_size=3,
)
FORMS = ["dict", "list", "typed", "rows", "ecma", "data"]


def cell(how, n):
    """The value in the n-th row of a column."""
    return {
        "same": "same",
        "distinct": f"d{n}",
        "few": f"f{n % 5}",
        "seldom": f"s{n // 4}" if n % 9 else "seldom",
        "none": None,
        "mixed": [n, f"m{n}", n / 2, None][n % 4],
        "list": [f"l{n}", f"l{n // 2}"],
        "row": {"k0": f"r{n}", "k1": "same"},
        "unicode": f"\u2603{n}",
    }[how]


def table(shapes, forms, count):
    """Rows of one shape after the other."""
    rows = []
    for n in range(count):
        shape, form = shapes[n * 7 // 5 % len(shapes)], forms[n // 3 % len(forms)]
        members = {name: cell(how, n) for name, how in shape}
        values = list(members.values())
        rows.append(
            {
                "dict": lambda members=members: members,
                "list": lambda values=values: values,
                "typed": lambda members=members: TypedObject("test.T", members),
                "rows": lambda members=members, values=values: Rows(list(members), [values, tuple(values)]),
                "ecma": lambda members=members: EcmaArray(members),
                "data": lambda values=values: Data(*values[:2]),
            }[form]()
        )
    return rows


@pytest.mark.parametrize("version", [0, 3])
@settings(EXAMPLES, max_examples=120)
@given(shapes=shapes, forms=st.lists(st.sampled_from(FORMS), min_size=1, max_size=3), count=st.integers(1, 220))
def test_tables_are_equal(twins, version, shapes, forms, count):
    first, second = (codec.dumps(table(shapes, forms, count), version=version, classes=CLASSES) for codec in twins)
    assert first == second


@settings(EXAMPLES, max_examples=120)
@given(shapes=shapes, forms=st.lists(st.sampled_from(FORMS), min_size=1, max_size=3), count=st.integers(1, 220))
def test_adaptive_texts_mean_the_same_value_as_all(twins, shapes, forms, count):
    value = table(shapes, forms, count)
    for codec in twins:
        every = codec.dumps(value, classes=CLASSES, strings="all")
        adaptive = codec.loads(codec.dumps(value, classes=CLASSES), classes=READ_CLASSES)
        assert codec.dumps(adaptive, classes=READ_CLASSES, strings="all") == every


@settings(EXAMPLES, max_examples=120)
@given(kinds=st.lists(st.sampled_from("ifsbn"), max_size=200), seed=st.integers(0, 2**30))
def test_runs_of_numbers_and_texts_are_equal(twins, kinds, seed):
    value = [
        {"i": (seed >> n % 30) - n, "f": seed / (n + 1), "s": f"t{seed % (n + 1)}", "b": bool(n & 1), "n": None}[kind]
        for n, kind in enumerate(kinds)
    ]
    for version in (0, 3):
        first, second = (codec.dumps(value, version=version) for codec in twins)
        assert first == second


# --- one face --------------------------------------------------------------------------------------------------------

# What twins have besides, each for itself, or for DataInput and DataOutput.
PUBLIC = {
    "Encoder": ["encode", "encode_body", "encode_string", "put", "version", "write_object"],
    "Decoder": [
        "at_end",
        "bytes_left",
        "decode",
        "decode_body",
        "decode_string",
        "offset",
        "read_object",
        "references",
        "take",
        "version",
    ],
}


@pytest.mark.parametrize("name", PUBLIC)
def test_both_have_the_same_public_names(twins, name):
    for codec in twins:
        made = codec.Encoder() if name == "Encoder" else codec.Decoder(b"")
        assert sorted(attribute for attribute in dir(made) if not attribute.startswith("_")) == PUBLIC[name]


def parameters(function):
    return [(found.name, found.kind, found.default) for found in inspect.signature(function).parameters.values()]


METHODS = [
    ("Encoder", "encode"),
    ("Encoder", "encode_body"),
    ("Encoder", "encode_string"),
    ("Decoder", "decode"),
    ("Decoder", "decode_body"),
    ("Decoder", "decode_string"),
]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_both_take_the_same_parameters(twins, name, method):
    first, second = (parameters(getattr(getattr(codec, name), method)) for codec in twins)
    assert first == second


ENCODER = {
    "version": 3,
    "classes": None,
    "limits": None,
    "strings": "adaptive",
    "default": None,
    "big_ints": "error",
    "decimals": "float",
}
DECODER = {"version": 3, "classes": None, "limits": None, "plain": False, "dates": "datetime", "offset": 0}


def test_both_are_made_with_the_same_options(twins):
    for codec in twins:
        assert codec.Encoder(**ENCODER).encode([None]) == b"\x09\x03\x01\x01"
        assert codec.Decoder(b"\x09\x03\x01\x01", **DECODER).decode() == [None]


def test_options_are_given_by_name_alone(twins):
    for codec in twins:
        for call in (lambda codec=codec: codec.Encoder(3), lambda codec=codec: codec.Decoder(b"", 3)):
            with pytest.raises(TypeError):
                call()


def test_an_option_that_there_is_not_is_a_type_error(twins):
    for codec in twins:
        for call in (
            lambda codec=codec: codec.Encoder(plain=True),
            lambda codec=codec: codec.Decoder(b"", strings="all"),
        ):
            with pytest.raises(TypeError):
                call()


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_both_methods_have_the_same_manual_page(twins, name, method):
    first, second = (inspect.getdoc(getattr(getattr(codec, name), method)) for codec in twins)
    assert first and first == second


@pytest.mark.parametrize("name", ["Encoder", "Decoder"])
def test_both_classes_have_the_same_manual_page(twins, name):
    first, second = (inspect.getdoc(getattr(codec, name)) for codec in twins)
    assert first and first == second


@pytest.mark.parametrize("name", ["at_end", "bytes_left", "offset"])
def test_both_properties_have_the_same_manual_page(twins, name):
    first, second = (inspect.getdoc(getattr(codec.Decoder, name)) for codec in twins)
    assert first == second
