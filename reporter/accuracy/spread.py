"""Means of scores with standard errors over questions, the sampling units.

The formulas are those of `rulesets.statistics.clustered` (corrected) and `.wilson`, over sums by DuckDB.
Where each question was sent once, the clustered standard error is the plain one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.accuracy.mean import EVERY, VALUE
from reporter.accuracy.score_rows import of_entry
from reporter.log.sql_files import quoted
from reporter.values.task_score import ConfidenceInterval, GroupScore
from rulesets.statistics import normal, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.accuracy.mean import Mean
    from reporter.log.database import OpenLog

LEVEL: Final = 0.95
"""The confidence of all intervals."""

FEW: Final = 5
"""Right or wrong answers below which the spread between repeated questions cannot be estimated."""

ROUNDING: Final = 1e-12
"""The squared deviations, as a share of the squares, that are nothing but rounding."""

_SPREAD: Final = """
    {rows},

    of_questions AS (
        SELECT
            prompt_id,
            fsum(x) AS total,
            count(x)::DOUBLE AS n,
            bool_and(x IN (0, 1)) AS is_binary,
            bool_and(x BETWEEN 0 AND 1) AS is_share,
            count(*) FILTER (unscored) AS unscored
        FROM (SELECT prompt_id, unscored, ({of})::DOUBLE AS x FROM scores WHERE {where})
        WHERE x IS NOT NULL
        GROUP BY prompt_id
    )

    SELECT
        part,
        sum(n)::BIGINT,
        fsum(total),
        count(*),
        fsum(total * total),
        fsum(total * n),
        fsum(n * n),
        bool_and(is_binary),
        bool_and(is_share),
        max(n) > 1,
        sum(unscored)::BIGINT
    FROM (SELECT of_questions.*, {part} AS part FROM of_questions {question_facts} WHERE {whose})
    WHERE part IS NOT NULL
    GROUP BY part
    ORDER BY part"""

_QUESTION_FACTS: Final = "JOIN questions USING (prompt_id)"
"""The SQL that adds the facts of questions."""


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """Sums over the samples of questions.

    Attributes:
        part: The common value of the samples.
        squares: The sum of the squares of each question's sum.
        products: Of each question's sum times its number of samples.
        sizes: Of the squares of these numbers.
    """

    part: str
    n: int
    total: float
    questions: int
    squares: float
    products: float
    sizes: float
    is_binary: bool
    is_share: bool
    repeated: bool
    unscored: int

    @property
    def mean(self) -> float:
        """Over the samples."""
        return self.total / self.n

    @property
    def standard_error(self) -> float | None:
        """Of the mean, clustered by question; None for one question, or where squares are infinite."""
        if self.questions <= 1:
            return None
        apart = self.squares - 2 * self.mean * self.products + self.mean * self.mean * self.sizes
        if not math.isfinite(apart):
            return None
        if apart <= ROUNDING * self.squares:
            return 0.0
        return math.sqrt(apart * self.questions / (self.questions - 1)) / self.n

    @property
    def interval(self) -> ConfidenceInterval | None:
        """Of the mean; None with a single question that was repeated or has partial credit."""
        error = self.standard_error
        if self.is_binary and not self.repeated:
            return ConfidenceInterval(*wilson.interval(round(self.total), self.n, LEVEL), LEVEL, "wilson")
        if error is None:
            return None
        if self._by_questions:
            low, high = wilson.interval(self.mean * self.questions, self.questions, LEVEL)
            return ConfidenceInterval(low, high, LEVEL, "wilson")
        far = normal.quantile((1 + LEVEL) / 2) * error
        low, high = self.mean - far, self.mean + far
        if self.is_share:
            low, high = max(low, 0.0), min(high, 1.0)
        return ConfidenceInterval(low, high, LEVEL, "clustered" if self.repeated else "normal")

    @property
    def _by_questions(self) -> bool:
        """Whether the spread between questions is unknown, so that questions count in place of samples."""
        few = self.is_binary and self.repeated and min(self.total, self.n - self.total) < FEW
        return self.is_share and (few or not self.standard_error)

    @property
    def effective(self) -> int | None:
        """The effective number of independent samples; None for values outside 0 to 1.

        As many as would have that standard error, were they 0 or 1: L. Kish, Survey Sampling, 1965, 8.2.
        Where the spread between questions is unknown, only questions count.
        """
        if not self.is_share:
            return None
        if not self.repeated:
            return self.n
        share, error = self.mean, self.standard_error
        if self._by_questions or not error:
            return self.questions
        return max(1, min(self.n, round(share * (1 - share) / error**2)))


def spread(
    graded: OpenLog, entry: int, mean: Mean, *, part: str = "''", unscored: float = 0.0
) -> list[ScoreSums]:
    """The sums of a mean over the samples of an entry, for each part; empty without samples.

    Args:
        graded: From `reporter.accuracy.score_rows.with_graded_rows`.
        entry: The number of the entry.
        mean: The mean.
        part: SQL for the common value of a question's samples, over `questions`; those where it is NULL
            are left out.
        unscored: The replacement of missing values.
    """
    of_samples, of_questions = (EVERY, mean.where) if mean.of_questions else (mean.where, EVERY)
    asked = _SPREAD.format(
        rows=of_entry(entry, unscored),
        of=mean.of,
        where=of_samples,
        part=part,
        question_facts=_QUESTION_FACTS if (part, of_questions) != ("''", EVERY) else "",
        whose=of_questions,
    )
    return [ScoreSums(*row) for row in graded.execute(asked).fetchall()]


MOST_VALUES: Final = 50
"""The most values of a tag that scores are broken down by, unless its benchmark groups by it."""

_OWN: Final = "task"
"""The tag of every question, which is the benchmark's name."""

_TAGS: Final = """
    SELECT tag.key, count(DISTINCT tag.value)
    FROM (SELECT unnest(map_entries(tags)) AS tag FROM questions WHERE task = $task)
    GROUP BY tag.key
    ORDER BY tag.key"""


def groups(
    graded: OpenLog, entry: int, task: str, of_benchmark: Sequence[str]
) -> dict[str, dict[str, GroupScore]]:
    """The scores of each tag's values, those of the benchmark's own groups first."""
    there = dict(graded.execute(_TAGS, {"task": task}).fetchall())
    own = [tag for tag in of_benchmark if tag in there]
    others = [tag for tag, n in there.items() if tag not in {*own, _OWN} and 1 < n <= MOST_VALUES]
    return {tag: _of(graded, entry, tag) for tag in (*own, *others)}


def _of(graded: OpenLog, entry: int, tag: str) -> dict[str, GroupScore]:
    return {
        part_sums.part: GroupScore(
            part_sums.n,
            part_sums.unscored,
            part_sums.mean,
            None if part_sums.unscored else part_sums.standard_error,
            None if part_sums.unscored else part_sums.interval,
        )
        for part_sums in spread(graded, entry, VALUE, part=f"tags[{quoted(tag)}]")
    }
