"""`amfgate.contrib.flask`: contexts, sessions, users, errors, and the shop of examples/flask_shop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import wsgi_client
from flask import Flask, Response, abort, current_app, g, redirect, request, session
from flask_login import LoginManager, UserMixin, login_user
from werkzeug.exceptions import Conflict, HTTPException

import amfgate
from amfgate import Body, Header, Packet
from amfgate.contrib.flask import Amf

SHOP = Path(__file__).resolve().parents[2] / "examples" / "flask_shop"


@pytest.fixture
def app() -> Flask:
    app = Flask("test")
    app.config.update(SECRET_KEY="secret")
    return app


def ask(client: Any, *calls: tuple[str, list[Any]], headers: tuple[Header, ...] = (), **more: Any) -> list[Any]:
    """Of each call its result, or the code of its fault."""
    data = wsgi_client.packet(*calls, headers=headers)
    reply = client.post("/amf", data=data, content_type="application/x-amf", **more)
    assert (reply.status_code, reply.content_type) == (200, "application/x-amf")
    assert reply.content_length == len(reply.data)
    return [
        body.value["code"] if body.target.endswith("/onStatus") else body.value
        for body in Packet.from_bytes(reply.data).bodies
    ]


# Services


def test_services_are_registered_after_the_extension(app: Flask) -> None:
    amf = Amf(app)

    @amf.service("catalog")
    class Catalog:
        def count(self) -> int:
            return 3

    @amf.service
    def hello(name: str) -> str:
        return f"hello {name}"

    amf.service("other")(Catalog())
    assert ask(app.test_client(), ("catalog.count", []), ("hello", ["ada"]), ("other.count", [])) == [3, "hello ada", 3]
    assert hello("ada") == "hello ada"

    @amf.service
    def late() -> int:
        return 4

    assert ask(app.test_client(), ("late", [])) == [4]


def test_a_service_that_cannot_be_called_is_an_error_at_once(app: Flask) -> None:
    amf = Amf(app, {"taken": len})
    with pytest.raises(ValueError, match="there are two services named 'taken'"):
        amf.service("taken")(abs)
    with pytest.raises(TypeError, match="async def"):

        @amf.service
        async def later() -> None: ...


def test_one_extension_serves_several_applications() -> None:
    amf = Amf(services={"name": lambda: current_app.name})
    apps = [Flask("one"), Flask("two")]
    for app in apps:
        amf.init_app(app)
    assert [ask(app.test_client(), ("name", [])) for app in apps] == [["one"], ["two"]]


def test_a_second_extension_is_refused(app: Flask) -> None:
    Amf(app)
    with pytest.raises(ValueError, match="has an Amf already"):
        Amf(app)


def test_an_option_that_is_none_is_an_error_at_once(app: Flask) -> None:
    with pytest.raises(TypeError, match="pth"):
        Amf(app, pth="/amf")


def test_options_may_stand_in_the_configuration(app: Flask) -> None:
    app.config.update(AMF_PATH=("/a", "/amf"), AMF_DEBUG=True, AMF_TARGETS={"Old.sum": "sum"}, MAX_CONTENT_LENGTH=60)
    amf = Amf(app, debug=False)
    amf.service("sum")(lambda a, b: a + b)
    client = app.test_client()
    assert ask(client, ("Old.sum", [1, 2])) == [3]
    assert client.post("/a/", data=wsgi_client.packet(("sum", [1, 2]))).status_code == 200
    assert client.post("/a", data=wsgi_client.packet(("sum", [1, "2" * 60]))).status_code == 413
    assert not app.extensions["amf"].gateway.debug


@pytest.mark.parametrize("debug", [False, True])
def test_debug_is_the_application_s(app: Flask, debug: bool) -> None:
    app.debug = debug
    Amf(app, {"divide": lambda: 1 / 0})
    reply = app.test_client().post("/amf", data=wsgi_client.packet(("divide", [])))
    assert ("ZeroDivisionError" in Packet.from_bytes(reply.data).bodies[0].value["description"]) is debug


def test_the_rest_of_the_application_is_as_it_was(app: Flask) -> None:
    Amf(app, {"len": len}, crossdomain="*")
    app.add_url_rule("/", view_func=lambda: "home")
    client = app.test_client()
    assert client.get("/").text == "home"
    assert client.get("/amfx").status_code == 404
    reply = client.get("/amf")
    assert (reply.status_code, reply.headers["Allow"]) == (405, "POST, OPTIONS")
    assert client.options("/amf").status_code == 204
    assert b"allow-access-from" in client.get("/crossdomain.xml").data


def test_the_command_lists_the_services(app: Flask) -> None:
    def add(a: int, b: int = 1) -> int:
        """Sum."""
        return a + b

    Amf(app, {"math.add": add, "who": lambda: None})
    runner = app.test_cli_runner()
    assert runner.invoke(args=["amf"]).output == "math.add(a: int, b: int=) -> int    Sum.\nwho()\n"
    assert runner.invoke(args=["amf", "math"]).output == "math.add(a: int, b: int=) -> int    Sum.\n"
    assert runner.invoke(args=["amf", "sales"]).output == "Error: there is no service 'sales'\n"


# The request and its contexts


def test_a_packet_is_one_request(app: Flask) -> None:
    seen: list[Any] = []
    app.before_request(lambda: seen.append("before"))
    app.teardown_request(lambda error: seen.append("teardown request"))
    app.teardown_appcontext(lambda error: seen.append("teardown app"))

    @app.after_request
    def after(response: Any) -> Any:
        seen.append("after")
        response.headers["X-After"] = str(len(seen))
        return response

    def look(call: amfgate.Call) -> None:
        g.number = g.get("number", 0) + 1
        call.exchange.defer(seen.append, "deferred")
        seen.append((g.number, request.path, request.endpoint, call.request is request._get_current_object()))

    Amf(app, {"look": look})
    reply = app.test_client().post("/amf", data=wsgi_client.packet(("look", []), ("look", [])))
    assert reply.headers["X-After"] == "6"
    assert seen == [
        "before",
        (1, "/amf", "amf", True),
        (2, "/amf", "amf", True),
        "deferred",
        "deferred",
        "after",
        "teardown request",
        "teardown app",
    ]


def test_the_session_is_the_browser_s(app: Flask) -> None:
    def count() -> int:
        session["count"] = session.get("count", 0) + 1
        return int(session["count"])

    Amf(app, {"count": count})
    client = app.test_client()
    assert ask(client, ("count", []), ("count", [])) == [1, 2]
    assert ask(client, ("count", [])) == [3]
    assert ask(app.test_client(), ("count", [])) == [1]
    with client:
        ask(client, ("count", []))
        assert session["count"] == 4


def test_a_generator_runs_in_the_context(app: Flask) -> None:
    def names() -> Iterator[str]:
        yield current_app.name
        yield request.path

    Amf(app, {"names": names})
    assert ask(app.test_client(), ("names", [])) == [["test", "/amf"]]


def test_a_before_request_function_may_answer(app: Flask) -> None:
    app.before_request(lambda: ("closed", 503))
    Amf(app, {"len": len})
    reply = app.test_client().post("/amf", data=wsgi_client.packet(("len", ["abc"])))
    assert (reply.status_code, reply.text) == (503, "closed")


def test_a_before_request_function_may_read_the_body(app: Flask) -> None:
    sizes: list[int] = []
    app.before_request(lambda: sizes.append(len(request.get_data())))
    Amf(app, {"len": len})
    assert ask(app.test_client(), ("len", ["abc"])) == [3]
    assert sizes == [len(wsgi_client.packet(("len", ["abc"])))]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "Client.Authentication"),
        (403, "Client.Authorization"),
        (404, "Server.ResourceNotFound"),
        (409, "Client.Conflict"),
        (429, "Client.TooManyRequests"),
        (503, "Server.ServiceUnavailable"),
    ],
)
def test_abort_is_a_fault(app: Flask, status: int, code: str) -> None:
    def refuse() -> None:
        abort(status, "not today")

    Amf(app, {"refuse": refuse})
    reply = app.test_client().post("/amf", data=wsgi_client.packet(("refuse", [])))
    (body,) = Packet.from_bytes(reply.data).bodies
    assert (reply.status_code, body.target) == (200, "/1/onStatus")
    assert (body.value["code"], body.value["description"]) == (code, "not today")


@pytest.mark.parametrize(
    ("answer", "code", "description"),
    [
        (Response("gone", 410), "Client.Gone", "Gone"),
        (Response("no", 401), "Client.Authentication", "Unauthorized"),
        (Response("odd", 599), "Server.UnknownError", "Unknown Error"),
        (redirect("/login"), "Server.Processing", "The call failed; the log of the server says why."),
    ],
)
def test_abort_with_a_response_goes_by_its_status(app: Flask, answer: Any, code: str, description: str) -> None:
    Amf(app, {"refuse": lambda: abort(answer)})
    reply = app.test_client().post("/amf", data=wsgi_client.packet(("refuse", [])))
    (body,) = Packet.from_bytes(reply.data).bodies
    assert (body.value["code"], body.value["description"]) == (code, description)


def test_abort_is_a_fault_in_a_requirement_and_in_a_filter_of_the_gateway_too(app: Flask) -> None:
    def sundays(call: amfgate.Call) -> bool:
        abort(403)

    @amfgate.requires(sundays)
    def f() -> None: ...

    def check(userid: str, password: str) -> Any:
        abort(429)

    Amf(app, {"f": f}, authenticate=check)
    client = app.test_client()
    assert ask(client, ("f", [])) == ["Client.Authorization"]
    credentials = Header("Credentials", {"userid": "ada", "password": "x"})
    assert ask(client, ("f", []), headers=(credentials,)) == ["Client.TooManyRequests"]


def test_faults_of_the_application_add_to_flask_s_and_win_over_them(app: Flask) -> None:
    app.config["AMF_FAULTS"] = {LookupError: "Shop.Nothing", Conflict: ("Shop.Taken", "by another")}
    services = {"find": lambda: {}["shoe"], "take": lambda: abort(409), "see": lambda: abort(404)}
    Amf(app, services)
    assert ask(app.test_client(), *((name, []) for name in services)) == [
        "Shop.Nothing",
        "Shop.Taken",
        "Server.ResourceNotFound",
    ]


def test_faults_that_cannot_be_used_are_an_error_at_once(app: Flask) -> None:
    with pytest.raises(TypeError, match="faults: KeyError has 5"):
        Amf(app, faults={KeyError: 5})


def test_an_http_error_without_a_status_is_unexpected(app: Flask) -> None:
    def refuse() -> None:
        raise HTTPException("secret")

    Amf(app, {"refuse": refuse})
    assert ask(app.test_client(), ("refuse", [])) == ["Server.Processing"]


# Users


def test_credentials_name_the_user(app: Flask) -> None:
    @amfgate.requires("editor")
    def publish(call: amfgate.Call) -> Any:
        return call.user["name"]

    Amf(app, {"publish": publish}, authenticate=lambda name, word: {"name": name, "roles": word})
    client = app.test_client()
    for word, outcome in [("editor", "ada"), ("reader", "Client.Authorization")]:
        credentials = Header("Credentials", {"userid": "ada", "password": word})
        assert ask(client, ("publish", []), headers=(credentials,)) == [outcome]
    assert ask(client, ("publish", [])) == ["Client.Authentication"]


def test_credentials_come_before_who_is_logged_in(app: Flask) -> None:
    class User(UserMixin):
        def __init__(self, name: str) -> None:
            self.id = name

    LoginManager(app).user_loader(User)
    Amf(
        app,
        {"enter": lambda name: login_user(User(name)), "who": who_is_it},
        authenticate=lambda name, word: User(name),
    )
    client = app.test_client()
    assert ask(client, ("who", []), ("enter", ["ada"]), ("who", [])) == [None, True, "ada"]
    credentials = Header("Credentials", {"userid": "grace", "password": ""})
    assert ask(client, ("who", []), headers=(credentials,)) == ["grace"]


def who_is_it(call: amfgate.Call) -> Any:
    return call.user and call.user.id


def session_probe() -> dict[str, Any]:
    def count(call: amfgate.Call) -> int:
        assert call.session is session._get_current_object()
        call.session["count"] = call.session.get("count", 0) + 1
        return int(call.session["count"])

    def enter(exchange: amfgate.Exchange, name: str) -> None:
        exchange.log_in(name, Member(name))

    def leave(exchange: amfgate.Exchange) -> None:
        exchange.log_out()

    return {"count": count, "enter": enter, "leave": leave, "who": who_is_it}


class Member(UserMixin):
    def __init__(self, name: str) -> None:
        self.id = name

    @property
    def is_active(self) -> bool:
        return bool(self.id != "banned")


def flex_command(client: Any, operation: int, body: Any = None) -> dict[str, Any]:
    """The members of the answer to a CommandMessage."""
    message = amfgate.TypedObject(
        "flex.messaging.messages.CommandMessage",
        {"operation": operation, "body": body, "headers": {"DSId": "nil"}, "messageId": "M"},
    )
    data = client.post("/amf", data=wsgi_client.packet(("null", [message]))).data
    return dict(Packet.from_bytes(data).bodies[0].value)


def test_call_session_is_flask_s(app: Flask) -> None:
    Amf(app, session_probe())
    client = app.test_client()
    assert ask(client, ("count", []), ("count", [])) == [1, 2]
    with client:
        assert ask(client, ("count", [])) == [3]
        assert session["count"] == 3


def test_without_a_secret_key_flask_says_so(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    app.secret_key = None
    Amf(app, {**session_probe(), "read": lambda: session.get("count")}, authenticate=lambda name, word: Member(name))
    client = app.test_client()
    assert ask(client, ("read", []), ("count", [])) == [None, "Server.Processing"]
    assert "The session is unavailable because no secret key was set" in caplog.text
    assert flex_command(client, 8, "YWRhOng=")["body"] == "success"


def test_a_login_by_the_exchange_or_by_flex_is_flask_login_s(app: Flask) -> None:
    LoginManager(app).user_loader(Member)
    Amf(app, session_probe(), authenticate=lambda name, word: Member(name) if word == "x" else None)
    client = app.test_client()
    assert ask(client, ("count", []), ("enter", ["ada"]), ("who", [])) == [1, None, "ada"]
    assert ask(client, ("who", []), ("count", [])) == ["ada", 2]
    assert ask(client, ("enter", ["bob"]), ("who", []), ("count", [])) == [None, "bob", 1]
    assert ask(client, ("leave", []), ("who", []), ("count", [])) == [None, None, 1]
    assert flex_command(client, 8, "YWRhOnk=")["faultCode"] == "Client.Authentication"  # ada:y
    answer = flex_command(client, 8, "YWRhOng=")  # ada:x
    assert (answer["body"], len(answer["headers"]["DSId"])) == ("success", 36)
    assert ask(client, ("who", []), ("count", [])) == ["ada", 2]
    assert flex_command(client, 9)["body"] == "success"
    assert ask(client, ("who", []), ("count", [])) == [None, 1]
    assert ask(client, ("enter", ["banned"]), ("who", [])) == ["Client.Authentication", None]


def test_without_flask_login_a_login_holds_for_its_packet(app: Flask) -> None:
    class Interface(type(app.session_interface)):  # type: ignore[misc]
        """Sessions that have ids, as Flask-Session's have."""

        regenerated = 0

        def regenerate(self, session: Any) -> None:
            Interface.regenerated += 1

    app.session_interface = Interface()
    Amf(app, session_probe())
    client = app.test_client()
    assert ask(client, ("count", []), ("enter", ["ada"]), ("who", []), ("count", [])) == [1, None, "ada", 2]
    assert Interface.regenerated == 1
    assert ask(client, ("who", []), ("leave", []), ("count", [])) == [None, None, 1]


