"""A Flash program that writes Flex packets by hand calls the gateway: run by Ruffle, in headless Chromium.

What Flex does for a program, haxe/Flex.hx does itself: a packet of version 3, messages of the target `null`, each the
one argument.  So there may be several messages in a packet here, and a plain call among them; and as Ruffle reads no
externalizable objects, a reply with small messages or collections that nobody asked for would break it.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import flash_app
import flex_app
import pytest
from browser import Run, canonical, compile_swf, left_out, open_page
from real import leave_out, serving

pytestmark = pytest.mark.clients

SECONDS = 30  # it needs about two
UUID = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    reason = left_out().replace("test_ruffle.py", "test_ruffle_flex.py")
    if reason:
        leave_out(reason)

    folder = tmp_path_factory.mktemp("flex")
    swf = folder / "as3.swf"
    compile_swf(swf, "-main", "Flex", "-swf-version", "15", "-swf-header", "100:100:60")

    probe = flash_app.Probe()
    app = flash_app.flask_app(swf)
    app.wsgi_app = flex_app.gateway(app.wsgi_app, probe)
    recorder = flash_app.Recorder(app)
    with serving(recorder) as port:
        site = f"http://127.0.0.1:{port}/"
        query = urlencode({"programs": "as3.swf", "gateway": site + "amf"})
        reports, log = open_page(f"{site}?{query}", SECONDS, folder)
    return Run(reports, probe.arrived, recorder.packets, log)


def bodies(run: Run, case: str) -> list[Any]:
    """The bodies of the reply, as (target, message)."""
    outcome = json.loads(run.report(case))
    assert "result" in outcome, f"{outcome}\n{run.story()}"
    return [(body["target"], body["value"]) for body in outcome["result"]]


def body(run: Run, case: str) -> tuple[str, Any]:
    [body] = bodies(run, case)
    return body


def test_ping(run: Run) -> None:
    target, message = body(run, "ping")

    assert target == "/1/onResult"
    assert UUID.fullmatch(message["headers"]["DSId"])
    assert UUID.fullmatch(message.pop("clientId"))
    assert UUID.fullmatch(message.pop("messageId"))
    assert message.pop("timestamp") > 1_600_000_000_000  # milliseconds
    assert message == {
        "message": "AcknowledgeMessage",
        "correlationId": "00000000-0000-4000-8000-000000000001",
        "headers": {"DSId": message["headers"]["DSId"], "DSMessagingVersion": 1},
        "body": None,
        "destination": None,
        "timeToLive": 0,
    }


RESULTS = [
    ("add", 5),
    ("point", {"class": "shop.Point", "x": 3, "y": "up"}),
    ("points", [{"class": "shop.Point", "x": 1, "y": 2}, {"name": "Ada", "tags": ["x"]}]),
    ("source", 9),
]


@pytest.mark.parametrize(("case", "result"), RESULTS, ids=[case for case, _ in RESULTS])
def test_results(run: Run, case: str, result: Any) -> None:
    target, message = body(run, case)

    assert (target, message["message"]) == ("/1/onResult", "AcknowledgeMessage")
    assert message["body"] == result


def test_value_objects_reach_the_service_as_instances(run: Run) -> None:
    assert canonical(run.arrived["point"]) == canonical(flash_app.Point(3, "up"))
    assert canonical(run.arrived["points"]) == canonical([flash_app.Point(1, 2), {"name": "Ada", "tags": ["x"]}])


FAULTS = [
    ("fault", "Shop.Declined", "card expired", "ask the bank"),
    ("unknown", "Server.ResourceNotFound", "there is no method 'probe.nothing' here", ""),
    ("vault.nobody", "Client.Authentication", "this call needs a user who is logged in", ""),
]


@pytest.mark.parametrize(("case", "code", "string", "detail"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_faults(run: Run, case: str, code: str, string: str, detail: str) -> None:
    target, message = body(run, case)

    assert (target, message["message"]) == ("/1/onStatus", "ErrorMessage")
    assert (message["faultCode"], message["faultString"], message["faultDetail"]) == (code, string, detail)
    assert (message["body"], message["rootCause"], message["extendedData"]) == (None, None, None)


def test_what_is_not_there_is_an_error_message(run: Run) -> None:
    target, message = body(run, "subscribe")

    assert (target, message["message"]) == ("/1/onStatus", "ErrorMessage")
    assert message["faultCode"] == "Server.ResourceUnavailable"
    assert message["faultString"].startswith("subscribe: ")


def test_several_messages_in_a_packet_are_answered_one_by_one(run: Run) -> None:
    answers = bodies(run, "several")

    assert [target for target, _ in answers] == ["/1/onResult", "/2/onResult", "/3/onStatus", "/4/onResult"]
    assert [message["correlationId"][-2:] for _, message in answers] == ["09", "0A", "0B", "0C"]
    assert [message["body"] for _, message in answers] == [None, 1, None, 2]
    assert len({message["messageId"] for _, message in answers}) == 4
    assert (run.arrived["several"], run.arrived["several again"]) == (1, 2)


def test_a_plain_call_and_a_message_in_one_packet(run: Run) -> None:
    (plain_target, value), (target, message) = bodies(run, "mixed")

    assert (plain_target, value) == ("/1/onResult", 13)
    assert (target, message["message"], message["body"]) == ("/2/onResult", "AcknowledgeMessage", 17)


def test_the_session_of_a_client(run: Run) -> None:
    """It is known by the id that it got from the ping, and then by the cookie that it got from the login."""
    assert body(run, "visits.first")[1]["body"] == 1
    assert body(run, "login")[1]["body"] == "success"
    assert body(run, "vault.ada")[1]["body"] == "open for Ada"
    assert body(run, "visits.second")[1]["body"] == 2
    assert body(run, "logout")[1]["body"] == "success"
    assert body(run, "vault.logged out")[1]["faultCode"] == "Client.Authentication"


def test_the_id_of_a_client(run: Run) -> None:
    """Like Flex, the program keeps the one that it got first."""
    _, message = body(run, "ping")

    assert all(message["headers"]["DSId"].encode() in packet.request for packet in run.packets[1:])


def test_disconnect_is_acknowledged(run: Run) -> None:
    target, message = body(run, "disconnect")

    assert (target, message["message"], message["body"]) == ("/1/onResult", "AcknowledgeMessage", None)


def test_the_bytes_of_a_value_object_in_a_message(run: Run) -> None:
    """The members of a class come in whatever order the player has them: the parts, then."""
    packet = run.packet("points").request
    begin = bytes.fromhex("0003 0000 0001 0004") + b"null" + bytes.fromhex("0002") + b"/1"

    assert packet.startswith(begin + bytes.fromhex("FFFFFFFF 0A 00000001 11"))
    assert b"flex.messaging.messages.RemotingMessage" in packet
    assert bytes.fromhex("06 0D") + b"points" + bytes.fromhex("09 05 01") in packet
