"""Two series compared point by point, as a table for spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.comparison_csv import comparison_rows
from reporter.render.csv_text import as_csv

if TYPE_CHECKING:
    from reporter.compare.point_pairs import SeriesComparison


def render(series: SeriesComparison) -> str:
    """A row for each point, metric and side, as in the table of a comparison, with the point's result."""
    return as_csv(
        {"point": point.name, "result": point.comparison.status, **row}
        for point in series.points
        for row in comparison_rows(point.comparison)
    )
