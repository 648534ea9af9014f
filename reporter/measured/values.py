"""From the log to the values of a metric: DuckDB sorts the values, Arrow passes them without a copy."""

from __future__ import annotations

import math
from array import array
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from reporter.late_read_bounds import column, gaps
from reporter.log.sql_files import condition
from reporter.measured.log_sample import LogSample, Ranked
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod
    from rulesets.evidence import Where
    from rulesets.quantity import ValueEnd

_REPEATED: Final = frozenset(
    metric.name for metric in REQUEST_METRICS if metric.quantity.kind == "length" or metric.per == "gap"
)
"""Metrics of few different values: how often each occurs is all that is kept of them."""

ONE_BY_ONE: Final = 2048
"""The most requests that are taken one by one where their order matters."""

SPANS: Final = 1024
"""For more requests, the number of equal spans of time."""

BY_ISSUE: Final = "row_number() OVER (ORDER BY issued_ns, sample_uuid)"
"""SQL for a request's place in the order of issue."""


@dataclass(frozen=True, slots=True)
class Values:
    """Where the values of an opened log come from.

    Attributes:
        violations: How many requests of a part failed, or were given up, where each of them is an infinite
            value; None where failures are not violations.
        end: With it, each value is the least or the most that it can be (`reporter.late_read_bounds`).
    """

    log: OpenLog
    method: PercentileMethod
    violations: Callable[[Where], int] | None = None
    end: ValueEnd | None = None

    def of(self, metric: str, where: Where) -> LogSample:
        """The values of a metric over a part of the requests that completed."""
        values, *weights = self._columns(
            f"FROM ({rows_sql(metric, condition(where), '0', self.end)})", metric
        )
        infinite = self.violations(where) if self.violations and self._are_lost(metric) else 0
        upto = list(accumulate(weights[0])) if weights else None
        ranked = Ranked(values, upto, infinite)
        requests = cache(lambda: self._requests(where) if is_of_gaps(metric) else ranked.count)
        one_by_one = cache(lambda: self._one_by_one(metric, where))
        return LogSample(
            ranked,
            self.method,
            means=cache(lambda: self._means(metric, where)),
            order=lambda edge: self._in_order(metric, where, edge, requests, one_by_one),
        )

    def _in_order(
        self,
        metric: str,
        where: Where,
        edge: float | None,
        requests: Callable[[], int],
        one_by_one: Callable[[], Sequence[float]],
    ) -> Sequence[tuple[int, float]]:
        """For each request in order of issue: the count of values, and the sum or the count up to an edge.

        Of many requests, for each of equal spans of time.
        """
        from reporter.measured.timeline import issued_in

        many = requests() > ONE_BY_ONE
        if not many and not is_of_gaps(metric):
            if edge is not None:
                return [(1, float(value <= edge)) for value in one_by_one()]
            return [(1, value) for value in one_by_one() if math.isfinite(value)]
        span = issued_in(self.log, SPANS) if many else BY_ISSUE
        lost = self._are_lost(metric) and edge is not None
        rows = rows_sql(metric, condition(where), span, self.end, lost=lost, grouped=edge is None)
        amount = "fsum(value * weight)"
        if edge is not None:
            amount = f"coalesce(sum(weight) FILTER (value <= '{edge!r}'::DOUBLE), 0)::DOUBLE"
        span_rows = self.log.execute(
            f"SELECT span, sum(weight)::BIGINT, {amount} FROM ({rows}) "  # noqa: S608 (what a log or a rule has is quoted)
            "GROUP BY span ORDER BY span"
        ).fetchall()
        amounts = {number: (count, total) for number, count, total in span_rows}
        if not many:
            return list(amounts.values())
        return [amounts.get(number, (0, 0.0)) for number in range(SPANS)]

    def _one_by_one(self, metric: str, where: Where) -> Sequence[float]:
        """The value of each request that has one, in the order of issue; violations are infinite."""
        rows = rows_sql(metric, condition(where), BY_ISSUE, self.end, lost=self._are_lost(metric))
        query = f"SELECT value FROM ({rows}) ORDER BY span"  # noqa: S608 (what a log or a rule has is quoted)
        return [value for (value,) in self.log.execute(query).fetchall()]

    def _are_lost(self, metric: str) -> bool:
        return self.violations is not None and are_lost(metric)

    def _requests(self, where: Where) -> int:
        """How many requests completed."""
        [[count]] = self.log.execute(
            f"SELECT count(*) FROM samples WHERE measured AND status = 'completed' AND {condition(where)}"  # noqa: S608 (what a log or a rule has is quoted)
        ).fetchall()
        return int(count)

    def _means(self, metric: str, where: Where) -> Sequence[tuple[int, float]]:
        """For each of the finest spans of time: the count of values, and the sum."""
        from reporter.measured.timeline import FINEST, issued_in

        rows = rows_sql(metric, condition(where), issued_in(self.log), self.end)
        span_rows = self.log.execute(
            f"SELECT span, sum(weight)::BIGINT, fsum(value * weight) FROM ({rows}) GROUP BY span"  # noqa: S608 (what a log or a rule has is quoted)
        ).fetchall()
        sums = {span: (count, total) for span, count, total in span_rows}
        return [sums.get(number, (0, 0.0)) for number in range(FINEST)]

    def _columns(self, rows: str, metric: str) -> list[Sequence[Any]]:
        """Values in ascending order; of repeated ones, each once, and how often each occurs."""
        kinds: list[Literal["d", "q"]] = ["d", "q"] if metric in _REPEATED else ["d"]
        weight, grouped = (", sum(weight)::BIGINT AS weight", "GROUP BY value") if kinds[1:] else ("", "")
        query = f"SELECT value{weight} FROM ({rows}) {grouped} ORDER BY value"  # noqa: S608 (what a log or a rule has is quoted)
        if self.log.has_samples_table:
            # Of few requests: pyarrow takes 0.1 s of CPU to import.
            columns = zip(*self.log.execute(query).fetchall(), strict=True)
            return [array(kind, column) for kind, column in zip(kinds, columns, strict=False)] or [()]
        table = self.log.connection.sql(query).to_arrow_table()
        return [_packed(column, kind) for kind, column in zip(kinds, table.columns, strict=True)]


