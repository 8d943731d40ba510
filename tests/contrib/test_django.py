"""`amfgate.contrib.django`, on the project of examples/django_shop: users, permissions, transactions, signals."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import django
import pytest
import wsgi_client
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    ImproperlyConfigured,
    ObjectDoesNotExist,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    ValidationError,
)
from django.core.management import CommandError, call_command
from django.core.signals import request_finished, request_started
from django.db import connection, connections, transaction
from django.http import Http404, HttpResponse
from django.test import Client, override_settings
from django.urls import reverse

import amfgate
from amfgate import Body, Header, Packet

SHOP = Path(__file__).resolve().parents[2] / "examples" / "django_shop"
LENS = {"id": 2, "name": "Hand lens", "price": 12.25, "stock": 40}
MIDDLEWARE = __name__ + "."
UNTOLD = "The call failed; the log of the server says why."


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The project, set up in this process: the file of its database, and what is in it before each test."""
    folder = tmp_path_factory.mktemp("django_shop")
    database, template = folder / "shop.sqlite3", folder / "stocked.sqlite3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_SETTINGS_MODULE", "webshop.settings")
        patch.setenv("DATABASE", str(database))
        patch.setenv("TZ", "UTC")  # Django sets it; it is as before afterwards
        patch.syspath_prepend(str(SHOP))
        django.setup()
        with quick_passwords():
            call_command("migrate", verbosity=0)
            call_command("stock", stdout=io.StringIO())
        connections.close_all()
        shutil.copy(database, template)
        yield database, template
        connections.close_all()
    time.tzset()


@pytest.fixture(autouse=True)
def fresh(stocked: tuple[Path, Path]) -> Iterator[None]:
    database, template = stocked
    shutil.copy(template, database)
    with quick_passwords():
        yield
    connections.close_all()


def quick_passwords() -> Any:
    return override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"])


def gateway(services: Any = None, **options: Any) -> amfgate.Gateway:
    from amfgate.contrib.django import gateway

    return gateway(None, services, **options)


