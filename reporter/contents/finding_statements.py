"""The SQL that shows a finding's evidence, by the finding's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.distribution import COMPLETED, distributions
from reporter.late_read_bounds import ENDS, column
from rulesets.evaluators.client_delay import LATENCIES_INVALID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Finding, Report

_FAILURES: Final = statements.figures("failures")

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

_LATE: Final = ("ttft", "tpot", "latency")
"""The metrics whose ends show what late reads leave in doubt."""

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
    "counts": ("cut_off", "running", "interrupted", "nothing_issued", "stale_connections"),
    "tokens": ("tokens_from_chunks", "mixed_token_sources", "tokens_unknown"),
    "client": ("client_busy", "client_stalled", "cpu_contended", "writer_behind"),
    "issuing": ("rate_not_reached", "coalesced_reads"),
    "beginning": ("cold_start",),
    "shapes": (
        *("unasked_responses", "unended_responses", "not_streamed", "usage_contradicted", "silent_chunks"),
        *("answers_filtered", "answers_aborted", "finish_reasons_unknown", "protocol_deviations"),
        *("thinking_in_content", "reasoning_only"),
    ),
    "refused": ("token_counts_refused",),
    "token_checks": (
        *("several_choices", "reasoning_added", "usage_unequal", "usage_unlike_text", "reasoning_miscounted"),
        *("tokens_per_chunk", "tokens_held_back"),
    ),
    "undefined": ("one_token", "first_chunk_unknown"),
    "unencoded": ("data_not_written",),
    "sensor_errors": ("sensor_unread",),
    "energy": (*("energy_counter_reset", "energy_incomplete", "energy_declared", "energy_integral_differs"),),
    "reuse": ("connections_closed",),
    "session_reuse": ("affinity_lost",),
    "session_fidelity": ("prompts_not_as_recorded",),
    "server_side": (
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
    _SECONDS: ("not_steady", "overloaded"),
    _PROMPTS: ("prompts_repeated",),
    statements.CACHE_HITS: ("cache_hit_missed", "cache_hit_unknown"),
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
    **{code: statements.figures(file) for file, codes in _FILES.items() for code in codes},
    **{code: query for query, codes in _QUERIES.items() for code in codes},
}

_OVERHEAD: Final = frozenset({"client_limited", "client_delay_in_doubt", "client_late", LATENCIES_INVALID})
_TOO_SHORT: Final = "too_short"
_HELD_BACK: Final = "held_back"
_LATE_READS: Final = "late_reads"


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
            ("Rates", statements.rates_of(report)),
            ("Latency", statements.latencies(report, [("latency_ms", "latency")])),
        )
    if code == _HELD_BACK:
        return (("Time held back", statements.latencies(report, [("held_ms", "held back")])),)
    if code == _LATE_READS:
        columns = {name: name for metric in _LATE for name in (column(metric, end) for end in (None, *ENDS))}
        return (("Evidence", distributions(COMPLETED, columns, report.run.percentile_method)),)
    return (("Evidence", _BY_CODE.get(code, _LOGGED)),)
