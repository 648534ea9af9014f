"""Intervals by resampling: the same for the same seed, and about as wide as theory has it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.batch_means import interval as by_theory
from rulesets.statistics.bootstrap import interval, percentile_interval

LEVEL = 0.9


def drawn(seed: int, count: int) -> list[float]:
    """How many normal values about 100."""
    random = Random(seed)  # noqa: S311 (a simulation, no secret)
    return [random.gauss(100, 10) for _ in range(count)]


def test_the_mean_of_normal_values() -> None:
    """Its interval is nearly Student's; another seed moves it by little, the same one not at all."""
    values = drawn(1, 60)
    expected = by_theory(values, LEVEL)
    assert expected is not None
    result = interval(values, fmean, LEVEL, seed=1)
    assert result == interval(values, fmean, LEVEL, seed=1)
    assert result == pytest.approx((expected.low, expected.high), abs=0.5)
    other = interval(values, fmean, LEVEL, seed=2)
    assert other is not None
    assert other != result
    assert other == pytest.approx(result, abs=0.5)


def test_it_is_about_scipys() -> None:
    """Of a statistic without a formula."""
    from scipy.stats import bootstrap

    values = drawn(3, 40)
    result = interval(values, _middle_of, LEVEL, seed=1)
    expected = bootstrap(
        (values,), _middle_of, confidence_level=LEVEL, method="percentile", vectorized=False, rng=5
    ).confidence_interval
    assert result == pytest.approx((expected.low, expected.high), abs=0.5)


def _middle_of(values: Sequence[float]) -> float:
    """The midhinge."""
    ordered = sorted(values)
    return (ordered[len(ordered) // 4] + ordered[-1 - len(ordered) // 4]) / 2


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=10), seed=st.integers(0, 99))
def test_more_certainty_is_wider(values: list[float], seed: int) -> None:
    """And what is alike has no width."""
    narrow = interval(values, fmean, 0.5, seed, resamples=100)
    wide = interval(values, fmean, 0.95, seed, resamples=100)
    assert narrow is not None
    assert wide is not None
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert interval([7.0, 7.0], fmean, 0.95, seed, resamples=100) == (7, 7)


def counts(blocks: list[list[float]], edges: list[float]) -> list[list[int]]:
    """For each block how many are at most each edge, and how many there are."""
    return [[*(sum(value <= edge for value in block) for edge in edges), len(block)] for block in blocks]


@given(
    blocks=st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=8), min_size=2, max_size=6),
    p=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]),
)
def test_a_percentile_from_counts_is_that_of_the_values(blocks: list[list[float]], p: Fraction) -> None:
    """With every value an edge, it is that of the blocks' values, drawn alike."""
    edges = [float(value) for value in range(21)]

    def percentile(chosen: Sequence[float]) -> float:
        values = sorted(value for block in chosen for value in blocks[int(block)])
        return values[math.ceil(p * len(values)) - 1]

    result = percentile_interval(counts(blocks, edges), edges, p, LEVEL, seed=3, resamples=100)
    assert result == interval(range(len(blocks)), percentile, LEVEL, seed=3, resamples=100)


def test_a_percentile_beyond_the_edges_is_infinite() -> None:
    """The bound alone is an edge enough to tell whether the limit meets it."""
    blocks = [[float(value) for value in range(index, index + 50)] for index in range(8)]
    assert percentile_interval(counts(blocks, [60.0]), [60.0], 0.9, LEVEL, seed=1) == (60, 60)
    assert percentile_interval(counts(blocks, [40.0]), [40.0], 0.9, LEVEL, seed=1) == (math.inf, math.inf)


def test_blocks_that_resemble_themselves_widen_it() -> None:
    """Where a block's values are alike the run has fewer independent ones than it seems."""
    random = Random(4)  # noqa: S311 (a simulation, no secret)
    even = [[random.random() for _ in range(50)] for _ in range(20)]
    lumpy = [
        [index + random.random() / 20 for _ in range(50)] for index in (random.random() for _ in range(20))
    ]
    edges = [index / 200 for index in range(250)]
    narrow = percentile_interval(counts(even, edges), edges, 0.5, LEVEL, seed=1, resamples=500)
    wide = percentile_interval(counts(lumpy, edges), edges, 0.5, LEVEL, seed=1, resamples=500)
    assert narrow is not None
    assert wide is not None
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])


def test_too_few_say_nothing() -> None:
    """One value, or one block that holds any."""
    assert interval([1.0], fmean, LEVEL, seed=1) is None
    assert percentile_interval([[1, 2], [0, 0]], [5.0], 0.5, LEVEL, seed=1) is None
