"""Counting how late chunks left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint import Punctuality
from loadgen.mock_endpoint.punctuality import Lateness

MS = 1_000_000


def counted(*late_ns: int) -> Punctuality:
    """What is known after chunks that were late by so much."""
    lateness = Lateness()
    for value in late_ns:
        lateness.note(value)
    return lateness.punctuality()


@given(st.lists(st.integers(0, 60_000 * MS), min_size=1))
def test_quantiles_are_those_of_a_sorted_list(late_ns: list[int]) -> None:
    """Quantiles are the nearest ranks, cut to 1 us below 10 ms and to 1 ms above; the greatest is exact."""
    expected = counted(*late_ns)
    in_order = sorted(late_ns)
    for message, share in ((expected.late_p50_ns, 0.5), (expected.late_p99_ns, 0.99)):
        exact = in_order[max(0, -int(-share * len(in_order) // 1) - 1)]
        assert exact - (1000 if exact < 10 * MS else MS) < message <= exact
    assert (expected.chunks, expected.late_max_ns) == (len(late_ns), max(late_ns))
    assert expected.late_1ms == sum(value >= MS for value in late_ns)


@pytest.mark.parametrize(("late", "kept_up"), [(0, True), (1, True), (2, False), (100, False)])
def test_one_in_a_hundred_may_be_late(late: int, *, kept_up: bool) -> None:
    """It kept up when at most 1 % of the chunks left 1 ms or more after they were due."""
    assert counted(*[MS] * late, *[MS - 1] * (100 - late)).kept_up == kept_up


def test_it_says_so_in_a_sentence() -> None:
    """A person reads whether it kept up, and how late the chunks were."""
    assert str(counted(*[12_000] * 999, 2_140_000)) == (
        "kept up: 1,000 chunks, late p50 12 µs, p99 12 µs, max 2.1 ms; 0.10 % late by 1 ms or more"
    )
    assert str(counted(15 * MS)).startswith("did NOT keep up: 1 chunks, late p50 15.0 ms")


def test_nothing_paced_is_nothing_kept() -> None:
    """Without a chunk that was due at its own time, there is nothing to say but that."""
    assert str(counted()) == "nothing was paced: no chunk had a separate due time"
    assert counted() == Punctuality(0, 0, 0, 0, 0)


def test_it_travels_as_json() -> None:
    """What was written as JSON is the same when it is read."""
    expected = counted(1, 2, 3 * MS)
    assert Punctuality.from_json(expected.to_json()) == expected
