"""The figures of another program, of an imported run without records of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reporter.json_values import members, number
from reporter.number_text import NOTHING, decimals, fixed, whole
from reporter.render.page import Column, grid
from rulesets.metric_table import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from reporter.report import Report

_STATISTICS: Final = {"mean": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max"}
COLUMNS: Final = ("milliseconds, tokens", *_STATISTICS.values(), "n")


def figures(report: Report) -> Mapping[str, Any]:
    """The figures of the other load generator; empty for runs of this program."""
    return members(members(report.run.imported).get("figures"))


def rows(report: Report) -> list[tuple[str, ...]]:
    """A row for each metric of the file."""
    own = figures(report)
    metrics = [metric for metric in BY_NAME.values() if members(own.get(metric.column))]
    return [
        (metric.label or metric.name.replace("_", " ").capitalize(), *_cells(members(own[metric.column])))
        for metric in metrics
    ]


def _cells(summary: Mapping[str, Any]) -> list[str]:
    values = {name: number(summary.get(name)) for name in _STATISTICS}
    places = decimals(next((value for value in values.values() if value), 0.0))
    count = number(summary.get("count"))
    shown = [NOTHING if value is None else fixed(value, places) for value in values.values()]
    return [*shown, NOTHING if count is None else whole(round(count))]


def section(report: Report, *, width: int) -> Sequence[RenderableType]:
    """The table for the console; empty for runs of this program."""
    lines = [list(map(Text, row)) for row in rows(report)]
    if not lines:
        return []
    first, *others = COLUMNS
    columns = [Column(first, justify="left"), *(Column(name, 1) for name in others)]
    return [grid(columns, lines, width=width)]
