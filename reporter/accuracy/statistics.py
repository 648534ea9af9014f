"""How the values of a scorer are spread: over samples, and over the repeats of a benchmark."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from reporter.values.task_score import RepeatStatistics, SampleStatistics

if TYPE_CHECKING:
    from reporter.accuracy.score_rows import SampleCounts
    from reporter.log.database import OpenLog

_OVER_SAMPLES: Final = """
    SELECT count(value), favg(value), median(value), stddev_pop(value), min(value), max(value)
    FROM graded
    WHERE entry = $entry"""

# A repeat counts where it has every question: others would be scores of different questions.
_OVER_REPEATS: Final = """
    SELECT favg(value)
    FROM scores JOIN entries USING (pass, task, scorer)
    WHERE entry = $entry
    GROUP BY attempt
    HAVING count(*) = $questions
    ORDER BY attempt"""


def over_samples(graded: OpenLog, entry: int) -> SampleStatistics | None:
    """Statistics of the samples' values; None where no sample has one.

    Args:
        graded: From `reporter.accuracy.score_rows.with_graded_rows`.
        entry: Which score.
    """
    n, *figures = graded.execute(_OVER_SAMPLES, {"entry": entry}).fetchall()[0]
    return SampleStatistics(n, *figures) if n else None


def over_repeats(graded: OpenLog, counts: SampleCounts) -> RepeatStatistics | None:
    """Statistics of the mean value of each repeat; None with fewer than two whole ones.

    None also while samples have no value: which repeat they would raise is not known.

    Args:
        graded: From `reporter.accuracy.score_rows.with_graded_rows`.
        counts: Of the score.
    """
    if counts.repeats < 2 or counts.unscored:  # noqa: PLR2004 (a spread takes two)
        return None
    parameters = {"entry": counts.entry, "questions": counts.questions}
    values = [value for (value,) in graded.execute(_OVER_REPEATS, parameters).fetchall()]
    if len(values) < 2:  # noqa: PLR2004 (likewise)
        return None
    return RepeatStatistics(
        values=values,
        mean=statistics.fmean(values),
        median=statistics.median(values),
        std=statistics.pstdev(values),
        min=min(values),
        max=max(values),
    )
