"""What each lesson behind the design is worth in Python, measured.

    python benchmarks/lessons.py                                  on this Python
    python benchmarks/lessons.py --python P --python Q            on several, side by side, with the verdicts
    ... --output benchmarks/LESSONS.md                            the same as Markdown, with the conditions

A PHP remoting gateway once took 1.6 s for a result set of 500 x 4.  Its filters called one another, its serializer
called a helper object for every byte, looked names up globally, and was spread over subclasses of an abstract base.
Four changes made it 0.4 s: a loop over the filters, the buffer inside the serializer, local names, flat dispatch.  Each
is measured here alone (everything else at its best), then all together, step by step; then amfgate's own codecs, which
do a good deal more than these variants: limits, every type, paths in errors.

The variants are in `variants.py`; every one writes the same bytes as amfgate with `strings="all"`, or the run
fails.  Needs nothing but amfgate, so that it runs on any Python from 3.11 on.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import data
import variants
from report import Table, conditions, microseconds, ratio
from timing import QUICK, Case, Effort, measure

import amfgate
from amfgate.pipeline import Pipeline

EFFORT = Effort(rounds=31, slot=0.010)
FILTERS = (0, 4, 16, 64)
WORKLOADS = {"W1": data.w1, "W2": data.w2}
HOLDS, FADED = 1.10, 1.03  # what not following a lesson costs: from 10 % on it holds, below 3 % there is nothing in it


# --- filters ---------------------------------------------------------------------------------------------------------


class Message:
    """What passes the filters."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.response: Any = None
        self.passed = 0
        self.frames = 0
        self.error: BaseException | None = None

    def fail(self, error: Exception) -> None:
        self.error = error
        self.response = error


class Nested:
    """A filter that calls the next one, and is still on the stack when the last one runs."""

    def __init__(self, following: Any) -> None:
        self.following = following

    def handle(self, message: Message) -> None:
        message.passed += 1
        self.following.handle(message)
        message.passed += 1


class Last:
    """The end of the nest, where the work is done."""

    def handle(self, message: Message) -> None:
        message.response = message.work()


class Step:
    """The same filter for a loop: on the way in, and on the way back."""

    def on_request(self, message: Message) -> None:
        message.passed += 1

    def on_response(self, message: Message) -> None:
        message.passed += 1


class Work:
    """The last step of a loop."""

    def on_request(self, message: Message) -> None:
        message.response = message.work()


def nest(count: int) -> Callable[[Message], None]:
    first: Any = Last()
    for _ in range(count):
        first = Nested(first)
    return first.handle  # type: ignore[no-any-return]


def loop(count: int) -> Callable[[Message], None]:
    """No more than the idea: in through a tuple of hooks, back through another."""
    steps = [Step() for _ in range(count)]
    enters = (*[step.on_request for step in steps], Work().on_request)
    leaves = tuple(step.on_response for step in reversed(steps))

    def run(message: Message) -> None:
        for enter in enters:
            enter(message)
        for leave in leaves:
            leave(message)

    return run


def pipeline(count: int) -> Callable[[Message], None]:
    """amfgate's own, which besides isolates each hook, stops at an answer and leaves only what was entered."""
    return Pipeline([*[Step() for _ in range(count)], Work()]).run


MAKERS = {"nested": nest, "loop": loop, "pipeline": pipeline}


def passing(run: Callable[[Message], None]) -> Callable[[Callable[[], Any]], None]:
    """A function to time: a message that carries `work`, through the filters."""

    def once(work: Callable[[], Any]) -> None:
        run(Message(work))

    return once


def depth() -> int:
    """How many Python frames are on the stack below the caller."""
    frame, count = sys._getframe(1), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]
    return count


def stack_of(run: Callable[[Message], None]) -> int:
    """How many frames the last filter has below it, those of this function's caller not counted."""
    message = Message(depth)
    own = depth()
    run(message)
    return int(message.response) - own


def traceback_of(run: Callable[[Message], None]) -> int:
    """How many entries a traceback has when the last filter raises, from the caller down."""

    def fail() -> None:
        raise ValueError("the last filter found something")

    message = Message(fail)
    try:
        run(message)
    except ValueError as error:
        message.error = error
    trace, count = message.error.__traceback__ if message.error else None, 0
    while trace is not None:
        trace, count = trace.tb_next, count + 1
    return count