@pytest.mark.parametrize(
    ("origin", "cors", "outcome"),
    [
        ("http://localhost", None, 2),
        ("https://localhost", None, 2),
        ("http://localhost:8080", None, "Client.Authorization"),
        ("http://evil.example", None, "Client.Authorization"),
        ("http://evil.example", "*", "Client.Authorization"),
        ("http://games.example", ["http://games.example"], 2),
    ],
)
def test_a_page_of_another_site_may_not_use_its_visitor_s_session(
    app: Flask, origin: str, cors: Any, outcome: Any
) -> None:
    def count() -> int:
        session["count"] = session.get("count", 0) + 1
        return int(session["count"])

    Amf(app, {"count": count}, cors=cors)
    client = app.test_client()
    assert ask(client, ("count", []), environ_overrides={"HTTP_ORIGIN": origin}) == [1]
    assert ask(client, ("count", []), environ_overrides={"HTTP_ORIGIN": origin}) == [outcome]


def test_a_flex_client_reads_its_fault(app: Flask) -> None:
    Amf(app, {"shop": type("Shop", (), {"close": lambda self: abort(403)})()})
    message = amfgate.TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "shop", "operation": "close", "body": [], "messageId": "A"},
    )
    reply = app.test_client().post("/amf", data=Packet(3, [], [Body("null", "/1", [message])]).to_bytes())
    value = Packet.from_bytes(reply.data).bodies[0].value
    assert (value.alias, value["faultCode"]) == ("flex.messaging.messages.ErrorMessage", "Client.Authorization")


