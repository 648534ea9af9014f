"""One step of the ladder: a short run against a mock endpoint of its own, and what came of it."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.calibration.beside_truth import BesideTruth, Spread
    from reporter.report import Report

_MODEL: Final = "calibration"


_WARMUP: Final = 32
"""Requests ahead of the others: the first ones of a process take longer."""


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, of which a step takes a certain load.

    Requests arrive at random (Poisson), streams as well: a closed loop would start with all of them at once,
    and a short run would be about little else than that.

    Attributes:
        name: What the load counts.
        at_once: Whether it counts requests in flight, on average; else requests a second.
        ttft_ms: The time to first token that the mock endpoint keeps.
        gap_ms: Its time between tokens.
        tokens: Its tokens a reply, one a chunk.
        settled_s: How long it takes until connections are open, and as many requests end as begin.
    """

    name: str
    at_once: bool
    ttft_ms: float
    gap_ms: float
    tokens: int
    settled_s: float

    def rate(self, load: int) -> float:
        """The requests a second that amount to a load."""
        answer_s = (self.ttft_ms + self.gap_ms * (self.tokens - 1)) / 1e3
        return load / answer_s if self.at_once else float(load)


REQUESTS: Final = Work("requests/s", at_once=False, ttft_ms=50.0, gap_ms=10.0, tokens=4, settled_s=0.3)
"""Short answers."""

STREAMS: Final = Work("streams", at_once=True, ttft_ms=50.0, gap_ms=10.0, tokens=64, settled_s=0.8)
"""Streams of 100 tokens a second each."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one load.

    Attributes:
        load: How much of the work was put on.
        beside: The reported times beside the true ones, once it had settled.
        late: How late the mock endpoint was with its tokens.
        faults: Why the run cannot stand for the server, in sentences; empty for a sound one.
    """

    load: int
    beside: BesideTruth
    late: Spread | None
    faults: tuple[str, ...]


def take(work: Work, load: int, seconds: float, **settings: Any) -> Step:
    """Put a load on a mock endpoint for some seconds.

    Args:
        work: Of what.
        load: How much.
        seconds: How long it is measured, once it has settled.
        **settings: Further fields of `PerfSettings`.

    Raises:
        KeyboardInterrupt: The user gave it up.
        MockSetupError, SetupError: This machine cannot do it.
    """
    try:
        return _take(work, load, seconds, settings)
    finally:
        # A run freezes what lives to its end, and this process lives on.
        gc.unfreeze()


def _take(work: Work, load: int, seconds: float, settings: Mapping[str, Any]) -> Step:
    from cli.calibration.beside_truth import lateness, lay_beside
    from cli.perf import run
    from cli.perf_settings import PerfSettings
    from cli.scratch_folder import scratch_folder
    from loadgen.mock_endpoint.process import start_mock

    with scratch_folder("loadgen-calibrate-") as folder:
        with start_mock(**_pace(work)) as mock:
            report, path = run(
                PerfSettings(
                    url=[mock.url],
                    model=_MODEL,
                    rate=str(work.rate(load)),
                    duration=work.settled_s + seconds,
                    warmup=str(_WARMUP),
                    out=folder / "run",
                    quiet=True,
                    **settings,
                ),
            )
        if report.run["ended"] == "interrupted":
            raise KeyboardInterrupt
        truth = mock.truth()
        beside = lay_beside(path, truth, work.settled_s)
    return Step(load, beside, lateness(truth, work.ttft_ms, work.gap_ms), _faults(report))


def _pace(work: Work) -> Mapping[str, Any]:
    """The options of the mock endpoint."""
    return {
        "fast": True,
        "models": (_MODEL,),
        "ttft": f"{work.ttft_ms}ms",
        "itl": f"{work.gap_ms}ms",
        "tokens": str(work.tokens),
    }


def _faults(report: Report) -> tuple[str, ...]:
    failed = report.counts.failed + report.counts.cancelled
    unsound = (f"{failed} of {report.counts.issued} requests failed.",) if failed else ()
    return (*report.validity.reasons, *unsound)
