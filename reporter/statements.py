"""The SQL that has the figures of a report: for `loadgen sql RUN`, over the views of docs/sql.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reporter.breakdown import by_name, parts_sql
from reporter.distribution import BY_TOKEN, COMPLETED, GAPS, distributions, weighted_distribution
from reporter.findings.client_overhead import DELAYS, late_reads_ms, with_delays
from reporter.log.database import READ_BY_VIEWS
from reporter.log.sql_files import quoted, sql_file
from reporter.percentiles import percentile_sql, share_named
from reporter.windows.rate_window import is_first_uncounted, rates
from rulesets.definitions import PERCENTILES, Definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Report

CACHE_HITS: Final = f"SELECT sum(cached_tokens) / sum(input_tokens) AS share {COMPLETED}"
"""The query of the share of cached prompt tokens."""

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

_OVERHEAD: Final = """\
-- The part of p99 from the schedule to the first token that would vanish with an infinitely fast client.
SELECT least(of_ms, greatest(0, of_ms - server_ms + {late_ms!r})) / nullif(of_ms, 0) AS client_overhead
FROM (
    SELECT max(p99) FILTER (metric = 'ttft_all') AS of_ms,
        max(p99) FILTER (metric = 'ttft_server') AS server_ms
    FROM (
{delays}
    )
)"""


def figures(name: str) -> str:
    """The query of `reporter/sql/figures/NAME.sql`, to be shown or nested."""
    return sql_file(f"figures/{name}").strip().removesuffix(";")


def variables(report: Report, windows: str = "") -> str:
    """The SQL in front of every query of a report: definitions that are not the default ones, and windows.

    Args:
        report: The report.
        windows: From `reporter.log.window.windows_sql`, where rates are over others than the run's own.
    """
    kind = report.run.definitions.get("throughput_window", "run")
    unknown = "" if windows or kind == "run" else f"-- Rates are over the window {kind}, which the log has.\n"
    return as_sql(report.run.definitions) + windows + unknown


def rates_of(report: Report) -> str:
    """The query of a report's rates; empty where a tokenizer counted the tokens, which no log has."""
    first_uncounted = is_first_uncounted(report.window, report.run.load)
    return rates(first_uncounted=first_uncounted) if has_rates(report) else ""


def has_rates(report: Report) -> bool:
    """Whether a query has the rates of a report; see `rates_of`."""
    return report.tokens.source in {"server_usage", "chunks", None}


def parts(report: Report, name: str) -> str:
    """The query of a breakdown but `STAGE`; empty where `has_rates` is false."""
    return parts_sql(by_name(name), report.run.percentile_method) if has_rates(report) else ""


def latencies(report: Report, columns: Iterable[tuple[str, str]]) -> str:
    """The query of the distributions of a report's metrics, a row each, by columns and labels."""
    method, names = report.run.percentile_method, report.run.percentiles or ()
    chosen = {name: share_named(name) for name in names}
    weights = {"itl_ms": GAPS}
    if report.run.tpot_mode == "token_weighted":
        weights["tpot_ms"] = BY_TOKEN.format(column="tpot_ms")
    labels = dict(columns)
    plain = {label: column for column, label in labels.items() if column not in weights}
    return "\nUNION ALL\n".join(
        [
            *([distributions(COMPLETED, plain, method, chosen)] if plain else []),
            *(
                f"({weighted_distribution(values, labels[column], method, chosen)})"
                for column, values in weights.items()
                if column in labels
            ),
        ]
    )


def accuracy(also: str = "") -> str:
    """The query of the scores of all scoring passes.

    Args:
        also: A further column, such as the `run` of a series.
    """
    return _ACCURACY.replace("SELECT ", f"SELECT {also}, ", 1) if also else _ACCURACY


def groups() -> str:
    """The query of the scores of all parts of benchmarks."""
    return _GROUPS


def overhead(report: Report) -> tuple[tuple[str, str], ...]:
    """The labeled queries of the client's overhead and readings."""
    delays = {name: name for name in ("ttft_server", "ttft_all")}
    query = distributions(with_delays(DELAYS), delays, report.run.percentile_method)
    late_ms = late_reads_ms(report.run.timestamp_source, report.client)
    return (
        ("Client overhead", _OVERHEAD.format(delays=query, late_ms=late_ms)),
        ("Readings of the client", figures("client")),
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


def nodes(method: str) -> str:
    """The query of the nodes of a run of several machines."""
    return re.sub(
        r"quantile_cont\((\w+), 0\.99\)( FILTER \((.+)\))?",
        lambda match: percentile_sql(method, PERCENTILES["p99"], match[1], match[3] or ""),
        figures("nodes"),
    )


def request_energy() -> str:
    """The query of the energy and the power of requests, a row each.

    What follows from them and from what the settings say of hardware and model is in docs/telemetry.md.
    """
    return "\nUNION ALL\n".join(_REQUEST_ENERGY.format(column=column) for column in _REQUEST_COLUMNS)


_REQUEST_COLUMNS: Final = ("energy_joules", "power_watts", "gpu_utilization_pct")
_REQUEST_ENERGY: Final = """\
SELECT '{column}' AS figure, count({column}) AS count, avg({column}) AS mean, median({column}) AS median,
    min({column}) AS min, max({column}) AS max, stddev_samp({column}) AS std
FROM request_energy JOIN samples USING (sample_uuid)
WHERE measured AND status = 'completed'"""


def as_sql(chosen: Mapping[str, Any]) -> str:
    """The variables as SQL, without the default definitions."""
    usual = Definitions().to_dict()
    return "".join(
        f"SET VARIABLE {name} = {_literal(chosen[name])};\n"
        for name in READ_BY_VIEWS
        if name in chosen and _literal(chosen[name]) != _literal(usual[name])
    )


def _literal(value: str | list[str] | None) -> str:
    if value is None:
        return "NULL"
    return quoted(value) if isinstance(value, str) else f"[{', '.join(map(quoted, value))}]"
