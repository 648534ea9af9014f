"""The figures that benchmarks are known by, as the aggregates that their scorers name."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from reporter.accuracy.mean import mean_in
from reporter.accuracy.rows import of_entry
from reporter.accuracy.spread import spread
from reporter.accuracy.task_score import HeadlineFigure
from reporter.errors import HeadlineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.accuracy.asked import ScorerPass
    from reporter.accuracy.rows import SampleCounts
    from reporter.accuracy.spread import ScoreSums
    from reporter.log.database import OpenLog
    from workloads.scorer import Headline

_OF_A_GRADER: Final = re.compile(r"\b(metrics|status|extracted|reason)\b")
"""What only a grader tells: of a sample without a value nobody knows what it would be."""

_WORST: Final = 0.0
_BEST: Final = 1.0
"""What stands for a value that is not there."""


def headlines(
    graded: OpenLog,
    entry: int,
    scored: ScorerPass,
    told: Sequence[Headline],
    counts: SampleCounts,
) -> dict[str, HeadlineFigure]:
    """The figures of an entry, by their names and in their order.

    Args:
        graded: From `reporter.accuracy.rows.with_graded_rows`.
        entry: Whose.
        scored: What it is.
        told: Which figures.
        counts: Of its samples.

    Raises:
        HeadlineError: One of them is no aggregate, or no number.
    """
    judged = counts.scored + counts.unparsed > 0 or not counts.unscored
    found = {one.name: _spread(graded, entry, scored, one) for one in told} if judged else {}
    others = [one for one in told if judged and mean_in(one.sql) is None]
    values = _values(graded, entry, scored, others, _WORST)
    known = {one.name: value for one, value in zip(others, values, strict=True)}
    best = [_best(graded, entry, scored, one, counts) if counts.unscored else None for one in told]
    return {
        one.name: _figure(one, found.get(one.name), known.get(one.name), most, counts)
        for one, most in zip(told, best, strict=True)
    }


def _spread(graded: OpenLog, entry: int, scored: ScorerPass, one: Headline) -> ScoreSums | None:
    """What a figure that is a mean is the mean of; None where it is none, or not defined."""
    mean = mean_in(one.sql)
    if mean is None:
        return None
    with _blamed(scored, one):
        found = next(iter(spread(graded, entry, mean)), None)
    return found if found is not None and math.isfinite(found.mean) else None


def _best(
    graded: OpenLog, entry: int, scored: ScorerPass, one: Headline, counts: SampleCounts
) -> float | None:
    """What a figure can be at best, with some values not known; None where nobody can tell."""
    if one.unit != "share" or not counts.bounded:
        return None
    pick, right = (max, _BEST) if one.better == "higher" else (min, _WORST)
    mean = mean_in(one.sql)
    if mean is not None and not _OF_A_GRADER.search(mean.where):
        at_best = replace(mean, of=f"CASE WHEN unscored THEN {right!r} ELSE {mean.of} END")
        return next((part.mean for part in spread(graded, entry, at_best)), None)
    if _OF_A_GRADER.search(one.sql):
        return right
    ends = [_values(graded, entry, scored, [one], value)[0] for value in (_WORST, _BEST)]
    return pick((end for end in ends if end is not None), default=None)


def _figure(
    one: Headline, found: ScoreSums | None, value: float | None, best: float | None, counts: SampleCounts
) -> HeadlineFigure:
    if found is None:
        return HeadlineFigure(value, best, one.unit, one.better, None, None, None, None)
    if counts.unscored:
        # How sure a lower bound is says nothing of the score.
        return HeadlineFigure(found.mean, best, one.unit, one.better, found.n, None, None, None)
    return HeadlineFigure(
        found.mean,
        best,
        one.unit,
        one.better,
        found.n,
        found.standard_error,
        found.interval,
        found.effective,
    )


def _values(
    graded: OpenLog, entry: int, scored: ScorerPass, told: Sequence[Headline], unscored: float
) -> list[float | None]:
    """Each figure, with this in place of values that are not there."""
    import duckdb

    if not told:
        return []

    try:
        return _asked(graded, entry, told, unscored)
    except (duckdb.Error, ValueError):
        # One by one, to see which it is.
        for one in told:
            with _blamed(scored, one):
                _asked(graded, entry, [one], unscored)
        raise


def _asked(graded: OpenLog, entry: int, told: Sequence[Headline], unscored: float) -> list[float | None]:
    figures = ", ".join(f"({one.sql})" for one in told)
    asked = f"{of_entry(entry, unscored)} SELECT {figures} FROM scores"  # noqa: S608 (the catalogue's, not a log's)
    found = graded.execute(asked).fetchall()
    if len(found) != 1:
        raise ValueError(f"it has {len(found):,} values and not one: it is no aggregate")
    return [_number(value) for value in found[0]]


def _number(value: object) -> float | None:
    """A figure; None for one that is not defined, such as 0 / 0."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"it is no number: {value!r}")  # noqa: TRY004 (caught with what else is wrong with it)
    return float(value) if math.isfinite(value) else None


@contextmanager
def _blamed(scored: ScorerPass, one: Headline) -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.Error, ValueError) as error:
        raise HeadlineError(
            f"{scored.task}: the figure {one.name} of its scorer {scored.scorer} cannot be computed: "
            f"{error}; its SQL is {one.sql}"
        ) from error
