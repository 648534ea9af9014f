"""Orders: pure functions of the number, equal issue where they promise it, frequencies where they draw."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.phase import Shard
from loadgen.driver.requests.order import ORDERS, order_of

WEIGHTS = (1.0, 0.0, 3.0, 0.5, 0.0)


def asked(name: str, samples: int, seed: int, numbers: range) -> list[int]:
    """What requests of these numbers ask, by their own order."""
    return list(map(order_of(name, samples, seed), numbers))


@given(st.sampled_from(ORDERS), st.integers(1, 60), st.integers(0, 2**63 - 1), st.integers(1, 9))
def test_any_number_of_workers_asks_the_same(name: str, samples: int, seed: int, workers: int) -> None:
    """Each has its own order, is asked for other numbers, and in other turns."""
    together = asked(name, samples, seed, range(100))
    apart = []
    for worker in range(workers):
        order = order_of(name, samples, seed)
        apart.append([(number, order(number)) for number in Shard(worker, workers).out_of(range(100))])
    assert [sample for _, sample in sorted(chain.from_iterable(apart))] == together
    assert asked(name, samples, seed, range(99, -1, -1)) == together[::-1]


@given(
    st.sampled_from(["in-order", "shuffle"]),
    st.integers(1, 400),
    st.integers(0, 2**63 - 1),
    st.integers(-3, 50),
)
def test_every_pass_asks_every_sample_once(name: str, samples: int, seed: int, passed: int) -> None:
    """Equal issue, whichever pass it is; also in those below 0, that a warm-up goes back through."""
    numbers = range(passed * samples, (passed + 1) * samples)
    assert sorted(asked(name, samples, seed, numbers)) == list(range(samples))


def test_a_shuffle_is_another_one_in_every_pass_and_for_every_seed() -> None:
    """And none of them is the order of the dataset."""
    passes = {
        tuple(asked("shuffle", 50, seed, range(index, index + 50)))
        for seed in range(5)
        for index in (0, 50, 100)
    }
    assert len(passes) == 15
    assert tuple(range(50)) not in passes


@pytest.mark.parametrize("samples", [2, 3, 4, 7, 10, 16])
def test_a_shuffle_prefers_no_place(samples: int) -> None:
    """Over many passes, every sample is at every place about as often: within 5 standard deviations."""
    passes = 4000
    order = order_of("shuffle", samples, 1)
    seen = Counter(
        (place, order(passed * samples + place)) for passed in range(passes) for place in range(samples)
    )
    expected = passes / samples
    off = max(abs(seen[place, index] - expected) for place in range(samples) for index in range(samples))
    assert off < 5 * sqrt(expected * (1 - 1 / samples))


@given(st.integers(0, 2**63 - 1))
def test_draws_are_as_frequent_as_they_should_be(seed: int) -> None:
    """With replacement, each as often or as its weight says: within 6 standard deviations; 0 is never."""
    draws = 2000
    for name, weights in (("random", (1.0,) * 5), ("weighted", WEIGHTS)):
        order = order_of(name, 5, seed, weights)
        seen = Counter(map(order, range(draws)))
        for sample, weight in enumerate(weights):
            share = weight / sum(weights)
            assert abs(seen[sample] - draws * share) <= 6 * sqrt(draws * share * (1 - share))


def test_draws_do_not_depend_on_each_other() -> None:
    """Pairs of neighbours are as frequent as pairs of any two."""
    order = order_of("random", 4, 9)
    pairs = Counter((order(number), order(number + 1)) for number in range(16_000))
    assert all(abs(pairs[a, b] - 1000) < 6 * sqrt(1000) for a in range(4) for b in range(4))
