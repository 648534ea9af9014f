"""Representative arrivals: the seed whose number of requests is nearest to the expected number.

In a few seconds a Poisson process of 40 requests/s has 5 % more or fewer than expected, which would
decide the verdict. With a chosen seed it is a Poisson process given its count: as irregular as any other.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from loadgen.driver.load import Open, ProcessArrivals, expected_arrivals

if TYPE_CHECKING:
    from loadgen.driver.load import Load

CANDIDATES: Final = 32
MANY: Final = 100_000
"""From this many arrivals on, every seed has nearly the expected number."""


def fair_seed(load: Load, seconds: float, first: int) -> int:
    """The seed, among candidates, whose number of arrivals is nearest to the expected number."""
    expected = expected_arrivals(load, seconds) or 0.0
    if not (isinstance(load, Open) and isinstance(load.arrivals, ProcessArrivals)) or not 0 < expected < MANY:
        return first
    arrivals = load.arrivals
    if not arrivals.variance:
        return first

    def off(seed: int) -> float:
        return abs(sum(1 for _ in takewhile(expected.__gt__, arrivals.positions(seed))) - expected)

    return min(range(first, first + CANDIDATES), key=off)
