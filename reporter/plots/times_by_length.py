"""Times by the length of a request's input and output."""

from __future__ import annotations

from typing import Final

from reporter.plots.definition import PlotDefinition
from reporter.plots.plot_value import Axis

_MOST_POINTS: Final = 500
"""Requests that are points of their own."""
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
