"""A report so far in one line, for a file or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.number_text import figure, whole
from reporter.render.console_page import clean

if TYPE_CHECKING:
    from reporter.report import Report


def line(report: Report) -> str:
    """How far, how fast, how well, in one line."""
    counts, window = report.counts, report.window
    first_error = f" ({clean(next(iter(counts.by_error)))})" if counts.by_error else ""
    parts = [
        clean(report.run.ended),
        f"{window.duration_s or 0.0:.0f} s",
        f"{whole(counts.completed)} of {whole(counts.issued)} completed",
        f"{whole(counts.in_flight)} in flight",
        f"{whole(counts.failed)} failed{first_error}",
    ]
    if report.nodes and (without := sum(node.state == "missing" for node in report.nodes.each)):
        parts.append(f"without {without} of {len(report.nodes.each)} nodes")
    if report.throughput.qps is not None:
        parts.append(f"{figure(report.throughput.qps, 4)} req/s")
    for name, summary in (("TTFT", report.ttft_ms), ("latency", report.latency_ms)):
        if summary is not None:
            parts.append(f"{name} p50 {figure(summary.p50)} p99 {figure(summary.p99)} ms")
    return "  ".join(parts)
