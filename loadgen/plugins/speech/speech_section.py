"""Speech and images in a report: real-time factors, first audio, gaps of play-out, images per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import rows_of
from reporter.number_text import counted, figure
from reporter.values.report_section import ReportSection, distributions

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Finding, Report

TOTALS: Final = """\
SELECT count(audio_in_s) AS transcribed, count(audio_out_s) AS spoken, count(images_out) AS image_requests,
    coalesce(sum(images_out), 0)::BIGINT AS images, count(*) FILTER (in_window) AS in_window,
    sum(audio_in_s) FILTER (in_window) AS heard_in_window_s,
    sum(audio_out_s) FILTER (in_window) AS spoken_in_window_s,
    sum(images_out) FILTER (in_window)::BIGINT AS images_in_window
FROM samples JOIN (
    SELECT sample_uuid, audio_in_s, audio_out_s, images_out FROM requests
) USING (sample_uuid)
WHERE measured AND status = 'completed'"""

FIGURES: Final = """\
SELECT figure, avg(value) AS mean, median(value) AS p50, quantile_cont(value, 0.95) AS p95,
    quantile_cont(value, 0.99) AS p99, max(value) AS max
FROM (
    UNPIVOT (
        SELECT
            audio_in_s / (latency_ms / 1e3) AS rtfx,
            latency_ms / 1e3 / audio_out_s AS rtf,
            (first_audio_ns - sent_ns) / 1e6 AS first_audio_ms,
            playout_gap_ms
        FROM samples JOIN (
            SELECT sample_uuid, audio_in_s, audio_out_s, first_audio_ns, playout_gap_ms FROM requests
        ) USING (sample_uuid)
        WHERE measured AND status = 'completed'
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)
GROUP BY figure"""

_LABELS: Final = {
    "rtfx": "RTFx (audio s / latency)",
    "first_audio_ms": "first audio (ms)",
    "rtf": "RTF (latency / audio s)",
    "playout_gap_ms": "play-out gaps (ms)",
}
_RATES: Final = {
    "heard_per_second": ("heard_in_window_s", "seconds of audio transcribed per second"),
    "spoken_per_second": ("spoken_in_window_s", "seconds of speech made per second"),
    "images_per_second": ("images_in_window", "images/s"),
}


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, without findings."""
    (totals,) = rows_of(log.execute(TOTALS))
    # The rate of requests knows which requests of the window count.
    qps, completed = report.throughput.qps, totals.pop("in_window")
    figures: dict[str, Any] = dict(totals)
    for name, (amount, _) in _RATES.items():
        of_window = figures.pop(amount)
        figures[name] = of_window * qps / completed if of_window and qps is not None and completed else None
    shown, tables = distributions("Per request", _LABELS, rows_of(log.execute(FIGURES)), FIGURES)
    figures |= shown
    lines = [
        f"{figure(figures[name])} {unit}" for name, (_, unit) in _RATES.items() if figures[name] is not None
    ]
    if figures["images"]:
        lines.append(
            f"{counted(figures['images'], 'image')} in {counted(figures['image_requests'], 'response')}"
        )
    return ReportSection("Images" if figures["images"] else "Speech", lines, tables, figures, TOTALS), []
