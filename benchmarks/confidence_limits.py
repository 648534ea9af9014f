"""How often a confidence limit is right: runs whose true figure is known, simulated and judged many times.

Prints in how many runs, in percent, a limit of 95 % of a percentile meets a bound that is the true
percentile, which should be 5 at most, and a bound that only half of the allowed requests exceed, where more
is better. Latencies are exponential, and independent or AR(1) in their ranks. Then in how many runs the upper
and the lower limit of a mean over blocks of requests are on the wrong side of the true mean; and how often
`baseline: {test: bootstrap}` finds a change of a server from itself. The same seed gives the same tables,
which are those of docs/statistics.md.

    python benchmarks/confidence_limits.py [--trials 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final

from simulated import Values, normals

from rulesets.demands import Confidence
from rulesets.evaluators import limit
from rulesets.statistics import bootstrap, normal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PERCENTILE_METHODS: Final = ("order_stat", "effective")
MEAN_METHODS: Final = ("batch_means", "bootstrap")
LIKENESS: Final = (0.0, 0.5, 0.8, 0.95)
PERCENTILES: Final = ((100, 90), (400, 90), (400, 95), (416, 99), (2016, 99))
BLOCKS: Final = (10, 20, 40)
RUNS: Final = (2, 3, 5, 10)


def latencies(random: Random, n: int, likeness: float) -> list[float]:
    """Exponential values with a mean of 1; the autocorrelation falls by a factor from lag to lag."""
    return [-math.log(max(1e-300, normal.cdf(-state))) for state in normals(random, n, likeness)]


def percentile_passes(
    method: str, n: int, percentile: int, likeness: float, beyond: float, trials: int, seed: int
) -> float:
    """The share of runs whose upper limit meets a bound.

    Args:
        method: Of the limit.
        n: Requests in a run.
        percentile: 90 for p90.
        likeness: Of neighboring requests.
        beyond: The share of the allowed requests that exceed the bound: 1 for the true percentile.
        trials: Runs.
        seed: Of the runs.
    """
    p = Fraction(percentile, 100)
    confidence = Confidence(method, 0.95, None, "upper")  # type: ignore[arg-type]  # one of the methods
    bound = -math.log(float(1 - p) * beyond)
    passed = 0
    for trial in range(trials):
        values = latencies(Random(f"{seed} {n} {likeness} {trial}"), n, likeness)  # noqa: S311 (a simulation)
        ucl = limit.of_percentile(Values(values), p, confidence, upper=True).value  # type: ignore[arg-type]  # as far as a limit asks
        passed += ucl is not None and ucl <= bound
    return passed / trials


def mean_passes(method: str, blocks: int, each: int, trials: int, seed: int, *, upper: bool) -> float:
    """The share of runs whose limit of a mean is on the wrong side of the true one.

    Args:
        method: Of the limit.
        blocks: Blocks of time.
        each: Requests in a block; their latencies are exponential.
        trials: Runs.
        seed: Of the runs.
        upper: Which limit.
    """
    confidence = Confidence(method, 0.95, None, "upper" if upper else "lower")  # type: ignore[arg-type]  # one of the methods
    wrong = 0
    for trial in range(trials):
        random = Random(f"{seed} {blocks} {each} {trial}")  # noqa: S311 (a simulation)
        means = [fmean(random.expovariate(1) for _ in range(each)) for _ in range(blocks)]
        end = limit.of_blocks(fmean(means), blocks * each, means, confidence, upper=upper).value
        wrong += end is not None and (end < 1 if upper else end > 1)
    return wrong / trials


def alarms(runs: int, draw: Callable[[Random], float], trials: int, seed: int) -> float:
    """The share of comparisons of a server with itself in which the bootstrap finds a change, at 5 %."""
    alarmed = 0
    for trial in range(trials):
        random = Random(f"{seed} {runs} {trial}")  # noqa: S311 (a simulation)
        first, second = ([draw(random) for _ in range(runs)] for _ in "AB")
        low, high = bootstrap.two_sample_interval(first, second, 0.95, trial)
        alarmed += not low <= 0 <= high
    return alarmed / trials


def gauss(random: Random) -> float:
    """A normal value."""
    return random.gauss()


def exponential(random: Random) -> float:
    """An exponential value."""
    return random.expovariate(1)


def _cells(values: Sequence[float]) -> str:
    return " / ".join(f"{100 * value:.1f}" for value in values)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    more = {"trials": asked.trials, "seed": asked.seed}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        print(f"| percentile, requests | method | {' | '.join(f'AR(1) {each:g}' for each in LIKENESS)} |")
        print("|---|---|" + "---|" * len(LIKENESS))
        for (n, percentile), method in product(PERCENTILES, PERCENTILE_METHODS):
            row = [
                [
                    pool.submit(percentile_passes, method, n, percentile, each, beyond, **more)
                    for beyond in (1, 0.5)
                ]
                for each in LIKENESS
            ]
            cells = " | ".join(_cells([job.result() for job in jobs]) for jobs in row)
            print(f"| p{percentile}, {n:,} | `{method}` | {cells} |", flush=True)
        print(
            "\n| blocks | requests in each | " + " | ".join(f"`{method}`" for method in MEAN_METHODS) + " |"
        )
        print("|---|---|" + "---|" * len(MEAN_METHODS))
        for blocks, each in product(BLOCKS, (1, 5)):
            rows = [
                [
                    pool.submit(partial(mean_passes, upper=upper), method, blocks, each, **more)
                    for upper in (True, False)
                ]
                for method in MEAN_METHODS
            ]
            cells = " | ".join(_cells([job.result() for job in jobs]) for jobs in rows)
            print(f"| {blocks} | {each} | {cells} |", flush=True)
        print("\n| runs a side | normal | exponential |\n|---|---|---|")
        for runs in RUNS:
            both = [pool.submit(alarms, runs, draw, **more) for draw in (gauss, exponential)]
            print(f"| {runs} | {' | '.join(_cells([job.result()]) for job in both)} |", flush=True)


if __name__ == "__main__":
    main()
