"""Runs with known differences, many times: false positives as rare as alpha, and large differences found.

A small part of `benchmarks/compare_study.py`, whose table is in docs/compare.md. All is drawn from fixed
seeds: these are statements about the methods, not about luck.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from reporter.compare.compare_sides import compare
from reporter.compare.compared_metric import metric
from reporter.compare.comparison import Rules
from rulesets.statistics.binomial import at_most

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Numbers

    from reporter.compare.comparison import MetricChange

pytestmark = pytest.mark.slow

TRIALS = 60
UNLIKELY = 0.001
"""The probability of this many false positives, or more, at a rate of 5 %."""


def benchmark(name: str) -> Any:
    """A benchmark as a module."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
        return import_module(name)


@pytest.fixture(scope="module")
def study() -> Any:
    """The study of single metrics."""
    return benchmark("compare_study")


def test_a_server_compared_with_itself_is_decided() -> None:
    """With the tail that decides by default; p99 in any case would leave 100 requests open."""
    verdicts = benchmark("compare_verdicts")
    by_p99, by_default, differs = verdicts.shares(verdicts.KINDS["independent"], 100, 0.0, 1, 20, 7)
    assert (by_p99 > 80, by_default < 20, differs <= 20) == (True, True, True)
    assert verdicts.shares(verdicts.KINDS["independent"], 100, 0.5, 1, 20, 7)[2] > 80


def rates(study: Any, kind: str, n: int, slower: float) -> dict[str, float]:
    """The share of comparisons in which each metric was called better or worse."""
    row = study.shares(kind, n, slower, TRIALS, 7)
    names = (*study.METRICS, "any")
    return {name: float(cell) / 100 for name, cell in zip(names, row, strict=True) if cell != "-"}


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("independent", 40),
        ("AR(1) 0.5", 100),
        ("AR(1) 0.8", 100),
        ("AR(1) 0.8", 40),
        ("queue, 32 users on 16 slots", 100),
    ],
)
def test_a_server_rarely_differs_from_itself(kind: str, n: int, study: Any) -> None:
    """No more often than 5 % allows, metric by metric and of the primary ones together."""
    for name, share in rates(study, kind, n, 0.0).items():
        assert 1 - at_most(round(share * TRIALS) - 1, TRIALS, 0.05) > UNLIKELY, (name, share)


@pytest.mark.parametrize(
    ("kind", "n", "slower", "least_shares"),
    [
        ("independent", 40, 1.0, {"latency:p(50)": 0.8, "latency:mean": 0.95, "any": 0.9}),
        ("AR(1) 0.5", 100, 1.0, {"latency:p(50)": 0.8, "latency:mean": 0.9, "any": 0.9}),
        ("queue, 32 users on 16 slots", 100, 1.0, {"latency:p(50)": 0.9, "latency:mean": 0.9}),
    ],
)
def test_a_server_half_as_fast_is_found(
    kind: str, n: int, slower: float, least_shares: dict[str, float], study: Any
) -> None:
    """In logs of 40 requests that are independent, and of 100 that are not."""
    shares = rates(study, kind, n, slower)
    assert {name: shares[name] for name in least_shares} == {
        name: pytest.approx(1, abs=1 - least) for name, least in least_shares.items()
    }


def test_a_percentile_that_cannot_differ_says_how_many_requests_it_takes(study: Any) -> None:
    """The p99 of 40 requests: the difference is shown, with what would bound it."""
    alone, _ = study.compared("independent", 40, 1.0, "seed")
    [row] = [row for row in alone.rows if row.metric == "latency:p(99)"]
    [change] = row.changes
    assert (change.finding, change.p) == ("too few requests", None)
    assert change.by is not None
    assert 275 <= (change.needed or 0) <= 400


def test_a_queue_that_begins_with_the_run_is_found_in_40_requests(
    numbers: type[Numbers], side: Callable[..., Any]
) -> None:
    """Sixteen answers at once, then all wait: a time to first token 2.4 times as long in the mean."""
    waits = [10.0] * 16 + [49.0] * 24
    sides = [
        side(name, numbers({"ttft": [value + 0.01 * (number % 7) for number, value in enumerate(values)]}))
        for name, values in (("A", [10.0] * 40), ("B", waits))
    ]
    [row] = compare(sides, [metric("ttft:mean")], [], Rules()).rows
    assert row.changes[0].finding == "worse"
    assert row.changes[0].low is not None
    assert row.changes[0].low > 0.3


@pytest.fixture(scope="module")
def trials(numbers: type[Numbers], side: Callable[..., object]) -> Callable[..., list[MetricChange]]:
    """What comparisons find in runs of a server whose runs differ by 5 %."""

    def run(by: float, runs: int) -> list[MetricChange]:
        random = Random(f"{by} {runs}")  # noqa: S311 (a simulation, not a secret)

        def run_of(slower: float) -> Numbers:
            own = 1 + slower + random.gauss(0, 0.05)
            return numbers({"ttft": [100 * own * (1 + 0.1 * random.gauss()) for _ in range(100)]})

        def change() -> MetricChange:
            sides = [
                side(which, *(run_of(slower) for _ in range(runs)), metrics=("ttft:mean",))
                for which, slower in (("A", 0.0), ("B", by))
            ]
            return compare(sides, [metric("ttft:mean")], [], Rules()).rows[0].changes[0]  # type: ignore[arg-type]  # they are sides

        return [change() for _ in range(TRIALS)]

    return run


def test_runs_that_differ_among_each_other_need_several_a_side(
    trials: Callable[..., list[MetricChange]],
) -> None:
    """One a side finds a difference too often, and five a side do not."""
    alone, several = trials(0.0, 1), trials(0.0, 5)
    assert sum(change.finding in {"better", "worse"} for change in alone) > 0.5 * TRIALS
    assert sum(change.finding in {"better", "worse"} for change in several) <= 0.12 * TRIALS
    assert sum(change.finding == "worse" for change in trials(0.12, 5)) > 0.6 * TRIALS
