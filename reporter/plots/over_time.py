"""A run over time: rates, requests in flight, tokens, TTFT, and client overhead."""

from __future__ import annotations

from typing import Final

from reporter.plots.definition import PlotDefinition
from reporter.plots.plot_value import Axis

TIME: Final = Axis("time since the start of the measured window", "s", "time")

_MOST_MOMENTS: Final = 120
_FEWEST_MOMENTS: Final = 20
_REQUESTS_A_MOMENT: Final = 8
"""Fewer would make rates and percentiles jump."""

_NOTHING: Final = "no request has been issued"

SEGMENTS: Final = """\
-- Segments of a resumed run follow each other: the time between them does not count.
WITH segments AS (
    SELECT segment, min(least(scheduled_ns, issued_ns)) AS first_ns,
        max(greatest(issued_ns, ended_ns)) AS last_ns, count(*) AS requests
    FROM samples
    WHERE issued_ns IS NOT NULL
    GROUP BY segment
),

clock AS (
    SELECT segment, first_ns, last_ns,
        first_ns - coalesce(sum(last_ns - first_ns) OVER (
            ORDER BY segment ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0)::BIGINT + coalesce(start_ns - min(first_ns) OVER (), 0) AS origin_ns
    FROM segments, measured_window
)"""

CLOCK: Final = f"""\
{SEGMENTS},

-- At most {_MOST_MOMENTS} moments, of 1, 2 or 5 times a power of ten.
moments AS (
    SELECT width, floor(min((first_ns - origin_ns) / 1e9) / width)::BIGINT AS first_moment,
        floor(max((last_ns - origin_ns) / 1e9) / width)::BIGINT AS last_moment
    FROM clock, (
        SELECT 10 ** floor(log10(least_s)) AS power,
            power * CASE WHEN least_s <= power THEN 1 WHEN least_s <= 2 * power THEN 2
                WHEN least_s <= 5 * power THEN 5 ELSE 10 END AS width
        FROM (
            SELECT greatest(sum(last_ns - first_ns) / 1e9
                / least(greatest(sum(requests) / {_REQUESTS_A_MOMENT}, {_FEWEST_MOMENTS}), {_MOST_MOMENTS}),
                0.001) AS least_s
            FROM segments
        )
    )
    GROUP BY width
),

requests AS (
    SELECT $part_of, *, (scheduled_ns - origin_ns) / 1e9 AS scheduled_s,
        (issued_ns - origin_ns) / 1e9 AS issued_s, (ended_ns - origin_ns) / 1e9 AS ended_s
    FROM samples JOIN clock USING (segment)
    WHERE issued_ns IS NOT NULL$few
)"""  # noqa: S608 (a number)


def _at_every_moment(counts: str, y: str, order: str = "") -> str:
    """SQL for a step at each moment, also of those in which nothing happened.

    Args:
        counts: Common table expressions; `counts`, the last one, has `part`, `series`, `moment` and `n`.
        y: SQL for the value of a step.
        order: SQL for the order of series, with a comma.
    """
    return f"""{CLOCK},

{counts},

moments_of AS (
    SELECT part, series, width, unnest(range(first_moment, last_moment + 1)) AS moment
    FROM moments, (SELECT DISTINCT part, series FROM counts)
)

SELECT $part series, round(moment * width, 9) AS x, {y} AS y
FROM moments_of LEFT JOIN counts USING (part, series, moment)
ORDER BY part, {order}x
"""  # noqa: S608 (texts of this program's)


_RATE: Final = _at_every_moment(
    """\
counts AS (
    SELECT part, 'wanted' AS series, floor(scheduled_s / width)::BIGINT AS moment, count(*) AS n
    FROM requests, moments
    -- In a closed loop a request is due when the one before has ended.
    WHERE (SELECT settings ->> '$$.load.kind' FROM session) IS DISTINCT FROM 'closed'
    GROUP BY ALL
    UNION ALL
    SELECT part, status, floor(ended_s / width)::BIGINT, count(*) FROM requests, moments
    WHERE status IN ('completed', 'failed') GROUP BY ALL
)""",
    "coalesce(n, 0) / width",
    "list_position(['wanted', 'completed', 'failed'], series), ",
)

_IN_FLIGHT: Final = _at_every_moment(
    """\
counts AS (
    SELECT part, 'in flight' AS series, moment, sum(least(last, moment + 1) - greatest(first, moment)) AS n
    FROM (
        SELECT part, first, last, unnest(range(floor(first)::BIGINT, floor(last)::BIGINT + 1)) AS moment
        FROM (
            SELECT part, issued_s / width AS first, coalesce(ended_s / width, last_moment + 1) AS last
            FROM requests, moments
        )
    )
    GROUP BY ALL
)""",
    "round(coalesce(n, 0), 6)",
)

