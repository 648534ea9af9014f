"""A load in the log's form: the contents of `settings.load`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

from loadgen.driver.arrivals.rate_profile import Flat
from loadgen.driver.arrivals.stages import Stages
from loadgen.driver.load import Closed, Offline, Open, ProcessArrivals, TraceArrivals
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from loadgen.driver.arrivals.rate_profile import Profile
    from loadgen.driver.load import Arrivals, Load

CLOSED: Final = "closed"
TRACE: Final = "trace"
OFFLINE: Final = "offline"
KINDS: Final = (CLOSED, *ARRIVAL_PROCESSES, TRACE, OFFLINE)
"""The kinds of load, in the log's words: each arrival process is a kind."""


def kind_of(load: Load) -> str:
    """The kind of a load, one of `KINDS`."""
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
    if isinstance(rate, Flat):
        return {"rate": rate.level}
    if isinstance(rate, Stages):
        return {"stages": [stage.settings() for stage in rate.stages]}
    return {"profile": rate.text}
