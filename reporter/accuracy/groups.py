"""Scores of parts of the samples: by subject, by level, by any tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.accuracy.mean import VALUE
from reporter.accuracy.spread import spread
from reporter.log.sql_files import quoted
from reporter.values.task_score import GroupScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog


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
    """The scores of each tag's values, those of the benchmark's own groups first.

    Args:
        graded: From `reporter.accuracy.score_rows.with_graded_rows`.
        entry: The number of the entry.
        task: The task.
        of_benchmark: The tags that the benchmark groups scores by.
    """
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
