"""The difference between two groups of runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.compare.between import detectable, difference
from rulesets.statistics import mann_whitney

if TYPE_CHECKING:
    from reporter.compare.compared_figure import FigureDifference

OLD = [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062]
NEW = [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062]
RUNS = st.lists(st.floats(1, 1e3), min_size=1, max_size=8)


def compared(reference: list[float], other: list[float], **how: bool) -> FigureDifference | None:
    """At 95 %."""
    return difference(reference, other, **({"in_points": False} | how), level=0.95, level_to_find=0.95)


def test_benchstats_fixture_does_not_differ() -> None:
    """Its p is 0.446, ties included; and the shift is well below a percent."""
    change = compared([float(ms) for ms in OLD], [float(ms) for ms in NEW])
    assert change is not None
    assert change.p == pytest.approx(0.4461019, abs=1e-7)
    assert abs(change.by) < 0.002
    assert (change.low or 0) < 0 < (change.high or 0)


def test_three_runs_a_side_never_differ() -> None:
    """However far apart they are p is 0.1, there is no interval, and nothing is detectable."""
    change = compared([1.0, 2.0, 3.0], [101.0, 102.0, 103.0])
    assert change is not None
    assert change.p == pytest.approx(0.1)
    assert (change.low, change.high, change.detectable) == (None, None, None)


@given(RUNS, RUNS)
def test_the_other_way_round_two_groups_differ_alike(a: list[float], b: list[float]) -> None:
    """A ratio becomes its inverse, and p stays."""
    there, back = compared(a, b), compared(b, a)
    assert there is not None
    assert back is not None
    assert (1 + there.by) * (1 + back.by) == pytest.approx(1)
    assert there.p == pytest.approx(back.p)


@given(RUNS, RUNS, st.floats(0.5, 2))
def test_faster_runs_are_faster_by_that(a: list[float], b: list[float], factor: float) -> None:
    """Multiplying all runs of a side multiplies the ratio."""
    there, faster = compared(a, b), compared(a, [factor * value for value in b])
    assert there is not None
    assert faster is not None
    assert 1 + faster.by == pytest.approx(factor * (1 + there.by))


def test_shares_differ_in_points() -> None:
    """From no error at all, too."""
    change = compared([0.0] * 5, [0.02] * 5, in_points=True)
    assert change is not None
    assert change.by == pytest.approx(0.02)
    assert change.p == pytest.approx(2 / math.comb(10, 5))
    assert compared([0.0] * 5, [0.02] * 5) is None
    assert compared([], [0.02] * 5) is None


def test_more_runs_see_smaller_differences() -> None:
    """And a smaller alpha larger ones; from 26 a side by the formula, to which the search comes close."""
    sizes = [detectable(runs, runs, 0.05) for runs in (4, 5, 7, 10, 15, 25, 26)]
    assert all(size is not None for size in sizes)
    assert sizes == sorted(sizes, reverse=True)  # type: ignore[type-var]  # none is None by now
    assert (detectable(5, 5, 0.01) or 0) > (detectable(5, 5, 0.05) or 9)
    formula = mann_whitney.detectable(25, 25, 1.0, 0.05) / math.sqrt(3 / math.pi)
    assert detectable(25, 25, 0.05) == pytest.approx(formula, rel=0.05)
