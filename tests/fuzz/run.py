"""Random bytes against the decoders: `make fuzz`.

    python tests/fuzz/run.py [--seconds 60] [--executions N] [--only twins|decoder|packets|files] [--seed N]

twins     both twins read the same bytes: values, errors, offsets and tables have to be the same
decoder   the chosen twin alone, many times as fast: it may raise nothing but what its manual says
packets   Packet.from_bytes        files   sol.loads

The first two bytes of an input choose what is done with the rest, and with which options.  With atheris installed
the search is guided by the coverage of the Python code; the compiled twin is driven by what the pure one does with the
same bytes.  Without atheris the inputs are seeds that are cut, spliced and changed at random.

Exit status 0: nothing found.  An input that was found is printed in hex; `--input HEX` runs it again.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TARGETS = ("twins", "decoder", "packets", "files")
HOWS = ("values", "values", "body", "uncounted", "strings", "mixed", "values", "body")
# What is written over, into or behind the bytes of a seed: markers, small lengths, and the ends of the ranges.
TELLING = bytes((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0x13, 0x23, 0x7F, 0x80, 0xFF))


class Difference(Exception):
    """The twins do not agree."""


def load() -> tuple[Any, Any, Any]:
    """compare.py, and the decoders of both twins; the compiled one is None where it is switched off."""
    import compare

    pure = importlib.import_module("amfgate._decoder_py").Decoder
    if os.environ.get("AMFGATE_EXTENSIONS", "auto") == "off":
        return compare, pure, None
    return compare, pure, importlib.import_module("amfgate._decoder").Decoder


def make_targets() -> dict[str, Callable[[bytes], None]]:
    """Name -> a function that takes an input and raises for what should not have happened."""
    compare, pure, compiled = load()
    import amfgate
    from amfgate import sol

    def options_of(data: bytes) -> dict[str, Any]:
        flags = data[0]
        return {
            "version": 3 if flags & 1 else 0,
            "plain": bool(flags & 2),
            "dates": "ms" if flags & 4 else "datetime",
            "limits": compare.SMALL if flags & 8 else None,
            "classes": None if flags & 16 else compare.CLASSES,
        }

    def twins(data: bytes) -> None:
        options, how = options_of(data), HOWS[data[1] & 7]
        expected = compare.outcome(pure, data[2:], how, **options)
        if compiled is not None:
            found = compare.outcome(compiled, data[2:], how, **options)
            if found != expected:
                raise Difference(f"{options} {how}\n  python: {expected[-3:]}\n  cython: {found[-3:]}")

    chosen = compiled or pure

    def decoder(data: bytes) -> None:
        reader = chosen(data[2:], **options_of(data))
        how = data[1]
        try:
            while not reader.at_end:
                if how & 1:
                    reader.decode_body(counted=bool(how & 2))
                elif how & 4:
                    reader.decode_string()
                else:
                    reader.decode()
        except amfgate.AmfError:
            pass

    def packets(data: bytes) -> None:
        try:
            packet = amfgate.Packet.from_bytes(data[2:], classes=compare.CLASSES, plain=bool(data[0] & 2))
        except amfgate.AmfError:
            return
        for body in packet.bodies:
            try:
                compare.shape(body.value)
            except amfgate.AmfError:
                pass

    def files(data: bytes) -> None:
        try:
            sol.loads(data[2:], classes=compare.CLASSES)
        except amfgate.AmfError:
            pass

    return {"twins": twins, "decoder": decoder, "packets": packets, "files": files}


def corpus(only: str) -> list[bytes]:
    """The seeds, each behind the two bytes that say how it is read."""
    import seeds

    found = []
    if only in ("all", "twins", "decoder"):
        for version, inputs in seeds.seeds().items():
            for i, data in enumerate(inputs):
                found.append(bytes((version & 1 | i << 1 & 6, (2, 0)[i & 1])) + data)
                found.append(bytes((version & 1, 0)) + data)
    if only in ("all", "packets"):
        found.extend(b"\x40\0" + data for data in seeds.packets())
    if only in ("all", "files"):
        found.extend(b"\x60\0" + data for data in seeds.shared_objects())
    return found


def chooser(targets: dict[str, Callable[[bytes], None]], only: str) -> Callable[[bytes], None]:
    """The function that runs one input: the one target asked for, or what the input's first byte names."""
    if only != "all":
        return targets[only]
    order = (targets["twins"], targets["twins"], targets["packets"], targets["files"])
    return lambda data: order[data[0] >> 5 & 3](data)


