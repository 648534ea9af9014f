"""A calibration as a table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.capacity import Calibration, Capacity, LimitedBy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.calibration.load_search import ClimbStep
    from loadgen.plugins.calibration.true_times import ReportedAndTrue

_TIMES: Final = "{:>17}" * 3
_HEAD: Final = "{:>10} {:>10} {:>10}" + _TIMES + "{:>10}  {}"
_WHO: Final = {
    LimitedBy.CLIENT: "the client",
    LimitedBy.MOCK: "the mock endpoint",
    LimitedBy.LADDER: "nobody",
}


def ladder(what: str, steps: Sequence[ClimbStep]) -> str:
    """Every step of one kind of work, one per line, in the order of the loads."""
    head = _HEAD.format(what, "req/s", "chunks/s", "TTFT", "TPOT", "ITL", "mock late", "held")
    return "\n".join([head, *(_line(tried) for tried in sorted(steps, key=lambda tried: tried.step.load))])


def _line(tried: ClimbStep) -> str:
    """One step: p50 / p99 of reported - true, and the p99 of the mock endpoint's own lateness, in ms."""
    step = tried.step
    return _HEAD.format(
        f"{step.load:,}",
        f"{step.times.requests_s:,.0f}",
        f"{step.times.chunks_s:,.0f}",
        *(_error(times) for times in (step.times.ttft, step.times.tpot, step.times.itl)),
        "-" if step.late is None else f"{step.late.p99:.2f}",
        "yes" if tried.limit is None else f"no: {tried.limit.by}",
    )


def progress(what: str, tried: ClimbStep) -> str:
    """One step that has just ended."""
    return f"{tried.step.load:>7,} {what}: {'held' if tried.limit is None else tried.limit.why}"


def summary(calibration: Calibration) -> str:
    """The capacity of the machine, in a few lines."""
    machine, workers = calibration.machine, calibration.workers
    by = "as many workers as perf takes" if workers is None else f"--workers {workers}"
    return (
        f"{machine.host}, {machine.cpus} CPUs, {by}, llm-loadgen {calibration.version}, "
        f"{calibration.made_at}\n"
        f"TTFT, TPOT and ITL are within {calibration.within_ms:g} ms of the truth, at p50 and p99, up to\n\n"
        f"  req/s       {_capacity(calibration.requests_s)}\n"
        f"  streams     {_capacity(calibration.streams)}"
    )


def _capacity(capacity: Capacity) -> str:
    load = f"{'at least ' if capacity.at_least else ''}{capacity.greatest:,}"
    rate = f" ({capacity.chunks_s:,.0f} chunks/s)"
    if capacity.over is None:
        return f"{load}{rate}; {capacity.limit.why}"
    limited = f"{_WHO[capacity.limit.by]} reached its limit: {capacity.limit.why}"
    return f"{load}{rate}; at {capacity.over:,} {limited}"


def _error(times: ReportedAndTrue | None) -> str:
    return "-" if times is None else f"{times.error.p50:+.2f} / {times.error.p99:+.2f}"
