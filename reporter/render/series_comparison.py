"""Two series compared point by point, as a table for the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from reporter.render.compared_points import NOTE, rows, titles
from reporter.render.page import Column, draw, grid, text

if TYPE_CHECKING:
    from reporter.compare.points import SeriesComparison


def render(series: SeriesComparison, *, width: int = 100, color: bool = False) -> str:
    """A row per point: the result, and the change of each deciding metric.

    Args:
        series: What to show.
        width: Columns of the page; at least 40.
        color: Whether to use ANSI colors.
    """
    point, result, *metrics = titles(series)
    columns = [
        Column(point, justify="left", folds=True),
        Column(result, justify="left"),
        *(Column(metric.replace(":", "\n", 1), rank) for rank, metric in enumerate(metrics)),
    ]
    cells = [list(map(text, row)) for row in rows(series)]
    return draw([[grid(columns, cells, width=width)], [Text(NOTE)]], width=width, color=color)
