"""The rows that scores are made of, as a table: those of the view `scores` in the reported passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.accuracy.mean import mean_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reporter.accuracy.asked import ScorerPass
    from reporter.log.database import OpenLog

_GRADED: Final = """
    CREATE TEMP TABLE graded AS
    SELECT
        entry,
        prompt_id,
        value,
        status,
        output_tokens,
        truncated,
        refused,
        {further}
    FROM scores
    JOIN entries USING (pass, task, scorer)"""

_ENTRIES: Final = """
    CREATE TEMP TABLE entries (entry INTEGER, pass BIGINT, task VARCHAR, scorer VARCHAR)"""

_IF_READ: Final = (
    *("metrics", "tags", "extracted", "question_id", "sample_uuid", "attempt", "input_tokens"),
)
"""Columns of samples that few headlines read; texts and maps are most of a score's size."""

_UNREAD: Final = "details['judge_reply'] IS NOT NULL AS judge_unparsed"
"""Graders keep a judge's reply with the score where they could not parse it."""

_WHERE_UNSCORED: Final = "CASE WHEN value IS NULL THEN reason END AS reason"

_COUNTS: Final = """
    SELECT
        entry,
        count(*) AS issued,
        count(*) FILTER (status = 'scored') AS scored,
        count(*) FILTER (status = 'unparsed') AS unparsed,
        count(*) FILTER (status = 'missing') AS missing,
        count(*) FILTER (status = 'infra_error') AS infra_error,
        count(*) FILTER (status = 'judge_pending') AS judge_pending,
        count(*) FILTER (value IS NULL) AS unscored,
        count(*) FILTER (judge_unparsed) AS judge_unparsed,
        any_value(questions) AS questions,
        any_value(repeats) AS repeats,
        avg(output_tokens) AS tokens_per_sample,
        avg(truncated::INTEGER) AS truncated,
        avg(refused::INTEGER) AS refused,
        coalesce(min(value) >= 0 AND max(value) <= 1, true) AS bounded,
        mode(reason) FILTER (status = 'infra_error') AS why
    FROM graded
    JOIN (
        SELECT entry, count(*) AS questions, max(asked) AS repeats
        FROM (SELECT entry, count(*) AS asked FROM graded GROUP BY entry, prompt_id)
        GROUP BY entry
    ) USING (entry)
    GROUP BY entry"""

_NOT_SCORED: Final = """
    SELECT
        -1 AS entry,
        count(*) AS issued,
        0 AS scored,
        0 AS unparsed,
        0 AS missing,
        0 AS infra_error,
        0 AS judge_pending,
        count(*) AS unscored,
        0 AS judge_unparsed,
        count(DISTINCT prompt_id) AS questions,
        coalesce(max(attempt), 0) AS repeats,
        avg(output_tokens) AS tokens_per_sample,
        NULL AS truncated,
        NULL AS refused,
        true AS bounded,
        NULL AS why
    FROM asked JOIN questions USING (prompt_id)
    WHERE task = $task AND replaced_ns IS NULL"""

_ATTEMPTS: Final = """
    SELECT n, c, count(*) AS questions
    FROM (
        SELECT count(*) AS n, count(*) FILTER (value >= $threshold) AS c FROM graded
        WHERE entry = $entry GROUP BY prompt_id
    )
    GROUP BY ALL"""


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """The number of samples of a score, by outcome, and further facts.

    Attributes:
        bounded: Whether no value is below 0 or above 1.
        why: The most frequent reason of those that could not be judged.

    The others are those of `TaskScore`.
    """

    entry: int
    issued: int
    scored: int
    unparsed: int
    missing: int
    infra_error: int
    judge_pending: int
    unscored: int
    judge_unparsed: int
    questions: int
    repeats: int
    tokens_per_sample: float | None
    truncated: float | None
    refused: float | None
    bounded: bool
    why: str | None


def with_graded_rows(log: OpenLog, passes: Sequence[ScorerPass], aggregates: Iterable[str]) -> OpenLog:
    """The log with a table `graded`: the rows of passes, with the position of the pass as `entry`.

    Args:
        log: An opened log with the view `scores`.
        passes: The reported passes.
        aggregates: The SQL that will read them: columns that none of it reads are left out.
    """
    graded = log.with_room()
    graded.execute(_ENTRIES)
    for entry, scorer_pass in enumerate(passes):
        values = [entry, scorer_pass.number, scorer_pass.task, scorer_pass.scorer]
        graded.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", values)
    read = set(re.findall(r"\w+", " ".join(map(_of_samples, aggregates))))
    further = ["reason" if "reason" in read else _WHERE_UNSCORED]
    further += [column for column in _IF_READ if column in read]
    # Texts of details are read only where a judge may have written some.
    is_judged = any(scorer_pass.judge for scorer_pass in passes)
    further.append(_UNREAD if is_judged else "false AS judge_unparsed")
    graded.execute(_GRADED.format(further=", ".join(further)))
    return graded


def _of_samples(aggregate: str) -> str:
    """The part of the SQL that reads samples; the rest reads questions."""
    mean = mean_in(aggregate)
    return mean.of if mean is not None and mean.of_questions else aggregate


def counts(graded: OpenLog) -> dict[int, SampleCounts]:
    """The counts of each entry that has rows."""
    return {row[0]: SampleCounts(*row) for row in graded.execute(_COUNTS).fetchall()}


def not_scored(log: OpenLog, task: str) -> SampleCounts:
    """The counts of a task that no pass has scored."""
    return SampleCounts(*log.execute(_NOT_SCORED, {"task": task}).fetchall()[0])


def attempts(graded: OpenLog, entry: int, threshold: float) -> list[tuple[int, int, int]]:
    """How many questions had n attempts of which c passed, as (n, c, questions).

    An attempt without a value counts as failed.
    """
    asked: dict[str, Any] = {"entry": entry, "threshold": threshold}
    return graded.execute(_ATTEMPTS, asked).fetchall()


def of_entry(entry: int, unscored: float, *, where: str = "true") -> str:
    """SQL that lets `scores` be the rows of one entry, with a replacement of missing values."""
    return (
        "WITH scores AS (SELECT * REPLACE (coalesce(value, "  # noqa: S608 (two numbers, a condition of ours)
        f"{unscored!r}::DOUBLE) AS value), value IS NULL AS unscored "
        f"FROM graded WHERE entry = {entry:d} AND {where})"
    )
