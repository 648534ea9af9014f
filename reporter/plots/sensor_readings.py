"""Readings of sensors over time, on the time axis of the plots of requests."""

from __future__ import annotations

from functools import partial
from typing import Final

from reporter.plots.definition import PlotDefinition
from reporter.plots.over_time import CLOCK, TIME
from reporter.plots.plot_value import Axis

_NO_SERVER: Final = "the server's metrics were not recorded (--server-metrics), or do not have this"
_NO_GPU: Final = "no GPU was observed (--gpu-metrics)"
_NO_HOST: Final = "the client's machine was not observed (--host-metrics)"

_PAGE: Final = "'page ' || page"
_PAGES: Final = "SELECT * FROM server_metrics WHERE moment IS NULL"
_DEVICE: Final = "device"
_GPUS: Final = """\
SELECT at_ns, segment, value,
        coalesce('GPU ' || (labels ->> '$$.gpu'), labels ->> '$$.uuid', labels ->> '$$.UUID', 'GPU') AS device
    FROM sensors
    WHERE source IN ('nvml', 'amdsmi', 'dcgm', 'amd_exporter', 'intel_exporter') AND name = '{name}'"""
_HOST: Final = """\
SELECT at_ns, segment, value, '' AS device FROM sensors WHERE source = 'host' AND name = 'cpu_pct'"""


def _sql(source: str, series: dict[str, str], of: str) -> str:
    """SQL for the mean of the readings at each moment of the run; outside the run the server is idle.

    Args:
        source: SQL for the readings, with `at_ns`, `segment` and the columns of the values.
        series: The column of each series, in the order of a legend.
        of: SQL for what several pages or devices are distinguished by.
    """
    values = ", ".join(f"'{name}': {column}" for name, column in series.items())
    order = ", ".join(f"'{name}'" for name in series)
    return f"""\
{CLOCK},

readings AS (
    {source}
),

named AS (
    SELECT at_ns, segment, unnest(map_entries(MAP {{{values}}})) AS reading,
        if((SELECT count(DISTINCT {of}) FROM readings) > 1, ', ' || {of}, '') AS suffix
    FROM readings
)

SELECT reading.key || suffix AS series,
    round((floor((at_ns - origin_ns) / 1e9 / width) + 0.5) * width, 9) AS x, avg(reading.value) AS y
FROM named JOIN clock USING (segment), moments
WHERE reading.value IS NOT NULL AND at_ns BETWEEN first_ns AND last_ns
GROUP BY reading.key, suffix, x
ORDER BY suffix, list_position([{order}], reading.key), x
"""  # noqa: S608 (names of this program's)


def _plot(
    name: str, title: str, shows: str, y: Axis, sql: str, *, table: str, lacking: str
) -> PlotDefinition:
    return PlotDefinition(
        name=name,
        title=title,
        shows=shows,
        x=TIME,
        y=y,
        kinds="line",
        sql=sql,
        lacking=lacking,
        tables=(table,),
        has_parts=False,
    )


_of_server = partial(_plot, table="server_metrics", lacking=_NO_SERVER)
_of_gpus = partial(_plot, table="sensors", lacking=_NO_GPU)

TELEMETRY: Final = (
    _of_server(
        "server-requests-over-time",
        "The server's requests over time",
        "requests that the server processed, and that waited in it",
        Axis("requests in the server", ""),
        _sql(_PAGES, {"running": "running_requests", "waiting": "waiting_requests"}, _PAGE),
    ),
    _of_server(
        "server-times-over-time",
        "The server's times over time",
        "the server's own TTFT and time in queue",
        Axis("mean since the reading before", "ms"),
        _sql(_PAGES, {"TTFT": "ttft_mean_ms", "time in queue": "queue_mean_ms"}, _PAGE),
    ),
    _of_server(
        "server-kv-cache-over-time",
        "The server's KV cache over time",
        "how full the server's KV cache was",
        Axis("KV cache in use", "%"),
        _sql(_PAGES, {"KV cache": "kv_cache_usage_pct"}, _PAGE),
    ),
    _of_server(
        "server-prefix-cache-over-time",
        "The server's prefix cache over time",
        "prompt tokens that were in the server's prefix cache, of those it looked up",
        Axis("prefix cache hits", "%"),
        _sql(_PAGES, {"prefix cache": "prefix_hit_pct"}, _PAGE),
    ),
    _of_gpus(
        "gpu-power-over-time",
        "Power of GPUs over time",
        "the power of each GPU",
        Axis("power", "W"),
        _sql(_GPUS.format(name="power_w"), {"power": "value"}, _DEVICE),
    ),
    _of_gpus(
        "gpu-use-over-time",
        "Utilization of GPUs over time",
        "the share of time in which each GPU was computing",
        Axis("utilization", "%"),
        _sql(_GPUS.format(name="utilization_pct"), {"utilization": "value"}, _DEVICE),
    ),
    _plot(
        "host-cpu-over-time",
        "CPU of the client's machine over time",
        "how busy the CPUs of the client's machine were, all of them together",
        Axis("CPU in use", "%"),
        _sql(_HOST, {"CPU": "value"}, _DEVICE),
        table="sensors",
        lacking=_NO_HOST,
    ),
)
"""Of the server, of GPUs and of the client's machine."""
