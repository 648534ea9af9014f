"""A series of runs as Markdown: for the summary of a CI job, or a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.markdown import safe, table_row
from reporter.render.series import SCORE_TITLES, scores, table, titles, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.render.series import SeriesOverview


def render(series: SeriesOverview) -> str:
    """The series; whatever a run was called is text and nothing else."""
    return "\n".join(_lines(series)) + "\n"


def _lines(series: SeriesOverview) -> Iterator[str]:
    status = f": {series.status}" if series.status else ""
    yield f"### {series.kind.capitalize()} {safe(series.name)}{status}"
    yield ""
    yield from _table(titles(series), table(series), words(series))
    if rows := scores(series):
        yield ""
        yield from _table(SCORE_TITLES, rows, 2)
    if lines := [*series.conclusions, *series.notes]:
        yield ""
        yield from (f"- {safe(line)}" for line in lines)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    yield table_row(headings)
    yield table_row("---" if number < left else "---:" for number in range(len(headings)))
    yield from (table_row(map(safe, row)) for row in rows)
