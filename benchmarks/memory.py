"""Memory and growth, each figure in a process of its own.

    python benchmarks/memory.py peak          the most memory above the input while W3 is encoded
    python benchmarks/memory.py rows COUNT    seconds per row to encode COUNT rows like W1's

Peak: the input is built, what its building left behind is given back (`malloc_trim`), the kernel's high-water mark
is reset, W3 is encoded, and the mark is read while the result is still alive; so the output itself is in it.  Linux
only.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import data


def status(key: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def peak() -> dict[str, Any]:
    import amfgate

    value = data.w3()
    amfgate.dumps(data.w1())  # whatever is loaded or cached at the first call is not part of the peak
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again from VmRSS
    before = status("VmRSS")
    encoded = amfgate.dumps(value)
    return {"above": status("VmHWM") - before, "output": len(encoded), "input": before}


def rows(count: int) -> dict[str, Any]:
    """The best of several runs: growth is the question here, not noise."""
    import msgspec.msgpack

    import amfgate

    value = [{"id": i, "name": f"Product {i}", "price": i * 1.25 + 0.1, "active": i % 3 != 0} for i in range(count)]
    gc.collect()
    gc.freeze()
    gc.disable()
    found: dict[str, float] = {}
    for _ in range(max(3, min(200, 1_000_000 // count))):
        for name, encode in (("ours", amfgate.dumps), ("msgpack", msgspec.msgpack.encode)):
            start = time.perf_counter()
            encoded = encode(value)
            elapsed = (time.perf_counter() - start) / count
            del encoded
            found[name] = min(found.get(name, elapsed), elapsed)
    return found


def ask(*arguments: str) -> dict[str, Any]:
    """Run this file in a fresh process and read its answer."""
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        print(json.dumps(peak()))
    elif sys.argv[1:2] == ["rows"] and len(sys.argv) == 3:
        print(json.dumps(rows(int(sys.argv[2]))))
    else:
        sys.exit("usage: memory.py peak | memory.py rows COUNT")
