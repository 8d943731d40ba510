"""The client against another implementation's server: the gateway of Py3AMF, in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from amfgate import Client, Fault
from amfgate.client import RemoteFault

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyamf") is None, reason="Py3AMF is not installed")

WAYS = {"AMF0": {"version": 0}, "AMF3": {"version": 3}, "Flex": {"flex": True}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Path(__file__).with_name("py3amf_server.py")
    process = subprocess.Popen([sys.executable, "-W", "ignore", str(server)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    assert port, "the server did not start"
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(params=WAYS)
def client(request: pytest.FixtureRequest, url: str) -> Iterator[Client]:
    with Client(url, **WAYS[request.param]) as client:
        yield client


@pytest.mark.parametrize(
    "value",
    [None, True, 1, 2.5, "é", [1, "a", None], {"a": [{"b": 2}]}, b"\x00\xff", datetime(2020, 1, 1, tzinfo=UTC)],
    ids=repr,
)
def test_values_come_back_as_they_went(client: Client, value: Any) -> None:
    assert client.shop.echo(value) == value


def test_a_value_sent_twice_is_read_right_whatever_its_references_mean(client: Client) -> None:
    shared = ["x"]
    assert client.shop.echo({"a": shared, "b": shared}) == {"a": ["x"], "b": ["x"]}


def test_faults(client: Client) -> None:
    with pytest.raises(Fault) as raised:
        client.shop.boom()
    assert (raised.value.code, raised.value.description) == ("ValueError", "closed")
    with pytest.raises(Fault) as raised:
        client.shop.nothing()
    assert (raised.value.code, raised.value.description) == ("Service.ResourceNotFound", "Unknown service shop.nothing")


def test_a_batch(client: Client) -> None:
    with client.batch() as b:
        calls = [b.shop.echo(1), b.shop.boom(), b.shop.echo(3)]
    assert (calls[0].result, type(calls[1].fault), calls[2].result) == (1, RemoteFault, 3)


def test_the_root_cause_of_a_flex_fault(url: str) -> None:
    with Client(url, flex=True) as client, pytest.raises(Fault) as raised:
        client.shop.boom()
    assert raised.value.root_cause == {"message": "closed", "name": "ValueError"}


def test_credentials(url: str) -> None:
    with Client(f"{url}/guarded", credentials=("ada", "pw")) as client:
        assert client.shop.echo(1) == 1
    with Client(f"{url}/guarded", credentials=("ada", "no")) as client, pytest.raises(Fault) as raised:
        client.shop.echo(1)
    assert raised.value.code == "AuthenticationError"


def test_a_ping_names_the_client(url: str) -> None:
    with Client(url, flex=True) as client:
        known = client.ping()["DSId"]
        assert client.ping()["DSId"] == known