class Browser:
    """Makes calls, and keeps the cookies of the replies as a browser would."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.cookies: dict[str, str] = {}

    def post(self, *calls: tuple[str, list[Any]], headers: tuple[Header, ...] = (), **more: Any) -> wsgi_client.Reply:
        if self.cookies:
            more["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        reply = wsgi_client.post(self.application, wsgi_client.packet(*calls, headers=headers), **more)
        for name, value in reply.headers.items():
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return reply

    def call(self, target: str, *args: Any, **more: Any) -> Any:
        """The result, or the code of the fault."""
        (body,) = self.post((target, list(args)), **more).bodies
        return body.value["code"] if body.target.endswith("/onStatus") else body.value

    def log_in(self, name: str) -> Browser:
        assert self.call("account.enter", name, "sextant") == name
        return self


@pytest.fixture
def browser() -> Browser:
    from webshop.wsgi import application

    return Browser(application)


# The example: the ORM and login


def test_a_queryset_arrives_as_an_array_of_objects(browser: Browser) -> None:
    products = browser.call("catalog.products")
    assert [product["name"] for product in products] == ["Brass sextant", "Hand lens", "Plumb line"]
    assert products[1] == LENS


def test_a_lazy_translation_is_a_text(codec: Any) -> None:
    from django.utils.translation import gettext_lazy, override

    with override("de"):
        assert codec.dumps([gettext_lazy("Yes"), gettext_lazy("Yes")]) == bytes.fromhex("0905 01 0605 4a61 0600")
        assert codec.dumps(gettext_lazy("Yes"), version=0) == bytes.fromhex("02 0002 4a61")


def test_every_other_path_is_django_s(browser: Browser) -> None:
    reply = wsgi_client.run(browser.application, wsgi_client.environ(REQUEST_METHOD="GET", PATH_INFO="/"))
    assert reply.status == "200 OK"
    assert reply.data == b"A shop. Programs call its services at /amf.\n"


def test_a_login_makes_a_session_and_the_next_call_knows_the_user(browser: Browser) -> None:
    reply = browser.post(("account.enter", ["ada", "sextant"]))
    assert reply.value == "ada"
    assert reply.headers["Set-Cookie"].startswith("sessionid=")
    assert reply.headers["Vary"] == "Cookie"
    assert reply.headers["Content-Type"] == "application/x-amf"
    assert int(reply.headers["Content-Length"]) == len(reply.data)
    assert browser.call("account.who") == "ada"
    assert Browser(browser.application).call("account.who") is None


def test_a_wrong_password_makes_none(browser: Browser) -> None:
    assert browser.call("account.enter", "ada", "compass") == "Client.Authentication"
    assert browser.cookies == {}


def test_a_logout_ends_the_session(browser: Browser) -> None:
    browser.log_in("ada")
    browser.call("account.leave")
    assert browser.call("account.who") is None


def test_calls_after_a_login_in_the_same_packet_are_the_user_s(browser: Browser) -> None:
    calls: list[tuple[str, list[Any]]] = [
        ("account.who", []),
        ("account.enter", ["ada", "sextant"]),
        ("account.who", []),
        ("orders.buy", [2]),
        ("account.leave", []),
        ("orders.buy", [2]),
    ]
    reply = browser.post(*calls)
    assert reply.codes == [None, None, None, None, None, "Client.Authentication"]
    assert [body.value for body in reply.bodies[:3]] == [None, "ada", "ada"]


def test_an_order_is_written_and_read(browser: Browser) -> None:
    browser.log_in("ada")
    assert browser.call("orders.buy", 2, 5) == 1
    assert browser.call("orders.mine") == [{"id": 1, "amount": 5, "product_name": "Hand lens"}]
    assert browser.call("catalog.products")[1]["stock"] == 35


def test_a_fault_rolls_back_its_own_call_and_no_other(browser: Browser) -> None:
    browser.log_in("ada")
    reply = browser.post(("orders.buy", [2, 1]), ("orders.buy", [1, 4]), ("orders.buy", [3, 1]))
    assert reply.codes == [None, "Shop.SoldOut", None]
    names = [order["product_name"] for order in browser.call("orders.mine")]
    assert names == ["Plumb line", "Hand lens"]


def test_the_project_runs_as_commands(tmp_path: Path) -> None:
    environ = {**os.environ, "DATABASE": str(tmp_path / "shop.sqlite3"), "PYTHONDONTWRITEBYTECODE": "1"}
    environ.pop("DJANGO_SETTINGS_MODULE", None)
    said = ""
    for arguments in (["migrate", "-v0"], ["makemigrations", "--check"], ["amfgate", "orders"]):
        command = [sys.executable, "-W", "error", "manage.py", *arguments]
        done = subprocess.run(command, cwd=SHOP, env=environ, text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        said += done.stdout
    assert said == (
        "No changes detected\n"
        "orders.buy(number: int, amount: int=)    requires any user"
        "    Order a product.  When there is not enough of it, nothing is written at all.\n"
        "orders.mine()    requires any user    The orders of who is logged in, the latest first.\n"
    )


# Users and permissions


def test_a_name_with_a_dot_is_a_permission(browser: Browser) -> None:
    assert browser.call("catalog.reprice", 2, 10.5) == "Client.Authentication"
    assert browser.log_in("ada").call("catalog.reprice", 2, 10.5) == "Client.Authorization"
    assert Browser(browser.application).log_in("grace").call("catalog.reprice", 2, 10.5) == 10.5


def test_an_inactive_user_is_nobody(browser: Browser) -> None:
    from django.contrib.auth.models import User

    browser.log_in("grace")
    User.objects.filter(username="grace").update(is_active=False)
    assert browser.call("catalog.reprice", 2, 10.5) == "Client.Authentication"


def test_a_name_without_a_dot_is_a_group() -> None:
    from django.contrib.auth.models import Group, User

    @amfgate.requires("clerks")
    def count() -> int:
        return 3

    User.objects.get(username="ada").groups.add(Group.objects.create(name="clerks"))
    User.objects.create_superuser("root", password="x")
    served = gateway({"count": count}, credentials=True)
    called = {
        name: Browser(served).call("count", headers=(credentials(name, password),))
        for name, password in [("ada", "sextant"), ("grace", "sextant"), ("root", "x")]
    }
    assert called == {"ada": 3, "grace": "Client.Authorization", "root": 3}


def test_an_inactive_user_is_in_no_group() -> None:
    from django.contrib.auth.models import Group, User

    @amfgate.requires("clerks")
    def count() -> int:
        return 3

    ada = User.objects.get(username="ada")
    ada.groups.add(Group.objects.create(name="clerks"))
    with override_settings(AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.AllowAllUsersModelBackend"]):
        served = Browser(gateway({"count": count}, credentials=True))
        assert served.call("count", headers=(credentials("ada", "sextant"),)) == 3
        User.objects.filter(pk=ada.pk).update(is_active=False)
        assert served.call("count", headers=(credentials("ada", "sextant"),)) == "Client.Authorization"


def test_a_predicate_is_asked_about_the_user(browser: Browser) -> None:
    @amfgate.requires(lambda user: user.get_username().startswith("g"))
    def count() -> int:
        return 3

    browser.log_in("ada")
    served = Browser(gateway({"count": count}))
    served.cookies = browser.cookies
    assert served.call("count") == "Client.Authorization"


def credentials(userid: str, password: str) -> Header:
    return Header("Credentials", {"userid": userid, "password": password})


def who(call: amfgate.Call) -> list[Any]:
    names = (call.user, call.request.user)
    return [None if user is None or not user.is_authenticated else user.get_username() for user in names]


def test_credentials_are_checked_by_the_project_s_backends() -> None:
    served = Browser(gateway({"who": who}, credentials=True))
    assert served.call("who", headers=(credentials("ada", "sextant"),)) == ["ada", "ada"]
    assert served.call("who", headers=(credentials("ada", "compass"),)) == "Client.Authentication"
    assert served.call("who") == [None, None]


def test_credentials_are_nothing_unless_asked_for() -> None:
    assert Browser(gateway({"who": who})).call("who", headers=(credentials("ada", "sextant"),)) == [None, None]


def test_django_s_refusals_are_faults_that_tell() -> None:
    def forbidden() -> None:
        raise PermissionDenied("not on Sundays")

    def missing() -> None:
        raise Http404

    reply = Browser(gateway({"forbidden": forbidden, "missing": missing})).post(("forbidden", []), ("missing", []))
    told = [(body.value["code"], body.value["description"]) for body in reply.bodies]
    assert told == [
        ("Client.Authorization", "not on Sundays"),
        ("Server.ResourceNotFound", "there is no such thing"),
    ]


def told(error: Exception, **options: Any) -> tuple[Any, Any, Any]:
    """Code, description and extended data of the fault for what a method raises."""

    def fail() -> None:
        raise error

    value = Browser(gateway({"fail": fail}, **options)).post(("fail", [])).value
    return value["code"], value["description"], value.get("extendedData")


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (BadRequest("no number"), ("Client.BadRequest", "no number", None)),
        (BadRequest(), ("Client.BadRequest", "the request cannot be served", None)),
        (SuspiciousOperation("secret"), ("Client.BadRequest", "the request cannot be served", None)),
        (DisallowedHost("secret"), ("Client.BadRequest", "the request cannot be served", None)),
        (
            RequestDataTooBig("secret"),
            ("Client.RequestEntityTooLarge", "the request is larger than this server reads", None),
        ),
        (ValidationError("%(n)d is odd", params={"n": 3}), ("Client.Validation", "3 is odd", None)),
        (ValidationError(["one", "two"]), ("Client.Validation", "one; two", None)),
        (
            ValidationError({"name": ["too long", "too dull"], "price": "missing"}),
            (
                "Client.Validation",
                "name: too long; name: too dull; price: missing",
                {"name": ["too long", "too dull"], "price": ["missing"]},
            ),
        ),
        (ObjectDoesNotExist("secret"), ("Server.Processing", UNTOLD, None)),
    ],
)
def test_what_django_s_views_raise_for_their_clients(error: Exception, fault: tuple[Any, ...]) -> None:
    assert told(error, debug=False) == fault


def test_faults_of_the_settings_add_to_django_s_and_win_over_them() -> None:
    faults = {
        "django.core.exceptions.ObjectDoesNotExist": "Server.ResourceNotFound",
        PermissionDenied: ("Shop.Closed", "come back on Monday"),
    }
    with override_settings(AMFGATE={"FAULTS": faults}):
        assert told(ObjectDoesNotExist("nothing")) == ("Server.ResourceNotFound", "nothing", None)
        assert told(PermissionDenied("secret")) == ("Shop.Closed", "come back on Monday", None)
        assert told(Http404("gone")) == ("Server.ResourceNotFound", "gone", None)
        assert told(PermissionDenied("told"), faults={})[:2] == ("Client.Authorization", "told")


@pytest.mark.parametrize(
    ("faults", "error", "text"),
    [
        ({"shop.Nothing": "A"}, ImproperlyConfigured, r"AMFGATE\['FAULTS'\]: "),
        ({"LookupError": "A"}, ImproperlyConfigured, r"AMFGATE\['FAULTS'\]: LookupError doesn't look like"),
        (
            ["KeyError"],
            ImproperlyConfigured,
            r"AMFGATE\['FAULTS'\] is a dict of exceptions to codes, not \['KeyError'\]",
        ),
        ({"django.http.HttpResponse": "A"}, TypeError, "is no class of exceptions"),
        ({PermissionDenied: 5}, TypeError, "faults: PermissionDenied has 5"),
    ],
)
def test_faults_that_cannot_be_used_are_an_error_at_once(faults: Any, error: type[Exception], text: str) -> None:
    with override_settings(AMFGATE={"FAULTS": faults}), pytest.raises(error, match=text):
        gateway({})


def refuses(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Middleware that raises for every request."""

    def middleware(request: Any) -> Any:
        raise PermissionDenied("not from here")

    return middleware


