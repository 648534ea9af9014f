"""Whether an open loop lasted long enough for its throughput to be compared with the rate it was to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings.overload import OPEN_LOOP
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs

SHORTFALL: Final = 0.1
"""Of the rate that was asked for; nearer than this, the throughput speaks for itself."""

LATENCIES: Final = 20
"""A window is this many median latencies long at least: then each ramp is a twentieth of it."""


def _too_short(evidence: CheckInputs) -> Finding | None:
    """Find a throughput below the rate in a window that is mostly ramp-up and ramp-down."""
    rate, latency, window_s, qps = (
        evidence.load.get("rate"),
        evidence.latency_ms,
        evidence.window_s,
        evidence.qps,
    )
    if evidence.load.get("kind") not in OPEN_LOOP or evidence.ended != "completed" or evidence.overload:
        return None
    if not rate or latency is None or not window_s or qps is None or qps >= (1 - SHORTFALL) * rate:
        return None
    latency_s = latency.p50 / 1e3
    if window_s >= LATENCIES * latency_s:
        return None
    return Finding(
        "too_short",
        "warning",
        f"{qps:.4g} of {rate:g} requests/s completed, in a run too short to show whether the endpoint "
        f"holds this rate. The window of {window_s:.3g} s is mostly ramp-up and ramp-down: "
        f"{window_s / latency_s:.1f} median latencies of {latency_s:.3g} s.",
        f"Measure for {_long_enough_s(latency_s):g} s or more: --duration {_long_enough_s(latency_s):g}s.",
    )


def _long_enough_s(latency_s: float) -> int:
    """A duration that is long enough, rounded up to 5 s."""
    return 5 * (int(LATENCIES * latency_s) // 5 + 1)


CHECKS: Final[tuple[Check, ...]] = (_too_short,)
