"""How many independent requests blocks of time are worth."""

from hypothesis import given
from hypothesis import strategies as st

from reporter.compare.blocks import effective_number, grouped

BLOCKS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda one: (min(one), max(one))), max_size=40
)


@given(BLOCKS)
def test_it_is_never_more_than_there_are_nor_none(blocks: list[tuple[int, int]]) -> None:
    """Whatever the blocks are."""
    n = sum(of for _, of in blocks) or 1
    assert 1 <= effective_number(blocks, 0.95, n) <= n


def test_blocks_in_which_all_are_alike_are_worth_one_request_each() -> None:
    """Twenty blocks that know nothing of each other, of fifty that are one: twenty, less some for doubt."""
    blocks = [(50 * count, 50) for count in (1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1)]
    assert 15 <= effective_number(blocks, 0.95, 1000) <= 20


def test_blocks_that_are_all_the_same_cost_nothing() -> None:
    """Nor do those in which nothing, or everything, was counted; nor too few of them."""
    assert effective_number([(5, 50)] * 20, 0.95, 1000) == 1000
    assert effective_number([(0, 50)] * 20, 0.95, 1000) == 1000
    assert effective_number([(50, 50)] * 20, 0.95, 1000) == 1000
    assert effective_number([(50, 50), (0, 50)] * 2, 0.95, 200) == 200


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=70))
def test_grouping_leaves_five_at_least_and_loses_only_ends(values: list[float]) -> None:
    """Totals add up but for blocks without a neighbour."""
    blocks = [(value, 1.0) for value in values]
    found = grouped(blocks)
    assert len(found) == len(blocks) or len(found) >= 5
    assert sum(of for _, of in found) <= len(blocks)


def test_a_slow_wave_is_grouped() -> None:
    """Blocks that follow each other become longer ones."""
    blocks = [(float(at // 8 % 2), 1.0) for at in range(32)]
    assert len(grouped(blocks)) == 8
