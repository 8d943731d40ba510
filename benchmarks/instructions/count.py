"""Instructions per value, counted by valgrind: the measure that a busy machine does not disturb.

    python benchmarks/instructions/count.py [--only encode] [--workload W1] [--library amfgate._encoder] [--profile DIR]
    python benchmarks/instructions/count.py --output benchmarks/instructions/RESULTS.md

Each figure is the difference of two runs under callgrind that do the same work 2 and 12 times, divided by the 10
repetitions and by the number of values (containers count, keys do not); start-up, imports and the first call cancel
out.  `--profile DIR` keeps callgrind's files, to be read with `callgrind_annotate`; build the extensions with `-g` for
names.  Hash randomisation is off, so that two runs probe the same slots.  Needs valgrind.

What a busy machine cannot disturb, the allocator does a little: where pools of memory begin differs from run to run,
by up to 3 % of a figure either way.

A second table tells where the instructions of one decoded row go: in the library itself, or in CPython and the C
library, which make and free the objects.  That share nobody can save who returns dicts and lists.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import data  # noqa: E402 - the path comes first
from report import Table, conditions  # noqa: E402

WORKLOADS = ("W1", "W2", "W5b")
FEW, MANY = 2, 12
LIBRARIES = {
    "amfgate._encoder": "amfgate, Cython, AMF3",
    "amfgate._encoder@0": "amfgate, Cython, AMF0",
    "amfgate._encoder_py": "amfgate, Python, AMF3",
    "amfgate._encoder_py@0": "amfgate, Python, AMF0",
    "orjson": "orjson",
    "msgspec.msgpack": "msgspec.msgpack",
}


def instructions(library: str, direction: str, workload: str, repetitions: int, output: Path) -> int:
    """Instructions executed by one run of the worker, as callgrind's totals say."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", sys.executable]
    command += [str(HERE / "worker.py"), library, direction, workload, str(repetitions)]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    found = re.search(r"^(?:totals|summary): (\d+)", output.read_text(errors="replace"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{output} has no totals")
    return int(found[1])


def per_value(library: str, direction: str, workload: str, directory: Path) -> float:
    totals = []
    for repetitions in (FEW, MANY):
        output = profile(directory, library, direction, workload, repetitions)
        totals.append(instructions(library, direction, workload, repetitions, output))
    return (totals[1] - totals[0]) / (MANY - FEW) / data.count(data.BY_NAME[workload].make())


def profile(directory: Path, library: str, direction: str, workload: str, repetitions: int) -> Path:
    return directory / f"{library}.{direction}.{workload}.{repetitions}.callgrind"


def by_object(output: Path) -> dict[str, int]:
    """Instructions by the shared object that they are in, from a file of callgrind's.

    A line `ob=` says where the costs after it are.  The line after `calls=` is what a call took in all, which is
    counted where it was spent.
    """
    names: dict[str, str] = {}
    found: dict[str, int] = {}
    current, called = "", False
    for line in output.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            number, _, name = line[3:].partition(" ")
            current = names[number] = name or names[number]
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            called = True
        elif re.match(r"[+*\-]?\d* ?[+*\-]?\d+ \d+$", line) or re.match(r"\* \d+$", line):
            if not called:
                found[current] = found.get(current, 0) + int(line.split()[-1])
            called = False
    return found


def shares(directory: Path, library: str, workload: str) -> tuple[float, float]:
    """Instructions for one of the 500 rows of W1 or W2, decoded: in the library, and in CPython and below."""
    few, many = (by_object(profile(directory, library, "decode", workload, n)) for n in (FEW, MANY))
    rows = (MANY - FEW) * len(data.BY_NAME[workload].make())
    own = sum(many[name] - few.get(name, 0) for name in many if library.partition(".")[0] in Path(name).parts)
    return own / rows, (sum(many.values()) - sum(few.values())) / rows - own / rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Count instructions per value with callgrind.")
    parser.add_argument("--only", choices=("encode", "decode"))
    parser.add_argument("--workload", action="append", choices=[workload.name for workload in data.WORKLOADS])
    parser.add_argument("--library", action="append", choices=list(LIBRARIES))
    parser.add_argument("--profile", type=Path, help="a directory that keeps callgrind's files")
    parser.add_argument("--output", type=Path, help="a file that takes the tables, with their conditions, as Markdown")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (on Debian: apt-get install valgrind)", file=sys.stderr)
        return 1
    workloads = chosen.workload or WORKLOADS
    libraries = [
        name for name in chosen.library or LIBRARIES if importlib.util.find_spec(name.partition("@")[0]) is not None
    ]
    table = Table(
        "Instructions per value",
        ["library", "direction", *workloads],
        f"callgrind, {MANY} repetitions less {FEW}; values: "
        + ", ".join(f"{name} {data.count(data.BY_NAME[name].make()):,}" for name in workloads),
    )
    with tempfile.TemporaryDirectory() as temporary:
        directory = chosen.profile or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        for direction in (chosen.only,) if chosen.only else ("encode", "decode"):
            for library in libraries:
                counts = [per_value(library, direction, name, directory) for name in workloads]
                table.add(LIBRARIES[library], direction, *[f"{count:,.0f}" for count in counts])
        tables = [table]
        if chosen.only != "encode":
            tables.append(rows_table(directory, libraries, [name for name in workloads if name in ("W1", "W2")]))
    for shown in tables:
        print(shown.text())
    if chosen.output is not None:
        versions = [(name, version_of(name)) for name in ("amfgate", "orjson", "msgspec") if version_of(name)]
        facts = conditions(versions, data.digest(), "see count.py, beside this file")
        lines = ["# Instructions", "", *[f"- {fact}" for fact in facts], "", *[shown.markdown() for shown in tables]]
        chosen.output.write_text("\n".join(lines), encoding="utf-8")
    return 0


def rows_table(directory: Path, libraries: list[str], workloads: list[str]) -> Table:
    """Where the instructions of a decoded row are, for the compiled libraries."""
    table = Table(
        "Instructions for one decoded row",
        ["library", "workload", "all", "its own", "CPython and C library"],
        "Making and freeing the objects is CPython's part, the same for all but for the calls that a library chooses.",
    )
    for workload in workloads:
        for library in libraries:
            if "_py" not in library:
                own, rest = shares(directory, library, workload)
                table.add(LIBRARIES[library], workload, f"{own + rest:,.0f}", f"{own:,.0f}", f"{rest:,.0f}")
    return table


def version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
