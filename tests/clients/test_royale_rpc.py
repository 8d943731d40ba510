"""An Apache Royale application calls the gateway with mx.rpc's RemoteObject over AMFChannels, in headless Chromium.

What Flex applications do: ping, calls, value objects both ways, collections, faults, channels that fail over, login and
logout.  royale_rpc/Calls.as and Logins.as make the calls, royale_rpc/install.sh compiles them once.  Values are
described as browser.py says, a collection as {"ArrayCollection": source}.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import flash_app
import flex_app
import pytest
from browser import UNDEFINED, UNEXPECTED, Run, canonical, open_page, text
from flex_app import Customer, Line, Order
from flex_client import raw
from real import serving
from royale_site import compiled, site
from wsgi_client import post

import amfgate

pytestmark = pytest.mark.clients

SECONDS = 40  # for all calls; they need about three
UUID = r"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    app = site(compiled("royale_rpc"))
    probe = flash_app.Probe()

    @app.post("/gone")
    def gone() -> tuple[str, int]:
        return "no gateway here", 404

    @app.post("/busy")
    def busy() -> tuple[str, int]:
        return "later", 503

    app.wsgi_app = flex_app.gateway(app.wsgi_app, probe)
    recorder = flash_app.Recorder(app)
    with serving(recorder) as port:
        reports, log = open_page(f"http://127.0.0.1:{port}/", SECONDS, tmp_path_factory.mktemp("royale_rpc"))
    return Run(reports, probe.arrived, recorder.packets, log)


def report(run: Run, case: str) -> Any:
    return json.loads(run.report(case))


def sent(packet: flash_app.Packet) -> Any:
    """The message of a request; the codec is tested elsewhere."""
    [body] = amfgate.Packet.from_bytes(packet.request).bodies
    [message] = body.value
    return message


def test_the_channel_connects_by_a_ping(run: Run) -> None:
    """The program has the id of the reply, and knows that it may send small messages."""
    connected = report(run, "connected")["result"]

    assert re.fullmatch(UUID, connected["id"])
    assert connected["smallMessages"] is True
    assert b"\x07DSK" in run.packets[0].reply  # it said that it reads them, and does
    assert run.report("ping") == text({"result": 5})
    assert (sent(run.packets[0])["operation"], sent(run.packets[1])["operation"]) == (5, "add")
    assert sent(run.packets[0])["headers"] == {"DSMessagingVersion": 1, "DSId": "nil"}
    assert {sent(packet)["headers"]["DSId"] for packet in run.packets[1:]} == {connected["id"]}


# The first two requests byte by byte, with one id for all ids.  A length of 1, which is not true, and the one argument
# in an array that is AMF3 already; 05 is a reference to the traits of a dynamic object.
ID = "'00000000-0000-4000-8000-000000000000'"
PING = raw(
    f"""
    0003 0000 0001  0004'null' 0002'/1' 00000001  11 0903 01
    0A 8113 4D'flex.messaging.messages.CommandMessage'
       09'body' 11'clientId' 1B'correlationId' 17'destination' 0F'headers' 13'messageId' 13'operation' 15'timeToLive'
       13'timestamp'
    0A0B0101 01 0601 0601
    0A05 25'DSMessagingVersion' 0401 09'DSId' 0607'nil' 01
    0649{ID} 0405 0400 0400"""
)
CALL = raw(
    f"""
    0003 0000 0001  0004'null' 0002'/2' 00000001  11 0903 01
    0A 8113 4F'flex.messaging.messages.RemotingMessage'
       09'body' 11'clientId' 17'destination' 0F'headers' 13'messageId' 13'operation' 0D'source' 15'timeToLive'
       13'timestamp'
    090501 0402 0403 01 060B'probe'
    0A0B01 15'DSEndpoint' 0609'/amf' 09'DSId' 0649{ID} 01
    0649 {ID} 0607'add' 01 0400 0400"""
)


def test_the_bytes_of_a_ping_and_a_call(run: Run) -> None:
    # Two ids in one request were two texts, and both are written out.
    requests = [re.sub(UUID.encode(), raw(ID), packet.request) for packet in run.packets[:2]]
    assert [request.hex(" ") for request in requests] == [PING.hex(" "), CALL.hex(" ")]


def test_those_bytes_need_no_client() -> None:
    gateway = flex_app.gateway(None, flash_app.Probe())
    pong = post(gateway, PING).value
    result = post(gateway, CALL).value

    assert re.fullmatch(UUID, pong["headers"]["DSId"])
    assert pong["headers"]["DSMessagingVersion"] == 1
    assert result["body"] == 5
    assert {pong["correlationId"], result["correlationId"]} == {ID.strip("'")}


POINT = {"class": "Point", "x": 3, "y": 4}
ADA = {"class": "Customer", "firstName": "Ada", "bornIn": 1815}
ORDER = {
    "class": "Order",
    "id": 7,
    "customer": ADA,
    "placed": {"Date": 1000000000000},
    "lines": [
        {"class": "Line", "sku": "tea", "quantity": 2, "unitPrice": 3.5, "order": {"seen": 0}},
        {"class": "Line", "sku": "cup", "quantity": 1, "unitPrice": 8, "order": {"seen": 0}},
    ],
    "selected": True,  # the server does not know this member: it is what the program has it begin with
}

# The case, what reached the service, what came back.
SENT = [
    ("int", 7, 7),
    ("double", 1.5, 1.5),
    ("true", True, True),
    ("null", None, None),
    ("undefined", amfgate.undefined, None),  # RemoteObject makes null of it
    ("string", "grüße ✓ 🎈", "grüße ✓ 🎈"),
    ("array", [1, "two", None], [1, "two", None]),
    ("object", {"name": "Ada"}, {"name": "Ada"}),
    ("date", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"Date": 1000000000000}),
    ("bytes", bytes([0, 1, 127, 128, 255]), {"ByteArray": "00017f80ff"}),
    ("point", flash_app.Point(3, 4), POINT),
    ("customer", Customer("Ada", 1815), ADA),  # a class whose members can be bound
    # A collection reaches a service as the list in it, and is a list on its way back.
    ("collection", [1, "two", flash_app.Point(3, 4)], [1, "two", POINT]),
    ("list", ["a", "b"], ["a", "b"]),
    ("collections", [[1], []], [[1], []]),
]


@pytest.mark.parametrize(("case", "arrived", "back"), SENT, ids=[case for case, _, _ in SENT])
def test_sent(run: Run, case: str, arrived: Any, back: Any) -> None:
    assert run.report(case) == text({"result": back})
    assert canonical(run.arrived[case]) == canonical(arrived)


def check_order(order: Any, customer: Customer) -> None:
    assert isinstance(order, Order)
    assert (order.id, order.customer) == (7, customer)
    assert order.placed == datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert [(line.sku, line.quantity, line.unit_price) for line in order.lines] == [("tea", 2, 3.5), ("cup", 1, 8)]
    assert all(isinstance(line, Line) and line.order is order for line in order.lines)


def test_a_graph_of_value_objects_comes_and_goes_as_it_is(run: Run) -> None:
    check_order(run.arrived["order"], Customer("Ada", 1815))
    assert run.report("order") == text({"result": ORDER})


def test_what_the_service_changes_in_a_value_object_comes_back(run: Run) -> None:
    check_order(run.arrived["ring"], Customer("Grace", 1815))
    assert run.report("shop.ring") == text({"result": {**ORDER, "customer": {**ADA, "firstName": "Grace"}}})


def test_a_value_object_where_one_is_annotated(run: Run) -> None:
    check_order(run.arrived["place"], Customer("Ada", 1815))
    assert run.report("shop.place") == text({"result": 15})
    assert run.report("shop.greet") == text({"result": "Hello Ada, born in 1815"})


def test_a_member_that_does_not_fit_is_a_fault_that_says_where(run: Run) -> None:
    """The client's null in a text of the second line; the service is not called."""
    fault = "Client.Arguments: shop.place: argument 'order' $.lines[1].sku: expected str, got null"
    assert run.report("shop.wrong") == text({"fault": fault})


