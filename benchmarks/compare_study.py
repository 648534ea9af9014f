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
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Final

from simulated import Simulated, closed_loop, lognormal, side_of

from reporter.compare.compare_sides import compare
from reporter.compare.compared_metric import metric
from reporter.compare.comparison import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reporter.compare.comparison import Comparison

SIGMA: Final = 0.5
"""Of the logarithm of a service time, whose median is 1 s."""

SLOTS: Final = 16
USERS: Final = 32
RAMP: Final = 8
"""Users of the runs that do not queue."""

METRICS: Final = ("latency:p(50)", "latency:p(90)", "latency:p(99)", "latency:mean", "qps")
FAMILY: Final = (*METRICS[2:], "ttft:mean")
"""Compared together as primary metrics."""

SLOWER: Final = (0.0, 0.1, 0.3, 1.0)


def served(service: Sequence[float], users: int, slots: int) -> Simulated:
    """A closed loop on a server with N slots."""
    requests = closed_loop(service, users, slots)
    latencies = [end - issued for issued, _, end in requests]
    waits = [begun - issued + 0.2 * time for (issued, begun, _), time in zip(requests, service, strict=True)]
    return Simulated({"latency": latencies, "ttft": waits}, [end for *_, end in requests])


def no_queue(likeness: float) -> Callable[[Random, int, float], Simulated]:
    """Runs whose latencies are their service times."""
    return lambda random, n, slower: served(
        [time * (1 + slower) for time in lognormal(random, n, likeness, SIGMA)], RAMP, RAMP
    )


def queue(random: Random, n: int, slower: float) -> Simulated:
    """A run of twice as many users as the server has slots."""
    return served([time * (1 + slower) for time in lognormal(random, n, 0.0, SIGMA)], USERS, SLOTS)


KINDS: Final[dict[str, Callable[[Random, int, float], Simulated]]] = {
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
    sides = [side_of(name, [run], names, rules.level) for name, run in zip("AB", runs, strict=True)]
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
