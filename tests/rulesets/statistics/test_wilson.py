"""Wilson's limits, against known values and scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.wilson import interval, lower, samples_needed, upper

INTERVALS = {
    (0, 10): (0, 0.2775328),
    (8, 10): (0.4901625, 0.9433178),
    (10, 10): (0.7224672, 1),
    (0, 100): (0, 0.0369935),
    (81, 100): (0.7222115, 0.8748525),
    (137, 164): (0.7710632, 0.8843172),
    (823, 990): (0.8067157, 0.8533493),
    (990, 1000): (0.9816905, 0.9945592),
    (3571, 4388): (0.8020203, 0.8250515),
}
"""95 % intervals by count and number."""

counted = st.integers(1, 10**6).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
levels = st.sampled_from([0.8, 0.95, 0.99])


@pytest.mark.parametrize(("count", "of"), INTERVALS)
def test_the_intervals(count: int, of: int) -> None:
    """To seven digits."""
    assert interval(count, of, 0.95) == pytest.approx(INTERVALS[count, of], abs=5e-8)


@given(counted=counted, level=levels)
def test_it_is_scipys(counted: tuple[int, int], level: float) -> None:
    """Of any share and level."""
    from scipy.stats import binomtest

    count, of = counted
    result = binomtest(count, of).proportion_ci(level, method="wilson")
    assert interval(count, of, level) == pytest.approx((result.low, result.high), abs=1e-9)


@given(counted=counted, level=levels)
def test_it_encloses_the_share(counted: tuple[int, int], level: float) -> None:
    """One-sided limits lie within the two-sided ones, and more certainty widens them."""
    count, of = counted
    low, high = interval(count, of, level)
    assert 0 <= low <= count / of <= high <= 1
    assert low <= lower(count, of, level)
    assert upper(count, of, level) <= high
    assert upper(count, of, level) <= upper(count, of, 0.999)


def test_nothing_counted_says_nothing() -> None:
    """It may be any share."""
    assert interval(0, 0, 0.95) == (0, 1)


@given(count=st.integers(0, 30), of=st.integers(50, 5000), bound=st.floats(0.001, 0.9), level=levels)
def test_the_number_of_samples_that_suffices(count: int, of: int, bound: float, level: float) -> None:
    """With the same share the limit meets the bound then; on the wrong side of it, none would."""
    above = samples_needed(count, of, bound, level)
    below = samples_needed(count, of, bound, level, "lower")
    assert above is None or below is None
    if above is not None:
        assert above >= of
        assert upper(-(-count * above // of), above, level) <= bound
    if below is not None:
        assert below >= of
        assert lower(count * below // of, below, level) >= bound
