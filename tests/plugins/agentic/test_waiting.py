"""What turns wait for, by properties over random recorded sessions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.agentic.chains import ChainLink, chains_of
from loadgen.plugins.agentic.waiting import StreamTimes, in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agentic.waiting import Place

_STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)
"""Of each turn of a stream: the pause before it, and how long it took."""


def stream(begin_ns: int, steps: Sequence[tuple[int, int]], **anchors: Place | None) -> StreamTimes:
    """A stream whose turns follow one another."""
    starts, ends, at_ns = [], [], begin_ns
    for pause, took in steps:
        starts.append(at_ns + pause)
        at_ns += pause + took
        ends.append(at_ns)
    return StreamTimes(starts, ends, **anchors)


_SESSIONS = st.lists(st.tuples(st.integers(0, 40), _STEPS), min_size=1, max_size=5).map(
    lambda parts: [stream(begin_ns, steps) for begin_ns, steps in parts]
)


@given(_SESSIONS)
def test_recorded_interleaving(streams: list[StreamTimes]) -> None:
    """A turn follows exactly those that had ended by its start, and no wait is implied by another."""
    ends = {(s, n): end for s, each in enumerate(streams) for n, end in enumerate(each.ends_ns)}
    starts = {(s, n): start for s, each in enumerate(streams) for n, start in enumerate(each.starts_ns)}
    follows: dict[Place, set[Place]] = {}
    for turn in in_order(streams, keeps_interleaving=True):
        assert all(before in follows for before in turn.after)
        for before in turn.after:
            assert not any(before in follows[other] for other in turn.after if other != before)
        follows[turn.place] = set(turn.after).union(*(follows[before] for before in turn.after))
        begin_ns = min(starts.values())
        recorded_ns = max((ends[before] for before in turn.after), default=begin_ns)
        assert recorded_ns + turn.delay_ns == starts[turn.place]
    assert follows.keys() == ends.keys()
    for place, before in follows.items():
        stream_number, number = place
        own = {(stream_number, earlier) for earlier in range(number)}
        assert before >= own
        # Turns of no width may be recorded at one moment, in either order.
        ended = {other for other, end in ends.items() if end < starts[place]}
        assert before >= ended
        assert all(ends[other] <= starts[place] for other in before)


def test_join_against_the_times() -> None:
    """A turn waits for a stream that it joins, even if the stream ended after the turn began."""
    main = stream(0, [(0, 5), (5, 5), (5, 5)])
    agent = stream(6, [(0, 10)], spawned_by=(0, 0), joined_by=(0, 1))
    ordered = list(in_order([main, agent], keeps_interleaving=True))
    assert [turn.place for turn in ordered] == [(0, 0), (1, 0), (0, 1), (0, 2)]
    assert [turn.after for turn in ordered] == [(), ((0, 0),), ((1, 0),), ((0, 1),)]
    assert [turn.delay_ns for turn in ordered] == [0, 1, 0, 5]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=1, max_size=12))
def test_chains(steps: list[tuple[int, int, bool]]) -> None:
    """Each request is in one chain; a chain has one model, and its requests do not overlap."""
    links = []
    for number, (pause, took, is_other) in enumerate(steps):
        at_ns = 4 * number + pause
        links.append(ChainLink(at_ns, at_ns + took, [1, 2, 3, *range(4, 4 + number)], "ab"[is_other]))
    links.sort(key=lambda link: link.start_ns)
    chains = chains_of(links)
    assert sorted(link for chain in chains for link in chain) == [*range(len(links))]
    for chain in chains:
        assert len({links[link].model for link in chain}) == 1
        for before, after in pairwise(chain):
            assert links[before].end_ns <= links[after].start_ns
