"""A comparison as tables that a person reads: every metric side by side, and what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render import compared
from reporter.render.page import Column, block, draw, grid, sentence, text
from reporter.render.verdict import STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.compare.comparison import Comparison, Row

_WORDS: Final = frozenset({"metric", "finding"})
_RANKS: Final = {"interval": 1, "p": 2, "could see": 3}
_GAP: Final = 2

_FINDINGS: Final = {"better": "green", "worse": "yellow", "different": "yellow"}


def render(comparison: Comparison, *, width: int = 100, color: bool = False) -> str:
    """A comparison as lines of text.

    Args:
        comparison: What to tell.
        width: Columns of the page; at least 40.
        color: Whether to use ANSI colours.
    """
    return draw(_page(comparison, width), width=width, color=color)


def _page(comparison: Comparison, width: int) -> Iterator[Sequence[RenderableType]]:
    status = Text(comparison.status, STYLES.get(comparison.status, "bold yellow"))
    sides = range(len(comparison.sides))
    yield [
        block(
            "Result", sentence(status, _headline(comparison), separator="   "), *map(text, comparison.reasons)
        ),
        block("Sides", *(text(f"{compared.letter(at)}  {compared.side(comparison, at)}") for at in sides)),
    ]
    if comparison.unlike:
        lines = (text(compared.difference_of_runs(one)) for one in comparison.unlike)
        yield [block(Text("Not alike", "bold yellow"), *lines)]
    for title, rows in compared.families(comparison.rows):
        for number, some in enumerate(_fitting(rows, sides, width)):
            yield [*([] if number else [Text(title, "bold")]), _figures(rows, some, width)]
        for at in sides[1:]:
            yield [_differences(comparison, rows, at, width)]
    yield [block("Notes", *map(text, comparison.notes))]


def _headline(comparison: Comparison) -> str:
    """How many of the differences that decide are significant."""
    changes = [change for row in comparison.rows if row.decides for change in row.changes]
    found = [change for change in changes if change.finding in {"better", "worse", "different"}]
    worse = sum(change.finding == "worse" for change in found)
    if not found:
        return "no significant difference" if any(one.p is not None for one in changes) else "nothing tested"
    return f"{len(found)} of {len(changes)} differences significant, {worse} for the worse"


def _fitting(rows: Sequence[Row], sides: Sequence[int], width: int) -> Iterator[Sequence[int]]:
    """The sides, as many at a time as find room beside each other."""
    metric = max(len(compared.metric(row)) for row in rows)
    figure = max(len(compared.figure(row, cell)) for row in rows for cell in row.figures) + _GAP
    beside = max(1, (width - metric) // figure)
    yield from (sides[first : first + beside] for first in range(0, len(sides), beside))


def _figures(rows: Sequence[Row], sides: Sequence[int], width: int) -> RenderableType:
    columns = [Column("metric", justify="left"), *(Column(compared.letter(at)) for at in sides)]
    return grid(
        columns,
        [
            [text(compared.metric(row)), *(text(compared.figure(row, row.figures[at])) for at in sides)]
            for row in rows
        ],
        width=width,
    )


def _differences(comparison: Comparison, rows: Sequence[Row], at: int, width: int) -> RenderableType:
    columns = [
        Column(
            title,
            rank=_RANKS.get(title, 0),
            justify="left" if title in _WORDS else "right",
            folds=title == "finding",
        )
        for title in compared.titles(at)
    ]
    return grid(columns, [_row(comparison, row, at) for row in rows], width=width)


def _row(comparison: Comparison, row: Row, at: int) -> list[Text]:
    change = row.changes[at - 1]
    style = "bold red" if change.fails else _FINDINGS.get(change.finding, "")
    cells = zip(compared.titles(at), compared.cells(comparison, row, at), strict=True)
    return [text(cell, style if title == "finding" else "") for title, cell in cells]
