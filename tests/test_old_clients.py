"""Programs that cannot be changed: what asks for targets nobody has, sends objects nobody knows, from elsewhere."""

from __future__ import annotations

import asyncio
import collections
import time
from typing import Any

import pytest
from wsgi_client import call, environ, packet, post, run

import amfgate
from amfgate import Gateway, ServiceRegistry, TypedObject


class Keeper:
    """Answers whatever is asked for, and writes down what it was."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[Any]]] = []

    def __missing__(self, call: amfgate.Call) -> Any:
        self.asked.append((call.target, list(call.args)))
        return f"nobody answers {call.target}"

    def secret(self) -> str:
        return "a method that has no name to be called by"


class Scores:
    def top(self) -> list[str]:
        return ["ada"]

    def _reset(self) -> None:
        raise AssertionError("called from outside")

    def __missing__(self, call: amfgate.Call) -> Any:
        return f"scores: no {call.target} with {call.args}"


def message(operation: str, *args: Any, **members: Any) -> TypedObject:
    return TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"operation": operation, "body": list(args), "messageId": "M", "headers": {}, **members},
    )


# --- __missing__ -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["Old.getScores", "Old/getScores", "login", "com.shop.a.b.c", "Old.__init__", "_x"])
def test_the_service_named_by_a_star_sees_every_unknown_target(target: str) -> None:
    keeper = Keeper()
    reply = call(Gateway(None, {"*": keeper}), target, 1, "two")
    assert keeper.asked == [(target, [1, "two"])]
    assert reply.bodies[0].target == "/1/onResult"
    assert reply.value == f"nobody answers {target}"


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_it_takes_any_number_of_arguments(count: int) -> None:
    keeper = Keeper()
    call(Gateway(None, {"*": keeper}), "a.b", *range(count))
    assert keeper.asked == [("a.b", list(range(count)))]


def test_known_targets_do_not_reach_it() -> None:
    keeper = Keeper()
    gateway = Gateway(None, {"*": keeper, "math.add": lambda a, b: a + b})
    assert call(gateway, "math.add", 2, 3).value == 5
    assert call(gateway, "math.add", 2).codes == ["Client.Arguments"]
    assert keeper.asked == []


def test_its_public_methods_have_no_name_to_be_called_by() -> None:
    keeper = Keeper()
    gateway = Gateway(None, {"*": keeper})
    for target in ("secret", "*.secret", "*/secret", ".secret"):
        assert call(gateway, target).value == f"nobody answers {target}"
    assert list(gateway.services) == []
    assert gateway.services.describe() == []
    assert not gateway.services.knows("*")


def test_the_empty_name_means_the_same() -> None:
    keeper = Keeper()
    assert call(Gateway(None, {"": keeper}), "a.b").value == "nobody answers a.b"
    assert repr(ServiceRegistry({"": keeper})) == "ServiceRegistry(['*'])"


def test_a_function_of_the_call_will_do() -> None:
    gateway = Gateway(None, {"*": lambda call: [call.target, call.args]})
    assert call(gateway, "a.b", 1).value == ["a.b", [1]]


def test_in_a_list_of_services() -> None:
    @amfgate.service("*")
    class Curator(Keeper):
        def __missing__(self, call: amfgate.Call) -> Any:
            return "noted"

    assert call(Gateway(None, [Curator]), "a.b").value == "noted"


def test_a_service_with_a_name_sees_the_unknown_targets_that_begin_with_it() -> None:
    gateway = Gateway(None, {"scores": Scores()})
    assert call(gateway, "scores.top").value == ["ada"]
    assert call(gateway, "scores.best", 5).value == "scores: no scores.best with [5]"
    assert call(gateway, "scores.of.today").value == "scores: no scores.of.today with []"
    assert call(gateway, "scores").value == "scores: no scores with []"
    assert call(gateway, "scoresheet.top").codes == ["Server.ResourceNotFound"]
    assert call(gateway, "other.top").codes == ["Server.ResourceNotFound"]


def test_the_longest_name_that_fits_is_asked_and_the_star_last() -> None:
    answers = {name: Answers(name) for name in ("shop", "shop.old", "*")}
    gateway = Gateway(None, answers)
    assert call(gateway, "shop.old.x").value == "shop.old"
    assert call(gateway, "shop.older").value == "shop"
    assert call(gateway, "market.x").value == "*"


def test_a_target_of_dots_alone_takes_no_time() -> None:
    """As many prefixes as dots: looked up one by one, each as long as the target, they took half a second a call."""
    gateway = Gateway(None, {"shop.old": Answers("shop.old"), "*": Answers("*")})
    begun = time.process_time()
    reply = post(gateway, packet(*[("." * 65_000, [])] * 20))
    assert time.process_time() - begun < 2
    assert [body.value for body in reply.bodies] == ["*"] * 20


class Answers:
    def __init__(self, name: str) -> None:
        self.name = name

    def __missing__(self, call: amfgate.Call) -> str:
        return self.name


def test_private_names_reach_nothing_but_it() -> None:
    gateway = Gateway(None, {"scores": Scores()})
    for target in ("scores._reset", "scores.__missing__", "scores.__class__", "scores.top.__call__"):
        assert call(gateway, target).value == f"scores: no {target} with []"


def test_without_regard_to_case() -> None:
    gateway = Gateway(None, {"Scores": Scores(), "*": Keeper()}, case_insensitive=True)
    assert call(gateway, "SCORES.TOP").value == ["ada"]
    assert call(gateway, "SCORES.Best").value == "scores: no SCORES.Best with []"
    assert call(gateway, "Other.Best").value == "nobody answers Other.Best"


def test_it_may_answer_by_a_fault_and_its_errors_are_faults() -> None:
    def keeper(call: amfgate.Call) -> None:
        if call.target == "a.gone":
            raise amfgate.Fault("Museum.Gone", "in 2007")
        raise KeyError(call.target)

    reply = call(Gateway(None, {"*": keeper}), "a.gone")
    assert reply.codes == ["Museum.Gone"]
    assert reply.value["description"] == "in 2007"
    assert call(Gateway(None, {"*": keeper}), "a.b").codes == ["Server.Processing"]


def test_it_asks_for_a_user_where_it_is_told_to() -> None:
    class Staff:
        @amfgate.requires("staff")
        def __missing__(self, call: amfgate.Call) -> str:
            return f"for {call.user}"

    @amfgate.requires()
    class Members(Keeper):
        def __missing__(self, call: amfgate.Call) -> str:
            return "never"

    gateway = Gateway(None, {"*": Staff(), "club": Members()}, authenticate=lambda name, _: (name, "staff"))
    assert call(gateway, "a.b").codes == ["Client.Authentication"]
    assert call(gateway, "club.b").codes == ["Client.Authentication"]
    credentials = amfgate.Header("Credentials", {"userid": "ada", "password": ""})
    assert call(gateway, "a.b", headers=[credentials]).value == "for ('ada', 'staff')"


def test_a_flex_client_is_answered_by_a_message() -> None:
    keeper = Keeper()
    gateway = Gateway(None, {"*": keeper})
    reply = call(gateway, "null", message("best", 5, destination="scores"), version=3).value
    assert reply.alias == "flex.messaging.messages.AcknowledgeMessage"
    assert reply["correlationId"] == "M"
    assert reply["body"] == "nobody answers scores.best"
    assert keeper.asked == [("scores.best", [5])]


def test_of_a_flex_call_the_source_is_still_found_behind_a_destination_that_is_no_service() -> None:
    """One destination for everything, as of AMFPHP: the fallback does not take the call from the service."""
    keeper = Keeper()
    gateway = Gateway(None, {"*": keeper, "scores": Scores()})
    sent = message("top", destination="amfphp", source="scores")
    assert call(gateway, "null", sent, version=3).value["body"] == ["ada"]
    assert keeper.asked == []
    unknown = message("load", destination="amfphp", source="Levels")
    assert call(gateway, "null", unknown, version=3).value["body"] == "nobody answers Levels.load"


def test_each_call_of_a_packet_is_answered() -> None:
    gateway = Gateway(None, {"*": Keeper(), "scores": Scores()})
    reply = post(gateway, packet(("a.b", []), ("scores.top", []), ("c", [])))
    assert [body.value for body in reply.bodies] == ["nobody answers a.b", ["ada"], "nobody answers c"]


def test_a_target_that_only_it_answers_is_not_among_what_can_be_called() -> None:
    registry = ServiceRegistry({"*": Keeper(), "scores": Scores()})
    assert registry.find("a.b") is None
    assert "a.b" not in registry
    assert list(registry) == ["scores.top"]
    with pytest.raises(ValueError, match="'a.b', which no service exposes"):
        ServiceRegistry(registry, targets={"Old.x": "a.b"})


def test_it_may_be_added_later() -> None:
    registry = ServiceRegistry({"scores": Scores()})
    gateway = Gateway(None, registry)
    assert call(gateway, "a.b").codes == ["Server.ResourceNotFound"]
    registry.add("*", Keeper())
    assert call(gateway, "a.b").value == "nobody answers a.b"
    with pytest.raises(ValueError, match=r"there are two services named '\*'"):
        registry.add("", Keeper())


def test_an_object_that_only_answers_unknown_targets_is_no_empty_service(caplog: pytest.LogCaptureFixture) -> None:
    ServiceRegistry({"old": Answers("old")})
    assert caplog.text == ""


class Inherits(Keeper):
    pass


class Counts(collections.Counter[str]):
    def __missing__(self, key: str) -> int:
        return 0


@pytest.mark.parametrize("thing", [Inherits(), Counts(), collections.defaultdict(list)])
def test_one_that_a_base_or_a_dict_defines_answers_nobody(thing: Any) -> None:
    """As with methods: the class itself has to define it, or a base that is a service; a dict's is about keys."""
    assert call(Gateway(None, {"old": thing}), "old.x").codes == ["Server.ResourceNotFound"]
    with pytest.raises(TypeError, match=r"the service '\*' is asked about every unknown target"):
        Gateway(None, {"*": thing})


