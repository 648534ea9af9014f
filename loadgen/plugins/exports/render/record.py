"""A run for experiment trackers: parameters, flat, and figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from loadgen.plugins.exports.render.flat_figures import figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a tracker.

    Attributes:
        run_id: The run's own id: by it a tracker recognizes a run that it has already.
        name: What people call it.
        started_ms: When it started, ms since 1970.
        ended_ms: When its window ended.
        config: What was measured and how, by names such as `load.concurrency`.
        figures: The figures of the report, by names such as `ttft_ms_p99`.
    """

    run_id: str
    name: str
    started_ms: int
    ended_ms: int
    config: Mapping[str, Value]
    figures: Mapping[str, float]


def run_record(report: Report, name: str | None = None) -> RunRecord:
    """The tracker's record of a report; `name` replaces model, load and time."""
    run = report.run
    started = datetime.fromisoformat(run.started_at)
    started_ms = round(started.timestamp() * 1e3)
    kind = run.load.get("kind") or "load"
    return RunRecord(
        run_id=run.session_id,
        name=name or f"{run.model or 'model'} {kind} {started:%Y-%m-%d %H:%M:%S}",
        started_ms=started_ms,
        ended_ms=started_ms + round(1e3 * (report.window.duration_s or 0.0)),
        config=_config(report),
        figures={figure.key: figure.value for figure in figures(report)},
    )


def _config(report: Report) -> dict[str, Value]:
    run = report.run
    values: dict[str, object] = {
        "started_at": run.started_at,
        "ended": run.ended,
        "model": run.model,
        "url": run.url,
        "protocol": run.protocol,
        "stream": run.stream,
        "max_tokens": run.max_tokens,
        "seed": run.seed,
        "workers": run.workers,
        "dataset": (run.dataset or {}).get("name"),
        "ruleset": (run.ruleset or {}).get("name"),
        "verdict": report.verdict.status if report.verdict else None,
        **{f"load.{name}": value for name, value in run.load.items()},
        **{f"generation.{name}": value for name, value in run.generation.items()},
        **{f"version.{name}": value for name, value in run.versions.items()},
    }
    return {
        name: value if isinstance(value, Value) else str(value)
        for name, value in values.items()
        if value is not None
    }
