"""The waits of each turn of a recorded session, from times, spawns and joins."""

from __future__ import annotations

from bisect import bisect_right
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Place = tuple[int, int]
"""A turn: the number of its stream, and its number in the stream."""


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """The recorded times of a stream.

    Attributes:
        starts_ns: When each turn began; never decreasing.
        ends_ns: When each turn ended; the start where the input does not say.
        spawned_by: The turn that spawned the stream; None for the main agent, and where none came before.
        joined_by: The turn that waits for the end of the stream; None for background.
    """

    starts_ns: Sequence[int]
    ends_ns: Sequence[int]
    spawned_by: Place | None = None
    joined_by: Place | None = None


@dataclass(frozen=True, slots=True)
class OrderedTurn:
    """A turn at a place in the order of a session.

    Attributes:
        place: The turn.
        after: The turns that it waits for, none of which is implied by another.
        delay_ns: The wait after the last of their ends.
    """

    place: Place
    after: tuple[Place, ...]
    delay_ns: int


def in_order(streams: Sequence[StreamTimes], *, keeps_interleaving: bool) -> Iterator[OrderedTurn]:
    """The turns in an order in which waits point back, else by recorded start.

    A turn waits for the turn before in its stream, the first one for the turn that spawned the stream, and
    the turn that joins a stream for the last turn of that stream. To keep the recorded interleaving, a turn
    also waits, per other stream, for the latest turn that had ended by its start. Waits that follow from
    others are left out.

    Args:
        streams: The streams.
        keeps_interleaving: Whether turns also wait for turns of other streams.
    """
    demands = _demands(streams)
    followers: dict[Place, list[Place]] = {}
    for place, before in demands.items():
        for each in before:
            followers.setdefault(each, []).append(place)
    left = {place: len(before) for place, before in demands.items()}
    start_ns = min(stream.starts_ns[0] for stream in streams)
    ready = [(streams[s].starts_ns[n], (s, n)) for (s, n), count in left.items() if not count]
    heapify(ready)
    reached = [-1] * len(streams)
    # Per turn: how far each stream must have ended before this turn ends, itself included.
    implied: dict[Place, list[int]] = {}
    while ready:
        _, place = heappop(ready)
        stream, number = place
        at_ns = streams[stream].starts_ns[number]
        demanded = set(demands[place])
        if keeps_interleaving:
            demanded |= _ended_by(at_ns, streams, reached, stream)
        after = _without_implied(demanded, implied)
        ends = [streams[s].ends_ns[n] for s, n in after]
        yield OrderedTurn(place, after, max(0, at_ns - max(ends, default=start_ns)))
        reached[stream] = number
        implied_before = [max(levels) for levels in zip(*(implied[each] for each in after), strict=True)]
        implied[place] = implied_before or [-1] * len(streams)
        implied[place][stream] = number
        for follower in followers.get(place, ()):
            left[follower] -= 1
            if not left[follower]:
                heappush(ready, (streams[follower[0]].starts_ns[follower[1]], follower))


def _demands(streams: Sequence[StreamTimes]) -> Mapping[Place, list[Place]]:
    demands: dict[Place, list[Place]] = {}
    for number, stream in enumerate(streams):
        for turn in range(len(stream.starts_ns)):
            demands[number, turn] = [(number, turn - 1)] if turn else []
        if stream.spawned_by is not None:
            demands[number, 0].append(stream.spawned_by)
    for number, stream in enumerate(streams):
        if stream.joined_by is not None:
            demands[stream.joined_by].append((number, len(stream.starts_ns) - 1))
    return demands


def _ended_by(at_ns: int, streams: Sequence[StreamTimes], reached: Sequence[int], but: int) -> set[Place]:
    latest = (
        (number, min(bisect_right(stream.ends_ns, at_ns) - 1, reached[number]))
        for number, stream in enumerate(streams)
        if number != but
    )
    return {place for place in latest if place[1] >= 0}


def _without_implied(before: set[Place], implied: Mapping[Place, list[int]]) -> tuple[Place, ...]:
    return tuple(
        sorted(
            (stream, number)
            for stream, number in before
            if not any(implied[other][stream] >= number for other in before if other != (stream, number))
        )
    )
