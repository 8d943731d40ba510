"""What each call passes, and who may call what."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from wsgi_client import call, packet, post

import amfgate
from amfgate import Body, Call, Exchange, Fault, Gateway, requires
from amfgate.actions import adapt, authorize, bind, default_actions, find, invoke
from amfgate.gateway import default_filters


class Echo:
    def echo(self, value: Any) -> Any:
        return value

    def fail(self) -> None:
        raise KeyError("secret")


def test_the_default_actions_are_five_in_a_fresh_list() -> None:
    assert default_actions() == [find, authorize, bind, invoke, adapt]
    assert default_actions() is not default_actions()
    assert amfgate.gateway.default_actions is default_actions


def test_an_action_of_ones_own_sees_the_call() -> None:
    seen: list[Any] = []

    def look(call: Call) -> None:
        seen.append((call.target, call.uri, list(call.args), repr(call.method), call.gateway is gateway))

    gateway = Gateway(None, {"svc": Echo()}, actions=[find, authorize, bind, look, invoke, adapt])
    assert call(gateway, "svc.echo", 5).value == 5
    assert seen == [("svc.echo", "/1", [5], "<Method svc.echo>", True)]


def test_an_action_may_change_arguments_and_result() -> None:
    def double(call: Call) -> None:
        call.args = [value * 2 for value in call.args]

    def negate(call: Call) -> None:
        call.result = -call.result

    gateway = Gateway(None, {"svc": Echo()}, actions=[find, double, bind, invoke, negate, adapt])
    assert call(gateway, "svc.echo", 5).value == -10


def test_an_action_may_answer_early() -> None:
    left: list[str] = []

    class Leaves:
        def on_response(self, call: Call) -> None:
            left.append(call.target)

    def cached(call: Call) -> None:
        call.answer("cached")

    def never(call: Call) -> None:
        raise AssertionError

    gateway = Gateway(None, {"svc": Echo()}, actions=[Leaves(), cached, Leaves(), never])
    reply = call(gateway, "no.such.target")
    assert reply.bodies == [Body("/1/onResult", "null", "cached")]
    assert left == ["no.such.target"]


def test_an_action_on_the_way_back_knows_whether_the_call_failed() -> None:
    log: list[str] = []

    class Transaction:
        def on_request(self, call: Call) -> None:
            log.append("begin")

        def on_response(self, call: Call) -> None:
            log.append("commit" if call.fault is None else f"rollback {call.fault.code}")

    gateway = Gateway(None, {"svc": Echo()}, actions=[find, authorize, bind, Transaction(), invoke, adapt])
    post(gateway, packet(("svc.echo", [1]), ("svc.fail", []), ("svc.nothing", [])))
    assert log == ["begin", "commit", "begin", "rollback Server.Processing"]


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("side", ["on_request", "on_response"])
def test_an_error_in_any_hook_of_an_action_is_the_fault_of_that_call(place: int, side: str) -> None:
    class Failing:
        pass

    def hook(self: Any, call: Call) -> None:
        if call.uri == "/2":
            raise Fault("Mine", f"{side} {place}")

    setattr(Failing, side, hook)
    actions = default_actions()
    actions.insert(place, Failing())
    reply = post(
        Gateway(None, {"svc": Echo()}, actions=actions),
        packet(("svc.echo", [1]), ("svc.echo", [2]), ("svc.echo", [3])),
    )
    if side == "on_request" and place == 5:  # behind adapt nothing is entered: the call has its answer
        assert reply.codes == [None, None, None]
    elif side == "on_response" and place == 5:
        assert reply.codes == [None, None, None]
    else:
        assert reply.codes == [None, "Mine", None]
        assert reply.bodies[1].value["description"] == f"{side} {place}"
    assert [body.target for body in reply.bodies][::2] == ["/1/onResult", "/3/onResult"]


def test_actions_without_adapt_are_a_fault() -> None:
    reply = call(Gateway(None, {"svc": Echo()}, actions=[find, bind, invoke], debug=True), "svc.echo", 5)
    assert reply.codes == ["Server.Processing"]
    assert reply.value["description"] == "RuntimeError: no action answered the call; the last one has to be adapt"


def test_actions_without_find_are_a_fault() -> None:
    reply = call(Gateway(None, {"svc": Echo()}, actions=[bind, invoke, adapt]), "svc.echo", 5)
    assert reply.value["description"] == (
        "the actions of this gateway do not include find, so there is nothing to invoke"
    )


def test_filters_and_actions_together_are_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"filters= has Dispatch in it, which holds the actions: Dispatch\(actions\)"):
        Gateway(None, {}, filters=default_filters(), actions=default_actions())


def test_a_base_exception_of_a_service_runs_the_leaves_and_reaches_the_server() -> None:
    log: list[str] = []

    class Leaves:
        def __init__(self, name: str) -> None:
            self.name = name

        def on_response(self, x: Any) -> None:
            log.append(self.name)

    class Leaving:
        def leave(self, exchange: Exchange) -> None:
            exchange.defer(log.append, "deferred")
            raise SystemExit(3)

    actions = [Leaves("action"), *default_actions()]
    gateway = Gateway(None, {"svc": Leaving()}, filters=[Leaves("filter"), *default_filters(actions=actions)])
    with pytest.raises(SystemExit):
        call(gateway, "svc.leave")
    assert log == ["action", "filter", "deferred"]


def test_an_unknown_target_is_a_fault_that_names_it() -> None:
    reply = call(Gateway(None, {"svc": Echo()}), "svc.ec\nho")
    assert reply.codes == ["Server.ResourceNotFound"]
    assert reply.value["description"] == "there is no method 'svc.ec\\nho' here"


# requires


class User(SimpleNamespace):
    pass


def answer_for(user: Any, *needed: Any) -> str:
    """What a caller of a method that requires this is told: "in", or the code of the fault."""

    class Guarded:
        @requires(*needed)
        def enter(self) -> str:
            return "in"

    def become(call: Call) -> None:
        call.user = user

    reply = call(Gateway(None, {"svc": Guarded()}, actions=[become, *default_actions()]), "svc.enter")
    (body,) = reply.bodies
    found: str = body.value["code"] if body.target.endswith("/onStatus") else body.value
    return found


def staff(user: Any) -> bool:
    return bool(user.staff)


def from_home(call: Call) -> bool:
    return call.exchange.environ.get("REMOTE_ADDR") == "home"


@pytest.mark.parametrize(
    ("needed", "user", "expected"),
    [
        (("editor",), None, "Client.Authentication"),
        (("editor",), User(roles=["reader"]), "Client.Authorization"),
        (("editor",), User(roles=["reader", "editor"]), "in"),
        (("editor",), User(roles="editor"), "in"),
        (("editor",), User(roles="editors"), "Client.Authorization"),
        (("editor",), {"roles": {"editor"}}, "in"),
        (("editor",), {"name": "editor"}, "Client.Authorization"),
        (("editor",), {"editor"}, "in"),
        (("editor",), "editor", "Client.Authorization"),
        (("editor",), "the editor of it all", "Client.Authorization"),
        (("editor",), User(), "Client.Authorization"),
        (("editor",), User(roles=None), "Client.Authorization"),
        (("editor", "chief"), User(roles=["editor"]), "Client.Authorization"),
        (("editor", "chief"), User(roles=["editor", "chief"]), "in"),
        ((), None, "Client.Authentication"),
        ((), "anybody", "in"),
        ((), 0, "in"),
        ((staff,), None, "Client.Authentication"),
        ((staff,), User(staff=False), "Client.Authorization"),
        ((staff,), User(staff=True), "in"),
        ((staff, "editor"), User(staff=True, roles=["editor"]), "in"),
        ((staff, "editor"), User(staff=True), "Client.Authorization"),
        ((from_home,), None, "Client.Authentication"),
        ((from_home,), User(), "Client.Authorization"),
        ((lambda call: call.target == "svc.enter",), None, "in"),
    ],
)
def test_requires_lets_in_who_may_and_nobody_else(needed: tuple[Any, ...], user: Any, expected: str) -> None:
    assert answer_for(user, *needed) == expected


def test_a_predicate_that_raises_lets_nobody_in() -> None:
    assert answer_for(User(), staff) == "Server.Processing"


def guarded_function() -> str:
    return "in"


def calling(services: Any, target: str, user: Any) -> list[Any]:
    def become(call: Call) -> None:
        call.user = user

    return call(Gateway(None, services, actions=[become, *default_actions()]), target).codes


def test_requires_on_a_class_is_for_all_its_methods_and_those_of_its_children() -> None:
    @requires("editor")
    class Guarded:
        def enter(self) -> str:
            return "in"

        @requires("chief")
        def more(self) -> str:
            return "in"

    class Child(Guarded):
        def other(self) -> str:
            return "in"

    @requires("owner")
    class Grandchild(Child):
        def last(self) -> str:
            return "in"

    for service, target in ((Guarded(), "svc.enter"), (Child(), "svc.other")):
        assert calling({"svc": service}, target, {"reader"}) == ["Client.Authorization"]
        assert calling({"svc": service}, target, {"editor"}) == [None]
    assert calling({"svc": Guarded()}, "svc.more", {"editor"}) == ["Client.Authorization"]
    assert calling({"svc": Guarded()}, "svc.more", {"editor", "chief"}) == [None]
    assert calling({"svc": Grandchild()}, "svc.last", {"owner"}) == ["Client.Authorization"]
    assert calling({"svc": Grandchild()}, "svc.last", {"owner", "editor"}) == [None]


def decorations() -> list[Callable[..., Any]]:
    return [
        lambda: staticmethod(requires("editor")(guarded_function)),
        lambda: requires("editor")(staticmethod(guarded_function)),
        lambda: classmethod(requires("editor")(lambda cls: "in")),
        lambda: requires("editor")(classmethod(lambda cls: "in")),
    ]


@pytest.mark.parametrize("number", range(4))
def test_requires_holds_on_either_side_of_staticmethod_and_classmethod(number: int) -> None:
    Guarded = type("Guarded", (), {"enter": decorations()[number]()})
    assert calling({"svc": Guarded()}, "svc.enter", {"reader"}) == ["Client.Authorization"]
    assert calling({"svc": Guarded()}, "svc.enter", {"editor"}) == [None]


def test_requires_holds_for_functions_aliases_and_modules() -> None:
    @requires("editor")
    def enter() -> str:
        return "in"

    assert calling({"enter": enter}, "enter", {"reader"}) == ["Client.Authorization"]
    assert calling(amfgate.ServiceRegistry({"enter": enter}, targets={"old": "enter"}), "old", {"reader"}) == [
        "Client.Authorization"
    ]


def test_requires_without_brackets_is_refused() -> None:
    with pytest.raises(TypeError, match=r"written with brackets: @amfgate.requires\(\) for any user"):

        class Guarded:
            @requires
            def enter(self) -> str:
                return "in"

    with pytest.raises(TypeError, match="written with brackets"):

        @requires
        def function() -> str:
            return "in"


def test_requires_takes_names_and_functions() -> None:
    with pytest.raises(TypeError, match="takes names of roles and functions, not 5"):
        requires(5)  # type: ignore[arg-type]
