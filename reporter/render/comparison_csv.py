"""A comparison as a table for spreadsheets: a row for each metric and side."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reporter.render import compared
from reporter.render.csv_text import as_csv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.comparison import Comparison

_FIGURE: Final = ("value", "low", "high", "n")
_CHANGE: Final = ("by", "low", "high", "p", "adjusted_p", "finding", "fails")


def render(comparison: Comparison) -> str:
    """Figures with intervals, and changes from the first side as shares: 0.03 is 3 % or 3 points."""
    return as_csv(comparison_rows(comparison))


def comparison_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A row for each metric and side; changes are empty on the first side."""
    for row in comparison.rows:
        for index, figure in enumerate(row.figures):
            figures = {} if figure is None else asdict(figure)
            change = asdict(row.changes[index - 1]) if index else {}
            yield {
                "metric": row.metric,
                "unit": row.unit,
                "decides": row.decides,
                "side": compared.label(comparison, index),
                **{name: figures.get(name) for name in _FIGURE},
                **{f"change.{name}": change.get(name) for name in _CHANGE},
            }
