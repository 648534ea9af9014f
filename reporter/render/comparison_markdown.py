"""A comparison as Markdown: for the summary of a CI job, or a comment on a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render import compared
from reporter.render.markdown import safe, table_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import Comparison


def render(comparison: Comparison) -> str:
    """The comparison; whatever a run was called is text and nothing else."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"### Comparison: {comparison.status}"
    yield ""
    yield from (f"- {safe(reason)}" for reason in comparison.reasons)
    sides = range(len(comparison.sides))
    labels = [safe(compared.label(comparison, index)) for index in sides]
    yield from (f"- **{labels[index]}** {safe(compared.side(comparison, index))}" for index in sides)
    for title, rows in compared.families(comparison.rows):
        yield from ("", f"**{title}**", "")
        yield from _table(["metric", *labels], list(compared.figures(rows, sides)))
        for index in sides[1:]:
            yield from ("", safe(compared.change_of(comparison, index)), "")
            yield from _table(compared.TITLES, [compared.cells(comparison, row, index) for row in rows])
    if comparison.unlike:
        yield from ("", f"**{compared.CONFIGURATION}**", "")
        yield from (f"- {safe(compared.difference_of_runs(mismatch))}" for mismatch in comparison.unlike)
    yield from ("", "**Notes**", "")
    yield from (f"- {safe(note)}" for note in comparison.notes)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield table_row(titles)
    yield table_row("---" if title in {"metric", "finding"} else "---:" for title in titles)
    yield from (table_row(map(safe, row)) for row in rows)