def are_lost(metric: str) -> bool:
    """Whether a failed request can have an infinite value: it generated nothing, so no infinite speed."""
    return BY_NAME[metric].per != "session" and BY_NAME[metric].quantity.kind != "speed"


def is_of_gaps(metric: str) -> bool:
    """Whether a request has many values of a metric."""
    return BY_NAME[metric].per == "gap"


def rows_sql(
    metric: str,
    where: str,
    span: str = "0",
    end: ValueEnd | None = None,
    *,
    lost: bool = False,
    grouped: bool = True,
) -> str:
    """SQL for the values, each with span and multiplicity; with infinite ones of `lost` requests.

    Where gaps are not `grouped`, each is a row: of many spans that is faster.
    """
    if is_of_gaps(metric) and end:
        requests = (
            f"SELECT *, ({span})::BIGINT AS span FROM counted "  # noqa: S608 (what a log or a rule has is quoted)
            f"WHERE measured AND status = 'completed' AND {where}"
        )
        return gaps(end, requests)
    if is_of_gaps(metric):
        weight, group = ("count(*)", " GROUP BY span, gap_us") if grouped else ("1", "")
        return (
            f"SELECT span, gap_us / 1e3 AS value, {weight} AS weight "  # noqa: S608 (what a log or a rule has is quoted)
            f"FROM (SELECT ({span})::BIGINT AS span, unnest(chunk_gaps_us[2:]) AS gap_us FROM counted "
            f"WHERE measured AND status = 'completed' AND {where}){group}"
        )
    if BY_NAME[metric].per == "session":
        return (
            f"SELECT ({span})::BIGINT AS span, {BY_NAME[metric].column}::DOUBLE AS value, 1 AS weight "  # noqa: S608 (ours)
            "FROM (SELECT *, duration_ms AS session_ms, started_ns AS issued_ns, "
            "conversation_id AS sample_uuid FROM sessions WHERE measured AND ending = 'completed') "
            "WHERE value IS NOT NULL"
        )
    values = f"{column(metric, end)}::DOUBLE"
    ended = "'completed'"
    if lost:
        values = f"CASE status WHEN 'completed' THEN {values} ELSE 'infinity' END"
        ended += ", 'failed', 'cancelled'"
    return (
        f"SELECT ({span})::BIGINT AS span, {values} AS value, 1 AS weight FROM samples "  # noqa: S608 (what a log or a rule has is quoted)
        f"WHERE measured AND status IN ({ended}) AND value IS NOT NULL AND {where}"
    )


def _packed(column: Any, kind: Literal["d", "q"]) -> Sequence[Any]:
    """The numbers of an Arrow column without NULLs, without a copy."""
    import pyarrow as pa

    numbers = column.combine_chunks()
    if isinstance(numbers, pa.ChunkedArray):
        numbers = numbers.chunk(0) if numbers.num_chunks else pa.array([], column.type)
    content = numbers.buffers()[1]
    if not len(numbers):
        return ()
    view: Sequence[Any] = memoryview(content).cast("B").cast(kind)
    return view[numbers.offset : numbers.offset + len(numbers)]
