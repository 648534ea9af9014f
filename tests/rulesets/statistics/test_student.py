"""Student's t, against the tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.student import bound, within

TABLE = {
    (1, 0.95): 12.706,
    (2, 0.95): 4.303,
    (3, 0.99): 5.841,
    (4, 0.95): 2.776,
    (9, 0.95): 2.262,
    (18, 0.99): 2.878,
    (19, 0.95): 2.093,
    (120, 0.95): 1.980,
}
"""Two-sided points by degrees of freedom: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2."""


@pytest.mark.parametrize(("freedom", "probability"), TABLE)
def test_the_points_of_the_table(freedom: int, probability: float) -> None:
    """The bound is the table's, and what is within it has the probability."""
    assert bound(probability, freedom) == pytest.approx(TABLE[freedom, probability], abs=6e-4)
    assert within(TABLE[freedom, probability], freedom) == pytest.approx(probability, abs=1e-4)


def test_the_ends() -> None:
    """Nothing is within 0, and all but nothing within much."""
    assert within(0, 7) == 0
    assert within(1e5, 7) == pytest.approx(1)
    assert within(1e200, 7) == 1


@given(t=st.floats(0.01, 50), freedom=st.floats(1, 1e6))
def test_it_is_scipys(t: float, freedom: float) -> None:
    """Of any number of degrees of freedom, parts of one too. Nearer to 0 it is scipy that loses digits."""
    from scipy.special import stdtr

    assert within(t, freedom) == pytest.approx(2 * stdtr(freedom, t) - 1, abs=1e-10)


@given(probability=st.floats(0, 1 - 1e-9), freedom=st.floats(1, 1e6))
def test_the_bound_is_the_inverse(probability: float, freedom: float) -> None:
    """However sure one wants to be, and with however little."""
    assert within(bound(probability, freedom), freedom) == pytest.approx(probability, abs=1e-10)
