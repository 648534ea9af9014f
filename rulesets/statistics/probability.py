"""A probability in decimal notation: 0.99 is ninety-nine hundredths, not the nearest binary fraction."""

from __future__ import annotations

from fractions import Fraction

Probability = float | Fraction
"""Between 0 and 1. A float stands for the shortest decimal number that reads as it."""


def exactly(probability: Probability) -> Fraction:
    """The fraction that is meant."""
    return probability if isinstance(probability, Fraction) else Fraction(str(probability))


def proper(probability: Probability) -> Fraction:
    """A probability strictly between 0 and 1, as an exact fraction.

    Raises:
        ValueError: It is not between 0 and 1, or is one of them.
    """
    exact = exactly(probability)
    if not 0 < exact < 1:
        raise ValueError(f"a probability must be between 0 and 1, not {probability}")
    return exact
