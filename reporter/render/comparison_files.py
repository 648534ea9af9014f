"""A comparison of runs as JSON, as CSV and as Markdown."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import orjson

from reporter.render import compared
from reporter.render.csv_text import as_csv
from reporter.render.json import printable
from reporter.render.markdown import safe, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.comparison import Comparison, SeriesComparison

_FIGURE: Final = ("value", "low", "high", "n")
_CHANGE: Final = ("by", "low", "high", "p", "adjusted_p", "finding", "fails")


def render_csv(comparison: Comparison) -> str:
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


def render_json(comparison: Comparison | SeriesComparison) -> str:
    """Every side, metric and change, of each point, two spaces a level."""
    content = orjson.dumps(comparison.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return printable(content.decode())


def render_markdown(comparison: Comparison) -> str:
    """The comparison; whatever a run was called is text and nothing else."""
    return "\n".join(_markdown_lines(comparison)) + "\n"


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
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
