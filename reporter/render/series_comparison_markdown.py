"""Two series compared point by point, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.compared_points import NOTE, left_out, table
from reporter.render.markdown import safe, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.point_pairs import SeriesComparison


def render(series: SeriesComparison) -> str:
    """The comparison; whatever a series or a point was called is text and nothing else."""
    return "\n".join(_lines(series)) + "\n"


def _lines(series: SeriesComparison) -> Iterator[str]:
    yield f"### Comparison: {series.worst.comparison.status}"
    yield ""
    yield f"{safe(series.names[1])} vs {safe(series.names[0])}, point by point"
    yield ""
    yield from table_lines(table(series))
    yield ""
    yield from (f"- {safe(line)}" for line in (NOTE, *left_out(series)))
    for point in series.points:
        yield from (f"- {safe(f'{point.name}: {reason}')}" for reason in point.comparison.reasons)
