"""`loadgen export --to`: a run to an experiment tracker, with one record for all trackers."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from lazy_dataclasses import dataclass
from loadgen.plugins.exports.exported import Exported, report_of, requests_of
from loadgen.plugins.exports.flat_figures import figures
from loadgen.sessions.errors import SetupError, UsageError
from workloads.registry import entries, load

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.report import Report

Value = str | int | float | bool

_USER_OF_A_URL: Final = re.compile(r"(?<=//)[^/@\s]+(?=@)")


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


class Publish(Protocol):
    """Publishes a run; a run that the tracker has already is updated."""

    def __call__(self, settings: ExportSettings, record: RunRecord) -> str:
        """Publish a run.

        Returns:
            Where it is.

        Raises:
            UsageError: The extra is not installed, or an option is missing.
            SetupError: The tracker did not take it.
        """
        ...


@contextmanager
def reported(
    option: str, errors: tuple[type[Exception], ...], secrets: Collection[str] = ()
) -> Iterator[None]:
    """Turn a tracker's errors into a `SetupError` of one line, without secrets."""
    expected: tuple[type[Exception], ...] = (*errors, OSError)
    try:
        yield
    except expected as error:
        # Some libraries raise an empty error for one that says why.
        message = str(error) or str(error.__cause__ or "") or type(error).__name__
        raise SetupError(f"{option}: {_hidden(message, secrets)}") from None


def _hidden(text: str, variables: Collection[str]) -> str:
    for variable in variables:
        if value := os.environ.get(variable):
            text = text.replace(value, "***")
    return _USER_OF_A_URL.sub("***", " ".join(text.split()))


def publish(settings: ExportSettings, tracker: str) -> Exported:
    """Publish a run."""
    trackers = entries("trackers")
    for name in ("entity", "project", "group", "tag", "spreadsheet", "credentials"):
        takers = [other for other, entry in trackers.items() if name in entry.facts.get("takes", ())]
        if trackers[tracker].package is None and tracker not in takers and getattr(settings, name):
            raise UsageError(f"--{name} applies only to --to {' and '.join(sorted(takers))}: leave it out")
    publishes: Publish = load(trackers[tracker])
    report = report_of(settings)
    place = publishes(settings, run_record(report, settings.name))
    return Exported("tracker", place, requests_of(report))