def filters(effort: Effort, encode: Callable[..., bytes]) -> dict[str, Any]:
    """times[work][count][maker] in seconds; traceback and stack [count][maker]."""
    found: dict[str, Any] = {"times": {}, "traceback": {}, "stack": {}}
    works: dict[str, Callable[[], Any]] = {"nothing": int}
    for name, make in WORKLOADS.items():
        works[name] = partial(encode, make())
    for work_name, work in works.items():
        for count in FILTERS:
            cases = [Case(name, passing(make(count)), work) for name, make in MAKERS.items()]
            measure(cases, effort)
            found["times"].setdefault(work_name, {})[str(count)] = {case.name: case.median for case in cases}
    for count in FILTERS:
        made = {name: make(count) for name, make in MAKERS.items()}
        for name, run in made.items():
            message = Message(lambda: b"answer")
            run(message)
            if message.passed != 2 * count or message.response != b"answer":
                raise AssertionError(f"{name} of {count} filters: {message.passed} passed, {message.response!r}")
        found["traceback"][str(count)] = {name: traceback_of(run) for name, run in made.items()}
        found["stack"][str(count)] = {name: stack_of(run) for name, run in made.items()}
    return found


# --- the serializer --------------------------------------------------------------------------------------------------

BEST = "buffer inside, locals, flat"
ALONE = {
    BEST: variants.buffer_locals_flat,
    "a helper object for each byte": variants.helper_locals_flat,
    "globals": variants.buffer_globals_flat,
    "a subclass of an abstract base per type": variants.buffer_locals_classes,
}
STEPS: tuple[tuple[str, Callable[[int], Any], Callable[[Any], bytes]], ...] = (
    ("as it was: nested, helper, globals, classes", nest, variants.helper_globals_classes),
    ("+ filters in a loop", loop, variants.helper_globals_classes),
    ("+ the buffer inside the serializer", loop, variants.buffer_globals_classes),
    ("+ locals", loop, variants.buffer_locals_classes),
    ("+ flat dispatch", loop, variants.buffer_locals_flat),
)
STEP_FILTERS = 4


def codecs() -> dict[str, Callable[[Any], bytes]]:
    """amfgate's own encoders, as far as they are built for this Python, writing `strings="all"`."""
    found: dict[str, Callable[[Any], bytes]] = {}
    for label, name in (("amfgate, Python", "amfgate._encoder_py"), ("amfgate, Cython", "amfgate._encoder")):
        try:
            encoder = importlib.import_module(name).Encoder
        except ModuleNotFoundError:
            continue
        found[label] = lambda value, encoder=encoder: encoder(strings="all").encode(value)
    return found


def serializers(effort: Effort, known: dict[str, Callable[[Any], bytes]]) -> dict[str, Any]:
    """alone and steps: [workload][variant] in seconds, after every variant's bytes were compared with amfgate's."""
    found: dict[str, Any] = {"alone": {}, "steps": {}, "bytes": {}}
    for name, make in WORKLOADS.items():
        value = make()
        expected = known["amfgate, Python"](value)
        everything = {**ALONE, **{label: function for label, _, function in STEPS}, **known}
        for label, function in everything.items():
            if function(value) != expected:
                raise AssertionError(f"{name}: {label} does not write amfgate's bytes")
        alone = [Case(label, function, value) for label, function in ALONE.items()]
        measure(alone, effort)
        found["alone"][name] = {case.name: case.median for case in alone}
        stages = [(label, wrap, function) for label, wrap, function in STEPS]
        stages += [(label, pipeline, function) for label, function in known.items()]
        steps = [Case(label, passing(wrap(STEP_FILTERS)), partial(function, value)) for label, wrap, function in stages]
        measure(steps, effort)
        found["steps"][name] = {case.name: case.median for case in steps}
        found["bytes"][name] = len(expected)
    return found


# --- tables ----------------------------------------------------------------------------------------------------------


def filter_tables(found: dict[str, Any]) -> list[Table]:
    table = Table(
        "Filters that call one another, against a loop",
        ["filters", "work", "nested, µs", "loop, µs", "nested / loop", "Pipeline, µs"],
        "A request through so many filters and back, and the work at the end: nothing, or amfgate's encoding.  `loop` "
        "is the idea alone, Pipeline is amfgate's, which also isolates every hook's errors and stops at an answer.",
    )
    for work, by_count in found["times"].items():
        for count, times in by_count.items():
            share = ratio(times["nested"] / times["loop"])
            numbers = [microseconds(times[name]) for name in ("nested", "loop")]
            table.add(count, work, *numbers, share, microseconds(times["pipeline"]))
    stacks = Table(
        "What is on the stack",
        ["filters", "traceback nested", "loop", "Pipeline", "frames below the last: nested", "loop", "Pipeline"],
        "Entries of the traceback when the last filter raises; frames between the caller and the work.",
    )
    for count in found["traceback"]:
        cells = [str(found[kind][count][name]) for kind in ("traceback", "stack") for name in MAKERS]
        stacks.add(count, *cells)
    return [table, stacks]


