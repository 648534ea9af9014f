"""The Mann-Kendall test: exact with ties, against brute force and scipy."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.mann_kendall import EXACT, trend


def rises(values: tuple[int, ...]) -> int:
    """S by its definition."""
    return sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))


@pytest.mark.parametrize(
    ("count", "normal", "exact"),
    [(4, 0.0894, 2 / 24), (5, 0.02749, 2 / 120), (6, 0.00853, 2 / 720), (8, 0.00084, 2 / 40320)],
)
def test_a_perfect_trend(count: int, normal: float, exact: float) -> None:
    """Four figures are never significant at 5 %, however it is computed."""
    result, approximate = trend(range(count)), trend(range(count), exact=False)
    assert result is not None
    assert approximate is not None
    assert (result.p, result.method) == (pytest.approx(exact), "exact")
    assert (approximate.p, approximate.method) == (
        pytest.approx(normal, abs=6e-6 if count > 4 else 5e-5),
        "normal",
    )
    assert (result.s, result.slope) == (count * (count - 1) // 2, 1)


@given(values=st.lists(st.integers(0, 4), min_size=3, max_size=6))
def test_it_is_what_brute_force_finds(values: list[int]) -> None:
    """Over all orders of the figures, ties included."""
    result = trend(values)
    assert result is not None
    assert result.s == rises(tuple(values))
    orders = [rises(order) for order in permutations(values)]
    assert result.p == pytest.approx(sum(abs(s) >= abs(result.s) for s in orders) / len(orders))


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30))
def test_backwards_it_falls(values: list[float]) -> None:
    """As likely, and as steeply."""
    there, back = trend(values), trend(values[::-1])
    assert there is not None
    assert back is not None
    assert (back.s, back.p, back.slope) == (-there.s, there.p, -there.slope)


@given(values=st.lists(st.integers(-50, 50), min_size=3, max_size=30, unique=True))
def test_without_ties_it_is_scipys(values: list[int]) -> None:
    """S and p are those of Kendall's tau with time, the slope Theil and Sen's."""
    from scipy.stats import kendalltau, theilslopes

    result = trend(values)
    assert result is not None
    assert result.p == pytest.approx(kendalltau(range(len(values)), values, method="exact").pvalue)
    assert result.slope == pytest.approx(theilslopes(values).slope)


def test_many_figures_are_tested_by_the_normal_distribution() -> None:
    """The two agree where both can be had; what is all alike has no trend, and two figures are not."""
    values = [(index * 37) % 50 + index / 8 for index in range(EXACT)]
    exact, normal, longer = trend(values), trend(values, exact=False), trend([*values, 9.0])
    assert exact is not None
    assert normal is not None
    assert longer is not None
    assert (exact.method, longer.method) == ("exact", "normal")
    assert normal.p == pytest.approx(exact.p, abs=2e-3)
    alike = trend([5.0] * 60)
    assert alike is not None
    assert (alike.p, alike.slope) == (1, 0)
    assert trend([1, 2]) is None
