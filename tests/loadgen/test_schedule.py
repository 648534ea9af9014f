"""Schedules: monotone, true to their rate, and the same for the same seed."""

import math
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen import schedule

RATES = st.floats(min_value=0.01, max_value=100_000)
SEEDS = st.integers(min_value=0, max_value=2**63)


@given(rate=RATES, seed=SEEDS)
def test_schedules_never_go_back(rate: float, seed: int) -> None:
    """A request is never due before the one ahead of it, and never before the start."""
    for offsets in (schedule.constant(rate), schedule.poisson(rate, seed), schedule.all_at_once()):
        some = list(islice(offsets, 200))
        assert some[0] >= 0
        assert all(a <= b for a, b in pairwise(some))


@given(rate=RATES, count=st.integers(min_value=1, max_value=2000))
def test_constant_is_exact_at_every_request(rate: float, count: int) -> None:
    """Request k is due at k / rate, to the nanosecond: rounding does not add up."""
    offsets = list(islice(schedule.constant(rate), count))
    assert all(abs(at - k * 1e9 / rate) <= max(1, at * 1e-15) for k, at in enumerate(offsets))


@given(rate=RATES, seed=SEEDS)
def test_the_same_seed_gives_the_same_schedule(rate: float, seed: int) -> None:
    """A run can be repeated."""
    again = list(islice(schedule.poisson(rate, seed), 50))
    assert list(islice(schedule.poisson(rate, seed), 50)) == again
    assert list(islice(schedule.poisson(rate, seed + 1), 50)) != again


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_poisson_distances_are_exponential(seed: int) -> None:
    """Kolmogorov-Smirnov: no distance between the drawn and the exponential distribution beyond chance."""
    count, rate = 5000, 250.0
    offsets = [0, *islice(schedule.poisson(rate, seed), count)]
    gaps = sorted((b - a) / 1e9 for a, b in pairwise(offsets))
    expected = [1 - math.exp(-rate * gap) for gap in gaps]
    distance = max(max((k + 1) / count - at, at - k / count) for k, at in enumerate(expected))
    # The critical value for a level of 0.001: 1.95 / sqrt(n).
    assert distance < 1.95 / math.sqrt(count)


def test_everything_at_once_is_due_at_the_start() -> None:
    """MLPerf's offline scenario."""
    assert list(islice(schedule.all_at_once(), 3)) == [0, 0, 0]
