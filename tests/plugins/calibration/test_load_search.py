"""The search for what a machine can do: which loads are tried, and what is made of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.calibration.load_search import NOT_TRIED, ClimbStep, Ladder, capacity, climb
from loadgen.plugins.calibration.load_step import REQUESTS, STREAMS, Step, limit
from loadgen.plugins.calibration.true_times import ComparedTimes, MedianAndP99, ReportedAndTrue
from loadgen.sessions.capacity import LimitedBy

if TYPE_CHECKING:
    from collections.abc import Callable

LADDERS = st.builds(
    Ladder,
    first=st.integers(1, 1000),
    greatest=st.integers(1, 100_000),
    precision=st.floats(0, 2),
)
WITHIN_MS = 1.0


def search(ladder: Ladder, holds: Callable[[int], bool]) -> tuple[set[int], set[int]]:
    """Climb a ladder to its end; no load may come twice, none may be off the ladder."""
    held: set[int] = set()
    failed: set[int] = set()
    while (load := ladder.next_load(held, failed)) is not None:
        assert load not in held | failed
        assert 1 <= load <= ladder.greatest
        (held if holds(load) else failed).add(load)
    return held, failed


def step(
    load: int,
    error_ms: float = 0.0,
    *,
    late_ms: float = 0.0,
    faults: tuple[str, ...] = (),
    metric: str = "ttft",
) -> Step:
    """A step whose one metric is off by `error_ms` at p99."""
    off = ReportedAndTrue(reported=MedianAndP99(50.0, 60.0 + error_ms), true=MedianAndP99(50.0, 60.0))
    fine = ReportedAndTrue(reported=MedianAndP99(10.0, 11.0), true=MedianAndP99(10.0, 11.0))
    times = {"ttft": fine, "tpot": fine, "itl": fine, metric: off}
    compared = ComparedTimes(100, load, 64.0 * load, **times, ttft_each=None, tpot_each=None)
    return Step(load, compared, MedianAndP99(0.1, late_ms), faults)


@given(ladder=LADDERS, greatest=st.integers(0, 200_000))
def test_the_search_finds_what_holds(ladder: Ladder, greatest: int) -> None:
    """It finds the greatest load that a simulated machine can hold, within the precision asked for."""
    held, failed = search(ladder, lambda load: load <= greatest)
    best = max(held, default=0)
    assert best <= greatest
    if greatest >= ladder.greatest:
        assert best == ladder.greatest
    else:
        assert min(failed) - best <= max(1, ladder.precision * best)


@given(ladder=LADDERS, seed=st.randoms(use_true_random=False))
def test_the_search_ends_whatever_the_machine_says(ladder: Ladder, seed: st.DataObject) -> None:
    """A machine of moods gets its end too: at most a doubling, a halving and a bisection of steps."""
    held, failed = search(ladder, lambda _: seed.random() < 0.5)
    assert len(held | failed) <= 3 * ladder.greatest.bit_length() + 3


def test_a_doubling_is_searched_in_two_steps() -> None:
    """Up by doubling, then between what holds and what does not."""
    tried: list[int] = []

    def holds(load: int) -> bool:
        tried.append(load)
        return load <= 650

    search(Ladder(250, 32_000, 0.25), holds)
    assert tried == [250, 500, 1000, 750, 625]


def test_a_load_gets_a_second_chance() -> None:
    """A machine may have a bad moment: only a load that fails as often as it is tried does not hold."""
    taken: list[int] = []

    def take(load: int) -> Step:
        taken.append(load)
        return step(load, error_ms=5.0 if len(taken) == 1 else 0.0)

    steps = list(climb(STREAMS, Ladder(4, 8, 1.0), WITHIN_MS, 2, take))
    assert taken == [4, 4, 8]
    assert [tried.limit is None for tried in steps] == [False, True, True]
    assert capacity(steps).greatest == 8
    assert capacity(steps).limit == NOT_TRIED
    assert capacity(steps).at_least


@given(ladder=LADDERS, greatest=st.integers(0, 200_000))
def test_the_capacity_follows_from_the_steps(ladder: Ladder, greatest: int) -> None:
    """The capacity is the greatest load that held, and the limit that of the least that did not."""
    steps = list(
        climb(
            REQUESTS, ladder, WITHIN_MS, 1, lambda load: step(load, error_ms=2.0 if load > greatest else 0.0)
        )
    )
    result = capacity(steps)
    assert result.greatest == max(
        (climbed.step.load for climbed in steps if climbed.limit is None), default=0
    )
    assert result.chunks_s == 64.0 * result.greatest
    assert result.over == min((climbed.step.load for climbed in steps if climbed.limit), default=None)
    assert result.at_least == (greatest >= ladder.greatest)


def test_what_held_above_what_did_not_counts_for_nothing() -> None:
    """Luck with a greater load is not capacity."""
    bad = step(2, error_ms=9.0)
    steps = [
        ClimbStep(step(1), None),
        ClimbStep(bad, limit(bad, STREAMS, WITHIN_MS)),
        ClimbStep(step(4), None),
    ]
    assert capacity(steps).greatest == 1
    assert capacity(steps).over == 2
    assert list(steps[0].to_dict()["step"]) == ["load", "beside", "late", "faults"]


@given(
    error_ms=st.floats(-20, 20),
    late_ms=st.floats(0, 20),
    within_ms=st.floats(0.1, 10),
    metric=st.sampled_from(["ttft", "tpot", "itl"]),
)
def test_a_load_holds_when_every_time_is_true(
    error_ms: float, late_ms: float, within_ms: float, metric: str
) -> None:
    """And when the mock endpoint put it on; the client is blamed only where the mock endpoint was on time."""
    reason = limit(step(1, error_ms, late_ms=late_ms, metric=metric), STREAMS, within_ms)
    put_on, true = late_ms <= STREAMS.gap_ms, abs((60.0 + error_ms) - 60.0) <= within_ms
    assert (reason is None) == (put_on and true)
    if reason is not None:
        on_time = put_on and late_ms <= within_ms
        assert reason.by == (LimitedBy.CLIENT if on_time else LimitedBy.MOCK)
        assert f"{metric.upper()} p99" in reason.why or not put_on


@pytest.mark.parametrize("late_ms", [0.0, 5.0])
def test_a_run_that_the_client_limited_does_not_hold(late_ms: float) -> None:
    """Whatever its times are: its report says why, in the first place."""
    reason = limit(step(1, late_ms=late_ms, faults=("The client limited the run: so it was.",)), STREAMS, 1.0)
    assert reason is not None
    assert reason.by is LimitedBy.CLIENT
    assert reason.why == "The client limited the run: so it was"


def test_a_step_without_answers_does_not_hold() -> None:
    """A run without a single answer proves nothing about the client."""
    nothing = ComparedTimes(0, 0.0, 0.0, None, None, None, None, None)
    reason = limit(Step(1, nothing, None, ()), STREAMS, 1.0)
    assert reason is not None
    assert reason.by is LimitedBy.CLIENT
