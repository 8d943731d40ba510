"""Instances: registered classes of every kind, what they send, and what they take."""

from __future__ import annotations

import abc
import dataclasses
import gc
import typing
import weakref
from collections import namedtuple

import attrs
import msgspec
import pydantic
import pytest

import amfgate
from amfgate import ClassRegistry, DecodeError, EncodeError, TypedObject

H = bytes.fromhex


class Plain:
    a: object
    b: object

    def __init__(self, a, b):
        self.a, self.b = a, b


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Data:
    a: object
    b: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: object


@dataclasses.dataclass(slots=True)
class DataSlots:
    a: object
    b: object


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: object
    b: object


@attrs.define
class Attrs:
    a: object
    b: object


@attrs.frozen
class AttrsFrozen:
    a: object
    b: object


class Model(pydantic.BaseModel):
    a: typing.Any
    b: typing.Any


class Struct(msgspec.Struct):
    a: object
    b: object


class FrozenStruct(msgspec.Struct, frozen=True):
    a: object
    b: object


class Tuple(typing.NamedTuple):
    a: object
    b: object


OldTuple = namedtuple("OldTuple", "a b")

WITH_FIELDS = [Data, Frozen, DataSlots, FrozenSlots, Attrs, AttrsFrozen, Model, Struct, FrozenStruct, Tuple, OldTuple]
ALL = [Plain, Slotted, *WITH_FIELDS]
AMF3 = "0A 23 03 43 03 61 03 62 04 01 06 03 78"
AMF0 = "10 0001 43 0001 61 00 3FF0000000000000 0001 62 02 0001 78 000009"


def registry(cls, **options):
    classes = ClassRegistry()
    classes.register(cls, "C", **options)
    return classes


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(("version", "data"), [(3, AMF3), (0, AMF0)])
def test_an_instance_is_written_as_an_object_of_its_alias(codec, cls, version, data):
    assert codec.dumps(cls(a=1, b="x"), version=version, classes=registry(cls)) == H(data)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(("version", "data"), [(3, AMF3), (0, AMF0)])
def test_an_object_of_a_known_alias_is_an_instance(codec, cls, version, data):
    value = codec.loads(H(data), version=version, classes=registry(cls))
    assert (type(value), value.a, value.b) == (cls, 1, "x")


@pytest.mark.parametrize("cls", WITH_FIELDS)
@pytest.mark.parametrize(
    ("version", "data"),
    [(3, "0A 23 01 03 61 03 62 04 01 06 03 78"), (0, "03 0001 61 00 3FF0000000000000 0001 62 02 0001 78 000009")],
)
def test_a_class_with_fields_travels_unregistered_as_an_anonymous_object(codec, cls, version, data):
    assert codec.dumps(cls(a=1, b="x"), version=version, classes=ClassRegistry()) == H(data)


@pytest.mark.parametrize("cls", [Plain, Slotted])
def test_any_other_class_has_to_be_registered(codec, cls):
    with pytest.raises(EncodeError, match=f"cannot encode {cls.__name__} at \\$: register its class, or pass default="):
        codec.dumps(cls(1, 2), classes=ClassRegistry())


@pytest.mark.parametrize("cls", ALL)
def test_nothing_is_built_that_was_not_registered(codec, cls):
    assert type(codec.loads(H(AMF3), classes=ClassRegistry())) is TypedObject


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("version", "data"), [(3, "0A 13 03 43 03 61 04 01"), (0, "10 0001 43 0001 61 00 3FF0000000000000 000009")]
)
def test_a_member_that_is_missing_and_has_no_default_is_none(codec, cls, version, data):
    value = codec.loads(H(data), version=version, classes=registry(cls))
    assert (value.a, value.b) == (1, None)


@pytest.mark.parametrize("cls", ALL)
def test_a_member_that_the_class_does_not_declare_is_dropped(codec, cls):
    value = codec.loads(H("0A 33 03 43 03 61 03 62 03 63 04 01 06 03 78 03"), classes=registry(cls))
    assert (value.a, value.b, hasattr(value, "c")) == (1, "x", False)


@dataclasses.dataclass
class DataDefaults:
    a: object = 7
    b: list = dataclasses.field(default_factory=lambda: [8])


@attrs.define
class AttrsDefaults:
    a: object = 7
    b: list = attrs.Factory(lambda: [8])


class ModelDefaults(pydantic.BaseModel):
    a: typing.Any = 7
    b: list = pydantic.Field(default_factory=lambda: [8])


class StructDefaults(msgspec.Struct):
    a: object = 7
    b: list = msgspec.field(default_factory=lambda: [8])


