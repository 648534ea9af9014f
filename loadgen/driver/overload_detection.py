"""Overload: an open loop whose queue grows, detected while running.

An endpoint that keeps up ends as many requests as are issued, give or take what is in flight. One that does
not ends as many as it can, steadily, while more than that are issued. The latter half of what has been
measured so far is looked at, in six windows, and it counts as overload when all of this holds:

- more requests were issued than ended, by more than chance explains: by four standard deviations of two
  independent Poisson counts (of burstier arrivals, counts with their variance);
- in at least five of the six windows;
- and no more ended in the second three windows than in the first three: while a run fills up, and while its
  rate grows and the endpoint follows, ever more requests end.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, assert_never

from lazy_dataclasses import dataclass
from loadgen.driver.load import Closed, Offline, Open, ProcessArrivals
from loadgen.driver.stop import OVERLOADED
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.load import Load

GRACE_S: Final = 1.0
"""How long requests in flight are awaited before they are cancelled."""

WINDOWS: Final = 6
ENOUGH_WINDOWS: Final = 5
DEVIATIONS: Final = 4.0
FEWEST_ENDED: Final = 50
"""With fewer ended requests the rate of the endpoint is unknown."""

APART_NS: Final = 100_000_000
"""The least distance between looks: more of them add no information."""

MOST_LOOKS: Final = 1024
"""The number of looks that are kept; beyond it every other one is dropped."""


@dataclass(frozen=True, slots=True)
class Look:
    """The counts of a session at a moment: measured requests issued, and ended with any outcome."""

    at_ns: int
    issued: int
    ended: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A backlog that grows."""

    seconds: float
    issued: int
    ended: int
    in_flight: int


def growth(looks: Sequence[Look], variance: float = 1.0) -> Growth | None:
    """Decide whether the endpoint falls behind; None if not, or if undecided.

    `variance` is that of a distance between arrivals at unit rate; less than 1, Poisson's, counts as 1.
    """
    if not looks:
        return None
    start_ns, end_ns = (looks[0].at_ns + looks[-1].at_ns) // 2, looks[-1].at_ns
    edges = [_at(looks, start_ns + (end_ns - start_ns) * number // WINDOWS) for number in range(WINDOWS + 1)]
    issued, ended = edges[-1].issued - edges[0].issued, edges[-1].ended - edges[0].ended
    if ended < FEWEST_ENDED:
        return None
    chance = math.sqrt(issued * max(variance, 1.0) + ended)
    grew = [after.issued - before.issued > after.ended - before.ended for before, after in pairwise(edges)]
    middle = edges[WINDOWS // 2].ended
    rises = edges[-1].ended - middle > middle - edges[0].ended
    if issued - ended <= DEVIATIONS * chance or sum(grew) < ENOUGH_WINDOWS or rises:
        return None
    last = edges[-1]
    return Growth((end_ns - start_ns) / 1e9, issued, ended, last.issued - last.ended)


class OverloadWatch:
    """Looks at a running session."""

    def __init__(self, load: Load) -> None:
        self._variance = _variance(load)
        self._looks: list[Look] = []

    def look(self, at_ns: int, issued: int, ended: int) -> Growth | None:
        """Add an observation; return the growth if the endpoint is overloaded."""
        if self._looks and at_ns - self._looks[-1].at_ns < APART_NS:
            return None
        if len(self._looks) == MOST_LOOKS:
            del self._looks[1::2]
        self._looks.append(Look(at_ns, issued, ended))
        return growth(self._looks, self._variance)


def finding(seen: Growth, at_ns: int) -> Event:
    """The finding on overload, for the log."""
    data: dict[str, Any] = {
        "code": OVERLOADED,
        "severity": "error",
        "message": f"The endpoint could not keep up: {seen.ended} of {seen.issued} requests ended in the "
        f"last {seen.seconds:.1f} s. --stop-on-overload ended the run with {seen.in_flight} requests in "
        "flight.",
        "remedy": "Lower the load: `loadgen search` finds the highest load that holds.",
    }
    return Event(EventType.FINDING, at_ns, data=data)


def _variance(load: Load) -> float:
    """The variance of inter-arrival times at unit rate; for a trace unknown, and taken as 1."""
    match load:
        case Open(arrivals=ProcessArrivals() as arrivals):
            return arrivals.variance
        case Closed() | Open() | Offline():
            return 1.0
        case _:
            assert_never(load)


def _at(looks: Sequence[Look], at_ns: int) -> Look:
    """The latest look that is not after a moment."""
    return looks[max(0, bisect_right(looks, at_ns, key=attrgetter("at_ns")) - 1)]
