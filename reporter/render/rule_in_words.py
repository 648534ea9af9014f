"""One rule of a verdict in words, for tables, test reports and annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import number_text
from reporter.number_text import NOTHING, decimals, whole
from reporter.render.table import Column, Mark, Table, tone
from rulesets.evaluators.rule_row import bound_text, figure_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reporter.render.table import Cell
    from rulesets.verdict import VerdictRow

_COLUMNS: Final = (
    Column("verdict", justify="left"),
    Column("rule", justify="left", folds=True),
    Column("observed"),
    Column("bound", rank=5),
    Column("conf. limit", rank=1),
    Column("margin", rank=2),
    Column("n", rank=3, is_dim=True),
    Column("method", rank=4, justify="left", folds=True, least=18, is_dim=True),
)
_ONLY_IF_SET: Final = {"conf. limit": "limit", "method": "method"}


def table(rows: Sequence[VerdictRow], sql: str = "") -> Table:
    """A row for each rule, without empty columns."""
    empty = {
        title
        for title, field in _ONLY_IF_SET.items()
        if all(getattr(row, field) in {None, ""} for row in rows)
    }
    columns = tuple(column for column in _COLUMNS if column.title not in empty)
    cells = map(_cells, rows)
    return Table(columns, tuple(tuple(row[column.title] for column in columns) for row in cells), sql=sql)


def _cells(row: VerdictRow) -> dict[str, Cell]:
    """The cells of a rule by heading, unescaped: renderers escape them."""
    return {
        "verdict": Mark(status(row), tone(status(row))),
        "rule": row.target,
        "observed": observed(row),
        "bound": bound(row),
        "conf. limit": limit(row),
        "margin": margin(row),
        "n": samples(row),
        "method": row.method,
    }


def why(row: VerdictRow) -> list[str]:
    """The reason and the remedy of a rule that did not pass; empty otherwise."""
    return [] if row.status == "PASS" else [line for line in (row.reason, row.remedy) if line]


def whys(rows: Iterable[VerdictRow]) -> Iterator[tuple[VerdictRow, list[str]]]:
    """The rules that did not pass, each with why. A remedy that neighbouring rules share is at the last."""
    rows_with_lines = [(row, why(row)) for row in rows]
    missed_rows = [(row, lines) for row, lines in rows_with_lines if lines]
    for number, (row, lines) in enumerate(missed_rows):
        after = missed_rows[number + 1][0].remedy if number + 1 < len(missed_rows) else None
        same = len(lines) > 1 and row.remedy == after
        yield row, lines[:-1] if same else lines


def status(row: VerdictRow) -> str:
    """The status; a missed rule that cannot fail the run shows the severity."""
    return row.severity.upper() if row.status == "FAIL" and row.severity != "fail" else row.status


def observed(row: VerdictRow) -> str:
    """The figure, with enough digits to differ from the bound."""
    return NOTHING if row.observed is None else figure_text(row.observed, row.bound, row.unit)


def limit(row: VerdictRow) -> str:
    """The confidence limit for the bound, with enough digits to differ."""
    return NOTHING if row.limit is None else figure_text(row.limit, row.bound, row.unit)


def bound(row: VerdictRow) -> str:
    """The bound in the original notation."""
    return NOTHING if row.bound is None else bound_text(row.bound, row.unit)


def margin(row: VerdictRow) -> str:
    """The distance from the bound in percent, negative for a miss; beyond 100 %, the ratio: `2.61x`."""
    share = row.margin
    if share is None:
        return NOTHING
    if abs(share) > 1 and row.observed and row.bound and (ratio := row.observed / row.bound) > 1:
        return f"{number_text.figure(ratio)}x"
    return f"{100 * share:+,.{decimals(100 * share, 2)}f} %"


def samples(row: VerdictRow) -> str:
    """How many samples stand behind the figure."""
    return whole(row.n)
