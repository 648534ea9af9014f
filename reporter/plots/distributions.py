"""The distributions of the latencies: as histograms, as CDFs, and by percentile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reporter.plots.definition import PlotDefinition
from reporter.plots.plot import Axis

_STEPS: Final = 200
"""Of a CDF: one for each 0.5 %."""


@dataclass(frozen=True, slots=True)
class _Latency:
    """A latency whose distribution is plotted.

    Attributes:
        name: In the names of plots.
        label: In their titles.
        values: SQL for its values in ms, each with how often it occurred.
        lacking: Why there are none.
    """

    name: str
    label: str
    values: str
    lacking: str


def _of_samples(column: str) -> str:
    return f"""\
    SELECT ${{part_of}}{column} AS value, count(*) AS weight
    FROM samples
    WHERE measured AND status = 'completed' AND value IS NOT NULL$few
    GROUP BY ALL"""  # noqa: S608 (a column of this program's)


_OF_CHUNKS: Final = """\
    SELECT ${part_of}gap_ms AS value, count(*) AS weight
    FROM chunks JOIN samples USING (sample_uuid)
    WHERE measured AND status = 'completed' AND value IS NOT NULL$few
    GROUP BY ALL"""

_NO_STREAM: Final = "no measured request has completed with a streamed token"

LATENCIES: Final = (
    _Latency("ttft", "TTFT", _of_samples("ttft_ms"), _NO_STREAM),
    _Latency(
        "tpot",
        "TPOT",
        _of_samples("tpot_ms"),
        "no measured request has completed with more than one output token in a stream",
    ),
    _Latency("itl", "ITL", _OF_CHUNKS, "no measured request has completed with more than one streamed chunk"),
    _Latency("latency", "latency", _of_samples("latency_ms"), "no measured request has completed"),
)

_CDF: Final = """\
WITH "values" AS (
{values}
),

cumulated AS (
    SELECT {part}value, weight,
        (sum(weight) OVER (PARTITION BY {part}1 ORDER BY value))::BIGINT AS up_to,
        (sum(weight) OVER (PARTITION BY {part}1))::BIGINT AS n
    FROM "values"
)

SELECT {part}'{label}' AS series, value AS x, 100 * up_to / n AS y
FROM cumulated
-- The values at which the share passes the next {step} %: exact ones, of any number of requests.
WHERE up_to * {steps} // n > (up_to - weight) * {steps} // n OR up_to = weight
ORDER BY {part}x
"""


def _cdf(latency: _Latency) -> PlotDefinition:
    return PlotDefinition(
        name=f"{latency.name}-cdf",
        title=f"{latency.label}: cumulative distribution",
        shows=f"the share of values of {latency.label} up to each time",
        x=Axis(latency.label, "ms"),
        y=Axis("share of requests" if latency.name != "itl" else "share of gaps", "%"),
        kinds="step",
        sql=_CDF.format(
            values=latency.values, label=latency.label, steps=_STEPS, step=100 / _STEPS, part="${part}"
        ),
        lacking=latency.lacking,
    )


DISTRIBUTIONS: Final = tuple(make(latency) for latency in LATENCIES for make in (_cdf,))
