"""The language of distributions and its samplers."""

from __future__ import annotations

import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.distribution_notation import duration, length
from workloads.errors import DistributionError

SEEDS = st.integers(0, 2**32)
MILLISECONDS = st.integers(1, 100_000)
DRAWS = 2000
FAR = 6.0
"""Standard errors that no honest sample of any seed strays."""


def state(seed: int) -> Random:
    """Make a random state."""
    return Random(seed)  # noqa: S311 (reproducible draws, no secrets)


@pytest.mark.parametrize("spec", ["50ms", "0.05s", "50000us", "50000000ns", "constant:50ms", " 50ms "])
def test_a_plain_number_is_always_drawn(spec: str) -> None:
    """A number with a unit is a constant, whatever its unit."""
    assert duration(spec)(state(1)) == pytest.approx(0.05)


def test_nothing_needs_no_unit() -> None:
    """Zero is the same in every unit."""
    assert duration("0")(state(1)) == 0.0


def test_a_plain_length_is_always_drawn() -> None:
    """A number without a unit is a constant length."""
    assert length("64")(state(1)) == 64


@given(SEEDS, MILLISECONDS, MILLISECONDS)
def test_uniform_stays_inside_its_ends(seed: int, first: int, other: int) -> None:
    """No draw of a uniform distribution lies outside of it."""
    low, high = sorted((first, other))
    draw, rng = duration(f"uniform:{low}ms..{high}ms"), state(seed)
    drawn = [draw(rng) for _ in range(50)]
    rounding = 1e-12
    assert low / 1e3 - rounding <= min(drawn)
    assert max(drawn) <= high / 1e3 + rounding


@given(SEEDS, MILLISECONDS)
def test_normal_has_its_mean_and_deviation(seed: int, mean: int) -> None:
    """A normal distribution that is never cut at zero has the mean and the deviation that it says."""
    draw, rng, deviation = duration(f"normal:{mean}ms,{mean / 10:.4f}ms"), state(seed), mean / 1e4
    drawn = [draw(rng) for _ in range(DRAWS)]
    assert statistics.mean(drawn) == pytest.approx(mean / 1e3, abs=FAR * deviation / DRAWS**0.5)
    assert statistics.stdev(drawn) == pytest.approx(deviation, rel=FAR / (2 * DRAWS) ** 0.5)


@given(SEEDS, MILLISECONDS)
def test_lognormal_has_its_median(seed: int, median: int) -> None:
    """Half of the draws of a lognormal distribution lie below the value that it is written with."""
    draw, rng = duration(f"lognormal:{median}ms,0.5"), state(seed)
    below = sum(draw(rng) < median / 1e3 for _ in range(DRAWS))
    assert below == pytest.approx(DRAWS / 2, abs=FAR * DRAWS**0.5 / 2)


@given(SEEDS, MILLISECONDS)
def test_exponential_has_its_mean(seed: int, mean: int) -> None:
    """An exponential distribution has the mean that it is written with."""
    draw, rng = duration(f"exponential:{mean}ms"), state(seed)
    drawn = statistics.mean(draw(rng) for _ in range(DRAWS))
    assert drawn == pytest.approx(mean / 1e3, rel=FAR / DRAWS**0.5)


@given(SEEDS, st.sampled_from(["uniform:1ms..9ms", "normal:5ms,9ms", "lognormal:5ms,1", "exponential:5ms"]))
def test_the_same_seed_draws_the_same(seed: int, spec: str) -> None:
    """What is drawn depends on the random state alone, and no time is negative."""
    first, other = state(seed), state(seed)
    drawn = [duration(spec)(first) for _ in range(20)]
    assert drawn == [duration(spec)(other) for _ in range(20)]
    assert min(drawn) >= 0.0


@given(SEEDS, st.sampled_from(["uniform:1..9", "normal:2,9.5", "lognormal:2,1", "exponential:2"]))
def test_lengths_are_whole_and_positive(seed: int, spec: str) -> None:
    """Every length is a whole number from 1 on."""
    draw, rng = length(spec), state(seed)
    drawn = [draw(rng) for _ in range(50)]
    assert all(type(tokens) is int and tokens >= 1 for tokens in drawn)


def test_both_ends_of_a_uniform_length_are_drawn() -> None:
    """A uniform length takes each whole number between its ends, ends included."""
    draw, rng = length("uniform:16..18"), state(7)
    assert {draw(rng) for _ in range(200)} == {16, 17, 18}


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("50", "'50' has no unit"),
        ("-5ms", "'-5ms' is below 0"),
        ("5 parsecs", "'5 parsecs' is not a duration"),
        ("", "'' is not a duration"),
        ("unform:1ms..2ms", "unknown distribution 'unform'"),
        ("uniform:1ms,2ms", "'1ms,2ms' is not two parameters with '..' between them"),
        ("uniform:9ms..1ms", "the lower end is above the upper one"),
        ("normal:5ms", "'5ms' is not two parameters with ',' between them"),
        ("normal:5ms,2", "'2' has no unit"),
        ("lognormal:5ms,2ms", "'2ms' must not have a unit"),
        ("exponential:", "'' is not a duration"),
    ],
)
def test_a_bad_time_is_explained(spec: str, complaint: str) -> None:
    """The message names the text, what is wrong with it, and what is possible; it is a ValueError."""
    with pytest.raises(DistributionError) as raised:
        duration(spec)
    assert isinstance(raised.value, ValueError)
    assert str(raised.value).startswith(f"{spec!r}: {complaint}")
    assert "lognormal:50ms,0.5 (median, sigma)" in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("0", "'0' is not a whole number from 1 on"),
        ("1.5", "'1.5' is not a whole number from 1 on"),
        ("64ms", "'64ms' must not have a unit"),
        ("uniform:9..1", "the lower end is above the upper one"),
    ],
)
def test_a_bad_length_is_explained(spec: str, complaint: str) -> None:
    """The message names the text, what is wrong with it, and what is possible."""
    with pytest.raises(DistributionError) as raised:
        length(spec)
    assert str(raised.value).startswith(f"{spec!r}: {complaint}")
    assert "uniform:16..128" in str(raised.value)
