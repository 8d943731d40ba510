"""Exceptions that are meant for the caller: `Gateway(faults=...)`, root causes, extended data."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flex_client import remoting
from wsgi_client import call, packet, post

from amfgate import Body, ClassRegistry, EncodeError, Fault, Gateway, Packet, TypedObject
from amfgate.pipeline import Exchange

UNEXPECTED = "The call failed; the log of the server says why."


class SoldOut(Exception):
    def __init__(self, product: int) -> None:
        super().__init__(f"number {product} is gone")
        self.product = product


class Reserved(SoldOut):
    pass


class Closed(Fault):
    """A fault of the shop's own: what every Fault has, and an hour."""

    def __init__(self, until: int) -> None:
        super().__init__("Shop.Closed", "come later", extended_data={"days": 2})
        self.until = until


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[[], None]:
    def fail() -> None:
        if cause is not None:
            raise error from cause
        raise error

    return fail


def told(error: BaseException, faults: Any = None, cause: BaseException | None = None, **options: Any) -> Any:
    """The error object of a plain reply to a call that raises `error`."""
    app = Gateway(None, {"fail": raising(error, cause)}, faults=faults, **options)
    (body,) = call(app, "fail").bodies
    assert body.target == "/1/onStatus"
    return body.value


def code_and_text(error: BaseException, faults: Any, **options: Any) -> tuple[str, str]:
    value = told(error, faults, **options)
    assert (value["faultCode"], value["faultString"]) == (value["code"], value["description"])
    return value["code"], value["description"]


@pytest.fixture
def classes() -> ClassRegistry:
    registry = ClassRegistry()
    registry.register(SoldOut, "com.shop.SoldOut")
    registry.register(Closed, "com.shop.Closed")
    return registry


# What is told


def test_a_code_tells_the_text_of_the_exception() -> None:
    assert code_and_text(SoldOut(3), {SoldOut: "Shop.SoldOut"}) == ("Shop.SoldOut", "number 3 is gone")


def test_a_pair_tells_its_own_text() -> None:
    error = PermissionError(13, "Permission denied", "/etc/shadow")
    assert code_and_text(error, {PermissionError: ("Client.Authorization", "not here")}) == (
        "Client.Authorization",
        "not here",
    )


def test_an_exception_without_text_has_an_empty_description() -> None:
    assert code_and_text(LookupError(), {LookupError: "None"}) == ("None", "")


def test_a_missing_key_is_told_without_the_quotes_of_its_repr() -> None:
    assert code_and_text(KeyError("left shoe"), {LookupError: "No"}) == ("No", "left shoe")
    assert code_and_text(KeyError(7), {LookupError: "No"}) == ("No", "7")
    assert code_and_text(KeyError("a", "b"), {LookupError: "No"}) == ("No", "('a', 'b')")


def test_a_class_of_keyerrors_with_words_of_its_own_has_them_told() -> None:
    class Missing(KeyError):
        def __str__(self) -> str:
            return f"no {self.args[0]}"

    assert code_and_text(Missing("shoe"), {KeyError: "No"}) == ("No", "no shoe")


def test_an_exception_whose_text_cannot_be_had_is_told_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert code_and_text(Mute(), {Mute: "Mute"}) == ("Mute", "(its text cannot be had)")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (Fault("Shop.Gone", "for good"), ("Shop.Gone", "for good")),
        ("Shop.Gone", ("Shop.Gone", "number 3 is gone")),
        (("Shop.Gone", "sorry"), ("Shop.Gone", "sorry")),
        (None, ("Server.Processing", UNEXPECTED)),
    ],
)
def test_a_function_gives_a_fault_a_code_a_pair_or_nothing(made: Any, expected: tuple[str, str]) -> None:
    seen: list[Any] = []

    def make(error: SoldOut) -> Any:
        seen.append(error.product)
        return made

    assert code_and_text(SoldOut(3), {SoldOut: make}) == expected
    assert seen == [3]