def test_what_middleware_and_requirements_raise_is_told_too() -> None:
    def sundays(call: amfgate.Call) -> bool:
        raise PermissionDenied("not on Sundays")

    @amfgate.requires(sundays)
    def f() -> None: ...

    value = Browser(gateway({"f": f})).post(("f", [])).value
    assert (value["code"], value["description"]) == ("Client.Authorization", "not on Sundays")
    value = Browser(gateway({"f": f}, middleware=[MIDDLEWARE + "refuses"])).post(("f", [])).value
    assert (value["code"], value["description"]) == ("Client.Authorization", "not from here")


def test_a_request_for_a_host_that_is_not_this_one_is_a_bad_request() -> None:
    reply = Browser(gateway({"f": len}, debug=False)).post(
        ("f", []), HTTP_HOST="evil.example", HTTP_ORIGIN="http://evil.example"
    )
    assert (reply.value["code"], reply.value["description"]) == ("Client.BadRequest", "the request cannot be served")


# The request


def test_the_call_has_django_s_request() -> None:
    seen: list[Any] = []

    def look(call: amfgate.Call) -> None:
        request = call.request
        seen.extend((type(request).__name__, request.method, request.path, request.body, request.read(6)))
        seen.append(request.META["REMOTE_ADDR"])

    data = wsgi_client.packet(("look", []))
    wsgi_client.post(gateway({"look": look}), data, SCRIPT_NAME="/shop", REMOTE_ADDR="192.0.2.7")
    assert seen == ["WSGIRequest", "POST", "/shop/amf", data, bytes.fromhex("0000 0000 0001"), "192.0.2.7"]


