"""Probes in a report: how many, and their latencies, which no other figure counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import rows_of
from reporter.number_text import counted, figure
from reporter.report import Finding
from reporter.values.report_section import ReportSection, SectionTable, distributions

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

BY_URL: Final = """\
SELECT endpoint, count(*) AS probes, count(*) FILTER (done) AS completed,
    median(ttft_ms) FILTER (done) AS ttft_p50_ms, quantile_cont(ttft_ms, 0.95) FILTER (done) AS ttft_p95_ms,
    median(latency_ms) FILTER (done) AS latency_p50_ms,
    quantile_cont(latency_ms, 0.95) FILTER (done) AS latency_p95_ms
FROM (SELECT endpoint, status = 'completed' AS done, ttft_ms, latency_ms FROM samples WHERE phase = 'probe')
GROUP BY endpoint
ORDER BY endpoint"""

_URL_COLUMNS: Final = [
    "URL",
    "probes",
    "completed",
    *(f"{name} {percentile} (ms)" for name in ("TTFT", "latency") for percentile in ("p50", "p95")),
]

_LABELS: Final = {
    "ttft_ms": "TTFT (ms)",
    "tpot_ms": "TPOT (ms)",
    "latency_ms": "latency (ms)",
    "latency_from_schedule_ms": "latency, incl. queueing (ms)",
}


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, and a finding on probes that failed."""
    (counts,) = rows_of(log.execute(COUNTS))
    failure = counts.pop("failure")
    shown, tables = distributions("Per probe", _LABELS, rows_of(log.execute(FIGURES)), FIGURES)
    figures: dict[str, Any] = counts | shown
    if report.run.urls:
        tables.append(
            SectionTable(_URL_COLUMNS, [list(row) for row in log.execute(BY_URL).fetchall()], BY_URL)
        )
    line = f"{counted(counts['probes'], 'probe')} during the load, {counts['completed']} completed"
    lines = [line + (f", {counts['cancelled']} given up" if counts["cancelled"] else "")]
    if "ttft_p50_ms" in shown and report.ttft_ms is not None:
        lines.append(
            f"TTFT p50 {figure(shown['ttft_p50_ms'])} ms; of the load {figure(report.ttft_ms.p50)} ms"
        )
    findings = [_failed(counts, failure)] if counts["failed"] else []
    return ReportSection("Probes", lines, tables, figures, COUNTS), findings


def _failed(counts: dict[str, Any], failure: str) -> Finding:
    return Finding(
        "probes_failed",
        "warning",
        f"{counted(counts['failed'], 'probe')} of {counts['probes']} failed ({failure}).",
        "The section has the latencies of the others; figures of the load count no probe.",
    )
