"""A column of figures in one Summary, computed where the figures are, in DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.quantile import PERCENTILES, position
from reporter.report import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from duckdb import DuckDBPyRelation

    from reporter.quantile import PercentileMethod

    Ranked = Callable[[Sequence[int]], Sequence[float]]


def summary(values: DuckDBPyRelation, method: PercentileMethod) -> Summary | None:
    """Summarise a relation with a column `value`.

    Args:
        values: Its NULLs are left out. With a column `weight`, of whole numbers, each value counts so many
            times: the summary is that of the values repeated.
        method: How percentiles are taken.

    Returns:
        The summary, None where there are no values.
    """
    values = values.filter("value IS NOT NULL")
    if "weight" in values.columns:
        weighted, ranked = values, _ranked_by_weight(values)
    else:
        weighted = values.project("value, 1 AS weight")
        ranked = _ranked(values)
    (count, mean, low, high) = _row(
        weighted,
        "coalesce(sum(weight), 0)::BIGINT, fsum(value * weight) / sum(weight), min(value), max(value)",
    )
    if not count:
        return None
    mean = min(max(mean, low), high)
    return Summary(
        count=count,
        mean=mean,
        std=_deviation(weighted, count, mean),
        min=low,
        max=high,
        **_percentiles(ranked, count, method),
    )


def _percentiles(ranked: Ranked, count: int, method: PercentileMethod) -> dict[str, float]:
    positions = {name: position(method, count, p) for name, p in PERCENTILES.items()}
    ranks = sorted({rank for place in positions.values() for rank in (place.below, place.above)})
    at = dict(zip(ranks, ranked(ranks), strict=True))
    return {name: place.between(at[place.below], at[place.above]) for name, place in positions.items()}


def _deviation(weighted: DuckDBPyRelation, count: int, mean: float) -> float | None:
    """The sample standard deviation, around a mean that is known: exact where a single pass would cancel."""
    if count == 1:
        return None
    (squares,) = _row(weighted, f"fsum(weight * (value - {mean!r}::DOUBLE) ** 2)")
    return float((squares / (count - 1)) ** 0.5)


def _ranked(values: DuckDBPyRelation) -> Ranked:
    """The values of given ranks.

    DuckDB's discrete quantile of (rank + 1/2) / n is the value of that rank, whichever way it rounds.
    """

    def ranked(ranks: Sequence[int]) -> Sequence[float]:
        (count,) = _row(values, "count(*)")
        fractions = [(rank + 0.5) / count for rank in ranks]
        (found,) = _row(values, f"quantile_disc(value, {fractions}::DOUBLE[])")
        return list(found)

    return ranked


def _ranked_by_weight(values: DuckDBPyRelation) -> Ranked:
    """The values of given ranks, were each value there as often as its weight says."""
    running = values.project("value, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto")

    def ranked(ranks: Sequence[int]) -> Sequence[float]:
        return _row(running, ", ".join(f"min(value) FILTER (upto > {rank})" for rank in ranks))

    return ranked


def _row(relation: DuckDBPyRelation, figures: str) -> tuple[Any, ...]:
    return relation.aggregate(figures).fetchall()[0]
