"""`loadgen export --benchmark-report`: a run as a Benchmark Report v0.2.1.

llm-d/llm-d-benchmark at 2c1e326e, llmdbenchmark/analysis/benchmark_report/schema_v0_2_1.py: seconds, sample
standard deviations, no unknown key and no null.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.declared import declarations
from loadgen.plugins.exports.exported import Exported, opened, report_of, require_writable, writing
from loadgen.sessions.files.plain_files import as_json, as_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog
    from reporter.report import Report, Summary

VERSION: Final = "0.2.1"
_DECLARED: Final = ("run", "scenario")
"""The members that the submitter's file may have."""

_PERCENTILES: Final[Mapping[str, str]] = {
    "p0p1": "p001",
    "p1": "p01",
    "p5": "p05",
    **{name: name for name in ("p10", "p25", "p50", "p75", "p90", "p95", "p99")},
    "p99p9": "p999",
}
"""The schema's names, and those of a report."""
_ASKED: Final = "0.1,1,5,10,25,75"
_LATENCIES: Final[Mapping[str, tuple[str, str]]] = {
    "time_to_first_token": ("ttft_ms", "s"),
    "time_per_output_token": ("tpot_ms", "s/token"),
    "inter_token_latency": ("itl_ms", "s/token"),
    "request_latency": ("latency_ms", "s"),
}
_NTPOT: Final = f"""
    SELECT avg(value), stddev_samp(value), min(value), max(value),
        quantile_cont(value, [{", ".join(name[1:].replace("p", ".") + " / 100.0" for name in _PERCENTILES)}])
    FROM (
        SELECT latency_ms / 1e3 / output_tokens AS value FROM samples
        WHERE measured AND status = 'completed' AND output_tokens > 0
    ) HAVING count(*) > 0"""  # noqa: S608 (numbers)
"""NTPOT: latency ÷ output tokens of each request."""


def write_report(settings: ExportSettings, file: Path) -> Exported:
    """Write the file: JSON if its name ends in .json, else YAML."""
    require_writable("--benchmark-report", file, force=settings.force)
    declared = declarations(settings.about, _DECLARED)
    report = report_of(settings, percentiles=_ASKED)
    with opened(settings) as log:
        content = render(report, _ntpot(log), declared)
    with writing(file) as unfinished:
        unfinished.write((as_json if file.suffix == ".json" else as_yaml)(content))
    return Exported("file", str(file), report.counts.issued, invalid=not report.validity.valid)


def render(
    report: Report, ntpot: Mapping[str, Any] | None, declared: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The content of the file."""
    counts = report.counts
    latency = {
        name: _statistics(getattr(report, ours), unit, 1e3) for name, (ours, unit) in _LATENCIES.items()
    }
    requests = {
        "total": counts.issued - counts.abandoned,
        "failures": counts.failed,
        "incomplete": counts.cancelled + counts.in_flight,
        "input_length": _statistics(report.input_tokens, "count"),
        "output_length": _statistics(report.output_tokens, "count"),
    }
    performance = {
        "requests": requests,
        "latency": latency | {"normalized_time_per_output_token": ntpot},
        "throughput": _throughput(report),
    }
    content = {
        "version": VERSION,
        "run": {"uid": report.run.session_id, "time": _time(report), **declared.get("run", {})},
        "scenario": {"load": _load(report), **declared.get("scenario", {})},
        "results": {
            "request_performance": {"aggregate": performance},
            "session_performance": _sessions(report),
        },
    }
    without: dict[str, Any] = _without_none(content)
    return without


def _time(report: Report) -> dict[str, Any] | None:
    from datetime import datetime

    seconds = report.window.duration_s
    if seconds is None:
        return None
    started = datetime.fromisoformat(report.run.started_at)
    ended = started + timedelta(seconds=seconds)
    return {"start": started.isoformat(), "end": ended.isoformat(), "duration": f"PT{seconds:.3f}S"}


def _load(report: Report) -> dict[str, Any] | None:
    """The load; None without the lengths of prompts, which the schema requires."""
    run, load, lengths = report.run, report.run.load, report.input_tokens
    if lengths is None:
        return None
    versions = run.versions or {}
    standardized = {
        "tool": "llm-loadgen",
        "tool_version": versions.get("llm-loadgen") or versions.get("loadgen") or "unknown",
        "parallelism": run.workers or 1,
        "source": "random" if (run.dataset or {}).get("synthetic") else "sampled",
        "input_seq_len": _length(lengths),
        "rate_qps": load.get("rate"),
        "concurrency": load.get("concurrency") or load.get("max_concurrency"),
        "multi_turn": {"enabled": True} if report.sessions else None,
    }
    native = {"args": {"load": load, "seed": run.seed, "max_tokens": run.max_tokens}}
    return {"metadata": {}, "standardized": standardized, "native": native}


def _length(lengths: Summary) -> dict[str, Any]:
    fixed = lengths.min == lengths.max
    return {
        "distribution": "fixed" if fixed else "other",
        "value": lengths.mean,
        "min": None if fixed else int(lengths.min),
        "max": None if fixed else max(1, int(lengths.max)),
    }


def _throughput(report: Report) -> dict[str, Any]:
    rates = report.throughput
    inputs = None
    if rates.total_tps is not None and rates.output_tps is not None:
        inputs = rates.total_tps - rates.output_tps
    values = {
        "input_token_rate": (inputs, "tokens/s"),
        "output_token_rate": (rates.output_tps, "tokens/s"),
        "total_token_rate": (rates.total_tps, "tokens/s"),
        "request_rate": (rates.qps, "queries/s"),
    }
    return {
        name: None if value is None else {"units": unit, "mean": value}
        for name, (value, unit) in values.items()
    }


def _sessions(report: Report) -> dict[str, Any] | None:
    sessions = report.sessions
    if sessions is None:
        return None
    succeeded = sessions.endings.get("completed", 0)
    return {
        "sessions": {
            "total": sessions.count,
            "succeeded": succeeded,
            "failed": sessions.count - succeeded,
            "total_events": sessions.asked,
        }
    }


def _statistics(summary: Summary | None, units: str, divisor: float = 1.0) -> dict[str, Any] | None:
    if summary is None:
        return None
    values = {"mean": summary.mean, "stddev": summary.std, "min": summary.min, "max": summary.max}
    for name, ours in _PERCENTILES.items():
        values[name] = summary.percentiles.get(ours, getattr(summary, ours, None))
    return {
        "units": units,
        **{name: None if value is None else value / divisor for name, value in values.items()},
    }


def _ntpot(log: OpenLog) -> dict[str, Any] | None:
    row = log.execute(_NTPOT).fetchone()
    if row is None:
        return None
    mean, stddev, minimum, maximum, quantiles = row
    spread = {"mean": mean, "stddev": stddev, "min": minimum, "max": maximum}
    return {"units": "s/token", **spread, **dict(zip(_PERCENTILES, quantiles, strict=True))}


def _without_none(value: Any) -> Any:
    """A copy without members that are None or have become empty, but for required empty ones."""
    if not isinstance(value, dict):
        return value
    members = {name: _without_none(member) for name, member in value.items()}
    return {
        name: member
        for name, member in members.items()
        if member is not None and (member != {} or name in _MAY_BE_EMPTY)
    }


_MAY_BE_EMPTY: Final = frozenset({"metadata", "native", "args"})
