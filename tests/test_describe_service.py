"""The header DescribeService: services as the authoring tools of Flash ask for them."""

from __future__ import annotations

from typing import Any

import pytest
from wsgi_client import call, packet, post

import amfgate
from amfgate import Body, Call, Gateway, Header, Packet, ServiceRegistry, TypedObject
from amfgate.actions import adapt, bind, find, invoke

ASKED = [Header("DescribeService", 0)]


class Catalog:
    def page(self, number: int, size: int = 20) -> list[str]:
        """A page of the catalog."""
        return ["page"] * number

    @amfgate.requires()
    def order(self, number: int) -> None:
        """Buys a thing."""

    @amfgate.requires("editor")
    def remove(self, number: int, /, *others: int) -> None: ...


class Shop:
    def open(self, call: Call, exchange: amfgate.Exchange | None = None) -> bool:
        return True


def hello(name: Any) -> str:
    return f"hello {name}"


SERVICES = {"catalog": Catalog(), "com.shop": Shop(), "com.shop.basket": Shop(), "math.add": hello, "hello": hello}
PAGE = {
    "name": "page",
    "description": "A page of the catalog.",
    "version": "1.0",
    "returns": "list[str]",
    "arguments": [
        {"name": "number", "required": True, "type": "int", "description": ""},
        {"name": "size", "required": False, "type": "int", "description": ""},
    ],
}


def check(userid: str, password: str) -> Any:
    return {"name": userid, "roles": [password]}


def gateway(**options: Any) -> Gateway:
    return Gateway(None, SERVICES, **options)


def names(app: Gateway, target: str, *headers: Header) -> list[str]:
    """The address and the names of the functions."""
    value = call(app, target, headers=[*ASKED, *headers]).value
    return [value["address"], *(function["name"] for function in value["functions"])]


@pytest.mark.parametrize("version", [0, 3])
def test_a_service_is_described_from_the_registry(version: int) -> None:
    reply = call(gateway(), "catalog", headers=ASKED, version=version)
    assert reply.bodies == [
        Body("/1/onResult", "null", {"version": "1.0", "address": "catalog", "functions": [PAGE]}),
    ]
    assert reply.value["functions"][0]["arguments"][0]["required"] is True


def test_the_bytes_of_a_description() -> None:
    def add(a: Any) -> int:
        return 1

    texts = {
        "version": "0007 76657273696f6e",
        "1.0": "02 0003 312e30",
        "address": "0007 61646472657373",
        "functions": "0009 66756e6374696f6e73",
        "name": "0004 6e616d65",
        "description": "000b 6465736372697074696f6e",
        "returns": "0007 72657475726e73",
        "arguments": "0009 617267756d656e7473",
        "required": "0008 7265717569726564",
        "type": "0004 74797065",
    }
    t = {name: bytes.fromhex(text) for name, text in texts.items()}
    one, end, empty = bytes.fromhex("0a 00000001 03"), bytes.fromhex("000009"), bytes.fromhex("02 0000")
    argument = [t["name"], bytes.fromhex("02 0001 61"), t["required"], bytes.fromhex("01 01"), t["type"]]
    argument += [bytes.fromhex("02 0003 416e79"), t["description"], empty, end]
    function = [t["name"], bytes.fromhex("02 0003 616464"), t["description"], empty, t["version"], t["1.0"]]
    function += [t["returns"], bytes.fromhex("02 0003 696e74"), t["arguments"], one, *argument, end]
    expected = [b"\3", t["version"], t["1.0"], t["address"], bytes.fromhex("02 0004 6d617468")]
    expected += [t["functions"], one, *function, end]
    assert call(Gateway(None, {"math.add": add}), "math", headers=ASKED).data.endswith(b"".join(expected))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("catalog", ["catalog", "page"]),
        ("catalog.page", ["catalog", "page"]),
        ("catalog/page", ["catalog", "page"]),
        ("catalog.nothing", ["catalog", "page"]),
        ("com/shop/basket", ["com.shop.basket", "open"]),
        ("com.shop.basket.open", ["com.shop.basket", "open"]),
        ("com.shop", ["com.shop", "basket.open", "open"]),
        ("math", ["math", "add"]),
        ("math.add", ["math", "add"]),
        ("hello", ["hello", "hello"]),
    ],
)
def test_a_target_is_the_service_or_something_in_it(target: str, expected: list[str]) -> None:
    assert names(gateway(), target) == expected


