"""How load is applied to the endpoint: one value for each kind of load.

    Closed     users, each of whom sends a request when the one before has ended
    Open       requests that leave at their times, whatever the endpoint does
    Offline    all requests at once (MLPerf's offline scenario)

The log's words for them are in `load_record.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from workloads.arrivals import arrival_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.driver.arrivals.rate_profile import Profile


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed loop.

    Attributes:
        think: How long a user pauses between an answer and the next request, a distribution of times
            (`workloads.distribution_notation`); None for no pause.
    """

    concurrency: int
    think: str | None = None


@dataclass(frozen=True, slots=True)
class ProcessArrivals:
    """Arrivals of a process, named as in `--arrival`, at a rate in requests/s; or an `ArrivalError`."""

    process: str
    rate: Profile
    burstiness: float | None = None

    def __post_init__(self) -> None:
        arrival_process(self.process)

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

    @property
    def _shape(self) -> float:
        return 1.0 if self.burstiness is None else self.burstiness


@dataclass(frozen=True, slots=True)
class TraceArrivals:
    """The times of a trace, which the agenda has.

    Attributes:
        peak: Its highest rate then, in requests per second; None until the trace has been read.
    """

    speed: float = 1.0
    peak: float | None = None


Arrivals = ProcessArrivals | TraceArrivals


@dataclass(frozen=True, slots=True)
class Open:
    """An open loop.

    Attributes:
        limit: How many requests, or conversations, may be in flight; what is due meanwhile waits. None for
            any number.
        think: How long a user pauses before the next turn of a conversation; see `Closed`.
        turns: The mean number of requests of an arrival, where arrivals are conversations.
    """

    arrivals: Arrivals
    limit: int | None = None
    think: str | None = None
    turns: float = 1.0

    @property
    def peak_rate(self) -> float | None:
        """The highest rate, in requests per second, all turns counted; None of a trace that was not read."""
        match self.arrivals:
            case ProcessArrivals(rate=rate):
                return rate.peak * self.turns
            case TraceArrivals(peak=peak):
                return None if peak is None else peak * self.turns
            case _:
                assert_never(self.arrivals)


@dataclass(frozen=True, slots=True)
class Offline:
    """Everything at once."""

    limit: int | None = None


Load = Closed | Open | Offline


def rate_of(load: Load) -> Profile | None:
    """The rate over time; None for a load without a rate, such as a trace."""
    match load:
        case Open(arrivals=ProcessArrivals(rate=rate)):
            return rate
        case Closed() | Open() | Offline():
            return None
        case _:
            assert_never(load)


def expected_arrivals(load: Load, duration_s: float) -> float | None:
    """The number of arrivals expected within a time, in seconds; None where the load has no rate."""
    rate = rate_of(load)
    return None if rate is None else rate.cumulative(duration_s)


def in_flight(load: Load, count: int | None) -> int | None:
    """The requested number of requests in flight, unbounded; None for a load without one."""
    match load:
        case Closed(concurrency=concurrency):
            return concurrency
        case Offline():
            return count
        case Open():
            return None
        case _:
            assert_never(load)


def limit_of(load: Load) -> int | None:
    """The bound on the requests in flight of an open loop, or offline; None without one."""
    match load:
        case Open(limit=limit) | Offline(limit=limit):
            return limit
        case Closed():
            return None
        case _:
            assert_never(load)


def think_of(load: Load) -> str | None:
    """The pauses of users, a distribution of times; None without any."""
    match load:
        case Closed(think=think) | Open(think=think):
            return think
        case Offline():
            return None
        case _:
            assert_never(load)


def speed_of(load: Load) -> float:
    """The speed of a trace's replay, relative to the recording; 1 for a load without a trace."""
    match load:
        case Open(arrivals=TraceArrivals(speed=speed)):
            return speed
        case Closed() | Open() | Offline():
            return 1.0
        case _:
            assert_never(load)


def later(load: Load, by_s: float) -> Load:
    """The load from a moment on, `by_s` seconds after the start."""
    match load:
        case Open(arrivals=ProcessArrivals(rate=rate) as arrivals):
            from loadgen.driver.arrivals.rate_profile import Flat, Later

            rate = rate if isinstance(rate, Flat) else Later(rate, by_s)
            return replace(load, arrivals=replace(arrivals, rate=rate))
        case Closed() | Open() | Offline():
            return load
        case _:
            assert_never(load)


CLOSED: Final = "closed"
TRACE: Final = "trace"
OFFLINE: Final = "offline"


def kind_of(load: Load) -> str:
    """The kind of a load, in the log's words: each arrival process is a kind."""
    match load:
        case Closed():
            return CLOSED
        case Open(arrivals=arrivals):
            return _kind_of_arrivals(arrivals)
        case Offline():
            return OFFLINE
        case _:
            assert_never(load)


def load_record(load: Load) -> dict[str, Any]:
    """The parameters for repeating a load; None for inapplicable ones."""
    record: dict[str, Any] = dict.fromkeys(
        ("concurrency", "rate", "profile", "stages", "burstiness", "think", "trace_speed", "max_concurrency")
    )
    record = {"kind": kind_of(load), **record}
    match load:
        case Closed(concurrency=concurrency, think=think):
            return record | {"concurrency": concurrency, "think": think}
        case Open(arrivals=arrivals, limit=limit, think=think):
            return record | _arrivals_record(arrivals) | {"think": think, "max_concurrency": limit}
        case Offline(limit=limit):
            return record | {"max_concurrency": limit}
        case _:
            assert_never(load)


def _kind_of_arrivals(arrivals: Arrivals) -> str:
    match arrivals:
        case ProcessArrivals(process=process):
            return process
        case TraceArrivals():
            return TRACE
        case _:
            assert_never(arrivals)


def _arrivals_record(arrivals: Arrivals) -> dict[str, Any]:
    match arrivals:
        case ProcessArrivals(rate=rate, burstiness=burstiness):
            return _rate_record(rate) | {"burstiness": burstiness}
        case TraceArrivals(speed=speed):
            return {"trace_speed": speed}
        case _:
            assert_never(arrivals)


def _rate_record(rate: Profile) -> dict[str, Any]:
    """A constant rate as a number, stages one by one, every other profile as text."""
    from loadgen.driver.arrivals.rate_profile import Flat
    from loadgen.driver.arrivals.stages import Stages

    if isinstance(rate, Flat):
        return {"rate": rate.level}
    if isinstance(rate, Stages):
        return {"stages": [stage.settings() for stage in rate.stages]}
    return {"profile": rate.text}
