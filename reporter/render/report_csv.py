"""A report as a table for spreadsheets: a row for each figure of the run, and of each part."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

from reporter.render.csv_text import as_csv
from reporter.render.json import rounded
from reporter.report import Summary
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.episodes import Episodes
    from reporter.report import PartReport, Report
    from reporter.values.session_figures import Sessions
    from reporter.values.task_score import TaskScore

_RATES: Final = ("qps", "output_tps", "total_tps")
_COUNTS: Final = ("issued", "completed", "failed", "cancelled")
_STATISTICS: Final = tuple(field.name for field in fields(Summary) if field.name != "percentiles")
_ENERGY: Final = {
    "window_joules": "J",
    "mean_watts": "W",
    "joules_per_output_token": "J",
    "joules_per_request": "J",
}


def render(report: Report) -> str:
    """Columns `part`, `metric`, `statistic`, `value` and `unit`; `part` is empty for the whole run."""
    return as_csv(_rows(report))


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    for name in ("scheduled", *_COUNTS):
        yield _row("", "requests", name, getattr(report.counts, name))
    for error, count in report.counts.by_error.items():
        yield _row("", "errors", error, count)
    yield _row("", "window", "duration", report.window.duration_s, "s")
    for rate in _RATES:
        yield _row("", rate, "value", getattr(report.throughput, rate), BY_NAME[rate].unit)
    yield from _metrics("", report)
    for name, parts in report.breakdown.items():
        for part in parts:
            yield from _part(f"{name}={'' if part.value is None else part.value}", part)
    for score in report.accuracy:
        yield from _score(score)
    if report.energy is not None:
        energy = asdict(report.energy)
        yield from (_row("", "energy", name, energy[name], unit) for name, unit in _ENERGY.items())
    if report.episodes is not None:
        yield from _episodes(report.episodes)
    if report.sessions is not None:
        yield from _sessions(report.sessions)
    yield from _sections(report)


def _episodes(episodes: Episodes) -> Iterator[dict[str, Any]]:
    for ending, count in episodes.endings.items():
        yield _row("episodes", "endings", ending, count)
    for name, statistics in episodes.figures.items():
        unit = "ms" if name.endswith("_ms") else "%" if name.endswith("_pct") else ""
        for statistic, value in asdict(statistics).items():
            yield _row("episodes", name, statistic, value, "" if statistic == "count" else unit)


def _sessions(sessions: Sessions) -> Iterator[dict[str, Any]]:
    for ending, count in sessions.endings.items():
        yield _row("sessions", "endings", ending, count)
    for name, statistics in sessions.figures.items():
        for statistic, value in asdict(statistics).items():
            unit = "ms" if name.endswith("_ms") and statistic != "count" else ""
            yield _row("sessions", name, statistic, value, unit)
    for name, value in asdict(sessions).items():
        if isinstance(value, int | float):
            yield _row("sessions", "total", name, value, "ms" if name.endswith("_ms") else "")


def _sections(report: Report) -> Iterator[dict[str, Any]]:
    for name, section in report.sections.items():
        yield from (_row(name, figure, "value", value) for figure, value in section.figures.items())


def _part(part: str, report: PartReport) -> Iterator[dict[str, Any]]:
    for name in _COUNTS:
        yield _row(part, "requests", name, getattr(report, name))
    for rate in ("qps", "output_tps"):
        yield _row(part, rate, "value", getattr(report, rate), BY_NAME[rate].unit)
    yield from _metrics(part, report)


def _metrics(part: str, report: Report | PartReport) -> Iterator[dict[str, Any]]:
    for metric in REQUEST_METRICS:
        summary: Summary | None = getattr(report, metric.column, None)
        if summary is None:
            continue
        for statistic in _STATISTICS:
            unit = "" if statistic == "count" else metric.unit
            yield _row(part, metric.name, statistic, getattr(summary, statistic), unit)
        for statistic, value in summary.percentiles.items():
            yield _row(part, metric.name, statistic, value, metric.unit)


def _score(score: TaskScore) -> Iterator[dict[str, Any]]:
    part = score.task if score.scorer is None else f"{score.task}, {score.scorer}"
    for name, headline in score.headlines.items():
        interval = headline.interval
        yield _row(part, name, "value", headline.value, headline.unit)
        yield _row(part, name, "low", None if interval is None else interval.low, headline.unit)
        yield _row(part, name, "high", None if interval is None else interval.high, headline.unit)
    for name in ("issued", "scored", "unparsed", "missing", "unscored"):
        yield _row(part, "samples", name, getattr(score, name))


def _row(part: str, metric: str, statistic: str, value: float | None, unit: str = "") -> dict[str, Any]:
    shown = rounded(value) if isinstance(value, float) else value
    return {"part": part, "metric": metric, "statistic": statistic, "value": shown, "unit": unit}