def test_urls_are_made_below_the_prefix_of_the_project() -> None:
    def home() -> str:
        return reverse("home")

    urls = ModuleType("urls_of_a_test")
    urls.urlpatterns = [django.urls.path("home", HttpResponse, name="home")]  # type: ignore[attr-defined]
    with override_settings(ROOT_URLCONF=urls):
        data = wsgi_client.packet(("home", []))
        assert wsgi_client.post(gateway({"home": home}), data, SCRIPT_NAME="/shop").value == "/shop/home"


def test_without_the_step_the_request_is_missed_by_name() -> None:
    def look(call: amfgate.Call) -> None:
        call.request.user  # noqa: B018

    plain = amfgate.Gateway(None, {"look": look}, debug=True)
    assert "no step of this gateway makes one" in wsgi_client.call(plain, "look").value["description"]


# Signals and connections


@pytest.fixture
def signals() -> Iterator[list[Any]]:
    seen: list[Any] = []

    def started(sender: Any, environ: dict[str, Any], **more: Any) -> None:
        seen.append(("started", environ["PATH_INFO"]))

    def finished(sender: Any, **more: Any) -> None:
        seen.append("finished")

    request_started.connect(started)
    request_finished.connect(finished)
    yield seen
    request_started.disconnect(started)
    request_finished.disconnect(finished)


def test_a_packet_is_one_request_to_the_signals(signals: list[Any]) -> None:
    served = gateway({"look": lambda: signals.append("call")})
    start: list[Any] = []
    body: Any = served(
        wsgi_client.environ(wsgi_client.packet(("look", []), ("look", []))), lambda *given: start.extend(given)
    )
    assert signals == [("started", "/amf"), "call", "call"]
    b"".join(body)
    body.close()
    assert signals == [("started", "/amf"), "call", "call", "finished"]


@pytest.mark.parametrize("data", [b"", b"<html>", wsgi_client.packet(("no.such", []))])
def test_what_is_no_call_is_a_request_too(signals: list[Any], data: bytes) -> None:
    wsgi_client.post(gateway({"who": who}), data)
    assert signals == [("started", "/amf"), "finished"]


def test_connections_are_closed_behind_the_reply() -> None:
    def count() -> int:
        with connection.cursor() as cursor:
            return cursor.execute("SELECT 40 + 2").fetchone()[0]

    assert Browser(gateway({"count": count})).call("count") == 42
    assert connection.connection is None


def test_what_is_no_exception_rolls_back_and_finishes_the_request(signals: list[Any]) -> None:
    from catalog.models import Product

    def stop() -> None:
        Product.objects.all().delete()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Browser(gateway({"stop": stop})).call("stop")
    assert signals == [("started", "/amf"), "finished"]
    assert Product.objects.count() == 3


def test_threads_have_their_own_sessions(browser: Browser) -> None:
    # They log in one after another: SQLite has one writer at a time.
    users = [Browser(browser.application).log_in(name) for name in ("ada", "grace")]
    seen: list[set[Any]] = [set(), set()]

    def work(number: int) -> None:
        seen[number].update(users[number].call("account.who") for _ in range(10))

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [{"ada"}, {"grace"}]


# Transactions


def add_one() -> None:
    from catalog.models import Product

    Product.objects.create(name="Slide rule", price=64.0)
    raise amfgate.Fault("Shop.Closed")