@pytest.mark.parametrize("target", ["nothing", "com", "com.nothing", "catalog.page.more", ".", "_x\n"])
def test_a_service_that_is_not_there_is_a_fault(target: str) -> None:
    reply = call(gateway(), target, headers=ASKED)
    assert reply.codes == ["Server.ResourceNotFound"]
    if target == "_x\n":
        assert reply.value["description"] == "there is no service '_x\\n' here"


def test_without_regard_to_case_the_registered_name_is_told() -> None:
    app = Gateway(None, {"Com.Catalog": Catalog()}, case_insensitive=True)
    assert names(app, "COM/CATALOG") == ["Com.Catalog", "page"]
    assert names(app, "com.catalog.PAGE") == ["Com.Catalog", "page"]


def test_another_name_of_a_target_means_the_service_that_it_stands_for() -> None:
    assert names(gateway(targets={"Old.getPage": "catalog.page"}), "Old.getPage") == ["catalog", "page"]
    assert names(gateway(targets={"catalog.getPage": "catalog.page"}), "catalog") == ["catalog", "page"]


def test_the_method_is_not_called_and_the_other_calls_are() -> None:
    called: list[int] = []
    app = Gateway(None, {"s.f": called.append})
    first, second = post(app, packet(("s.f", [1]), ("s.f", [2]), headers=ASKED)).bodies
    assert (first.value["address"], second.target, called) == ("s", "/2/onResult", [2])


@pytest.mark.parametrize("value", [0, None, False, True, {"a": 1}])
def test_the_value_of_the_header_says_nothing(value: Any) -> None:
    reply = call(gateway(), "catalog", headers=[Header("DescribeService", value, True)])
    assert reply.value["address"] == "catalog"


def test_what_is_filled_in_from_the_call_is_no_argument() -> None:
    value = call(gateway(), "com.shop.basket", headers=ASKED).value
    assert value["functions"][0]["arguments"] == []


def test_methods_that_the_caller_may_not_call_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    app = gateway(authenticate=check)
    as_clerk, as_editor = (Header("Credentials", {"userid": "ada", "password": role}) for role in ("clerk", "editor"))
    assert names(app, "catalog") == ["catalog", "page"]
    assert names(app, "catalog", as_clerk) == ["catalog", "order", "page"]
    assert names(app, "catalog", as_editor) == ["catalog", "order", "page", "remove"]
    assert caplog.records == []


def test_wrong_credentials_are_their_fault_and_nothing_is_described() -> None:
    app = gateway(authenticate=lambda userid, password: None)
    header = Header("Credentials", {"userid": "ada", "password": "x"})
    assert call(app, "catalog", headers=[*ASKED, header]).codes == ["Client.Authentication"]


def test_a_requirement_that_fails_leaves_its_method_out_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        @amfgate.requires(lambda call: 1 / 0)
        def f(self) -> None: ...

        def g(self) -> None: ...

    assert names(Gateway(None, {"b": Broken()}), "b") == ["b", "g"]
    assert "b.f is left out of the description: ZeroDivisionError" in caplog.text


def test_the_authorize_of_the_gateway_s_actions_decides() -> None:
    def authorize(call: Call) -> None:
        assert call.method is not None
        if call.method.target != "catalog.remove":
            raise amfgate.Fault("Client.Authorization", "not that one")

    app = gateway(actions=[find, authorize, bind, invoke, adapt])
    assert names(app, "catalog") == ["catalog", "remove"]


def test_without_an_authorize_of_its_own_the_requirements_decide() -> None:
    assert names(gateway(actions=[find, bind, invoke, adapt]), "catalog") == ["catalog", "page"]


def test_a_service_without_methods_of_its_own_has_no_functions() -> None:
    class Old:
        def __missing__(self, call: Call) -> str:
            return call.target

    assert names(Gateway(None, {"old": Old()}), "old") == ["old"]


def test_a_flex_message_is_a_call_whatever_the_header_says() -> None:
    message = TypedObject(
        "flex.messaging.messages.RemotingMessage", {"destination": "hello", "operation": "hello", "body": ["ada"]}
    )
    app = Gateway(None, ServiceRegistry({"hello.hello": hello}))
    reply = post(app, Packet(3, ASKED, [Body("null", "/1", [message])]).to_bytes())
    assert reply.value["body"] == "hello ada"


def test_a_body_that_cannot_be_decoded_has_its_own_fault() -> None:
    data = bytes.fromhex(
        "0000 0001 000f 4465736372696265536572766963 65 00 ffffffff 05 0001 0001 61 0002 2f31 ffffffff FF"
    )
    assert post(Gateway(None, {"a.b": hello}), data).codes == ["Client.Message.Encoding"]
