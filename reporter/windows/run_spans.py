"""The run moment by moment: at most about 200 spans of a round width, in every segment separately."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.distribution import summaries_by_group
from reporter.log.database import rows_of
from reporter.log.sql_files import sql_file
from reporter.report import Moment

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
        segment,
        coalesce(
            least(any_value(windows.start_ns), min(scheduled_ns) FILTER (measured)),
            min(issued_ns)
        ) AS origin_ns,
        min(least(scheduled_ns, issued_ns)) AS first_ns,
        greatest(max(issued_ns), max(ended_ns)) AS last_ns,
        count(*) AS requests
    FROM requests LEFT JOIN windows USING (segment)
    WHERE issued_ns IS NOT NULL
    GROUP BY segment
    ORDER BY segment"""


def over_time(log: OpenLog, method: PercentileMethod) -> list[Moment]:
    """Cut a run into moments.

    One width, 1, 2 or 5 times a power of ten, serves all segments; it is counted from the start of each
    one's window, or from when its first request was due, where that was before; and it is not shorter than
    1 ms. A run of few requests is cut into fewer moments.
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
    by_metric = summaries_by_group(log, _OF.format(span_of=span_of), ("ttft_ms", "latency_ms"), method)
    return _moments(starts, width_ns / 1e9, happened, by_metric["ttft_ms"], by_metric["latency_ms"])


_OF: Final = """
    FROM (SELECT {span_of}(issued_ns) AS part, status, ttft_ms, latency_ms FROM samples)
    WHERE status = 'completed'"""


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
                segment=segment,
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


@dataclass(frozen=True, slots=True)
class SpanRow:
    """Consecutive spans of one width.

    Attributes:
        since_ns: What was before is in none of them.
        start_ns: Where the first begins; no later than that.
        width_ns: How long each is.
        count: How many there are.
    """

    since_ns: int
    start_ns: int
    width_ns: int
    count: int = 1


def happenings(log: OpenLog, rows: Sequence[SpanRow]) -> Mapping[int, Mapping[str, Any]]:
    """The event counts of each span (`reporter/sql/figures/happenings.sql`); spans without events are absent.

    Args:
        log: An opened log.
        rows: The spans, numbered from 0 through all rows. A row is over where a later one begins.
    """
    macro = span_macro(log, rows)
    answer = log.execute(sql_file("figures/happenings").replace("span_of(", f"{macro}("))
    return {happened["span"]: happened for happened in rows_of(answer)}


def span_macro(log: OpenLog, rows: Sequence[SpanRow]) -> str:
    """The name of an SQL macro that gives the number of the span that a moment is in, NULL outside of all.

    Its name is made of the spans, so that each has the same meaning whatever else was asked of the log.
    """
    number = span_number(rows)
    name = f"span_of_{sha256(number.encode()).hexdigest()[:16]}"
    log.execute(f"CREATE TEMP MACRO IF NOT EXISTS {name}(at_ns) AS {number}")
    return name


def span_number(rows: Sequence[SpanRow]) -> str:
    """The SQL for the number of the span that `at_ns` is in."""
    cases, first = [], 0
    for row in rows:
        end_ns = row.start_ns + row.count * row.width_ns
        cases.append(
            f"WHEN at_ns >= {row.since_ns:d} AND at_ns < {end_ns:d} "
            f"THEN {first:d} + (at_ns - {row.start_ns:d}) // {row.width_ns:d}"
        )
        first += row.count
    return f"CASE {' '.join(reversed(cases))} END" if cases else "NULL::BIGINT"
