"""The figures that meet a target, compared as sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from rulesets import bounds
from rulesets.quantity import COMPARE
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

counts = st.builds(
    lambda op, value: Target.of(metric="completed", op=op, value=value),
    st.sampled_from([">", ">=", "==", "!=", "<=", "<"]),
    st.integers(1, 5),
)
lengths = st.builds(
    lambda op, value: Target.of(metric="osl", stat="mean", op=op, value=value),
    st.sampled_from([">", ">=", "<=", "<"]),
    st.integers(1, 5),
)
FIGURES = {"count": range(8), "length": [half / 2 for half in range(15)]}
"""Those that tell any two of these targets apart."""


def meets(target: Target) -> Callable[[float], bool]:
    """Whether a figure meets a target, by its operator."""
    return lambda figure: COMPARE[target.op](figure, target.bound)


@given(pair=st.tuples(counts, counts) | st.tuples(lengths, lengths))
def test_sets_are_those_of_the_operators(pair: tuple[Target, Target]) -> None:
    """Inside means that every figure of one meets the other, and meeting that some figure meets both."""
    target, other = pair
    figures = FIGURES[target.quantity.kind]
    sets = bounds.of(target), bounds.of(other)
    assert [sets[0].holds(figure) for figure in figures] == [meets(target)(figure) for figure in figures]
    both = [figure for figure in figures if meets(target)(figure) and meets(other)(figure)]
    assert sets[0].meets(sets[1]) == bool(both)
    assert sets[0].inside(sets[1]) == all(meets(other)(figure) for figure in figures if meets(target)(figure))
