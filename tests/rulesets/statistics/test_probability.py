"""A probability is what was written."""

from fractions import Fraction

import pytest

from rulesets.statistics.probability import exactly, proper


@pytest.mark.parametrize("written", [0.99, Fraction(99, 100)])
def test_a_float_is_the_decimal_that_it_reads_as(written: float | Fraction) -> None:
    """So that no rank moves by a rounding."""
    assert exactly(written) == Fraction(99, 100) == proper(written)


@pytest.mark.parametrize("improper", [0, 1, -0.1, 1.5, Fraction(3, 2)])
def test_a_proper_one_leaves_room(improper: float | Fraction) -> None:
    """Neither certain nor impossible, and nothing beyond."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        proper(improper)