def rules() -> int:
    from catalog.models import Product

    return int(Product.objects.filter(name="Slide rule").count())


@pytest.mark.parametrize(("atomic", "left"), [(None, 0), (True, 0), (["default"], 0), ("default", 0), (False, 1)])
def test_a_transaction_is_the_default_where_requests_have_one(atomic: Any, left: int) -> None:
    assert Browser(gateway({"add": add_one}, atomic=atomic)).call("add") == "Shop.Closed"
    assert rules() == left


def test_without_atomic_requests_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", False)
    served = gateway({"add": add_one})
    assert "Atomic" not in repr(served)
    Browser(served).call("add")
    assert rules() == 1


def test_non_atomic_requests_leaves_a_method_out() -> None:
    class Shelf:
        @transaction.non_atomic_requests
        def add(self) -> None:
            add_one()

    Browser(gateway({"shelf": Shelf()})).call("shelf.add")
    assert rules() == 1


def test_a_commit_that_fails_is_the_fault_of_its_call() -> None:
    from catalog.models import Order

    def order(product: int) -> None:  # SQLite looks at foreign keys when the transaction ends
        Order.objects.create(customer_id=1, product_id=product, amount=1)

    reply = Browser(gateway({"order": order})).post(("order", [99]), ("order", [1]))
    assert reply.codes == ["Server.Processing", None]
    assert Order.objects.count() == 1


