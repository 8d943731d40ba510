"""The inspector's reader against the decoder: equal values, equal ends, and a complaint where that complains."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspector_oracle import MILLISECONDS, same, value_of
from odd_amf import odd_packets, odd_shared_objects, odd_values

import amfgate
from amfgate import DecodeError
from amfgate.inspector import read_packet, read_sol, read_values
from amfgate.inspector.reader import Reader

quick = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.text(max_size=8) | st.sampled_from(["a", "b", "name"])
names = texts.filter(bool)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats()
    | texts
    | st.just(amfgate.undefined)
    | st.builds(amfgate.Xml, texts, st.just(True))
)
only_amf3 = st.binary(max_size=9) | st.builds(amfgate.Vector, st.just("int"), st.lists(st.integers(-5, 5), max_size=3))


def containers(inner: Any) -> Any:
    return (
        st.lists(inner, max_size=4)
        | st.lists(inner, min_size=1, max_size=1).map(lambda items: items * 2)
        | st.dictionaries(names, inner, max_size=3)
        | st.builds(amfgate.EcmaArray, st.dictionaries(names, inner, max_size=3))
        | st.builds(amfgate.TypedObject, st.sampled_from(["a.B", "c"]), st.dictionaries(names, inner, max_size=3))
    )


values0 = st.recursive(scalars, containers, max_leaves=12)
values3 = st.recursive(
    scalars | only_amf3,
    lambda inner: (
        containers(inner)
        | st.builds(amfgate.flex.ArrayCollection, st.lists(inner, max_size=3))
        | st.builds(amfgate.Dictionary, st.lists(st.tuples(inner, inner), max_size=3))
    ),
    max_leaves=12,
)


def decoded(data: bytes, amf: int) -> list[Any]:
    return list(amfgate.Decoder(data, version=amf, dates="ms", classes=amfgate.ClassRegistry()))


def inspected(data: bytes, amf: int) -> list[Any]:
    known: dict[int, Any] = {MILLISECONDS: True}
    return [value_of(child, known) for _, child in read_values(data, amf).children]


def spans(root: Any) -> list[tuple[int, int]]:
    return sorted((start, end) for _, _, node in root.walk() for start, end, _ in node.parts)


def assert_every_byte_has_one_meaning(root: Any, data: bytes) -> None:
    at = 0
    for start, end in spans(root):
        assert start == at
        at = end
    assert at == len(data)


@quick
@given(values3)
def test_what_the_encoder_writes_in_amf3_reads_alike(value: Any) -> None:
    data = amfgate.dumps(value)
    assert same(inspected(data, 3), decoded(data, 3))


@quick
@given(values0)
def test_what_the_encoder_writes_in_amf0_reads_alike(value: Any) -> None:
    data = amfgate.dumps(value, version=0)
    assert same(inspected(data, 0), decoded(data, 0))


@quick
@given(odd_values(3))
def test_odd_amf3_reads_alike(data: bytes) -> None:
    assert same(inspected(data, 3), decoded(data, 3))
    assert_every_byte_has_one_meaning(read_values(data, 3), data)


@quick
@given(odd_values(0))
def test_odd_amf0_reads_alike(data: bytes) -> None:
    assert same(inspected(data, 0), decoded(data, 0))
    assert_every_byte_has_one_meaning(read_values(data, 0), data)


@quick
@given(odd_packets())
def test_odd_packets_read_alike(data: bytes) -> None:
    packet = amfgate.Packet.from_bytes(data, classes=amfgate.ClassRegistry())
    root = read_packet(data)
    assert_every_byte_has_one_meaning(root, data)
    nodes = [node for _, node in root.children]
    headers, bodies = nodes[: len(packet.headers)], nodes[len(packet.headers) :]
    assert [node.more["name"].value for node in headers] == [header.name for header in packet.headers]
    assert [node.more["target"].value for node in bodies] == [body.target for body in packet.bodies]
    for node, expected in [*zip(headers, packet.headers, strict=True), *zip(bodies, packet.bodies, strict=True)]:
        assert same(value_of(node.children[0][1], {}), expected.value)


@quick
@given(odd_shared_objects())
def test_odd_shared_objects_read_alike(data: bytes) -> None:
    root = read_sol(data)
    assert_every_byte_has_one_meaning(root, data)
    so = amfgate.sol.loads(data, classes=amfgate.ClassRegistry())
    assert (root.more["name"].value, root.amf) == (so.name, so.version)
    found: dict[str, Any] = {}
    known: dict[int, Any] = {id(root): found}
    for label, node in root.children:
        found[label.value] = value_of(node, known)
    assert same(found, so.data)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=40), st.sampled_from((0, 3)))
def test_random_bytes_are_refused_where_the_decoder_refuses_them(data: bytes, amf: int) -> None:
    assert _outcome_of_reader(data, amf) == _outcome_of_decoder(data, amf)


# Bytes that are nearly AMF get further than random ones do.
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from((0, 3)))
def test_damaged_bytes_are_refused_where_the_decoder_refuses_them(choices: Any, amf: int) -> None:
    data = bytearray(choices.draw(odd_values(amf)))
    for _ in range(choices.draw(st.integers(1, 3))):
        data[choices.draw(st.integers(0, len(data) - 1))] = choices.draw(st.integers(0, 255))
    assert _outcome_of_reader(bytes(data), amf) == _outcome_of_decoder(bytes(data), amf)


def _outcome_of_reader(data: bytes, amf: int) -> Any:
    reader = Reader(data)
    ends = []
    try:
        while reader.at < len(data):
            reader.value(amf)
            ends.append(reader.at)
    except DecodeError:
        ends.append(-1)
    return ends


def _outcome_of_decoder(data: bytes, amf: int) -> Any:
    decoder = amfgate.Decoder(data, version=amf, dates="ms", classes=amfgate.ClassRegistry())
    ends = []
    try:
        for _ in decoder:
            ends.append(decoder.offset)
    except DecodeError:
        ends.append(-1)
    return ends


@quick
@given(st.data(), st.sampled_from((0, 3)))
def test_tolerance_never_fails_and_accounts_for_every_byte(choices: Any, amf: int) -> None:
    data = bytearray(choices.draw(odd_values(amf)))
    for _ in range(choices.draw(st.integers(0, 3))):
        data[choices.draw(st.integers(0, len(data) - 1))] = choices.draw(st.integers(0, 255))
    root = read_values(bytes(data), amf, tolerant=True)
    assert_every_byte_has_one_meaning(root, bytes(data))
    assert (root.more["damages"] == []) == (_outcome_of_decoder(bytes(data), amf)[-1] != -1)


@pytest.mark.parametrize("twin", ["packet", "sol"])
@quick
@given(choices=st.data())
def test_tolerance_of_frames_accounts_for_every_byte(twin: str, choices: Any) -> None:
    data = bytearray(choices.draw(odd_packets() if twin == "packet" else odd_shared_objects()))
    first = 2 if twin == "packet" else 10
    for _ in range(choices.draw(st.integers(0, 3))):
        data[choices.draw(st.integers(first, len(data) - 1))] = choices.draw(st.integers(0, 255))
    root = (read_packet if twin == "packet" else read_sol)(bytes(data), tolerant=True)
    assert_every_byte_has_one_meaning(root, bytes(data))