def test_a_fault_that_a_function_makes_is_told_whole() -> None:
    def make(error: SoldOut) -> Fault:
        return Fault("A", "b", details="c", root_cause="d", extended_data=[error.product])

    assert told(SoldOut(3), {SoldOut: make}) == {
        "code": "A",
        "level": "error",
        "description": "b",
        "details": "c",
        "type": "Fault",
        "rootcause": "d",
        "faultCode": "A",
        "faultString": "b",
        "faultDetail": "c",
        "extendedData": [3],
    }


@pytest.mark.parametrize("wrong", [5, "", ("a", 5), b"code"])
def test_a_function_that_gives_something_else_is_logged_and_tells_nothing(
    wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert code_and_text(SoldOut(3), {SoldOut: lambda error: wrong}) == ("Server.Processing", UNEXPECTED)
    assert "faults: SoldOut could not be made a fault: " in caplog.text
    assert "the function for SoldOut gave" in caplog.text


def test_a_function_that_raises_is_logged_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def make(error: SoldOut) -> Fault:
        raise ZeroDivisionError("secret")

    assert code_and_text(SoldOut(3), {SoldOut: make}) == ("Server.Processing", UNEXPECTED)
    assert "faults: SoldOut could not be made a fault: ZeroDivisionError: secret" in caplog.text
    assert "fail failed: Server.Processing" in caplog.text


class Forgetful(Fault):
    """It does not call `Fault.__init__`: it has no code and no description."""

    def __init__(self, product: int) -> None:
        self.product = product


class Unlucky(Exception):
    @property
    def extended_data(self) -> Any:
        raise ZeroDivisionError("secret")


@pytest.mark.parametrize("flex", [False, True])
@pytest.mark.parametrize("error", [Forgetful(3), Unlucky("gone")], ids=["forgetful", "unlucky"])
def test_an_exception_that_cannot_be_told_is_a_fault_of_its_own_call_alone(
    error: Exception, flex: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "amfgate")
    app = Gateway(None, {"fail": raising(error), "fine": lambda: "fine"}, faults={Unlucky: "A.Code"})
    failing = Body("null", "/2", [remoting("fail", destination=None)]) if flex else Body("fail", "/2", [])
    reply = post(app, Packet(3, [], [Body("fine", "/1", []), failing, Body("fine", "/3", [])]).to_bytes())
    first, fault, last = reply.bodies
    assert (first.value, last.value) == ("fine", "fine")
    assert (fault.target, fault.value["faultCode"], fault.value["faultString"]) == (
        "/2/onStatus",
        "Server.Processing",
        UNEXPECTED,
    )
    assert flex == isinstance(fault.value, TypedObject)
    assert "AttributeError" in caplog.text or "ZeroDivisionError: secret" in caplog.text


# Which entry counts


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyError("k"), "Key"),
        (IndexError("i"), "Lookup"),
        (Reserved(1), "SoldOut"),
        (FileNotFoundError("f"), "Any"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_nearest_class_counts_whatever_the_order_of_the_entries(error: Exception, code: str, turned: bool) -> None:
    entries = [(Exception, "Any"), (LookupError, "Lookup"), (KeyError, "Key"), (SoldOut, "SoldOut")]
    faults = dict(reversed(entries)) if turned else dict(entries)
    assert code_and_text(error, faults)[0] == code


def test_what_has_no_entry_stays_untold() -> None:
    assert code_and_text(ValueError("secret"), {LookupError: "No"}) == ("Server.Processing", UNEXPECTED)


def test_a_fault_is_told_as_it_is_whatever_the_mapping_says_of_exceptions() -> None:
    assert code_and_text(Fault("Mine", "text"), {Exception: "Any"}) == ("Mine", "text")


def test_debug_leaves_what_is_mapped_as_it_is_and_shows_the_rest() -> None:
    value = told(SoldOut(3), {SoldOut: "Shop.SoldOut"}, debug=True)
    assert (value["code"], value["details"]) == ("Shop.SoldOut", "")
    value = told(ValueError("secret"), {SoldOut: "Shop.SoldOut"}, debug=True)
    assert (value["code"], value["description"]) == ("Server.Processing", "ValueError: secret")
    assert "Traceback" in value["details"]


def test_a_mapped_exception_is_logged_as_a_fault_is(caplog: pytest.LogCaptureFixture) -> None:
    told(SoldOut(3), {SoldOut: "Shop.SoldOut"})
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "fail failed: Shop.SoldOut: number 3 is gone"
    assert record.exc_info is not None and record.exc_info[0] is SoldOut
    assert "Traceback (most recent call last)" in caplog.text


def test_a_result_that_fails_while_it_is_written_is_mapped_too() -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise SoldOut(4)

    app = Gateway(None, {"rows": rows}, faults={SoldOut: "Shop.SoldOut"})
    value = call(app, "rows").value
    assert (value["code"], value["description"]) == ("Shop.SoldOut", "number 4 is gone")


def test_an_entry_for_encodeerror_means_what_cannot_be_written_whatever_the_reason() -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError("secret")

    app = Gateway(None, {"rows": rows, "thing": lambda: object()}, faults={EncodeError: ("Shop.Unwritten", "call us")})
    for target in ("rows", "thing"):
        value = call(app, target).value
        assert (value["code"], value["description"]) == ("Shop.Unwritten", "call us")


def test_a_fault_that_a_result_raises_while_it_is_written_is_told() -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise Fault("Shop.Closed", "at noon")

    app = Gateway(None, {"rows": rows})
    for version in (0, 3):
        value = call(app, "rows", version=version).value
        assert (value["code"], value["description"]) == ("Shop.Closed", "at noon")


def test_a_result_that_cannot_be_encoded_is_no_valueerror_to_the_mapping() -> None:
    def cannot() -> Any:
        return [object()]

    value = call(Gateway(None, {"cannot": cannot}, faults={ValueError: "Client.Value"}), "cannot").value
    assert (value["code"], value["description"]) == ("Server.Processing", UNEXPECTED)
    value = call(Gateway(None, {"cannot": cannot}, faults={EncodeError: ("Server.Encoding", "no")}), "cannot").value
    assert (value["code"], value["description"]) == ("Server.Encoding", "no")


def test_what_a_filter_raises_is_mapped_for_each_call() -> None:
    def closed(exchange: Exchange) -> None:
        raise SoldOut(5)

    from amfgate.gateway import default_filters

    filters = default_filters()
    filters.insert(1, closed)
    app = Gateway(None, {"f": len}, filters=filters, faults={SoldOut: "Shop.SoldOut"})
    assert post(app, packet(("f", ["a"]), ("f", ["b"]))).codes == ["Shop.SoldOut"] * 2


def test_a_flex_client_reads_code_text_and_extended_data(classes: ClassRegistry) -> None:
    class Short(SoldOut):
        extended_data = ("left", 0)

    app = Gateway(None, {"shop.fail": raising(Short(3))}, faults={SoldOut: "Shop.SoldOut"}, classes=classes)
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "shop", "operation": "fail", "body": [], "messageId": "A"},
    )
    value = post(app, Packet(3, [], [Body("null", "/1", [message])]).to_bytes()).value
    assert value.alias == "flex.messaging.messages.ErrorMessage"
    assert (value["faultCode"], value["faultString"]) == ("Shop.SoldOut", "number 3 is gone")
    assert value["extendedData"] == ["left", 0]
    assert value["rootCause"] is None  # Short is not registered, and SoldOut is another class


