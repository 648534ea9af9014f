"""The SQL of single figures, under the names in rules and comparisons."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.compare.compared_metric import target_of
from reporter.distribution import weighted_distribution
from reporter.log.sql_files import condition, quoted
from reporter.measured.log_evidence import good_sql
from reporter.measured.values import are_lost, is_of_gaps, rows_sql
from reporter.percentiles import percentile_sql
from reporter.windows.rate_window import rates
from rulesets.errors import ExpressionError
from rulesets.expression import parse
from rulesets.metric_table import quantity_of
from rulesets.quantity import PERCENTILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Report
    from rulesets.target import Target

_ENDED: Final = "count(*) FILTER (status IN ('completed', 'failed', 'cancelled'))"
_RATES: Final[Mapping[str, str]] = {
    "qps": "requests_per_s",
    "output_tps": "output_tokens_per_s",
    "total_tps": "total_tokens_per_s",
}
_STATISTICS: Final[Mapping[str, str]] = {
    "mean": "favg(value) FILTER (isfinite(value))",
    "min": "min(value)",
    "max": "max(value)",
}
_OF_VALUES: Final = frozenset({"latency", "length", "speed"})
_OF_SESSIONS: Final[Mapping[str, str]] = {
    "jobs_per_hour": "SELECT jobs_per_hour FROM ({totals})",
    "jobs_per_hour_per_user": "SELECT jobs_per_hour_per_user FROM ({totals})",
    "hit_rate": "SELECT measured_hit_rate FROM ({totals})",
    "session_error": "SELECT sum(count) FILTER (ending NOT IN ('completed', 'duration', 'stopped', 'cut')) "
    "/ sum(count) FILTER (ending NOT IN ('duration', 'stopped', 'cut')) FROM ({endings})",
}
_ACCURACY: Final = "accuracy"


def rules(report: Report) -> str:
    """The query of the rules' figures, a row each; without figures that the views lack.

    Figures are in the unit of the views: ms, tokens, 1/s and shares.
    """
    verdict = report.verdict
    if verdict is None or not statements.has_rates(report):
        return ""
    return _together({row.target: _of_rule(row.target, report) for row in verdict.rows}, "rule")


def figures(metrics: Iterable[str], report: Report | None = None) -> str:
    """The query of figures by names of `loadgen compare`, a row each; without figures that the views lack.

    By the definitions of a report, or as comparisons take them: interpolated percentiles.
    """
    named = {name: target_of(name) for name in metrics if not name.startswith(_ACCURACY)}
    return _together(
        {
            name: _figure(target, "linear") if report is None else _of_report(target, report)
            for name, target in named.items()
        },
        "metric",
    )


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
    return _of_report(target, report)


def _of_report(target: Target, report: Report) -> str:
    """The query of a figure by the definitions of a report."""
    if target.metric in _RATES and not target.where:
        return f"SELECT {_RATES[target.metric]} FROM ({statements.rates_of(report)})"  # noqa: S608 (ours)
    counted = report.run.definitions.get("failed_requests") == "count_as_violation"
    return _figure(target, report.run.percentile_method, violations=counted)


def _figure(target: Target, method: str, *, violations: bool = False) -> str:
    """The query of a figure; with `violations`, failed requests count as infinite."""
    where = condition(target.where)
    if query := _OF_SESSIONS.get(target.metric):
        totals, endings = (statements.figures(file) for file in ("session_totals", "session_endings"))
        return query.format(totals=totals, endings=endings)
    if rate := _RATES.get(target.metric):
        return f"SELECT {rate} FROM ({rates(where=where)})"  # noqa: S608 (what a rule has is quoted)
    kind = quantity_of(target.metric).kind
    measured = f"FROM samples WHERE measured AND {where}"
    if kind == "error":
        return f"SELECT count(*) FILTER (status IN ('failed', 'cancelled')) / {_ENDED} {measured}"
    if kind == "good" and target.stat == "fraction":
        return f"SELECT count(*) FILTER ({good_sql(target.conditions)}) / {_ENDED} {measured}"
    return _of_values(target, method, where, violations=violations) if kind in _OF_VALUES else ""


def _of_values(target: Target, method: str, where: str, *, violations: bool) -> str:
    """The query of a statistic of values of requests, gaps or sessions."""
    rows = rows_sql(target.metric, where, lost=violations and are_lost(target.metric))
    share = Fraction(target.stat[1:]) / 100 if PERCENTILE.fullmatch(target.stat) else None
    if is_of_gaps(target.metric):
        asked = {} if share is None else {"asked": share}
        name = target.stat if share is None else "asked"
        return f"SELECT {name} FROM ({weighted_distribution(rows, target.metric, method, asked)})"  # noqa: S608 (what a rule has is quoted)
    statistic = _STATISTICS[target.stat] if share is None else percentile_sql(method, share, "value")
    return f"SELECT {statistic} FROM ({rows})"  # noqa: S608 (what a rule has is quoted)
