"""The binomial distribution, against scipy and against itself."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.binomial import at_most, beta_inc

SHARES = (0.001, 0.01, 0.05, 0.5, 0.97)
DEVIATIONS = (-8.0, -4.0, -2.33, -0.1, 0.0, 1.0, 2.33, 6.0)

shares = st.fractions(0, 1, max_denominator=1000)


@pytest.mark.parametrize("n", [10, 64, 65, 1000, 10**5, 10**7])
def test_it_is_scipys(n: int) -> None:
    """From eight standard deviations below the mean to six above it, and up to ten million trials."""
    from scipy.special import betainc

    for p in SHARES:
        spread = math.sqrt(n * p * (1 - p))
        for k in (round(n * p + deviation * spread) for deviation in DEVIATIONS):
            if 0 <= k < n:
                assert at_most(k, n, p) == pytest.approx(betainc(n - k, k + 1, 1 - p), rel=1e-10, abs=1e-300)


@given(a=st.floats(0.1, 1e7), b=st.floats(0.1, 1e7), x=st.floats(0, 1))
def test_the_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    """Of any positive a and b, halves and thirds too."""
    from scipy.special import betainc

    for index in (x, min(1.0, a / (a + b) * (1 + x / 100))):
        assert beta_inc(a, b, index) == pytest.approx(betainc(a, b, index), rel=1e-8, abs=1e-12)


def test_the_ends_of_the_beta_function() -> None:
    """All of it lies between 0 and 1."""
    assert beta_inc(2, 3, 0) == 0
    assert beta_inc(2, 3, 1) == 1
    assert beta_inc(2, 3, 0.5) == pytest.approx(0.6875)


@given(n=st.integers(1, 200), k=st.integers(-2, 202), p=shares)
def test_it_is_a_sum(n: int, k: int, p: Fraction) -> None:
    """Of what each number of successes is likely to be, exactly."""
    total = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(min(k, n) + 1))
    assert at_most(k, n, p) == pytest.approx(float(total), rel=1e-12, abs=1e-300)


def test_small_ones_are_exact() -> None:
    """Half of six coins is known to the last bit, so that a level that ties with it is met."""
    assert at_most(0, 6, 0.5) == 1 / 64
    assert at_most(0, 1, 0.1) == 0.9
