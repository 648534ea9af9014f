"""Two series compared point by point, as a table for the console."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from reporter.render.compared_points import NOTE, table
from reporter.render.console_page import draw, tables

if TYPE_CHECKING:
    from reporter.compare.point_pairs import SeriesComparison


def render(series: SeriesComparison, *, width: int = 100, color: bool = False) -> str:
    """A row per point: the result, and the change of each deciding metric."""
    points = table(series)
    columns = (replace(column, title=column.title.replace(":", "\n", 1)) for column in points.columns)
    shown = tables(replace(points, columns=tuple(columns)), width=width)
    return draw([shown, [Text(NOTE)]], width=width, color=color)
