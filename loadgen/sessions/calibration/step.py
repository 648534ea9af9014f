"""One step of the ladder: a short run against a separate mock endpoint, and the result."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.capacity.work import Step, Work
    from reporter.report import Report

_MODEL: Final = "calibration"

_WARMUP: Final = 32
"""Warm-up requests: the first ones of a process take longer."""

_LEAST_REQUESTS: Final = 10
"""How many are due in a step on average: at a low rate none may be due in its first second."""


def take(work: Work, load: int, seconds: float, **settings: Any) -> Step:
    """Put a load on a mock endpoint for some seconds.

    Args:
        work: The kind of work.
        load: The load, in the unit of the work.
        seconds: How long it is measured, once it has settled; longer where that is time for few requests.
        **settings: Further fields of `PerfSettings`.

    Raises:
        KeyboardInterrupt: The user interrupted it.
        MockSetupError, SetupError: This machine cannot run it.
    """
    try:
        return _take(work, load, seconds, settings)
    finally:
        # A run freezes its objects until it ends, and this process lives on.
        gc.unfreeze()


def _take(work: Work, load: int, seconds: float, settings: Mapping[str, Any]) -> Step:
    from loadgen.mock_endpoint.process import start_mock
    from loadgen.sessions.capacity.true_times import compare_with_truth, lateness
    from loadgen.sessions.capacity.work import Step
    from loadgen.sessions.run_session import run
    from loadgen.sessions.scratch_folder import scratch_folder
    from loadgen.sessions.settings.perf import perf_settings

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
    """The options of the mock endpoint."""
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
