"""What was found out about a machine, and whether a plan asks for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.driver.load import Open, in_flight
from loadgen.sessions.calibration.verdict import CapacityLimit, LimitedBy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.plan import Plan


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most of one kind of work at which the times were true.

    Attributes:
        most: The greatest load that held; 0 where none did.
        chunks_s: Chunks that arrived then, a second.
        over: The least load that did not hold; None where none was found.
        limit: What kept the next greater load from holding.
    """

    most: int
    chunks_s: float
    over: int | None
    limit: CapacityLimit

    @property
    def at_least(self) -> bool:
        """Whether the client may be able to do more: something else gave out, or the ladder ended."""
        return self.limit.by is not LimitedBy.CLIENT


@dataclass(frozen=True, slots=True)
class Machine:
    """What a calibration is true of: another machine, or other processors to run on, make another one."""

    host: str
    cpus: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a machine can do as a client.

    Attributes:
        machine: Whose it is.
        version: Of this program.
        made_at: When, in ISO 8601.
        workers: The worker processes that were asked for; None for as many as `perf` chooses.
        within_ms: How far a reported time was allowed to be from the true one, at p50 and p99.
        requests_s: Requests a second, short answers.
        streams: Streams of 100 tokens a second each, at once.
    """

    machine: Machine
    version: str
    made_at: str
    workers: int | None
    within_ms: float
    requests_s: Capacity
    streams: Capacity

    @classmethod
    def of_dict(cls, members: Mapping[str, Any]) -> Calibration:
        """Take what `dataclasses.asdict` made, and JSON carried.

        Raises:
            KeyError, TypeError, ValueError: It is something else.
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


def exceeds(calibration: Calibration, plan: Plan) -> str | None:
    """How a plan asks for more than a machine was found to do, in a sentence; None where it does not."""
    load = plan.load
    asked: float | None
    if isinstance(load, Open):
        asked, capacity, unit = load.peak_rate, calibration.requests_s, "requests/s"
    else:
        asked, capacity, unit = in_flight(load, plan.count), calibration.streams, "requests in flight"
    if asked is None or asked <= capacity.most:
        return None
    return (
        f"the plan asks for {asked:,g} {unit}; on this machine times were found to be within "
        f"{calibration.within_ms:g} ms of the truth up to {capacity.most:,} ({_why(capacity.limit)})"
    )


def _why(limit: CapacityLimit) -> str:
    """Who was found at the end of what they can do."""
    if limit.by is LimitedBy.CLIENT:
        return "the client's limit"
    return "the mock endpoint's limit" if limit.by is LimitedBy.MOCK else "more was not tried"


def _capacity(members: Mapping[str, Any]) -> Capacity:
    limit = members["limit"]
    return Capacity(
        most=int(members["most"]),
        chunks_s=float(members["chunks_s"]),
        over=None if members["over"] is None else int(members["over"]),
        limit=CapacityLimit(LimitedBy(limit["by"]), str(limit["why"])),
    )
