"""The vectors or scores of a run in a report: rates, sizes, decoding, and agreement with an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import rows_of
from reporter.number_text import counted, figure, fixed, whole
from reporter.values.report_section import ReportSection, distributions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog
    from reporter.report import Finding, Report

TOTALS: Final = """\
SELECT count(*) AS requests, coalesce(sum(sequences), 0)::BIGINT AS sequences,
    min(dimensions) AS least_dimensions, max(dimensions) AS dimensions,
    count(*) FILTER (in_window) AS in_window,
    sum(sequences) FILTER (in_window)::BIGINT AS sequences_in_window,
    if(
        bool_and(input_tokens IS NOT NULL) FILTER (in_window), sum(input_tokens) FILTER (in_window), NULL
    )::BIGINT AS tokens_in_window
FROM vectors
WHERE measured"""

FIGURES: Final = """\
SELECT figure, avg(value) AS mean, median(value) AS p50, quantile_cont(value, 0.95) AS p95,
    quantile_cont(value, 0.99) AS p99, max(value) AS max
FROM (
    UNPIVOT (
        SELECT sequences::DOUBLE AS sequences, response_bytes::DOUBLE AS response_bytes, parse_ms,
            if(sequences > 1, padding, NULL) AS padding
        FROM vectors
        WHERE measured
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)
GROUP BY figure"""

AGREEMENT: Final = """\
SELECT count(*) AS compared, avg(cosine) AS cosine_mean, min(cosine_min) AS cosine_min,
    avg(rank_correlation) AS rank_correlation_mean, min(rank_correlation) AS rank_correlation_min,
    avg(same_first::INTEGER) AS same_first_share
FROM agreement
WHERE measured"""

_IS_COMPARED: Final = "SELECT settings ->> '$.dataset.facts.inputs.expect' IS NOT NULL FROM session"
_LABELS: Final = {
    "sequences": "inputs",
    "padding": "padding (share)",
    "response_bytes": "response (bytes)",
    "parse_ms": "client decode (ms)",
}


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, without findings."""
    (totals,) = rows_of(log.execute(TOTALS))
    # The rate of requests knows which requests of the window count.
    qps, completed = report.throughput.qps, totals.pop("in_window")
    per_request = qps / completed if qps is not None and completed else None
    sequences, tokens = totals.pop("sequences_in_window"), totals.pop("tokens_in_window")
    figures: dict[str, Any] = {
        **totals,
        "sequences_per_second": None if per_request is None else sequences * per_request,
        "input_tps": None if per_request is None or tokens is None else tokens * per_request,
    }
    shown, tables = distributions("Per request", _LABELS, rows_of(log.execute(FIGURES)), FIGURES)
    figures |= shown
    lines = list(_lines(figures))
    if log.execute(_IS_COMPARED).fetchall() == [(True,)]:
        log.load(("agreement",))
        (agreement,) = rows_of(log.execute(AGREEMENT))
        figures |= agreement
        lines.append(_agreement(agreement))
    title = "Vectors" if figures["dimensions"] else "Scores"
    return ReportSection(title, lines, tables, figures, TOTALS), []


def _lines(figures: Mapping[str, Any]) -> list[str]:
    rates = {"seq/s": figures["sequences_per_second"], "input tok/s": figures["input_tps"]}
    shown = ", ".join(f"{figure(rate)} {name}" for name, rate in rates.items() if rate is not None)
    sizes = dict.fromkeys(figures[name] for name in ("least_dimensions", "dimensions") if figures[name])
    dimensions = f" of {' to '.join(map(whole, sizes))} dimensions" if sizes else ""
    results = counted(figures["sequences"], "vector" if sizes else "score")
    return [*filter(None, [shown]), f"{results}{dimensions} in {counted(figures['requests'], 'response')}"]


def _agreement(agreement: Mapping[str, Any]) -> str:
    shown = [
        f"{label} {fixed(agreement[f'{name}_mean'], 6)} mean, {fixed(agreement[f'{name}_min'], 6)} least"
        for name, label in (("cosine", "cosine"), ("rank_correlation", "rank correlation"))
        if agreement[f"{name}_mean"] is not None and agreement[f"{name}_min"] is not None
    ]
    if agreement["same_first_share"] is not None:
        shown.append(f"the same first in {fixed(100 * agreement['same_first_share'], 1)} %")
    compared = f"{counted(agreement['compared'], 'response')} compared with the earlier run"
    return f"{compared}: {', '.join(shown) or 'no figure in common'}"
