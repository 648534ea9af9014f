"""A comparison as tables for the console: every metric side by side, and the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render import compared
from reporter.render.page import Column, block, clean, draw, grid, sentence, text
from reporter.render.verdict import STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.compare.comparison import Comparison, ComparisonRow

_WORDS: Final = frozenset({"metric", "finding"})
_RANKS: Final = {"p": 2, "min. detectable change": 3}
_GAP: Final = 2
_FINDING: Final = 15
"""The least width of a finding: its words fold."""

_FINDINGS: Final = {"better": "green", "worse": "yellow", "different": "yellow", "in doubt": "yellow"}


def render(comparison: Comparison, *, width: int = 100, color: bool = False, verbose: bool = True) -> str:
    """A comparison as lines of text.

    Args:
        comparison: What to show.
        width: Columns of the page; at least 40.
        color: Whether to use ANSI colors.
        verbose: Whether to show all other metrics.
    """
    return draw(_page(comparison, width, verbose=verbose), width=width, color=color)


def _page(comparison: Comparison, width: int, *, verbose: bool) -> Iterator[Sequence[RenderableType]]:
    status = Text(comparison.status, STYLES.get(comparison.status, "bold yellow"))
    sides = range(len(comparison.sides))
    yield [
        block(
            "Result", sentence(status, _headline(comparison), separator="   "), *map(text, comparison.reasons)
        ),
        block("Runs", *(_side(comparison, index) for index in sides)),
    ]
    if comparison.unlike:
        lines = (text(compared.difference_of_runs(mismatch)) for mismatch in comparison.unlike)
        yield [Text(compared.CONFIGURATION, "bold yellow"), *lines]
    for title, rows in compared.families(comparison.rows, verbose=verbose):
        for number, some in enumerate(_fitting(comparison, rows, width)):
            yield [*([] if number else [Text(title, "bold")]), _figures(comparison, rows, some, width)]
        for index in sides[1:]:
            yield [
                text(compared.change_of(comparison, index), "bold"),
                _differences(comparison, rows, index, width),
            ]
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
    lines = list(compared.figures(rows, sides))
    metric = max(len(line[0]) for line in lines)
    figure = max(len(cell) for line in lines for cell in line[1:])
    column = max(figure, *(len(compared.label(comparison, index)) for index in sides)) + _GAP
    at_once = max(1, (width - metric) // column)
    yield from (sides[first : first + at_once] for first in range(0, len(sides), at_once))


def _figures(
    comparison: Comparison, rows: Sequence[ComparisonRow], sides: Sequence[int], width: int
) -> RenderableType:
    columns = [
        Column("metric", justify="left"),
        *(Column(clean(compared.label(comparison, index))) for index in sides),
    ]
    lines = [[_indented(line[0]), *map(text, line[1:])] for line in compared.figures(rows, sides)]
    return grid(columns, lines, width=width)


def _indented(name: str) -> Text:
    """A name with leading blanks, which mark a row as a part of the row above."""
    return Text(" " * (len(name) - len(name.lstrip()))) + text(name)


def _differences(
    comparison: Comparison, rows: Sequence[ComparisonRow], index: int, width: int
) -> RenderableType:
    columns = [
        Column(
            title,
            rank=_RANKS.get(title, 0),
            justify="left" if title in _WORDS else "right",
            folds=title == "finding",
            least=_FINDING,
        )
        for title in compared.TITLES
    ]
    return grid(columns, [_row(comparison, row, index) for row in rows], width=width)


def _row(comparison: Comparison, row: ComparisonRow, index: int) -> list[Text]:
    change = row.changes[index - 1]
    style = "bold red" if change.fails else _FINDINGS.get(change.finding, "")
    cells = zip(compared.TITLES, compared.cells(comparison, row, index), strict=True)
    return [text(cell, style if title == "finding" else "") for title, cell in cells]
