"""The steady state of runs whose figures are given block by block."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from reporter.findings.check_inputs import CheckInputs
from reporter.findings.findings import findings
from reporter.findings.load_findings import steadiness
from reporter.report import Moment, RequestCounts, SteadyState, Window
from reporter.windows.block_drift import trend
from reporter.windows.steady_state import steady_state


def moments(latencies: list[float], answered: int = 50, start_s: float = 0.0) -> list[Moment]:
    """A second of each latency."""
    calm = Moment(1, 0, 1, answered, answered, answered, 0, 0, 5, 50, 50, 500, answered, 9, 9, 9, 9, 9, 9)
    return [
        replace(calm, start_s=start_s + second, latency_mean_ms=ms) for second, ms in enumerate(latencies)
    ]


DRAWN = Random(4)  # noqa: S311 (figures, not secrets)
NOISE = [DRAWN.gauss(100, 3) for _ in range(60)]
"""A minute around 100 ms."""


def test_a_calm_run() -> None:
    """All of it is steady, and the estimates are the means of what was measured, as uncertain as they are."""
    state = steady_state(moments(NOISE), 60)
    assert (state.found, state.reason, state.end_s) == (True, None, 60)
    assert state.latency_ms is not None
    assert abs(state.latency_ms.mean - 100) < state.latency_ms.margin < 3
    assert state.qps is not None
    assert (state.qps.mean, state.qps.margin) == (50, 0)


def test_a_warm_up_is_left_out() -> None:
    """Slow requests at the start are before the steady state."""
    cold = [ms + max(0, 300 - 30 * second) for second, ms in enumerate(NOISE)]
    state = steady_state(moments(cold), 60)
    assert state.found
    assert state.start_s is not None
    assert 9 <= state.start_s <= 30
    assert state.latency_ms is not None
    assert state.latency_ms.mean == pytest.approx(100, abs=3)


def test_growing_latency_is_not_steady() -> None:
    """The reason names what drifts, and by how much in what was looked at."""
    state = steady_state(moments([ms + 5 * second for second, ms in enumerate(NOISE)]), 60)
    assert not state.found
    assert state.reason is not None
    assert "latency by +" in state.reason
    assert state.drift == {"latency_ms": pytest.approx(150 / 325, abs=0.1)}
    assert state.latency_ms is None


def test_a_swing_as_long_as_the_run_is_not_steady() -> None:
    """Up and down once: the ends agree, but the next swing is unknown."""
    swing = [ms + 100 * (second > 20) - 100 * (second > 40) for second, ms in enumerate(NOISE)]
    state = steady_state(moments(swing), 60)
    assert not state.found
    assert state.reason == "too short for the swings of the latency"


@pytest.mark.parametrize(("lasts_s", "answered"), [(9, 50), (60, 0), (0, 50)])
def test_too_little_to_tell(lasts_s: int, answered: int) -> None:
    """Ten blocks with five requests each is the least."""
    state = steady_state(moments(NOISE[:lasts_s], answered), lasts_s)
    assert not state.found
    assert state.reason is not None
    assert state.reason.startswith("too few requests")


def test_few_requests_make_long_blocks() -> None:
    """A block has the requests that it needs, as long as there are ten."""
    assert steady_state(moments(NOISE, answered=1), 60).blocks in range(5, 13)


def test_only_the_window_counts() -> None:
    """Neither the warm-up before it nor the drain after it."""
    around = moments([9000] * 5, start_s=-5) + moments(NOISE) + moments([9000] * 5, start_s=60)
    assert steady_state(around, 60) == steady_state(moments(NOISE), 60)


def test_a_small_drift_does_not_count_however_certain() -> None:
    """Without any noise, 4 % from start to end do not matter."""
    assert trend([100 + 0.2 * second for second in range(20)]).chance == pytest.approx(0)
    assert steady_state(moments([100 + 0.06 * second for second in range(60)]), 60).found


WINDOW = Window("duration", 60.0, 0, 60_000_000_000)


@pytest.mark.parametrize(
    ("ended", "segments", "reason"),
    [("cut_off", 1, "cut off"), ("running", 1, "no end yet"), ("completed", 2, "resumed")],
)
def test_runs_that_have_none(ended: str, segments: int, reason: str) -> None:
    """A run that has not ended, or was resumed, is not evaluated."""
    state = steadiness(ended, segments, WINDOW, moments(NOISE))
    assert state is not None
    assert state.reason is not None
    assert reason in state.reason


def test_the_end_of_issuing_is_the_end_of_the_load() -> None:
    """Where requests are counted, the window goes on until the last answer, but the load does not."""
    over = [replace(each, issued=0, answered=0, qps=1.0) for each in moments(NOISE[:20], start_s=40)]
    state = steadiness("completed", 1, replace(WINDOW, kind="requests"), moments(NOISE[:40]) + over)
    assert state is not None
    assert (state.found, state.end_s) == (True, 39)


DRIFTED = SteadyState(found=False, reason="it drifts", start_s=30, end_s=60, drift={"latency_ms": 0.67})


@pytest.mark.parametrize(
    ("steady", "required", "load", "severity"),
    [
        (DRIFTED, True, "poisson", "error"),
        (DRIFTED, False, "poisson", "warning"),
        (DRIFTED, False, "offline", None),
        (replace(DRIFTED, drift={"latency_ms": -0.3}), False, "closed", None),
        (replace(DRIFTED, end_s=39.9), False, "closed", None),
        (SteadyState(found=False, reason="too few requests"), False, "closed", None),
        (SteadyState(found=False, reason="too few requests"), True, "closed", "error"),
        (SteadyState(found=True), True, "closed", None),
        (None, True, "closed", None),
    ],
)
def test_the_finding(steady: SteadyState | None, required: bool, load: str, severity: str | None) -> None:  # noqa: FBT001 (a case)
    """It is an error where a steady state is required; elsewhere only a clear drift is reported."""
    evidence = CheckInputs("completed", {"kind": load}, RequestCounts(9, 9, 9, 0, 0, 0, {}, 0))
    items = findings(replace(evidence, steady_state=steady, steady_required=required))
    assert [(item.code, item.severity) for item in items] == ([("not_steady", severity)] if severity else [])


def test_a_run_that_a_lost_gate_cut_short_need_not_be_steady() -> None:
    """It has failed, and no time was left for anything else."""
    evidence = CheckInputs("gate_lost", {"kind": "closed"}, RequestCounts(9, 9, 9, 0, 0, 0, {}, 0))
    assert findings(replace(evidence, steady_state=DRIFTED, steady_required=True)) == []


def test_a_load_that_is_meant_to_change_may_drift() -> None:
    """A ramp has no finding that it is not steady."""
    load = {"kind": "poisson", "profile": "ramp:1..50,60s"}
    evidence = CheckInputs("completed", load, RequestCounts(9, 9, 9, 0, 0, 0, {}, 0), steady_state=DRIFTED)
    assert findings(evidence) == []
