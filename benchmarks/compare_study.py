"""How often `loadgen compare` is right: runs whose difference is known, simulated and compared many times.

Prints for each kind of run and number of requests in how many comparisons, in percent, a metric is called
better or worse: first of a server with itself, where these are false positives, then of one that is slower by
10, 30 and 100 %, where they are found. What is compared is what the program compares: latencies in the order
of issue, and throughput by spans of time. The same seed gives the same table, which is that of
docs/compare.md.

    python benchmarks/compare_study.py [--trials 400] [--seed 1] [--requests 40,100,200,1000]
"""

from __future__ import annotations

import argparse
import heapq
import math
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, Final

from reporter.compare.compare import compare
from reporter.compare.comparison import Rules
from reporter.compare.metric import metric
from reporter.compare.side import Side, look
from reporter.log.settings import LogHead
from rulesets.definitions import Definitions
from rulesets.evidence import Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from reporter.compare.comparison import Comparison

SIGMA: Final = 0.5
"""Of the logarithm of a service time, whose median is 1 s."""

FEWEST_SPANS: Final = 8
SLOTS: Final = 16
USERS: Final = 32
RAMP: Final = 8
"""Users of the runs that do not queue."""

METRICS: Final = ("latency:p(50)", "latency:p(90)", "latency:p(99)", "latency:mean", "qps")
FAMILY: Final = (*METRICS[2:], "ttft:mean")
"""Compared together as primary metrics."""

SLOWER: Final = (0.0, 0.1, 0.3, 1.0)


@dataclass
class Requests:
    """One simulated run.

    Attributes:
        latencies: In seconds, in the order of issue.
        waits: Until the first token, likewise.
        ends: When each completed.
    """

    latencies: list[float]
    waits: list[float]
    ends: list[float]


@dataclass
class Values:
    """The values of one metric in the order of issue; as `rulesets.evidence.MetricValues`."""

    values: Sequence[float]
    ordered: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.ordered = sorted(self.values)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    def mean(self) -> float:
        """Their mean."""
        return math.fsum(self.values) / len(self.values)

    def percentile(self, p: Fraction) -> float:
        """By linear interpolation."""
        place = (self.count - 1) * p
        below = math.floor(place)
        above = min(below + 1, self.count - 1)
        return self.ordered[below] + float(place - below) * (self.ordered[above] - self.ordered[below])

    def at(self, rank: int) -> float:
        """The value of a rank."""
        return self.ordered[rank]

    def in_order(self, edge: float | None = None) -> list[tuple[int, float]]:
        """One by one."""
        return [(1, value if edge is None else float(value <= edge)) for value in self.values]


@dataclass
class Simulated:
    """A simulated run as evidence."""

    requests: Requests
    report: dict[str, Any] = field(default_factory=lambda: {"run": {"ended": "completed"}})
    definitions: Definitions = field(default_factory=Definitions)
    ends: tuple[Simulated, ...] = ()

    def sample(self, name: str, where: object) -> Values:
        """Latencies, or times to the first token."""
        del where
        return Values(self.requests.latencies if name == "latency" else self.requests.waits)

    def rate(self, name: str, where: object) -> Rate:
        """Requests/s, over equal spans of time as `reporter.measured.rates` cuts them."""
        del name, where
        ends = sorted(self.requests.ends)
        spans = 32
        while spans > FEWEST_SPANS and len(ends) < 5 * spans:
            spans //= 2
        counts = [0] * spans
        for end in ends:
            counts[min(spans - 1, int(end / ends[-1] * spans))] += 1
        return Rate(len(ends) / ends[-1], len(ends), (), tuple(count * spans / ends[-1] for count in counts))


def times(random: Random, n: int, likeness: float) -> list[float]:
    """Lognormal service times; the autocorrelation of their logarithms falls by a factor from lag to lag."""
    values, state = [], random.gauss()
    for _ in range(n):
        values.append(math.exp(SIGMA * state))
        state = likeness * state + math.sqrt(1 - likeness**2) * random.gauss()
    return values


def served(service: Sequence[float], users: int, slots: int) -> Requests:
    """A closed loop on a server with N slots, first come first served."""
    free, ready = [0.0] * slots, [0.0] * users
    requests = Requests([], [], [])
    for time in service:
        issued = heapq.heappop(ready)
        begun = max(issued, heapq.heappop(free))
        end = begun + time
        heapq.heappush(free, end)
        heapq.heappush(ready, end)
        requests.latencies.append(end - issued)
        requests.waits.append(begun - issued + 0.2 * time)
        requests.ends.append(end)
    return requests


def no_queue(likeness: float) -> Callable[[Random, int, float], Requests]:
    """Runs whose latencies are their service times."""
    return lambda random, n, slower: served(
        [time * (1 + slower) for time in times(random, n, likeness)], RAMP, RAMP
    )


def queue(random: Random, n: int, slower: float) -> Requests:
    """A run of twice as many users as the server has slots."""
    return served([time * (1 + slower) for time in times(random, n, 0.0)], USERS, SLOTS)


KINDS: Final[dict[str, Callable[[Random, int, float], Requests]]] = {
    "independent": no_queue(0.0),
    "AR(1) 0.5": no_queue(0.5),
    "AR(1) 0.8": no_queue(0.8),
    f"queue, {USERS} users on {SLOTS} slots": queue,
}


def compared(kind: str, n: int, slower: float, seed: str) -> tuple[Comparison, Comparison]:
    """One comparison, with each metric by itself and with some as a family."""
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    runs = [KINDS[kind](random, n, share) for share in (0.0, slower)]
    names = [metric(name) for name in dict.fromkeys((*METRICS, *FAMILY))]
    rules = Rules()
    sides = [
        Side(name, (look(name, Simulated(run), LogHead(), names, rules.level),))  # type: ignore[arg-type]
        for name, run in zip("AB", runs, strict=True)
    ]
    alone = compare(sides, [], names, rules)
    return alone, compare(
        sides, [metric_name for metric_name in names if metric_name.name in FAMILY], [], rules
    )


def shares(kind: str, n: int, slower: float, trials: int, seed: int) -> list[str]:
    """In how many comparisons, in percent, each metric was better or worse, and any primary one."""
    alarms = dict.fromkeys((*METRICS, "any"), 0)
    tested = dict.fromkeys((*METRICS, "any"), 0)
    for trial in range(trials):
        alone, family = compared(kind, n, slower, f"{seed} {kind} {n} {slower} {trial}")
        for row in alone.rows:
            if row.metric in alarms:
                alarms[row.metric] += row.changes[0].finding in {"better", "worse"}
                tested[row.metric] += row.changes[0].p is not None
        alarms["any"] += any(row.changes[0].finding in {"better", "worse"} for row in family.rows)
        tested["any"] += 1
    return [f"{100 * alarms[name] / trials:.1f}" if tested[name] else "-" for name in (*METRICS, "any")]


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", default="40,100,200,1000")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.requests.split(",")]
    print("| requests | n | " + " | ".join((*METRICS, "any primary")) + " |")
    print("|---|---:" + "|---" * (len(METRICS) + 1) + "|")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            (kind, n): [pool.submit(shares, kind, n, slower, asked.trials, asked.seed) for slower in SLOWER]
            for kind, n in product(KINDS, sizes)
        }
        for (kind, n), row in jobs.items():
            cells = map(" / ".join, zip(*(job.result() for job in row), strict=True))
            print(f"| {kind} | {n:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
