"""The finding that an open loop was overloaded, with the highest rate that held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings.overload import OVERLOADED
from reporter.number_text import figure, seconds, whole
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.findings.overload import Overload


def _overloaded(evidence: CheckInputs) -> Finding | None:
    overload = evidence.overload
    if overload is None or evidence.ended == OVERLOADED:
        return None
    first = overload.spans[0]
    stages = " and ".join(f"{span.stage!r}" for span in overload.spans if span.stage)
    where = f" in stage {stages}" if stages else ""
    before, after = whole(first.in_flight), whole(first.in_flight + first.growth)
    done, asked = (figure(rate, 3) for rate in (first.completed_rate, first.rate))
    return Finding(
        OVERLOADED,
        "error",
        f"The queue grew{where} from {before} to {after} requests in flight in {seconds(first.seconds)}: "
        f"{done} of {asked} requests/s completed. Latencies of an overloaded open loop are not a property of "
        "the server.",
        f"{_held(overload)} Lower --rate, or type `loadgen search` for the highest rate that meets a target.",
    )


def _held(overload: Overload) -> str:
    """The highest rate that held, as far as the run shows it."""
    if (held := overload.held) is not None:
        return f"Highest rate that held: {figure(held.rate, 3)} requests/s, stage {held.stage!r}."
    return f"Completed rate that was sustained: {figure(overload.spans[0].completed_rate, 3)} requests/s."


CHECKS: Final[tuple[Check, ...]] = (_overloaded,)
