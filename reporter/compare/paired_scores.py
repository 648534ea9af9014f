"""The difference between the scores of two runs with equal questions, question by question.

What makes a question hard makes it hard for both (rulesets/statistics/paired.py). Where a question is either
right or wrong in each run p is McNemar's, exact, and the interval Newcombe's for pairs; of other values both
are those of the mean difference, by Student's t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.compare.compared_figure import POWER, FigureDifference, critical
from rulesets.statistics import paired, student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.compare.compared_figure import ComparedFigure

_BINARY: Final = frozenset({0.0, 1.0})
_MOST_LOST: Final = 0.5
"""Of the questions of the run that asked fewer: with more of them not asked by both, the rest says little."""


def difference(
    reference: ComparedFigure, other: ComparedFigure, *, in_points: bool, level: float, level_to_find: float
) -> FigureDifference | None:
    """The difference of two scores over the questions that both runs were asked.

    Returns:
        None where most questions differ, fewer than two are shared, or a ratio is undefined.
    """
    before, after = reference.questions, other.questions
    if before is None or after is None or (not in_points and reference.value <= 0):
        return None
    common = [question for question in before if question in after]
    if len(common) <= max(1.0, _MOST_LOST * min(len(before), len(after))):
        return None
    firsts, seconds = ([side[question] for question in common] for side in (before, after))
    mean_difference = paired.difference(seconds, firsts)
    if mean_difference is None:
        return None
    unit = 1.0 if in_points else reference.value
    freedom = len(common) - 1
    low, high, p = _tested(mean_difference, firsts, seconds, level)
    reach = critical(level_to_find, freedom) + critical(2 * POWER - 1, freedom)
    return FigureDifference(
        *(
            mean_difference.mean / unit,
            None if low is None else low / unit,
            None if high is None else high / unit,
            p,
            reach * mean_difference.standard_error / unit,
        ),
        paired=len(common),
    )


def _tested(
    mean_difference: paired.Difference, firsts: Sequence[float], seconds: Sequence[float], level: float
) -> tuple[float | None, float | None, float]:
    """The ends of the interval, where there is one, and p."""
    if _BINARY.issuperset((*firsts, *seconds)):
        lost = sum(first > other for first, other in zip(firsts, seconds, strict=True))
        won = sum(first < other for first, other in zip(firsts, seconds, strict=True))
        both = sum(first == other == 1 for first, other in zip(firsts, seconds, strict=True))
        low, high = paired.newcombe(both, won, lost, len(firsts) - both - won - lost, level)
        return low, high, paired.mcnemar(lost, won)
    if mean_difference.z is None:
        # All pairs differ by the same amount, which only their number can tell from chance: a sign test.
        mean, pairs = mean_difference.mean, len(firsts)
        p = paired.mcnemar(pairs, 0) if mean else 1.0
        return (None, None, p) if p >= 1 - level else (mean, mean, p)
    freedom = len(firsts) - 1
    half = critical(level, freedom) * mean_difference.standard_error
    p = 1 - student.within(abs(mean_difference.z), freedom)
    return mean_difference.mean - half, mean_difference.mean + half, p
