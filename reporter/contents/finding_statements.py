"""The SQL that shows a finding's evidence, by the finding's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.log.sql_files import sql_file
from rulesets.evaluators.client_delay import LATENCIES_INVALID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Finding, Report

_FAILURES: Final = sql_file("figures/failures").strip()

_WAITED: Final = """\
SELECT count(held_ms) AS held, median(held_ms) AS median_ms, max(held_ms) AS max_ms, count(*) AS issued
FROM samples
WHERE measured"""

_SECONDS: Final = """\
SELECT (issued_ns - (SELECT min(issued_ns) FROM samples WHERE measured)) // 1_000_000_000 AS second,
    count(*) AS completed, median(ttft_ms) AS ttft_p50_ms, median(latency_ms) AS latency_p50_ms
FROM samples
WHERE measured AND status = 'completed'
GROUP BY second
ORDER BY second"""

_PROMPTS: Final = """\
SELECT count(*) AS requests, count(DISTINCT prompt_id) AS prompts
FROM samples
WHERE coalesce(turn, 0) = 0"""

_LATE: Final = """\
SELECT count(*) FILTER (first_token_low_ns < first_token_ns) AS late_first_tokens,
    quantile_cont(ttft_low_ms, 0.99) AS ttft_p99_low_ms, quantile_cont(ttft_ms, 0.99) AS ttft_p99_ms,
    quantile_cont(tpot_low_ms, 0.99) AS tpot_p99_low_ms,
    quantile_cont(tpot_high_ms, 0.99) AS tpot_p99_high_ms,
    quantile_cont(latency_low_ms, 0.99) AS latency_p99_low_ms,
    quantile_cont(latency_ms, 0.99) AS latency_p99_ms
FROM samples
WHERE measured AND status = 'completed'"""

_SPEEDS: Final = """\
SELECT max(1e3 * output_tokens / nullif(latency_ms, 0)) AS highest_tokens_per_s
FROM samples
WHERE measured AND status = 'completed'"""

_SEGMENTS: Final = "SELECT * FROM segments"
_RECORDER: Final = "SELECT at_utc, data FROM telemetry WHERE source = 'recorder' ORDER BY at_ns"
_VIOLATIONS: Final = "SELECT * FROM violations"
_LOGGED: Final = "SELECT * FROM findings"
_DEFINITIONS: Final = "SELECT settings FROM session"
_UNSCORED: Final = """\
SELECT task, scorer, status, reason, count(*) AS samples
FROM scores
WHERE value IS NULL
GROUP BY ALL
ORDER BY samples DESC"""

_FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "figures/counts": ("cut_off", "running", "interrupted", "nothing_issued", "stale_connections"),
    "figures/tokens": ("tokens_from_chunks", "mixed_token_sources", "tokens_unknown"),
    "figures/client": ("client_busy", "client_stalled", "cpu_contended", "writer_behind"),
    "figures/issuing": ("rate_not_reached", "coalesced_reads"),
    "figures/beginning": ("cold_start",),
    "figures/shapes": (
        *("unasked_responses", "unended_responses", "not_streamed", "usage_contradicted", "silent_chunks"),
        *("answers_filtered", "answers_aborted", "finish_reasons_unknown", "protocol_deviations"),
        *("thinking_in_content", "reasoning_only"),
    ),
    "figures/refused": ("token_counts_refused",),
    "figures/token_checks": (
        *("several_choices", "reasoning_added", "usage_unequal", "usage_unlike_text", "reasoning_miscounted"),
        *("tokens_per_chunk", "tokens_held_back"),
    ),
    "figures/undefined": ("one_token", "first_chunk_unknown"),
    "figures/unencoded": ("data_not_written",),
    "figures/sensor_errors": ("sensor_unread",),
    "figures/energy": (
        *("energy_counter_reset", "energy_incomplete", "energy_declared", "energy_integral_differs"),
    ),
    "figures/reuse": ("connections_closed",),
    "figures/session_reuse": ("affinity_lost",),
    "figures/session_fidelity": ("prompts_not_as_recorded",),
    "figures/server_side": (
        *("server_requests_differ", "server_tokens_differ", "server_ttft_differs", "server_queue_differs"),
        *("server_preempted", "server_load_differs"),
    ),
}
"""The queries of the report itself that have the figures of a finding, each with the codes of those."""

_QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    _FAILURES: (
        *("nothing_completed", "requests_failed", "many_failures", "endpoint_gone", "rate_limited"),
        "backlog_cut",
    ),
    _WAITED: ("held_back",),
    _SECONDS: ("not_steady", "overloaded"),
    _PROMPTS: ("prompts_repeated",),
    statements.CACHE_HITS: ("cache_hit_missed", "cache_hit_unknown"),
    _LATE: ("late_reads",),
    _SPEEDS: ("utilization_impossible",),
    _SEGMENTS: ("resumed",),
    _RECORDER: ("recorder_slow",),
    _DEFINITIONS: ("other_tokenizer",),
    _UNSCORED: ("score_undetermined",),
    _VIOLATIONS: (
        *("stamps_out_of_order", "ended_more_than_once", "issued_more_than_once", "never_issued"),
        *("completed_but_never_sent", "never_ended"),
    ),
}

_BY_CODE: Final[Mapping[str, str]] = {
    **{code: sql_file(file).strip() for file, codes in _FILES.items() for code in codes},
    **{code: query for query, codes in _QUERIES.items() for code in codes},
}

_OVERHEAD: Final = frozenset({"client_limited", "client_delay_in_doubt", "client_late", LATENCIES_INVALID})
_TOO_SHORT: Final = "too_short"


def of_finding(finding: Finding, report: Report) -> tuple[tuple[str, str], ...]:
    """The labeled queries of a finding of a report and of its effects, each once."""
    codes = (finding.code, *finding.effects)
    return tuple(dict.fromkeys(query for code in codes for query in _of_code(code, report)))


def _of_code(code: str, report: Report) -> tuple[tuple[str, str], ...]:
    """The labeled queries of a code; findings logged by the load generator are in one view."""
    if code in _OVERHEAD:
        return (*statements.overhead(report), ("Failures", _FAILURES))
    if code == _TOO_SHORT:
        return (
            ("Rates", statements.rates(report)),
            ("Latency", statements.latency(report, "latency_ms")),
        )
    return (("Evidence", _BY_CODE.get(code, _LOGGED)),)
