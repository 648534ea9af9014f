"""How load is applied to the endpoint: one value for each kind of load.

Closed     users, each of whom sends a request when the one before has ended
Open       requests that leave at their times, whatever the endpoint does
Offline    all requests at once (MLPerf's offline scenario)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lazy_dataclasses import dataclass, replace
from workloads.arrivals import arrival_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.driver.arrivals.rate_profile import Profile


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed loop."""

    concurrency: int
    #: How long a user pauses between an answer and the next request, a distribution of times
    #: (`workloads.distribution_notation`), or the time from request to request, after `every:`; None for no
    #: pause.
    think: str | None = None
    #: The number of users over time, at most `concurrency`; None where all begin at once.
    ramp: Profile | None = None

    kind: ClassVar[str] = "closed"
    limit: ClassVar[int | None] = None
    rate: ClassVar[Profile | None] = None
    speed: ClassVar[float] = 1.0


@dataclass(frozen=True, slots=True)
class ProcessArrivals:
    """Arrivals of a process, named as in `--arrival`, at a rate in req/s; or an `ArrivalError`."""

    process: str
    rate: Profile
    burstiness: float | None = None

    speed: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        arrival_process(self.process)

    @property
    def kind(self) -> str:
        """The process: each is a kind of load."""
        return self.process

    @property
    def peak(self) -> float:
        """The highest rate, in req/s."""
        return self.rate.peak

    @property
    def variance(self) -> float:
        """The variance of a distance between two arrivals, at unit rate."""
        return arrival_process(self.process).variance(self._shape)

    def positions(self, seed: int) -> Iterator[float]:
        """The arrivals at unit rate, from a seed."""
        return arrival_process(self.process).positions(seed, self._shape)

    def offsets(self, seed: int) -> Iterator[int]:
        """When requests are due, in ns from the start of a phase; ends where the rate stays 0."""
        from loadgen.driver.arrivals import schedule
        from loadgen.driver.arrivals.rate_profile import Flat

        if isinstance(self.rate, Flat) and self.rate.level > 0:
            return schedule.at_rate(self.positions(seed), self.rate.level)
        return schedule.along(self.positions(seed), self.rate)

    def record(self) -> dict[str, Any]:
        """The parameters for the log: a constant rate as a number, stages as a list, others as text."""
        from loadgen.driver.arrivals.rate_profile import Flat
        from loadgen.driver.arrivals.stages import Stages

        match self.rate:
            case Flat(level=level):
                rate: dict[str, Any] = {"rate": level}
            case Stages(stages=stages):
                rate = {"stages": [stage.settings() for stage in stages]}
            case _:
                rate = {"profile": self.rate.text}
        return rate | {"burstiness": self.burstiness}

    @property
    def _shape(self) -> float:
        return 1.0 if self.burstiness is None else self.burstiness


@dataclass(frozen=True, slots=True)
class TraceArrivals:
    """The times of a trace, which the `RequestSource` has."""

    speed: float = 1.0
    #: Its highest rate then, in requests per second; None until the trace has been read.
    peak: float | None = None

    kind: ClassVar[str] = "trace"
    rate: ClassVar[Profile | None] = None

    def record(self) -> dict[str, Any]:
        """The parameters for the log."""
        return {"trace_speed": self.speed}


Arrivals = ProcessArrivals | TraceArrivals


@dataclass(frozen=True, slots=True)
class Open:
    """An open loop."""

    arrivals: Arrivals
    #: How many requests, or conversations, may be in flight; what is due meanwhile waits. None for any
    #: number.
    limit: int | None = None
    think: str | None = None  #: how long a user pauses before the next turn of a conversation; see `Closed`
    turns: float = 1.0  #: the mean number of requests of an arrival, where arrivals are conversations

    @property
    def peak_rate(self) -> float | None:
        """The highest rate, in requests per second, all turns counted; None of a trace that was not read."""
        return None if self.arrivals.peak is None else self.arrivals.peak * self.turns

    @property
    def kind(self) -> str:
        """The kind of the arrivals."""
        return self.arrivals.kind

    @property
    def rate(self) -> Profile | None:
        """The rate over time; None for a trace."""
        return self.arrivals.rate

    @property
    def speed(self) -> float:
        """The speed of a trace's replay, relative to the recording; 1 without a trace."""
        return self.arrivals.speed


@dataclass(frozen=True, slots=True)
class Offline:
    """Everything at once."""

    limit: int | None = None

    kind: ClassVar[str] = "offline"
    think: ClassVar[str | None] = None
    rate: ClassVar[Profile | None] = None
    speed: ClassVar[float] = 1.0


Load = Closed | Open | Offline


def expected_arrivals(load: Load, duration_s: float) -> float | None:
    """The number of arrivals expected within a time, in seconds; None where the load has no rate."""
    return None if load.rate is None else load.rate.cumulative(duration_s)


def in_flight(load: Load, count: int | None) -> int | None:
    """The number of requests in flight of `count`, unbounded; None for a load that has no such number."""
    if isinstance(load, Closed):
        return load.concurrency
    return count if isinstance(load, Offline) else None


def later(load: Load, by_s: float) -> Load:
    """The load from a moment on, `by_s` seconds after the start."""
    from loadgen.driver.arrivals.rate_profile import Flat, Later

    if isinstance(load, Closed) and load.ramp is not None:
        return replace(load, ramp=Later(load.ramp, by_s))
    if not isinstance(load, Open) or not isinstance(load.arrivals, ProcessArrivals):
        return load
    rate = load.arrivals.rate
    rate = rate if isinstance(rate, Flat) else Later(rate, by_s)
    return replace(load, arrivals=replace(load.arrivals, rate=rate))


def load_record(load: Load) -> dict[str, Any]:
    """The parameters for repeating a load, for the log; None for inapplicable ones."""
    record = {
        "kind": load.kind,
        "concurrency": load.concurrency if isinstance(load, Closed) else None,
        **dict.fromkeys(("rate", "profile", "stages", "burstiness")),
        "think": load.think,
        "trace_speed": None,
        "max_concurrency": load.limit,
    }
    if isinstance(load, Closed) and load.ramp is not None:
        record["profile"] = load.ramp.text
    return record | load.arrivals.record() if isinstance(load, Open) else record
