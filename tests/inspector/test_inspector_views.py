"""The tree and the annotated hex, line for line."""

from __future__ import annotations

import amfgate
from amfgate.inspector import hexdump, read_packet, read_values, tree, what


def lines(hex_digits: str, amf: int) -> list[str]:
    return tree.render(read_values(bytes.fromhex(hex_digits), amf)).splitlines()[1:]


def test_the_tree_of_a_call() -> None:
    packet = amfgate.Packet(0, [], [amfgate.Body("catalog.page", "/1", [0, {"all": True}])])
    assert tree.render(read_packet(packet.to_bytes())) == (
        "000000  packet, version 0 (AMF0), 0 headers, 1 body, 53 bytes\n"
        '000006    body 0: call of "catalog.page", to be answered to "/1"\n'
        "00001c      value: strict array, 2 items  #0\n"
        "000021        [0]: number 0\n"
        "00002a        [1]: object, 1 member  #1\n"
        "000030          all: true\n"
    )


def test_classes_and_references_in_amf3() -> None:
    shared = amfgate.TypedObject("com.example.Product", {"id": 1})
    data = amfgate.dumps([shared, shared])
    assert lines(data.hex(), 3) == [
        "000000    [0]: array, 2 items  #0",
        "000003      [0]: object com.example.Product, 1 sealed member  #1",
        "00001c        id: integer 1",
        "00001e      [1]: reference to #1, the object at 000003",
    ]


def test_what_a_decoder_would_not_tell() -> None:
    assert lines("04 80 05", 3) == ["000000    [0]: integer 5  number in 2 bytes, more than it needs"]
    assert lines("01 07", 0) == ["000000    [0]: true  written as 0x07"]
    assert lines("0b 0000000000000000 003c", 0) == [
        "000000    [0]: date 1970-01-01T00:00:00.000Z (0 ms)  time zone +60 minutes, which means nothing"
    ]
    assert lines("08 00000009 000009", 0) == ["000000    [0]: ecma array, 0 members, count 9 declared  #0"]


def test_text_is_safe_for_a_terminal() -> None:
    assert lines("06 0b 1b5b33316d", 3) == ['000000    [0]: string "\\u001b[31m"']


def test_long_texts_are_cut_unless_full() -> None:
    root = read_values(amfgate.dumps("x" * 150), 3)
    assert tree.render(root).splitlines()[1] == f'000000    [0]: string "{"x" * 100}"... (150 characters)'
    assert tree.render(root, full=True).splitlines()[1] == f'000000    [0]: string "{"x" * 150}"'


def test_damage_is_shown_where_it_is_and_reading_goes_on() -> None:
    found = what(bytes.fromhex("03 0003 666f6f 02 0003 626172 0001 61 ff ffff 0002 6262 05 000009"))
    assert found.root is not None
    assert tree.render(found.root) == (
        "000000  AMF0, 1 value\n"
        "000000    [0]: object, 3 members  #0, DAMAGED\n"
        '000006      foo: string "bar"\n'
        "00000f      a: SKIPPED 3 bytes: ff ff ff  0xFF is no marker of AMF0, at offset 15\n"
        "000016      bb: null\n"
    )


def test_the_hex_of_an_object() -> None:
    data = bytes.fromhex("0a 0b 01 03 61 04 03 01")
    assert hexdump.render(read_values(data, 3), data) == (
        "000000  0a                                                 [0]: object\n"
        "000001  0b                                                 new traits, 0 sealed members, dynamic\n"
        "000002  01                                                 class alias, length 0\n"
        "000003  03                                                 member name, length 1\n"
        '000004  61                                                 "a"\n'
        "000005  04                                                   a: integer\n"
        "000006  03                                                   integer 3\n"
        "000007  01                                                 no more members\n"
    )


def test_the_hex_of_long_bytes_is_cut_unless_full() -> None:
    data = amfgate.dumps(bytes(100))
    root = read_values(data, 3)
    assert hexdump.render(root, data).splitlines()[-1] == f"000043{' ' * 51}  ... 36 more bytes"
    assert hexdump.render(root, data, full=True).splitlines()[-1] == "000063  00 00 00 00"