def test_a_queryset_is_read_in_the_transaction_of_its_call() -> None:
    from catalog.models import Product

    inside: list[tuple[str, bool]] = []

    def look(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        inside.append((sql.partition(" ")[0], connection.in_atomic_block))
        return execute(sql, *more)

    with connection.execute_wrapper(look):
        names = Browser(gateway({"names": lambda: Product.objects.values_list("name", flat=True)})).call("names")
    assert names == ["Brass sextant", "Hand lens", "Plumb line"]
    assert inside == [("BEGIN", False), ("SELECT", True)]


def test_a_queryset_that_cannot_be_read_rolls_back() -> None:
    from catalog.models import Product

    def add() -> Any:
        Product.objects.create(name="Slide rule", price=64.0)
        return Product.objects.extra(where=["no_such_column = 1"]).values()

    assert Browser(gateway({"add": add})).call("add") == "Server.Processing"
    assert rules() == 0


# The project's middleware


def test_the_middleware_that_knows_the_user_is_taken_in_the_project_s_order(browser: Browser) -> None:
    assert repr(browser.application) == (
        "<Gateway /amf: RequestCycle, PacketCodec, ProjectMiddleware(SessionMiddleware, AuthenticationMiddleware: "
        "trusted_origin, project_session, Flex, Dispatch(find, authorize, bind, Atomic(default), invoke, adapt))>"
    )


class OwnSessions(SessionMiddleware):
    """As projects have it, with something of their own."""


def test_a_project_s_own_kind_of_session_middleware_is_among_it() -> None:
    with override_settings(MIDDLEWARE=["django.middleware.common.CommonMiddleware", MIDDLEWARE + "OwnSessions"]):
        assert "ProjectMiddleware(OwnSessions: " in repr(gateway({"who": who}))


def tenant(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware as a function, with something to do on both ways."""

    def middleware(request: Any) -> Any:
        request.tenant = request.META.get("HTTP_X_TENANT", "nobody")
        if request.tenant == "late":
            return HttpResponse("pay first", status=402, content_type="text/plain")
        if request.tenant == "unknown":
            raise RuntimeError("no such tenant")
        response = get_response(request)
        response["X-Tenant"] = request.tenant
        response.set_cookie("tenant", request.tenant)
        response.set_cookie("seen", "1")
        return response

    return middleware


def test_middleware_may_be_any_that_django_takes() -> None:
    served = gateway({"tenant": lambda call: call}, middleware=[MIDDLEWARE + "tenant"])

    def name(call: amfgate.Call) -> str:
        return str(call.request.tenant)

    served = gateway({"tenant": name}, middleware=[MIDDLEWARE + "tenant"])
    headers: list[tuple[str, str]] = []
    environ = wsgi_client.environ(wsgi_client.packet(("tenant", [])), HTTP_X_TENANT="blue")
    served(environ, lambda status, given: headers.extend(given))
    assert headers[3:] == [
        ("X-Tenant", "blue"),
        ("Set-Cookie", "tenant=blue; Path=/"),
        ("Set-Cookie", "seen=1; Path=/"),
    ]
    assert Browser(served).call("tenant", HTTP_X_TENANT="blue") == "blue"
    assert Browser(served).call("tenant", HTTP_X_TENANT="unknown") == "Server.Processing"


def test_middleware_may_answer_itself() -> None:
    served = gateway({"who": who}, middleware=[MIDDLEWARE + "tenant"])
    reply = wsgi_client.post(served, wsgi_client.packet(("who", [])), HTTP_X_TENANT="late")
    assert (reply.status, reply.data, reply.headers["Content-Type"]) == (
        "402 Payment Required",
        b"pay first",
        "text/plain",
    )


def test_a_fault_of_the_middleware_reaches_a_flex_client_as_its_error_message() -> None:
    served = gateway({"who": who}, middleware=[MIDDLEWARE + "tenant"])
    message = amfgate.TypedObject(
        "flex.messaging.messages.RemotingMessage",
        {"destination": "who", "operation": "who", "body": [], "messageId": "A"},
    )
    data = Packet(3, [], [Body("null", "/1", [message])]).to_bytes()
    value = wsgi_client.post(served, data, HTTP_X_TENANT="unknown").value
    assert (value.alias, value["faultCode"]) == ("flex.messaging.messages.ErrorMessage", "Server.Processing")


def unused(get_response: Callable[[Any], Any]) -> None:
    raise django.core.exceptions.MiddlewareNotUsed


def none(get_response: Callable[[Any], Any]) -> None:
    return None


def only_async(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return get_response


only_async.sync_capable = False  # type: ignore[attr-defined]


def test_middleware_that_cannot_be_used_is_found_out_at_the_start() -> None:
    served = gateway({"one": lambda: 1}, middleware=[MIDDLEWARE + "unused"])
    assert (Browser(served).call("one"), "ProjectMiddleware(: " in repr(served)) == (1, True)
    for name, message in [
        ("none", "none made no handler"),
        ("only_async", "only_async is for async views only"),
        ("nowhere", "does not define a"),
    ]:
        with pytest.raises(ImproperlyConfigured, match=message):
            gateway({"who": who}, middleware=[MIDDLEWARE + name])


# The session, and logins of Flex


def session_probe() -> dict[str, Any]:
    def count(call: amfgate.Call) -> int:
        assert call.session is call.request.session
        call.session["count"] = call.session.get("count", 0) + 1
        return int(call.session["count"])

    def add(call: amfgate.Call, item: str) -> int:
        call.session.setdefault("cart", []).append(item)
        call.session.modified = True  # type: ignore[attr-defined]
        return len(call.session["cart"])

    def enter(call: amfgate.Call, name: str) -> None:
        from django.contrib.auth.models import User

        call.exchange.log_in(name, User.objects.get(username=name))

    def leave(exchange: amfgate.Exchange) -> None:
        exchange.log_out()

    return {"count": count, "add": add, "enter": enter, "leave": leave, "who": who}


def flex_command(browser: Browser, operation: int, body: Any = None, client: str = "nil") -> dict[str, Any]:
    """The members of the answer to a CommandMessage."""
    message = amfgate.TypedObject(
        "flex.messaging.messages.CommandMessage",
        {"operation": operation, "body": body, "headers": {"DSId": client}, "messageId": "M"},
    )
    (answer,) = browser.post(("null", [message])).bodies
    return dict(answer.value)


def test_the_session_is_django_s() -> None:
    browser = Browser(gateway(session_probe()))
    reply = browser.post(("count", []), ("count", []))
    assert [body.value for body in reply.bodies] == [1, 2]
    assert reply.headers["Set-Cookie"].startswith("sessionid=")
    assert (browser.call("count"), browser.call("add", "a"), browser.call("add", "b")) == (3, 1, 2)
    assert Browser(browser.application).call("count") == 1


def test_the_session_of_a_view_is_django_s() -> None:
    from django.contrib.sessions.middleware import SessionMiddleware
    from django.test import RequestFactory

    from amfgate.contrib.django import view

    served = view(session_probe())
    request = RequestFactory().post("/amf", wsgi_client.packet(("count", [])), content_type="application/x-amf")
    response = SessionMiddleware(served)(request)
    assert Packet.from_bytes(response.content).bodies[0].value == 1
    assert "sessionid" in response.cookies
    assert request.session["count"] == 1


def test_a_login_by_the_exchange_is_django_s() -> None:
    browser = Browser(gateway(session_probe()))
    browser.call("count")
    before = dict(browser.cookies)
    assert browser.call("enter", "ada") is None
    assert browser.cookies != before  # another key, so that who knew the old one is not logged in
    assert (browser.call("who"), browser.call("count")) == (["ada", "ada"], 2)
    stranger = Browser(browser.application)
    stranger.cookies = before
    assert stranger.call("who") == [None, None]
    assert browser.call("leave") is None
    assert (browser.call("who"), browser.call("count")) == ([None, None], 1)


def test_a_login_of_flex_is_django_s() -> None:
    browser = Browser(gateway(session_probe(), credentials=True))
    answer = flex_command(browser, 8, "YWRhOmNvbXBhc3M=")  # ada:compass
    assert (answer["faultCode"], browser.cookies) == ("Client.Authentication", {})
    answer = flex_command(browser, 8, "YWRhOnNleHRhbnQ=")  # ada:sextant
    assert answer["body"] == "success"
    client = answer["headers"]["DSId"]
    assert len(client) == 36
    assert browser.call("who") == ["ada", "ada"]
    assert flex_command(browser, 5, client=client)["headers"]["DSId"] == client
    assert flex_command(browser, 9, client=client)["body"] == "success"
    assert browser.call("who") == [None, None]


def test_calls_in_front_of_a_logout_of_flex_are_made_by_who_is_logged_in() -> None:
    browser = Browser(gateway(session_probe(), credentials=True))
    browser.call("count")
    browser.call("enter", "ada")
    logout = amfgate.TypedObject(
        "flex.messaging.messages.CommandMessage", {"operation": 9, "headers": {"DSId": "nil"}, "messageId": "M"}
    )
    reply = browser.post(("who", []), ("count", []), ("null", [logout]), ("who", []), ("count", []))
    values = [body.value for body in reply.bodies]
    assert values[2]["body"] == "success"
    assert values[:2] + values[3:] == [["ada", "ada"], 2, [None, None], 1]


def test_without_sessions_a_login_of_flex_is_for_its_packet() -> None:
    served = Browser(gateway(session_probe(), credentials=True, middleware=[]))
    assert flex_command(served, 8, "YWRhOnNleHRhbnQ=")["body"] == "success"
    assert served.cookies == {}
    assert served.call("count") == "Server.Processing"


# Other sites


@pytest.mark.parametrize(
    ("origin", "options", "outcome"),
    [
        (None, {}, "ada"),
        ("http://localhost", {}, "ada"),
        ("https://localhost", {}, "Client.Authorization"),
        ("http://evil.example", {}, "Client.Authorization"),
        ("null", {}, "Client.Authorization"),
        ("https://games.example", {}, "ada"),
        ("https://a.sister.example", {}, "ada"),
        ("https://sister.example", {}, "Client.Authorization"),
        ("https://eviltwin.example", {}, "Client.Authorization"),
        ("http://evil.example", {"cors": "http://evil.example"}, "ada"),
        ("http://evil.example", {"cors": "*"}, "Client.Authorization"),
    ],
)
def test_a_page_of_another_site_may_not_use_its_visitor_s_session(
    browser: Browser, origin: str | None, options: dict[str, Any], outcome: str
) -> None:
    browser.log_in("ada")
    with override_settings(CSRF_TRUSTED_ORIGINS=["https://games.example", "https://*.sister.example"]):
        served = Browser(gateway(**options))
        served.cookies = browser.cookies
        assert served.call("account.who", HTTP_ORIGIN=origin) == outcome


def test_a_page_of_another_site_may_call_as_nobody(browser: Browser) -> None:
    assert browser.call("account.who", HTTP_ORIGIN="http://evil.example") is None


# Settings and services


def test_settings_are_arguments_in_capitals() -> None:
    with override_settings(
        AMFGATE={"PATH": ("/a", "/b"), "LIMITS": {"max_body": 9}, "SERVICES": {"who": MIDDLEWARE + "who"}}, DEBUG=True
    ):
        served = gateway()
        assert (served.paths, served.limits.max_body, served.debug) == (("/a", "/b"), 9, True)
        assert list(served.services)[-1] == "who"
        assert gateway(path="/c", debug=False).paths == ("/c",)
        assert not gateway(debug=False).debug
    assert not gateway().debug


def test_a_setting_has_lists_sent_as_collections() -> None:
    with override_settings(AMFGATE={"FLEX_COLLECTIONS": "deep"}):
        assert gateway().flex_collections == "deep"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"PAHT": "/amf"}, r"AMFGATE\['PAHT'\] is no setting of amfgate; there are ATOMIC, CASE_INSENSITIVE"),
        ({"path": "/amf"}, r"AMFGATE\['path'\] is no setting"),
        ([], r"AMFGATE is a dict of settings, not \[\]"),
        ({"SERVICES": {"a": "no.such"}}, r"AMFGATE\['SERVICES'\]\['a'\]: No module named 'no'"),
        ({"ATOMIC": ["other"]}, "there is no database 'other' in DATABASES"),
    ],
)
def test_a_wrong_setting_stops_the_start(settings: Any, message: str) -> None:
    with override_settings(AMFGATE=settings), pytest.raises(ImproperlyConfigured, match=message):
        gateway()


def test_a_wrong_option_stops_the_start() -> None:
    with pytest.raises(TypeError, match=r"gateway\(\) has no option 'filters'; there are atomic, "):
        gateway(filters=[])


MODULE = """
import amfgate
from elsewhere import Imported

@amfgate.service("made")
class Made:
    def one(self): return 1

@amfgate.service("configured")
class Configured:
    def __init__(self, number): self.number = number
    def get(self): return self.number

configured = Configured(7)
again = configured

class Heir(Made):
    pass

@amfgate.service("function")
def function(): return 2

def helper(): return 3
"""


def test_a_module_offers_what_it_defines_and_decorates(monkeypatch: pytest.MonkeyPatch) -> None:
    from amfgate.contrib.django import services

    elsewhere = ModuleType("elsewhere")
    exec(
        'import amfgate\n@amfgate.service("imported")\nclass Imported:\n    def two(self): return 2\n',
        vars(elsewhere),
    )
    monkeypatch.setitem(sys.modules, "elsewhere", elsewhere)
    module = ModuleType("some.amf_services")
    exec(MODULE, vars(module))
    monkeypatch.setattr(services, "_modules", lambda: [module])
    assert list(services.discover()) == ["configured.get", "function", "made.one"]
    module.__all__ = ["Imported", "function", "helper"]  # type: ignore[attr-defined]
    assert list(services.discover()) == ["function", "imported.two"]


def test_the_command_lists_what_the_site_serves() -> None:
    said = io.StringIO()
    call_command("amfgate", stdout=said)
    assert [line.partition("(")[0] for line in said.getvalue().splitlines()] == [
        "account.enter",
        "account.leave",
        "account.who",
        "catalog.products",
        "catalog.reprice",
        "orders.buy",
        "orders.mine",
    ]
    assert said.getvalue().splitlines()[4] == (
        "catalog.reprice(number: int, price: float)    requires 'catalog.change_product'"
        "    Give a product another price."
    )
    with pytest.raises(CommandError, match="there is no service 'sales'"):
        call_command("amfgate", "sales")


def test_the_command_asks_the_application_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def add(a: int, b: int = 1) -> int:
        return a + b

    module = SimpleNamespace(wrapped=gateway({"math.add": add}), plain=lambda environ, start_response: [])
    monkeypatch.setitem(sys.modules, "wsgi_of_a_test", module)  # type: ignore[arg-type]
    said = io.StringIO()
    with override_settings(WSGI_APPLICATION="wsgi_of_a_test.wrapped"):
        call_command("amfgate", stdout=said)
    assert said.getvalue() == "math.add(a: int, b: int=) -> int\n"
    with override_settings(WSGI_APPLICATION="wsgi_of_a_test.plain"):
        call_command("amfgate", "orders", stdout=said)
    assert said.getvalue().splitlines()[2].startswith("orders.mine()")


# The gateway as a view


def ask(client: Any, *calls: tuple[str, list[Any]], **more: Any) -> list[Any]:
    data = wsgi_client.packet(*calls)
    reply = client.post("/remoting", data, content_type="application/x-amf", **more)
    assert (reply.status_code, reply["Content-Type"]) == (200, "application/x-amf")
    return [
        body.value["code"] if body.target.endswith("/onStatus") else body.value
        for body in Packet.from_bytes(reply.content).bodies
    ]


def test_the_view_answers_django_s_test_client() -> None:
    from catalog.models import Order

    client = Client(enforce_csrf_checks=True, SERVER_NAME="localhost")
    assert ask(client, ("account.enter", ["ada", "sextant"]), ("orders.buy", [2])) == ["ada", 1]
    assert ask(client, ("account.who", []), ("orders.buy", [1, 4])) == ["ada", "Shop.SoldOut"]
    assert Order.objects.count() == 1
    assert ask(client, ("account.who", []), headers={"Origin": "http://evil.example"}) == ["Client.Authorization"]


def test_the_view_answers_what_is_no_packet() -> None:
    client = Client(SERVER_NAME="localhost")
    reply = client.post("/remoting", b"<html>", content_type="application/x-amf")
    assert (reply.status_code, reply["X-Content-Type-Options"]) == (400, "nosniff")
    assert client.get("/remoting").status_code == 405


def test_the_view_reads_what_a_middleware_has_read() -> None:
    with override_settings(MIDDLEWARE=[MIDDLEWARE + "reader"]):
        assert ask(Client(), ("catalog.products", []))[0][1] == LENS


def reader(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def middleware(request: Any) -> Any:
        assert request.body
        return get_response(request)

    return middleware


@pytest.mark.parametrize("option", ["path", "middleware", "crossdomain"])
def test_the_view_has_no_path(option: str) -> None:
    from amfgate.contrib.django import view

    with pytest.raises(TypeError, match=rf"view\(\) takes no {option}="):
        view(**{option: "/amf"})
