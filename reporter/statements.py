"""The SQL that has the figures of a report: for `loadgen sql RUN`, over the views of docs/sql.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.log.database import as_sql
from reporter.log.sql_files import sql_file, value_of_tag
from reporter.percentiles import percentile_sql
from reporter.windows.rate_window import uncounted
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Report

MEASURED: Final = "measured AND status = 'completed'"
"""The requests that latencies are of."""

CACHE_HITS: Final = f"SELECT sum(cached_tokens) / sum(input_tokens) AS share FROM samples WHERE {MEASURED}"  # noqa: S608 (ours)
"""The query of the share of cached prompt tokens."""

_RATES: Final = """\
SELECT
    {completions} / any_value(duration_s) AS requests_per_s,
    sum(output_tokens) / any_value(duration_s) AS output_tokens_per_s,
    (sum(input_tokens) + sum(output_tokens)) / any_value(duration_s) AS total_tokens_per_s
FROM arrived, measured_window"""

_VALUES: Final = f"SELECT {{column}} AS ms FROM samples WHERE {MEASURED}"  # noqa: S608 (a column of this program's)

_BY_TOKEN: Final = f"""SELECT tpot_ms AS ms, unnest(range(tpot_tokens)) FROM samples WHERE {MEASURED}"""  # noqa: S608 (ours)

_GAPS: Final = f"SELECT gap_ms AS ms FROM chunks JOIN samples USING (sample_uuid) WHERE {MEASURED}"  # noqa: S608 (ours)

_ACCURACY: Final = """\
SELECT task, scorer, pass, avg(coalesce(value, 0)) AS mean, count(*) AS samples,
    count(*) FILTER (status = 'unparsed') AS unparsed, count(*) FILTER (status = 'missing') AS missing,
    count(*) FILTER (value IS NULL) AS unscored
FROM scores
GROUP BY ALL
ORDER BY ALL"""

_GROUPS: Final = """\
SELECT task, scorer, pass, tag, value_of_tag, avg(coalesce(value, 0)) AS mean, count(*) AS samples
FROM (SELECT *, unnest(map_keys(tags)) AS tag, unnest(map_values(tags)) AS value_of_tag FROM scores)
GROUP BY task, scorer, pass, tag, value_of_tag
ORDER BY ALL"""

_PART_RATES: Final = """\
    SELECT {value} AS part, count(*) FILTER (in_window) / any_value(duration_s) AS requests_per_s,
        sum(output_tokens) / any_value(duration_s) AS output_tokens_per_s
    FROM arrived, measured_window
    GROUP BY part"""

_WARMUP_RATES: Final = """
    UNION ALL
    SELECT 'warmup', count(*) / any_value(seconds), sum(output_tokens) / any_value(seconds)
    FROM samples, (SELECT sum(ended_ns - started_ns) / 1e9 AS seconds FROM phases WHERE phase = 'warmup')
    WHERE phase = 'warmup' AND status = 'completed'"""

_PART: Final = """\
WITH rates AS (
{rates}
)

SELECT {value} AS part, count(*) AS issued, count(*) FILTER (status = 'failed') AS failed,
    any_value(requests_per_s) AS requests_per_s, any_value(output_tokens_per_s) AS output_tokens_per_s,
    {figures}