@pytest.mark.parametrize("cls", [DataDefaults, AttrsDefaults, ModelDefaults, StructDefaults])
@pytest.mark.parametrize(("version", "data"), [(3, "0A 0B 03 43 01"), (0, "10 0001 43 000009")])
def test_missing_members_get_the_defaults_of_the_class(codec, cls, version, data):
    value = codec.loads(H(data), version=version, classes=registry(cls))
    assert (value.a, value.b) == (7, [8])


@pytest.mark.parametrize("cls", [DataDefaults, AttrsDefaults, ModelDefaults, StructDefaults])
def test_each_instance_gets_a_default_of_its_own(codec, cls):
    first, second = codec.loads(H("09 05 01 0A 0B 03 43 01 0A 01 01"), classes=registry(cls))
    assert first.b is not second.b


def test_the_default_of_a_named_tuple(codec):
    cls = namedtuple("Pair", "a b", defaults=[5])
    assert codec.loads(H("0A 13 03 43 03 61 04 01"), classes=registry(cls)) == (1, 5)


def test_a_class_attribute_is_the_default_of_an_ordinary_class(codec):
    class Thing:
        a: int = 7

    assert codec.loads(H("0A 0B 03 43 01"), classes=registry(Thing)).a == 7


def test_init_is_not_called(codec):
    class Thing:
        a: int

        def __init__(self):
            raise AssertionError("called")

    assert codec.loads(H("0A 13 03 43 03 61 04 01"), classes=registry(Thing)).a == 1


# --- what travels ----------------------------------------------------------------------------------------------------


def test_attributes_that_an_instance_has_besides_travel_too(codec):
    class Thing:
        a: int

    thing = Thing()
    thing.a, thing.c = 1, 2
    assert codec.dumps(thing, classes=registry(Thing)) == H("0A 23 03 43 03 61 03 63 04 01 04 02")


def test_private_attributes_never_travel(codec):
    class Thing:
        pass

    thing = Thing()
    thing._secret, thing.a = 1, 2
    assert codec.dumps(thing, classes=registry(Thing)) == H("0A 13 03 43 03 61 04 02")


@pytest.mark.parametrize("name", ["5F73", "5F5F636C6173735F5F"])  # _s, __class__
def test_private_attributes_are_never_set(codec, name):
    class Thing:
        pass

    data = H("0A 13 03 43") + bytes([len(H(name)) << 1 | 1]) + H(name) + H("04 01")
    assert vars(codec.loads(data, classes=registry(Thing))) == {}


def test_a_method_is_never_hidden(codec):
    class Thing:
        def go(self):
            return "went"

    thing = codec.loads(H("0A 13 03 43 05 676F 04 01"), classes=registry(Thing))
    assert thing.go() == "went"


def test_a_declared_attribute_that_an_instance_lacks_is_undefined(codec):
    assert codec.dumps(Slotted.__new__(Slotted), classes=registry(Slotted)) == H("0A 23 03 43 03 61 03 62 00 00")


def test_a_base_comes_before_its_child(codec):
    class Base:
        a: int = 1

    class Child(Base):
        b: int = 2

    assert codec.dumps(Child(), classes=registry(Child)) == H("0A 23 03 43 03 61 03 62 04 01 04 02")


def test_slots_of_base_and_child(codec):
    class Base:
        __slots__ = ("a",)

    class Child(Base):
        __slots__ = "b"

    child = Child()
    child.a, child.b = 1, 2
    assert codec.dumps(child, classes=registry(Child)) == H("0A 23 03 43 03 61 03 62 04 01 04 02")


def test_a_child_of_a_registered_class_is_not_registered(codec):
    class Child(Plain):
        pass

    with pytest.raises(EncodeError, match="cannot encode Child"):
        codec.dumps(Child(1, 2), classes=registry(Plain))


def test_a_list_subclass_cannot_be_registered():
    with pytest.raises(TypeError, match="Items is a list: it travels as that, not as an object"):
        ClassRegistry().register(type("Items", (list,), {}), "C")


def test_class_variables_do_not_travel(codec):
    class Thing:
        a: int = 1
        shared: typing.ClassVar[int] = 2

    assert codec.dumps(Thing(), classes=registry(Thing)) == H("0A 13 03 43 03 61 04 01")


# --- rename, exclude, readonly, dynamic ------------------------------------------------------------------------------


@dataclasses.dataclass
class Priced:
    unit_price: object = None


@pytest.mark.parametrize("rename", ["camel", {"unit_price": "unitPrice"}, lambda name: "unitPrice"])
def test_rename_changes_the_name_on_the_wire_both_ways(codec, rename):
    data = H("0A 13 03 43 13") + b"unitPrice" + H("04 05")
    classes = registry(Priced, rename=rename)
    assert (codec.dumps(Priced(5), classes=classes), codec.loads(data, classes=classes)) == (data, Priced(5))


