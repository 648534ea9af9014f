"""The figures of another program, of an imported run without records of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.imported import figures_of
from reporter.json_values import members, number
from reporter.number_text import NOTHING, decimals, fixed, whole
from reporter.render.table import Column, Table
from rulesets.metric_table import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report

_STATISTICS: Final = ("mean", "p50", "p90", "p95", "p99", "max")
_COLUMNS: Final = (
    Column("milliseconds, tokens", justify="left"),
    *(Column(name, 1) for name in (*_STATISTICS, "n")),
)


def table(report: Report) -> Table | None:
    """A row for each metric of the file; None for runs of this program."""
    own = figures_of(report.run.imported)
    metrics = [metric for metric in BY_NAME.values() if members(own.get(metric.column))]
    rows = tuple(
        (metric.label or metric.name.replace("_", " ").capitalize(), *_cells(members(own[metric.column])))
        for metric in metrics
    )
    return Table(_COLUMNS, rows) if rows else None


def _cells(summary: Mapping[str, Any]) -> list[str]:
    values = {name: number(summary.get(name)) for name in _STATISTICS}
    places = decimals(next((value for value in values.values() if value), 0.0))
    count = number(summary.get("count"))
    shown = [NOTHING if value is None else fixed(value, places) for value in values.values()]
    return [*shown, NOTHING if count is None else whole(round(count))]
