"""The distributions of the latencies: as histograms, as CDFs, and by percentile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.plots.definition import PlotDefinition
from reporter.plots.plot_value import Axis

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEPS: Final = 200
"""Of a CDF: a step for each 0.5 %."""
_BARS: Final = 50
"""Of a histogram."""


@dataclass(frozen=True, slots=True)
class _PlottedLatency:
    """A latency with a plotted distribution.

    Attributes:
        of: What has one value each.
        values: SQL for its values in ms, each with how often it occurred.
        values_of_whole: The SQL for all requests, where that is another one.
    """

    name: str
    label: str
    of: str
    values: str
    lacking: str
    values_of_whole: str = ""


def _of_samples(column: str) -> str:
    return f"""\
    SELECT $part_of, {column} AS value, count(*) AS weight
    FROM samples
    WHERE measured AND status = 'completed' AND value IS NOT NULL$few
    GROUP BY ALL"""  # noqa: S608 (a column of this program's)


_OF_CHUNKS: Final = """\
    SELECT $part_of, gap_ms AS value, count(*) AS weight
    FROM chunks JOIN samples USING (sample_uuid)
    WHERE measured AND status = 'completed' AND value IS NOT NULL$few
    GROUP BY ALL"""

_OF_ALL_CHUNKS: Final = "    SELECT $part_of, value, weight FROM gap_counts"

_NO_STREAM: Final = "no measured request has completed with a streamed token"

_LATENCIES: Final = (
    _PlottedLatency("ttft", "TTFT", "requests", _of_samples("ttft_ms"), _NO_STREAM),
    _PlottedLatency(
        "tpot",
        "TPOT",
        "requests",
        _of_samples("tpot_ms"),
        "no measured request has completed with more than one output token in a stream",
    ),
    _PlottedLatency(
        "itl",
        "ITL",
        "gaps",
        _OF_CHUNKS,
        "no measured request has completed with more than one streamed chunk",
        _OF_ALL_CHUNKS,
    ),
    _PlottedLatency(
        "latency", "Latency", "requests", _of_samples("latency_ms"), "no measured request has completed"
    ),
)

_CUMULATED: Final = """\
WITH "values" AS (
{values}
),

cumulated AS (
    SELECT part, value, weight,
        (sum(weight) OVER (PARTITION BY part ORDER BY value))::BIGINT AS up_to,
        (sum(weight) OVER (PARTITION BY part))::BIGINT AS n
    FROM "values"
)"""

_CDF: Final = (
    _CUMULATED
    + """

SELECT $part'{label}' AS series, value AS x, 100 * up_to / n AS y
FROM cumulated
-- The values at which the share passes the next 0.5 %: exact ones, of any number of requests.
WHERE up_to * {steps} // n > (up_to - weight) * {steps} // n OR up_to = weight
ORDER BY part, x
"""
)

_HISTOGRAM: Final = """\
WITH "values" AS (
{values}
),

-- The slowest 1 % would take most of the axis.
limits AS (
    SELECT min(value) AS first, min(value) FILTER (up_to >= 0.99 * n) AS last,
        greatest((last - first) / {bars}, 0.001) AS width
    FROM (SELECT value, sum(weight) OVER (ORDER BY value) AS up_to, sum(weight) OVER () AS n FROM "values")
),

counts AS (
    SELECT part, least(floor((value - first) / width), {bars} - 1) AS bar,
        sum(weight) FILTER (value <= last) AS weight
    FROM "values", limits
    GROUP BY ALL
),

totals AS (SELECT part, sum(weight) AS n FROM "values" GROUP BY ALL)

SELECT $part'{label}' AS series, first + (bar + 0.5) * width AS x, 100 * weight / n AS y,
    first + bar * width AS low, first + (bar + 1) * width AS high
FROM counts JOIN totals USING (part), limits
WHERE weight > 0
ORDER BY part, x
"""

_PERCENTILES: Final = (
    _CUMULATED  # noqa: S608 (values of this program's)
    + """,

-- By the method `linear`: interpolated between the values of two ranks, which count from 0.
ranks AS (
    SELECT part, share, (n - 1) * share AS rank, floor(rank) AS below, ceil(rank) AS above
    FROM (SELECT DISTINCT part, n FROM cumulated), (
        SELECT unnest(list_sort(list_distinct(
            [0.5, 0.95] || [round(1 - 10 ** (-step / 20), 6) for step in range(0, 81)]
        ))) AS share
    )
    WHERE share <= 1 - 1 / n OR share = 0.5
)

