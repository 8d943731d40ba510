"""Py3AMF's RemotingService, a client in Python, calls a gateway on a real server.

It is another implementation of the client's side: it writes the requests, and reads the replies, by its own code.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from real import serving

import amfgate

pytestmark = pytest.mark.filterwarnings("ignore")  # Py3AMF's, about what it uses of Python


class Probe:
    def __init__(self) -> None:
        self.arrived: list[Any] = []

    def take(self, *values: Any) -> Any:
        self.arrived.extend(values)
        return values[0] if len(values) == 1 else list(values)

    def add(self, a: int, b: int) -> int:
        return a + b

    def fail(self) -> None:
        raise amfgate.Fault("Shop.SoldOut", "this morning")

    @amfgate.requires("staff")
    def vault(self, call: amfgate.Call) -> str:
        return f"open for {call.user['name']}"

    def where(self, call: amfgate.Call) -> str:
        environ = call.exchange.environ
        return f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"

    def move(self, url: str, call: amfgate.Call) -> None:
        call.exchange.replace_gateway_url(url)

    def append(self, text: str, call: amfgate.Call) -> None:
        call.exchange.append_to_gateway_url(text)

    def header(self, call: amfgate.Call) -> Any:
        return call.exchange.header("Lang")


def check(userid: str, password: str) -> Any:
    return {"name": userid, "roles": ["staff"]} if password == "lovelace" else None


@pytest.fixture(scope="module")
def probe() -> Probe:
    return Probe()


@pytest.fixture(scope="module")
def url(probe: Probe) -> Iterator[str]:
    """The address of a gateway."""
    gateway = amfgate.Gateway(None, {"probe": probe}, path=("/amf", "/moved"), authenticate=check)
    with serving(gateway) as port:
        yield f"http://127.0.0.1:{port}/amf"


@pytest.fixture(params=[0, 3], ids=["amf0", "amf3"])
def client(request: pytest.FixtureRequest, url: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module("pyamf.remoting.client")
    return module.RemotingService(url, amf_version=request.param)


@pytest.mark.parametrize(
    ("sent", "arrived", "back"),
    [
        (None, None, None),
        (True, True, True),
        (7, 7, 7),
        (1.5, 1.5, 1.5),
        ("grüße ✓ 🎈", "grüße ✓ 🎈", "grüße ✓ 🎈"),
        ([1, "two", [3]], [1, "two", [3]], [1, "two", [3]]),
        ({"a": {"b": [1]}}, {"a": {"b": [1]}}, {"a": {"b": [1]}}),
        (
            dt.datetime(2001, 9, 9, 1, 46, 40),
            dt.datetime(2001, 9, 9, 1, 46, 40, tzinfo=dt.UTC),
            dt.datetime(2001, 9, 9, 1, 46, 40),
        ),
    ],
)
def test_values_there_and_back(client: Any, probe: Probe, sent: Any, arrived: Any, back: Any) -> None:
    assert client.getService("probe").take(sent) == back
    assert (type(probe.arrived[-1]), probe.arrived[-1]) == (type(arrived), arrived)


def test_arguments_are_bound(client: Any) -> None:
    assert client.getService("probe").add(2, 3) == 5
    assert client.getService("probe.add")(2, 3) == 5


def test_bytes_there_and_back(client: Any, probe: Probe) -> None:
    amf3 = importlib.import_module("pyamf.amf3")
    assert client.getService("probe").take(amf3.ByteArray(b"\x01\xff")).getvalue() == b"\x01\xff"
    assert probe.arrived[-1] == b"\x01\xff"


def test_faults_are_raised(client: Any) -> None:
    """Of its own class where it knows none by the code."""
    remoting = importlib.import_module("pyamf.remoting")
    with pytest.raises(remoting.RemotingError, match="this morning"):
        client.getService("probe").fail()
    with pytest.raises(remoting.RemotingError, match=r"there is no method 'probe\.none' here"):
        client.getService("probe").none()
    with pytest.raises(remoting.RemotingError, match="missing: 'b'"):
        client.getService("probe").add(2)


def test_several_calls_in_one_packet(client: Any) -> None:
    first = client.addRequest("probe.add", 1, 2)
    second = client.addRequest("probe.take", "x")
    third = client.addRequest("probe.none")
    response = client.execute()
    assert [response[request.id].body for request in (first, second)] == [3, "x"]
    assert (response[third.id].status, response[third.id].body.code) == (1, "Server.ResourceNotFound")


def test_credentials(client: Any) -> None:
    client.setCredentials("ada", "lovelace")
    assert client.getService("probe").vault() == "open for ada"
    client.setCredentials("ada", "wrong")
    remoting = importlib.import_module("pyamf.remoting")
    with pytest.raises(remoting.RemotingError, match="the user id or the password is wrong"):
        client.getService("probe").vault()


def test_headers(client: Any) -> None:
    client.addHeader("Lang", "de")
    assert client.getService("probe").header() == "de"


def test_a_client_that_is_sent_elsewhere_goes_there(client: Any, url: str) -> None:
    service = client.getService("probe")
    assert service.where() == "/amf?"
    service.append("?sid=42")
    assert service.where() == "/amf?sid=42"
    service.move(url.replace("/amf", "/moved"))
    assert service.where() == "/moved?"


def test_a_flex_message(url: str, probe: Probe) -> None:
    """Py3AMF's RemotingMessage, typed by its own class, and the AcknowledgeMessage that it reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module("pyamf.remoting.client")
        messaging = importlib.import_module("pyamf.flex.messaging")
    client = module.RemotingService(url, amf_version=3)
    message = messaging.RemotingMessage(operation="add", destination="probe", body=[2, 3], messageId="M")
    acknowledge = client.getService("null", auto_execute=True)(message)
    assert type(acknowledge).__name__ == "AcknowledgeMessage"
    assert (acknowledge.body, acknowledge.correlationId) == (5, "M")
    message = messaging.RemotingMessage(operation="vault", destination="probe", body=[], messageId="N")
    message.headers["DSRemoteCredentials"] = base64.b64encode(b"ada:lovelace").decode()
    assert client.getService("null")(message).body == "open for ada"
