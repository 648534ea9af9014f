"""Distributions of figures: the SQL that a page shows of them is the SQL that computes them, in DuckDB."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reporter.log.database import rows_of
from reporter.log.sql_files import quoted
from reporter.percentiles import percentiles_sql, weighted_percentiles_sql
from reporter.report import Summary
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from fractions import Fraction

    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod

_Made = TypeVar("_Made")

_VALUES_AT_ONCE: Final = 16_000_000
"""How many values are sorted at a time, on all threads: DuckDB keeps them in memory until it has."""

COMPLETED: Final = "FROM samples WHERE measured AND status = 'completed'"
"""The requests that latencies are of."""

GAPS: Final = "FROM gap_counts"
"""The times between their chunks, with weights."""

BY_TOKEN: Final = f"SELECT {{column}} AS value, tpot_tokens AS weight {COMPLETED}"
"""A column of TPOT in which each value counts for every token."""

_NAMED: Final = """\
SELECT metric, n, mean, std, min, {percentiles}, max
FROM (
    {figures}
)"""

_WEIGHTED: Final = """\
WITH weighted AS (
    SELECT *, sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto
    FROM ({values})
    WHERE value IS NOT NULL
),

totals AS (
    SELECT sum(weight)::BIGINT AS n, fsum(value * weight) / n AS mean FROM weighted
)

