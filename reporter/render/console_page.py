"""The page of console renderers: labeled blocks, aligned tables, and only safe text.

Text of a server or a user goes through `clean`, so that no control sequence reaches a terminal and no
markup is taken for ours. Nothing is framed, so that the page survives a log.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from reporter.render.table import plain as plain_text
from reporter.render.table import tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.text import TextType

    from reporter.render.table import Cell, Column, Table

LABEL_WIDTH: Final = 15
"""Where the body of every block begins, and the second column of every table."""

STYLES: Final = {"": "", "good": "bold green", "bad": "bold red", "doubt": "bold yellow", "dim": "dim"}
_GAP: Final = 2
_NARROWEST: Final = 40
_GLUED: Final = 24
"""A part of a sentence up to this length stays on one line: the body of a block has that much room."""
_GLUE: Final = "\ue000"
"""A space that no line is broken at. rich breaks at U+00A0; `clean` removes this one from any other text."""


def clean(value: object) -> str:
    """One line of printable characters: white space collapsed, the rest escaped.

    Unprintable are control characters, terminal escapes, bidirectional overrides, lone surrogates.
    """
    spaced = " ".join(str(value).split())
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in spaced
    )


def text(value: object, style: str = "") -> Text:
    """A value that may come from anywhere, made safe to print."""
    return Text(clean(value), style=style, overflow="fold")


def sentence(*parts: TextType, separator: str = ", ") -> Text:
    """The non-empty parts side by side; a short part is never broken."""
    return Text(separator, overflow="fold").join(_glued(part) for part in parts if part)


def plain(value: TextType) -> str:
    """A text without styles, for renderers that are not of a terminal."""
    return (value.plain if isinstance(value, Text) else value).replace(_GLUE, " ")


def block(label: TextType, *lines: TextType) -> Grid:
    """A label in the margin, next to lines."""
    table = Grid.grid()
    table.add_column(width=LABEL_WIDTH, no_wrap=True)
    table.add_column(overflow="fold")
    margin = label if isinstance(label, Text) else Text(label, style="dim")
    for line in lines:
        table.add_row(margin, line if isinstance(line, Text) else text(line))
        margin = Text()
    return table


def tables(*shown: Table, width: int, style: str = "dim") -> list[RenderableType]:
    """Tables for a console, each under its caption; a blank line is above a caption between two."""
    lines: list[RenderableType] = []
    for table in shown:
        if table.caption:
            lines += [*([Text()] if lines else []), Text(table.caption, style=style)]
        lines.append(_grid(table, width))
    return lines


def styled(word: str, shown: str = "") -> Text:
    """A verdict, severity, outcome or finding in its color, also in other words."""
    return text(shown or word, STYLES[tone(word)])


def _styled(cell: Cell, column: Column) -> Text:
    """A cell in its color, with its leading blanks, which mark a part of the row above."""
    words = plain_text(cell)
    style = STYLES["dim"] if column.is_dim else STYLES[getattr(cell, "tone", "")]
    blanks = " " * (len(words) - len(words.lstrip()))
    return Text(blanks + clean(words), style=style, overflow="fold")


def _grid(table: Table, width: int) -> Grid:
    """Rows under headings, without the columns that the page has no room for. Figures are never cut short."""
    columns = table.columns
    rows = [[*map(_styled, row, columns)] or [Text()] * len(columns) for row in table.rows]
    longest = [
        max([*map(cell_len, column.title.split("\n")), *(row[index].cell_len for row in rows)])
        for index, column in enumerate(columns)
    ]
    needed = [
        min(long, column.least) if column.folds else long
        for long, column in zip(longest, columns, strict=True)
    ]
    widths = [max(needed[0], LABEL_WIDTH - _GAP), *needed[1:]]
    room = max(width, _NARROWEST)
    shown_columns = _fitting(columns, widths, room)
    spare = room - _taken(widths, shown_columns)
    folding = sum(columns[index].folds for index in shown_columns)
    shown = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for index in shown_columns:
        column = columns[index]
        more = min(spare // folding, longest[index] - needed[index]) if column.folds else 0
        shown.add_column(
            Text(column.title),
            justify=column.justify,
            min_width=None if column.folds else widths[index],
            width=needed[index] + more if column.folds and spare >= 0 else None,
            no_wrap=not column.folds,
            overflow="fold",
        )
        spare, folding = spare - more, folding - column.folds
    for row in rows:
        shown.add_row(*(row[index] for index in shown_columns))
    return shown


def draw(sections: Iterable[Sequence[RenderableType]], *, width: int, color: bool) -> str:
    """Print the non-empty sections, with a blank line between two.

    Everything that rich would ask the environment for is given, so that a page depends on its sections alone.
    """
    page = StringIO()
    console = Console(
        file=page,
        width=max(width, _NARROWEST),
        height=25,
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=False,
        legacy_windows=False,
        highlight=False,
    )
    for number, section in enumerate(filter(None, sections)):
        if number:
            console.print()
        console.print(*section, sep="\n", crop=False)
    lines = page.getvalue().replace(_GLUE, " ").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _glued(part: TextType) -> Text:
    whole = part.copy() if isinstance(part, Text) else text(part)
    if whole.cell_len <= _GLUED:
        whole.plain = whole.plain.replace(" ", _GLUE)
    return whole


def _fitting(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """The indices of the columns that stay."""
    shown_columns = list(range(len(columns)))
    for index in sorted(shown_columns, key=lambda index: -columns[index].rank):
        if not columns[index].rank or _taken(widths, shown_columns) <= room:
            break
        shown_columns.remove(index)
    return shown_columns


def _taken(widths: Sequence[int], shown_columns: Sequence[int]) -> int:
    return sum(widths[index] + _GAP for index in shown_columns) - _GAP
