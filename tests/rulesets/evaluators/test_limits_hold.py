"""Limits of 95 % are right in 95 % of simulated runs: a small part of `benchmarks/confidence_limits.py`.

All is drawn from a fixed seed: these are statements about the methods, not about luck.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rulesets.statistics.binomial import at_most

TRIALS = 150
SEED = 7
UNLIKELY = 0.001
"""The probability of this many passes, or more, at a rate of 5 %."""


@pytest.fixture(scope="module")
def study() -> Any:
    """The benchmark as a module."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
        return import_module("confidence_limits")


@pytest.mark.parametrize(
    ("n", "percentile", "likeness"),
    [(100, 90, 0.0), (400, 95, 0.0), (416, 99, 0.0), (100, 90, 0.8), (400, 95, 0.8), (400, 90, 0.95)],
)
def test_a_limit_rarely_passes_the_true_percentile(
    n: int, percentile: int, likeness: float, study: Any
) -> None:
    """In no more runs than 5 % allow, however much neighbors resemble each other."""
    share = study.percentile_passes("effective", n, percentile, likeness, 1.0, TRIALS, SEED)
    assert 1 - at_most(round(share * TRIALS) - 1, TRIALS, 0.05) > UNLIKELY, share


def test_order_statistics_alone_are_for_independent_requests(study: Any) -> None:
    """Where neighbors are alike they pass the true percentile in many more runs."""
    assert study.percentile_passes("order_stat", 400, 95, 0.8, 1.0, TRIALS, SEED) > 0.12


def test_a_server_well_below_the_bound_passes(study: Any) -> None:
    """With half of the allowed slow requests, in most runs of 400."""
    assert study.percentile_passes("effective", 400, 90, 0.0, 0.5, TRIALS, SEED) > 0.8


def test_limits_of_means_of_blocks(study: Any) -> None:
    """Both methods, with five exponential requests in each of 20 blocks."""
    for method in study.MEAN_METHODS:
        for upper in (True, False):
            share = study.mean_passes(method, 20, 5, 100, SEED, upper=upper)
            assert 1 - at_most(round(share * 100) - 1, 100, 0.06) > UNLIKELY, (method, upper, share)
