"""The search lands on the limit of any server, in few trials, and says so when there is none."""

from __future__ import annotations

import heapq
import math
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.sessions.series.search.requirements import of_mean, of_share
from loadgen.sessions.series.search.strategy import (
    SearchRange,
    StopReason,
    Trial,
    TrialResult,
    TrialVerdict,
    next_step,
    trial_bounds,
)
from loadgen.sessions.series.search.trials import may_grow
from reporter.findings.rate_held import BLOCKS, FILLING, judged
from reporter.report import Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    Server = Callable[[Trial], TrialResult]

FEW = 30
"""Trials that a search takes at most: a factor of 10,000 by fours, and from there to 1 %."""


def search(server: Server, bounds: SearchRange) -> tuple[StopReason, list[TrialResult]]:
    """Try until the search is over."""
    tried: list[TrialResult] = []
    while not isinstance(step := next_step(tried, bounds), StopReason):
        assert bounds.low <= step.load <= bounds.high
        tried.append(server(step))
    return step, tried


def clear(limit: float, *, hint: float | None = None) -> Server:
    """A server whose limit every trial tells; overloaded ones tell it as a number, be it wrong."""

    def server(trial: Trial) -> TrialResult:
        met = trial.load <= limit
        return TrialResult(
            trial,
            TrialVerdict.MET if met else TrialVerdict.MISSED,
            None if met or hint is None else limit * hint,
        )

    return server


@given(st.floats(1.01, 9_000), st.floats(0.01, 0.2), st.none() | st.floats(0.5, 1.5))
def test_it_lands_within_the_precision(limit: float, within: float, hint: float | None) -> None:
    """Whatever capacity overloaded trials hint at."""
    stopped, tried = search(clear(limit, hint=hint), SearchRange(1, 10_000, within, whole=False))
    bounds = trial_bounds(tried)
    assert stopped is StopReason.PRECISION
    assert bounds.met is not None
    assert bounds.missed is not None
    assert bounds.met <= limit < bounds.missed
    assert bounds.missed <= bounds.met * (1 + within) * 1.001
    assert len(tried) <= FEW


@given(st.integers(1, 499), st.integers(1, 3))
def test_users_are_whole_numbers(limit: int, low: int) -> None:
    """Between two that follow each other there is nothing to try."""
    bounds = SearchRange(low, 500, 0.001, whole=True)
    stopped, tried = search(clear(limit), bounds)
    if limit < low:
        assert stopped is StopReason.LOW_MISSES
        return
    assert stopped is StopReason.PRECISION
    assert trial_bounds(tried).met == limit
    assert all(result.trial.load == int(result.trial.load) for result in tried)


def test_a_limit_outside_the_range_is_reported() -> None:
    """Each end is tried thoroughly first."""
    bounds = SearchRange(10, 100, 0.03, whole=False)
    stopped, tried = search(clear(5), bounds)
    assert (stopped, tried[-1].trial) == (StopReason.LOW_MISSES, Trial(10, thorough=True))
    stopped, tried = search(clear(500), bounds)
    assert (stopped, tried[-1].trial) == (StopReason.HIGH_MEETS, Trial(100, thorough=True))


def test_an_unclear_trial_is_repeated_longer_and_then_counts_as_missed() -> None:
    """The search continues below; where no trial is clear, the result is inconclusive."""

    def server(trial: Trial) -> TrialResult:
        verdict = (
            TrialVerdict.MET
            if trial.load <= 20
            else TrialVerdict.MISSED
            if trial.load > 40
            else TrialVerdict.UNCLEAR
        )
        return TrialResult(trial, verdict)

    stopped, tried = search(server, SearchRange(1, 1000, 0.05, whole=False))
    assert stopped is StopReason.PRECISION
    assert 19 <= (trial_bounds(tried).met or 0) <= 20
    extended = [
        result.trial.extensions
        for result in tried
        if result.verdict is TrialVerdict.UNCLEAR and result.trial.thorough
    ]
    assert extended[:3] == [0, 1, 2]
    stopped, _ = search(
        lambda trial: TrialResult(trial, TrialVerdict.UNCLEAR), SearchRange(1, 2, 0.05, whole=False)
    )
    assert stopped is StopReason.INCONCLUSIVE


def test_a_hint_that_was_wrong_is_forgotten() -> None:
    """A scout that missed by bad luck does not end the search below what is possible."""

    def server(trial: Trial) -> TrialResult:
        unlucky = not trial.thorough and trial.load == 16
        return TrialResult(
            trial, TrialVerdict.MET if trial.load <= 200 and not unlucky else TrialVerdict.MISSED
        )

    stopped, tried = search(server, SearchRange(1, 1000, 0.05, whole=False))
    assert stopped is StopReason.PRECISION
    assert 190 <= (trial_bounds(tried).met or 0) <= 200


def test_a_trial_that_the_client_limited_is_repeated() -> None:
    """After a few such trials the search ends: its result would be about the client."""
    stopped, tried = search(
        lambda trial: TrialResult(trial, TrialVerdict.INVALID), SearchRange(1, 100, 0.05, whole=False)
    )
    assert (stopped, len(tried)) == (StopReason.INVALID, 3)


