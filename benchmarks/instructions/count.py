"""Instructions per value, counted by valgrind: the measure that a busy machine does not disturb.

    python benchmarks/instructions/count.py [--only encode] [--workload W1] [--library amfgate._encoder] [--profile DIR]

Each figure is the difference of two runs under callgrind that do the same work 2 and 6 times, divided by the 4
repetitions and by the number of values (containers count, keys do not); start-up, imports and the first call cancel
out.  `--profile DIR` keeps callgrind's files, to be read with `callgrind_annotate`; build the extensions with `-g` for
names.  Hash randomisation is off, so that two runs probe the same slots.  Needs valgrind.
"""

from __future__ import annotations

import argparse
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
from report import Table  # noqa: E402

WORKLOADS = ("W1", "W2", "W5b")
FEW, MANY = 2, 6
LIBRARIES = {
    "amfgate._encoder": "amfgate, Cython",
    "amfgate._encoder_py": "amfgate, Python",
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
        output = directory / f"{library}.{direction}.{workload}.{repetitions}.callgrind"
        totals.append(instructions(library, direction, workload, repetitions, output))
    return (totals[1] - totals[0]) / (MANY - FEW) / data.count(data.BY_NAME[workload].make())


def main() -> int:
    parser = argparse.ArgumentParser(description="Count instructions per value with callgrind.")
    parser.add_argument("--only", choices=("encode", "decode"))
    parser.add_argument("--workload", action="append", choices=[workload.name for workload in data.WORKLOADS])
    parser.add_argument("--library", action="append", choices=list(LIBRARIES))
    parser.add_argument("--profile", type=Path, help="a directory that keeps callgrind's files")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (on Debian: apt-get install valgrind)", file=sys.stderr)
        return 1
    workloads = chosen.workload or WORKLOADS
    libraries = [name for name in chosen.library or LIBRARIES if importlib.util.find_spec(name) is not None]
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
    print(table.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
