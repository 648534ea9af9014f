"""The smallest number that is enough is found wherever it lies."""

from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.smallest import smallest


@given(wanted=st.integers(1, 10**9), start=st.integers(1, 10**6))
def test_it_is_found(wanted: int, start: int) -> None:
    """In two steps for each doubling, and not below the start."""
    asked: list[int] = []

    def enough(number: int) -> bool:
        asked.append(number)
        return number >= wanted

    assert smallest(enough, start) == max(wanted, start)
    assert len(asked) <= 2 * wanted.bit_length() + 2


@given(wanted=st.integers(1, 10**6), limit=st.integers(1, 10**6))
def test_nothing_is_tried_beyond_the_most(wanted: int, limit: int) -> None:
    """Then there is none."""
    assert smallest(lambda number: number >= wanted, 1, limit) == (wanted if wanted <= limit else None)
