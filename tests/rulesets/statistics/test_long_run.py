"""How much the mean of a series varies whose values resemble their neighbours."""

from __future__ import annotations

from random import Random
from statistics import fmean, median, variance

import pytest

from rulesets.statistics.long_run import long_run


def series(seed: int, n: int, likeness: float) -> list[float]:
    """An AR(1) of variance 1."""
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    result, state = [], random.gauss()
    for _ in range(n):
        result.append(state)
        state = likeness * state + (1 - likeness**2) ** 0.5 * random.gauss()
    return result


@pytest.mark.parametrize(("likeness", "effect"), [(0.0, 1), (0.5, 3), (0.8, 9)])
def test_the_design_effect_of_an_autoregression(likeness: float, effect: float) -> None:
    """It is (1 + r) / (1 - r), and never below 1."""
    result = [long_run(series(seed, 1000, likeness)) for seed in range(40)]
    effects = [item.effect for item in result if item is not None]
    assert median(effects) == pytest.approx(effect, rel=0.25)
    assert min(effects) >= 1


def test_it_is_the_variance_of_means() -> None:
    """Of many series, their means vary as each of them says, or by less."""
    many = [series(seed, 200, 0.5) for seed in range(300)]
    text = [item.of_mean for item in map(long_run, many) if item is not None]
    assert 0.95 <= fmean(text) / variance(map(fmean, many)) <= 1.5


def test_a_series_that_rises_counts_for_few() -> None:
    """But for five at least, and for 0.8 times the root of their number."""
    for n, least in ((40, 5), (1000, 25.3)):
        result = long_run([float(index) for index in range(n)])
        assert result is not None
        assert result.effective == pytest.approx(least, abs=0.1)
        assert 1 < result.freedom < result.effective


def test_too_few_and_constant_values() -> None:
    """Seven tell nothing, and what never varies is certain."""
    assert long_run([1.0, 2.0] * 3 + [1.0]) is None
    constant = long_run([0.1] * 50)
    assert constant is not None
    assert (constant.of_mean, constant.effective) == (0, 50)
