"""The findings on how the load went: overload, a run too short for its rate, a drift, a cold start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import figure, seconds, whole
from reporter.report import Finding, SteadyState
from reporter.run_facts import OVERLOADED, is_open_loop
from reporter.windows.steady_state import steady_state
from rulesets.evaluators.rule_row import bound_text, figure_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.findings.cold_start import ColdStart
    from reporter.findings.overload import Overload
    from reporter.report import Moment, Window


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
        f"{done} of {asked} req/s completed. Latencies of an overloaded open loop are not a property of "
        "the server.",
        f"{_held(overload)} Lower --rate, or type `loadgen search` for the highest rate that meets a target.",
    )


def _held(overload: Overload) -> str:
    """The highest rate that held, as far as the run shows it."""
    if (held := overload.held) is not None:
        return f"Highest rate that held: {figure(held.rate, 3)} req/s, stage {held.stage!r}."
    return f"Completed rate that was sustained: {figure(overload.spans[0].completed_rate, 3)} req/s."


SHORTFALL: Final = 0.1
"""A throughput within this share of the requested rate needs no finding."""

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
    if not is_open_loop(evidence.load) or evidence.ended != "completed" or evidence.overload:
        return None
    if not rate or latency is None or not window_s or qps is None or qps >= (1 - SHORTFALL) * rate:
        return None
    latency_s = latency.p50 / 1e3
    if window_s >= LATENCIES * latency_s:
        return None
    return Finding(
        "too_short",
        "warning",
        f"{figure_text(qps, rate)} of {bound_text(rate)} req/s completed, in a run too short to show "
        f"whether the endpoint holds this rate. The window of {figure(window_s)} s is mostly ramp-up and "
        f"ramp-down: {window_s / latency_s:.1f} median latencies of {figure(latency_s)} s.",
        f"Measure for {_long_enough_s(latency_s):g} s or more: --duration {_long_enough_s(latency_s):g}s.",
    )


def _long_enough_s(latency_s: float) -> int:
    """A duration that is long enough, rounded up to 5 s."""
    return 5 * (int(LATENCIES * latency_s) // 5 + 1)


CLEAR_DRIFT: Final = 0.5
"""The drift of a figure, as a share of its mean, that is reported without a demand for steadiness."""

LONG_S: Final = 10.0
"""A run that is shorter is expected to be about its beginning."""


def steadiness(ended: str, segments: int, window: Window, moments: Sequence[Moment]) -> SteadyState | None:
    """Look for the steady state of a run that can have one; None where nothing was issued."""
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


def _cold(evidence: CheckInputs) -> Finding | None:
    cold = evidence.cold
    if cold is None:
        return None
    whole, rest = cold.whole, cold.rest
    first = f"first {cold.requests:,} requests" if cold.requests > 1 else "first request"
    return Finding(
        "cold_start",
        "warning",
        f"The {first} had a TTFT of {figure(cold.ttft_ms)} ms, later ones {figure(cold.usual_ms)} ms "
        f"(medians): a cold start. Without {'them' if cold.requests > 1 else 'it'} TTFT p99 would be "
        f"{figure(rest.p99)} ms instead of {figure(whole.p99)} ms, and the mean {figure(rest.mean)} "
        f"ms instead of {figure(whole.mean)} ms.",
        f"Repeat the run with a warm-up, which no figure includes: --warmup {_warmup(evidence, cold)}.",
    )


def _warmup(evidence: CheckInputs, cold: ColdStart) -> int:
    """As many requests as were affected, and as many as are in flight at once."""
    concurrency = evidence.load.get("concurrency")
    return max(cold.requests, concurrency if isinstance(concurrency, int) else 0)


OVERLOAD: Final[tuple[Check, ...]] = (_overloaded,)
CHECKS: Final[tuple[Check, ...]] = (_too_short, _not_steady, _cold)