_TOKENS: Final = _at_every_moment(
    """\
-- The tokens of an answer arrive evenly between its first and its last one, or with its end.
answers AS (
    SELECT part, output_tokens, coalesce((first_token_ns - origin_ns) / 1e9, ended_s) / width AS first,
        greatest(coalesce((last_token_ns - origin_ns) / 1e9, ended_s) / width, first + 1e-9) AS last
    FROM requests, moments
    WHERE status = 'completed' AND output_tokens > 0
),

counts AS (
    SELECT part, 'output tokens' AS series, moment,
        sum(output_tokens * (least(last, moment + 1) - greatest(first, moment)) / (last - first)) AS n
    FROM (
        SELECT *, unnest(range(floor(first)::BIGINT, floor(last)::BIGINT + 1)) AS moment FROM answers
    )
    GROUP BY ALL
)""",
    "round(coalesce(n, 0) / width, 6)",
)

_MIDDLE: Final = "round((floor(issued_s / width) + 0.5) * width, 9)"
"""SQL for the middle of the moment that a request was issued in."""

_FAILED: Final = f"""\
    UNION ALL
    -- How long the failed requests of a moment took to fail, the median.
    SELECT part, 'failed requests', {_MIDDLE} AS x,
        median((ended_ns - issued_ns) / 1e6)
    FROM requests, moments
    WHERE status = 'failed'
    GROUP BY part, x
"""  # noqa: S608


def _latency(column: str, further: str = "") -> str:
    """SQL for the median and the p99 of a latency at each moment."""
    return f"""\
{CLOCK}

SELECT $part series, x, y
FROM (
    SELECT part, unnest(['p50', 'p99']) AS series, {_MIDDLE} AS x,
        unnest(quantile_cont({column}, [0.5, 0.99])) AS y
    FROM requests, moments
    WHERE status = 'completed' AND {column} IS NOT NULL
    GROUP BY part, x
{further})
WHERE y > 0
ORDER BY part, list_position(['p50', 'p99', 'failed requests'], series), x
"""  # noqa: S608


_OVERHEAD: Final = f"""\
{CLOCK}

SELECT series, x, y
FROM (
    SELECT unnest(['dispatch delay, p99', 'send delay, p99']) AS series,
        {_MIDDLE} AS x,
        unnest([quantile_cont(issue_lag_ms, 0.99), quantile_cont(send_lag_ms, 0.99)]) AS y
    FROM requests, moments
    GROUP BY x
    UNION ALL
    SELECT 'event loop held up, at most',
        round((floor((at_ns - origin_ns) / 1e9 / width) + 0.5) * width, 9) AS x,
        max((data ->> '$$.loop_lag_max_ms')::DOUBLE)
    FROM telemetry JOIN clock USING (segment), moments
    WHERE source = 'client'
    GROUP BY x
)
WHERE y > 0
ORDER BY list_position(['dispatch delay, p99', 'send delay, p99', 'event loop held up, at most'], series), x
"""  # noqa: S608

OVER_TIME: Final = (
    PlotDefinition(
        name="rate-over-time",
        title="Requests per second over time",
        shows="the rate that was wanted (open loop), and the completed and failed req/s",
        x=TIME,
        y=Axis("requests", "req/s"),
        kinds="step",
        sql=_RATE,
        lacking=_NOTHING,
    ),
    PlotDefinition(
        name="in-flight-over-time",
        title="Requests in flight over time",
        shows="how many requests were in flight, the mean of each moment",
        x=TIME,
        y=Axis("requests in flight", ""),
        kinds="step",
        sql=_IN_FLIGHT,
        lacking=_NOTHING,
    ),
    PlotDefinition(
        name="tokens-over-time",
        title="Output tokens per second over time",
        shows="the output tok/s of completed requests",
        x=TIME,
        y=Axis("output tokens", "tok/s"),
        kinds="step",
        sql=_TOKENS,
        lacking="no request has completed whose output tokens are known",
        note="The tokens of a response are spread evenly from its first to its last one.",
    ),
    PlotDefinition(
        name="ttft-over-time",
        title="TTFT and failures over time",
        shows="TTFT by when requests were issued, and how long failed ones took to fail",
        x=TIME,
        y=Axis("TTFT, or time to failure", "ms"),
        kinds={"p50": "line", "p99": "line", "failed requests": "points"},
        sql=_latency("ttft_ms", _FAILED),
        lacking="no request has completed with a streamed token, and none has failed",
    ),
    PlotDefinition(
        name="latency-over-time",
        title="Latency over time",
        shows="latency by when requests were issued",
        x=TIME,
        y=Axis("latency", "ms"),
        kinds="line",
        sql=_latency("latency_ms"),
        lacking="no request has completed",
    ),
    PlotDefinition(
        name="client-overhead",
        title="Client overhead over time",
        shows="client overhead: dispatch delay, send delay, and lag of the event loop",
        x=TIME,
        y=Axis("delay", "ms", "log"),
        kinds="line",
        sql=_OVERHEAD,
        lacking=_NOTHING,
        has_parts=False,
    ),
)
