"""How often `loadgen compare` decides, with its default metrics and rules: simulated runs, many times.

The first table has the percentage of comparisons of a server with itself that are INCONCLUSIVE, with the tail
that decides by default, and with p99 in any case. The second has the percentage that call a primary metric
better or worse, of a server that is slower by 0, 5, 10 and 50 %. The third has the same of a server with
itself whose runs differ among each other. The same seed gives the same tables, which are those of
docs/statistics.md.

    python benchmarks/compare_verdicts.py [--trials 100] [--seed 1] [--requests 100,400,2000]
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from simulated import Simulated, closed_loop, lognormal, side_of

from reporter.compare.compare_sides import compare, primary
from reporter.compare.compared_metric import DECIDING, metric
from reporter.compare.comparison import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

USERS: Final = 8
TOKENS: Final = 64
TTFT_MS: Final = 100.0
TPOT_MS: Final = 10.0
SIGMAS: Final = (0.5, 0.2)
"""Of the logarithms of TTFT and of TPOT."""

BURST: Final = 10
"""Requests in a burst; nine times as many follow until the next."""

SLOWER: Final = (0.0, 0.05, 0.1, 0.5)


@dataclass(frozen=True)
class Kind:
    """A kind of server.

    Attributes:
        likeness: The autocorrelation of the logarithms of times, from one request to the next.
        bursts: Whether one request in ten is in a stretch that takes three times as long.
        scatter: The standard deviation of the logarithm of a factor of each run.
        walk: The standard deviation of the logarithm at the end of a run of a random walk within it.
        swing: The share by which times rise and fall once within a run.
    """

    likeness: float = 0.0
    bursts: bool = False
    scatter: float = 0.0
    walk: float = 0.0
    swing: float = 0.0


KINDS: Final = {"independent": Kind(), "bursts": Kind(bursts=True)}
CHANGED: Final = {"independent": Kind(), "AR(1) 0.8": Kind(likeness=0.8)}
DRIFTING: Final = {
    "runs scatter by 2 %": Kind(scatter=0.02),
    "runs scatter by 5 %": Kind(scatter=0.05),
    "a random walk that ends 10 % away, within a run": Kind(walk=0.1),
    "a swing of ±10 % within a run": Kind(swing=0.1),
    "AR(1) 0.95": Kind(likeness=0.95),
}


def factors(random: Random, n: int, kind: Kind) -> list[float]:
    """The time of each request in comparison with the median one, for all its tokens alike."""
    own, state, phase = math.exp(kind.scatter * random.gauss()), 0.0, random.random()
    start = random.randrange(10 * BURST)
    values = []
    for number in range(n):
        swing = kind.swing * math.sin(2 * math.pi * (number / n + phase))
        slow = 3.0 if kind.bursts and (number + start) % (10 * BURST) < BURST else 1.0
        values.append(own * math.exp(state) * (1 + swing) * slow)
        state += kind.walk / math.sqrt(n) * random.gauss()
    return values


def run_of(random: Random, n: int, kind: Kind, slower: float) -> Simulated:
    """A run of a closed loop without a queue; times in ms."""
    ttft, tpot = (
        [
            median * (1 + slower) * factor * value
            for factor, value in zip(scale, lognormal(random, n, kind.likeness, sigma), strict=True)
        ]
        for scale in [factors(random, n, kind)]
        for median, sigma in zip((TTFT_MS, TPOT_MS), SIGMAS, strict=True)
    )
    latency = [first + (TOKENS - 1) * each for first, each in zip(ttft, tpot, strict=True)]
    ends = [end / 1e3 for *_, end in closed_loop(latency, USERS, USERS)]
    return Simulated({"ttft": ttft, "tpot": tpot, "latency": latency}, ends, TOKENS)


METRICS: Final = tuple(
    metric(name)
    for name in dict.fromkeys((*DECIDING, *(f"{of}:p({p})" for of in ("ttft", "latency") for p in (90, 95))))
)


def compared(kind: Kind, n: int, slower: float, runs: int, seed: str) -> tuple[str, str, bool]:
    """The result of a comparison, the result with p99 in any case, and whether a primary metric differs."""
    random, rules = Random(seed), Rules()  # noqa: S311 (a simulation, not a secret)
    sides = [
        side_of(name, [run_of(random, n, kind, share) for _ in range(runs)], METRICS, rules.level)
        for name, share in (("A", 0.0), ("B", slower))
    ]
    by_default = compare(sides, primary(sides)[0], [], rules)
    by_p99 = compare(sides, [metric(name) for name in DECIDING], [], rules)
    differs = any(row.changes[0].finding in {"better", "worse"} for row in by_default.rows)
    return by_default.status, by_p99.status, differs


def shares(kind: Kind, n: int, slower: float, runs: int, trials: int, seed: int) -> tuple[float, ...]:
    """The percentages that are INCONCLUSIVE, by default and with p99, and of those that find a difference."""
    counts = [0, 0, 0]
    for trial in range(trials):
        by_default, by_p99, differs = compared(kind, n, slower, runs, f"{seed} {kind} {n} {slower} {trial}")
        for place, is_so in enumerate((by_p99 == "INCONCLUSIVE", by_default == "INCONCLUSIVE", differs)):
            counts[place] += is_so
    return tuple(100 * count / trials for count in counts)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", default="100,400,2000")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.requests.split(",")]
    with ProcessPoolExecutor(os.cpu_count()) as pool:

        def ask(kind: Kind, n: int, slower: float = 0.0, runs: int = 1) -> Future[tuple[float, ...]]:
            return pool.submit(shares, kind, n, slower, runs, asked.trials, asked.seed)

        kinds = {name: [[ask(kind, n)] for n in sizes] for name, kind in KINDS.items()}
        changed = {
            name: [[ask(kind, n, slower) for slower in SLOWER] for n in sizes]
            for name, kind in CHANGED.items()
        }
        few = sizes[:2]
        drifting = {name: [[ask(kind, n)] for n in few] for name, kind in DRIFTING.items()}
        drifting["runs scatter by 5 %, five runs a side"] = [
            [ask(DRIFTING["runs scatter by 5 %"], n, runs=5)] for n in few
        ]
        _print("INCONCLUSIVE: p99 in any case / by default", sizes, kinds, slice(0, 2))
        _print(
            f"slower by {' / '.join(f'{100 * slower:g}' for slower in SLOWER)} %", sizes, changed, slice(2, 3)
        )
        _print("a server with itself", few, drifting, slice(2, 3))


def _print(
    head: str, sizes: Sequence[int], rows: dict[str, list[list[Future[tuple[float, ...]]]]], shown: slice
) -> None:
    print(f"\n| {head} | {' | '.join(f'{size:,} requests' for size in sizes)} |")
    print("|---" * (len(sizes) + 1) + "|")
    for name, cells in rows.items():
        texts = (
            " / ".join(f"{share:.3g}" for job in jobs for share in job.result()[shown]) for jobs in cells
        )
        print(f"| {name} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
