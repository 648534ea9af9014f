"""From the log to the values of a metric: DuckDB sorts the values, Arrow passes them without a copy."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

from reporter.bounds import column, gaps
from reporter.log.condition import condition
from reporter.measured.blocks import FINEST
from reporter.measured.ranked import Ranked
from reporter.measured.sample import LogSample, SpanValues
from reporter.measured.timeline import issued_in
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod
    from rulesets.evidence import Where
    from rulesets.metric_definition import ValueEnd

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
        log: The log, with the views as the definitions want them.
        method: How percentiles are taken.
        violations: How many requests of a part failed, or were given up, where each of them is an infinite
            value; None where failures are not violations.
        end: With it, each value is the least or the most that it can be (`reporter.bounds`).
    """

    log: OpenLog
    method: PercentileMethod
    violations: Callable[[Where], int] | None = None
    end: ValueEnd | None = None

    def of(self, metric: str, where: Where) -> LogSample:
        """The values of a metric over a part of the requests that completed."""
        table = self._table(f"FROM ({_rows(metric, condition(where), '0', self.end)})", metric)
        # A request that failed generated nothing: an infinite latency, but no infinite speed.
        is_speed = BY_NAME[metric].quantity.kind == "speed"
        infinite = self.violations(where) if self.violations and not is_speed else 0
        ranked = Ranked(_packed(table["value"], "d"), _upto(table), infinite)
        requests = cache(lambda: self._requests(where) if _is_of_gaps(metric) else ranked.count)
        one_by_one = cache(lambda: self._one_by_one(metric, where))
        return LogSample(
            ranked,
            self.method,
            means=cache(lambda: self._means(metric, where)),
            spans=lambda low, high: self._spans(metric, where, low, high),
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
        many = requests() > ONE_BY_ONE
        if not many and not _is_of_gaps(metric):
            return [(1, value if edge is None else float(value <= edge)) for value in one_by_one()]
        span = issued_in(self.log, SPANS) if many else BY_ISSUE
        rows, amount = _rows(metric, condition(where), span, self.end), "fsum(value * weight)"
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
        """The value of each request that has one, in the order of issue."""
        rows = _rows(metric, condition(where), BY_ISSUE, self.end)
        query = f"SELECT value FROM ({rows}) ORDER BY span"  # noqa: S608 (what a log or a rule has is quoted)
        return [value for (value,) in self.log.execute(query).fetchall()]

    def _requests(self, where: Where) -> int:
        """How many requests completed."""
        [[count]] = self.log.execute(
            f"SELECT count(*) FROM samples WHERE measured AND status = 'completed' AND {condition(where)}"  # noqa: S608 (what a log or a rule has is quoted)
        ).fetchall()
        return int(count)

    def _means(self, metric: str, where: Where) -> Sequence[tuple[int, float]]:
        """For each of the finest spans of time: the count of values, and the sum."""
        rows = _rows(metric, condition(where), issued_in(self.log), self.end)
        span_rows = self.log.execute(
            f"SELECT span, sum(weight)::BIGINT, fsum(value * weight) FROM ({rows}) GROUP BY span"  # noqa: S608 (what a log or a rule has is quoted)
        ).fetchall()
        sums = {span: (count, total) for span, count, total in span_rows}
        return [sums.get(number, (0, 0.0)) for number in range(FINEST)]

    def _spans(self, metric: str, where: Where, low: float, high: float) -> Sequence[SpanValues]:
        """For each of the finest spans of time: the counts up to `low`, up to `high`, and in all."""
        span = issued_in(self.log)
        rows = _rows(metric, condition(where), span, self.end)
        span_rows = self.log.execute(
            "SELECT span, coalesce(sum(weight) FILTER (value <= $low), 0)::BIGINT, sum(weight)::BIGINT "  # noqa: S608 (what a log or a rule has is quoted)
            f"FROM ({rows}) GROUP BY span",
            {"low": low},
        ).fetchall()
        counts = {number: (below, finite) for number, below, finite in span_rows}
        table = self._table(
            f"FROM ({rows}) WHERE value > '{low!r}'::DOUBLE AND value <= '{high!r}'::DOUBLE", metric, "span, "
        )
        spans, values = _packed(table["span"], "q"), _packed(table["value"], "d")
        edges = [bisect_left(spans, number) for number in range(FINEST + 1)]
        infinite = self._lost(where, span)
        return [
            SpanValues(
                *counts.get(number, (0, 0)),
                infinite[number],
                Ranked(values[start:end], _upto(table, start, end)),
            )
            for number, (start, end) in enumerate(pairwise(edges))
        ]

    def _table(self, rows: str, metric: str, by: str = "") -> Any:
        """Values in ascending order, optionally by span: each separately, or with multiplicity."""
        weight, grouped = (
            (", sum(weight)::BIGINT AS weight", f"GROUP BY {by}value") if metric in _REPEATED else ("", "")
        )
        return self.log.connection.sql(
            f"SELECT {by}value{weight} {rows} {grouped} ORDER BY {by}value"
        ).to_arrow_table()

    def _lost(self, where: Where, span: str) -> list[int]:
        """How many infinite values each of the finest spans has."""
        if not self.violations:
            return [0] * FINEST
        rows = self.log.execute(
            f"SELECT {span} AS span, count(*) FROM samples "  # noqa: S608 (what a log or a rule has is quoted)
            f"WHERE measured AND status IN ('failed', 'cancelled') AND {condition(where)} GROUP BY ALL"
        ).fetchall()
        counts = dict(rows)
        return [counts.get(number, 0) for number in range(FINEST)]


def _is_of_gaps(metric: str) -> bool:
    """Whether a request has many values of a metric."""
    return BY_NAME[metric].per == "gap"


def _rows(metric: str, where: str, span: str, end: ValueEnd | None) -> str:
    """SQL for the values, each with span and multiplicity."""
    if _is_of_gaps(metric) and end:
        requests = (
            f"SELECT *, ({span})::BIGINT AS span FROM counted "  # noqa: S608 (what a log or a rule has is quoted)
            f"WHERE measured AND status = 'completed' AND {where}"
        )
        return gaps(end, requests)
    if _is_of_gaps(metric):
        return (
            "SELECT span, gap_us / 1e3 AS value, count(*) AS weight "  # noqa: S608 (what a log or a rule has is quoted)
            f"FROM (SELECT ({span})::BIGINT AS span, unnest(chunk_gaps_us[2:]) AS gap_us FROM counted "
            f"WHERE measured AND status = 'completed' AND {where}) GROUP BY span, gap_us"
        )
    values = column(metric, end)
    return (
        f"SELECT ({span})::BIGINT AS span, {values}::DOUBLE AS value, 1 AS weight FROM samples "  # noqa: S608 (what a log or a rule has is quoted)
        f"WHERE measured AND status = 'completed' AND value IS NOT NULL AND {where}"
    )


def _upto(table: Any, start: int = 0, end: int | None = None) -> Sequence[int] | None:
    """Up to each value how many there are, from one row to another; None where each is there once."""
    if "weight" not in table.column_names:
        return None
    return list(accumulate(_packed(table["weight"], "q")[start:end]))


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
