"""The run moment by moment: at most about 200 spans of a round width, in every segment separately."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from reporter.groups import summaries_by_group
from reporter.report import Moment
from reporter.windows.spans import SpanRow, happenings, span_macro

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Summary
    from rulesets.definitions import PercentileMethod

MOST_MOMENTS: Final = 200
FEWEST_MOMENTS: Final = 20
_LEAST_NS: Final = 1_000_000

_SEGMENTS: Final = """
    SELECT
        sitting,
        coalesce(
            least(any_value(windows.start_ns), min(scheduled_ns) FILTER (measured)),
            min(issued_ns)
        ) AS origin_ns,
        min(least(scheduled_ns, issued_ns)) AS first_ns,
        greatest(max(issued_ns), max(ended_ns)) AS last_ns,
        count(*) AS requests
    FROM requests LEFT JOIN windows USING (sitting)
    WHERE issued_ns IS NOT NULL
    GROUP BY sitting
    ORDER BY sitting"""


def over_time(log: OpenLog, method: PercentileMethod) -> list[Moment]:
    """Cut a run into moments.

    One width, 1, 2 or 5 times a power of ten, serves all segments; it is counted from the start of each
    one's window, or from when its first request was due, where that was before; and it is not shorter than
    1 ms. A run of few requests is cut into fewer moments.

    Args:
        log: An opened log.
        method: How percentiles are taken.
    """
    segments = log.execute(_SEGMENTS).fetchall()
    if not segments:
        return []
    limit = min(max(sum(requests for *_, requests in segments), FEWEST_MOMENTS), MOST_MOMENTS)
    width_ns = _round_width(sum(last - first for _, _, first, last, _ in segments) // limit + 1)
    rows, starts = [], []
    for segment, origin_ns, first_ns, last_ns, _ in segments:
        before = (first_ns - origin_ns) // width_ns
        spans = (last_ns - origin_ns) // width_ns + 1 - before
        rows.append(SpanRow(first_ns, origin_ns + before * width_ns, width_ns, spans))
        starts += [(segment, (before + number) * width_ns / 1e9) for number in range(spans)]
    happened, span_of = happenings(log, rows), span_macro(log, rows)
    ttft, latency = (
        summaries_by_group(log, f"SELECT {span_of}(issued_ns) AS part, {metric} AS value {_OF}", method)
        for metric in ("ttft_ms", "latency_ms")
    )
    return _moments(starts, width_ns / 1e9, happened, ttft, latency)


_OF: Final = "FROM samples WHERE status = 'completed'"


def _round_width(least_ns: int) -> int:
    """The least of 1, 2, 5, 10, 20, … ms that is not shorter."""
    widths = (digit * 10**zeros * _LEAST_NS for zeros in count() for digit in (1, 2, 5))
    return next(int(width) for width in widths if width >= least_ns)


def _moments(
    starts: Sequence[tuple[int, float]],
    width_s: float,
    happened: Mapping[int, Mapping[str, Any]],
    ttft: Mapping[int, Summary],
    latency: Mapping[int, Summary],
) -> list[Moment]:
    nothing = dict.fromkeys(("scheduled", "issued", "completed", "failed", "cancelled", "ended"), 0)
    moments, in_flight = [], Counter[int]()
    for span, (segment, start_s) in enumerate(starts):
        amounts = happened.get(span, {**nothing, "output_tokens": 0.0})
        in_flight[segment] += amounts["issued"] - amounts["ended"]
        first, whole = ttft.get(span), latency.get(span)
        moments.append(
            Moment(
                sitting=segment,
                start_s=start_s,
                duration_s=width_s,
                **{name: amounts[name] for name in nothing if name != "ended"},
                in_flight=in_flight[segment],
                offered_qps=amounts["scheduled"] / width_s,
                qps=amounts["completed"] / width_s,
                output_tps=amounts["output_tokens"] / width_s,
                answered=whole.count if whole else 0,
                ttft_mean_ms=first.mean if first else None,
                ttft_p50_ms=first.p50 if first else None,
                ttft_p99_ms=first.p99 if first else None,
                latency_mean_ms=whole.mean if whole else None,
                latency_p50_ms=whole.p50 if whole else None,
                latency_p99_ms=whole.p99 if whole else None,
            ),
        )
    return moments