def test_a_flex_client_reads_the_root_cause_as_a_typed_object(classes: ClassRegistry) -> None:
    app = Gateway(None, {"shop.fail": raising(SoldOut(3))}, faults={SoldOut: "Shop.SoldOut"}, classes=classes)
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "shop", "operation": "fail", "body": [], "messageId": "A"},
    )
    reply = post(app, Packet(3, [], [Body("null", "/1", [message])]).to_bytes())
    # one sealed member; the alias; product; 3 as an integer
    assert bytes.fromhex("0a 13 21 636f6d2e73686f702e536f6c644f7574 0f 70726f64756374 04 03") in reply.data
    assert reply.value["rootCause"] == TypedObject("com.shop.SoldOut", {"product": 3})


# Extended data


def test_an_attribute_of_the_exception_is_the_extended_data() -> None:
    error = SoldOut(3)
    error.extended_data = {"left": 0}  # type: ignore[attr-defined]
    assert told(error, {SoldOut: "S"})["extendedData"] == {"left": 0}
    assert told(error, {SoldOut: ("S", "text")})["extendedData"] == {"left": 0}
    assert "extendedData" not in told(SoldOut(3), {SoldOut: "S"})


# Root causes


AMF0_SOLD_OUT = "0009 726f6f746361757365  10 0010 636f6d2e73686f702e536f6c644f7574  0007 70726f64756374"
AMF0_THREE = "00 4008000000000000  000009"