def mutations(inputs: list[bytes], rnd: random.Random) -> Iterator[bytes]:
    """Seeds, changed a little, for ever; what has changed is sometimes changed further."""
    pick, below = rnd.choice, rnd.random
    pool = list(inputs)
    while True:
        data = bytearray(pick(pool))
        for _ in range(int(below() * 4) + 1):
            place = int(below() * (len(data) - 2)) + 2
            what = below()
            if what < 0.45 and place < len(data):
                data[place] = pick(TELLING) if below() < 0.7 else int(below() * 256)
            elif what < 0.55:
                data[place:place] = bytes((pick(TELLING),))
            elif what < 0.65:
                del data[place : place + 1 + int(below() * 4)]
            elif what < 0.75:
                del data[place:]
            elif what < 0.90:
                data[place:place] = pick(inputs)[2:42]
            else:
                data[0] = data[0] & 0xE0 | int(below() * 32)
                data[1] = int(below() * 256)
        made = bytes(data)
        if below() < 0.02 and len(made) < 300:
            if len(pool) < 4 * len(inputs):
                pool.append(made)
            else:
                pool[len(inputs) + int(below() * (len(pool) - len(inputs)))] = made
        yield made


def run_random(run: Callable[[bytes], None], inputs: list[bytes], seconds: float, executions: int, seed: int) -> int:
    """Run changed seeds until the time is up or the number is reached; the number of inputs run."""
    end = time.monotonic() + seconds if seconds else float("inf")
    source = mutations(inputs, random.Random(seed))
    count = 0
    data = b""
    try:
        for data in inputs:
            run(data)
        while not (executions and count >= executions) and time.monotonic() < end:
            for _ in range(min(1000, executions - count) if executions else 1000):
                data = next(source)
                run(data)
                count += 1
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            print(f"FOUND after {count} inputs: {type(error).__name__}: {error}\n--input {data.hex()}", flush=True)
        raise
    return count


def run_atheris(atheris: Any, only: str, seconds: float, executions: int, seed: int) -> None:
    """Run under atheris, which ends the process itself.  Modules are instrumented as they are imported: here first."""
    with atheris.instrument_imports(include=["amfgate"], enable_loader_override=False):
        run = chooser(make_targets(), only)

    def one(data: bytes) -> None:
        if len(data) >= 2:
            run(data)

    folder = Path(tempfile.mkdtemp(prefix="amfgate-fuzz-"))
    for i, data in enumerate(corpus(only)):
        (folder / f"{i:04d}").write_bytes(data)
    arguments = [sys.argv[0], str(folder), f"-artifact_prefix={folder}/found-", "-max_len=600", f"-seed={seed or 1}"]
    arguments += ["-print_final_stats=1", "-verbosity=0", "-timeout=20", "-rss_limit_mb=2048"]
    if seconds:
        arguments.append(f"-max_total_time={int(seconds)}")
    if executions:
        arguments.append(f"-runs={executions}")
    atheris.Setup(arguments, one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long; 60 if nothing else is given")
    parser.add_argument("--executions", type=int, default=0, help="stop after so many inputs")
    parser.add_argument("--only", choices=TARGETS, default="all")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0: another each time")
    parser.add_argument("--input", help="run just this input, in hex, and let its error out")
    parser.add_argument("--random", action="store_true", help="do without atheris")
    given = parser.parse_args()
    logging.disable()  # Packet.from_bytes warns of what an input can be taken for
    if not given.seconds and not given.executions:
        given.seconds = 60
    if given.input is not None:
        chooser(make_targets(), given.only)(bytes.fromhex(given.input))
        print("nothing wrong")
        return 0
    atheris = None
    # What counts is coverage of the Python code; the compiled decoder alone has none.
    if not given.random and given.only != "decoder":
        try:
            atheris = importlib.import_module("atheris")
        except ImportError:
            print("atheris is not installed (pip install atheris): random changes to seeds, not guided by coverage")
    if atheris is not None:
        run_atheris(atheris, given.only, given.seconds, given.executions, given.seed)
    run = chooser(make_targets(), given.only)
    seed = given.seed or random.SystemRandom().randrange(1, 1 << 32)
    began = time.monotonic()
    count = run_random(run, corpus(given.only), given.seconds, given.executions, seed)
    took = time.monotonic() - began
    print(f"{count} inputs in {took:.1f} s ({given.only}, seed {seed}): nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
