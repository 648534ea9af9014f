"""Whether an endpoint answers a prompt that is repeated faster than prompts that differ: from a cache.

mlcommons/inference@b66003e1:compliance/TEST04;
mlcommons/endpoints@ea332753:src/inference_endpoint/compliance/audit_test/output_caching_test.py.

Two phases, one after the other: *reference* asks samples that differ, *output_caching* repeats one of them.
The audit passes if each phase completed at least 1 - threshold of its requests, and the rate of the second is
below that of the first times 1 + threshold. A cache that already has the samples of the reference phase is
not found: that phase is then as fast as the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.series.point_options import point_of
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from reporter.number_text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome
    from loadgen.sessions.settings.audit import AuditSettings


def phases(settings: AuditSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, SeriesPoint]:
    """The reference phase, and the one that repeats a prompt."""
    reference = _reference(settings, perf)
    again = perf_settings(
        **{
            **perf,
            "requests": settings.audit_requests or reference.load.requests,
            "only_prompt": settings.sample,
        }
    )
    return (
        point_of(REFERENCE, {"phase": REFERENCE}, reference),
        point_of(REPEATED, {"phase": REPEATED}, again),
    )


def threshold_of(settings: AuditSettings, perf: Mapping[str, Any]) -> float:
    """The threshold: as given, else as MLPerf allows for this concurrency."""
    if settings.threshold is not None:
        return settings.threshold
    return ONE_AT_A_TIME if perf["concurrency"] == 1 and not perf["offline"] else THRESHOLD


def _reference(audit_settings: AuditSettings, perf: Mapping[str, Any]) -> PerfSettings:
    """The phase of distinct samples: none is sent twice, in the warm-up or after it."""
    settings = perf_settings(**{**perf, "requests": audit_settings.requests})
    prepared = prepare(settings)
    if prepared.plan.warmup_s is not None:
        raise UsageError(
            "--warmup: the number of prompts of a timed warm-up is unknown: give a number of requests"
        )
    name, prompts, warmup = (
        prepared.dataset.name,
        len(prepared.dataset.samples),
        prepared.plan.warmup,
    )
    requests = audit_settings.requests or prompts - warmup
    if requests + warmup > prompts or requests < 1:
        raise UsageError(
            f"the reference phase sends no prompt twice, but only {prompts} of {name} remain after "
            f"{warmup} of warm-up; give fewer --requests, or more prompts"
        )
    if audit_settings.sample >= prompts:
        raise UsageError(
            f"--sample {audit_settings.sample}: {name} has {counted(prompts, 'prompt')}, the first being 0"
        )
    return perf_settings(**{**perf, "requests": requests})


TEST: Final = "output_caching_test"
REFERENCE: Final = "reference"
REPEATED: Final = "output_caching"
THRESHOLD: Final = 0.1
ONE_AT_A_TIME: Final = 0.2
"""The threshold where one request is in flight at a time: MLPerf doubles it for a single stream."""


@dataclass(frozen=True, slots=True)
class AuditPhase:
    """The result of a phase."""

    qps: float | None
    completed: int
    requested: int


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of an audit."""

    reference: AuditPhase
    repeated: AuditPhase
    threshold: float
    passed: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The audit under the names that mlcommons/endpoints writes, and submission checkers read."""
        return {
            "test": TEST,
            "passed": self.passed,
            "ref_qps": self.reference.qps,
            "audit_qps": self.repeated.qps,
            "threshold": self.threshold,
            "ref_completed": self.reference.completed,
            "ref_requested": self.reference.requested,
            "audit_completed": self.repeated.completed,
            "audit_requested": self.repeated.requested,
            "reason": self.reason,
        }


def audit(reference: AuditPhase, repeated: AuditPhase, threshold: float) -> AuditResult:
    """Evaluate the two phases."""
    short = [
        f"{name} completed {phase.completed} of {phase.requested}"
        for name, phase in ((REFERENCE, reference), (REPEATED, repeated))
        if phase.completed < phase.requested * (1 - threshold)
    ]
    if short or reference.qps is None or repeated.qps is None:
        enough = f"at least {100 * (1 - threshold):.0f} % must complete"
        reason = f"{' and '.join(short) or 'a phase has no rate'}; {enough}"
        return AuditResult(reference, repeated, threshold, passed=False, reason=reason)
    greatest_qps = reference.qps * (1 + threshold)
    passed = repeated.qps < greatest_qps
    reason = (
        f"one prompt repeated was answered at {repeated.qps:.4f}/s, {'below' if passed else 'not below'} "
        f"{1 + threshold:g} times the {reference.qps:.4f}/s of prompts that differ ({greatest_qps:.4f}/s)"
    )
    return AuditResult(reference, repeated, threshold, passed=passed, reason=reason)


FOLDER: Final = "audit"
RECORD: Final = f"{FOLDER}/audit_{TEST}.json"
VERIFIED: Final = f"{FOLDER}/verify_{TEST.upper()}.txt"
_BEGUN_BEFORE: Final = (
    "an earlier reference phase was cut off, so a cache may have its prompts; restart the server "
    "and audit again"
)


def conclude(
    folder: Path, outcomes: Sequence[PointOutcome], threshold: float, observer: Observer = SILENT
) -> AuditResult | None:
    """Evaluate the phases that have been run, and write the result.

    Invalid phases are not evaluated, and leave no files: the result is None.
    """
    invalid = [outcome for outcome in outcomes if not outcome.report.validity.valid]
    for outcome in invalid:
        why = " ".join(outcome.report.validity.reasons)
        observer.note(
            f"error: the phase {outcome.point.name} is invalid, and the audit is not evaluated: {why}"
        )
    if invalid:
        return None
    reference, repeated = (_phase(outcomes, name) for name in (REFERENCE, REPEATED))
    result = audit(reference, repeated, threshold)
    if any(folder.glob(f"{outcomes[0].folder.name}.cut-*")):
        result = replace(result, reason=f"{result.reason}; {_BEGUN_BEFORE}")
    run = outcomes[0].report.run
    record = {**result.to_dict(), "model": run.model, "salt": run.salt}
    _write_record(folder, record, passed=result.passed)
    return result


def _phase(outcomes: Sequence[PointOutcome], name: str) -> AuditPhase:
    outcome = next(outcome for outcome in outcomes if outcome.point.name == name)
    report = outcome.report
    return AuditPhase(
        report.throughput.qps or None, report.counts.completed, outcome.point.options["requests"]
    )


def withdraw(folder: Path) -> None:
    """Remove the files of an earlier result: while phases run, no file says that they passed."""
    for name in (RECORD, VERIFIED):
        (folder / name).unlink(missing_ok=True)


def verified(*, passed: bool) -> bytes:
    """The line in which MLPerf's checkers look for the result of an audit."""
    return f"Performance check pass: {passed}\n".encode()


def _write_record(folder: Path, record: dict[str, Any], *, passed: bool) -> None:
    """Write the record first: without it, no file may say that the audit passed."""
    files.write_json(folder / RECORD, record)
    try:
        write_whole(folder / VERIFIED, verified(passed=passed))
    except OSError as error:
        raise SetupError(f"{folder / VERIFIED} cannot be written ({error.strerror})") from error
