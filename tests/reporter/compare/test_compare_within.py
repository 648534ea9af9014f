"""The difference between two single runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.compare.compared_figure import ComparedFigure, critical
from reporter.compare.within import difference

VALUES = st.floats(1, 1e4)
ERRORS = st.floats(1e-4, 0.5)
FREEDOM = st.integers(4, 40) | st.none()
FIGURES = st.builds(
    lambda value, below, above, freedom: ComparedFigure(
        value, 100, below=below, above=above, freedom=freedom
    ),
    *(VALUES, ERRORS, ERRORS, FREEDOM),
)


def sure(value: float, error: float, freedom: int | None = None) -> ComparedFigure:
    """A figure that scatters alike to both sides."""
    return ComparedFigure(value, 100, below=error, above=error, freedom=freedom)


@pytest.mark.parametrize("by", [0.0, 0.1, 0.35, 2.0])
def test_two_means_are_compared_as_welch_does(by: float) -> None:
    """As scipy has it, where both have ten blocks: p and the interval."""
    from scipy import stats

    change = difference(
        *(sure(1.0, 0.1, 9), sure(1.0 + by, 0.1, 9)), in_points=True, level=0.95, level_to_find=0.95
    )
    theirs = stats.ttest_ind_from_stats(
        *(1.0 + by, 0.1 * math.sqrt(10), 10), *(1.0, 0.1 * math.sqrt(10), 10), equal_var=False
    )
    half = stats.t.ppf(0.975, 18) * math.hypot(0.1, 0.1)
    assert change is not None
    assert change.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert change.low == pytest.approx(by - half)
    assert change.high == pytest.approx(by + half)


@given(FIGURES, FIGURES, st.sampled_from([0.9, 0.95, 0.99]))
def test_the_other_way_round_it_is_the_same(a: ComparedFigure, b: ComparedFigure, level: float) -> None:
    """A ratio becomes its inverse, its ends change places, and p stays."""
    there = difference(a, b, in_points=False, level=level, level_to_find=level)
    back = difference(b, a, in_points=False, level=level, level_to_find=level)
    assert there is not None
    assert back is not None
    assert (1 + there.by) * (1 + back.by) == pytest.approx(1)
    assert there.p == pytest.approx(back.p, abs=1e-9)
    if there.low is not None and back.high is not None:
        assert (1 + there.low) * (1 + back.high) == pytest.approx(1, rel=1e-6)


@given(FIGURES, FIGURES, st.sampled_from([0.9, 0.95, 0.99]))
def test_p_and_the_interval_agree(a: ComparedFigure, b: ComparedFigure, level: float) -> None:
    """0 is outside the interval of a level exactly where p is below what is left of it."""
    change = difference(a, b, in_points=False, level=level, level_to_find=level)
    assert change is not None
    assert change.low is not None
    assert change.high is not None
    assert change.p is not None
    if abs(change.p - (1 - level)) > 1e-9:
        assert (not change.low <= 0 <= change.high) == (change.p < 1 - level)


def test_a_lopsided_figure_makes_a_lopsided_difference() -> None:
    """As MOVER has it: what reaches far up makes the difference do so, and the reference's far down."""
    far_up = ComparedFigure(100.0, 100, below=0.01, above=0.1)
    change = difference(sure(100.0, 0.001), far_up, in_points=False, level=0.95, level_to_find=0.95)
    other = difference(far_up, sure(100.0, 0.001), in_points=False, level=0.95, level_to_find=0.95)
    assert change is not None
    assert other is not None
    assert change.high == pytest.approx(math.expm1(critical(0.95, None) * math.hypot(0.1, 0.001)))
    assert change.low == pytest.approx(math.expm1(-critical(0.95, None) * math.hypot(0.01, 0.001)))
    assert other.high == pytest.approx(-(change.low or 0) / (1 + (change.low or 0)))


def test_where_a_figure_has_no_limit_the_difference_has_none() -> None:
    """Towards 0 there is no p without one; away from it, there is."""
    open_above = ComparedFigure(200.0, 100, below=0.01)
    worse = difference(sure(100.0, 0.01), open_above, in_points=False, level=0.95, level_to_find=0.95)
    better = difference(open_above, sure(100.0, 0.01), in_points=False, level=0.95, level_to_find=0.95)
    unsure = difference(sure(300.0, 0.01), open_above, in_points=False, level=0.95, level_to_find=0.95)
    assert worse is not None
    assert better is not None
    assert unsure is not None
    assert (worse.high, better.low, unsure.high) == (None, None, None)
    assert worse.p == pytest.approx(0, abs=1e-9)
    assert better.p == pytest.approx(0, abs=1e-9)
    assert unsure.p is None
    assert worse.detectable is None


def test_what_is_detectable_is_found_four_times_in_five() -> None:
    """By the normal distribution: 1.96 and 0.84 standard errors of the difference."""
    change = difference(sure(0.5, 0.01), sure(0.5, 0.01), in_points=True, level=0.95, level_to_find=0.95)
    assert change is not None
    assert change.detectable == pytest.approx((1.959964 + 0.841621) * math.hypot(0.01, 0.01), rel=1e-6)
    assert change.p == 1


def test_figures_that_never_scatter_differ_or_do_not() -> None:
    """Without any error every difference is one. Of nothing there is no ratio."""
    same = difference(sure(5.0, 0.0), sure(5.0, 0.0), in_points=False, level=0.95, level_to_find=0.95)
    more = difference(sure(5.0, 0.0), sure(5.1, 0.0), in_points=False, level=0.95, level_to_find=0.95)
    assert same is not None
    assert more is not None
    assert (same.p, more.p) == (1, 0)
    assert difference(sure(0.0, 0.0), sure(5.0, 0.1), in_points=False, level=0.9, level_to_find=0.9) is None
