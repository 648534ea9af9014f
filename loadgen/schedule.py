"""When requests are meant to leave: pure, seeded sequences. No clock, no sleep.

A schedule yields offsets from the start of the phase in integer nanoseconds, never decreasing, without end.
"""

from __future__ import annotations

import random
from itertools import count, repeat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECOND: Final = 1_000_000_000


def constant(rate: float) -> Iterator[int]:
    """Equal distances: request k at k / rate. Computed from k each time, so that nothing adds up.

    Args:
        rate: Requests a second.
    """
    return (round(k * _SECOND / rate) for k in count())


def poisson(rate: float, seed: int) -> Iterator[int]:
    """A Poisson process: exponential distances with a mean of 1 / rate.

    Args:
        rate: Requests a second.
        seed: The same seed gives the same sequence, on every platform.
    """
    draw = random.Random(seed)  # noqa: S311 (a schedule, not a secret)
    at = 0.0
    while True:
        at += draw.expovariate(rate)
        yield round(at * _SECOND)


def all_at_once() -> Iterator[int]:
    """Everything at the start (MLPerf's offline scenario)."""
    return repeat(0)
