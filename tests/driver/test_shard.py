"""Shares: together they are the whole, in any division."""

from collections import Counter
from itertools import chain, count, takewhile

from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.phase import RequestNumbers, Shard

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


@given(number=st.integers(min_value=0, max_value=300), nodes=WORKERS, workers=WORKERS)
def test_the_parts_of_nodes_are_the_whole(number: int, nodes: int, workers: int) -> None:
    """Each thing is of one worker of one node, and no node has more than its share."""
    parts = [[Shard(node, nodes).part(worker, workers) for worker in range(workers)] for node in range(nodes)]
    assert Counter(
        thing for node in parts for part in node for thing in part.out_of(range(number))
    ) == Counter(range(number))
    assert [sum(part.of(number) for part in node) for node in parts] == [
        Shard(node, nodes).of(number) for node in range(nodes)
    ]


@given(
    requests=st.integers(min_value=0, max_value=300),
    users=st.integers(min_value=1, max_value=40),
    nodes=WORKERS,
)
def test_the_numbers_of_nodes_are_those_of_one(requests: int, users: int, nodes: int) -> None:
    """However far each node is: none is taken twice, all up to a limit are taken, in proportion to users."""
    taken = []
    for node in (Shard(node, nodes) for node in range(min(users, nodes))):
        numbers = RequestNumbers(users, node)
        own = list(takewhile(lambda number: number < requests, map(numbers.number, count())))
        assert own == sorted(own)
        assert abs(len(own) - requests * node.of(users) / users) <= node.of(users)
        taken += own
    assert sorted(taken) == list(range(requests))
    assert [RequestNumbers(users).number(claimed) for claimed in range(requests)] == list(range(requests))
