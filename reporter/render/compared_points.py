"""Two series compared point by point: the table that all formats share, and the formats of text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.contents import metric_statements
from reporter.number_text import NOTHING
from reporter.render import compared
from reporter.render.comparison_files import comparison_rows
from reporter.render.console_page import draw, tables
from reporter.render.csv_text import as_csv
from reporter.render.markdown import safe, table_lines
from reporter.render.table import Column, Mark, Table, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import SeriesComparison
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
            row.metric: "* " * (row.changes[0].finding in _SIGNIFICANT and row.changes[0].by is not None)
            + compared.by(row, row.changes[0].by)
            for row in point.comparison.rows
        }
        status = point.comparison.status
        yield point.name, Mark(status, tone(status)), *(changes.get(name, NOTHING) for name in metrics)


def left_out(series: SeriesComparison) -> list[str]:
    """A sentence for each point that only one series has."""
    return [f"{name} is in one of the series only, and is left out" for name in series.left_out]


def render_csv(series: SeriesComparison) -> str:
    """A row for each point, metric and side, as in the table of a comparison, with the point's result."""
    return as_csv(
        {"point": point.name, "result": point.comparison.status, **row}
        for point in series.points
        for row in comparison_rows(point.comparison)
    )


def render_markdown(series: SeriesComparison) -> str:
    """The comparison; whatever a series or a point was called is text and nothing else."""
    return "\n".join(_markdown_lines(series)) + "\n"


def _markdown_lines(series: SeriesComparison) -> Iterator[str]:
    yield f"### Comparison: {series.worst.comparison.status}"
    yield ""
    yield f"{safe(series.names[1])} vs {safe(series.names[0])}, point by point"
    yield ""
    yield from table_lines(table(series))
    yield ""
    yield from (f"- {safe(line)}" for line in (NOTE, *left_out(series)))
    for point in series.points:
        yield from (f"- {safe(f'{point.name}: {reason}')}" for reason in point.comparison.reasons)


def render(series: SeriesComparison, *, width: int = 100, color: bool = False) -> str:
    """A row per point: the result, and the change of each deciding metric."""
    points = table(series)
    columns = (replace(column, title=column.title.replace(":", "\n", 1)) for column in points.columns)
    shown = tables(replace(points, columns=tuple(columns)), width=width)
    return draw([shown, [Text(NOTE)]], width=width, color=color)
