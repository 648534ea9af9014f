"""The capacity of a machine as a client: stored in the user's cache, and compared with plans."""

from __future__ import annotations

import platform
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import asdict, dataclass
from loadgen.driver.load import Open, in_flight
from loadgen.driver.workers.launcher import usable_cpus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.plan import Plan


class LimitedBy(StrEnum):
    """The part that reached a limit."""

    CLIENT = "client"
    """The load generator on this machine: the capacity that is searched for."""
    MOCK = "mock"
    """The mock endpoint: the client can do at least what held."""
    LADDER = "ladder"
    """Nothing: more was not tried."""


@dataclass(frozen=True, slots=True)
class CapacityLimit:
    """Why a load did not hold."""

    by: LimitedBy
    why: str


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most of one kind of work at which the times were true.

    Attributes:
        greatest: The greatest load that held; 0 where none did.
        chunks_s: Chunks/s that arrived at that load.
        over: The least load that did not hold; None where all held.
        limit: What kept the next greater load from holding.
    """

    greatest: int
    chunks_s: float
    over: int | None
    limit: CapacityLimit

    @property
    def at_least(self) -> bool:
        """Whether the capacity may be higher: the mock endpoint was the limit, or the ladder ended."""
        return self.limit.by is not LimitedBy.CLIENT


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine and processors that a calibration is valid for."""

    host: str
    cpus: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """The capacity of a machine as a client.

    Attributes:
        machine: The machine.
        version: Of this program.
        made_at: When, in ISO 8601.
        workers: The worker processes that were asked for; None for as many as `perf` chooses.
        within_ms: How far a reported time was allowed to be from the true one, at p50 and p99.
        requests_s: In req/s, with short answers.
        streams: Concurrent streams of 100 tok/s each.
    """

    machine: Machine
    version: str
    made_at: str
    workers: int | None
    within_ms: float
    requests_s: Capacity
    streams: Capacity

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON-able values, for `of_dict`."""
        return {**asdict(self), "requests_s": _plain(self.requests_s), "streams": _plain(self.streams)}

    @classmethod
    def of_dict(cls, members: Mapping[str, Any]) -> Calibration:
        """Make a calibration of the values of `to_dict`, perhaps after JSON.

        Raises:
            KeyError, TypeError, ValueError: The values are not those of a calibration.
        """
        return cls(
            **{
                **members,
                "machine": Machine(**members["machine"]),
                "within_ms": float(members["within_ms"]),
                "requests_s": _capacity(members["requests_s"]),
                "streams": _capacity(members["streams"]),
            },
        )


def this_machine() -> Machine:
    """This machine, with the processors that this process may use."""
    return Machine(platform.node(), usable_cpus())


def exceeds(calibration: Calibration, plan: Plan) -> str | None:
    """The excess of a plan over the capacity of a machine, in a sentence; None without one."""
    load = plan.load
    asked: float | None
    if isinstance(load, Open):
        asked, capacity, unit = load.peak_rate, calibration.requests_s, "req/s"
    else:
        asked, capacity, unit = in_flight(load, plan.count), calibration.streams, "requests in flight"
    if asked is None or asked <= capacity.greatest:
        return None
    if not capacity.greatest and capacity.limit.by is not LimitedBy.CLIENT:
        return None  # nothing could be measured
    return (
        f"the plan asks for {asked:,g} {unit}; on this machine times were found to be within "
        f"{calibration.within_ms:g} ms of the truth up to {capacity.greatest:,} ({_why(capacity.limit)})"
    )


def _why(limit: CapacityLimit) -> str:
    if limit.by is LimitedBy.CLIENT:
        return "the client's limit"
    return "the mock endpoint's limit" if limit.by is LimitedBy.MOCK else "more was not tried"


def _plain(capacity: Capacity) -> dict[str, Any]:
    plain = asdict(capacity)
    return {"most": plain.pop("greatest"), **plain}


def _capacity(members: Mapping[str, Any]) -> Capacity:
    limit = members["limit"]
    return Capacity(
        greatest=int(members["most"]),
        chunks_s=float(members["chunks_s"]),
        over=None if members["over"] is None else int(members["over"]),
        limit=CapacityLimit(LimitedBy(limit["by"]), str(limit["why"])),
    )