def test_a_registered_exception_is_the_root_cause_as_a_typed_object(classes: ClassRegistry) -> None:
    app = Gateway(None, {"fail": raising(SoldOut(3))}, faults={SoldOut: "Shop.SoldOut"}, classes=classes)
    # rootcause, an object of the class com.shop.SoldOut with its one member, product, 3
    assert bytes.fromhex(AMF0_SOLD_OUT + AMF0_THREE) in call(app, "fail").data
    # in AMF3: a string of 9 bytes; traits 13: one sealed member, not dynamic; the alias; product; 3 as an integer
    amf3 = "13 726f6f746361757365  0a 13 21 636f6d2e73686f702e536f6c644f7574 0f 70726f64756374 04 03"
    assert bytes.fromhex(amf3) in call(app, "fail", version=3).data


def test_a_fault_raised_from_a_registered_exception_has_it_as_the_root_cause(classes: ClassRegistry) -> None:
    app = Gateway(None, {"fail": raising(Fault("Any", "text"), SoldOut(3))}, classes=classes)
    assert bytes.fromhex(AMF0_SOLD_OUT + AMF0_THREE) in call(app, "fail").data


def test_a_registered_fault_is_its_own_root_cause_with_what_is_its_own(classes: ClassRegistry) -> None:
    app = Gateway(None, {"fail": raising(Closed(9))}, classes=classes)
    reply = call(app, "fail")
    # com.shop.Closed with until alone: code, description and the others are the fault's
    until = (
        "0009 726f6f746361757365  10 000f 636f6d2e73686f702e436c6f736564  0005 756e74696c 00 4022000000000000 000009"
    )
    assert bytes.fromhex(until) in reply.data
    assert (reply.value["code"], reply.value["type"]) == ("Shop.Closed", "Closed")
    assert reply.value["extendedData"] == {"days": 2}
    amf3 = "13 726f6f746361757365  0a 13 1f 636f6d2e73686f702e436c6f736564 0b 756e74696c 04 09"
    assert bytes.fromhex(amf3) in call(app, "fail", version=3).data


def test_a_registered_fault_that_declares_a_member_of_its_name_sends_it() -> None:
    class Coded(Fault):
        code: str

    classes = ClassRegistry()
    classes.register(Coded, "C")
    app = Gateway(None, {"fail": raising(Coded("x", "y"))}, classes=classes)
    # rootcause, C with code "x"
    assert bytes.fromhex("726f6f746361757365 10 0001 43 0004 636f6465 02 0001 78 000009") in call(app, "fail").data


def test_a_root_cause_that_was_given_comes_before_a_registered_one(classes: ClassRegistry) -> None:
    assert told(Fault("A", root_cause="mine"), cause=SoldOut(3), classes=classes)["rootcause"] == "mine"


@pytest.mark.parametrize("error", [Fault("A", "b"), SoldOut(3)])
def test_an_exception_of_no_registered_class_is_no_root_cause(error: Exception) -> None:
    value = told(error, {SoldOut: "S"}, cause=OSError("secret"), classes=ClassRegistry())
    assert value["rootcause"] is None


