"""Intervals that overlap, on as few lanes as there are at a time."""

from __future__ import annotations

from heapq import heappop, heappush


class Lanes:
    """Gives each interval the lowest lane that is free."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []
        self._free: list[int] = []
        self._count = 0

    def take(self, start: int, end: int | None) -> int:
        """Put an interval on a lane.

        Args:
            start: Not earlier than that of the interval before.
            end: When the lane is free again; None for never.

        Returns:
            The lane, from 0.
        """
        while self._busy and self._busy[0][0] <= start:
            heappush(self._free, heappop(self._busy)[1])
        if self._free:
            lane = heappop(self._free)
        else:
            lane = self._count
            self._count += 1
        if end is not None:
            heappush(self._busy, (end, lane))
        return lane
