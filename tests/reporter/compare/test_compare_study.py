"""Runs with known differences, many times: false alarms as rare as alpha, and found as often as promised.

All of it is drawn from fixed seeds: these are statements about the methods, not about luck.
"""

from __future__ import annotations

from random import Random
from statistics import median
from typing import TYPE_CHECKING

import pytest

from reporter.compare.comparing import compare
from reporter.compare.comparison import Rules
from reporter.compare.metric import metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Numbers

    from reporter.compare.comparison import Change

TRIALS = 120
"""So many that a share of 5 % is known to 2 points, and one of 80 % to 4."""

REQUESTS = 400


def latencies(random: Random, by: float, likeness: float) -> list[float]:
    """Latencies each of which resembles the one before, a share `by` above 100 ms."""
    found, state = [], random.gauss()
    for _ in range(REQUESTS):
        state = likeness * state + (1 - likeness**2) ** 0.5 * random.gauss()
        found.append(100 * (1 + by) * (1 + 0.1 * state))
    return found


@pytest.fixture(scope="module")
def trials(numbers: type[Numbers], side: Callable[..., object]) -> Callable[..., list[Change]]:
    """What comparisons find in runs of which the other side is slower by a share."""

    def run(name: str, by: float, likeness: float, runs: int = 1, between: float = 0.0) -> list[Change]:
        random = Random(f"{name} {by} {likeness} {runs}")  # noqa: S311 (a simulation, not a secret)
        asked = (name,)

        def one(slower: float) -> Numbers:
            own = slower + random.gauss(0, between)
            return numbers({"ttft": latencies(random, own, likeness)})

        def found() -> Change:
            sides = [
                side(which, *(one(slower) for _ in range(runs)), metrics=asked)
                for which, slower in (("A", 0.0), ("B", by))
            ]
            return compare(sides, [metric(name)], [], Rules()).rows[0].changes[0]  # type: ignore[arg-type]  # they are sides

        return [found() for _ in range(TRIALS)]

    return run


def share(changes: list[Change], *findings: str) -> float:
    """How many of the comparisons found that."""
    return sum(one.finding in findings for one in changes) / len(changes)


@pytest.mark.parametrize(
    ("name", "likeness"), [("ttft:mean", 0.0), ("ttft:mean", 0.8), ("ttft:p(50)", 0.8), ("ttft:p(90)", 0.8)]
)
def test_two_runs_are_told_apart_as_often_as_promised(
    name: str, likeness: float, trials: Callable[..., list[Change]]
) -> None:
    """Whether requests resemble their neighbours or not: 5 % false alarms at most, 4 of 5 found."""
    same = trials(name, 0.0, likeness)
    assert share(same, "better", "worse") <= 0.085
    detectable = median(one.detectable or 1.0 for one in same)
    assert share(trials(name, detectable, likeness), "worse") == pytest.approx(0.8, abs=0.12)


def test_runs_that_differ_among_each_other_need_several_a_side(trials: Callable[..., list[Change]]) -> None:
    """Runs of one server that differ by 5 %: one a side cries wolf, and five a side do not."""
    alone = trials("ttft:mean", 0.0, 0.0, between=0.05)
    several = trials("ttft:mean", 0.0, 0.0, runs=5, between=0.05)
    assert share(alone, "better", "worse") > 0.5
    assert share(several, "better", "worse") <= 0.085
    detectable = median(one.detectable or 1.0 for one in several)
    found = trials("ttft:mean", detectable, 0.0, runs=5, between=0.05)
    assert share(found, "worse") == pytest.approx(0.8, abs=0.12)