FROM samples LEFT JOIN rates ON rates.part IS NOT DISTINCT FROM {value}
WHERE {where}
GROUP BY {value}
ORDER BY issued DESC, {value}"""

_PART_VALUES: Final[Mapping[str, str]] = {"endpoint": "endpoint", "turn": "turn::VARCHAR", "phase": "phase"}
STAGE: Final = "stage"
"""Parts with rates over spans of their own, which no view has (`reporter.contents.run_contents`)."""
_PHASE: Final = "phase"

_PART_LATENCIES: Final = ("ttft_ms", "tpot_ms", "latency_ms")

_OVERHEAD: Final = """\
-- The part of p99 from the schedule to the first token that would vanish with an infinitely fast client.
SELECT 1 - {server} / {whole} AS client_overhead
FROM (
    SELECT own_ms, (coalesce(first_token_ns, complete_ns) - sent_ns) / 1e6 AS since_sent_ms
    FROM samples WHERE measured AND status = 'completed' AND own_ms IS NOT NULL
)"""


def variables(report: Report, windows: str = "") -> str:
    """The SQL in front of every query of a report: definitions that are not the default ones, and windows.

    Args:
        report: The report.
        windows: From `reporter.log.window.windows_sql`, where rates are over others than the run's own.
    """
    kind = report.run.definitions.get("throughput_window", "run")
    unknown = "" if windows or kind == "run" else f"-- Rates are over the window {kind}, which the log has.\n"
    return as_sql(report.run.definitions) + windows + unknown


def rates(report: Report) -> str:
    """The query of the rates; empty where a tokenizer counted the tokens, which are not in the log then."""
    return _RATES.format(completions=completions(report)) if has_rates(report) else ""


def completions(report: Report) -> str:
    """SQL over `arrived` for the completions that a rate of the whole run counts."""
    counted = "count(*) FILTER (in_window)"
    one_a_segment = uncounted(report.window, report.run.load, segments=1)
    return f"({counted} - (SELECT count(duration_s) FROM windows))" if one_a_segment else counted  # noqa: S608 (ours)


def has_rates(report: Report) -> bool:
    """Whether a query has the rates of a report; see `rates`."""
    return report.tokens.source in {"server_usage", "chunks", None}


def latency(report: Report, column: str, label: str = "") -> str:
    """The query of the distribution of a metric."""
    method = report.run.percentile_method
    figures = [f"{percentile_sql(method, p)} AS {name}" for name, p in PERCENTILES.items()]
    named = f"'{label}' AS metric, " if label else ""
    return (
        f"SELECT {named}count(ms) AS n, avg(ms) AS mean, {', '.join(figures)}, max(ms) AS max\n"
        f"FROM ({_values(report, column)})"
    )


def latencies(report: Report, columns: Iterable[tuple[str, str]]) -> str:
    """The query of several, a row each, by columns and labels."""
    return "\nUNION ALL\n".join(latency(report, column, label) for column, label in columns)


def accuracy(also: str = "") -> str:
    """The query of the scores of all scoring passes.

    Args:
        also: A further column, such as the `run` of a series.
    """
    return _ACCURACY.replace("SELECT ", f"SELECT {also}, ", 1) if also else _ACCURACY


def groups() -> str:
    """The query of the scores of all parts of benchmarks."""
    return _GROUPS


def parts(report: Report, name: str) -> str:
    """The query of the parts of a run by a name of `report.breakdown` but `STAGE`.

    Empty where no query has their rates; see `rates`.
    """
    if not has_rates(report):
        return ""
    value = _PART_VALUES.get(name) or value_of_tag(name.removeprefix("tag:"))
    if name == _PHASE:
        return part(report, value, _PART_RATES.format(value="'performance'") + _WARMUP_RATES, _PHASES)
    return part(report, value, _PART_RATES.format(value=value))


def part(report: Report, value: str, rates_of_parts: str, where: str = "measured") -> str:
    """The query of the parts of a run."""
    method = report.run.percentile_method
    figures = (
        f"{percentile_sql(method, PERCENTILES[p], column, _COMPLETED)} AS {column.removesuffix('_ms')}_{p}_ms"
        for column in _PART_LATENCIES
        for p in ("p50", "p99")
    )
    return _PART.format(rates=rates_of_parts, value=value, where=where, figures=",\n    ".join(figures))


_PHASES: Final = "phase IN ('warmup', 'performance')"


_COMPLETED: Final = "status = 'completed'"


def overhead(report: Report) -> tuple[tuple[str, str], ...]:
    """The labeled queries of the client's overhead and readings."""
    server, whole = (
        percentile_sql(report.run.percentile_method, PERCENTILES["p99"], value)
        for value in ("since_sent_ms", "own_ms + since_sent_ms")
    )
    return (
        ("Client overhead", _OVERHEAD.format(server=server, whole=whole)),
        ("Readings of the client", sql_file("figures/client").strip()),
    )


