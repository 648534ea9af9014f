"""The requests of a session with due times: each request by number, equal for all workers."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, assert_never

from lazy_dataclasses import dataclass
from loadgen.driver.load import Closed, Offline, Open, ProcessArrivals, TraceArrivals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from loadgen.driver.load import Arrivals, Load
    from loadgen.driver.phase import Phase
    from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class RequestSource:
    """The questions of a session, in addition to the plan."""

    samples: Sequence[Sample]  #: what can be asked; `Plan.order` says which request asks which
    #: Whether some have several turns; one that has not is a conversation all the same then.
    conversations: bool = False
    #: How often each is asked relative to the others, for the order that needs it.
    weights: Sequence[float] | None = None
    #: When each came, where it is a trace that is replayed. Never decreasing.
    offsets_ns: Sequence[int] | None = None
    #: Of a run that is resumed, which measured requests have no result yet: their numbers among those, from 0
    #: on, ascending. None for a new run.
    left: Sequence[int] | None = None
    elapsed_ns: int = 0  #: of a trace that is resumed, for how long it has been replayed

    def number(self, phase: Phase, request: int) -> int:
        """The number in the session of a request of a phase."""
        if self.left is not None and phase.name == "performance":
            request = self.left[request]
        return phase.number(request)

    def offsets(self, load: Load, seed: int, phase: Phase) -> Iterator[int]:
        """The due times of a phase's requests, in ns from the start of the phase.

        Those of an open loop at a rate go on while there is one; requests without times are due at once.
        """
        match load:
            case Open(arrivals=arrivals):
                return self._arrivals(arrivals, seed, phase)
            case Closed() | Offline():
                return repeat(0)
            case _:
                assert_never(load)

    def _arrivals(self, arrivals: Arrivals, seed: int, phase: Phase) -> Iterator[int]:
        match arrivals:
            case ProcessArrivals():
                return arrivals.offsets(seed)
            case TraceArrivals(speed=speed):
                return self._replayed(speed, phase)
            case _:
                assert_never(arrivals)

    def _replayed(self, speed: float, phase: Phase) -> Iterator[int]:
        """The times of the trace.

        When the run is resumed, what was due before the interruption is due at once, and everything else when
        it would have been.
        """
        from loadgen.driver.arrivals.schedule import replayed

        whole = replayed(self.offsets_ns or (), speed, phase.first)
        if self.left is None or phase.name != "performance":
            return whole
        return _rest(whole, self.left, self.elapsed_ns)


def _rest(offsets: Iterator[int], left: Iterable[int], elapsed_ns: int) -> Iterator[int]:
    """The offsets of the remaining requests, earlier by the elapsed time."""
    wanted = iter(left)
    due = next(wanted, None)
    for number, offset in enumerate(offsets):
        if number == due:
            yield max(0, offset - elapsed_ns)
            due = next(wanted, None)
        if due is None:
            return
