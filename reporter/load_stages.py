"""The stages of a load whose rate changes: their spans, and the requests by stage."""

from __future__ import annotations

import re
from collections import Counter
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.breakdown import By
from reporter.log.sql_files import quoted, sql_file
from reporter.windows.run_spans import SpanRow, span_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.log.database import OpenLog

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
    unit = " in flight" if load.get("kind") == "closed" else "/s"
    named = [_stage(entry) for entry in listed] if listed else _steps(load.get("profile") or "", unit)
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


def _steps(profile: str, unit: str) -> list[tuple[str | None, StageReport]]:
    """Equal steps from one rate to another; the last one goes on."""
    match = _STEPS.fullmatch(profile)
    if match is None:
        return []
    first, last, number, lasts_s = float(match[1]), float(match[2]), int(match[3]), float(match[4])
    edges = [lasts_s * step / number for step in range(number)] + [inf]
    rates = [first + (last - first) * step / max(1, number - 1) for step in range(number)]
    return [
        (None, StageReport(_label(start_s, f"{rate:.10g}", unit), start_s, end_s))
        for rate, start_s, end_s in zip(rates, edges, edges[1:], strict=False)
    ]


def _label(start_s: float, rate: str, unit: str = "/s") -> str:
    return f"from {start_s:.10g} s: {rate}{'' if ':' in rate else unit}"


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


_STAGE_RATES: Final = """\
    SELECT stage AS value, coalesce(sum(completed), 0) AS completions,
        coalesce(sum(output_tokens), 0) AS output_tokens, sum(seconds) AS seconds
    FROM (VALUES {spans}) AS spans(span, stage, seconds)
    LEFT JOIN (
{happenings}
    ) USING (span)
    GROUP BY value"""


def by_stage(log: OpenLog, load: Mapping[str, Any]) -> By | None:
    """Stages by when requests were due, with the completions during each; None without stages."""
    spans = list(stage_spans(log, stages_of(load)))
    if not spans:
        return None
    rows = (
        f"({number}, {quoted(label)}, {span.width_ns / 1e9!r}::DOUBLE)"
        for number, (label, span) in enumerate(spans)
    )
    happenings = sql_file("figures/happenings").strip().rstrip(";")
    number = span_number([span for _, span in spans])
    return By(
        f"[{', '.join(quoted(label) for label, _ in spans)}][span_of(scheduled_ns) + 1]",
        "min(scheduled_ns)",
        _STAGE_RATES.format(spans=", ".join(rows), happenings=happenings),
        "sum(seconds)",
        before=f"CREATE OR REPLACE TEMP MACRO span_of(at_ns) AS {number};\n\n",
    )