def test_the_python_name_is_no_longer_a_member(codec):
    data = H("0A 13 03 43 15") + b"unit_price" + H("04 05")
    assert codec.loads(data, classes=registry(Priced, rename="camel")) == Priced(None)


def test_what_is_excluded_is_not_sent(codec):
    assert codec.dumps(Data(1, 2), classes=registry(Data, exclude=["b"])) == H("0A 13 03 43 03 61 04 01")


def test_what_is_excluded_is_not_taken(codec):
    value = codec.loads(H(AMF3), classes=registry(Data, exclude=["b"]))
    assert value == Data(1, None)


def test_what_is_read_only_is_sent(codec):
    assert codec.dumps(Data(1, "x"), classes=registry(Data, readonly=["b"])) == H(AMF3)


@pytest.mark.parametrize("cls", [Plain, Slotted, Data, Attrs, Model, Struct])
def test_what_is_read_only_is_not_taken(codec, cls):
    value = codec.loads(H(AMF3), classes=registry(cls, readonly=["b"]))
    assert (value.a, value.b) == (1, None)


def test_a_dynamic_class_sends_other_attributes_behind_its_traits(codec):
    value = Plain(1, 2)
    value.c = 3
    assert codec.dumps(value, classes=registry(Plain, dynamic=True)) == H(
        "0A 2B 03 43 03 61 03 62 04 01 04 02 03 63 04 03 01"
    )


@pytest.mark.parametrize("cls", [Plain, Data])
def test_a_dynamic_class_takes_other_attributes(codec, cls):
    data = H("0A 2B 03 43 03 61 03 62 04 01 04 02 03 63 04 03 01")
    assert codec.loads(data, classes=registry(cls, dynamic=True)).c == 3


# --- errors ----------------------------------------------------------------------------------------------------------


def test_a_property_without_setter_that_a_client_sends_is_dropped(codec):
    class Thing:
        a: int

        @property
        def total(self):
            return 5

    value = codec.loads(H("0A 23 03 43 03 61 0B 746F74616C 04 01 04 09"), classes=registry(Thing))
    assert (value.a, value.total) == (1, 5)


@pytest.mark.parametrize(("version", "data", "offset"), [(3, "09 03 01 " + AMF3, 3), (0, "0A 00000001" + AMF0, 5)])
def test_a_setter_that_refuses_is_a_decode_error_at_the_object(codec, version, data, offset):
    class Thing:
        a: int

        def __setattr__(self, name, value):
            raise ValueError("too small")

    with pytest.raises(DecodeError) as caught:
        codec.loads(H(data), version=version, classes=registry(Thing))
    assert (caught.value.offset, caught.value.message.split(" ", 1)[1]) == (
        offset,
        "('C') could not be filled: ValueError: too small",
    )


@pytest.mark.parametrize(("version", "data"), [(3, AMF3), (0, AMF0)])
@pytest.mark.parametrize("kind", ["new", "abstract"])
def test_a_class_that_cannot_be_allocated_is_a_decode_error(codec, version, data, kind):
    class NeedsArgument:
        def __new__(cls, argument):
            return object.__new__(cls)

    class Abstract(abc.ABC):
        @abc.abstractmethod
        def go(self): ...

    cls = NeedsArgument if kind == "new" else Abstract
    with pytest.raises(DecodeError, match="could not be filled: TypeError") as caught:
        codec.loads(H(data), version=version, classes=registry(cls))
    assert caught.value.offset == 0


def test_an_error_without_a_text_is_a_decode_error_all_the_same(codec):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    class Thing:
        a: int

        def __setattr__(self, name, value):
            raise Mute

    with pytest.raises(DecodeError, match=r"could not be filled: Mute: \(its text cannot be had\)"):
        codec.loads(H(AMF3), classes=registry(Thing))


@pytest.mark.parametrize(("version", "data"), [(3, AMF3), (0, AMF0)])
def test_the_cause_is_kept(codec, version, data):
    class Thing:
        a: int

        def __setattr__(self, name, value):
            raise ValueError("too small")

    with pytest.raises(DecodeError) as caught:
        codec.loads(H(data), version=version, classes=registry(Thing))
    assert type(caught.value.__cause__) is ValueError


def test_defaults_count_as_values(codec):
    limits = amfgate.Limits(max_values=4)
    with pytest.raises(DecodeError, match="more than 4 values"):
        codec.loads(H("09 05 01 0A 0B 03 43 01 0A 01 01"), classes=registry(DataDefaults), limits=limits)


def test_as_many_values_as_allowed_with_defaults(codec):
    limits = amfgate.Limits(max_values=7)  # the list, two instances, two defaults each
    assert len(codec.loads(H("09 05 01 0A 0B 03 43 01 0A 01 01"), classes=registry(DataDefaults), limits=limits)) == 2