def serializer_tables(found: dict[str, Any]) -> list[Table]:
    alone = Table(
        "One lesson ignored at a time",
        ["serializer", "W1, µs", "x best", "W2, µs", "x best", "equal"],
        "Each line is the best shape with one thing undone; equal: amfgate's bytes.",
    )
    for label in ALONE:
        cells: list[str] = []
        for name in WORKLOADS:
            times = found["alone"][name]
            cells += [microseconds(times[label]), ratio(times[label] / times[BEST])]
        alone.add(label, *cells, "yes")
    steps = Table(
        "The four together, step by step",
        ["shape", "W1, µs", "since the start", "W2, µs", "since the start", "equal"],
        f"A call's reply: {STEP_FILTERS} filters and the serializer.  Each line keeps what the lines above it changed.",
    )
    for label in found["steps"]["W1"]:
        cells = []
        for name in WORKLOADS:
            times = found["steps"][name]
            cells += [microseconds(times[label]), f"{times[STEPS[0][0]] / times[label]:.1f}x faster"]
        steps.add(label, *cells, "yes")
    return [alone, steps]


def lessons(found: dict[str, Any]) -> dict[str, float]:
    """What ignoring each lesson costs: the geometric mean of its factors on W1 and W2; 16 filters around nothing."""
    times = found["filters"]["times"]["nothing"]["16"]
    costs = {"filters in a loop": times["nested"] / times["loop"]}
    titles = ("the buffer inside", "locals, not globals that are read and set", "flat, no classes per type")
    for title, label in zip(titles, list(ALONE)[1:]):
        factors = [found["alone"][name][label] / found["alone"][name][BEST] for name in WORKLOADS]
        costs[title] = (factors[0] * factors[1]) ** 0.5
    shapes = [label for label, _, _ in STEPS]
    for title, without, followed in (
        ("locals, not globals that are only read", 2, 3),
        ("the four together", 0, -1),
    ):
        factors = [found["steps"][name][shapes[without]] / found["steps"][name][shapes[followed]] for name in WORKLOADS]
        costs[title] = (factors[0] * factors[1]) ** 0.5
    return costs


def verdict(cost: float) -> str:
    return "holds" if cost >= HOLDS else "no longer" if cost < FADED else "barely"


def verdict_table(by_python: dict[str, dict[str, Any]]) -> Table:
    table = Table(
        "Which lesson holds",
        ["lesson", *by_python],
        f"How many times longer it takes when the lesson is ignored.  holds: {HOLDS:.2f} or more; no longer: less than "
        f"{FADED:.2f}.  Filters: time of 16 around nothing; that a traceback and the stack grow with nesting holds "
        "everywhere.",
    )
    costs = {name: lessons(found) for name, found in by_python.items()}
    for title in next(iter(costs.values())):
        table.add(title, *[f"{known[title]:.2f} {verdict(known[title])}" for known in costs.values()])
    return table


def collect(effort: Effort) -> dict[str, Any]:
    known = codecs()
    encode = list(known.values())[-1]
    name = f"{platform.python_implementation()} {platform.python_version()}"
    return {"python": name, "filters": filters(effort, encode), **serializers(effort, known)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the lessons behind amfgate's design.")
    parser.add_argument("--quick", action="store_true", help="a few seconds: does it start, are the bytes right")
    parser.add_argument("--python", action="append", help="an interpreter to measure on; may be given again")
    parser.add_argument("--json", action="store_true", help="figures as JSON, for the process that compares")
    parser.add_argument("--output", type=Path, help="a file that gets the tables as Markdown")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else EFFORT
    if not chosen.python:
        every = [collect(effort)]
    else:
        options = ["--json", *(["--quick"] if chosen.quick else [])]
        answers = [
            subprocess.run([name, __file__, *options], check=True, stdout=subprocess.PIPE, text=True).stdout
            for name in chosen.python
        ]
        every = [json.loads(answer) for answer in answers]
    if chosen.json:
        print(json.dumps(every[0]))
        return 0
    tables = [verdict_table({found["python"]: found for found in every})]
    for found in every:
        for table in filter_tables(found["filters"]) + serializer_tables(found):
            table.title += f" ({found['python']})"
            tables.append(table)
    for table in tables:
        print(table.text())
    if chosen.output is not None:
        how = f"medians of {effort.rounds} interleaved rounds, garbage collector off while the clock runs"
        facts = conditions([("amfgate", amfgate.__version__)], data.digest(), how)
        head = ["# Lessons", "", "Written by `benchmarks/lessons.py`; what it means is in its first lines.", ""]
        lines = [*head, *[f"- {fact}" for fact in facts], "", *[table.markdown() for table in tables]]
        chosen.output.write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
