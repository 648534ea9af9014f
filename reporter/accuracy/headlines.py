"""The main figures of benchmarks, as the aggregates defined by scorers."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from reporter.accuracy.mean import mean_in
from reporter.accuracy.score_rows import of_entry
from reporter.accuracy.spread import spread
from reporter.errors import HeadlineError
from reporter.values.task_score import HeadlineFigure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.accuracy.asked import ScorerPass
    from reporter.accuracy.score_rows import SampleCounts
    from reporter.accuracy.spread import ScoreSums
    from reporter.log.database import OpenLog
    from workloads.scorer import Headline

_OF_A_GRADER: Final = re.compile(r"\b(metrics|status|extracted|reason)\b")
"""Columns that only a grader fills: unknown for a sample without a value."""

_WORST: Final = 0.0
_BEST: Final = 1.0
"""The replacements of missing values."""


def headlines(
    graded: OpenLog,
    entry: int,
    scored: ScorerPass,
    definitions: Sequence[Headline],
    counts: SampleCounts,
) -> dict[str, HeadlineFigure]:
    """The figures of an entry, by name, in order.

    Raises:
        HeadlineError: A figure is not an aggregate, or not a number.
    """
    judged = counts.scored + counts.unparsed > 0 or not counts.unscored
    sums = (
        {headline.name: _spread(graded, entry, scored, headline) for headline in definitions}
        if judged
        else {}
    )
    others = [headline for headline in definitions if judged and mean_in(headline.sql) is None]
    values = _values(graded, entry, scored, others, _WORST)
    other_values = {headline.name: value for headline, value in zip(others, values, strict=True)}
    best = [
        _best(graded, entry, scored, headline, counts) if counts.unscored else None
        for headline in definitions
    ]
    return {
        headline.name: _figure(
            headline, sums.get(headline.name), other_values.get(headline.name), best_value, counts
        )
        for headline, best_value in zip(definitions, best, strict=True)
    }


def without_unparsed(graded: OpenLog, entry: int, scored: ScorerPass, headline: Headline) -> float | None:
    """A figure over the samples with parsable judge's replies; None if undefined."""
    with _blamed(scored, headline):
        return _asked(graded, entry, [headline], _WORST, where="NOT judge_unparsed")[0]


def _spread(graded: OpenLog, entry: int, scored: ScorerPass, headline: Headline) -> ScoreSums | None:
    """The sums of a figure that is a mean; None for other figures, or an undefined mean."""
    mean = mean_in(headline.sql)
    if mean is None:
        return None
    with _blamed(scored, headline):
        part_sums = next(iter(spread(graded, entry, mean)), None)
    return part_sums if part_sums is not None and math.isfinite(part_sums.mean) else None


def _best(
    graded: OpenLog, entry: int, scored: ScorerPass, headline: Headline, counts: SampleCounts
) -> float | None:
    """The best that a figure can be, with some values unknown; None where that is unknown too."""
    if headline.unit != "share" or not counts.bounded:
        return None
    pick, right = (max, _BEST) if headline.better == "higher" else (min, _WORST)
    mean = mean_in(headline.sql)
    if mean is not None and not _OF_A_GRADER.search(mean.where):
        at_best = replace(mean, of=f"CASE WHEN unscored THEN {right!r} ELSE {mean.of} END")
        return next((part.mean for part in spread(graded, entry, at_best)), None)
    if _OF_A_GRADER.search(headline.sql):
        return right
    ends = [_values(graded, entry, scored, [headline], value)[0] for value in (_WORST, _BEST)]
    return pick((end for end in ends if end is not None), default=None)


def _figure(
    headline: Headline, sums: ScoreSums | None, value: float | None, best: float | None, counts: SampleCounts
) -> HeadlineFigure:
    if sums is None:
        return HeadlineFigure(value, best, headline.unit, headline.better, None, None, None, None)
    if counts.unscored:
        # The confidence of a lower bound is not that of the score.
        return HeadlineFigure(sums.mean, best, headline.unit, headline.better, sums.n, None, None, None)
    return HeadlineFigure(
        sums.mean,
        best,
        headline.unit,
        headline.better,
        sums.n,
        sums.standard_error,
        sums.interval,
        sums.effective,
    )


def _values(
    graded: OpenLog, entry: int, scored: ScorerPass, definitions: Sequence[Headline], unscored: float
) -> list[float | None]:
    """Each figure, with a replacement of missing values."""
    import duckdb

    if not definitions:
        return []

    try:
        return _asked(graded, entry, definitions, unscored)
    except (duckdb.Error, ValueError):
        # One by one, to find the wrong one.
        for headline in definitions:
            with _blamed(scored, headline):
                _asked(graded, entry, [headline], unscored)
        raise


def _asked(
    graded: OpenLog,
    entry: int,
    definitions: Sequence[Headline],
    unscored: float,
    *,
    where: str = "true",
) -> list[float | None]:
    figures = ", ".join(f"({headline.sql})" for headline in definitions)
    rows_of_entry = of_entry(entry, unscored, where=where)
    asked = f"{rows_of_entry} SELECT {figures} FROM scores"  # noqa: S608 (the catalog's, not a log's)
    rows = graded.execute(asked).fetchall()
    if len(rows) != 1:
        raise ValueError(f"{len(rows):,} values instead of one: not an aggregate")
    return [_number(value) for value in rows[0]]


def _number(value: object) -> float | None:
    """A figure; None for an undefined one, such as 0 / 0."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"not a number: {value!r}")  # noqa: TRY004 (caught with what else is wrong with it)
    return float(value) if math.isfinite(value) else None


@contextmanager
def _blamed(scored: ScorerPass, headline: Headline) -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.Error, ValueError) as error:
        raise HeadlineError(
            f"{scored.task}: the figure {headline.name} of its scorer {scored.scorer} cannot be computed: "
            f"{error}; the SQL is {headline.sql}"
        ) from error