def given_order(number: int, seen: int) -> dict[str, Any]:
    return {
        "class": "Order",
        "id": number,
        "customer": {"class": "Customer", "firstName": "Grace", "bornIn": 1906},
        "placed": {"Date": 1000000000000},
        "lines": [{"class": "Line", "sku": "tea", "quantity": 2, "unitPrice": 3.5, "order": {"seen": seen}}],
        "selected": True,
    }


ORDERS = {"ArrayCollection": [given_order(1, 2), given_order(2, 7)]}
GIVEN = [
    ("shop.customer", {"class": "Customer", "firstName": "Grace", "bornIn": 1906}),
    ("shop.orders", ORDERS),
    (
        "shop.page",
        {
            "total": 2,
            "rows": {
                "ArrayCollection": [
                    {"id": 1, "tags": {"ArrayCollection": ["x"]}},
                    {"id": 2, "tags": {"ArrayCollection": []}},
                ]
            },
        },
    ),
    ("shop.nested", {"ArrayCollection": [{"ArrayCollection": [1]}, {"ArrayCollection": []}]}),
    ("shop.search", [{"class": "Line", "sku": "tea", "quantity": 2, "unitPrice": 3.5, "order": None}]),
    ("shop.source", ORDERS),  # the service is the source; the destination stands for all
]


