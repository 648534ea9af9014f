"""Probes in a report: how many, and their latencies, which no other figure counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import counted, figure
from reporter.report import Finding
from reporter.values.report_section import ReportSection, SectionTable

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report

COUNTS: Final = """\
SELECT count(*) AS probes, count(*) FILTER (status = 'completed') AS completed,
    count(*) FILTER (status = 'failed') AS failed, count(*) FILTER (status = 'cancelled') AS cancelled,
    any_value(error) FILTER (status = 'failed') AS failure
FROM samples
WHERE phase = 'probe'"""

FIGURES: Final = """\
SELECT figure, avg(value) AS mean, median(value) AS p50, quantile_cont(value, 0.95) AS p95,
    quantile_cont(value, 0.99) AS p99, max(value) AS max
FROM (
    UNPIVOT (
        SELECT ttft_ms, tpot_ms, latency_ms, latency_from_schedule_ms
        FROM samples
        WHERE phase = 'probe' AND status = 'completed'
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)
GROUP BY figure"""

_LABELS: Final = {
    "ttft_ms": "TTFT (ms)",
    "tpot_ms": "TPOT (ms)",
    "latency_ms": "latency (ms)",
    "latency_from_schedule_ms": "latency, incl. queueing (ms)",
}
_STATISTICS: Final = ("mean", "p50", "p95", "p99", "max")


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, and a finding on probes that failed."""
    (counts,) = _rows(log, COUNTS)
    failure = counts.pop("failure")
    by_figure = {row["figure"]: row for row in _rows(log, FIGURES)}
    figures: dict[str, Any] = dict(counts)
    for name, row in by_figure.items():
        figures |= {f"{name.removesuffix('_ms')}_{stat}_ms": row[stat] for stat in _STATISTICS}
    line = f"{counted(counts['probes'], 'probe')} during the load, {counts['completed']} completed"
    lines = [line + (f", {counts['cancelled']} given up" if counts["cancelled"] else "")]
    if (ttft := by_figure.get("ttft_ms")) and report.ttft_ms is not None:
        lines.append(f"TTFT p50 {figure(ttft['p50'])} ms; of the load {figure(report.ttft_ms.p50)} ms")
    rows = [
        [label, *(by_figure[name][stat] for stat in _STATISTICS)]
        for name, label in _LABELS.items()
        if name in by_figure
    ]
    tables = [SectionTable(["Per probe", *_STATISTICS], rows, FIGURES)] if rows else []
    findings = [_failed(counts, failure)] if counts["failed"] else []
    return ReportSection("Probes", lines, tables, figures, COUNTS), findings


def _failed(counts: dict[str, Any], failure: str) -> Finding:
    return Finding(
        "probes_failed",
        "warning",
        f"{counted(counts['failed'], 'probe')} of {counts['probes']} failed ({failure}).",
        "The section has the latencies of the others; figures of the load count no probe.",
    )


def _rows(log: OpenLog, sql: str) -> list[dict[str, Any]]:
    answer = log.execute(sql)
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
