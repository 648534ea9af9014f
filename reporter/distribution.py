"""Columns of figures, each in one Summary, computed where the figures are, in DuckDB."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final

from reporter.log.database_in_memory import THREADS
from reporter.percentiles import position
from reporter.report import Summary
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from reporter.log.database import OpenLog
    from reporter.percentiles import Position
    from rulesets.definitions import PercentileMethod

_VALUES_AT_ONCE: Final = 4_000_000
"""How many values are sorted at a time, on all threads: DuckDB keeps them in memory until it has."""


@dataclass(frozen=True, slots=True)
class _Totals:
    """The totals of one pass over a column."""

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
        places = [*_positions_of_fields(self.method, count).values(), *self._chosen_positions(count).values()]
        return sorted({rank for place in places for rank in (place.below, place.above)})

    def figures(self, values: Sequence[float], count: int) -> dict[str, Any]:
        """The fields of a Summary, from the values of the ranks that are needed."""
        value_of_rank = dict(zip(self.needed(count), values, strict=True))

        def taken(places: Mapping[str, Position]) -> dict[str, float]:
            return {
                name: place.between(value_of_rank[place.below], value_of_rank[place.above])
                for name, place in places.items()
            }

        return {
            **taken(_positions_of_fields(self.method, count)),
            "percentiles": taken(self._chosen_positions(count)),
        }

    def _chosen_positions(self, count: int) -> dict[str, Position]:
        if self.chosen is PERCENTILES:
            return {}
        return {name: position(self.method, count, p) for name, p in self.chosen.items()}


@lru_cache(maxsize=4096)
def _positions_of_fields(method: PercentileMethod, count: int) -> Mapping[str, Position]:
    """Those of the fields of a Summary: a report has hundreds of summaries of few different counts."""
    return {name: position(method, count, p) for name, p in PERCENTILES.items()}


def summaries(
    log: OpenLog,
    values: str,
    columns: Sequence[str],
    method: PercentileMethod,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> dict[str, Summary | None]:
    """Summarize columns of a query, in a few passes for all of them.

    Args:
        log: The log.
        values: The query; NULLs are left out, in each column for itself.
        columns: Their names.
        method: How percentiles are taken.
        chosen: The percentiles of `Summary.percentiles`, if not those of its fields.

    Returns:
        By the columns' names; None for one without values.
    """
    totals = _row(
        log,
        values,
        [f"[count({name}), fsum({name}) / count({name}), min({name}), max({name})]" for name in columns],
    )
    totals_by_name = {
        name: _totals(*figures) for name, figures in zip(columns, totals, strict=True) if figures[0]
    }
    summaries_by_name = _with_totals(log, values, totals_by_name, _PercentileList(method, chosen))
    return {name: summaries_by_name.get(name) for name in columns}


def weighted_summary(
    log: OpenLog,
    values: str,
    method: PercentileMethod,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> Summary | None:
    """Summarize a column `value` of which each counts as often as the column `weight` says, a whole number.

    Args:
        log: The log.
        values: The query; NULLs among the values are left out.
        method: How percentiles are taken.
        chosen: As for `summaries`.

    Returns:
        The summary of the values repeated, None where there are none.
    """
    # Values may be counted to be weighted, which takes longer than either of the two passes.
    log.execute(f"CREATE OR REPLACE TEMP TABLE weighted AS FROM ({values}) WHERE value IS NOT NULL")
    totals = _row(
        log,
        "FROM weighted",
        [
            "coalesce(sum(weight), 0)::BIGINT",
            "fsum(value * weight) / sum(weight)",
            "min(value)",
            "max(value)",
        ],
    )
    if not totals[0]:
        return None
    column_totals, ranks = _totals(*totals), _PercentileList(method, chosen)
    square, *values_of_ranks = _row(
        log,
        "SELECT *, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto FROM weighted",
        [
            f"fsum(weight * {_square('value', column_totals)})",
            *(f"min(value) FILTER (upto > {rank})" for rank in ranks.needed(column_totals.count)),
        ],
    )
    return _summary(column_totals, square, values_of_ranks, ranks)


def _totals(count: float, mean: float, low: float, high: float) -> _Totals:
    """No rounding takes a mean out of the range of its values."""
    return _Totals(int(count), min(max(mean, low), high), low, high)


def _summary(
    column_totals: _Totals, square: float, values_of_ranks: Sequence[float], ranks: _PercentileList
) -> Summary:
    """Summarize, with the squares around a mean that is known: exact where a single pass would cancel."""
    return Summary(
        count=column_totals.count,
        mean=column_totals.mean,
        std=None if column_totals.count == 1 else float((square / (column_totals.count - 1)) ** 0.5),
        min=column_totals.low,
        max=column_totals.high,
        **ranks.figures(values_of_ranks, column_totals.count),
    )


def _with_totals(
    log: OpenLog, values: str, totals_by_name: Mapping[str, _Totals], ranks: _PercentileList
) -> dict[str, Summary]:
    """Summarize columns whose totals are known, as many at once as memory has room for.

    DuckDB sorts the values of a column on one thread: where there are several batches, several are under way.
    """
    batches = list(_batches(totals_by_name))
    if len(batches) < 2:  # noqa: PLR2004 (nothing to share)
        return _of_batches(log, values, batches, ranks)
    copied = _copies(log, values, totals_by_name)
    batches = list(_batches({name: totals_by_name[name] for name in totals_by_name if name not in copied}))
    shares = [batches[first::THREADS] for first in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool, ExitStack() as connections:
        logs = [log.with_room() for _ in shares]
        for own in logs:
            connections.enter_context(own.connection)
        parts = pool.map(_of_batches, logs, repeat(values), shares, repeat(ranks))
        summaries_by_name = {name: summary for part in parts for name, summary in part.items()}
    return summaries_by_name | {name: summaries_by_name[source] for name, source in copied.items()}


def _copies(log: OpenLog, values: str, totals_by_name: Mapping[str, _Totals]) -> dict[str, str]:
    """The columns with the same values as an earlier one: a scan is faster than a sort.

    Without reasoning, the first output token is the first token; where all completed, all are the completed.
    """
    first_with: dict[_Totals, str] = {}
    pairs = [
        (name, first)
        for name, column_totals in totals_by_name.items()
        if (first := first_with.setdefault(column_totals, name)) != name
    ]
    if not pairs:
        return {}
    differing = _row(
        log, values, [f"count(*) FILTER ({name} IS DISTINCT FROM {first})" for name, first in pairs]
    )
    return {name: first for (name, first), rows in zip(pairs, differing, strict=True) if not rows}


def _of_batches(
    log: OpenLog, values: str, batches: Sequence[Mapping[str, _Totals]], ranks: _PercentileList
) -> dict[str, Summary]:
    """Summarize batches of columns, one after the other."""
    summaries_by_name: dict[str, Summary] = {}
    for names in batches:
        asked = [_figures(name, column_totals, ranks) for name, column_totals in names.items()]
        figures = iter(_row(log, values, asked))
        summaries_by_name |= {
            name: _summary(column_totals, next(figures), next(figures), ranks)
            for name, column_totals in names.items()
        }
    return summaries_by_name


def _batches(totals_by_name: Mapping[str, _Totals]) -> Iterator[dict[str, _Totals]]:
    """The columns, those with a single value in the first batch, for they are not sorted."""
    constant = {name: totals for name, totals in totals_by_name.items() if totals.low == totals.high}
    varied = {name: totals for name, totals in totals_by_name.items() if name not in constant}
    longest = max((column_totals.count for column_totals in varied.values()), default=1)
    at_once = max(1, _VALUES_AT_ONCE // longest)
    if at_once < len(varied):
        at_once = max(1, at_once // THREADS)
    columns = iter(varied.items())
    while batch := constant | dict(islice(columns, at_once)):
        constant = {}
        yield batch


def _figures(name: str, column_totals: _Totals, ranks: _PercentileList) -> str:
    """SQL for the sum of squares around the mean, and for the values of the ranks that are needed.

    DuckDB's discrete quantile of (rank + 1/2) / n is the value of that rank, whichever way it rounds.
    """
    count, needed = column_totals.count, ranks.needed(column_totals.count)
    if column_totals.low == column_totals.high:
        return f"0::DOUBLE, repeat([min({name})], {len(needed)})"
    # With exponents: without them, DuckDB converts each share from a decimal number.
    shares = ", ".join(f"{(rank + 0.5) / count:.17e}" for rank in needed)
    return f"fsum({_square(name, column_totals)}), quantile_disc({name}, [{shares}])"


def _square(value: str, column_totals: _Totals) -> str:
    """SQL for the square of a distance from the mean: a product takes a third of the time of a power."""
    distance = f"({value} - {column_totals.mean!r}::DOUBLE)"
    return f"{distance} * {distance}"


def _row(log: OpenLog, values: str, figures: Sequence[str]) -> tuple[Any, ...]:
    """Aggregates of a query: as text, for a relation is planned when it is made, and again when asked."""
    (row,) = log.execute(f"SELECT {', '.join(figures)} FROM ({values})").fetchall()  # noqa: S608 (this program's own)
    return row


_GROUPED: Final = """
    CREATE OR REPLACE TEMP TABLE grouped AS
    SELECT part, list_sort(list(value)) AS ranked
    FROM ({values})
    WHERE value IS NOT NULL AND part IS NOT NULL
    GROUP BY part"""

# Sums over sorted lists are equal for any order of requests in the log. The mean is a column before
# deviations from it are taken: as an alias it would be computed again for each of them.
_FIGURES: Final = """
    SELECT
        part,
        len(ranked) AS count,
        mean,
        CASE WHEN count > 1
            THEN sqrt(list_sum(list_transform(ranked, lambda value: (value - mean) ** 2)) / (count - 1))
        END,
        ranked[1],
        ranked[-1],
        list_select(ranked, $places[list_position($sizes, count)])
    FROM (SELECT part, ranked, list_avg(ranked) AS mean FROM grouped)"""


def summaries_by_group(
    log: OpenLog,
    values: str,
    method: PercentileMethod,
) -> dict[Any, Summary]:
    """Summarize each group of values.

    Args:
        log: An opened log.
        values: A query with the columns `part`, which names the group, and `value`; rows with a NULL in
            either are left out.
        method: How percentiles are taken.

    Returns:
        By the group's name; a group without values is not there.
    """
    log.execute(_GROUPED.format(values=values))
    ranks = _PercentileList(method)
    sizes = log.execute("SELECT DISTINCT len(ranked) FROM grouped").fetchall()
    needed = {count: [1 + rank for rank in ranks.needed(count)] for (count,) in sizes}
    groups = log.execute(_FIGURES, {"sizes": list(needed), "places": list(needed.values())}).fetchall()
    return {
        part: Summary(
            count=count,
            mean=min(max(mean, low), high),
            std=std,
            min=low,
            max=high,
            **ranks.figures(values_of_ranks, count),
        )
        for part, count, mean, std, low, high, values_of_ranks in groups
    }