SELECT $part'{label}' AS series, share AS x,
    lower.value + (upper.value - lower.value) * (rank - below) AS y
FROM ranks
ASOF JOIN (SELECT part AS part_below, value, up_to FROM cumulated) AS lower
    ON part = part_below AND below < lower.up_to
ASOF JOIN (SELECT part AS part_above, value, up_to FROM cumulated) AS upper
    ON part = part_above AND above < upper.up_to
WHERE y > 0
ORDER BY part, x
"""
)


def _plots(latency: _PlottedLatency) -> Iterator[PlotDefinition]:
    times = Axis(latency.label, "ms")
    share = Axis(f"share of {latency.of}", "%")

    def plot(form: str, *, title: str, shows: str, template: str, **rest: Any) -> PlotDefinition:
        def sql(values: str) -> str:
            return template.format(values=values, label=latency.label, bars=_BARS, steps=_STEPS)

        return PlotDefinition(
            name=f"{latency.name}-{form}",
            title=f"{latency.label}{title}",
            shows=f"{latency.label}: {shows}",
            sql=sql(latency.values),
            sql_of_whole=sql(latency.values_of_whole) if latency.values_of_whole else "",
            lacking=latency.lacking,
            **rest,
        )

    yield plot(
        "histogram",
        title=": histogram",
        shows=f"how many {latency.of} took how long",
        template=_HISTOGRAM,
        x=times,
        y=share,
        kinds="bars",
        note=f"The slowest 1 % of the {latency.of} are left out: `{latency.name}-percentiles` has them.",
        overlays=False,
    )
    yield plot(
        "cdf",
        title=": cumulative distribution",
        shows=f"the share of {latency.of} that took at most that long",
        template=_CDF,
        x=times,
        y=share,
        kinds="step",
    )
    yield plot(
        "percentiles",
        title=" by percentile",
        shows="each percentile, the tail on a logarithmic scale",
        template=_PERCENTILES,
        x=Axis("percentile", "%", "percentile"),
        y=Axis(latency.label, "ms", "log"),
        kinds="line",
        note="Linear interpolation between two ranks, as in the report.",
    )


DISTRIBUTIONS: Final = tuple(plot for latency in _LATENCIES for plot in _plots(latency))


_MOST_POINTS: Final = 500
"""Requests that are their own points."""
_BANDS: Final = 40
_REQUESTS_A_BAND: Final = 25

_BAND: Final = "p50, p10 to p90"

_SQL: Final = """\
WITH "values" AS (
    SELECT $part_of, {length} AS length, {metric} AS value
    FROM samples
    WHERE measured AND status = 'completed' AND length IS NOT NULL AND value IS NOT NULL$few
),

-- Ranges of lengths, all equally wide.
ranges AS (
    SELECT count(*) AS n, least(greatest(n // {at_least}, 4), {bands}) AS bands, min(length) AS least,
        greatest((max(length) - least) / bands, 1) AS width
    FROM "values"
    HAVING max(length) > least
)

SELECT $part series, x, y, low, high
FROM (
    SELECT part, '{band}' AS series, avg(length) AS x, quantile_cont(value, 0.5) AS y,
        quantile_cont(value, 0.1) AS low, quantile_cont(value, 0.9) AS high
    FROM "values", ranges
    GROUP BY part, least(floor((length - least) / width), bands - 1)
    UNION ALL
    SELECT part, 'requests', length, value, NULL, NULL FROM "values", ranges WHERE n <= {most}
)
ORDER BY part, series, x, y
"""


def _plot(name: str, label: str, metric: str, length: str) -> PlotDefinition:
    return PlotDefinition(
        name=f"{name}-by-{length}-length",
        title=f"{label} by {length} length",
        shows=f"{label} of requests with short and long {length}s",
        x=Axis(f"{length} tokens", ""),
        y=Axis(label, "ms"),
        kinds={_BAND: "band", "requests": "points"},
        sql=_SQL.format(
            length=f"{length}_tokens",
            metric=metric,
            bands=_BANDS,
            at_least=_REQUESTS_A_BAND,
            band=_BAND,
            most=_MOST_POINTS,
        ),
        lacking=f"no measured request has completed whose {length} tokens are known, or all have as many",
        note=f"Each range of lengths has its median, and the middle 80 %; up to {_MOST_POINTS} requests are "
        "points as well.",
    )


LENGTHS: Final = (
    _plot("latency", "Latency", "latency_ms", "input"),
    _plot("latency", "Latency", "latency_ms", "output"),
    _plot("ttft", "TTFT", "ttft_ms", "input"),
)
