"""Whether a percentile of two samples differs: against scipy, and by counting."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from rulesets.statistics.two_percentiles import compare, fewest, ordered

HALF = Fraction(1, 2)


def sample(values: list[float], p: Fraction = HALF, n: int | None = None) -> object:
    """A sample of independent values, or one that counts for fewer."""
    ascending = sorted(values)
    return ordered(ascending.__getitem__, len(ascending), n or len(ascending), p)


@pytest.mark.parametrize(("p", "n"), [(HALF, 30), (Fraction(9, 10), 200), (Fraction(99, 100), 600)])
def test_p_is_that_of_the_hypergeometric_distribution(p: Fraction, n: int) -> None:
    """Of the values up to the percentile of both, how many are of the second sample."""
    from scipy.stats import hypergeom

    random = Random(3)  # noqa: S311 (a simulation, not a secret)
    first = [random.lognormvariate(0, 0.5) for _ in range(n)]
    second = [1.2 * random.lognormvariate(0, 0.5) for _ in range(n)]
    result = compare(sample(first, p), sample(second, p), p, 0.95)  # type: ignore[arg-type]
    lowest = int(2 * n * p)
    edge = sorted(first + second)[lowest - 1]
    count = sum(value <= edge for value in second)
    expected = hypergeom(2 * n, n, lowest)
    assert result.p == pytest.approx(min(1, 2 * min(expected.cdf(count), expected.sf(count - 1))), rel=1e-6)


def test_the_interval_has_the_ratios_that_are_not_rejected() -> None:
    """Just inside of its ends p is above 5 %, just outside below."""
    random = Random(5)  # noqa: S311 (a simulation, not a secret)
    first = [random.lognormvariate(0, 0.5) for _ in range(60)]
    second = [1.5 * random.lognormvariate(0, 0.5) for _ in range(80)]
    result = compare(sample(first), sample(second), HALF, 0.95)  # type: ignore[arg-type]
    assert result.low is not None
    assert result.high is not None
    for end, sign in ((result.low, 1), (result.high, -1)):
        for step, inside in ((1e-9, True), (-1e-9, False)):
            ratio = end * (1 + sign * step)
            moved = [value / ratio for value in second]
            p = compare(sample(first), sample(moved), HALF, 0.95).p  # type: ignore[arg-type]
            assert p is not None
            assert (p > 0.05) is inside


def test_too_few_values_have_no_p() -> None:
    """Of a p99 it takes 276 in each sample, so that the six highest can lie in one of them."""
    values = [float(value) for value in range(1, 276)]
    p99 = Fraction(99, 100)
    assert compare(sample(values, p99), sample(values, p99), p99, 0.95).p is None  # type: ignore[arg-type]
    assert fewest(p99, 0.05) == 276
    assert fewest(HALF, 0.05) == 4
    more = [*values, 276.0]
    assert compare(sample(more, p99), sample(more, p99), p99, 0.95).p == pytest.approx(1, abs=0.4)  # type: ignore[arg-type]


def test_values_that_tie_do_not_differ() -> None:
    """However many there are."""
    result = compare(sample([5.0] * 50), sample([5.0] * 50), HALF, 0.95)  # type: ignore[arg-type]
    assert (result.p, result.low, result.high) == (pytest.approx(1, abs=0.2), 1, 1)


def test_a_sample_that_counts_for_fewer_is_less_sure() -> None:
    """And one of a million keeps no more than it needs."""
    first, second = [float(value) for value in range(100, 200)], [float(value) for value in range(120, 220)]
    sure = compare(sample(first), sample(second), HALF, 0.95)  # type: ignore[arg-type]
    unsure = compare(sample(first, n=12), sample(second, n=12), HALF, 0.95)  # type: ignore[arg-type]
    assert (sure.p or 0) < (unsure.p or 0)
    many = ordered(lambda rank: 1.0 + rank, 1_000_000, 1_000_000, HALF)
    assert len(many.values) < 10_000
    assert compare(many, many, HALF, 0.95).p == pytest.approx(1, abs=0.01)
    slower = ordered(lambda rank: 1.01 * (1.0 + rank), 1_000_000, 1_000_000, HALF)
    result = compare(many, slower, HALF, 0.95)
    assert (result.p or 0) < 1e-6
    assert result.low is not None
    assert result.high is not None
    assert result.low < 1.01 < result.high
