"""Intervals by resampling: the same for the same seed, and right as often as they say."""

import math
from collections.abc import Callable
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.batch_means import interval as by_theory
from rulesets.statistics.bootstrap import interval, two_sample_interval

LEVEL = 0.9


def drawn(seed: int, count: int) -> list[float]:
    """How many normal values about 100."""
    random = Random(seed)  # noqa: S311 (a simulation, no secret)
    return [random.gauss(100, 10) for _ in range(count)]


def test_the_mean_of_normal_values() -> None:
    """Its interval is nearly Student's; another seed moves it by little, the same one not at all."""
    values = drawn(1, 60)
    expected = by_theory(values, LEVEL)
    assert expected is not None
    result = interval(values, LEVEL, seed=1)
    assert result == interval(values, LEVEL, seed=1)
    assert result == pytest.approx((expected.low, expected.high), abs=0.5)
    other = interval(values, LEVEL, seed=2)
    assert other is not None
    assert other != result
    assert other == pytest.approx(result, abs=0.5)


def test_it_is_the_studentised_bootstrap_of_the_book() -> None:
    """With every possible draw of three values, by hand; the draws of one value are infinitely far."""
    values = [1.0, 2.0, 6.0]
    mean, error = 3.0, math.sqrt(7 / 3)
    result = interval(values, 0.5, seed=1, resamples=20_000)
    distances = sorted(_distance([a, b, c], mean) for a in values for b in values for c in values)
    assert result == pytest.approx((mean - distances[20] * error, mean - distances[6] * error))


def _distance(draw: list[float], mean: float) -> float:
    error = math.sqrt(sum((value - fmean(draw)) ** 2 for value in draw) / 6)
    return (fmean(draw) - mean) / error if error else math.copysign(math.inf, fmean(draw) - mean)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=10), seed=st.integers(0, 99))
def test_more_certainty_is_wider(values: list[float], seed: int) -> None:
    """And what is alike has no width."""
    narrow = interval(values, 0.5, seed, resamples=100)
    wide = interval(values, 0.95, seed, resamples=100)
    assert narrow is not None
    assert wide is not None
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert interval([7.0, 7.0], 0.95, seed, resamples=100) == (7, 7)


def test_too_few_say_nothing() -> None:
    """One value."""
    assert interval([1.0], LEVEL, seed=1) is None


def exponential(random: Random) -> float:
    """A mean of 1, and a long tail."""
    return random.expovariate(1)


@pytest.mark.parametrize(("blocks", "least"), [(10, 0.86), (40, 0.86)])
def test_the_mean_of_skewed_blocks_is_covered(blocks: int, least: float) -> None:
    """Nine times of ten as promised; the percentile bootstrap covers 78 to 88 %."""
    random = Random(blocks)  # noqa: S311 (a simulation, no secret)
    trials = 250
    covered = 0
    for seed in range(trials):
        ends = interval([exponential(random) for _ in range(blocks)], LEVEL, seed, resamples=200)
        assert ends is not None
        covered += ends[0] <= 1 <= ends[1]
    assert covered / trials >= least


@pytest.mark.parametrize("draw", [lambda random: random.gauss(), exponential])
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_two_groups_of_runs_rarely_differ_by_chance(runs: int, draw: Callable[[Random], float]) -> None:
    """At 95 %: in at most 5 % of the comparisons of a server with itself, with few runs too."""
    random = Random(runs)  # noqa: S311 (a simulation, no secret)
    trials, apart = 200, 0
    for seed in range(trials):
        first, second = ([draw(random) for _ in range(runs)] for _ in "AB")
        low, high = two_sample_interval(first, second, 0.95, seed, resamples=200)
        apart += not low <= 0 <= high
    assert apart / trials <= 0.06


def test_two_groups_that_differ_by_far() -> None:
    """Five runs a side show the shift, with an interval around it."""
    low, high = two_sample_interval([1.0, 1.1, 0.9, 1.05, 0.95], [2.0, 2.1, 1.9, 2.05, 1.95], 0.95, seed=1)
    assert 0.8 < low < 1 < high < 1.2
