"""The words, figures and tables of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reporter.compare.compared_metric import BRIEF
from reporter.number_text import NOTHING, between, decimals, fixed
from reporter.render.console_page import clean
from reporter.render.table import Column, Mark, Table, headed, tone
from rulesets.session_metrics import OF_SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare import comparison as compare
    from reporter.compare.comparable import Mismatch
    from reporter.compare.comparison import Comparison, ComparisonRow, MetricChange
    from reporter.render.table import Cell

_DIGITS: Final = 4
_LEAST_P: Final = 0.001
_SCORE: Final = "accuracy."

CONFIGURATION: Final = "Configuration differences"
_FINDING: Final = 15
"""The least width of a finding: its words fold."""

_CHANGES: Final = (
    *headed("metric", "change", "interval"),
    Column("p", rank=2),
    Column("finding", justify="left", folds=True, least=_FINDING),
    Column("min. detectable change", rank=3),
)


def label(comparison: Comparison, index: int) -> str:
    """The short name of a side in a table."""
    compared_side = comparison.sides[index]
    return compared_side.label or compared_side.name


def with_labels(comparison: Comparison, text: str) -> str:
    """The text with the short names of the sides."""
    for compared_side in comparison.sides:
        text = text.replace(compared_side.name, compared_side.label or compared_side.name)
    return text


def side(comparison: Comparison, index: int) -> str:
    """A side by full name, with the numbers of runs and requests, and a mark for the reference."""
    compared_side = comparison.sides[index]
    facts = [compared_side.name] if compared_side.name != label(comparison, index) else []
    facts += [f"{len(compared_side.runs)} runs"] if len(compared_side.runs) > 1 else []
    facts += [] if compared_side.requests is None else [f"{compared_side.requests:,} requests"]
    facts += [] if compared_side.sessions is None else [f"{compared_side.sessions:,} sessions"]
    facts += [] if index else ["reference"]
    return ", ".join(facts)


def changes_table(comparison: Comparison, rows: Sequence[ComparisonRow], index: int) -> Table:
    """How a side differs from the reference in each metric."""
    caption = clean(f"Change ({label(comparison, index)} vs {label(comparison, 0)})")
    return Table(_CHANGES, tuple(_cells(comparison, row, index) for row in rows), caption)


def _cells(comparison: Comparison, row: ComparisonRow, index: int) -> tuple[Cell, ...]:
    change = row.changes[index - 1]
    return (
        row.metric,
        by(row, change.by),
        _interval(row, change),
        _chance(change.adjusted_p),
        Mark(finding(comparison, row, change), "bad" if change.fails else tone(change.finding)),
        _share(row, change.detectable),
    )


def figures_table(comparison: Comparison, rows: Sequence[ComparisonRow], sides: Sequence[int]) -> Table:
    """A metric and the figure of each side; below a score the samples."""
    labels = (clean(label(comparison, index)) for index in sides)
    return Table(headed("metric", *labels), tuple(_figures(rows, sides)))


def metric(row: ComparisonRow) -> str:
    """The name and unit of a metric."""
    return f"{row.metric} {row.unit}".rstrip()


def figure(row: ComparisonRow, cell: compare.Cell | None) -> str:
    """A figure with interval, shares in percent."""
    if cell is None:
        return NOTHING
    scale = 100 if row.in_points else 1
    shown = [None if value is None else value * scale for value in (cell.value, cell.low, cell.high)]
    places = decimals(max(number for number in shown if number is not None), _DIGITS - row.in_points)
    value, low, high = (fixed(number, places) for number in shown)
    unit = " %" if row.in_points else ""
    return f"{value}{unit}" if (low, high) == (NOTHING, NOTHING) else f"{value}{unit} {between(low, high)}"


def _figures(rows: Sequence[ComparisonRow], sides: Sequence[int]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        yield (metric(row), *(figure(row, row.figures[index]) for index in sides))
        if row.metric.startswith(_SCORE):
            counts = (row.figures[index] for index in sides)
            yield (_samples(row, sides), *(NOTHING if cell is None else f"{cell.n:,}" for cell in counts))


def _samples(row: ComparisonRow, sides: Sequence[int]) -> str:
    pairs = {row.changes[index - 1].paired for index in sides if index} or {
        change.paired for change in row.changes
    }
    return f"  samples ({next(iter(pairs)):,} paired)" if len(pairs) == 1 and pairs != {None} else "  samples"


def by(row: ComparisonRow, share: float | None) -> str:
    """A difference with sign: `+3.1 %`, or `+0.40 pt` of a share."""
    return NOTHING if share is None else f"{_signed(share)} {_unit(row)}"


def finding(comparison: Comparison, row: ComparisonRow, change: MetricChange) -> str:
    """The finding in words, with a remark where the change is small."""
    rules = comparison.rules
    if change.needed is not None:
        return f"too few requests: about {_rounded(change.needed):,} needed"
    if change.finding == "in doubt":
        least, greatest = (NOTHING if end is None else _signed(end) for end in (change.least, change.most))
        return f"in doubt: {least} to {greatest} {_unit(row)}"
    if not row.decides or change.finding != "worse" or change.fails:
        return change.finding
    floor = rules.min_points if row.in_points else rules.min_effect
    return f"worse, within {_share(row, floor)}"


def difference_of_runs(mismatch: Mismatch) -> str:
    """Something that differs between two runs, with both values."""
    if not mismatch.reference:
        return f"{mismatch.run}: {mismatch.what}: {mismatch.value}"
    return (
        f"{mismatch.about}: {mismatch.what} = {_value(mismatch.value)} in {mismatch.run}, "
        f"{_value(mismatch.reference_value)} in {mismatch.reference}"
    )


_UNCORRECTED: Final = "not corrected for multiple tests"


def families(
    rows: Sequence[ComparisonRow], *, verbose: bool = True
) -> Iterator[tuple[str, list[ComparisonRow]]]:
    """The primary metrics, those of sessions, and the others, each with a heading."""
    further = [
        row
        for row in rows
        if not row.decides and (verbose or row.metric in BRIEF or row.metric.startswith(_SCORE))
    ]
    of_sessions = [row for row in further if row.metric.partition(":")[0] in OF_SESSIONS]
    others = [row for row in further if row not in of_sessions]
    for title, family in (
        ("Primary metrics", [row for row in rows if row.decides]),
        (f"Sessions ({_UNCORRECTED})", of_sessions),
        (f"Other metrics ({_UNCORRECTED})", others),
    ):
        if family:
            yield title, family


def whole_table(comparison: Comparison, rows: Sequence[ComparisonRow], index: int, sql: str) -> Table:
    """A side and the reference next to each other: both figures and the change of each metric."""
    changes = changes_table(comparison, rows, index)
    cells: list[tuple[Cell, ...]] = []
    for row, (_, *change) in zip(rows, changes.rows, strict=True):
        first, *further = figures_table(comparison, [row], (0, index)).rows
        cells += [(*first, *change), *((*line, *("" for _ in change)) for line in further)]
    columns = (*figures_table(comparison, (), (0, index)).columns, *changes.columns[1:])
    return Table(columns, tuple(cells), changes.caption, sql)


def _rounded(count: int) -> int:
    """Up to two digits."""
    step: int = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // step) * step


def _interval(row: ComparisonRow, change: MetricChange) -> str:
    if change.low is None and change.high is None:
        return NOTHING
    largest = 1.0 if row.in_points else math.inf  # no share changes by more than all of it
    ends = [None if end is None else max(-largest, min(end, largest)) for end in (change.low, change.high)]
    percents = [100 * end for end in ends if end is not None]
    # Like decimals; the smaller end does not become 0.
    places = max(decimals(max(percents, key=abs), 2), *(decimals(end, 1) for end in percents))
    low, high = (NOTHING if end is None else _signed(end, places) for end in ends)
    return f"{between(low, high)} {_unit(row)}"


def _chance(p: float | None) -> str:
    if p is None:
        return NOTHING
    return f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"


def _share(row: ComparisonRow, share: float | None) -> str:
    if share is None:
        return NOTHING
    if row.in_points and share > 1:
        return "over 100 pt"
    return f"{fixed(100 * share, decimals(100 * share, 2))} {_unit(row)}"


def _signed(share: float, places: int | None = None) -> str:
    shown = fixed(100 * abs(share), decimals(100 * share, 2) if places is None else places)
    return f"{'-' if share < 0 else '+' if share else ''}{shown}"


def _unit(row: ComparisonRow) -> str:
    return "pt" if row.in_points else "%"


def _value(value: object) -> str:
    return "not set" if value is None else str(value)
