"""The table of two series compared point by point, which all formats share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.contents import metric_statements
from reporter.number_text import NOTHING
from reporter.render import compared
from reporter.render.table import Column, Mark, Table, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.point_pairs import SeriesComparison
    from reporter.render.table import Cell

NOTE: Final = "Changes of the second series from the first; * is significant, each point by itself."
_SIGNIFICANT: Final = frozenset({"better", "worse", "different"})


def table(series: SeriesComparison) -> Table:
    """A row per point: name, result, and the change of each metric that decides."""
    metrics = list(
        dict.fromkeys(row.metric for point in series.points for row in point.comparison.rows if row.decides)
    )
    columns = (
        Column("point", justify="left", folds=True),
        Column("result", justify="left"),
        *(Column(metric, rank) for rank, metric in enumerate(metrics)),
    )
    return Table(columns, tuple(_rows(series, metrics)), sql=metric_statements.figures(metrics))


def _rows(series: SeriesComparison, metrics: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for point in series.points:
        changes = {
            row.metric: compared.by(row, row.changes[0].by)
            + "*" * (row.changes[0].finding in _SIGNIFICANT and row.changes[0].by is not None)
            for row in point.comparison.rows
        }
        status = point.comparison.status
        yield point.name, Mark(status, tone(status)), *(changes.get(name, NOTHING) for name in metrics)


def left_out(series: SeriesComparison) -> list[str]:
    """A sentence for each point that only one series has."""
    return [f"{name} is in one of the series only, and is left out" for name in series.left_out]
