"""What a session can keep: exactly, or not at all; and the ids of sessions."""

from __future__ import annotations

import enum
import math
import re
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import amfgate
from amfgate.sessions.ids import can_be_id, is_marked, key_of, new_id, new_marked_id
from amfgate.sessions.values import MAX_DEPTH, TooLarge, pack, unpack

SECRET = bytes(range(32))


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, "c0"),
        (True, "c3"),
        (7, "07"),
        (-(2**63), "d3 8000000000000000"),
        (2**64 - 1, "cf ffffffffffffffff"),
        (0.5, "cb 3fe0000000000000"),
        (-0.0, "cb 8000000000000000"),
        ("aß", "a3 61c39f"),
        (b"\0\xff", "c4 02 00ff"),
        ([1, [2.0]], "92 01 91 cb4000000000000000"),
        ({"a": {"": []}}, "81 a161 81 a0 90"),
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "d6 ff 00000001"),
        (datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "c7 0c ff 3b9ac618 ffffffffffffffff"),
    ],
)
def test_what_is_kept_comes_back_as_it_was(value: Any, data: str) -> None:
    packed = pack(value, "x", 1000)
    assert packed == bytes.fromhex(data)
    back = unpack(packed)
    assert (type(back), back, repr(back)) == (type(value), value, repr(value))


def test_nan_and_infinity_are_kept() -> None:
    assert math.isnan(unpack(pack(math.nan, "x", 100)))
    assert unpack(pack(-math.inf, "x", 100)) == -math.inf


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ((1, 2), TypeError, r"x is a tuple, which a session cannot keep exactly: it would come back as a list"),
        ({"a": [1, {2}]}, TypeError, r"x\['a'\]\[1\] is a set, .*: keep it as a sorted list"),
        (datetime(2020, 1, 1), TypeError, r"x is a datetime, .*: only times in UTC come back as they were"),
        (datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=1))), TypeError, "only times in UTC"),
        (date(2020, 1, 1), TypeError, "x is a date, which"),
        (Decimal(1), TypeError, "x is a Decimal"),
        (uuid.UUID(int=1), TypeError, "x is a UUID"),
        (Colour.RED, TypeError, "x is a Colour, .*: keep the plain values that it is made of"),
        (bytearray(b"a"), TypeError, "x is a bytearray"),
        (amfgate.Xml("<a/>"), TypeError, "x is a Xml"),
        (amfgate.TypedObject("A", {"a": 1}), TypeError, "x is a TypedObject"),
        (amfgate.undefined, TypeError, "x is a "),
        ({1: 2}, TypeError, "x has the key 1; keys are text"),
        ({"k" * 200: (1,)}, TypeError, r"^x\['k{59}\] is a tuple"),
        (2**64, ValueError, "x is an int of more than the 64 bits that are kept; keep it as text"),
        (-(2**63) - 1, ValueError, "x is an int of more than the 64 bits that are kept"),
        (["a\udcff"], ValueError, "x has text in it that is not Unicode .*; keep it as bytes"),
    ],
)
def test_what_would_not_come_back_as_it_was_is_an_error(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        pack(value, "x", 1000)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_depth_has_a_bound() -> None:
    assert unpack(pack(nested(MAX_DEPTH), "x", 1000)) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="^x is nested more than 100 levels deep, or contains itself$"):
        pack(nested(MAX_DEPTH + 1), "x", 1000)


def test_a_cycle_is_an_error() -> None:
    cart: dict[str, Any] = {}
    cart["cart"] = cart
    with pytest.raises(ValueError, match="x is nested more than 100 levels deep, or contains itself"):
        pack(cart, "x", 1000)


def test_forty_levels_of_the_same_list_twice_are_not_written_out() -> None:
    value: list[Any] = ["x"]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(TooLarge):
        pack(value, "x", 100_000)


@pytest.mark.parametrize("value", ["a" * 101, b"a" * 101, [0] * 101, {"a" * 101: 1}, ["a" * 60] * 2, [[0] * 60] * 2])
def test_what_is_clearly_too_large_is_not_looked_at_to_its_end(value: Any) -> None:
    with pytest.raises(TooLarge):
        pack(value, "x", 100)
    assert pack(value, "x", 1000)


# Ids


def test_an_id_is_random_text_for_urls_and_cookies() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch("[A-Za-z0-9_-]{43}", one) and can_be_id(one) for one in ids)


def test_a_marked_id_has_the_shape_of_a_uuid() -> None:
    ids = {new_marked_id(SECRET) for _ in range(1000)}
    assert len(ids) == 1000
    for one in ids:
        assert one == str(uuid.UUID(one)).upper()
        assert (uuid.UUID(one).version, uuid.UUID(one).variant) == (4, uuid.RFC_4122)
        assert can_be_id(one)
        assert is_marked(one, SECRET)


def test_the_mark_is_the_hmac_of_the_rest() -> None:
    # printf 0123456789AB4CDE8F0123 | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1e1f
    assert is_marked("01234567-89AB-4CDE-8F01-239D820EB726", SECRET)


def test_what_has_no_mark_is_not_ours() -> None:
    ours = new_marked_id(SECRET)
    assert not is_marked(ours, bytes(32))
    assert not is_marked(ours.lower(), SECRET)
    assert not is_marked(str(uuid.uuid4()).upper(), SECRET)
    assert not is_marked(new_id(), SECRET)
    assert not is_marked("", SECRET)
    for place, digit in enumerate(ours):
        if digit not in "-4" or place > 19:
            changed = ours[:place] + ("0" if digit != "0" else "1") + ours[place + 1 :]
            assert not is_marked(changed, SECRET)


@pytest.mark.parametrize(
    "text",
    ["", "short", "a" * 19, "a" * 65, "a" * 10_000_000, "a" * 30 + "\n", "a" * 30 + "ß", "a" * 30 + "٣", "../" * 10]
    + ["a" * 30 + " ", "\0" * 30, "a" * 30 + "\udcff", b"a" * 30, None, 7, ["a" * 30], 1e300, {}],
)
def test_what_is_no_id_is_not_looked_for(text: Any) -> None:
    assert not can_be_id(text)


def test_a_store_knows_a_session_by_a_hash_of_its_id() -> None:
    # printf aaaaaaaaaaaaaaaaaaaa | sha256sum
    assert key_of("a" * 20) == "42492da06234ad0ac76f5d5debdb6d1ae027cffbe746a1c13b89bb8bc0139137"
