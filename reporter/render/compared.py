"""The words and figures of a comparison: what its table on the console and the one in Markdown both say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.render.figures import NOTHING, decimals, fixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparable import Unlike
    from reporter.compare.comparison import Cell, Change, Comparison, Row

_DIGITS: Final = 4
_LEAST_P: Final = 0.001
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(at: int) -> str:
    """What a side is called in a table: A for the reference, then B."""
    return _LETTERS[at] if at < len(_LETTERS) else f"#{at + 1}"


def side(comparison: Comparison, at: int) -> str:
    """A side by its name, and how many runs it has where there are several."""
    told = comparison.sides[at]
    runs = f" ({len(told.runs)} runs)" if len(told.runs) > 1 else ""
    return f"{told.name}{runs}{', the reference' if not at else ''}"


def titles(at: int) -> tuple[str, ...]:
    """The headings over `cells`."""
    return ("metric", f"{letter(at)} is", "interval", "p", "finding", "could see")


def cells(comparison: Comparison, row: Row, at: int) -> tuple[str, ...]:
    """How a side differs from the reference in one metric."""
    change = row.changes[at - 1]
    return (
        row.metric,
        by(row, change.by),
        _interval(row, change),
        _chance(change.adjusted_p),
        finding(comparison, row, change),
        _share(row, change.detectable),
    )


def metric(row: Row) -> str:
    """Its name and its unit."""
    return f"{row.metric} {row.unit}".rstrip()


def figure(row: Row, cell: Cell | None) -> str:
    """A figure with its interval, of shares in percent."""
    if cell is None:
        return NOTHING
    scale = 100 if row.in_points else 1
    shown = [None if value is None else value * scale for value in (cell.value, cell.low, cell.high)]
    places = decimals(max(one for one in shown if one is not None), _DIGITS - row.in_points)
    value, low, high = (fixed(one, places) for one in shown)
    unit = " %" if row.in_points else ""
    return f"{value}{unit}" if (low, high) == (NOTHING, NOTHING) else f"{value}{unit} [{low}, {high}]"


def by(row: Row, share: float | None) -> str:
    """A difference with its sign: `+3.1 %`, or `+0.40 pt` of a share."""
    return NOTHING if share is None else f"{_signed(share)} {_unit(row)}"


def finding(comparison: Comparison, row: Row, change: Change) -> str:
    """What is to be said, and that it is small where it is."""
    rules = comparison.rules
    if not row.decides or change.finding != "worse" or change.fails:
        return change.finding
    floor = rules.min_points if row.in_points else rules.min_effect
    return f"worse, but by no more than {_share(row, floor)}"


def difference_of_runs(one: Unlike) -> str:
    """Something that was not alike, with both values."""
    if not one.reference:
        return f"{one.run}: {one.what}: {one.value}"
    return (
        f"{one.about}: {one.what} is {_value(one.value)} in {one.run}, "
        f"and {_value(one.reference_value)} in {one.reference}"
    )


def families(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows that decide and those that do not, each with a heading."""
    for decides, title in ((True, "Decides"), (False, "Also seen, each by itself")):
        if of := [row for row in rows if row.decides is decides]:
            yield title, of


def _interval(row: Row, change: Change) -> str:
    if change.low is None and change.high is None:
        return NOTHING
    low, high = (NOTHING if end is None else _signed(end) for end in (change.low, change.high))
    return f"[{low}, {high}] {_unit(row)}"


def _chance(p: float | None) -> str:
    if p is None:
        return NOTHING
    return f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"


def _share(row: Row, share: float | None) -> str:
    if share is None:
        return NOTHING
    return f"{fixed(100 * share, decimals(100 * share, 2))} {_unit(row)}"


def _signed(share: float) -> str:
    shown = fixed(100 * abs(share), min(2, decimals(100 * share, 2)))
    return f"{'-' if share < 0 else '+'}{shown}"


def _unit(row: Row) -> str:
    return "pt" if row.in_points else "%"


def _value(value: object) -> str:
    return "not told" if value is None else str(value)
