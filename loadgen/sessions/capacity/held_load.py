"""Whether a load held, and the limit otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.capacity.work import Step, Work


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


def limit(step: Step, work: Work, within_ms: float) -> CapacityLimit | None:
    """The limit reached by a load; None for a load that held.

    A mock endpoint that is late by more than the time between its tokens does not serve the load that it
    should. Where it is late by more than the errors may be, the machine is too slow for it, and an error does
    not count as the client's: "at least" is then true in any case.

    Args:
        step: The result of the load.
        work: The kind of work.
        within_ms: How far a reported time may be from the true one.
    """
    late_ms = step.late.p99 if step.late is not None else 0.0
    late = f"the mock endpoint was {late_ms:.1f} ms late at p99"
    if late_ms > work.gap_ms:
        return CapacityLimit(LimitedBy.MOCK, late)
    if step.faults:
        return CapacityLimit(LimitedBy.CLIENT, step.faults[0].rstrip("."))
    errors = step.times.errors()
    if not errors:
        return CapacityLimit(LimitedBy.CLIENT, "no request came through to be compared")
    name = max(errors, key=lambda name: abs(errors[name]))
    error_ms = errors[name]
    if abs(error_ms) <= within_ms:
        return None
    off = f"{name} was off by {error_ms:+.2f} ms"
    if late_ms > within_ms:
        return CapacityLimit(LimitedBy.MOCK, f"{off}, and {late}")
    return CapacityLimit(LimitedBy.CLIENT, off)
