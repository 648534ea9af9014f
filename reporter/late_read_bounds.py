"""The uncertainty of figures where chunks were read late: the ends of each (docs/log.md).

Every value lies between its own ends, so every percentile and every mean lies between those of the least and
of the greatest values: a distribution whose values all grow has no smaller percentile.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from reporter.distribution import BY_TOKEN, COMPLETED, summaries, summaries_by_group, weighted_summary
from reporter.report import MetricBounds
from rulesets.definitions import PERCENTILES
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from reporter.log.database import OpenLog
    from reporter.report import Summary
    from rulesets.definitions import PercentileMethod
    from rulesets.quantity import ValueEnd

METRICS: Final = tuple(metric.name for metric in REQUEST_METRICS if metric.ends)
"""Metrics whose values can be smaller or greater than reported."""

ENDS: Final[tuple[ValueEnd, ...]] = ("low", "high")

_IN_DOUBT: Final = """
    SELECT count(*) FROM requests
    WHERE measured AND status = 'completed' AND (
        late_chunks IS NOT NULL OR sent_high_ns > sent_ns OR first_byte_low_ns < first_byte_ns
    )"""

_LATE_CHUNKS: Final = """
    SELECT count(*) FROM requests WHERE measured AND status = 'completed' AND late_chunks IS NOT NULL"""

_GAPS: Final = """
    SELECT span, {end} AS value, count(*) AS weight
    FROM gap_bounds JOIN ({requests}) USING (sample_uuid)
    GROUP BY ALL
    UNION ALL
    SELECT span, gap_us / 1e3 AS value, count(*) AS weight
    FROM (
        SELECT span, unnest(chunk_gaps_us[2:]) AS gap_us FROM ({requests}) WHERE late_chunks IS NULL
    )
    GROUP BY ALL"""

_COUNTED: Final = "SELECT *, 0 AS span FROM counted WHERE measured AND status = 'completed'"


def column(metric: str, end: ValueEnd | None = None) -> str:
    """The column of `samples` with a metric's values, or with an end of their uncertainty."""
    definition = BY_NAME[metric]
    return definition.end_column(end) if end else definition.column


def gaps(end: ValueEnd, requests: str) -> str:
    """SQL for one end of the times between chunks, `value` in ms, and its `weight`: how often each occurs.

    Args:
        end: `low` or `high`.
        requests: A query of the view `counted`: the requests, with the part of the run of each in `span`.
    """
    return _GAPS.format(end=f"{end}_ms", requests=requests)


def are_in_doubt(log: OpenLog) -> bool:
    """Whether any figure of an opened log is uncertain."""
    ((requests,),) = log.execute(_IN_DOUBT).fetchall()
    return bool(requests)


def bounds(
    log: OpenLog,
    method: PercentileMethod,
    reported: Mapping[str, Summary | None],
    chosen: Mapping[str, Fraction] = PERCENTILES,
    *,
    weighted: bool,
) -> dict[str, MetricBounds]:
    """The ends of the uncertain figures, by the Report's fields; empty where all are exact."""
    if not are_in_doubt(log):
        return {}
    late = _late(log)
    columns = [
        metric.end_column(end) for metric in REQUEST_METRICS for end in metric.ends if metric.name in late
    ]
    ends = {**reported, **(summaries(log, COMPLETED, columns, method, chosen) if columns else {})}
    for end in ENDS:
        if weighted and "tpot" in late:
            of_end = column("tpot", end)
            ends[of_end] = weighted_summary(log, BY_TOKEN.format(column=of_end), method, chosen)
    ends_by_metric = {
        column(name): _bounds(count, *(ends[column(name, end)] for end in ENDS))
        for name, count in late.items()
    }
    if _were_chunks_late(log):
        ends_by_metric[column("itl")] = _bounds(
            None,
            *(weighted_summary(log, gaps(end, _COUNTED), method, chosen) for end in ENDS),
        )
    return {
        name: metric_bounds for name, metric_bounds in ends_by_metric.items() if metric_bounds is not None
    }


def bounds_by_part(
    log: OpenLog, values: str, metrics: Sequence[str], method: PercentileMethod
) -> dict[Any, dict[str, MetricBounds]]:
    """The ends of the figures that are in doubt, by the part of the requests, then by the Report's fields."""
    bounds_of_parts: dict[Any, dict[str, MetricBounds]] = {}
    ends = {metric: [column(metric, end) for end in ENDS] for metric in metrics}
    by_end = summaries_by_group(log, values, list(dict.fromkeys(chain(*ends.values()))), method)
    for metric, both in ends.items():
        late = log.execute(f"SELECT part, {_DOUBTED.format(*both)} {values} GROUP BY part").fetchall()
        for part, count in late:
            if metric_bounds := _bounds(count, *(by_end[end].get(part) for end in both)):
                bounds_of_parts.setdefault(part, {})[column(metric)] = metric_bounds
    return bounds_of_parts


def _bounds(late: int | None, low: Summary | None, high: Summary | None) -> MetricBounds | None:
    """Both ends; None where they do not differ."""
    return None if low is None or high is None or low == high else MetricBounds(late, low, high)


_DOUBTED: Final = "count(*) FILTER ({} < {})"


def _were_chunks_late(log: OpenLog) -> bool:
    """Whether any time between chunks is uncertain."""
    ((requests,),) = log.execute(_LATE_CHUNKS).fetchall()
    return bool(requests)


def _late(log: OpenLog) -> dict[str, int]:
    """The number of requests with an uncertain value, of each metric both of whose ends differ."""
    counts = [
        f"{_DOUBTED.format(*ends)}, count(*) FILTER ({' IS DISTINCT FROM '.join(ends)})"
        for ends in ([column(name, end) for end in ENDS] for name in METRICS)
    ]
    (row,) = log.execute(f"SELECT {', '.join(counts)} {COMPLETED}").fetchall()
    return {name: late for name, late, differ in zip(METRICS, row[::2], row[1::2], strict=True) if differ}
