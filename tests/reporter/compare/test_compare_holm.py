"""P-values of many tests."""

from hypothesis import given
from hypothesis import strategies as st

from reporter.compare.family import adjusted

CHANCES = st.lists(st.floats(0, 1), max_size=12)


def test_the_smallest_pays_for_all_and_the_next_for_the_rest() -> None:
    """As R's p.adjust(c(.01, .04, .03, .005), "holm") has it."""
    p_values = [round(p, 12) for p in adjusted([0.01, 0.04, 0.03, 0.005])]
    assert p_values == [0.03, 0.06, 0.06, 0.02]


@given(CHANCES)
def test_none_becomes_smaller_and_the_order_stays(chances: list[float]) -> None:
    """It is a probability still, of m tests no more than m times as large; a single one stays as it is."""
    p_values = adjusted(chances)
    pairs = sorted(zip(chances, p_values, strict=True))
    assert [p for _, p in pairs] == sorted(p_values)
    assert all(p <= q <= min(1.0, p * len(chances)) for p, q in pairs)
    assert len(chances) != 1 or p_values == chances


@given(CHANCES)
def test_the_order_in_which_they_come_does_not_matter(chances: list[float]) -> None:
    """Backwards it is the same backwards."""
    assert adjusted(chances[::-1]) == adjusted(chances)[::-1]