def test_classes_none_is_the_process_wide_registry(codec):
    class Thing:
        a: int = 1

    amfgate.remote_class("tests.codec.Thing")(Thing)
    try:
        assert codec.dumps(Thing()) == H("0A 13 23") + b"tests.codec.Thing" + H("03 61 04 01")
    finally:
        amfgate.classes.default_registry.unregister(Thing)


def test_a_registration_is_seen_by_an_encoder_that_met_the_class_before(codec):
    classes = ClassRegistry()
    codec.dumps(Data(1, "x"), classes=classes)
    classes.register(Data, "C")
    assert codec.dumps(Data(1, "x"), classes=classes) == H(AMF3)


def test_instances_share_traits(codec):
    assert codec.dumps([Data(1, "x"), Data(2, "x")], classes=registry(Data)) == H(
        "09 05 01" + AMF3 + "0A 01 04 02 06 06"
    )


# --- instances are allocated, then filled ----------------------------------------------------------------------------


@dataclasses.dataclass
class DataNode:
    next: object


@dataclasses.dataclass(frozen=True)
class FrozenNode:
    next: object


@attrs.frozen
class AttrsNode:
    next: object


class ModelNode(pydantic.BaseModel):
    next: typing.Any


class StructNode(msgspec.Struct, frozen=True, weakref=True):
    next: object

    def __post_init__(self):
        raise AssertionError("called")


class SlotNode:
    __slots__ = ("next",)


NODES = [DataNode, FrozenNode, AttrsNode, ModelNode, StructNode, SlotNode]


@pytest.mark.parametrize("cls", NODES)
@pytest.mark.parametrize(
    ("version", "data"), [(3, "0A 13 03 43 09 6E657874 0A 00"), (0, "10 0001 43 0004 6E657874 07 0000 000009")]
)
def test_an_instance_of_any_kind_can_hold_itself(codec, cls, version, data):
    value = codec.loads(H(data), version=version, classes=registry(cls))
    assert value.next is value


@pytest.mark.parametrize("cls", [FrozenNode, AttrsNode, DataNode, StructNode])
def test_a_cycle_is_written_as_it_came(codec, cls):
    data, classes = H("0A 13 03 43 09 6E657874 0A 00"), registry(cls)
    assert codec.dumps(codec.loads(data, classes=classes), classes=classes) == data


def test_a_cycle_of_structs_is_collected(codec):
    value = codec.loads(H("0A 13 03 43 09 6E657874 0A 00"), classes=registry(StructNode))
    seen = weakref.ref(value)
    del value
    gc.collect()
    assert seen() is None


def test_a_pydantic_model_knows_which_members_were_set(codec):
    value = codec.loads(H("0A 13 03 43 03 61 04 01"), classes=registry(ModelDefaults))
    assert value.model_fields_set == {"a"}


@pytest.mark.parametrize("inherited", [False, True])
@pytest.mark.parametrize(
    ("version", "data"), [(3, "0A 13 03 43 03 61 04 01"), (0, "10 0001 43 0001 61 00 3FF0000000000000 000009")]
)
def test_a_property_in_the_place_of_a_field_is_set_through_its_setter(codec, version, data, inherited):
    @dataclasses.dataclass
    class Thing:
        a: object

    Thing.a = property(lambda self: self._a, lambda self, value: vars(self).update(_a=[value]))
    cls = type("Child", (Thing,), {}) if inherited else Thing
    assert codec.loads(H(data), version=version, classes=registry(cls)).a == [1]


def test_a_setattr_of_the_class_sees_every_member(codec):
    seen = []

    @dataclasses.dataclass
    class Thing:
        a: object = None

        def __setattr__(self, name, value):
            seen.append((name, value))
            object.__setattr__(self, name, value)

    codec.loads(H("0A 13 03 43 03 61 04 01"), classes=registry(Thing))
    assert seen == [("a", 1)]


@pytest.mark.parametrize(("version", "data"), [(3, "0A 13 03 43 03 61 04 01"), (0, "10 0001 43 0001 61 05 000009")])
def test_new_of_a_dataclass_is_called(codec, version, data):
    @dataclasses.dataclass
    class Thing:
        a: object = None

        def __new__(cls):
            instance = object.__new__(cls)
            vars(instance)["made"] = True
            return instance

    assert codec.loads(H(data), version=version, classes=registry(Thing)).made


@pytest.mark.parametrize(("version", "data"), [(3, "0A 13 03 43 03 61 04 01"), (0, "10 0001 43 0001 61 05 000009")])
def test_an_abstract_dataclass_is_not_made(codec, version, data):
    @dataclasses.dataclass
    class Thing(abc.ABC):
        a: object = None

        @abc.abstractmethod
        def go(self): ...

    with pytest.raises(DecodeError, match="could not be filled: TypeError: Can't instantiate abstract class Thing"):
        codec.loads(H(data), version=version, classes=registry(Thing))