def of_series() -> str:
    """The query of a series' figures, over the views of all runs."""
    return _SERIES


_SERIES: Final = """\
WITH rates AS (
    SELECT run, count(*) FILTER (in_window) / any_value(duration_s) AS requests_per_s,
        sum(output_tokens) / any_value(duration_s) AS output_tokens_per_s
    FROM arrived JOIN measured_window USING (run)
    GROUP BY run
)

SELECT run, any_value(requests_per_s) AS requests_per_s,
    any_value(output_tokens_per_s) AS output_tokens_per_s,
    1000 / quantile_cont(tpot_ms, 0.5) FILTER (status = 'completed') AS tokens_per_s_per_user,
    quantile_cont(ttft_ms, 0.5) FILTER (status = 'completed') AS ttft_p50_ms,
    quantile_cont(ttft_ms, 0.99) FILTER (status = 'completed') AS ttft_p99_ms,
    quantile_cont(tpot_ms, 0.5) FILTER (status = 'completed') AS tpot_p50_ms,
    quantile_cont(tpot_ms, 0.99) FILTER (status = 'completed') AS tpot_p99_ms,
    quantile_cont(latency_ms, 0.5) FILTER (status = 'completed') AS latency_p50_ms,
    quantile_cont(latency_ms, 0.99) FILTER (status = 'completed') AS latency_p99_ms,
    count(*) FILTER (status IN ('failed', 'cancelled'))
        / nullif(count(*) FILTER (status IN ('completed', 'failed', 'cancelled')), 0) AS error_rate
FROM samples LEFT JOIN rates USING (run)
WHERE measured
GROUP BY run
ORDER BY run"""


def counts() -> str:
    """The query of how many requests were scheduled, issued, and ended how."""
    return sql_file("figures/counts").strip()


def nodes(method: str) -> str:
    """The query of the nodes of a run of several machines."""
    return re.sub(
        r"quantile_cont\((\w+), 0\.99\)( FILTER \((.+)\))?",
        lambda match: percentile_sql(method, PERCENTILES["p99"], match[1], match[3] or ""),
        sql_file("figures/nodes").strip(),
    )


def episodes(part: str) -> str:
    """A query of the measured episodes.

    Args:
        part: What it is of, by the name of its file: `episodes` has their distributions, `episode_endings`,
            `episode_turns` and `episode_tools` the rest.
    """
    return sql_file(f"figures/{part}").strip()


def sessions(part: str) -> str:
    """A query of the measured sessions.

    Args:
        part: Its file: `sessions` has the distributions, `session_depths` the requests by depth.
    """
    return sql_file(f"figures/{part}").strip()


def server_side() -> str:
    """The query of the server's counts, and of the client's measurements in that time."""
    return sql_file("figures/server_side").strip()


def energy() -> str:
    """The query of the observed energy, by use."""
    return sql_file("figures/energy").strip()


def request_energy() -> str:
    """The query of the energy and the power of requests, a row each.

    What follows from them and from what the settings say of hardware and model is in docs/telemetry.md.
    """
    return "\nUNION ALL\n".join(_REQUEST_ENERGY.format(column=column) for column in _REQUEST_COLUMNS)


_REQUEST_COLUMNS: Final = ("energy_joules", "power_watts", "gpu_utilization_pct")
_REQUEST_ENERGY: Final = f"""\
SELECT '{{column}}' AS figure, avg({{column}}) AS mean, median({{column}}) AS median, min({{column}}) AS min,
    max({{column}}) AS max, stddev_samp({{column}}) AS std
FROM request_energy JOIN samples USING (sample_uuid)
WHERE {MEASURED}"""  # noqa: S608 (columns of this program's)


def _values(report: Report, column: str) -> str:
    if column == "itl_ms":
        return _GAPS
    if column == "tpot_ms" and report.run.tpot_mode == "token_weighted":
        return _BY_TOKEN
    return _VALUES.format(column=column)
