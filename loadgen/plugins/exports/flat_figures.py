"""A report as flat figures with names and units, for trackers, gauges and spreadsheets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, fields
from reporter.report import Summary
from reporter.values.task_score import plain
from rulesets.request_metrics import REQUEST_METRICS
from rulesets.scores import main, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.report import Report

_STATISTICS: Final = ("mean", "std", "min", "p50", "p90", "p95", "p99", "p999", "max")
_COUNTS: Final = (
    *("scheduled", "issued", "completed", "failed", "cancelled", "in_flight", "warmup", "retries"),
    "abandoned",
)
_RATES: Final[Mapping[str, str]] = {
    "qps": "requests/s",
    "output_tps": "tokens/s",
    "total_tps": "tokens/s",
}
_ENERGY: Final[Mapping[str, str]] = {
    "total_joules": "J",
    "window_joules": "J",
    "mean_watts": "W",
    "joules_per_output_token": "J",
    "joules_per_request": "J",
}
_TOKENS: Final = ("input", "output", "reasoning", "cached")


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """One number of a report.

    Attributes:
        name: As in report.json: `ttft_ms`, `output_tps`, `completed`.
        statistic: Of a distribution, such as `p99`; None of a single number.
        value: Finite.
        unit: As people write it; empty for a count or a share.
    """

    name: str
    statistic: str | None
    value: float
    unit: str

    @property
    def key(self) -> str:
        """The name in one word: `ttft_ms_p99`."""
        return self.name if self.statistic is None else f"{self.name}_{self.statistic}"


def figures(report: Report) -> list[ReportedFigure]:
    """Every figure of a report that has a value; the main ones first."""
    return [figure for figure in _figures(report) if math.isfinite(figure.value)]


def _figures(report: Report) -> Iterator[ReportedFigure]:
    yield from _numbers(_RATES, report.throughput)
    yield from _of_the_run(report)
    for metric, unit, summary in summaries(report):
        for statistic in (*_STATISTICS, *summary.percentiles):
            value = summary.percentiles.get(statistic, getattr(summary, statistic, None))
            if value is not None:
                yield ReportedFigure(metric, statistic, value, unit)
    for kind in _TOKENS:
        if (value := getattr(report.tokens, kind)) is not None:
            yield ReportedFigure(f"total_{kind}_tokens", None, value, "tokens")
    yield from _scores(report)
    if report.cost is not None and report.cost.total is not None:
        yield ReportedFigure("cost_usd", None, report.cost.total, "USD")
    if (energy := report.energy) is not None:
        # The source is in the name: what was declared is not compared with what was measured.
        for name, unit in _ENERGY.items():
            if (value := getattr(energy, name)) is not None:
                yield ReportedFigure(f"energy_{energy.source}_{name}", None, value, unit)


def _of_the_run(report: Report) -> Iterator[ReportedFigure]:
    if report.window.duration_s is not None:
        yield ReportedFigure("duration_s", None, report.window.duration_s, "s")
    for count in _COUNTS:
        yield ReportedFigure(count, None, getattr(report.counts, count), "requests")
    if ended := report.counts.completed + report.counts.failed:
        yield ReportedFigure("error_rate", None, report.counts.failed / ended, "")
    yield ReportedFigure("valid", None, int(report.validity.valid), "")
    if report.verdict is not None:
        yield ReportedFigure("verdict_pass", None, int(report.verdict.status == "PASS"), "")


def _scores(report: Report) -> Iterator[ReportedFigure]:
    """The main score of each benchmark and scorer."""
    scores = plain(report.accuracy)
    values = named(scores)
    for name in main(scores):
        if (value := values[name].value) is not None:
            yield ReportedFigure(f"accuracy_{name}", None, value, "")


def summaries(report: Report) -> Iterator[tuple[str, str, Summary]]:
    """The distributions of a report: name in report.json, unit, and distribution."""
    units = {metric.column: metric.unit for metric in REQUEST_METRICS}
    for field in fields(report):
        value = getattr(report, field.name)
        if isinstance(value, Summary):
            yield field.name, units.get(field.name, ""), value


def _numbers(units: Mapping[str, str], values: Any) -> Iterator[ReportedFigure]:
    for name, unit in units.items():
        if (value := getattr(values, name)) is not None:
            yield ReportedFigure(name, None, value, unit)
