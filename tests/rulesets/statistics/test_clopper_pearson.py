"""Exact limits of a share, against known values and scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.clopper_pearson import interval, lower, upper
from rulesets.statistics.wilson import interval as wilson

INTERVALS = {
    (8, 10): (0.4439045, 0.9747893),
    (81, 100): (0.7193020, 0.8815568),
    (0, 100): (0, 0.0362167),
}
"""95 % intervals by count and number."""


@pytest.mark.parametrize(("count", "of"), INTERVALS)
def test_the_intervals(count: int, of: int) -> None:
    """To seven digits."""
    assert interval(count, of, 0.95) == pytest.approx(INTERVALS[count, of], abs=5e-8)


@given(
    counted=st.integers(1, 10**5).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))),
    level=st.sampled_from([0.8, 0.95, 1 - 1e-6]),
)
def test_it_is_scipys(counted: tuple[int, int], level: float) -> None:
    """Of any share, and as certain as one likes."""
    from scipy.stats import binomtest

    count, of = counted
    result = binomtest(count, of).proportion_ci(level, method="exact")
    assert interval(count, of, level) == pytest.approx((result.low, result.high), abs=1e-9)


def test_one_side_is_half_of_two() -> None:
    """And it is wider than Wilson's, as it always covers."""
    assert interval(3, 40, 0.9) == (lower(3, 40, 0.95), upper(3, 40, 0.95))
    low, high = wilson(3, 40, 0.9)
    assert lower(3, 40, 0.95) < low < high < upper(3, 40, 0.95)


def test_nothing_counted_says_nothing() -> None:
    """It may be any share."""
    assert interval(0, 0, 0.95) == (0, 1)