"""


def distributions(
    values: str,
    columns: Mapping[str, str],
    method: str,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> str:
    """The query of the distributions of columns, a row each.

    Args:
        values: SQL from FROM on: where the columns are, and conditions.
        columns: The columns, by what the rows are called.
        method: How percentiles are taken.
        chosen: Percentiles besides the usual ones, by name.
    """
    percentiles = {**PERCENTILES, **chosen}
    rows = ",\n        ".join(
        f"{{'metric': {quoted(label)}, {_figures(column, method, percentiles)}}}"
        for label, column in columns.items()
    )
    return _named(f"SELECT unnest([\n        {rows}\n    ], recursive := true)\n    {values}", percentiles)


def weighted_distribution(
    values: str, label: str, method: str, chosen: Mapping[str, Fraction] = PERCENTILES
) -> str:
    """The query of one distribution, with the columns of `distributions`.

    Args:
        values: A query of the columns `value` and `weight`: how often a value counts, a whole number.
        label: What the row is called.
        method: How percentiles are taken.
        chosen: Percentiles besides the usual ones, by name.
    """
    percentiles = {**PERCENTILES, **chosen}
    figures = (
        f"SELECT {quoted(label)} AS metric, n, mean, min(value) AS min, max(value) AS max,\n"  # noqa: S608 (ours)
        "        sqrt(fsum(weight * (value - mean) * (value - mean)) / nullif(n - 1, 0)) AS std,\n"
        f"        {weighted_percentiles_sql(method, percentiles.values())} AS percentiles\n"
        "    FROM weighted, totals\n"
        "    GROUP BY n, mean"
    )
    return _WEIGHTED.format(values=values) + _named(figures, percentiles)


def _named(figures: str, percentiles: Mapping[str, Fraction]) -> str:
    names = (f"percentiles[{place}] AS {name}" for place, name in enumerate(percentiles, 1))
    return _NAMED.format(figures=figures, percentiles=", ".join(names))


def distribution(column: str, method: str) -> str:
    """An SQL structure with the distribution of a column; NULLs are left out."""
    return f"{{{_figures(column, method, PERCENTILES)}}}"


def _figures(column: str, method: str, percentiles: Mapping[str, Fraction]) -> str:
    return (
        f"'n': count({column}), 'mean': favg({column}), 'std': stddev_samp({column}), "
        f"'min': min({column}), 'max': max({column}), "
        f"'percentiles': {percentiles_sql(method, percentiles.values(), column)}"
    )


def summaries(
    log: OpenLog,
    values: str,
    columns: Sequence[str],
    method: PercentileMethod,
    chosen: Mapping[str, Fraction] = PERCENTILES,
) -> dict[str, Summary | None]:
    """Summarize columns of a query, as many at once as memory has room for.

    DuckDB sorts the values of a column on one thread: where there are several batches, several are under way.

    Args:
        log: The log.
        values: SQL from FROM on; NULLs are left out, in each column for itself.
        columns: Their names.
        method: How percentiles are taken.
        chosen: The percentiles of `Summary.percentiles`, if not those of its fields.

    Returns:
        By the columns' names; None for one without values.
    """
    at_once = max(1, _VALUES_AT_ONCE // max(log.requests, 1))
    if at_once >= len(columns):
        return _of_batches(log, values, [columns], method, chosen)
    from reporter.many_requests import alike, on_a_thread, shares

    constant, distinct, copied = alike(log, values, columns, chosen)
    with ExitStack() as threads:
        works = (
            partial(_of_batches, values=values, batches=share, method=method, chosen=chosen)
            for share in shares(distinct, at_once)
        )
        parts = [threads.enter_context(on_a_thread(log, work)) for work in works]
        by_name = {name: summary(row, chosen) for name, row in constant.items()}
        for part in parts:
            by_name |= part()
    return {name: by_name.get(copied.get(name, name)) for name in columns}


def meanwhile(log: OpenLog, work: Callable[[OpenLog], _Made]) -> AbstractContextManager[Callable[[], _Made]]:
    """Work on a log of many requests while a context lasts; the context gives what waits for the result."""
    if log.has_samples_table:
        return nullcontext(partial(work, log))
    from reporter.many_requests import on_a_thread

    return on_a_thread(log, work)


def _of_batches(
    log: OpenLog,
    values: str,
    batches: Sequence[Sequence[str]],
    method: PercentileMethod,
    chosen: Mapping[str, Fraction],
) -> dict[str, Summary | None]:
    """Summarize batches of columns, one after the other."""
    return {
        row["metric"]: summary(row, chosen)
        for names in batches
        for row in rows_of(
            log.execute(distributions(values, dict(zip(names, names, strict=True)), method, chosen))
        )
    }


def weighted_summary(
    log: OpenLog, values: str, method: PercentileMethod, chosen: Mapping[str, Fraction] = PERCENTILES
) -> Summary | None:
    """Summarize values that count as often as their weight says; arguments as of `weighted_distribution`."""
    rows = rows_of(log.execute(weighted_distribution(values, "", method, chosen)))
    return summary(rows[0], chosen) if rows else None


def summaries_by_group(
    log: OpenLog, values: str, columns: Sequence[str], method: PercentileMethod
) -> dict[str, dict[Any, Summary]]:
    """Summarize columns of a query (SQL that begins with FROM) for each value of `part`.

    Returns:
        By column and by `part`; groups without values are absent.
    """
    figures = ", ".join(f"{distribution(column, method)} AS {column}" for column in columns)
    rows = rows_of(log.execute(f"SELECT part, {figures} {values} AND part IS NOT NULL GROUP BY part"))
    return {
        column: {row["part"]: of_part for row in rows if (of_part := summary_of(row[column]))}
        for column in columns
    }


def summary_of(figures: Mapping[str, Any]) -> Summary | None:
    """A structure that `distribution` makes as a value."""
    return summary({**figures, **dict(zip(PERCENTILES, figures["percentiles"] or (), strict=False))})


def summary(row: Mapping[str, Any], chosen: Mapping[str, Fraction] = PERCENTILES) -> Summary | None:
    """A row of a query of distributions; None where it has no values."""
    if not row["n"]:
        return None
    low, high = float(row["min"]), float(row["max"])

    def inside(name: str) -> float:
        """No rounding takes a figure out of the range of the values."""
        return float(min(max(row[name], low), high))

    return Summary(
        count=row["n"],
        mean=inside("mean"),
        std=row["std"],
        min=low,
        max=high,
        **{name: inside(name) for name in PERCENTILES},
        percentiles={} if chosen is PERCENTILES else {name: inside(name) for name in chosen},
    )
