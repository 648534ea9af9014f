"""Rows of a query for the terminal: a table where all columns fit, else one column per line.

No figure is broken over two lines and no column is left out without a note. Text of models and servers goes
through `clean`, so that it cannot control a terminal.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from reporter.log.query import QueryResult

MOST_ROWS: Final = 50
"""A terminal shows at most this many rows of a table."""
MOST_RECORDS: Final = 10
"""A terminal shows at most this many rows with one column per line, unless `-x` asks for them."""

_GAP: Final = "  "
_NARROWEST_TEXT: Final = 24
"""A column of text may be folded down to this width, but not below its longest word."""
_LONGEST_WORD: Final = 40
_SIX_DIGITS: Final = 1e6
_EXACT: Final = 1e15
"""Between these two a float is shown with all digits before its point."""


class _QueryColumn(NamedTuple):
    """One column: the name, the cells as text, the NULL cells, and whether the cells are numbers."""

    name: str
    cells: Sequence[str]
    nulls: Sequence[bool]
    is_number: bool


def lines(answer: QueryResult, *, expanded: bool = False) -> Iterator[str]:
    """All rows and columns, each row on one line, or each value on one: for a pipe or a file."""
    columns = _columns(answer, answer.rows)
    if expanded:
        yield from _records(columns, len(answer.rows))
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, (column.name, *column.cells))) for column in columns]

    def padded(values: Sequence[str]) -> str:
        cells = []
        for value, column, width in zip(values, columns, widths, strict=True):
            room = " " * (width - cell_len(value))
            cells.append(room + value if column.is_number else value + room)
        return _GAP.join(cells).rstrip()

    yield padded([column.name for column in columns])
    for number in range(len(answer.rows)):
        yield padded([column.cells[number] for column in columns])


def show(answer: QueryResult, console: Console, *, expanded: bool | None = None) -> None:
    """Print a table, or one column per line where a table has no room for all columns.

    Args:
        answer: The rows.
        console: The terminal; its width is the room that there is.
        expanded: True for one column per line, False for a table with the columns that fit, None
            to choose by what fits.
    """
    columns = _columns(answer, answer.rows[:MOST_ROWS])
    fitting = _fitting(columns, console.width)
    as_records = expanded if expanded is not None else fitting < len(columns)
    limit = MOST_RECORDS if as_records and not expanded else MOST_ROWS
    shown = min(len(answer.rows), limit)
    if as_records:
        _print_records(columns, shown, console)
    else:
        console.print(_table(columns[:fitting], console.width))
    notes = []
    if not as_records and fitting < len(columns):
        notes.append(f"{fitting} of {len(columns)} columns shown; -x shows all")
    if as_records and expanded is None:
        notes.append(f"{len(columns)} columns do not fit side by side: --no-expanded shows those that do")
    if len(answer.rows) > shown:
        more = f" -x shows {min(len(answer.rows), MOST_ROWS)}," if limit == MOST_RECORDS else ""
        notes.append(f"{shown} of {len(answer.rows):,} rows shown;{more} --format csv prints all")
    for note in notes:
        console.print(note, style="dim", highlight=False, markup=False)


def _columns(answer: QueryResult, rows: Sequence[Sequence[Any]]) -> list[_QueryColumn]:
    from reporter.render.console_page import clean

    return [
        _QueryColumn(
            clean(name),
            [clean(_shown(row[index])) for row in rows],
            [row[index] is None for row in rows],
            _is_number([row[index] for row in rows]),
        )
        for index, name in enumerate(answer.columns)
    ]


def _is_number(values: Sequence[Any]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in there
    )


def _shown(value: Any) -> str:
    """A value in DuckDB's notation, with significant digits only; csv and json have all digits."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if _SIX_DIGITS <= abs(value) < _EXACT else f"{value:.6g}"
    return str(value)


def _fitting(columns: Sequence[_QueryColumn], width: int) -> int:
    """How many columns, from the first on, fit side by side: at least one."""
    taken = -len(_GAP)
    for number, column in enumerate(columns):
        taken += len(_GAP) + _least(column)
        if taken > width:
            return max(number, 1)
    return len(columns)


def _least(column: _QueryColumn) -> int:
    """The least width at which a column reads well: figures whole, texts broken between words."""
    from rich.cells import cell_len

    widest = max(map(cell_len, (column.name, *column.cells)))
    if column.is_number:
        return widest
    words = (word for cell in (column.name, *column.cells) for word in cell.split())
    longest = min(max(map(cell_len, words), default=0), _LONGEST_WORD)
    return min(widest, max(longest, _NARROWEST_TEXT, cell_len(column.name)))


def _table(columns: Sequence[_QueryColumn], width: int) -> Table:
    """A table within the width of the terminal, with unbroken numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, len(_GAP), 0, 0))
    for column in columns:
        table.add_column(
            Text(column.name),
            justify="right" if column.is_number else "left",
            min_width=min(_least(column), width),
            no_wrap=column.is_number,
            overflow="fold",
        )
    for number in range(len(columns[0].cells) if columns else 0):
        table.add_row(
            *(Text(column.cells[number], style="dim" if column.nulls[number] else "") for column in columns)
        )
    return table


def _print_records(columns: Sequence[_QueryColumn], rows: int, console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    for number in range(rows):
        console.print(Text(f"row {number + 1}", style="bold"))
        record = Table.grid(padding=(0, len(_GAP), 0, 0))
        record.add_column(no_wrap=True)
        record.add_column(overflow="fold")
        for column in columns:
            style = "dim" if column.nulls[number] else ""
            record.add_row(Text(column.name, style="dim"), Text(column.cells[number], style=style))
        console.print(record)


def _records(columns: Sequence[_QueryColumn], rows: int) -> Iterator[str]:
    """Each value on a separate line, after the column's name."""
    room = max((len(column.name) for column in columns), default=0)
    for number in range(rows):
        yield f"row {number + 1}"
        for column in columns:
            yield f"{column.name:<{room}}{_GAP}{column.cells[number]}".rstrip()
