"""The figures of parts of the requests: by phase, endpoint, turn, stage of the load, and tag of the dataset.

A tag with a single value is left out: the whole report is about it. There are at most `MOST_VALUES` rows of
values; the last one then has all the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.distribution import distribution, summary_of
from reporter.late_read_bounds import ENDS, are_in_doubt, bounds_by_part, column
from reporter.log.database import rows_of
from reporter.log.sql_files import value_of_tag
from reporter.report import PartReport
from rulesets.definitions import PERCENTILES
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog
    from reporter.report import MetricBounds
    from rulesets.definitions import PercentileMethod

MOST_VALUES: Final = 50

STAGE: Final = "stage"
"""Parts with rates over their own spans, which no view has."""

METRICS: Final = tuple(metric.name for metric in REQUEST_METRICS if metric.in_parts)

_COLUMNS: Final = tuple(map(column, METRICS))

_OF_COMPLETED: Final = "CASE status WHEN 'completed' THEN {} END"

_FREQUENT: Final = "-count(*)"

_RATES: Final = """\
    SELECT {value} AS value, count(*) FILTER (in_window) AS completions,
        sum_of_tokens(output_tokens) AS output_tokens, any_value(duration_s) AS seconds
    FROM arrived, measured_window
    GROUP BY value"""

_WARMUP_RATES: Final = """
    UNION ALL
    SELECT 'warmup', count(*), sum(output_tokens), any_value(seconds)
    FROM samples, (SELECT sum(ended_ns - started_ns) / 1e9 AS seconds FROM phases WHERE phase = 'warmup')
    WHERE phase = 'warmup' AND status = 'completed'"""

_LABELS: Final = """\
labels AS (
    SELECT value, least(row_number() OVER (ORDER BY place NULLS LAST, value), {most}) AS part
    FROM (SELECT {value} AS value, {order} AS place FROM samples WHERE {where} GROUP BY value)
)"""

_LABELED: Final = """\
CREATE OR REPLACE TEMP TABLE labeled AS
WITH {labels}

SELECT part, status, {columns}
FROM samples JOIN labels ON {value} IS NOT DISTINCT FROM labels.value
WHERE {where}"""

_PARTS: Final = """\
WITH {labels},

rates AS (
{rates}
),

rates_of_parts AS (
    SELECT part, any_value(labels.value) AS value, count(*) AS values, {seconds} AS duration_s,
        sum(completions) AS completions, sum(output_tokens) AS output_tokens
    FROM labels LEFT JOIN rates ON rates.value IS NOT DISTINCT FROM labels.value
    GROUP BY part
),

requests_of_parts AS (
    SELECT
        part,
        count(*) AS issued,
        count(*) FILTER (status = 'completed') AS completed,
        count(*) FILTER (status = 'failed') AS failed,
        count(*) FILTER (status = 'cancelled') AS cancelled,
        {figures}
    FROM samples JOIN labels ON {value} IS NOT DISTINCT FROM labels.value
    WHERE {where}
    GROUP BY part
)

SELECT
    if(values = 1, value, NULL) AS value, values, issued, completed, failed, cancelled,
    failed / nullif(completed + failed + cancelled, 0) AS error_rate,
    nullif(duration_s, 0) AS duration_s,
    coalesce(completions, 0) / nullif(duration_s, 0) AS requests_per_s,
    if(completed = 0, coalesce(output_tokens, 0), output_tokens) / nullif(duration_s, 0)
        AS output_tokens_per_s,
    {percentiles},
    part, {columns}
FROM requests_of_parts JOIN rates_of_parts USING (part)
ORDER BY part"""


@dataclass(frozen=True, slots=True)
class By:
    """A way to break requests down, as SQL.

    Attributes:
        value: Over `samples` and `arrived`: the common text of a part.
        order: Over `samples`: what the parts are sorted by, in ascending order.
        rates: A query of the completions, the tokens and the seconds of each value.
        seconds: Over that query: how long the rates of a part are counted.
        where: The requests that it is about.
        before: A statement that comes first.
    """

    value: str
    order: str
    rates: str
    seconds: str = "(SELECT duration_s FROM measured_window)"
    where: str = "measured"
    before: str = ""

    def labels(self) -> str:
        """The subquery of the number of each value's part."""
        return _LABELS.format(value=self.value, order=self.order, where=self.where, most=MOST_VALUES)


def breakdown(
    log: OpenLog, names: Sequence[str], stages: By | None, method: PercentileMethod
) -> dict[str, list[PartReport]]:
    """Break the requests down in the ways of these names, and by stages where the load has some."""
    ways = {name: by_name(name) for name in names}
    if stages is not None:
        ways[STAGE] = stages
    return {name: _parts(log, by, method) for name, by in ways.items()}


def by_name(name: str) -> By:
    """The way of a name of `Report.breakdown` but `STAGE`."""
    if name == "phase":
        rates = _RATES.format(value="'performance'") + _WARMUP_RATES
        phases = "phase IN ('warmup', 'performance')"
        return By("phase", "min(issued_ns)", rates, "sum(seconds)", phases)
    order = _FREQUENT
    if name == "endpoint":
        value = name
    elif name == "turn":
        value, order = "turn::VARCHAR", "min(turn)"
    else:
        value = value_of_tag(name.removeprefix("tag:"))
    return By(value, order, _RATES.format(value=value))


def parts_sql(by: By, method: str) -> str:
    """The query of the parts of a run, a row each."""
    percentiles = (
        f"{name}.percentiles[{place}] AS {name.removesuffix('_ms')}_{percentile}_ms"
        for name in _COLUMNS
        for place, percentile in enumerate(PERCENTILES, 1)
        if percentile in {"p50", "p99"}
    )
    figures = (f"{distribution(_OF_COMPLETED.format(name), method)} AS {name}" for name in _COLUMNS)
    return by.before + _PARTS.format(
        labels=by.labels(),
        value=by.value,
        where=by.where,
        rates=by.rates,
        seconds=by.seconds,
        percentiles=", ".join(percentiles),
        figures=",\n        ".join(figures),
        columns=", ".join(_COLUMNS),
    )


def _parts(log: OpenLog, by: By, method: PercentileMethod) -> list[PartReport]:
    rows = rows_of(log.execute(parts_sql(by, method)))
    bounds = _bounds(log, by, method) if are_in_doubt(log) else {}
    return [
        PartReport(
            qps=row["requests_per_s"],
            output_tps=row["output_tokens_per_s"],
            **{name: row[name] for name in _COUNTED} | {name: summary_of(row[name]) for name in _COLUMNS},
            bounds=bounds.get(row["part"], {}),
        )
        for row in rows
    ]


_COUNTED: Final = (
    *("value", "values", "issued", "completed", "failed", "cancelled"),
    *("error_rate", "duration_s"),
)


def _bounds(log: OpenLog, by: By, method: PercentileMethod) -> dict[Any, dict[str, MetricBounds]]:
    columns = dict.fromkeys(column(metric, end) for metric in METRICS for end in ENDS)
    log.execute(
        _LABELED.format(labels=by.labels(), value=by.value, where=by.where, columns=", ".join(columns))
    )
    return bounds_by_part(log, "FROM labeled WHERE status = 'completed'", METRICS, method)
