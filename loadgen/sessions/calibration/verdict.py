"""Whether a load held, and who limited it where it did not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.calibration.work import Step, Work


class LimitedBy(StrEnum):
    """Who could do no more."""

    CLIENT = "client"
    """The load generator on this machine: what was to be found."""
    MOCK = "mock"
    """The mock endpoint: the client can do at least what held."""
    LADDER = "ladder"
    """Nobody: more was not tried."""


@dataclass(frozen=True, slots=True)
class CapacityLimit:
    """Why a load did not hold."""

    by: LimitedBy
    why: str


def limit(step: Step, work: Work, within_ms: float) -> CapacityLimit | None:
    """What kept a load from holding; None when it held.

    A mock endpoint that is late by more than the time between its tokens does not put on the load that it is
    meant to. Where it is late by more than the errors may be, the machine has no time for it, and an error is
    not held against the client: "at least" is then true in any case.

    Args:
        step: What came of the load.
        work: What it is a load of.
        within_ms: How far a reported time may be from the true one.
    """
    late_ms = step.late.p99 if step.late is not None else 0.0
    late = f"the mock endpoint was {late_ms:.1f} ms late at p99"
    if late_ms > work.gap_ms:
        return CapacityLimit(LimitedBy.MOCK, late)
    if step.faults:
        return CapacityLimit(LimitedBy.CLIENT, step.faults[0].rstrip("."))
    errors = step.beside.errors()
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
