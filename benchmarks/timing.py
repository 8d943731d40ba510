"""How time is taken: medians of interleaved rounds in one process.

One after the other, every case runs for one slot of some milliseconds, and that is a round; then the next round
begins with another case.  A slow second of the machine so falls on all of them alike.  A call in front of each slot is
not timed: a case does not pay for the memory that the case before it has given back to the system, nor for the caches
that it has emptied.  The garbage collector has
looked at everything before, is told to leave it alone (`gc.freeze`) and is off while the clock runs; what a call
returns is freed inside the time, for every library alike.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Case:
    """One function to time, what has to be entered around it, and its times: seconds per call, one a round."""

    name: str
    function: Callable[[Any], Any]
    argument: Any
    scope: contextlib.AbstractContextManager[Any] = field(default_factory=contextlib.nullcontext)
    times: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a part of the median."""
        if len(self.times) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4)
        return (high - low) / 2 / self.median

    def run(self, loops: int) -> float:
        """Seconds per call over `loops` calls."""
        function, argument = self.function, self.argument
        with self.scope:
            start = time.perf_counter()
            for _ in itertools.repeat(None, loops):
                function(argument)
            return (time.perf_counter() - start) / loops


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: rounds, seconds for one slot, and the seconds from which on a case runs more rarely."""

    rounds: int = 15
    slot: float = 0.010
    patience: float = 0.100


FULL = Effort()
QUICK = Effort(rounds=3, slot=0.002, patience=0.010)


def measure(cases: list[Case], effort: Effort) -> None:
    """Fill `times` of all cases, interleaved.

    No cases are no work.  A case that takes longer than `effort.patience` runs in fewer rounds, but in three at least.
    """
    loops: dict[int, int] = {}
    every: dict[int, int] = {}
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for case in cases:
            case.run(1)  # caches of the library and of the processor are warm from here on
            once = min(case.run(1), case.run(1)) if effort.rounds > 3 else case.run(1)
            loops[id(case)] = max(1, int(effort.slot / once))
            every[id(case)] = max(1, min(effort.rounds // 3, int(once / effort.patience) + 1))
        for turn in range(effort.rounds):
            first = turn % len(cases) if cases else 0
            for case in cases[first:] + cases[:first]:
                if turn % every[id(case)] == 0:
                    if every[id(case)] == 1:  # the slow ones do not notice
                        case.run(1)
                    case.times.append(case.run(loops[id(case)]))
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
