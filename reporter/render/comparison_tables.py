"""A comparison as tables for the console: every metric side by side, and the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render import compared
from reporter.render.console_page import STYLES, block, draw, sentence, styled, tables, text
from reporter.render.table import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.compare.comparison import Comparison, ComparisonRow

_GAP: Final = 2


def render(comparison: Comparison, *, width: int = 100, color: bool = False, verbose: bool = True) -> str:
    """A comparison as lines of text."""
    return draw(_page(comparison, width, verbose=verbose), width=width, color=color)


def _page(comparison: Comparison, width: int, *, verbose: bool) -> Iterator[Sequence[RenderableType]]:
    status = styled(comparison.status)
    sides = range(len(comparison.sides))
    yield [
        block(
            "Result", sentence(status, _headline(comparison), separator="   "), *map(text, comparison.reasons)
        ),
        block("Runs", *(_side(comparison, index) for index in sides)),
    ]
    if comparison.unlike:
        lines = (text(compared.difference_of_runs(mismatch)) for mismatch in comparison.unlike)
        yield [Text(compared.CONFIGURATION, STYLES["doubt"]), *lines]
    for title, rows in compared.families(comparison.rows, verbose=verbose):
        for number, some in enumerate(_fitting(comparison, rows, width)):
            figures = compared.figures_table(comparison, rows, some)
            yield [*([] if number else [Text(title, "bold")]), *tables(figures, width=width)]
        for index in sides[1:]:
            changes = compared.changes_table(comparison, rows, index)
            yield tables(changes, width=width, style="bold")
    hidden = sum(len(rows) for _, rows in compared.families(comparison.rows)) - sum(
        len(rows) for _, rows in compared.families(comparison.rows, verbose=verbose)
    )
    more = [f"{hidden} more metrics: --verbose"] if hidden else []
    yield [block("Notes", *map(text, (*comparison.notes, *more)))]


def _side(comparison: Comparison, index: int) -> Text:
    return text(f"{compared.label(comparison, index)}  {compared.side(comparison, index)}".rstrip())


def _headline(comparison: Comparison) -> str:
    """How many of the changes of primary metrics are significant."""
    changes = [change for row in comparison.rows if row.decides for change in row.changes]
    significant = [change for change in changes if change.finding in {"better", "worse", "different"}]
    worse = sum(change.finding == "worse" for change in significant)
    tested = sum(change.p is not None for change in changes)
    if not significant:
        return f"no significant difference in {tested} tests" if tested else "nothing tested"
    return f"{len(significant)} of {tested} tested changes significant, {worse} for the worse"


def _fitting(comparison: Comparison, rows: Sequence[ComparisonRow], width: int) -> Iterator[Sequence[int]]:
    """The sides, as many at a time as fit next to each other."""
    sides = range(len(comparison.sides))
    table = compared.figures_table(comparison, rows, sides)
    lines = [[column.title for column in table.columns], *(map(plain, row) for row in table.rows)]
    metric, *widths = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    column = max(widths) + _GAP
    at_once = max(1, (width - metric) // column)
    yield from (sides[first : first + at_once] for first in range(0, len(sides), at_once))
