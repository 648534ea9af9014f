"""pass@k and pass^k, against known values and all ways to draw."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.accuracy.repeated import all_of, any_of

EXPECTED = [
    (10, 3, 1, 0.3, 0.3),
    (10, 3, 5, 0.9166667, 0),
    (10, 3, 2, 0.5333333, 0.0666667),
    (10, 8, 3, 1, 0.4666667),
    (200, 37, 1, 0.185, 0.185),
    (200, 37, 10, 0.8773746, 0),
    (200, 37, 100, 1, 0),
    (5, 2, 3, 0.9, 0),
    (10, 0, 5, 0, 0),
    (10, 10, 5, 1, 1),
]
"""Attempts, passed, k, pass@k, pass^k."""


@pytest.mark.parametrize(("n", "c", "k", "any_passes", "all_pass"), EXPECTED)
def test_known_values(n: int, c: int, k: int, any_passes: float, all_pass: float) -> None:
    """To seven digits."""
    assert any_of(n, c, k) == pytest.approx(any_passes, abs=5e-8)
    assert all_of(n, c, k) == pytest.approx(all_pass, abs=5e-8)


@given(passed=st.lists(st.booleans(), min_size=1, max_size=8), data=st.data())
def test_they_are_shares_of_all_ways_to_draw(passed: list[bool], data: st.DataObject) -> None:
    """Without order, that many of the attempts."""
    k = data.draw(st.integers(1, len(passed)))
    ways = list(combinations(passed, k))
    assert any_of(len(passed), sum(passed), k) == pytest.approx(sum(map(any, ways)) / len(ways))
    assert all_of(len(passed), sum(passed), k) == pytest.approx(sum(map(all, ways)) / len(ways))
