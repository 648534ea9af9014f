"""The SQL of single figures, under the names in rules and comparisons."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.compare.compared_metric import target_of
from reporter.log.sql_files import condition, quoted
from reporter.percentiles import percentile_sql
from rulesets.errors import ExpressionError
from rulesets.expression import parse
from rulesets.metric_table import BY_NAME, quantity_of
from rulesets.quantity import PERCENTILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Report
    from rulesets.target import Target

_ENDED: Final = "status IN ('completed', 'failed', 'cancelled')"
_RATES: Final[Mapping[str, str]] = {
    "qps": "count(*) FILTER (in_window)",
    "output_tps": "sum(output_tokens)",
    "total_tps": "sum(input_tokens) + sum(output_tokens)",
}
_JOBS: Final = "FROM sessions WHERE measured"
_OF_SESSIONS: Final[Mapping[str, str]] = {
    "jobs_per_hour": "SELECT 3600e9 * count(*) FILTER (ending = 'completed') "
    f"/ (max(ended_ns) - min(started_ns)) {_JOBS}",
    "jobs_per_hour_per_user": f"SELECT 3600e3 / avg(duration_ms) {_JOBS} AND ending = 'completed'",
    "hit_rate": "SELECT sum(cached_tokens) / sum(input_tokens) FROM session_turns "
    "WHERE measured AND status = 'completed' AND cached_tokens IS NOT NULL",
    "session_error": "SELECT count(*) FILTER (ending <> 'completed') / count(*) "
    f"{_JOBS} AND ending NOT IN ('duration', 'stopped', 'cut')",
}
_STATISTICS: Final[Mapping[str, str]] = {"mean": "avg({0})", "min": "min({0})", "max": "max({0})"}
_ACCURACY: Final = "accuracy"


def rules(report: Report) -> str:
    """The query of the rules' figures, a row each; without figures that the views lack.

    Figures are in the unit of the views: ms, tokens, 1/s and shares.
    """
    verdict = report.verdict
    if verdict is None or not statements.has_rates(report):
        return ""
    return _together({row.target: _of_rule(row.target, report) for row in verdict.rows}, "rule")


def figures(metrics: Iterable[str]) -> str:
    """The query of a comparison's figures, a row each; without figures that the views lack.

    Percentiles are interpolated, as comparisons take them.
    """
    named = {name: target_of(name) for name in metrics if not name.startswith(_ACCURACY)}
    return _together({name: _figure(target, "linear") for name, target in named.items()}, "metric")


def _together(queries: Mapping[str, str], column: str) -> str:
    return "\nUNION ALL\n".join(
        f"SELECT {quoted(name)} AS {column}, ({query}) AS observed"
        for name, query in queries.items()
        if query
    )


def _of_rule(text: str, report: Report) -> str:
    """The query of a rule's figure; empty where the views lack the figure."""
    try:
        target = parse(text)
    except ExpressionError:
        return ""
    if target.delta or target.metric.startswith(_ACCURACY):
        return ""
    if target.metric == "qps" and not target.where:
        return (
            f"SELECT {statements.completions(report)} / any_value(duration_s) FROM arrived, measured_window"  # noqa: S608 (ours)
        )
    counted = report.run.definitions.get("failed_requests") == "count_as_violation"
    return _figure(target, report.run.percentile_method, violations=counted)


def _rate(metric: str, where: str) -> str:
    """The query of a rate over the window; empty for any other metric."""
    if metric not in _RATES:
        return ""
    return f"SELECT {_RATES[metric]} / any_value(duration_s) FROM arrived, measured_window WHERE {where}"  # noqa: S608 (what a rule has is quoted)


def _figure(target: Target, method: str, *, violations: bool = False) -> str:
    """The query of a figure; with `violations`, failed requests count as infinite."""
    where = condition(target.where)
    if query := _OF_SESSIONS.get(target.metric) or _rate(target.metric, where):
        return query
    kind = quantity_of(target.metric).kind
    ended = f"FROM samples WHERE measured AND {where}"
    if kind == "error":
        return f"SELECT count(*) FILTER (status = 'failed') / count(*) FILTER ({_ENDED}) {ended}"
    if kind == "good" and target.stat == "fraction":
        met = " AND ".join(
            f"coalesce({BY_NAME[limit.metric].column} {limit.op} {limit.bound!r}, false)"
            for limit in target.conditions
        )
        good = f"{statements.MEASURED} AND {met or 'true'}"
        return f"SELECT count(*) FILTER ({good}) / count(*) FILTER ({_ENDED}) {ended}"
    if kind not in {"latency", "length", "speed"}:
        return ""
    metric = BY_NAME[target.metric]
    if metric.per == "session":
        column = "duration_ms" if metric.name == "session" else metric.column
        ended = "FROM sessions WHERE measured AND ending = 'completed'"
        return f"SELECT {_statistic(target.stat, method, column)} {ended}"
    is_of_gaps = metric.per == "gap"
    column = "gap_ms" if is_of_gaps else metric.column
    source = "chunks JOIN samples USING (sample_uuid)" if is_of_gaps else "samples"
    values = f"FROM {source} WHERE {statements.MEASURED} AND {where}"
    # A request that failed generated nothing: an infinite latency, but no infinite speed.
    if violations and kind != "speed":
        failed = f"SELECT 'infinity'::DOUBLE {ended} AND status IN ('failed', 'cancelled')"
        values = f"FROM (SELECT {column}::DOUBLE AS value {values} UNION ALL {failed})"
        column = "value"
    return f"SELECT {_statistic(target.stat, method, column)} {values}"


def _statistic(stat: str, method: str, column: str) -> str:
    if PERCENTILE.fullmatch(stat):
        return percentile_sql(method, Fraction(stat[1:]) / 100, column)
    return _STATISTICS[stat].format(column)