@pytest.mark.parametrize(("case", "value"), GIVEN, ids=[case for case, _ in GIVEN])
def test_given(run: Run, case: str, value: Any) -> None:
    assert run.report(case) == text({"result": value})


FAULTS = [
    ("fault", "Shop.Declined", "no credit", "ask the bank"),
    ("fault.crash", "Server.Processing", UNEXPECTED, ""),
    ("fault.unknown", "Server.ResourceNotFound", "there is no method 'probe.nothing' here", ""),
    ("fault.few", "Client.Arguments", "probe.add(a, b): 1 arguments were given; missing: 'b'", ""),
]


@pytest.mark.parametrize(("case", "code", "string", "detail"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_faults(run: Run, case: str, code: str, string: str, detail: str) -> None:
    fault = {"code": code, "string": string, "detail": detail}
    assert report(run, case) == {"fault": {**fault, "rootCause": None, "extendedData": None, "correlates": True}}


def test_a_fault_brings_value_objects(run: Run) -> None:
    fault = report(run, "fault.objects")["fault"]

    assert fault["rootCause"] == ADA
    assert fault["extendedData"]["lines"][0] == {
        "class": "Line",
        "sku": "tea",
        "quantity": 2,
        "unitPrice": 3.5,
        "order": None,
    }


def test_after_a_fault_the_channel_is_good(run: Run) -> None:
    assert run.report("fault.after") == text({"result": 7})


def test_calls_made_at_once_are_requests_of_their_own(run: Run) -> None:
    assert run.report("at once") == text({"result": [11, 21, 31]})
    packets = [packet for packet in run.packets if sent(packet)["body"] in ([10, 1], [20, 1], [30, 1])]
    assert len(packets) == 3


def test_an_acknowledgement(run: Run) -> None:
    acknowledgement = report(run, "acknowledgement")["result"]

    assert acknowledgement["correlates"] is True
    assert re.fullmatch(UUID, acknowledgement["clientId"])
    # The agent of a destination waits for the first answer's clientId, and has it in all that it sends then.
    [later] = [sent(packet) for packet in run.packets if sent(packet)["body"] == [3, 4]]
    assert later["clientId"] == acknowledgement["clientId"]


def endpoints(run: Run, case: str) -> list[str]:
    """Where the messages of a case went: its call, and what its channels sent before that."""
    found: list[str] = []
    for packet in run.packets:
        message = sent(packet)
        if message["body"] == [case, 1]:
            return [*found, packet.path]
        found = [*found, packet.path] if "DSMessagingVersion" in message["headers"] else []
    raise AssertionError(f"no call of {case!r}\n{run.story()}")


def test_a_second_channel(run: Run) -> None:
    """It pings its own endpoint, with the id that the program has already."""
    assert endpoints(run, "second channel") == ["/amf2", "/amf2"]
    assert run.arrived["second channel"] == 1


def test_a_set_of_channels_fails_over_to_the_one_that_answers(run: Run) -> None:
    assert endpoints(run, "failover") == ["/gone", "/busy", "/amf2", "/amf2"]
    assert report(run, "failover") == {
        "result": {"faults": ["/gone Channel.Ping.Failed", "/busy Channel.Ping.Failed"], "value": 1}
    }


def test_a_set_of_which_no_channel_answers(run: Run) -> None:
    assert report(run, "all dead") == {
        "fault": {
            "faults": ["/gone Channel.Ping.Failed", "/busy Channel.Ping.Failed"],
            "value": "Client.Error.MessageSend",
        }
    }


def test_an_endpoint_in_place_of_channels(run: Run) -> None:
    assert endpoints(run, "endpoint") == ["/amf2", "/amf2"]


def test_royale_appends_nothing_to_its_url(run: Run) -> None:
    """Flash Player does; so does Flex's AMFChannel with it."""
    assert run.report("append to url") == text({"result": "appended"})
    assert run.packet("after the header").query == ""


def test_royale_reads_no_reply_with_a_header_that_is_no_text(run: Run) -> None:
    assert run.report("header") == text({"fault": "Server.Acknowledge.Failed: Didn't receive an acknowledge message"})


def test_disconnecting_and_coming_back(run: Run) -> None:
    assert report(run, "disconnect") == {"result": {"connected": False, "value": 2}}
    messages = [sent(packet) for packet in run.packets]
    [before] = [i for i, message in enumerate(messages) if message["body"] == ["before disconnect", 1]]
    [after] = [i for i, message in enumerate(messages) if message["body"] == ["after disconnect", 2]]
    assert sorted(message["operation"] for message in messages[before + 1 : after]) == [5, 12]


NOBODY = "Client.Authentication: this call needs a user who is logged in"
WRONG = "Client.Authentication: the user id or the password is wrong"

# In the order in which they were made: what the server remembers goes from each to the next.
REMEMBERED = [
    ("visits.first", {"result": 1}),
    ("visits.second", {"result": 2}),
    ("visits.other channel", {"result": 3}),
    ("vault.nobody", {"fault": NOBODY}),
    ("login.wrong", {"fault": {"value": WRONG, "authenticated": UNDEFINED}}),
    ("vault.wrong", {"fault": NOBODY}),
    ("login.right", {"result": {"value": "success", "authenticated": True}}),
    ("vault.ada", {"result": "open for Ada"}),
    ("vault.ada again", {"result": "open for Ada"}),
    ("vault.ada, other channel", {"result": "open for Ada"}),
    ("visits.logged in", {"result": 4}),
    ("logout", {"result": {"value": "success", "authenticated": False}}),
    ("vault.logged out", {"fault": NOBODY}),
    ("visits.logged out", {"result": 1}),
    ("login.other role", {"result": {"value": "success", "authenticated": True}}),
    ("vault.bob", {"fault": "Client.Authorization: the user may not make this call"}),
    ("logout.bob", {"result": {"value": "success", "authenticated": False}}),
    ("login.utf-8", {"result": {"value": "success", "authenticated": True}}),
    ("who.utf-8", {"result": "Zoë"}),
    ("logout.utf-8", {"result": {"value": "success", "authenticated": False}}),
    ("login.latin-1", {"result": {"value": "success", "authenticated": True}}),
    ("who.latin-1", {"result": "Zoë"}),
    ("logout.latin-1", {"result": {"value": "success", "authenticated": False}}),
    # The channel connects by a login, and knows about small messages as after a ping.
    ("credentials.right", {"result": "Ada"}),
    ("credentials.small messages", {"result": True}),
    ("credentials.logout", {"result": "success"}),
    ("credentials.logged out", {"result": None}),
    # Credentials that come with one call; then with none, which is no logout.
    ("remote.first", {"result": "open for Ada"}),
    ("remote.second", {"result": "open for Ada"}),
    ("remote.another object", {"result": "Ada"}),
    ("remote.none", {"result": "open for Ada"}),
    ("remote.wrong", {"fault": WRONG}),
    ("remote.logout", {"result": {"value": "success", "authenticated": False}}),
    ("remote.logged out", {"result": None}),
]


@pytest.mark.parametrize(("case", "outcome"), REMEMBERED, ids=[case for case, _ in REMEMBERED])
def test_remembered(run: Run, case: str, outcome: dict[str, Any]) -> None:
    assert run.report(case) == text(outcome)


def test_remote_credentials_come_with_one_message(run: Run) -> None:
    came = [sent(packet)["headers"].get("DSRemoteCredentials") for packet in run.packets]
    assert [value for value in came if value] == ["YWRhOmxvdmVsYWNl", "YWRhOndyb25n"]


def test_a_channel_that_connects_with_wrong_credentials(run: Run) -> None:
    outcome = report(run, "credentials.wrong")["fault"]

    assert outcome["channel"] == "Channel.Authentication.Error: the user id or the password is wrong"
    assert outcome["value"]["faultCode"] == "Channel.Authentication.Error"
    assert outcome["authenticated"] == UNDEFINED


def test_the_client_keeps_its_first_id_and_each_login_changes_the_cookie(run: Run) -> None:
    """What a login changes has to be the cookie: whoever knew the DSId before is nobody afterwards."""
    [_, *messages] = [sent(packet) for packet in run.packets]
    assert len({message["headers"]["DSId"] for message in messages}) == 1

    cookies = [packet.cookie for packet in run.packets]
    logins = [
        number
        for number, message in enumerate(messages, 1)
        if message["operation"] == 8 and cookies[number + 1 : number + 2] != [""]
    ]
    assert len(logins) == 5
    assert not any(cookies[: logins[0] + 1])
    assert len({cookies[number + 1] for number in logins}) == 5
    assert all(cookies[number + 1].startswith("amfsession=") for number in logins)
