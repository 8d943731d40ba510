"""Servers, started as processes and called over sockets: what one does to a request is not what another does.

Each is started twice, with the compiled codec and with the one in Python, and asked the same things; where servers
differ, in chunked requests and in keeping connections, `processes.py` says what is expected of which.  What install.sh
could not bring is a reason to skip, in its words; with AMFGATE_REQUIRE_CLIENTS=1 it is a failure.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from both_twins import twins_to_test
from processes import SECONDS, SERVERS, Running, exchange, need, packet, running, wait_for

from amfgate import Packet

pytestmark = pytest.mark.servers

MEGABYTE = bytes(range(256)) * 4096


@pytest.fixture(
    scope="module",
    params=[(server, codec) for server in SERVERS for codec in twins_to_test()],
    ids=lambda param: f"{param[0].name}-{param[1]}",
)
def one(request: pytest.FixtureRequest) -> Iterator[Running]:
    server, codec = request.param
    need(server)
    with running(server, "off" if codec == "python" else "require", codec) as started:
        yield started
        assert "PEP 3333" not in started.log.read_text(errors="replace"), started.story()


# What is asked of each


def test_the_codec_is_the_one_that_was_asked_for(one: Running) -> None:
    assert one.call("probe.which") == one.codec


def test_a_call_is_answered_byte_for_byte(one: Running) -> None:
    request = (
        bytes.fromhex("0000 0000 0001 000a") + b"probe.echo" + bytes.fromhex("0002 2f31 00000009 0a00000001 02 0001 78")
    )
    status, headers, data = one.post(request)
    assert data == (
        bytes.fromhex("0000 0000 0001 000b")
        + b"/1/onResult"
        + bytes.fromhex("0004")
        + b"null"
        + bytes.fromhex("00000004 02 0001 78")
    )
    assert status == 200
    assert headers["content-type"] == "application/x-amf"
    assert headers["cache-control"] == "no-store"
    assert headers.get("content-length") == str(len(data))


def test_a_batch_in_amf3_keeps_its_order_and_its_faults(one: Running) -> None:
    calls: list[tuple[str, list[Any]]] = [
        ("probe.echo", [["a", {"b": 1}]]),
        ("probe.fail", []),
        ("no.such", []),
        ("probe.echo", [b"\x00\xff"]),
    ]
    bodies = Packet.from_bytes(one.post(packet(*calls, version=3))[2]).bodies
    assert [body.target for body in bodies] == ["/1/onResult", "/2/onStatus", "/3/onStatus", "/4/onResult"]
    assert bodies[0].value == ["a", {"b": 1}]
    assert [body.value["code"] for body in bodies[1:3]] == ["Probe.Failed", "Server.ResourceNotFound"]
    assert bodies[3].value == b"\x00\xff"


def test_a_megabyte_comes_and_goes(one: Running) -> None:
    assert one.call("probe.echo", MEGABYTE) == MEGABYTE
    assert one.call("probe.blob", len(MEGABYTE), version=3) == MEGABYTE


def test_what_is_too_large_is_refused(one: Running) -> None:
    with contextlib.suppress(ConnectionError):  # some close the connection on a client that is still sending
        status, _, data = one.post(b"\0" * (2 * 2**20 + 1))
        assert (status, data) == (413, b"The request has 2097153 bytes; 2097152 bytes are read here (max_body).\n")
    assert one.call("probe.echo", 1) == 1


def test_a_chunked_request(one: Running) -> None:
    data = packet(("probe.echo", ["in parts"]))
    parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:5], data[5:9], data[9:], b""))
    # All at once: a server that does not read chunks may close the connection on a client that is still sending.
    with socket.create_connection(("127.0.0.1", one.port), SECONDS) as connection:
        connection.sendall(b"POST /amf HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + parts)
        answer = http.client.HTTPResponse(connection, method="POST")
        answer.begin()
        assert answer.status == one.server.chunked, one.story()
        if answer.status == 200:
            assert Packet.from_bytes(answer.read()).bodies[0].value == "in parts"


def test_a_large_chunked_request_is_cut_off_at_the_limit(one: Running) -> None:
    status = 413 if one.server.chunked == 200 else one.server.chunked
    parts = [b"\0" * 65536] * 40
    with contextlib.suppress(ConnectionError):  # some close the connection on a client that is still sending
        assert one.post(iter(parts), encode_chunked=True)[0] == status
    assert one.call("probe.echo", 1) == 1


def test_a_connection_serves_several_requests(one: Running) -> None:
    data = packet(("probe.echo", [7]))
    with contextlib.closing(one.connect()) as connection:
        kept = []
        for _ in range(3):
            assert Packet.from_bytes(exchange(connection, data)[2]).bodies[0].value == 7
            kept.append(connection.sock is not None)
    assert kept == [one.server.keeps] * 3


def test_the_site_is_served_beside_it(one: Running) -> None:
    with contextlib.closing(one.connect()) as connection:
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"site\n")
    assert one.post(MEGABYTE, "/upload")[2] == MEGABYTE


def test_a_get_of_the_gateway_is_a_page(one: Running) -> None:
    with contextlib.closing(one.connect()) as connection:
        connection.request("GET", "/amf")
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Allow")) == (405, "POST, OPTIONS")
        assert answer.read().startswith(b"This is an AMF gateway.")


def test_the_server_closes_the_reply(one: Running) -> None:
    for word in ("first", "second"):
        assert one.call("probe.close", word) == word
    assert wait_for(lambda: one.closed.exists() and one.closed.read_text().count("\n") == 2, 5)
    assert sorted(one.closed.read_text().split()) == ["first", "second"]


def test_many_at_once(one: Running) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda number: one.call("probe.echo", [number, "x" * number]), range(80)))
        workers = {process for process, _ in pool.map(lambda _: one.call("probe.worker"), range(40))}
    assert results == [[number, "x" * number] for number in range(80)]
    assert 1 <= len(workers) <= one.server.workers


def test_a_request_that_breaks_off_harms_nobody(one: Running) -> None:
    with socket.create_connection(("127.0.0.1", one.port), SECONDS) as connection:
        connection.sendall(b"POST /amf HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n\0\0\0\0")
    assert one.call("probe.echo", 1) == 1
