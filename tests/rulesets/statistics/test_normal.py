"""The normal distribution, against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.normal import cdf, quantile


@given(x=st.floats(-37, 37))
def test_its_tails_are_scipys(x: float) -> None:
    """However far out."""
    from scipy.special import ndtr

    assert cdf(x) == pytest.approx(ndtr(x), rel=1e-11)


@given(p=st.floats(1e-12, 1 - 1e-12))
def test_the_quantile_is_its_inverse(p: float) -> None:
    """To the digits that the probability has."""
    assert cdf(quantile(p)) == pytest.approx(p, rel=1e-9)
