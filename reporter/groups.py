"""The distribution of a figure in each of several groups of requests, in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.distribution import percentiles, ranks_needed
from reporter.report import Summary

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod

_GROUPED: Final = """
    CREATE OR REPLACE TEMP TABLE grouped AS
    SELECT part, list_sort(list(value)) AS ranked
    FROM ({values})
    WHERE value IS NOT NULL AND part IS NOT NULL
    GROUP BY part"""

# Sums over sorted lists are equal for any order of requests in the log. The mean is a column before
# deviations from it are taken: as an alias it would be computed again for each of them.
_FIGURES: Final = """
    SELECT
        part,
        len(ranked) AS count,
        mean,
        CASE WHEN count > 1
            THEN sqrt(list_sum(list_transform(ranked, lambda value: (value - mean) ** 2)) / (count - 1))
        END,
        ranked[1],
        ranked[-1],
        list_select(ranked, $places[list_position($sizes, count)])
    FROM (SELECT part, ranked, list_avg(ranked) AS mean FROM grouped)"""


def summaries_by_group(
    log: OpenLog,
    values: str,
    method: PercentileMethod,
) -> dict[Any, Summary]:
    """Summarize each group of values.

    Args:
        log: An opened log.
        values: A query with the columns `part`, which names the group, and `value`; rows with a NULL in
            either are left out.
        method: How percentiles are taken.

    Returns:
        By the group's name; a group without values is not there.
    """
    log.execute(_GROUPED.format(values=values))
    sizes = log.execute("SELECT DISTINCT len(ranked) FROM grouped").fetchall()
    needed = {count: [1 + rank for rank in ranks_needed(count, method)] for (count,) in sizes}
    groups = log.execute(_FIGURES, {"sizes": list(needed), "places": list(needed.values())}).fetchall()
    return {
        part: Summary(
            count=count,
            mean=min(max(mean, low), high),
            std=std,
            min=low,
            max=high,
            **percentiles(values_of_ranks, count, method),
        )
        for part, count, mean, std, low, high, values_of_ranks in groups
    }
