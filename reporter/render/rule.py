"""One rule of a verdict in words, for tables, test reports and annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import number_text
from reporter.number_text import NOTHING, as_written, decimals, fixed, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulesets.verdict import VerdictRow

LIMIT: Final = "conf. limit"
_COLUMNS: Final = ("verdict", "rule", "observed", "bound", LIMIT, "margin", "n", "method")
_ONLY_IF_SET: Final = {LIMIT: "limit", "method": "method"}
_MOST_DECIMALS: Final = 6


def columns(rows: Sequence[VerdictRow]) -> list[str]:
    """The headings of a table of rules, without empty columns."""
    return [
        name
        for name in _COLUMNS
        if name not in _ONLY_IF_SET or any(getattr(row, _ONLY_IF_SET[name]) not in {None, ""} for row in rows)
    ]


def cells(row: VerdictRow) -> dict[str, str]:
    """The cells of a rule by heading, unescaped: renderers escape them."""
    return {
        "verdict": status(row),
        "rule": row.target,
        "observed": observed(row),
        "bound": bound(row),
        LIMIT: limit(row),
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
    return _with_unit(_distinct_from(row.observed, row.bound), row)


def limit(row: VerdictRow) -> str:
    """The confidence limit for the bound, with enough digits to differ."""
    return _with_unit(_distinct_from(row.limit, row.bound), row)


def bound(row: VerdictRow) -> str:
    """The bound in the original notation."""
    return _with_unit(as_written(row.bound), row)


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


def _distinct_from(figure: float | None, bound: float | None) -> str:
    """A figure with three digits, or with more if needed to differ from the bound."""
    if figure is None:
        return NOTHING
    least = 0 if figure == round(figure) else decimals(figure)
    differs = (
        places
        for places in range(least, _MOST_DECIMALS)
        if bound is None or figure == bound or round(figure, places) != round(bound, places)
    )
    return fixed(figure, next(differs, _MOST_DECIMALS))


def _with_unit(shown: str, row: VerdictRow) -> str:
    return f"{shown} {row.unit}" if row.unit and shown != NOTHING else shown