# The example: SQLAlchemy and Flask-Login


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    monkeypatch.syspath_prepend(str(SHOP))
    import flask_shop as shop

    monkeypatch.setattr(shop, "generate_password_hash", lambda word: f"plain$${word}")
    monkeypatch.setattr(shop, "check_password_hash", lambda known, word: known == f"plain$${word}")
    app = shop.create_app()
    yield app
    app.extensions["engine"].dispose()


def test_rows_of_the_database_arrive_as_objects(shop: Flask) -> None:
    [products] = ask(shop.test_client(), ("catalog.products", []))
    assert [product["name"] for product in products] == ["Brass sextant", "Hand lens", "Plumb line"]
    assert products[1] == {"id": 2, "name": "Hand lens", "price": 12.25, "stock": 40}


def test_a_customer_logs_in_orders_and_leaves(shop: Flask) -> None:
    client = shop.test_client()
    assert ask(client, ("account.who", []), ("orders.buy", [2])) == [None, "Client.Authentication"]
    assert ask(client, ("account.enter", ["ada", "compass"])) == ["Client.Authentication"]
    assert ask(client, ("account.enter", ["ada", "sextant"]), ("account.who", [])) == ["ada", "ada"]
    assert ask(client, ("orders.buy", [2, 5]), ("orders.buy", [1, 4]), ("orders.buy", [3])) == [1, "Shop.SoldOut", 2]
    assert ask(client, ("orders.mine", [])) == [
        [{"id": 2, "amount": 1, "product": "Plumb line"}, {"id": 1, "amount": 5, "product": "Hand lens"}]
    ]
    assert ask(client, ("account.leave", []), ("orders.mine", [])) == [None, "Client.Authentication"]


def test_a_role_is_asked_of_current_user(shop: Flask) -> None:
    outcomes = []
    for name in ("ada", "grace"):
        client = shop.test_client()
        ask(client, ("account.enter", [name, "sextant"]))
        outcomes += ask(client, ("catalog.reprice", [2, 10.5]))
    assert outcomes == ["Client.Authorization", 10.5]
