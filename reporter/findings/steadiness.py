"""Whether a run was steady, and the finding when it was not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.report import Finding, SteadyState
from reporter.windows.steady_state import steady_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.report import Moment, Window

CLEAR_DRIFT: Final = 0.5
"""The drift of a figure, as a share of its mean, that is reported without a demand for steadiness."""

LONG_S: Final = 10.0
"""A run that is shorter is expected to be about its beginning."""


def steadiness(ended: str, segments: int, window: Window, moments: Sequence[Moment]) -> SteadyState | None:
    """Look for the steady state of a run that can have one; None where nothing was issued.

    Args:
        ended: How it ended.
        segments: In how many of them it was done.
        window: What its rates are counted over.
        moments: All of it.
    """
    if window.duration_s is None:
        return None
    if segments > 1:
        return SteadyState(found=False, reason="the run was resumed, and ramped up again each time")
    if ended in {"cut_off", "running"}:
        return SteadyState(
            found=False, reason="the run has no end yet" if ended == "running" else "the run was cut off"
        )
    issuing = [moment for moment in moments if moment.issued]
    # The load ends with issuing.
    until_s = window.duration_s if window.kind == "duration" else issuing[-1].start_s
    return steady_state(moments, until_s)


def _not_steady(evidence: CheckInputs) -> Finding | None:
    steady = evidence.steady_state
    # A run that a lost gate has cut short may not have reached it.
    if steady is None or steady.found or evidence.ended == "gate_lost":
        return None
    if evidence.steady_required:
        return Finding("not_steady", "error", f"No steady state was found: {steady.reason}.", _REMEDY)
    drifts = max(map(abs, steady.drift.values()), default=0.0) > CLEAR_DRIFT
    lasts_s = (steady.end_s or 0.0) - (steady.start_s or 0.0)
    if not drifts or lasts_s < LONG_S or _changes(evidence.load) or evidence.overload:
        return None
    return Finding("not_steady", "warning", f"The run was not steady: {steady.reason}.", _REMEDY)


_REMEDY: Final = (
    "Warm up longer, measure longer, or lower the load. `loadgen report RUN --by time` shows the drift."
)


def _changes(load: Mapping[str, Any]) -> bool:
    """Whether the load is meant to change."""
    return bool(load.get("profile") or load.get("stages")) or load.get("kind") in {"trace", "offline"}


CHECKS: Final[tuple[Check, ...]] = (_not_steady,)
