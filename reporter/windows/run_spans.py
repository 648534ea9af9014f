"""The run moment by moment: at most about 200 spans of a round width, in every segment separately."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final

from reporter.distribution import summaries_by_group
from reporter.log.database import rows_of
from reporter.log.sql_files import sql_file
from reporter.report import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


_STEPS: Final = re.compile(r"steps:([\d.e+-]+)\.\.([\d.e+-]+)x(\d+),([\d.e+-]+)s")


@dataclass(frozen=True, slots=True)
class StageReport:
    """A part of the load's plan.

    Attributes:
        label: What it is called: by its name, or by when it begins and its rate.
        start_s: When it begins, from the start of the performance phase.
        end_s: When it is over; infinite for what lasts as long as the run.
    """

    label: str
    start_s: float
    end_s: float


def stages_of(load: Mapping[str, Any]) -> Sequence[StageReport]:
    """The stages of the settings' load; none where the rate does not change, or changes all the time."""
    listed = load.get("stages")
    named = [_stage(entry) for entry in listed] if listed else _steps(load.get("profile") or "")
    stages_with_labels = [
        (name, stage) for name, stage in named if isfinite(stage.start_s) and stage.start_s < stage.end_s
    ]
    times = Counter(name for name, _ in stages_with_labels)
    return [
        StageReport(name, stage.start_s, stage.end_s) if name and times[name] == 1 else stage
        for name, stage in stages_with_labels
    ]


def _stage(entry: Mapping[str, Any]) -> tuple[str | None, StageReport]:
    start_s, lasts_s = entry.get("start_s") or 0.0, entry.get("duration_s") or 0.0
    return entry.get("name"), StageReport(
        _label(start_s, entry.get("rate") or "?"), start_s, start_s + lasts_s
    )


def _steps(profile: str) -> list[tuple[str | None, StageReport]]:
    """Equal steps from one rate to another; the last one goes on."""
    match = _STEPS.fullmatch(profile)
    if match is None:
        return []
    first, last, number, lasts_s = float(match[1]), float(match[2]), int(match[3]), float(match[4])
    edges = [lasts_s * step / number for step in range(number)] + [inf]
    rates = [first + (last - first) * step / max(1, number - 1) for step in range(number)]
    return [
        (None, StageReport(_label(start_s, f"{rate:.10g}"), start_s, end_s))
        for rate, start_s, end_s in zip(rates, edges, edges[1:], strict=False)
    ]


def _label(start_s: float, rate: str) -> str:
    return f"from {start_s:.10g} s: {rate}{'' if ':' in rate else '/s'}"


def stage_spans(log: OpenLog, stages: Sequence[StageReport]) -> Iterator[tuple[str, SpanRow]]:
    """The span of each stage, by label: a segment continues where the previous segment left the plan."""
    gone_ns = 0
    for segment in log.timelines if stages else ():
        if segment.issuing is None:
            continue
        started_ns, ended_ns = segment.issuing
        until_ns = gone_ns + ended_ns - started_ns
        for stage in stages:
            start_ns, end_ns = (
                started_ns - gone_ns + round(min(max(gone_ns, edge_s * 1e9), until_ns))
                for edge_s in (stage.start_s, stage.end_s)
            )
            if start_ns < end_ns:
                yield stage.label, SpanRow(start_ns, start_ns, end_ns - start_ns)
        gone_ns = until_ns


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
