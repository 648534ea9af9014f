"""Columns of figures, each in one Summary, computed where the figures are, in DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reporter.quantile import PERCENTILES, position
from reporter.report import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyRelation

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
    values: DuckDBPyRelation,
    columns: Sequence[str],
    method: PercentileMethod,
) -> dict[str, Summary | None]:
    """Summarise columns of a relation, in a few passes for all of them.

    Args:
        values: NULLs are left out, in each column for itself.
        columns: Their names.
        method: How percentiles are taken.

    Returns:
        By the columns' names; None for one without values.
    """
    totals = _row(
        values,
        ", ".join(
            f"[count({name}), fsum({name}) / count({name}), min({name}), max({name})]" for name in columns
        ),
    )
    known = {name: _totals(*figures) for name, figures in zip(columns, totals, strict=True) if figures[0]}
    if not known:
        return dict.fromkeys(columns)
    squares = _row(
        values, ", ".join(f"fsum(({name} - {one.mean!r}::DOUBLE) ** 2)" for name, one in known.items())
    )
    ranked = _ranked(
        values, {name: (one.count, ranks_needed(one.count, method)) for name, one in known.items()}
    )
    found = {
        name: _summary(one, square, at, method)
        for (name, one), square, at in zip(known.items(), squares, ranked, strict=True)
    }
    return {name: found.get(name) for name in columns}


def weighted_summary(values: DuckDBPyRelation, method: PercentileMethod) -> Summary | None:
    """Summarise a column `value` of which each counts as often as the column `weight` says, a whole number.

    Args:
        values: NULLs among the values are left out.
        method: How percentiles are taken.

    Returns:
        The summary of the values repeated, None where there are none.
    """
    values = values.filter("value IS NOT NULL")
    totals = _row(
        values, "coalesce(sum(weight), 0)::BIGINT, fsum(value * weight) / sum(weight), min(value), max(value)"
    )
    if not totals[0]:
        return None
    one = _totals(*totals)
    (square,) = _row(values, f"fsum(weight * (value - {one.mean!r}::DOUBLE) ** 2)")
    running = values.project("value, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto")
    ranks = ranks_needed(one.count, method)
    at = _row(running, ", ".join(f"min(value) FILTER (upto > {rank})" for rank in ranks))
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


def _ranked(
    values: DuckDBPyRelation, needed: Mapping[str, tuple[int, Sequence[int]]]
) -> Iterator[Sequence[float]]:
    """The values of given ranks of several columns, as many columns at once as memory has room for.

    DuckDB's discrete quantile of (rank + 1/2) / n is the value of that rank, whichever way it rounds.
    """
    asked = [
        f"quantile_disc({name}, {[(rank + 0.5) / count for rank in ranks]}::DOUBLE[])"
        for name, (count, ranks) in needed.items()
    ]
    at_once = max(1, _VALUES_AT_ONCE // max(count for count, _ in needed.values()))
    for first in range(0, len(asked), at_once):
        yield from _row(values, ", ".join(asked[first : first + at_once]))


def _row(relation: DuckDBPyRelation, figures: str) -> tuple[Any, ...]:
    return relation.aggregate(figures).fetchall()[0]
