"""How the memory of a run grows with time."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final

from timed_run import timed_run

if TYPE_CHECKING:
    from cores import Cores
    from timed_run import Pace, TimedRun

REQUESTS: Final = 1_000_000
RATE: Final = 4000
"""The req/s of the long run, which then takes about four minutes."""

_MINUTE_NS: Final = 60 * 10**9
_AVERAGED_NS: Final = 10 * 10**9


def growth(
    cores: Cores, pace: Pace, requests: int = REQUESTS, rate: float = RATE
) -> tuple[float, str] | None:
    """By how many percent the memory of a long run grows from the end of its first minute to its end.

    Both are medians of ten seconds. A run of less than two minutes counts from its middle.

    Returns:
        The growth and what it is computed from, in words; None where the system does not tell.
    """
    run = timed_run(cores, pace, "--rate", rate, "--requests", requests, memory=True, compare=False)
    start_ns, end_ns = run.window
    settled_ns = start_ns + min(_MINUTE_NS, (end_ns - start_ns) // 2)
    averaged_ns = min(_AVERAGED_NS, (end_ns - settled_ns) // 2)
    first, last = _typical(run, settled_ns, averaged_ns), _typical(run, end_ns - averaged_ns, averaged_ns)
    if first is None or last is None:
        return None
    completed = run.report["counts"]["completed"]
    return (last / first - 1) * 100, f"{first:.1f} MB and {last:.1f} MB, {completed:,} requests"


def _typical(run: TimedRun, start_ns: int, span_ns: int) -> float | None:
    """The median of the samples of a span."""
    seen = [
        sample.memory_mb
        for sample in run.client.samples
        if start_ns <= sample.at_ns <= start_ns + span_ns and sample.memory_mb
    ]
    return median(seen) if seen else None