def test_a_doubtful_trial_is_not_the_result() -> None:
    """It is repeated, longer, and where the repeat misses, the search continues below."""

    def server(trial: Trial) -> TrialResult:
        seems_met = trial.load <= 60 and not trial.extensions
        met = trial.load <= 40 or seems_met
        return TrialResult(
            trial, TrialVerdict.MET if met else TrialVerdict.MISSED, doubtful=seems_met and trial.load > 40
        )

    stopped, tried = search(server, SearchRange(1, 1000, 0.05, whole=False))
    assert stopped is StopReason.PRECISION
    assert 38 <= (trial_bounds(tried).met or 0) <= 40
    bounds = SearchRange(1, 64, 0.05, whole=False)
    stopped, tried = search(lambda trial: TrialResult(trial, TrialVerdict.MET, doubtful=True), bounds)
    assert stopped is StopReason.HIGH_MEETS
    assert [result.trial.extensions for result in tried if result.trial.thorough] == [0, 1, 2]


def counted(times: list[float], since: float, until: float) -> list[int]:
    """The number of times in each block of the range."""
    counts = [0] * BLOCKS
    for moment in times:
        if since <= moment < until:
            counts[int((moment - since) / (until - since) * BLOCKS)] += 1
    return counts


def queue(slots: int, service: Callable[[random.Random], float], seed: int) -> Server:
    """A simulated server with `slots` slots, and random arrivals at the rate of the trial."""
    draw = random.Random(seed)  # noqa: S311 (arrivals and services, not a secret)

    def server(trial: Trial) -> TrialResult:
        seconds = 12.0 * 2**trial.extensions if trial.thorough else 2.0
        arrivals = sorted(draw.uniform(0, seconds) for _ in range(max(1, round(trial.load * seconds))))
        free, ends = [0.0] * slots, []
        for arrival in arrivals:
            ends.append(max(arrival, heapq.heappop(free)) + service(draw))
            heapq.heappush(free, ends[-1])
        late = sum(end - arrival > 2 for arrival, end in zip(arrivals, ends, strict=True))
        start = max(FILLING * seconds, min(ends))
        issued, done = counted(arrivals, start, seconds), counted(ends, start, seconds)
        held = judged(trial.load, seconds - start, sum(issued), done)
        if held.behind:
            return TrialResult(trial, TrialVerdict.MISSED, held.completed_rate)
        if not trial.thorough:
            return TrialResult(trial, TrialVerdict.MET)
        doubtful = may_grow(trial.load * (seconds - start), issued, done)
        return TrialResult(trial, of_share(late, len(ends), 0.01), doubtful=doubtful)

    return server


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slots", [8, 32])
def test_it_finds_where_a_queue_stops_being_stable(slots: int, seed: int) -> None:
    """Within 5 %, from requests that arrive at random and a requirement that is loose."""
    stopped, tried = search(queue(slots, lambda _: 0.195, seed), SearchRange(1, 1e5, 0.03, whole=False))
    assert stopped is StopReason.PRECISION
    assert math.isclose(trial_bounds(tried).met or 0, slots / 0.195, rel_tol=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_services_at_random_bring_it_a_little_too_high_at_most(seed: int) -> None:
    """Exponential ones, within 10 %: a queue at 105 % looks like one at 95 % for a long time."""
    servers = queue(32, lambda draw: draw.expovariate(1 / 0.195), seed)
    stopped, tried = search(servers, SearchRange(20, 1e5, 0.03, whole=False))
    assert stopped is StopReason.PRECISION
    assert math.isclose(trial_bounds(tried).met or 0, 32 / 0.195, rel_tol=0.1)


def test_a_backlog_may_hide_in_chance() -> None:
    """Not where blocks are alike, nor where nothing is left over; but where both come and go."""
    even, uneven = [50] * BLOCKS, [70, 30, 65, 35, 60, 40, 75, 25]
    assert not may_grow(400, even, even)
    assert not may_grow(400, uneven, even)
    assert not may_grow(400, uneven, uneven)
    assert may_grow(400, even, uneven)
    assert may_grow(400, even, [46] * BLOCKS)


@pytest.mark.parametrize(
    ("over", "count", "verdict"),
    [
        (0, 298, TrialVerdict.UNCLEAR),
        (0, 299, TrialVerdict.MET),
        (1, 472, TrialVerdict.UNCLEAR),
        (1, 473, TrialVerdict.MET),
        (3, 300, TrialVerdict.UNCLEAR),
        (8, 300, TrialVerdict.MISSED),
        (0, 0, TrialVerdict.MISSED),
    ],
)
def test_a_p99_is_met_when_chance_does_not_explain_it(over: int, count: int, verdict: TrialVerdict) -> None:
    """0.99**299 is the first below 0.05."""
    assert of_share(over, count, 0.01) is verdict


def test_a_mean_is_judged_by_its_standard_error() -> None:
    """And no samples meet nothing."""
    summary = Summary(100, 50.0, 10.0, 0, 0, 0, 0, 0, 0, 0)
    assert of_mean(summary, 52) is TrialVerdict.MET
    assert of_mean(summary, 51) is TrialVerdict.UNCLEAR
    assert of_mean(summary, 48) is TrialVerdict.MISSED
    assert of_mean(None, 48) is TrialVerdict.MISSED
