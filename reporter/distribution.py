"""Columns of figures, each in one Summary, computed where the figures are, in DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from reporter.quantile import PERCENTILES, position
from reporter.report import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from rulesets.definitions import PercentileMethod


_VALUES_AT_ONCE: Final = 4_000_000
"""How many values are sorted at a time: DuckDB keeps them in memory until it has."""


@dataclass(frozen=True, slots=True)
class _Totals:
    """What one pass over a column brings."""

    count: int
    mean: float
    low: float
    high: float


def summaries(
    connection: DuckDBPyConnection,
    values: str,
    columns: Sequence[str],
    method: PercentileMethod,
) -> dict[str, Summary | None]:
    """Summarise columns of a query, in a few passes for all of them.

    Args:
        connection: What to ask.
        values: The query; NULLs are left out, in each column for itself.
        columns: Their names.
        method: How percentiles are taken.

    Returns:
        By the columns' names; None for one without values.
    """
    totals = _row(
        connection,
        values,
        [f"[count({name}), fsum({name}) / count({name}), min({name}), max({name})]" for name in columns],
    )
    known = {name: _totals(*figures) for name, figures in zip(columns, totals, strict=True) if figures[0]}
    found = _with_totals(connection, values, known, method)
    return {name: found.get(name) for name in columns}


def weighted_summary(connection: DuckDBPyConnection, values: str, method: PercentileMethod) -> Summary | None:
    """Summarise a column `value` of which each counts as often as the column `weight` says, a whole number.

    Args:
        connection: What to ask.
        values: The query; NULLs among the values are left out.
        method: How percentiles are taken.

    Returns:
        The summary of the values repeated, None where there are none.
    """
    values = f"FROM ({values}) WHERE value IS NOT NULL"
    totals = _row(
        connection,
        values,
        [
            "coalesce(sum(weight), 0)::BIGINT",
            "fsum(value * weight) / sum(weight)",
            "min(value)",
            "max(value)",
        ],
    )
    if not totals[0]:
        return None
    one = _totals(*totals)
    square, *at = _row(
        connection,
        f"SELECT *, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto {values}",
        [
            f"fsum(weight * (value - {one.mean!r}::DOUBLE) ** 2)",
            *(f"min(value) FILTER (upto > {rank})" for rank in ranks_needed(one.count, method)),
        ],
    )
    return _summary(one, square, at, method)


def _totals(count: float, mean: float, low: float, high: float) -> _Totals:
    """No rounding takes a mean out of the range of its values."""
    return _Totals(int(count), min(max(mean, low), high), low, high)


def _summary(one: _Totals, square: float, at: Sequence[float], method: PercentileMethod) -> Summary:
    """Summarise, with the squares around a mean that is known: exact where a single pass would cancel."""
    return Summary(
        count=one.count,
        mean=one.mean,
        std=None if one.count == 1 else float((square / (one.count - 1)) ** 0.5),
        min=one.low,
        max=one.high,
        **percentiles(at, one.count, method),
    )


def ranks_needed(count: int, method: PercentileMethod) -> list[int]:
    """The ranks of the values that the percentiles of so many are taken from, in ascending order."""
    positions = [position(method, count, p) for p in PERCENTILES.values()]
    return sorted({rank for place in positions for rank in (place.below, place.above)})


def percentiles(values: Sequence[float], count: int, method: PercentileMethod) -> dict[str, float]:
    """The percentiles of a Summary, from the values of the ranks that are needed."""
    at = dict(zip(ranks_needed(count, method), values, strict=True))
    positions = {name: position(method, count, p) for name, p in PERCENTILES.items()}
    return {name: place.between(at[place.below], at[place.above]) for name, place in positions.items()}


def _with_totals(
    connection: DuckDBPyConnection, values: str, known: Mapping[str, _Totals], method: PercentileMethod
) -> dict[str, Summary]:
    """Summarise columns whose totals are known, as many at once as memory has room for.

    DuckDB's discrete quantile of (rank + 1/2) / n is the value of that rank, whichever way it rounds.
    """
    found: dict[str, Summary] = {}
    for names in _batches(known):
        asked = [
            f"fsum(({name} - {one.mean!r}::DOUBLE) ** 2), "
            f"quantile_disc({name}, {_shares(one, method)}::DOUBLE[])"
            for name, one in names.items()
        ]
        figures = iter(_row(connection, values, asked))
        found |= {name: _summary(one, next(figures), next(figures), method) for name, one in names.items()}
    return found


def _batches(known: Mapping[str, _Totals]) -> Iterator[dict[str, _Totals]]:
    at_once = max(1, _VALUES_AT_ONCE // max((one.count for one in known.values()), default=1))
    columns = iter(known.items())
    while batch := dict(islice(columns, at_once)):
        yield batch


def _shares(one: _Totals, method: PercentileMethod) -> list[float]:
    return [(rank + 0.5) / one.count for rank in ranks_needed(one.count, method)]


def _row(connection: DuckDBPyConnection, values: str, figures: Sequence[str]) -> tuple[Any, ...]:
    """Aggregates of a query: as text, for a relation is planned when it is made, and again when asked."""
    (row,) = connection.execute(f"SELECT {', '.join(figures)} FROM ({values})").fetchall()  # noqa: S608 (this program's own)
    return row