def test_a_registered_exception_that_is_not_mapped_does_not_leave(classes: ClassRegistry) -> None:
    value = told(SoldOut(3), classes=classes)
    assert (value["code"], value["rootcause"]) == ("Server.Processing", None)


def test_what_was_being_handled_is_no_cause(classes: ClassRegistry) -> None:
    def fail() -> None:
        try:
            raise SoldOut(3)
        except SoldOut:
            raise Fault("A") from None

    def fail_too() -> None:
        try:
            raise SoldOut(3)
        except SoldOut:
            raise Fault("A")  # noqa: B904 (that it is not said to be the cause is the point)

    app = Gateway(None, {"a": fail, "b": fail_too}, classes=classes)
    assert [body.value["rootcause"] for body in post(app, packet(("a", []), ("b", []))).bodies] == [None, None]


def test_a_root_cause_that_cannot_be_encoded_is_left_out(classes: ClassRegistry) -> None:
    error = SoldOut(3)
    error.product = object()  # type: ignore[assignment]
    value = told(error, {SoldOut: "Shop.SoldOut"}, classes=classes)
    assert (value["code"], value["description"], value["rootcause"]) == ("Shop.SoldOut", "number 3 is gone", None)


def test_a_fault_raised_again_and_again_is_left_as_it_was(classes: ClassRegistry) -> None:
    fault = Closed(9)
    for _ in range(2):
        told(fault, classes=classes)
    assert (fault.root_cause, fault.__cause__) == (None, None)


def test_one_fault_for_all_calls_has_the_cause_of_each(classes: ClassRegistry) -> None:
    fault = Fault("Shop.SoldOut", "gone")
    app = Gateway(
        None,
        {"a": raising(SoldOut(1)), "b": raising(SoldOut(2))},
        faults={SoldOut: lambda error: fault},
        classes=classes,
    )
    for target, product in (("a", 1), ("b", 2)):
        assert call(app, target).value["rootcause"] == TypedObject("com.shop.SoldOut", {"product": product})
    assert fault.__cause__ is None


# What is refused when the gateway is made


@pytest.mark.parametrize(
    ("faults", "error", "text"),
    [
        ([KeyError], TypeError, r"faults is a mapping of exceptions to codes, .*, not \[<class 'KeyError'>\]"),
        ({"KeyError": "A"}, TypeError, "faults: 'KeyError' is no class of exceptions, such as KeyError"),
        ({int: "A"}, TypeError, "faults: <class 'int'> is no class of exceptions"),
        ({KeyError("a"): "A"}, TypeError, "is no class of exceptions"),
        ({KeyboardInterrupt: "A"}, TypeError, "faults: KeyboardInterrupt is no Exception"),
        ({BaseException: "A"}, TypeError, "faults: BaseException is no Exception"),
        ({Fault: "A"}, TypeError, "faults: Fault is a Fault, which is told as it is; leave it out"),
        ({Closed: "A"}, TypeError, "faults: Closed is a Fault"),
        ({KeyError: 5}, TypeError, "faults: KeyError has 5; it has to be a code"),
        ({KeyError: None}, TypeError, "faults: KeyError has None; it has to be a code"),
        ({KeyError: ("A", 5)}, TypeError, "faults: KeyError has"),
        ({KeyError: ("A", "b", "c")}, TypeError, "faults: KeyError has"),
        ({KeyError: ""}, ValueError, "faults: KeyError has an empty code"),
        ({KeyError: ("", "b")}, ValueError, "faults: KeyError has an empty code"),
        ({KeyError: Fault("A", "b")}, TypeError, r"give its code and description, \('A', 'b'\), or a function"),
    ],
)
def test_an_entry_that_could_not_be_used_is_an_error_at_once(faults: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Gateway(None, {}, faults=faults)


def test_the_mapping_is_copied() -> None:
    faults: dict[Any, Any] = {KeyError: "A"}
    app = Gateway(None, {"fail": raising(IndexError("x"))}, faults=faults)
    faults[IndexError] = "B"
    assert call(app, "fail").codes == ["Server.Processing"]
