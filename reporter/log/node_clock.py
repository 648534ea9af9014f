"""The offset of a node's clock, from readings: one shift for a shard, and the uncertainty.

A shard's times are shifted by one number, so that no time between two of them changes. Between readings two
clocks drift apart by at most `recorder.shards.MAX_DRIFT_PPM`, so each reading bounds the offset also at the
moments of the others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from recorder.shards import MAX_DRIFT_PPM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recorder.shards import ClockReading


@dataclass(frozen=True, slots=True)
class NodeClock:
    """A node's clock against the coordinator's.

    Attributes:
        shift_ns: What to add to the node's times.
        uncertainty_ns: At every reading the true offset was no further from `shift_ns`; None without
            readings.
        is_steady: Whether no two readings contradict each other: then one of the clocks was set, or drifted
            faster than the greatest drift.
    """

    shift_ns: int
    uncertainty_ns: int | None
    readings: int
    is_steady: bool = True


def fitted(readings: Sequence[ClockReading]) -> NodeClock | None:
    """One clock for all readings; None without any."""
    if not readings:
        return None
    in_time = sorted(readings, key=lambda reading: reading.at_ns)
    moments = [reading.at_ns for reading in in_time]
    lows = [reading.offset_ns - reading.uncertainty_ns for reading in in_time]
    highs = [reading.offset_ns + reading.uncertainty_ns for reading in in_time]
    greatest = _tightened(moments, highs)
    least = [-high for high in _tightened(moments, [-low for low in lows])]
    is_steady = all(low <= high for low, high in zip(least, greatest, strict=True))
    if not is_steady:
        least, greatest = lows, highs
    shift_ns = (min(least) + max(greatest)) // 2
    return NodeClock(shift_ns, max(greatest) - shift_ns, len(readings), is_steady)


def _tightened(moments: Sequence[int], highs: Sequence[int]) -> list[int]:
    """The upper bound of the offset at each moment, tightened by earlier and later readings."""
    tightened = list(highs)
    places = list(range(len(highs)))
    for order in (places, places[::-1]):
        for before, after in pairwise(order):
            drift_ns = round(abs(moments[after] - moments[before]) * MAX_DRIFT_PPM / 1e6)
            tightened[after] = min(tightened[after], tightened[before] + drift_ns)
    return tightened
