"""Two models on equal questions: the difference of scores, question by question.

What makes a question hard makes it hard for both, so the difference of a pair varies less than the scores do:
E. Miller, "Adding error bars to evals", arXiv 2411.00640, 2024, sections 4.2 and 5.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from statistics import correlation, fmean
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets.statistics import student, wilson
from rulesets.statistics.binomial import at_most
from rulesets.statistics.clustered import plain, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.statistics.probability import Probability

SIGN_FLIPS: Final = 9999
_ALIKE: Final = 1e-12
"""Sums of differences that are this close, relative to the sum of their sizes, are equal."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of the first's scores less the second's.

    Attributes:
        mean: In the scores' unit.
        standard_error: Of the mean, from the differences of the pairs.
        unpaired: What it would be were the questions not the same.
        correlation: Of the two models' scores; None where one's are all alike.
    """

    mean: float
    standard_error: float
    unpaired: float
    correlation: float | None

    @property
    def z(self) -> float | None:
        """The mean in standard errors; None where no pair differs from another."""
        alike = self.standard_error <= _ALIKE * abs(self.mean)
        return None if alike else self.mean / self.standard_error

    def interval(self, count: int, level: Probability) -> tuple[float, float]:
        """The two-sided t interval of the mean, over a number of pairs."""
        half = student.bound(float(level), count - 1) * self.standard_error
        return self.mean - half, self.mean + half


def difference(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """The difference of scores in one order of questions; None with fewer than two questions.

    Raises:
        ValueError: The two differ in length.
    """
    unit = unit_of((*first, *second)) if first and second else 1.0
    first, second = ([score / unit for score in scores] for scores in (first, second))
    apart = [first_value - other for first_value, other in zip(first, second, strict=True)]
    error, first_error, second_error = plain(apart), plain(first), plain(second)
    if error is None or first_error is None or second_error is None:
        return None
    alike = correlation(first, second) if first_error and second_error else None
    unpaired = math.hypot(first_error, second_error)
    return Difference(fmean(apart) * unit, error * unit, unpaired * unit, alike)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact p, both ways, of this many questions that only one of two models answered right.

    Twice the smaller tail of Binomial(b + c, ½): Q. McNemar, "Note on the sampling error of the difference
    between correlated proportions or percentages", Psychometrika 12, 1947, without its approximation.
    """
    of = only_first + only_second
    return min(1.0, 2 * at_most(min(only_first, only_second), of, Fraction(1, 2)))


def newcombe(
    both: int, only_first: int, only_second: int, neither: int, level: Probability
) -> tuple[float, float]:
    """The interval of the first share of right answers less the second, on equal questions.

    R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", Statistics in Medicine 17, 1998, method 10: Wilson's limits of the two shares, put together
    with their correlation φ, that one corrected for continuity. It keeps a width where all pairs are alike.

    Args:
        both: Questions that both answered right.
        only_first: Only the first did.
        only_second: Only the second did.
        neither: No one did.
        level: Of the interval.
    """
    of = both + only_first + only_second + neither
    first, second = both + only_first, both + only_second
    (first_low, first_high), (second_low, second_high) = (
        (count / of - low, high - count / of)
        for count in (first, second)
        for low, high in (wilson.interval(count, of, level),)
    )
    margins = first * (of - first) * second * (of - second)
    apart = both * neither - only_first * only_second
    corrected = max(0.0, apart - of / 2) if apart > 0 else float(apart)
    alike = corrected / math.sqrt(margins) if margins else 0.0
    down, up = (
        math.sqrt(max(0.0, mine**2 - 2 * alike * mine * other + other**2))
        for mine, other in ((first_low, second_high), (first_high, second_low))
    )
    by = (first - second) / of
    return by - down, by + up


def sign_flips(differences: Sequence[float], seed: int, flips: int = SIGN_FLIPS) -> float:
    """The one-sided p of a mean above zero, where each difference is as likely to have the other sign.

    E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", Supplement to
    the Journal of the Royal Statistical Society 4, 1937: the share of sign patterns whose sum is at least the
    observed one. Patterns are drawn at random, and the observed one counts as one of them, which keeps the
    test exact: B. Phipson and G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9,
    2010.
    """
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    sizes = [abs(value) for value in differences if value]
    observed = sum(differences) - _ALIKE * sum(sizes)
    reached = sum(
        sum(
            size if sign == "1" else -size
            for size, sign in zip(sizes, _signs(random, len(sizes)), strict=True)
        )
        >= observed
        for _ in range(flips)
    )
    return (1 + reached) / (1 + flips)


def _signs(random: Random, count: int) -> str:
    return f"{random.getrandbits(count):0{count}b}" if count else ""
