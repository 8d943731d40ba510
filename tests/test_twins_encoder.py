"""What only the compiled encoder can get wrong: memory, references, depth; and that it equals its twin all the same."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

from amfgate import ClassRegistry, EncodeError, Limits, Rows, TypedObject, Xml
from amfgate.flex import ArrayCollection


class Keeper:
    """Puts its stream away, and so holds the encoder that wrote it."""

    def __writeamf__(self, output):
        self.output = output
        output.writeObject([self])

    def __readamf__(self, input):
        pass


REGISTRY = ClassRegistry()
REGISTRY.register(Keeper, "Keeper", external=True)


def test_an_object_that_holds_its_encoder_is_freed(codec):
    keeper = Keeper()
    codec.Encoder(classes=REGISTRY).encode(keeper)
    gone = weakref.ref(keeper)
    del keeper
    gc.collect()
    assert gone() is None


def test_a_stream_is_good_until_writeamf_returns(codec):
    keeper = Keeper()
    encoder = codec.Encoder(classes=REGISTRY)
    encoder.encode(keeper)
    with pytest.raises(EncodeError, match="this encoder is not at work"):
        keeper.output.writeInt(1)
    assert encoder.encode(1) == b"\x04\x01"


@pytest.mark.parametrize(
    "value",
    [{"a": [1, "x", {"b": 2.5}]}, [object()], ["\ud800"], ["\udc80"], Rows(["a"], [(1,), (2, 3)]), b"abc", {"": 1},
     TypedObject("A", {"x": 1}), Xml("<a/>"), ArrayCollection([1]), {1: 2, "1": 3}, 2**70],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("version", [0, 3])
def test_nothing_is_left_behind(codec, value, version):
    def call():
        try:
            codec.dumps(value, version=version)
        except EncodeError:
            pass

    for _ in range(100):
        call()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        call()
    gc.collect()
    assert sys.getallocatedblocks() - before < 500


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}, lambda v: TypedObject("T", {"x": v})])
@pytest.mark.parametrize("version", [0, 3])
def test_the_deepest_value_fits_on_the_stack_of_a_thread(codec, wrap, version):
    value = 1
    for _ in range(4096):
        value = wrap(value)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(codec.dumps(value, version=version, limits=Limits(max_depth=4096)))
    )
    thread.start()
    thread.join()
    assert len(found[0]) > 2 * 4096


@pytest.mark.parametrize("strings", ["adaptive", "all"])
@pytest.mark.parametrize("version", [0, 3])
def test_columns_that_switch_are_switched_alike(twins, strings, version):
    rows = [
        {
            "same": "a",
            "few": f"f{i % 5}",
            "distinct": f"Product {i}",
            "equal": "".join(("ab", "cd")),
            "odd": "\udc80" if i % 90 == 3 else "é",
            "empty": "" if i % 2 else f"e{i}",
            "list": [f"x{i}", "y", [f"z{i // 100}"]],
        }
        for i in range(400)
    ]
    value = [rows, [list(row.values()) for row in rows], Rows(list(rows[0]), [tuple(row.values()) for row in rows])]
    first, second = (codec.dumps(value, version=version, strings=strings) for codec in twins)
    assert first == second
