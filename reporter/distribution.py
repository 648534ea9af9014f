"""Columns of figures, each in one Summary, computed where the figures are, in DuckDB."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from reporter.quantile import PERCENTILES, position
from reporter.report import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from reporter.log.database import OpenLog
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


@dataclass(frozen=True, slots=True)
class _PercentileList:
    """The percentiles of a Summary: those of its fields, and those of the reader's choice."""

    method: PercentileMethod
    chosen: Mapping[str, Fraction] = field(default_factory=lambda: PERCENTILES)

    def needed(self, count: int) -> list[int]:
        """The ranks of the values that they are taken from, in ascending order."""
        shares = {*PERCENTILES.values(), *self.chosen.values()}
        positions = [position(self.method, count, p) for p in shares]
        return sorted({rank for place in positions for rank in (place.below, place.above)})

    def figures(self, values: Sequence[float], count: int) -> dict[str, Any]:
        """The fields of a Summary, from the values of the ranks that are needed."""
        at = dict(zip(self.needed(count), values, strict=True))

        def taken(shares: Mapping[str, Fraction]) -> dict[str, float]:
            places = {name: position(self.method, count, p) for name, p in shares.items()}
            return {name: place.between(at[place.below], at[place.above]) for name, place in places.items()}

        return {**taken(PERCENTILES), "percentiles": {} if self.chosen is PERCENTILES else taken(self.chosen)}


def summaries(
    log: OpenLog,
    values: str,
    columns: Sequence[str],
    method: PercentileMethod,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> dict[str, Summary | None]:
    """Summarise columns of a query, in a few passes for all of them.

    Args:
        log: What to ask.
        values: The query; NULLs are left out, in each column for itself.
        columns: Their names.
        method: How percentiles are taken.
        chosen: Which percentiles there are to be in `Summary.percentiles`, if not those of its fields.

    Returns:
        By the columns' names; None for one without values.
    """
    totals = _row(
        log,
        values,
        [f"[count({name}), fsum({name}) / count({name}), min({name}), max({name})]" for name in columns],
    )
    known = {name: _totals(*figures) for name, figures in zip(columns, totals, strict=True) if figures[0]}
    found = _with_totals(log, values, known, _PercentileList(method, chosen))
    return {name: found.get(name) for name in columns}


def weighted_summary(
    log: OpenLog,
    values: str,
    method: PercentileMethod,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> Summary | None:
    """Summarise a column `value` of which each counts as often as the column `weight` says, a whole number.

    Args:
        log: What to ask.
        values: The query; NULLs among the values are left out.
        method: How percentiles are taken.
        chosen: As for `summaries`.

    Returns:
        The summary of the values repeated, None where there are none.
    """
    values = f"FROM ({values}) WHERE value IS NOT NULL"
    totals = _row(
        log,
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
    one, ranks = _totals(*totals), _PercentileList(method, chosen)
    square, *at = _row(
        log,
        f"SELECT *, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto {values}",
        [
            f"fsum(weight * (value - {one.mean!r}::DOUBLE) ** 2)",
            *(f"min(value) FILTER (upto > {rank})" for rank in ranks.needed(one.count)),
        ],
    )
    return _summary(one, square, at, ranks)


def _totals(count: float, mean: float, low: float, high: float) -> _Totals:
    """No rounding takes a mean out of the range of its values."""
    return _Totals(int(count), min(max(mean, low), high), low, high)


def _summary(one: _Totals, square: float, at: Sequence[float], ranks: _PercentileList) -> Summary:
    """Summarise, with the squares around a mean that is known: exact where a single pass would cancel."""
    return Summary(
        count=one.count,
        mean=one.mean,
        std=None if one.count == 1 else float((square / (one.count - 1)) ** 0.5),
        min=one.low,
        max=one.high,
        **ranks.figures(at, one.count),
    )


def ranks_needed(count: int, method: PercentileMethod) -> list[int]:
    """The ranks of the values that the percentiles of so many are taken from, in ascending order."""
    return _PercentileList(method).needed(count)


def percentiles(values: Sequence[float], count: int, method: PercentileMethod) -> dict[str, Any]:
    """The percentiles of a Summary, from the values of the ranks that are needed."""
    return _PercentileList(method).figures(values, count)


def _with_totals(
    log: OpenLog, values: str, known: Mapping[str, _Totals], ranks: _PercentileList
) -> dict[str, Summary]:
    """Summarise columns whose totals are known, as many at once as memory has room for.

    DuckDB's discrete quantile of (rank + 1/2) / n is the value of that rank, whichever way it rounds.
    """
    found: dict[str, Summary] = {}
    for names in _batches(known):
        asked = [
            f"fsum(({name} - {one.mean!r}::DOUBLE) ** 2), "
            f"quantile_disc({name}, {_shares(one, ranks)}::DOUBLE[])"
            for name, one in names.items()
        ]
        figures = iter(_row(log, values, asked))
        found |= {name: _summary(one, next(figures), next(figures), ranks) for name, one in names.items()}
    return found


def _batches(known: Mapping[str, _Totals]) -> Iterator[dict[str, _Totals]]:
    at_once = max(1, _VALUES_AT_ONCE // max((one.count for one in known.values()), default=1))
    columns = iter(known.items())
    while batch := dict(islice(columns, at_once)):
        yield batch


def _shares(one: _Totals, ranks: _PercentileList) -> list[float]:
    return [(rank + 0.5) / one.count for rank in ranks.needed(one.count)]


def _row(log: OpenLog, values: str, figures: Sequence[str]) -> tuple[Any, ...]:
    """Aggregates of a query: as text, for a relation is planned when it is made, and again when asked."""
    (row,) = log.execute(f"SELECT {', '.join(figures)} FROM ({values})").fetchall()  # noqa: S608 (this program's own)
    return row
