"""A comparison as Markdown: for the summary of a CI job, or a comment on a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render import compared
from reporter.render.markdown import safe, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.comparison import Comparison


def render(comparison: Comparison) -> str:
    """The comparison; whatever a run was called is text and nothing else."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"### Comparison: {comparison.status}"
    yield ""
    yield from (f"- {safe(reason)}" for reason in comparison.reasons)
    sides = range(len(comparison.sides))
    for index in sides:
        yield f"- **{safe(compared.label(comparison, index))}** {safe(compared.side(comparison, index))}"
    for title, rows in compared.families(comparison.rows):
        yield from ("", f"**{title}**", "")
        yield from table_lines(compared.figures_table(comparison, rows, sides))
        for index in sides[1:]:
            yield from ("", *table_lines(compared.changes_table(comparison, rows, index)))
    if comparison.unlike:
        yield from ("", f"**{compared.CONFIGURATION}**", "")
        yield from (f"- {safe(compared.difference_of_runs(mismatch))}" for mismatch in comparison.unlike)
    yield from ("", "**Notes**", "")
    yield from (f"- {safe(note)}" for note in comparison.notes)
