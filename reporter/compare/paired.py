"""The difference between the scores of two runs that asked the same questions, question by question.

What makes a question hard makes it hard for both (rulesets/statistics/paired.py). p is McNemar's, exact,
where a question is either right or wrong in each run, else that of the mean difference, normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.compare.difference import POWER, Difference
from reporter.compare.figure import critical
from rulesets.statistics import normal, paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.compare.figure import Figure

_BINARY: Final = frozenset({0.0, 1.0})


def difference(reference: Figure, other: Figure, *, level: float, level_to_find: float) -> Difference | None:
    """The difference of two scores, as a share of the reference's.

    Args:
        reference: The score that it is held against.
        other: The other one.
        level: Of the interval.
        level_to_find: Of the interval that a detectable difference must be outside of.

    Returns:
        None where they are no scores of the same questions, two at least, or where a ratio has no meaning.
    """
    before, after = reference.questions, other.questions
    if before is None or after is None or before.keys() != after.keys() or reference.value <= 0:
        return None
    firsts, seconds = list(before.values()), [after[question] for question in before]
    found = paired.difference(seconds, firsts)
    if found is None:
        return None
    error, by = found.standard_error / reference.value, found.mean / reference.value
    half = critical(level, None) * error
    detectable = (critical(level_to_find, None) + critical(2 * POWER - 1, None)) * error
    return Difference(by, by - half, by + half, _chance(found, firsts, seconds), detectable)


def _chance(found: paired.Difference, firsts: Sequence[float], seconds: Sequence[float]) -> float:
    if _BINARY.issuperset((*firsts, *seconds)):
        return paired.mcnemar(
            sum(one > other for one, other in zip(firsts, seconds, strict=True)),
            sum(one < other for one, other in zip(firsts, seconds, strict=True)),
        )
    return float(not found.mean) if found.z is None else 2 * normal.cdf(-abs(found.z))
