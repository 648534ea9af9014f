"""Users that come and go, and users with a pace, on a clock of the test."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.load import Closed, later
from loadgen.driver.requests.think_time import ThinkTime
from loadgen.driver.user_sessions.user_spans import spans_of
from tests.driver.manual_clock import ManualClock
from tests.driver.test_issued_conversations import Talk, conversation
from tests.driver.test_issuing import MS, START_NS, SimulatedWorkers

NO_PAUSE = ThinkTime(None, 0, ManualClock())


def users_at(load: Closed, at_s: float) -> int:
    """How many users may begin a session at a time."""
    spans = map(spans_of(load, NO_PAUSE), range(load.concurrency))
    return sum(span.begin_ns <= at_s * 1e9 < span.end_ns for span in spans)


@settings(max_examples=40)
@given(
    ends=st.tuples(st.integers(1, 30), st.integers(1, 30)),
    shape=st.sampled_from(["ramp:{}..{},10s", "ramp-exp:{}..{},10s", "steps:{}..{}x4,10s"]),
    at_s=st.floats(0.01, 15),
    gone_s=st.floats(0, 12),
)
def test_a_ramp_has_its_number_of_users_at_any_time(
    ends: tuple[int, int], shape: str, at_s: float, gone_s: float
) -> None:
    """The number of users is rounded down; a resumed run goes on from the time of the stop."""
    ramp = profile(shape.format(*ends))
    load = Closed(max(ends), ramp=ramp)
    levels = {int(ramp.rate(at_s + around) + 1e-6) for around in (-1e-6, 0, 1e-6)}
    assert users_at(load, at_s) in levels
    rest = later(load, gone_s)
    assert isinstance(rest, Closed)
    levels = {int(ramp.rate(gone_s + at_s + around) + 1e-6) for around in (-1e-6, 0, 1e-6)}
    assert users_at(rest, at_s) in levels


@pytest.mark.parametrize("workers", [1, 3])
def test_users_of_a_ramp_ask_while_they_are_there(workers: int) -> None:
    """The ramp has 1, 2, 3 and 4 users for 100 ms with answers of 20 ms; then 4, 3, 2 and 1."""
    for text, levels in (("steps:1..4x4,0.4s", [1, 2, 3, 4]), ("steps:4..1x4,0.4s", [4, 3, 2, 1])):
        pool = SimulatedWorkers(Closed(4, ramp=profile(text)), workers, duration_s=0.4)
        asked = Counter((moment - START_NS) // (100 * MS) for moment, _ in pool.asked)
        assert [asked[part] for part in range(4)] == [level * 5 for level in levels]
        assert pool.runner.most_in_flight == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_count_ends_a_ramp_before_its_last_user_begins(workers: int) -> None:
    """Users who have not begun on the ramp ask nothing after the last counted request."""
    pool = SimulatedWorkers(Closed(50, ramp=profile("ramp:1..50,1h")), workers, requests=5)
    assert sum(pool.scheduled) == pool.issued == 5


@settings(max_examples=20)
@given(users=st.integers(1, 9), workers=st.integers(1, 4), gap_ms=st.integers(20, 90))
def test_each_user_asks_at_its_own_pace(users: int, workers: int, gap_ms: int) -> None:
    """The first requests are spread over a gap; then a user asks once per gap, without drift."""
    pool = SimulatedWorkers(Closed(users, f"every:{gap_ms}ms"), workers, duration_s=1.0)
    due = [moment - START_NS for moment, _ in pool.asked]
    starts = [user * gap_ms * MS // users for user in range(users)]
    expected = sorted(time for start in starts for time in range(start, 1000 * MS, gap_ms * MS))
    assert due == expected


def test_who_waits_longer_than_the_pace_asks_at_once() -> None:
    """Answers take 20 ms, the pace is 5 ms: the next request is due with the answer."""
    pool = SimulatedWorkers(Closed(1, "every:5ms"), 1, duration_s=0.2)
    assert [moment - START_NS for moment, _ in pool.asked] == [k * 20 * MS for k in range(10)]


def test_conversations_are_at_all_stages_from_the_start() -> None:
    """Turns of a conversation keep the pace; first conversations are cut to all lengths."""
    talk = Talk(Closed(8, "every:80ms"), [conversation(index, 8) for index in range(8)], sessions=24)
    turns = Counter(turn.more["conversation"] for turn in talk.taken)
    lengths = [turn.more["turns"] for turn in talk.taken if turn.turn == 0]
    assert sorted(lengths[:8]) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert lengths[8:] == [8] * 16
    assert sum(turns.values()) == sum(lengths)
    by_conversation: dict[str, list[float]] = {}
    for turn in talk.taken:
        by_conversation.setdefault(turn.more["conversation"], []).append(turn.due_ms)
    assert {round(after - before) for due in by_conversation.values() for before, after in pairwise(due)} == {
        80
    }