def test_one_that_an_attribute_gives_an_instance_answers_nobody() -> None:
    shop = Scores()
    shop.__missing__ = lambda call: "of the instance"  # type: ignore[method-assign]
    assert call(Gateway(None, {"scores": shop}), "scores.x").value == "scores: no scores.x with []"


def test_one_that_a_base_service_defines_is_inherited() -> None:
    @amfgate.service("base")
    class Base:
        def __missing__(self, call: amfgate.Call) -> str:
            return "of the base"

    class Child(Base):
        pass

    assert call(Gateway(None, {"child": Child()}), "child.x").value == "of the base"


class Plain:
    def page(self) -> int:
        return 1


class Property:
    @property
    def __missing__(self) -> Any:  # noqa: PLE0302
        return print


class Nothing:
    __missing__ = None


class TooMany:
    def __missing__(self, call: Any, more: Any) -> None: ...  # noqa: PLE0302


class Async:
    async def __missing__(self, call: Any) -> None:
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("services", "error", "text"),
    [
        ({"*": Plain()}, TypeError, "whose class defines __missing__"),
        ({"*": Keeper}, TypeError, "whose class defines __missing__"),
        ({"*": 5}, TypeError, "whose class defines __missing__"),
        ({"": Plain()}, ValueError, "cannot name a service"),
        ({"a": Property()}, TypeError, "a.__missing__ is .*has to be a method"),
        ({"a": Nothing()}, TypeError, "a.__missing__ is None; it has to be a method"),
        ({"a": TooMany()}, TypeError, "a.__missing__ is called with one argument, the call: missing .*'more'"),
        ({"*": lambda: None}, TypeError, r"\*.__missing__ is called with one argument, the call: too many"),
        ({"a": Async()}, TypeError, "a.__missing__ is an async def"),
    ],
)
def test_a_wrong_one_is_refused_when_the_gateway_is_made(services: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Gateway(None, services)


# --- objects of classes that nobody registered -----------------------------------------------------------------------


def test_members_of_an_unknown_class_reach_the_service_raw_and_in_order_amf0() -> None:
    seen: list[Any] = []
    data = bytes.fromhex(
        "0000 0000 0001 0003") + b"a.b\x00\x02/1\xff\xff\xff\xff" + bytes.fromhex(
        "0A 00000001 10 0008") + b"game.Hat" + bytes.fromhex(
        "0004 73697A65 00 4024000000000000"  # size: 10
        "0005 636F6C6F72 02 0003 726564"  # color: "red"
        "0001 61 05"  # a: null
        "000009"
    )  # fmt: skip
    post(Gateway(None, {"*": lambda call: seen.extend(call.args)}), data)
    [hat] = seen
    assert type(hat) is TypedObject
    assert hat.alias == "game.Hat"
    assert list(hat.items()) == [("size", 10), ("color", "red"), ("a", None)]


def test_members_of_an_unknown_class_reach_the_service_raw_and_in_order_amf3() -> None:
    seen: list[Any] = []
    data = bytes.fromhex(
        "0003 0000 0001 0003") + b"a.b\x00\x02/1\xff\xff\xff\xff" + bytes.fromhex(
        "0A 00000001 11 0A 2B 11") + b"game.Hat" + bytes.fromhex(  # two sealed members, then dynamic ones
        "09 73697A65 0B 636F6C6F72"
        "04 0A  06 07 726564"
        "03 7A 03"  # z: true
        "03 61 01"  # a: null
        "01"
    )  # fmt: skip
    post(Gateway(None, {"*": lambda call: seen.extend(call.args)}), data)
    [hat] = seen
    assert type(hat) is TypedObject
    assert (hat.alias, hat.sealed, hat.dynamic) == ("game.Hat", ("size", "color"), True)
    assert list(hat.items()) == [("size", 10), ("color", "red"), ("z", True), ("a", None)]


@pytest.mark.parametrize("version", [0, 3])
def test_an_object_of_an_unknown_class_goes_back_as_it_came(version: int) -> None:
    members = {"zeta": 1, "alpha": "x", "mid": [1, 2], "inner": TypedObject("game.Band", {"b": 1, "a": 2})}
    reply = call(
        Gateway(None, {"*": lambda call: call.args[0]}), "a.b", TypedObject("game.Hat", members), version=version
    )
    assert reply.value.alias == "game.Hat"
    assert list(reply.value) == ["zeta", "alpha", "mid", "inner"]
    assert reply.value["inner"].alias == "game.Band"
    assert list(reply.value["inner"]) == ["b", "a"]


@pytest.mark.parametrize("version", [0, 3])
def test_members_of_a_plain_object_keep_their_order(version: int) -> None:
    seen: list[Any] = []
    call(Gateway(None, {"*": lambda call: seen.extend(call.args)}), "a", {"z": 1, "b": 2, "m": 3}, version=version)
    assert list(seen[0]) == ["z", "b", "m"]


# --- the rest of what such programs need, together -------------------------------------------------------------------


def museum() -> Gateway:
    return Gateway(
        None,
        {"scores": Scores(), "*": Keeper()},
        path=("/gateway.php", "/flashservices/gateway", "/amf"),
        targets={"HighScores.getTop": "scores.top", "flashservices/old": "scores.top"},
        case_insensitive=True,
        cors="*",
        crossdomain="*",
    )


@pytest.mark.parametrize("path", ["/gateway.php", "/flashservices/gateway", "/flashservices/gateway/", "/amf"])
@pytest.mark.parametrize("target", ["scores.top", "HighScores.getTop", "highscores.gettop", "HighScores/GETTOP"])
def test_one_service_at_several_paths_under_several_targets(path: str, target: str) -> None:
    reply = post(museum(), packet((target, [])), PATH_INFO=path)
    assert reply.value == ["ada"]


def test_an_alias_may_have_slashes() -> None:
    assert call(museum(), "flashservices.old").value == ["ada"]


def test_a_query_behind_the_path_does_not_matter() -> None:
    reply = post(museum(), packet(("scores.top", [])), PATH_INFO="/gateway.php", QUERY_STRING="session=1a2b&v=3")
    assert reply.value == ["ada"]


def test_a_page_of_another_origin_may_call_at_each_path() -> None:
    for path in ("/gateway.php", "/flashservices/gateway"):
        asked = run(
            museum(),
            environ(
                REQUEST_METHOD="OPTIONS",
                PATH_INFO=path,
                HTTP_ORIGIN="https://museum.example",
                HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST",
                HTTP_ACCESS_CONTROL_REQUEST_HEADERS="content-type",
            ),
        )
        assert asked.headers["Access-Control-Allow-Origin"] == "*"
        assert asked.headers["Access-Control-Allow-Headers"] == "content-type"
        answered = post(museum(), packet(("x", [])), PATH_INFO=path, HTTP_ORIGIN="https://museum.example")
        assert answered.headers["Access-Control-Allow-Origin"] == "*"
        assert answered.value == "nobody answers x"


def test_the_policy_file_is_at_the_root_whatever_the_paths() -> None:
    reply = run(museum(), environ(REQUEST_METHOD="GET", PATH_INFO="/crossdomain.xml"))
    assert reply.status == "200 OK"
    assert b'<allow-access-from domain="*"/>' in reply.data


def test_a_program_is_sent_to_another_gateway() -> None:
    """ReplaceGatewayUrl: the header that has the client call another URL from now on."""

    def moved(call: amfgate.Call) -> None:
        call.exchange.replace_gateway_url("http://new.example/amf")

    reply = call(Gateway(None, {"*": moved}), "a.b")
    assert reply.packet.headers == [amfgate.Header("ReplaceGatewayUrl", "http://new.example/amf")]
    assert reply.data.startswith(
        bytes.fromhex("0000 0001 0011") + b"ReplaceGatewayUrl" + bytes.fromhex("00 00000019 02 0016")
        + b"http://new.example/amf"
    )  # fmt: skip
