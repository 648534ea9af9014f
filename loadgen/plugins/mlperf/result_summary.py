"""`performance/result_summary.json` of mlcommons/endpoints, from the log, with that file's keys and units.

The figures are by the definitions that the evidence was computed by, which the file names. Rates are those
of LoadGen where the definitions want its window; else what completed, over the time from the first request to
the last completion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.mlperf.load_terms import issued, measured_by, pattern, seeds
from loadgen.plugins.mlperf.stat_block import COUNT, NS, NS_OF_RATIO, block, estimated
from reporter.log.database import all_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.measured.log_evidence import LogEvidence
    from reporter.report import Report, Summary

_LOADGEN_WINDOW: Final = "last_issued_done"
_REASONS: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")
_OTHER: Final = "other"


def result_summary(
    log: OpenLog, report: Report, evidence: LogEvidence, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The performance of a run.

    Args:
        log: The log that the report was computed from.
        report: The report of the run.
        evidence: Its figures.
        settings: What it was to do, as the log has it.
    """
    counts = report.counts
    lengths = {name: evidence.sample(name, ()) for name in ("output_tokens", "input_tokens")}
    output = block(lengths["output_tokens"], _std(report.output_tokens), COUNT)
    spans = [span for span in all_figures(log, "loadgen_spans") if span["requests"]]
    duration_ns = _duration_ns(spans)
    ended = report.run.ended == "completed"
    return {
        "version": measured_by(report),
        "git_sha": None,
        "test_started_at": _started_ns(log),
        "mode": "PerformanceOnly",
        "n_samples_issued": issued(report),
        "n_samples_completed": counts.completed,
        "n_samples_failed": counts.failed + counts.cancelled,
        "n_samples_from_dataset": (report.run.dataset or {}).get("rows"),
        "duration_ns": duration_ns,
        "state": "complete" if ended else "interrupted",
        "complete": ended and not counts.in_flight,
        "ttft": estimated(evidence.sample("ttft", ()), _std(report.ttft_ms), NS),
        "tpot": estimated(evidence.sample("tpot", ()), _std(report.tpot_ms), NS_OF_RATIO),
        "latency": estimated(evidence.sample("latency", ()), _std(report.latency_ms), NS),
        "output_sequence_lengths": output,
        "input_sequence_lengths": block(lengths["input_tokens"], _std(report.input_tokens), COUNT),
        **_rates(report, evidence, duration_ns, output.get("total")),
        "result_scheduled_samples_per_sec": _scheduled_rate(spans, settings),
        "effective_target_duration_ms": _ms(settings.get("duration_s")),
        "effective_sample_concatenate_permutation": settings.get("order") == "shuffle",
        "effective_samples_per_query": 1,
        "finish_reason_counts": _finish_reasons(log),
        "run_config": {
            "load_pattern": pattern(settings),
            "warmup": {"n_requests": counts.warmup, "salt": False},
            "salt": settings.get("salt") is True,
            **seeds(settings),
        },
        "definitions": evidence.definitions.to_dict(),
    }


def _std(summary: Summary | None) -> float | None:
    return None if summary is None else summary.std


def _rates(
    report: Report, evidence: LogEvidence, duration_ns: int | None, tokens: float | None
) -> Mapping[str, Any]:
    if evidence.definitions.throughput_window == _LOADGEN_WINDOW:
        window_s = report.window.duration_s
        return {
            "qps": report.throughput.qps,
            "tps": report.throughput.output_tps,
            "legacy_loadgen_window_duration_ns": None if window_s is None else round(window_s * 1e9),
        }
    seconds = (duration_ns or 0) / 1e9
    return {
        "qps": report.counts.completed / seconds if seconds else None,
        "tps": tokens / seconds if seconds and tokens is not None else None,
        "legacy_loadgen_window_duration_ns": None,
    }


def _duration_ns(spans: Sequence[Mapping[str, int]]) -> int | None:
    """From the first request to the last completion, in all segments together."""
    ended = [span for span in spans if span["last_completion_ns"] is not None]
    return sum(span["last_completion_ns"] - span["start_ns"] for span in ended) or None


def _scheduled_rate(spans: Sequence[Mapping[str, int]], settings: Mapping[str, Any]) -> float | None:
    """LoadGen's (n - 1) / the time that the last one was due; of a run in one segment, in an open loop."""
    if (settings.get("load") or {}).get("kind") in {"closed", "offline"} or len(spans) != 1:
        return None
    due_ns = spans[0]["last_due_ns"] - spans[0]["start_ns"]
    return (spans[0]["requests"] - 1) * 1e9 / due_ns if due_ns else None


def _finish_reasons(log: OpenLog) -> Mapping[str, int]:
    counts = dict(
        log.execute(
            "SELECT coalesce(finish_reason, ''), count(*) FROM samples "
            "WHERE measured AND status = 'completed' GROUP BY ALL"
        ).fetchall()
    )
    by_reason = {reason: counts.pop(reason, 0) for reason in _REASONS}
    return {**by_reason, _OTHER: sum(counts.values())}


def _started_ns(log: OpenLog) -> int:
    ((wall_ns,),) = log.execute("SELECT started_wall_ns FROM session").fetchall()
    return int(wall_ns)


def _ms(seconds: Any) -> int | None:
    return int(seconds * 1000) if isinstance(seconds, int | float) else None
