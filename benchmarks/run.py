"""The benchmark: `make bench`.

    python benchmarks/run.py                  everything; writes benchmarks/RESULTS.md and the plots in docs/
    python benchmarks/run.py --quick          under a minute: does it start, are the outputs right; writes nothing
    python benchmarks/run.py --only codec     one part: codec, gateway, server or memory

Times are medians of interleaved rounds in one process (see timing.py).  Every output is checked before it is timed:
amfgate's bytes are decoded by its other twin and compared with the input, value by value, type by type, bit by
bit; both twins must write the same bytes; a few literals, worked out by hand from the specification, must come out.
What is wrong is reported as wrong and makes the exit status 1.  How long something took never does.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import data
import gateways
import memory
import peers
import plots
import serve
from report import ROOT, Table, conditions, microseconds, ratio
from timing import FULL, QUICK, Case, Effort, measure

HOW = (
    "medians of {rounds} interleaved rounds in one process, {slot:.0f} ms a slot, garbage collector off while the "
    "clock runs and run between rounds; each library decodes what it has encoded"
)
PARTS = ("codec", "gateway", "server", "memory")

# What stands on the wire, worked out by hand from the AMF specifications; no twin decides what is right.
LITERALS: list[tuple[str, Callable[[], Any], int, str]] = [
    ("W1, first row", lambda: data.w1()[:1], 3, "09 03 01 0a 0b 01 05 6964 04 01 09 6e616d65 06 13 50726f647563742031"
     "0b 7072696365 05 3ff599999999999a 0d 616374697665 03 01"),
    ("W2, first row twice", lambda: [data.w2()[0]] * 2, 3, "09 05 01 09 09 01 04 01 06 13 50726f647563742031"
     "05 3ff599999999999a 03 09 02"),
    ("W2, first row", lambda: data.w2()[:1], 0, "0a 00000001 0a 00000004 00 3ff0000000000000 02 0009 50726f647563742031"
     "00 3ff599999999999a 01 01"),
    ("W6 ints", lambda: [0, 127, 128, -1, 268435455, -268435456], 3, "09 0d 01 04 00 04 7f 04 8100 04 ffffffff"
     "04 bfffffff 04 c0808000"),
    ("W6 same", lambda: data.w6_same()[:3], 3, "09 07 01 06 29 617661696c61626c652066726f6d2073746f636b 06 00 06 00"),
    ("a date", lambda: data.EPOCH, 3, "08 01 4278cc251f400000"),
]  # fmt: skip


@dataclass
class Run:
    """What a run has found so far."""

    effort: Effort
    quick: bool
    tables: list[Table] = field(default_factory=list)
    times: dict[tuple[str, str, str], float] = field(default_factory=dict)  # (direction, workload, library) -> seconds
    # (direction, workload, ours, theirs) -> ours / theirs, both from one table: the rounds of one table interleave
    ratios: dict[tuple[str, str, str, str], float] = field(default_factory=dict)
    right: dict[tuple[str, str], bool] = field(default_factory=dict)  # (workload, library) -> its round trip is exact
    figures: dict[str, float] = field(default_factory=dict)  # what the targets are about, beyond `times`
    versions: dict[str, str] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def show(self, table: Table) -> None:
        self.tables.append(table)
        print(table.text(), flush=True)

    def leave_out(self, line: str) -> None:
        """Say once what is not measured, and why."""
        if line not in self.absent:
            self.absent.append(line)

    def libraries(self, ours: Callable[[], peers.Library], *others: Callable[[], peers.Library]) -> list[peers.Library]:
        """Ours, which has to be there, and of the others those that are."""
        found, absent = peers.available(*others)
        found.insert(0, ours())
        self.versions.update((library.name.partition(" AMF")[0], library.version) for library in found)
        for line in absent:
            self.leave_out(line)
        return found


# --- is it right -----------------------------------------------------------------------------------------------------


def twins(version: int) -> list[peers.Library]:
    """The Python twin, and the compiled one where it is built."""
    compiled, _ = peers.available(partial(peers.amfgate, version, "cython"))
    return [peers.amfgate(version, "python"), *compiled]


def check_literals(run: Run) -> None:
    for title, make, version, expected in LITERALS:
        for library in twins(version):
            found = library.encode(make())
            if found != bytes.fromhex(expected):
                run.wrong.append(f"{library.name}, {title}: {found.hex()} instead of {expected}")


def check_ours(run: Run, name: str, value: Any, version: int = 3, expected: Any = None) -> str:
    """Equal bytes from both twins, each decoded by the other to the input: "yes", or "NO" and a line in `wrong`."""
    both = twins(version)
    outputs = [twin.encode(value) for twin in both]
    problem = None if outputs.count(outputs[0]) == len(outputs) else "the twins' bytes differ"
    for twin, encoded in zip(reversed(both), outputs):
        found = peers.plain(twin.decode(encoded))
        problem = problem or data.difference(found, value if expected is None else expected, loose=version == 0)
    if problem is None:
        return "yes" if len(both) == 2 else "one twin"
    run.wrong.append(f"{name}, AMF{version}: {problem}")
    return "NO"


def check_peer(library: peers.Library, value: Any) -> tuple[Any, bytes, str | None]:
    """A workload as `library` takes it, as it writes it, and what its round trip gets wrong; the scope is entered."""
    prepared = library.prepare(value)
    encoded = library.encode(prepared)
    try:
        found = library.restore(library.decode(encoded))
    except Exception as error:  # a peer may fail in any way on its own output
        return prepared, encoded, f"{type(error).__name__}: {error}"
    return prepared, encoded, data.difference(found, value, loose=library.name.endswith("AMF0"))


# --- codec -----------------------------------------------------------------------------------------------------------


def compare(
    run: Run, title: str, workloads: list[data.Workload], libraries: list[peers.Library], version: int = 3
) -> None:
    """Measure and show both directions; libraries[0] is ours, and a cell is `microseconds (ours / theirs)`."""
    ours, *others = libraries
    note = f"Microseconds of {ours.name}; of each peer microseconds (ours / theirs; below 1 we are faster); "
    note += "≠: what it has written it does not read back as it was."
    names = [library.name for library in others]
    encode = Table(f"Encode {title}", ["workload", "ours", "bytes", "equal", *names], note)
    decode = Table(f"Decode {title}", ["workload", "ours", "equal", *names], note)
    sizes = Table(f"Bytes {title}", ["workload", "ours", *names], "Of the same value; in parentheses ours / theirs.")
    for workload in workloads:
        value = workload.make()
        equal = check_ours(run, workload.name, value, version)
        encoders: list[Case] = []
        decoders: list[Case] = []
        lengths: dict[str, int] = {}
        for library in libraries:
            if workload.name in library.lacks or (run.quick and slow(library, workload)):
                continue
            with library.scope:
                prepared, encoded, problem = check_peer(library, value)
            lengths[library.name] = len(encoded)
            run.right[workload.name, library.name] = problem is None
            encoders.append(Case(library.name, library.encode, prepared, library.scope))
            if problem is None:
                decoders.append(Case(library.name, library.decode, encoded, library.scope))
        for direction, cases in (("encode", encoders), ("decode", decoders)):
            measure(cases, run.effort)
            run.times.update(((direction, workload.name, case.name), case.median) for case in cases)
            run.ratios.update(
                ((direction, workload.name, ours.name, case.name), own.median / case.median)
                for own in cases
                if own.name == ours.name
                for case in cases
            )
        encode.add(
            workload.name,
            microseconds(run.times["encode", workload.name, ours.name]),
            f"{lengths[ours.name]:,}",
            equal,
            *[cell(run, "encode", workload.name, ours.name, name) for name in names],
        )
        mine = run.times.get(("decode", workload.name, ours.name))
        decode.add(
            workload.name,
            "-" if mine is None else microseconds(mine),
            equal,
            *[cell(run, "decode", workload.name, ours.name, name) for name in names],
        )
        sizes.add(
            workload.name,
            f"{lengths[ours.name]:,}",
            *[f"{lengths[n]:,} ({lengths[ours.name] / lengths[n]:.2f})" if n in lengths else "-" for n in names],
        )
    for direction, table in (("encode", encode), ("decode", decode)):
        means = [mean_ratio(run, direction, ours.name, name) for name in names]
        if any(means):
            blank = [""] * (len(table.columns) - len(names) - 1)
            table.add("geometric mean, W4 left out", *blank, *[ratio(mean) if mean else "-" for mean in means])
        run.show(table)
    run.show(sizes)


def slow(library: peers.Library, workload: data.Workload) -> bool:
    """Left out when there is no time: large data, but for the peers that the targets name."""
    named = library.name.startswith(("amfgate", "orjson", "msgspec.msgpack"))
    return not named and workload.name in ("W3", "W3n", "W5b")


def cell(run: Run, direction: str, workload: str, ours: str, theirs: str) -> str:
    time = run.times.get((direction, workload, theirs))
    mine = run.times.get((direction, workload, ours))
    if time is None or mine is None:
        return "≠" if run.right.get((workload, theirs)) is False else "-"
    mark = "" if run.right[workload, theirs] else " ≠"
    return f"{microseconds(time)} ({ratio(mine / time)}){mark}"


def mean_ratio(run: Run, direction: str, ours: str, theirs: str) -> float | None:
    """The geometric mean of ours / theirs over the workloads that count and that the peer can do at all."""
    found = [
        run.ratios[direction, workload.name, ours, theirs]
        for workload in data.WORKLOADS
        if workload.in_mean and (direction, workload.name, ours, theirs) in run.ratios
    ]
    return math.exp(sum(map(math.log, found)) / len(found)) if len(found) > 2 else None


def codec(run: Run) -> None:
    check_literals(run)
    serializers = [peers.orjson, peers.msgpack, peers.msgspec_json, peers.pickle5]
    compiled = [partial(peers.py3amf_compiled, 3), partial(peers.miniamf, 3)]
    ours = partial(peers.amfgate, 3)
    compare(run, "AMF3", list(data.WORKLOADS), run.libraries(ours, *serializers, *compiled))
    tables = [data.BY_NAME[name] for name in ("W1", "W2", "W4")]
    amf0 = [peers.orjson, peers.msgpack, partial(peers.py3amf_compiled, 0), partial(peers.miniamf, 0)]
    compare(run, "AMF0", tables, run.libraries(partial(peers.amfgate, 0), *amf0), version=0)
    some = [data.BY_NAME[name] for name in (("W1", "W2") if run.quick else ("W1", "W1s", "W2", "W4", "W5b"))]
    pure = [partial(peers.amfgate, 3, "python"), partial(peers.py3amf_pure, 3), partial(peers.py3amf_pure, 0)]
    compare(run, "AMF3, pure Python", some, run.libraries(*pure))
    special(run)


def special(run: Run) -> None:
    """Values that only amfgate has a form for: result sets and arrays of numbers."""
    import msgspec.msgpack

    import amfgate

    table = Table(
        "Result sets and arrays",
        ["workload", "ours", "peer", "ratio", "bytes", "equal"],
        "Microseconds.  WR: Rows against msgspec.msgpack.encode of the list of tuples.  W6v: the array against copying "
        "its bytes (`ndarray.tobytes`).",
    )
    columns, rows = data.wr()
    equal = check_ours(run, "WR", amfgate.Rows(columns, rows), expected=data.w1())
    cases = [
        Case("ours", amfgate.dumps, amfgate.Rows(columns, rows)),
        Case("msgpack", msgspec.msgpack.encode, rows),
        Case("ours, dicts", amfgate.dumps, data.w1()),
    ]
    measure(cases, run.effort)
    run.figures["WR"] = cases[0].median / cases[1].median
    size = len(amfgate.dumps(amfgate.Rows(columns, rows)))
    table.add("WR", *two(cases[0], cases[1]), f"{size:,}", equal)
    table.add("WR, against W1 as dicts", *two(cases[0], cases[2]), f"{size:,}", equal)
    array = data.w6v()
    encoded = amfgate.dumps(array)
    # marker, U29 of 1,000,000 << 1 | 1, not fixed, then the doubles in network order
    good = encoded == bytes.fromhex("0f fa8901 00") + array.astype(">f8").tobytes()
    if not good:
        run.wrong.append(f"W6v: {encoded[:14].hex()}… instead of 0f and {array.size} doubles")
    cases = [Case("ours", amfgate.dumps, array), Case("copy", lambda value: value.tobytes(), array)]
    measure(cases, run.effort)
    run.figures["W6v"] = cases[0].median / cases[1].median
    table.add("W6v", *two(cases[0], cases[1]), f"{len(encoded):,}", "yes" if good else "NO")
    run.show(table)


def two(ours: Case, peer: Case) -> tuple[str, str, str]:
    return microseconds(ours.median), microseconds(peer.median), ratio(ours.median / peer.median)


# --- gateway ---------------------------------------------------------------------------------------------------------


def gateway(run: Run) -> None:
    table = Table(
        "One call through a gateway",
        ["request", "library", "µs", "above the empty app", "ours / theirs", "equal"],
        "In process, default filters, the same packet for all; the empty app gets the same environ and answers `ok`.  "
        "Calls are written to no log.",
    )
    for name, packet in (("Flex, 289 bytes", gateways.flex_request()), ("NetConnection", gateways.plain_request())):
        environ = gateways.request(packet)
        cases = [Case("empty app", gateways.caller(gateways.empty_app, environ, packet), None)]
        cases.append(Case("amfgate", gateways.caller(gateways.amfgate_gateway(), environ, packet), None))
        for directory, label in (("py3amf-compiled", "Py3AMF compiled"), ("py3amf-pure", "Py3AMF as pip installs it")):
            try:
                peer, scope = gateways.py3amf_gateway(directory)
            except ImportError as error:
                run.leave_out(f"the gateway of {label}: {error}")
            else:
                cases.append(Case(label, gateways.caller(peer, environ, packet), None, scope))
        equal = {}
        for case in cases[1:]:
            with case.scope:
                equal[case.name] = gateways.echoed(case.function(None))
        if not equal["amfgate"]:
            run.wrong.append(f"gateway, {name}: {cases[1].function(None)!r}")
        measure(cases, run.effort)
        empty, mine, *others = cases
        for case in cases:
            above = case.median - empty.median
            against = (mine.median - empty.median) / above if case in others else None
            table.add(
                name,
                case.name,
                microseconds(case.median),
                "" if case is empty else microseconds(above),
                "" if against is None else ratio(against),
                "" if case is empty else "yes" if equal[case.name] else "NO",
            )
            if against is not None:
                run.figures[f"{name} / {case.name}"] = against
    other = gateways.request(b"", "/index.html", "GET")
    cases = [
        Case("the app alone", gateways.caller(gateways.empty_app, other, b""), None),
        Case("behind amfgate", gateways.caller(gateways.amfgate_gateway(), other, b""), None),
    ]
    replies = [case.function(None) for case in cases]
    measure(cases, run.effort)
    run.figures["not ours"] = (cases[1].median - cases[0].median) * 1e6
    table.add("not ours", "the app alone", microseconds(cases[0].median), "", "", "")
    above_app = microseconds(cases[1].median - cases[0].median)
    table.add(
        "not ours",
        "behind amfgate",
        microseconds(cases[1].median),
        above_app,
        "",
        "yes" if len({*replies}) == 1 else "NO",
    )
    if replies[0] != replies[1]:
        run.wrong.append(f"a request for the app: {replies[1]!r} instead of {replies[0]!r}")
    run.show(table)


def server(run: Run) -> None:
    table = Table(
        "Requests per second behind gunicorn, W1 as the result",
        ["worker", "gateway", "constant", "ratio", "bytes", "equal"],
        f"One worker process; {serve.CONNECTIONS} connections from a second process, always with a request waiting; "
        "the constant is the same bytes, held ready.  sync: a connection for each request; gthread: kept alive.",
    )
    if importlib.util.find_spec("gunicorn") is None:
        run.leave_out("gunicorn is not installed")
        return
    for rate in serve.measure(*((0.4, 1) if run.quick else (1.5, 5))):
        share = rate.gateway / rate.constant
        run.figures[f"gunicorn {rate.worker}"] = share
        numbers = f"{rate.gateway:,.0f}", f"{rate.constant:,.0f}", ratio(share), f"{rate.size:,}"
        table.add(rate.worker, *numbers, "yes" if rate.equal else "NO")
        if not rate.equal:
            run.wrong.append(f"gunicorn, {rate.worker}: the two replies differ")
    run.show(table)


# --- memory and growth -----------------------------------------------------------------------------------------------


def memory_and_growth(run: Run) -> None:
    table = Table(
        "Memory while W3 is encoded", ["input, MB", "output, MB", "peak above the input, MB", "peak / output"]
    )
    found = memory.ask("peak")
    run.figures["peak"] = found["above"] / found["output"]
    table.add(*[f"{found[key] / 1e6:.1f}" for key in ("input", "output", "above")], ratio(run.figures["peak"]))
    run.show(table)
    counts = (1_000, 10_000) if run.quick else (1_000, 10_000, 100_000, 1_000_000)
    growth = Table(
        "Time per row",
        ["rows", "ours, ns", "against 1,000 rows", "msgspec.msgpack, ns", "against 1,000 rows"],
        "Rows as W1's, each count in a process of its own, the best of several runs.",
    )
    first: dict[str, float] = {}
    spans: list[float] = []
    for count in counts:
        found = memory.ask("rows", str(count))
        first = first or found
        spans.append(found["ours"])
        cells = [(f"{found[key] * 1e9:.1f}", ratio(found[key] / first[key])) for key in ("ours", "msgpack")]
        growth.add(f"{count:,}", *cells[0], *cells[1])
    run.figures["per row"] = max(spans) / min(spans) - 1
    run.show(growth)


# --- targets ---------------------------------------------------------------------------------------------------------


def targets(run: Run) -> None:
    """The table that says what was promised and what was measured; a row without figures says so."""
    table = Table("Targets", ["what", "against", "measured", "at most", "met"])

    def row(
        what: str, against: str, measured: float | None, limit: float, *, least: bool = False, unit: str = ""
    ) -> None:
        bound = f"{limit:g}{unit}" + (" at least" if least else "")
        if measured is None:
            table.add(what, against, "not measured", bound, "-")
        else:
            met = measured >= limit if least else measured <= limit
            table.add(what, against, ratio(measured) + unit, bound, "yes" if met else "no")

    library = public(run)
    amf0 = library.replace("AMF3", "AMF0")
    pure = "amfgate (python) AMF3"
    # Like with like: AMF3 against a peer's AMF3.  miniamf's counts only where its output is right, which W1's is not.
    compiled = ["Py3AMF compiled AMF3", "miniamf compiled AMF3"]

    def against(direction: str, workload: str, ours: str, *theirs: str) -> float | None:
        known = [
            run.ratios[direction, workload, ours, name]
            for name in theirs
            if run.right.get((workload, name)) and (direction, workload, ours, name) in run.ratios
        ]
        return max(known, default=None)

    row("encode AMF3, geometric mean", "msgspec.msgpack", mean_ratio(run, "encode", library, "msgspec.msgpack"), 1.00)
    for name in ("W1", "W1s", "W3n"):
        row(f"encode AMF3 {name}", "orjson", against("encode", name, library, "orjson"), 0.85)
    for name in ("W1", "W2"):
        row(f"encode AMF0 {name}", "msgspec.msgpack", against("encode", name, amf0, "msgspec.msgpack"), 1.10)
    row("decode AMF3, geometric mean", "msgspec.msgpack", mean_ratio(run, "decode", library, "msgspec.msgpack"), 0.75)
    for name in ("W1", "W2"):
        row(f"decode AMF0 {name}", "orjson", against("decode", name, amf0, "orjson"), 0.85)
    best = "best compiled AMF3 peer"
    row("encode AMF3 W1, compiled", best, against("encode", "W1", library, *compiled), 0.04)
    row("decode AMF3 W1, compiled", best, against("decode", "W1", library, *compiled), 0.11)
    pures = ["Py3AMF pure AMF3"]
    row("encode AMF3 W1, pure", "best pure AMF3 peer", against("encode", "W1", pure, *pures), 0.30)
    row("decode AMF3 W1, pure", "best pure AMF3 peer", against("decode", "W1", pure, *pures), 0.40)
    row("encode W4", best, against("encode", "W4", library, *compiled), 0.08)
    row("decode W4", best, against("decode", "W4", library, *compiled), 0.25)
    row("encode WR", "msgspec.msgpack of the tuples", run.figures.get("WR"), 1.00)
    row("encode W6v", "copying the array's bytes", run.figures.get("W6v"), 3)
    row("peak memory, encode W3", "size of the output", run.figures.get("peak"), 1.5)
    row("time per row, 1,000 to 1,000,000", "itself", run.figures.get("per row"), 0.15)
    for name in ("Flex, 289 bytes", "NetConnection"):
        row(f"one call, {name}", "Py3AMF compiled", run.figures.get(f"{name} / Py3AMF compiled"), 0.20)
        row(f"one call, {name}", "Py3AMF pure", run.figures.get(f"{name} / Py3AMF as pip installs it"), 0.08)
    for worker in ("sync", "gthread"):
        row(
            f"gunicorn {worker}, W1", "the bytes as a constant", run.figures.get(f"gunicorn {worker}"), 0.80, least=True
        )
    row("a request that is not ours", "the app alone", run.figures.get("not ours"), 1, unit=" µs")
    run.show(table)


# --- the whole -------------------------------------------------------------------------------------------------------


def write(run: Run, facts: list[str]) -> None:
    intro = ["# Results", "", "Written by `make bench`; how to read it is in [README.md](README.md).", ""]
    intro += [f"- {fact}" for fact in facts] + [f"- left out: {line}" for line in run.absent] + [""]
    summary = [table for table in run.tables if table.title == "Targets"]
    tables = summary + [table for table in run.tables if table not in summary]
    text = "\n".join(intro + [table.markdown() for table in tables])
    (ROOT / "benchmarks" / "RESULTS.md").write_text(text, encoding="utf-8")
    caption = f"{facts[0]}; {facts[2]}; below 1 is faster than msgspec.msgpack"
    for direction in ("encode", "decode"):
        title = f"{direction.capitalize()}: time by workload, against msgspec.msgpack"
        plots.draw(ROOT / "docs" / f"bench-{direction}.svg", title, series(run, direction), caption)


def series(run: Run, direction: str) -> plots.Series:
    """library -> workload -> time divided by msgspec.msgpack's; only round trips that were right."""
    found: plots.Series = {}
    for (way, workload, library), time in run.times.items():
        base = run.times.get((direction, workload, "msgspec.msgpack"))
        if way == direction and base is not None and run.right[workload, library]:
            label = "amfgate AMF3" if library == public(run) else library
            found.setdefault(label, {})[workload] = time / base
    return found


def public(run: Run) -> str:
    """The name under which `amfgate.dumps` was measured: the first of ours."""
    return next((name for _, _, name in run.times if name.startswith("amfgate")), "amfgate")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure amfgate against other serializers and gateways.")
    parser.add_argument("--quick", action="store_true", help="under a minute; checks outputs, writes nothing")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part; may be given again")
    parser.add_argument("--rounds", type=int, default=FULL.rounds)
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else Effort(chosen.rounds, FULL.slot, FULL.patience)
    run = Run(effort, chosen.quick)
    how = HOW.format(rounds=effort.rounds, slot=effort.slot * 1000)
    began = datetime.now(UTC)
    started = conditions([], data.digest(), how)
    parts = {"codec": codec, "gateway": gateway, "server": server, "memory": memory_and_growth}
    for name in chosen.only or PARTS:
        parts[name](run)
    targets(run)
    started[4] = f"libraries: {', '.join(f'{name} {version}' for name, version in sorted(run.versions.items()))}"
    print("\n" + "\n".join(started))
    print(f"took: {(datetime.now(UTC) - began).total_seconds():.0f} s")
    for line in run.absent:
        print(f"left out: {line}")
    if not chosen.quick and not chosen.only:
        write(run, started)
    for line in run.wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
