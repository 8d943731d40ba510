"""What a client sends: bytes asserted as literals."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import pytest
from literal import NULL_RESULT, amf, canned, reply

import amfgate
from amfgate import Body, ClassRegistry, Client, EncodeError, Fault, Header, Packet


def test_an_attribute_of_an_attribute_is_the_target_of_a_call() -> None:
    client, server = canned(NULL_RESULT)
    assert client.catalog.page(1) is None
    assert server.bodies == [
        amf("0000 0000 0001 000C 'catalog.page' 0002 '/1' 0000000E 0A 00000001 00 3FF0000000000000")
    ]


def test_call_takes_the_target_as_text() -> None:
    client, server = canned(NULL_RESULT)
    client.call("batch/run", "x")
    assert server.bodies == [amf("0000 0000 0001 0009 'batch/run' 0002 '/1' 00000009 0A 00000001 02 0001 'x'")]


def test_in_amf3_a_complex_argument_stands_behind_11_on_its_own() -> None:
    client, server = canned(NULL_RESULT, version=3)
    client.t.f([1], None)
    assert server.bodies == [amf("0003 0000 0001 0003 't.f' 0002 '/1' 0000000C 0A 00000002 11 09 03 01 04 01 05")]


def test_in_amf0_a_shared_value_is_written_out_again() -> None:
    """Servers do not agree which value an AMF0 reference in a request means."""
    client, server = canned(NULL_RESULT)
    shared: list[object] = []
    client.t.f(shared, shared)
    assert server.bodies == [amf("0000 0000 0001 0003 't.f' 0002 '/1' 0000000F 0A 00000002 0A 00000000 0A 00000000")]


def test_in_amf3_a_shared_value_is_a_reference() -> None:
    client, server = canned(NULL_RESULT, version=3)
    shared: list[object] = []
    client.t.f(shared, shared)
    assert server.bodies == [amf("0003 0000 0001 0003 't.f' 0002 '/1' 0000000C 0A 00000002 11 09 01 01 11 09 00")]


def test_an_instance_of_a_registered_class_is_a_typed_object() -> None:
    @dataclass
    class Point:
        x: float

    classes = ClassRegistry()
    classes.register(Point, "P")
    answer = reply("000B '/1/onResult' 0004 'null' FFFFFFFF 10 0001 'P' 0001 'x' 00 4000000000000000 000009")
    client, server = canned(answer, classes=classes)
    assert client.t.f(Point(1.0)) == Point(2.0)
    assert server.bodies == [
        amf("0000 0000 0001 0003 't.f' 0002 '/1' 00000018 0A 00000001 10 0001 'P' 0001 'x' 00 3FF0000000000000 000009")
    ]


def test_the_calls_of_a_batch_travel_in_one_packet() -> None:
    client, server = canned(
        reply("000B '/1/onResult' 0004 'null' 00000000 02 0001 'a'", "000B '/2/onResult' 0004 'null' 00000000 0101")
    )
    with client.batch() as b:
        first = b.a()
        second = b.call("b.c")
        assert not first.done
        with pytest.raises(RuntimeError, match=r"^a was not sent yet: a batch is sent at the end of its 'with' block"):
            first.result  # noqa: B018
    assert (first.result, second.result) == ("a", True)
    assert server.bodies == [
        amf("0000 0000 0002 0001 'a' 0002 '/1' 00000005 0A 00000000 0003 'b.c' 0002 '/2' 00000005 0A 00000000")
    ]


def test_a_batch_that_is_left_by_an_exception_sends_nothing() -> None:
    client, server = canned()
    with pytest.raises(KeyError), client.batch() as b:
        b.a()
        raise KeyError
    assert server.requests == []


def test_an_empty_batch_sends_nothing_and_a_sent_one_takes_no_more_calls() -> None:
    client, server = canned()
    with client.batch() as b:
        pass
    assert server.requests == []
    with pytest.raises(RuntimeError, match="^this batch was sent already"):
        b.a()
    with pytest.raises(RuntimeError, match="^this batch was sent already"):
        b.send()


def test_one_fault_in_a_batch_leaves_the_other_results_alone() -> None:
    client, _ = canned(
        reply(
            "000B '/1/onStatus' 0004 'null' FFFFFFFF 03 0004 'code' 02 0001 'C' 000009",
            "000B '/2/onResult' 0004 'null' FFFFFFFF 02 0002 'ok'",
        )
    )
    with client.batch() as b:
        first, second = b.a(), b.b()
    assert second.result == "ok"
    assert isinstance(first.fault, Fault)
    for _ in range(2):  # as often as it is read
        with pytest.raises(Fault) as raised:
            first.result  # noqa: B018
        assert raised.value.code == "C"
    assert repr(first) == "<call of a: RemoteFault>"


def test_headers_go_with_every_packet_and_those_of_a_call_with_that_alone() -> None:
    client, server = canned(NULL_RESULT, NULL_RESULT, headers={"T": "a"})
    client.call("f", headers=[Header("U", True, must_understand=True)])
    client.f()
    body = " 0001 0001 'f' 0002 '/1' 00000005 0A 00000000"
    assert server.bodies == [
        amf("0000 0002 0001 'T' 00 00000004 02 0001 'a' 0001 'U' 01 00000002 0101" + body),
        amf("0000 0001 0001 'T' 00 00000004 02 0001 'a'" + body),
    ]


def test_headers_can_be_added_and_removed() -> None:
    client, server = canned(NULL_RESULT, NULL_RESULT)
    client.add_header("T", None, must_understand=True)
    client.f()
    client.remove_header("T")
    client.remove_header("T")
    client.f()
    body = " 0001 0001 'f' 0002 '/1' 00000005 0A 00000000"
    assert server.bodies == [amf("0000 0001 0001 'T' 01 00000001 05" + body), amf("0000 0000" + body)]


def test_credentials_are_a_header() -> None:
    client, server = canned(NULL_RESULT, credentials=("ada", "pw"))
    client.f()
    assert server.bodies == [
        amf(
            "0000 0001 000B 'Credentials' 00 00000021"
            "03 0006 'userid' 02 0003 'ada' 0008 'password' 02 0002 'pw' 000009"
            "0001 0001 'f' 0002 '/1' 00000005 0A 00000000"
        )
    ]


def test_login_and_logout_change_the_credentials() -> None:
    client, server = canned(NULL_RESULT, NULL_RESULT)
    client.login("ada", "pw")
    client.f()
    client.logout()
    client.f()
    assert [b"Credentials" in body for body in server.bodies] == [True, False]


def test_what_is_sent_over_http() -> None:
    client, server = canned(NULL_RESULT, http_headers={"Referer": "http://example.org/game.swf"})
    client.f()
    (request,) = server.requests
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/x-amf"
    assert request.headers["content-length"] == "22"
    assert request.headers["user-agent"] == f"amfgate/{amfgate.__version__}"
    assert request.headers["referer"] == "http://example.org/game.swf"


def test_compress_sends_gzip() -> None:
    client, server = canned(NULL_RESULT, compress=True)
    client.f()
    (request,) = server.requests
    assert request.headers["content-encoding"] == "gzip"
    assert gzip.decompress(request.content) == amf("0000 0000 0001 0001 'f' 0002 '/1' 00000005 0A 00000000")


def test_a_packet_made_by_hand_is_sent_as_it_is() -> None:
    answer = reply("000B '/7/onStatus' 0004 'null' FFFFFFFF 02 0002 'no'")
    client, server = canned(answer, answer, headers={"T": 1})
    packet = Packet(0, [], [Body("f", "/7", [])])
    assert client.send(packet).bodies == [Body("/7/onStatus", "null", "no")]
    assert client.send(packet.to_bytes()) == Packet(0, [], [Body("/7/onStatus", "null", "no")])
    assert server.bodies == [packet.to_bytes()] * 2


def test_post_gives_any_answer_as_it_is() -> None:
    client, _ = canned(reply())
    answer = client.post(b"\x00")
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, "application/x-amf", reply())


def test_an_argument_that_cannot_be_sent_names_call_and_path() -> None:
    client, server = canned()
    with pytest.raises(EncodeError) as raised:
        client.catalog.page(1, {"who": object()})
    wanted = "the arguments of catalog.page: cannot encode object at $[1].who: register its class, or pass default="
    assert str(raised.value) == wanted
    with pytest.raises(EncodeError, match=r"^the header 'T': cannot encode object at \$"):
        client.call("f", headers={"T": object()})
    assert server.requests == []


def test_the_options_of_dumps_apply() -> None:
    client, server = canned(NULL_RESULT, big_ints="string", default=lambda value: "it")
    client.f(2**60, object())
    assert server.bodies == [
        amf("0000 0000 0001 0001 'f' 0002 '/1' 00000020 0A 00000002 02 0013 '1152921504606846976' 02 0002 'it'")
    ]


def test_private_names_are_no_targets() -> None:
    client, _ = canned()
    for probe in ("_catalog", "__wrapped__"):
        assert not hasattr(client, probe)
        assert not hasattr(client.catalog, probe)
        assert not hasattr(client.batch(), probe)
    assert repr(client.com.shop) == "<target com.shop>"


def test_a_client_says_where_it_calls_but_no_secret() -> None:
    client, _ = canned(url="http://ada:pw@example.org:8080/amf?key=secret", version=3, credentials=("ada", "pw"))
    assert repr(client) == "<Client http://example.org:8080/amf?..., AMF3>"


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"version": 1}, ValueError, r"^version is 0 \(AMF0\) or 3 \(AMF3\), not 1$"),
        ({"version": True}, ValueError, "^version is 0"),
        ({"flex": ""}, TypeError, "^flex is True, False or the name of a destination, not ''$"),
        ({"credentials": "ada"}, TypeError, r"^credentials are a pair, \(user, password\)$"),
        ({"credentials": ("ada", None)}, TypeError, r"^credentials are a pair of texts, \(user, password\)$"),
        (
            {"headers": ["T"]},
            TypeError,
            "^headers are a mapping of names to values, or amfgate.Header objects; found 'T'",
        ),
        ({"headers": {1: 2}}, TypeError, "^a header's name is text, not 1$"),
        ({"limits": 5}, ValueError, "^limits is an amfgate.Limits or None, not 5$"),
        ({"classes": {}}, TypeError, "^classes is an amfgate.ClassRegistry, not {}$"),
        ({"big_ints": "x"}, ValueError, "^big_ints is one of 'error', 'float', 'string', not 'x'$"),
        ({"transport": 5}, TypeError, "^transport is a WSGI application or an httpx transport, not 5$"),
        ({"http": 5}, TypeError, "^http is an httpx.Client, not 5$"),
    ],
)
def test_wrong_options_are_errors_at_once(options: dict[str, object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Client("http://example.org/amf", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["", None, 5])
def test_a_target_is_text(target: object) -> None:
    client, server = canned()
    with pytest.raises(TypeError, match="^a target is text such as 'catalog.page', not "):
        client.call(target)  # type: ignore[arg-type]
    assert server.requests == []
