"""A series of runs as a table for spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.render.csv_text import as_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.render.series_overview import SeriesOverview


def render(series: SeriesOverview) -> str:
    """A row per run, with every figure and score."""
    return series_as_csv(series.rows)


def series_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of a series: the axes first, a list in one cell."""
    return as_csv(map(_flat, rows))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of plain cells: a list in one cell, and for each score the value, interval and n."""
    plain = {name: value for name, value in row.items() if name not in {"axes", "scores"}}
    cells = {
        name: "; ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in {**row["axes"], **plain}.items()
    }
    for score in row.get("scores", ()):
        name = f"score.{score['name']}"
        cells |= {name: score["value"], f"{name}.low": score["low"], f"{name}.high": score["high"]}
        cells |= {f"{name}.n": score["n"], f"{name}.unscored": score["unscored"]}
    return cells
