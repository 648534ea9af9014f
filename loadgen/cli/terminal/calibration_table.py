"""What a calibration looks like on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.calibration.verdict import LimitedBy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.calibration.capacity import Calibration, Capacity
    from loadgen.sessions.calibration.climb import ClimbStep
    from loadgen.sessions.calibration.truth import ReportedAndTrue

_TIMES: Final = "{:>17}" * 3
_HEAD: Final = "{:>10} {:>10} {:>10}" + _TIMES + "{:>10}  {}"
_WHO: Final = {
    LimitedBy.CLIENT: "the client",
    LimitedBy.MOCK: "the mock endpoint",
    LimitedBy.LADDER: "nobody",
}


def ladder(what: str, steps: Sequence[ClimbStep]) -> str:
    """Every step of one kind of work, a line each, in the order of the loads."""
    head = _HEAD.format(what, "requests/s", "chunks/s", "TTFT", "TPOT", "ITL", "mock late", "held")
    return "\n".join([head, *(_line(tried) for tried in sorted(steps, key=lambda one: one.step.load))])


def _line(tried: ClimbStep) -> str:
    """One step: p50 / p99 of reported - true, and the p99 of the mock endpoint's own lateness, in ms."""
    step = tried.step
    return _HEAD.format(
        f"{step.load:,}",
        f"{step.beside.requests_s:,.0f}",
        f"{step.beside.chunks_s:,.0f}",
        *(_error(beside) for beside in (step.beside.ttft, step.beside.tpot, step.beside.itl)),
        "-" if step.late is None else f"{step.late.p99:.2f}",
        "yes" if tried.limit is None else f"no: {tried.limit.by}",
    )


def progress(what: str, tried: ClimbStep) -> str:
    """One step that has just been taken."""
    return f"{tried.step.load:>7,} {what}: {'held' if tried.limit is None else tried.limit.why}"


def summary(calibration: Calibration) -> str:
    """What the machine can do, in a few lines."""
    machine, workers = calibration.machine, calibration.workers
    by = "as many workers as perf takes" if workers is None else f"--workers {workers}"
    return (
        f"{machine.host}, {machine.cpus} CPUs, {by}, llm-loadgen {calibration.version}, "
        f"{calibration.made_at}\n"
        f"TTFT, TPOT and ITL are within {calibration.within_ms:g} ms of the truth, at p50 and p99, up to\n\n"
        f"  requests/s  {_capacity(calibration.requests_s)}\n"
        f"  streams     {_capacity(calibration.streams)}"
    )


def _capacity(found: Capacity) -> str:
    most = f"{'at least ' if found.at_least else ''}{found.most:,}"
    rate = f" ({found.chunks_s:,.0f} chunks/s)"
    if found.over is None:
        return f"{most}{rate}; {found.limit.why}"
    return f"{most}{rate}; at {found.over:,} {_WHO[found.limit.by]} gave out: {found.limit.why}"


def _error(beside: ReportedAndTrue | None) -> str:
    return "-" if beside is None else f"{beside.error.p50:+.2f} / {beside.error.p99:+.2f}"
