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
from reporter.render.table import Column, Mark, Table, plain, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import ComparisonRow, MetricChange, SeriesComparison
    from reporter.render.table import Cell

_NOTE: Final = "Changes of the second series from the first; * is significant, each point by itself"
_UNDECIDING: Final = "; a metric in brackets decides nothing at that point"
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
            row.metric: _change(row, row.changes[0])
            for row in point.comparison.rows
            if row.changes[0].by is not None
        }
        status = point.comparison.status
        yield point.name, Mark(status, tone(status)), *(changes.get(name, NOTHING) for name in metrics)


def _change(row: ComparisonRow, change: MetricChange) -> Cell:
    shown = f"{'* ' if change.finding in _SIGNIFICANT else ''}{compared.by(row, change.by)}"
    return Mark(shown, "bad") if change.fails else shown if row.decides else f"[{shown}]"


def note(series: SeriesComparison) -> str:
    """The meaning of the table's marks."""
    cells = (plain(cell) for row in table(series).rows for cell in row[2:])
    return f"{_NOTE}{_UNDECIDING if any(cell.startswith('[') for cell in cells) else ''}."


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
    yield from (f"- {safe(line)}" for line in (note(series), *left_out(series)))
    for point in series.points:
        yield from (f"- {safe(f'{point.name}: {reason}')}" for reason in point.comparison.reasons)


def render(series: SeriesComparison, *, width: int = 100, color: bool = False) -> str:
    """A row per point: the result, and the change of each deciding metric."""
    points = table(series)
    columns = (replace(column, title=column.title.replace(":", "\n", 1)) for column in points.columns)
    shown = tables(replace(points, columns=tuple(columns)), width=width)
    return draw([shown, [Text(note(series))]], width=width, color=color)
