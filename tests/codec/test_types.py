"""The types of values that Python has none for, and the registry: what they are without any codec."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

import amfgate
from amfgate import ClassRegistry, Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml, invalid_date, undefined

VALUES = [
    (undefined, "amfgate.undefined"),
    (invalid_date, "amfgate.invalid_date"),
    (Xml("<a/>", legacy=True), "Xml('<a/>', legacy=True)"),
    (
        TypedObject("A", {"x": 1}, sealed=["x"], dynamic=True),
        "TypedObject('A', {'x': 1}, sealed=('x',), dynamic=True)",
    ),
    (EcmaArray({0: 1, "a": 2}, count=1), "EcmaArray({0: 1, 'a': 2}, count=1)"),
    (Vector("object", [1], fixed=True, alias="A"), "Vector('object', [1], fixed=True, alias='A')"),
    (Dictionary([(1, 2)], weak=True), "Dictionary([(1, 2)], weak=True)"),
    (Rows(["a"], [(1,)], "R"), "Rows(['a'], [(1,)], alias='R')"),
]


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_a_repr_says_all(value, text):
    assert repr(value) == text


def test_a_dictionary_that_contains_itself_has_a_repr():
    value = Dictionary()
    value["me"] = value
    assert repr(value) == "Dictionary([('me', ...)])"


@pytest.mark.parametrize(("value", "text"), VALUES)
@pytest.mark.parametrize("again", [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy])
def test_nothing_is_lost_by_pickling_and_copying(value, text, again):
    assert (type(again(value)), repr(again(value))) == (type(value), text)


@pytest.mark.parametrize("value", [undefined, invalid_date])
def test_there_is_one_of_each_and_it_is_false(value):
    assert (type(value)() is value, pickle.loads(pickle.dumps(value)) is value, bool(value)) == (True, True, False)


@pytest.mark.parametrize("value", [TypedObject("A", {"x": 1}), EcmaArray({"x": 1}), Vector("int", [1])])
def test_copy_keeps_the_type(value):
    assert repr(value.copy()) == repr(value)


def test_typed_objects_of_two_classes_differ():
    assert (TypedObject("A") == TypedObject("B"), TypedObject("A") != TypedObject("B")) == (False, True)


def test_a_typed_object_equals_a_dict_of_its_members():
    assert TypedObject("A", {"x": 1}) == {"x": 1}


def test_vectors_of_two_kinds_differ():
    assert (Vector("int", [1]) == Vector("uint", [1]), Vector("int", [1]) != Vector("uint", [1])) == (False, True)


def test_a_vector_equals_a_list_of_its_items():
    assert Vector("int", [1]) == [1]


def test_a_vectors_kind_is_one_of_four():
    with pytest.raises(ValueError, match="a Vector's kind is one of int, uint, double, object, not 'float'"):
        Vector("float")


def test_a_dictionary_finds_a_key_by_type_and_value():
    value = Dictionary([(1, "int"), (True, "bool"), (1.0, "float")])
    assert (value[1], value[True], value[1.0], len(value)) == ("int", "bool", "float", 3)


def test_a_dictionary_finds_what_cannot_be_hashed_by_identity():
    key: list = []
    value = Dictionary([(key, 1)])
    assert (value[key], key in value, [] in value) == (1, True, False)


@pytest.mark.parametrize(
    "act", [lambda value: value["b"], lambda value: value.pop("b"), lambda value: value.__delitem__("b")]
)
def test_a_key_that_a_dictionary_has_not_is_a_key_error(act):
    with pytest.raises(KeyError, match="'b'"):
        act(Dictionary({"a": 1}))


def test_a_dictionary_is_no_dict():
    assert (Dictionary({"a": 1}) == {"a": 1}, Dictionary({"a": 1}) == Dictionary({"a": 1})) == (False, True)


# --- the registry -----------------------------------------------------------------------------------------------------


class Thing:
    a: int
    b_c: int


class Other:
    pass


def test_one_alias_for_two_classes_is_an_error():
    classes = ClassRegistry()
    classes.register(Thing, "T")
    with pytest.raises(ValueError, match=r"the alias 'T' belongs to .*\.Thing already"):
        classes.register(Other, "T")


def test_two_aliases_for_one_class_are_an_error():
    classes = ClassRegistry()
    classes.register(Thing, "T")
    with pytest.raises(ValueError, match="Thing is registered as 'T' already"):
        classes.register(Thing, "U")


def test_a_class_may_be_registered_again_as_the_same():
    classes = ClassRegistry()
    classes.register(Thing, "T")
    classes.register(Thing, "T", exclude=["a"])
    assert list(classes) == [Thing]


@pytest.mark.parametrize("alias", ["", None, 5])
def test_an_alias_is_a_text_that_is_not_empty(alias):
    with pytest.raises(ValueError, match="an alias is a text that is not empty"):
        ClassRegistry().register(Thing, alias)


def test_remote_class_without_its_alias_is_an_error_at_once():
    with pytest.raises(TypeError, match=r'remote_class needs the alias of the class: @amfgate.remote_class\("com'):
        amfgate.remote_class(Other)


@pytest.mark.parametrize("cls", [str, bytes, int, float, list, set, type("Sub", (list,), {})])
def test_what_has_a_form_of_its_own_cannot_be_an_object(cls):
    with pytest.raises(TypeError, match="it travels as that, not as an object"):
        ClassRegistry().register(cls, "T")


def test_an_instance_is_no_class():
    with pytest.raises(TypeError, match=r"register\(\) takes a class, not"):
        ClassRegistry().register(Thing(), "T")


@pytest.mark.parametrize("option", ["exclude", "readonly"])
def test_a_member_that_there_is_not_is_an_error(option):
    with pytest.raises(ValueError, match=f"{option}: Thing has no member 'x'; it declares a, b_c"):
        ClassRegistry().register(Thing, "T", **{option: ["x"]})


def test_two_members_of_one_name_on_the_wire_are_an_error():
    with pytest.raises(ValueError, match="two members of Thing have one name on the wire: x, x"):
        ClassRegistry().register(Thing, "T", rename=lambda name: "x")


def test_a_rename_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="rename is \"camel\", a function or a mapping, not 'snake'"):
        ClassRegistry().register(Thing, "T", rename="snake")


@pytest.mark.parametrize("missing", ["__readamf__", "__writeamf__"])
def test_an_externalizable_has_both_methods(missing):
    methods = {name: lambda self, stream: None for name in ("__readamf__", "__writeamf__") if name != missing}
    with pytest.raises(TypeError, match=f"is to be externalizable and has no {missing}"):
        ClassRegistry().register(type("X", (), methods), "T", external=True)


def test_what_is_unregistered_is_unknown():
    classes = ClassRegistry()
    classes.register(Thing, "T")
    classes.unregister(Thing)
    assert (Thing in classes, classes.plan_for("T")) == (False, None)


class Named(typing.NamedTuple):
    a: int


@pytest.mark.parametrize("value", [1, "a", {}, [], None, Thing(), Named(1), TypedObject()])
def test_plain_data_has_no_alias(value):
    assert amfgate.alias_of(value) is None


def test_the_alias_of_a_typed_object():
    assert amfgate.alias_of(TypedObject("A")) == "A"


def test_the_alias_of_a_collection():
    from amfgate.flex import ArrayCollection

    assert amfgate.alias_of(ArrayCollection()) == "flex.messaging.io.ArrayCollection"
