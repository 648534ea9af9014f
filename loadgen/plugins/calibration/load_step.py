"""One step of a calibration: a short run against a separate mock endpoint, and the limit reached."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.calibration.true_times import ComparedTimes, MedianAndP99, compare_with_truth, lateness
from loadgen.sessions.capacity import CapacityLimit, LimitedBy
from loadgen.sessions.scratch_folder import scratch_folder
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, with a load per step.

    Requests arrive at random (Poisson), streams as well: a closed loop would start with all of them at once,
    and a short run would be about little else than that.

    Attributes:
        name: What the load counts.
        at_once: Whether it counts requests in flight, on average; else req/s.
        ttft_ms: The time to first token that the mock endpoint keeps.
        gap_ms: Its time between tokens.
        tokens: Its tokens per reply, one per chunk.
        settled_s: How long it takes until connections are open, and as many requests end as begin.
    """

    name: str
    at_once: bool
    ttft_ms: float
    gap_ms: float
    tokens: int
    settled_s: float

    def rate(self, load: int) -> float:
        """The req/s of a load."""
        answer_s = (self.ttft_ms + self.gap_ms * (self.tokens - 1)) / 1e3
        return load / answer_s if self.at_once else float(load)


REQUESTS: Final = Work("req/s", at_once=False, ttft_ms=50.0, gap_ms=10.0, tokens=4, settled_s=0.3)
"""Short answers."""

STREAMS: Final = Work("streams", at_once=True, ttft_ms=50.0, gap_ms=10.0, tokens=64, settled_s=0.8)
"""Streams of 100 tok/s each."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one load."""

    load: int
    times: ComparedTimes
    late: MedianAndP99 | None
    faults: tuple[str, ...]


_MODEL: Final = "calibration"

_WARMUP: Final = 32
"""Warm-up requests: the first ones of a process take longer."""

_LEAST_REQUESTS: Final = 10
"""How many are due in a step on average: at a low rate none may be due in its first second."""


def limit(step: Step, work: Work, within_ms: float) -> CapacityLimit | None:
    """The limit reached by a load; None for a load that held.

    A mock endpoint that is late by more than the time between its tokens does not serve the load that it
    should. Where it is late by more than the errors may be, the machine is too slow for it, and an error does
    not count as the client's: "at least" is then true in any case.
    """
    late_ms = step.late.p99 if step.late is not None else 0.0
    late = f"the mock endpoint was {late_ms:.1f} ms late at p99"
    if late_ms > work.gap_ms:
        return CapacityLimit(LimitedBy.MOCK, late)
    if step.faults:
        return CapacityLimit(LimitedBy.CLIENT, step.faults[0].rstrip("."))
    errors = step.times.errors()
    if not errors:
        return CapacityLimit(LimitedBy.CLIENT, "no request came through to be compared")
    name = max(errors, key=lambda name: abs(errors[name]))
    error_ms = errors[name]
    if abs(error_ms) <= within_ms:
        return None
    off = f"{name} was off by {error_ms:+.2f} ms"
    if late_ms > within_ms:
        return CapacityLimit(LimitedBy.MOCK, f"{off}, and {late}")
    return CapacityLimit(LimitedBy.CLIENT, off)


def take(work: Work, load: int, seconds: float, **settings: Any) -> Step:
    """Put a load on a mock endpoint for some seconds."""
    try:
        return _take(work, load, seconds, settings)
    finally:
        # A run freezes its objects until it ends, and this process lives on.
        gc.unfreeze()


def _take(work: Work, load: int, seconds: float, settings: Mapping[str, Any]) -> Step:
    from loadgen.sessions.run_session import run

    with scratch_folder("loadgen-calibrate-") as folder:
        with start_mock(**_pace(work)) as mock:
            report, path = run(
                perf_settings(
                    url=[mock.url],
                    model=_MODEL,
                    rate=str(work.rate(load)),
                    duration=work.settled_s + max(seconds, _LEAST_REQUESTS / work.rate(load)),
                    warmup=str(_WARMUP),
                    out=folder / "run",
                    quiet=True,
                    server_metrics=["none"],
                    **settings,
                ),
            )
        if report.run.ended == "interrupted":
            raise KeyboardInterrupt
        truth = mock.truth()
        times = compare_with_truth(path, truth, work.settled_s)
    return Step(load, times, lateness(truth, work.ttft_ms, work.gap_ms), _faults(report))


def _pace(work: Work) -> Mapping[str, Any]:
    return {
        "models": (_MODEL,),
        "ttft": f"{work.ttft_ms}ms",
        "itl": f"{work.gap_ms}ms",
        "tokens": str(work.tokens),
    }


def _faults(report: Report) -> tuple[str, ...]:
    failed = report.counts.failed + report.counts.cancelled
    unsound = (f"{failed} of {report.counts.issued} requests failed.",) if failed else ()
    return (*report.validity.reasons, *unsound)
