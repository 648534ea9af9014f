"""The figures of a run in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.figures import figure, whole
from reporter.render.page import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.report import Report


def live_figures(report: Report) -> list[tuple[str, str]]:
    """What the page of a run in progress shows, each with its label."""
    return list(_figures(report))


def _figures(report: Report) -> Iterator[tuple[str, str]]:
    counts, throughput = report.counts, report.throughput
    yield "measured for", f"{report.window.duration_s or 0.0:.0f} s"
    yield "completed", f"{whole(counts.completed)} of {whole(counts.issued)}"
    yield "in flight", whole(counts.in_flight)
    yield "failed", whole(counts.failed)
    for error, count in counts.by_error.items():
        yield f"failed: {clean(error)}", whole(count)
    if throughput.qps is not None:
        yield "requests/s", figure(throughput.qps, 4)
    if throughput.output_tps is not None:
        yield "output tokens/s", figure(throughput.output_tps, 4)
    for name, summary in (("TTFT", report.ttft_ms), ("TPOT", report.tpot_ms)):
        if summary is not None:
            yield f"{name} p50", f"{figure(summary.p50)} ms"
    for score in report.accuracy:
        for name, headline in score.headlines.items():
            yield f"{clean(score.task)} {clean(name)}", f"{headline.value:.4g}"
