"""The Mann-Whitney test: exact with ties, against brute force, benchstat's fixtures and scipy."""

import math
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.mann_whitney import EXACT, detectable, fewest, least_p, shift, u_test

OLD = [1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774]
NEW = [1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425]
GOB_OLD = [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062]
GOB_NEW = [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062]

few = st.lists(st.integers(0, 6), min_size=1, max_size=5)
some = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)


def test_the_fixtures_of_benchstat() -> None:
    """The second has ties: an exact test that ignores them says 0.481, and is wrong."""
    assert u_test(OLD, NEW).p == pytest.approx(1.0825088e-05, rel=5e-8)
    assert u_test(GOB_OLD, GOB_NEW).p == pytest.approx(0.4461019, abs=5e-8)
    assert u_test(GOB_OLD, GOB_NEW).method == "exact"
    normal = u_test(GOB_OLD, GOB_NEW, exact=False)
    assert (normal.p, normal.method) == (pytest.approx(0.448667, abs=5e-7), "normal")


def pairs_won(first: list[int], second: list[int]) -> Fraction:
    """U by its definition."""
    return sum(
        (Fraction((other > item) + (other >= item), 2) for item in first for other in second), Fraction(0)
    )


@given(first=few, second=few)
def test_it_is_what_brute_force_finds(first: list[int], second: list[int]) -> None:
    """Over all ways to divide the values into two groups of these sizes."""
    values, observed = first + second, pairs_won(first, second)
    result = []
    for chosen in combinations(range(len(values)), len(second)):
        left = [value for index, value in enumerate(values) if index not in chosen]
        result.append(pairs_won(left, [values[index] for index in chosen]))
    tail = min(sum(u <= observed for u in result), sum(u >= observed for u in result))
    tested = u_test(first, second)
    assert tested.u == observed
    assert tested.p == pytest.approx(min(1, 2 * tail / len(result)))


@given(first=some, second=some)
def test_it_does_not_matter_which_group_is_first(first: list[float], second: list[float]) -> None:
    """Nor in what order values are, nor which way is up, nor by how much values differ."""
    result = u_test(first, second)
    assert u_test(second, first).p == result.p
    assert u_test(second, first).u == len(first) * len(second) - result.u
    assert u_test(first[::-1], sorted(second)).p == result.p
    assert u_test([-item for item in first], [-other for other in second]).p == pytest.approx(result.p)
    assert least_p(len(first), len(second)) <= result.p * (1 + 1e-12)
    assert result.p <= 1


@given(first=st.sets(st.integers(0, 99), min_size=1, max_size=12), size=st.integers(1, 12))
def test_without_ties_it_is_scipys(first: set[int], size: int) -> None:
    """Exact and normal."""
    from scipy.stats import mannwhitneyu

    second = [value + 0.5 for value in Random(size).sample(range(100), size)]  # noqa: S311 (a simulation, no secret)
    for exact, method in ((True, "exact"), (False, "asymptotic")):
        expected = mannwhitneyu(second, list(first), method=method)
        result = u_test(list(first), second, exact=exact)
        assert (result.u, result.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_many_values_are_tested_by_the_normal_distribution() -> None:
    """The two agree where both can be had; all alike do not differ, and a failure is larger than all."""
    random = Random(8)  # noqa: S311 (a simulation, no secret)
    first = [random.gauss() for _ in range(EXACT)]
    second = [random.gauss(0.5) for _ in range(EXACT)]
    assert u_test(first, second).method == "exact"
    assert u_test([*first, 0.0], second).method == "normal"
    assert u_test(first, second, exact=False).p == pytest.approx(u_test(first, second).p, abs=5e-3)
    assert u_test([1.0] * 30, [1.0] * 30).p == 1
    assert u_test([1.0] * 3, [1.0] * 3).p == 1
    assert u_test([1.0, 2.0], [math.inf, math.inf]).u == 4


@pytest.mark.parametrize(("size", "expected"), [(3, 0.1), (4, 0.02857), (5, 0.00794), (6, 0.00216)])
def test_the_least_p(size: int, expected: float) -> None:
    """Three runs a side can never show anything at 5 %."""
    assert least_p(size, size) == pytest.approx(expected, abs=5e-6)
    assert u_test(range(size), range(10, 10 + size)).p == least_p(size, size)


@given(first=some, by=st.floats(-50, 50))
def test_a_shift_is_found(first: list[float], by: float) -> None:
    """Exactly where the second group is the first, shifted; and the interval holds it."""
    result = shift(first, [item + by for item in first], 0.95)
    assert result.estimate == pytest.approx(by, abs=1e-9)
    assert result.low - 1e-9 <= by <= result.high + 1e-9


@given(first=some, second=some)
def test_a_shift_the_other_way_is_the_opposite(first: list[float], second: list[float]) -> None:
    """And more certainty is not a narrower."""
    result, back = shift(first, second, 0.9), shift(second, first, 0.9)
    assert (back.estimate, back.low, back.high) == (-result.estimate, -result.high, -result.low)
    wider = shift(first, second, 0.99)
    assert wider.low <= result.low <= result.estimate <= result.high <= wider.high


@given(first=st.sets(st.integers(0, 10**6), min_size=4, max_size=9), seed=st.integers(0, 9))
def test_the_interval_leaves_out_0_where_the_test_does(first: set[int], seed: int) -> None:
    """Significant at 5 % is the same as a 95 % interval without 0, but for ties."""
    second = [value + 0.5 for value in Random(seed).sample(range(10**6), 6)]  # noqa: S311 (a simulation, no secret)
    result = shift(sorted(first), second, 0.95)
    assert (u_test(sorted(first), second).p <= 0.05) == (not result.low <= 0 <= result.high)


def test_the_interval_of_a_known_sample() -> None:
    """Three a side have none at 95 %, and at 90 % their extremes; many have the normal one."""
    assert shift([1, 2, 3], [11, 13, 17], 0.95).low == -math.inf
    three = shift([1, 2, 3], [11, 13, 17], 0.9)
    assert (three.low, three.estimate, three.high) == (8, 11, 16)
    many = shift(list(range(40)), [value + 3 for value in range(40)], 0.95)
    assert many.estimate == 3
    assert (many.low, many.high) == (-2, 8)


@pytest.mark.parametrize(
    ("runs", "deviation", "expected"), [(3, 2, 4.57), (5, 2, 3.54), (10, 2, 2.51), (5, 5, 8.86)]
)
def test_what_could_have_been_seen(runs: int, deviation: float, expected: float) -> None:
    """In percent, of that many runs a side with that coefficient of variation."""
    assert detectable(runs, runs, deviation) == pytest.approx(expected, abs=6e-3)


@pytest.mark.parametrize(("alpha", "runs"), [(0.5, 2), (0.05, 4), (0.05 / 6, 5), (0.0022, 6), (0.0021, 7)])
def test_how_many_values_a_side_it_takes(alpha: float, runs: int) -> None:
    """The least p of n and n values is 2 / (2n choose n): .1, .0286, .0079, .00216."""
    assert fewest(alpha) == runs
