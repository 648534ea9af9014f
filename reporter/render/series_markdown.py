"""A series of runs as Markdown: for the summary of a CI job, or a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.markdown import safe, table_lines
from reporter.render.series_overview import scores, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.render.series_overview import SeriesOverview


def render(series: SeriesOverview) -> str:
    """The series; whatever a run was called is text and nothing else."""
    return "\n".join(_lines(series)) + "\n"


def _lines(series: SeriesOverview) -> Iterator[str]:
    status = f": {series.status}" if series.status else ""
    yield f"### {series.kind.capitalize()} {safe(series.name)}{status}"
    yield ""
    yield from table_lines(table(series))
    if (of_scores := scores(series)).rows:
        yield from ("", *table_lines(of_scores))
    if lines := [*series.conclusions, *series.notes]:
        yield ""
        yield from (f"- {safe(line)}" for line in lines)
