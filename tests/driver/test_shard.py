"""Shares: together they are the whole, in any division."""

from collections import Counter
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.shard import Shard

WORKERS = st.integers(min_value=1, max_value=12)


@given(number=st.integers(min_value=0, max_value=10_000), workers=WORKERS)
def test_the_parts_of_a_number_add_up(number: int, workers: int) -> None:
    """And none is bigger than another by more than one."""
    parts = [Shard(worker, workers).of(number) for worker in range(workers)]
    assert sum(parts) == number
    assert max(parts) - min(parts) <= 1
    assert parts == sorted(parts, reverse=True)


@given(number=st.integers(min_value=0, max_value=300), workers=WORKERS)
def test_each_thing_is_one_workers(number: int, workers: int) -> None:
    """Nothing is left out, nothing is done twice, and each share keeps the order."""
    shares = [list(Shard(worker, workers).out_of(range(number))) for worker in range(workers)]
    assert Counter(chain.from_iterable(shares)) == Counter(range(number))
    assert all(share == sorted(share) for share in shares)


def test_alone_everything_is_mine() -> None:
    """The share of one worker is all."""
    assert Shard().of(7) == 7
    assert list(Shard().out_of("abc")) == ["a", "b", "c"]
