"""Limits of a percentile cover what they say, whatever the distribution."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.binomial import at_most
from rulesets.statistics.order_statistics import fewest, interval, lower_rank, samples_needed, upper_rank

INTERVALS = [
    (6, 0.5, 1, 6, 0.96875),
    (10, 0.5, 2, 9, 0.978516),
    (20, 0.5, 6, 15, 0.958611),
    (100, 0.5, 40, 61, 0.9648),
    (100, 0.9, 84, 96, 0.95569),
    (500, 0.99, 490, 500, 0.980186),
    (1000, 0.9, 881, 919, 0.954907),
    (1000, 0.95, 936, 964, 0.958095),
    (1000, 0.99, 983, 997, 0.976095),
    (1000, 0.999, 997, None, 0.981073),
    (10_000, 0.99, 9880, 9920, 0.955755),
    (10_000, 0.999, 9983, 9997, 0.975457),
]
"""n, p, the ranks of a 95 % interval counted from 1, and its coverage."""

FEWEST = {
    0.975: {0.5: 6, 0.9: 36, 0.95: 72, 0.99: 368, 0.999: 3688},
    0.95: {0.5: 5, 0.9: 29, 0.95: 59, 0.99: 299, 0.999: 2995},
    0.99: {0.5: 7, 0.9: 44, 0.95: 90, 0.99: 459, 0.999: 4603},
}
"""The fewest samples with an upper limit, by one-sided level and percentile; 0.975 is a side of 95 %."""

shares = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000)
levels = st.sampled_from([0.5, 0.9, 0.95, 0.99])
counts = st.integers(1, 5000)


@pytest.mark.parametrize(("n", "p", "low", "high", "coverage"), INTERVALS)
def test_the_intervals(n: int, p: float, low: int, high: int | None, coverage: float) -> None:
    """Ranks from 0 are one less."""
    result = interval(n, p, 0.95)
    assert result.lower == low - 1
    assert result.upper == (None if high is None else high - 1)
    assert result.coverage == pytest.approx(coverage, abs=5e-7)


@pytest.mark.parametrize("level", FEWEST)
def test_the_fewest_samples(level: float) -> None:
    """From this many on the highest sample is an upper limit, and the lowest a lower one of the other end."""
    for p, expected in FEWEST[level].items():
        assert fewest(p, level) == expected
        assert upper_rank(expected, p, level) == expected - 1
        assert upper_rank(expected - 1, p, level) is None
        assert lower_rank(expected, 1 - Fraction(str(p)), level) == 0
        assert lower_rank(expected - 1, 1 - Fraction(str(p)), level) is None


@given(n=counts, p=shares, level=levels)
def test_an_interval_covers_its_level_and_hardly_more(n: int, p: Fraction, level: float) -> None:
    """One rank less on either side would leave out too much."""
    result = interval(n, p, level)
    assert result.coverage >= level - 1e-12
    tail = (1 - level) / 2
    if result.upper is not None:
        assert at_most(result.upper - 1, n, p) < 1 - tail + 1e-12
    if result.lower is not None:
        assert at_most(result.lower + 1, n, p) > tail - 1e-12


@given(n=counts, p=shares, level=levels)
def test_low_and_high_mirror_each_other(n: int, p: Fraction, level: float) -> None:
    """A lower limit of p is an upper limit of 1 - p, seen from the other end."""
    lower, upper = lower_rank(n, p, level), upper_rank(n, 1 - p, level)
    assert (lower is None) == (upper is None)
    if lower is not None and upper is not None:
        assert abs(lower - (n - 1 - upper)) <= 1


@given(n=counts, p=shares, higher=shares, level=levels)
def test_ranks_rise_with_the_percentile_and_the_level(
    n: int, p: Fraction, higher: Fraction, level: float
) -> None:
    """A higher percentile has higher limits; more certainty, a higher upper one."""
    low, high = sorted((p, higher))
    beyond = n
    assert _or(upper_rank(n, low, level), beyond) <= _or(upper_rank(n, high, level), beyond)
    assert _or(upper_rank(n, p, level), beyond) <= _or(upper_rank(n, p, 0.995), beyond)
    assert _or(lower_rank(n, p, 0.995), -1) <= _or(lower_rank(n, p, level), -1)


def _or(rank: int | None, otherwise: int) -> int:
    return otherwise if rank is None else rank


def test_it_covers_in_practice() -> None:
    """Of a thousand samples of 50, as many intervals hold the true percentile as the coverage says."""
    random = Random(20)  # noqa: S311 (a simulation, no secret)
    result = interval(50, 0.8, 0.9)
    assert result.lower is not None
    assert result.upper is not None
    hits = 0
    for _ in range(1000):
        drawn = sorted(random.random() for _ in range(50))
        hits += drawn[result.lower] <= 0.8 <= drawn[result.upper]
    assert hits / 1000 == pytest.approx(result.coverage, abs=0.03)


@given(unmet=st.integers(0, 30), n=st.integers(50, 3000), p=shares, level=levels)
def test_the_number_of_samples_that_suffices(unmet: int, n: int, p: Fraction, level: float) -> None:
    """With the share of them unmet, rounded up, the limit has as many on its far side."""
    above, below = samples_needed(unmet, n, p, level), samples_needed(unmet, n, p, level, "lower")
    if above is not None:
        assert above >= n
        assert _or(upper_rank(above, p, level), above) < above - -(-unmet * above // n)
    if below is not None:
        assert below >= n
        assert _or(lower_rank(below, p, level), -1) >= -(-unmet * below // n)


def test_no_number_of_samples_mends_a_missed_percentile() -> None:
    """Where as many are over as may be, or more."""
    assert samples_needed(10, 1000, 0.99, 0.95) is None
    assert samples_needed(500, 1000, 0.5, 0.95, "lower") is None
    assert samples_needed(9, 1000, 0.99, 0.99) == 53743
    assert samples_needed(0, 0, 0.99, 0.99) == 459
