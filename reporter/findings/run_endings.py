"""The findings on a run that is not whole: cut off, running, interrupted, or without a completed request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings.failed_requests import classes, for_example, remedy
from reporter.number_text import counted, whole
from reporter.report import Finding
from reporter.run_facts import RUNNING

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.report import RequestCounts


def _cut_off(evidence: CheckInputs) -> Finding | None:
    if evidence.ended != "cut_off":
        return None
    counts = evidence.counts
    return Finding(
        "cut_off",
        "error",
        f"The run was cut off: the log has no end. {counted(counts.completed, 'request')} had "
        f"completed, {whole(counts.in_flight)} were in flight.{_complete_until(evidence)}",
        _to_finish(evidence),
    )


def _complete_until(evidence: CheckInputs) -> str:
    """What the log says about its completeness, in a sentence."""
    until = evidence.complete_until
    if until is None:
        return ""
    return (
        f" The log is complete until {until.at.replace('T', ' ').replace('Z', ' UTC')}, "
        f"{until.behind_ms:.0f} ms before the last sign of life; requests that ended later may be "
        "missing."
    )


def _running(evidence: CheckInputs) -> Finding | None:
    if evidence.ended != RUNNING:
        return None
    counts = evidence.counts
    return Finding(
        "running",
        "warning",
        f"The run is in progress: {counted(counts.completed, 'completed request')} and "
        f"{whole(counts.in_flight)} in flight. The figures cover the run so far.",
        "`loadgen watch` shows it until it ends.",
    )


def _interrupted(evidence: CheckInputs) -> Finding | None:
    if evidence.ended != "interrupted":
        return None
    return Finding(
        "interrupted",
        "error",
        f"The run was interrupted after {counted(evidence.counts.issued, 'request')} had been issued.",
        _to_finish(evidence),
    )


def _to_finish(evidence: CheckInputs) -> str:
    """What the results of an interrupted run cover, and how to finish it."""
    covered = f"The results below cover the {counted(evidence.counts.completed, 'completed request')}."
    if not evidence.resumable:
        return f"{covered} A run that only --duration ends cannot be resumed: start a new one."
    return f"{covered} Run `loadgen resume RUN` to finish."


def _nothing_completed(evidence: CheckInputs) -> Finding | None:
    counts = evidence.counts
    if counts.completed or not counts.issued:
        return None
    return Finding(
        "nothing_completed",
        "error",
        f"None of the {counts.issued:,} requests completed: {_ends(counts)}.{for_example(evidence)}",
        remedy(evidence) or "`loadgen check` shows whether the endpoint answers and serves the model.",
    )


def _ends(counts: RequestCounts) -> str:
    """How requests ended that did not complete."""
    others = {"cancelled": counts.cancelled, "in flight": counts.in_flight, "given up": counts.abandoned}
    return classes({**counts.by_error, **{name: n for name, n in others.items() if n}})


CHECKS: Final[tuple[Check, ...]] = (_cut_off, _running, _interrupted, _nothing_completed)
