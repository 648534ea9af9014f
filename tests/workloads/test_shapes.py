"""Shapes know the mean of what they draw, bounded or not."""

from __future__ import annotations

import statistics
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.distributions import (
    Constant,
    Exponential,
    Histogram,
    LengthDistribution,
    LogNormal,
    Normal,
    Uniform,
    UniformWhole,
)

SEEDS = st.integers(0, 2**32)
DRAWS = 1000
FAR = 6.0
"""Standard errors that no honest sample of any seed strays."""

SHAPES: list[LengthDistribution] = [
    Constant(64),
    Uniform(10.0, 90.0),
    UniformWhole(3, 3),
    UniformWhole(1, 200),
    Normal(64.0, 16.0),
    Normal(20.0, 40.0),
    Normal(64.0, 0.0),
    LogNormal(64.0, 0.5),
    LogNormal(64.0, 0.0),
    Exponential(64.0),
    Histogram(((1, 1), (10, 20), (500, 500)), (1, 0, 3)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_draws_have_the_mean_that_is_said(shape: LengthDistribution, seed: int) -> None:
    """Unbounded, the mean of the draws is the shape's own."""
    rng = Random(seed)  # noqa: S311 (reproducible draws, no secrets)
    drawn = [shape(rng) for _ in range(DRAWS)]
    error = statistics.stdev(drawn) / DRAWS**0.5
    assert statistics.mean(drawn) == pytest.approx(shape.mean, abs=FAR * error + 1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize(("low", "high"), [(1, 1_000_000), (30, 80), (100, 200), (1, 5)])
def test_bounded_draws_have_the_mean_that_is_said(shape: LengthDistribution, low: int, high: int) -> None:
    """Where what lies outside of bounds counts as the bound, the mean is the one that is computed."""
    rng = Random(f"{shape}{low}")  # noqa: S311 (reproducible draws, no secrets)
    drawn = [min(max(shape(rng), low), high) for _ in range(DRAWS)]
    # Whole numbers are taken for continuous there: half a number at each bound.
    error = FAR * statistics.stdev(drawn) / DRAWS**0.5 + 0.5
    assert statistics.mean(drawn) == pytest.approx(shape.mean_within(low, high), abs=error)


def test_a_bin_without_weight_is_never_drawn() -> None:
    """Weights of 0 at either end or between are not values."""
    rng = Random(1)  # noqa: S311 (reproducible draws, no secrets)
    shape = Histogram(((1, 1), (2, 2), (3, 3), (4, 4)), (0, 1, 0, 0))
    assert {shape(rng) for _ in range(200)} == {2}


def test_ranges_are_drawn_evenly() -> None:
    """Every number of a range comes, its ends included."""
    rng = Random(1)  # noqa: S311 (reproducible draws, no secrets)
    shape = Histogram(((5, 7),), (1,))
    assert {shape(rng) for _ in range(200)} == {5, 6, 7}
