"""The cost of a schedule: the time for one arrival of each process and profile, and that of the simplest.

The worker that issues draws the whole schedule, its share and that of the others, so an arrival is to cost
little compared with a request, which takes some 100 µs of a core.

    python benchmarks/arrivals.py
"""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Final

from loadgen.driver.arrivals.rate_profile import Flat
from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.arrivals.schedule import replayed
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.load import ProcessArrivals
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ARRIVALS: Final = 100_000
ROUNDS: Final = 7
RATE: Final = 1000.0
PROFILES: Final = (
    "ramp:100..1900,100s",
    "ramp-exp:100..4000,100s",
    "steps:200..1800x100,100s",
    "sine:1000,900,10s",
    "bursts:500,5500,10s,1s",
)
STAGES: Final = Stages(tuple(Stage(float(k), 1.0, profile(f"{950 + k}")) for k in range(101)))
"""101 stages of a second each, at 950 to 1,050 req/s."""


def schedules() -> Iterator[tuple[str, Callable[[], Iterator[int]]]]:
    """Every kind of schedule by its name, with a function that makes it."""
    for name, process in ARRIVAL_PROCESSES.items():
        burstiness = 0.5 if process.takes_burstiness else None
        arrivals = ProcessArrivals(name, Flat(RATE), burstiness)
        shown = f"{name}, burstiness {burstiness}" if burstiness else name
        yield shown, lambda arrivals=arrivals: arrivals.offsets(0)
    for text in PROFILES:
        for name in ("constant", "poisson"):
            arrivals = ProcessArrivals(name, profile(text))
            yield f"{text}, {name}", lambda arrivals=arrivals: arrivals.offsets(0)
    yield "stages, constant", lambda: ProcessArrivals("constant", STAGES).offsets(0)
    times_ns = range(0, (ARRIVALS + 1) * 1_000_000, 1_000_000)
    yield "trace", lambda: replayed(times_ns, 2.0)


def cost_ns(make: Callable[[], Iterator[int]]) -> float:
    """The time for one arrival, in ns.

    Raises:
        RuntimeError: The schedule ends too soon to be timed.
    """
    started = time.perf_counter_ns()
    last = deque(islice(enumerate(make(), 1), ARRIVALS), maxlen=1)
    took = time.perf_counter_ns() - started
    if last[0][0] != ARRIVALS:
        raise RuntimeError(f"it ends after {last[0][0]:,} of {ARRIVALS:,} arrivals")
    return took / ARRIVALS


def main() -> None:
    """Print the table."""
    schedules_by_name = dict(schedules())
    # A round has each of them once, so that a busy moment of the machine affects all.
    rounds = [{name: cost_ns(make) for name, make in schedules_by_name.items()} for _ in range(ROUNDS)]
    print(f"{'schedule':34} {'ns an arrival':>14} {'ratio':>7}")
    for name in schedules_by_name:
        ratio = median(costs[name] / costs["constant"] for costs in rounds)
        print(f"{name:34} {median(costs[name] for costs in rounds):14,.0f} {ratio:7.2f}")


main()
