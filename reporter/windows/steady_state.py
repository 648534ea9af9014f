"""The steady state of a run: found by batch means, not assumed. Pure functions of the moments of a run.

The window is cut into blocks of equal length, of which `reporter.windows.block_drift` leaves out the leading
ones, and tests the rest for drifts in latency, throughput and requests in flight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reporter.report import SteadyState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Moment

MOST_BLOCKS: Final = 20
FEWEST_BLOCKS: Final = 10
"""Before leading ones are left out; afterwards there are half as many at least."""

FEWEST_REQUESTS: Final = 5
"""In each block, of those issued in it that completed."""

ESTIMATED: Final = ("latency_ms", "ttft_ms", "qps", "output_tps", "in_flight")

_EDGE_S: Final = 1e-9


def steady_state(moments: Sequence[Moment], until_s: float) -> SteadyState:
    """Look for the steady state of one segment.

    Args:
        moments: The whole segment (`reporter.windows.run_spans`).
        until_s: When its window, or its issuing, was over, whichever came first; counted as moments are.
    """
    inside = [
        moment for moment in moments if moment.start_s >= -_EDGE_S and _end_s(moment) <= until_s + _EDGE_S
    ]
    blocks = _blocks(inside)
    if not blocks:
        return SteadyState(found=False, reason=_TOO_FEW)
    from reporter.windows.block_drift import TESTED, estimate, trend, unsteady, value_of, warmed_up

    series = {name: [value_of(name, block) for block in blocks] for name in ESTIMATED}
    first = max(warmed_up([value or 0.0 for value in series[name]]) for name in TESTED)
    series_left = {name: values[first:] for name, values in series.items()}
    reason, drift = unsteady({name: trend([value or 0.0 for value in series_left[name]]) for name in TESTED})
    return SteadyState(
        found=reason is None,
        reason=reason,
        start_s=blocks[first][0].start_s,
        end_s=_end_s(blocks[-1][-1]),
        blocks=len(blocks) - first,
        drift=drift,
        **({} if reason else {name: estimate(values) for name, values in series_left.items()}),
    )


_TOO_FEW: Final = (
    f"too few requests for {FEWEST_BLOCKS} blocks of equal length with {FEWEST_REQUESTS} answered "
    "requests each"
)


def _blocks(moments: Sequence[Moment]) -> list[Sequence[Moment]]:
    """Blocks of equal length, as many as have enough requests each; the remainder precedes the first."""
    for width in range(math.ceil(len(moments) / MOST_BLOCKS) or 1, len(moments) // FEWEST_BLOCKS + 1):
        over = len(moments) % width
        blocks = [moments[start : start + width] for start in range(over, len(moments), width)]
        if all(sum(moment.answered for moment in block) >= FEWEST_REQUESTS for block in blocks):
            return blocks
    return []


def _end_s(moment: Moment) -> float:
    return moment.start_s + moment.duration_s
