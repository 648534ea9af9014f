"""`performance/result_summary.json` of mlcommons/endpoints, from the log, with that file's keys and units.

The figures are by the definitions that the evidence was computed by, which the file names. Rates are those
of LoadGen where the definitions want its window; else what completed, over the time from the first request to
the last completion.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.mlperf.config_yaml import issued, measured_by, pattern, seeds
from reporter.log.database import all_figures
from rulesets.statistics.early_stopping import estimate_rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.measured.log_evidence import LogEvidence
    from reporter.measured.log_sample import LogSample
    from reporter.report import Report, Summary

NS_IN_MS: Final = 1e6

GRID: Final = ("99.9", "99.0", "97.0", "95.0", "90.0", "80.0", "75.0", "50.0", "25.0", "10.0", "5.0", "1.0")
"""The percentiles of a block.

mlcommons/endpoints@ea332753:src/inference_endpoint/async_utils/services/metrics_aggregator/registry.py
(DEFAULT_PERCENTILES).
"""

ESTIMATED: Final = GRID[: GRID.index("50.0") + 1]
"""Those that are estimated too: the median and above."""


_REASONS: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a block's numbers.

    Attributes:
        times: What a value of ours is multiplied by.
        whole: Whether the product is a whole number: a difference of two stamps, or a count.
    """

    times: float = 1.0
    whole: bool = True

    def of(self, value: float | None) -> float | None:
        """A value of ours in this unit; None for one that is not finite."""
        if value is None or not math.isfinite(value):
            return None
        return round(value * self.times) if self.whole else value * self.times


NS: Final = Unit(NS_IN_MS)
NS_OF_RATIO: Final = Unit(NS_IN_MS, whole=False)
"""Of a time that was divided, as TPOT is."""
COUNT: Final = Unit()


def block(sample: LogSample, std: float | None, unit: Unit) -> dict[str, Any]:
    """The block of a metric; empty without requests that have the metric.

    Args:
        sample: Its values, in ms or tokens.
        std: Their sample standard deviation, as the report has it; None for a single one.
        unit: What the block is in.
    """
    ranked = sample.ranked
    if not ranked.finite:
        return {}
    percentiles = {name: unit.of(sample.percentile(share(name))) for name in GRID}
    return {
        "total": unit.of(ranked.total()),
        "min": unit.of(sample.at(0)),
        "max": unit.of(sample.at(ranked.finite - 1)),
        "median": percentiles["50.0"],
        "avg": ranked.total() / ranked.finite * unit.times,
        "std_dev": (std or 0.0) * unit.times,
        "percentiles": percentiles,
    }


def estimated(sample: LogSample, std: float | None, unit: Unit) -> dict[str, Any]:
    """The block of a latency, with early-stopping estimates in addition to percentiles."""
    return {**block(sample, std, unit), "early_stopping_percentiles": estimates(sample, unit)}


def estimates(sample: LogSample, unit: Unit) -> Mapping[str, float | None]:
    """The early-stopping estimates at 99 % confidence."""
    ranks = {name: estimate_rank(sample.count, share(name)) if sample.count else None for name in ESTIMATED}
    return {name: None if rank is None else unit.of(sample.at(rank)) for name, rank in ranks.items()}


def share(name: str) -> Fraction:
    """A percentile of a block's key, as an exact share."""
    return Fraction(name) / 100


def result_summary(
    log: OpenLog, report: Report, evidence: LogEvidence, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The performance of a run."""
    counts = report.counts
    ((started_ns,),) = log.execute("SELECT started_wall_ns FROM session").fetchall()
    lengths = {name: evidence.sample(name, ()) for name in ("output_tokens", "input_tokens")}
    output = block(lengths["output_tokens"], _std(report.output_tokens), COUNT)
    spans = [span for span in all_figures(log, "loadgen_spans") if span["requests"]]
    duration_ns = _duration_ns(spans)
    ended = report.run.ended == "completed"
    return {
        "version": measured_by(report),
        "git_sha": None,
        "test_started_at": started_ns,
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
        "effective_target_duration_ms": int(duration_s * 1000)
        if isinstance(duration_s := settings.get("duration_s"), int | float)
        else None,
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
    if evidence.definitions.throughput_window == "last_issued_done":
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
    return {**by_reason, "other": sum(counts.values())}
