"""When requests are meant to leave: pure, seeded sequences. No clock, no sleep.

A schedule yields offsets from the start of the phase in integer nanoseconds, never decreasing. It is an
arrival process (`workloads.arrivals`) at a rate (`rate_profile.py`): arrival k is at Λ⁻¹(S_k), with S_k the
position of the k-th arrival of the process, and Λ the cumulative rate. So every process goes with every rate,
and Λ maps the distances between arrivals back to those of the process.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from loadgen.driver.arrivals.rate_profile import Profile

_SECOND: Final = 1_000_000_000


def at_rate(positions: Iterable[float], rate: float) -> Iterator[int]:
    """A rate that does not change. Computed from the position each time, so that nothing adds up."""
    return (round(position * _SECOND / rate) for position in positions)


def along(positions: Iterable[float], profile: Profile) -> Iterator[int]:
    """A rate that changes; ends where no request comes any more."""
    latest = 0
    for position in positions:
        at_s = profile.inverse(position)
        if at_s == math.inf:
            return
        # The last digit of a time may be off, and must not put one request ahead of another.
        latest = max(latest, round(at_s * _SECOND))
        yield latest


def replayed(offsets_ns: Sequence[int], speed: float, first: int = 0) -> Iterator[int]:
    """The arrival times of a trace, `speed` times as fast, from the request `first` on."""
    start_ns = offsets_ns[first] if first < len(offsets_ns) else 0
    return (round((offsets_ns[k] - start_ns) / speed) for k in range(first, len(offsets_ns)))


def busiest_rate(offsets_ns: Iterable[int], speed: float) -> float:
    """The highest rate of a replayed trace, in req/s: that of the busiest second."""
    return max(Counter(int(offset_ns / speed // _SECOND) for offset_ns in offsets_ns).values(), default=0)
