"""The timer queue: a calendar with slots of 65 us.

A slot is handed out when it is over, its entries in the order in which they are due. So nothing is early, and
everything is up to 65 us late; at 100,000 things per second one wake-up does several. An entry costs the same
however many there are.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, Generic, TypeVar

_E = TypeVar("_E", bound=tuple[int, int, *tuple[object, ...]])
"""What is kept: begins with when it is due, in ns, and a number that no other has."""

_SLOT: Final = 16
"""The width of a slot: 2**16 ns."""


class TimerQueue(Generic[_E]):
    """A queue of entries by due time."""

    def __init__(self) -> None:
        self._slots: dict[int, list[_E]] = {}
        self._order: list[int] = []

    def add(self, entry: _E) -> None:
        """Queue an entry until the due time."""
        number = entry[0] >> _SLOT
        slot = self._slots.get(number)
        if slot is None:
            self._slots[number] = [entry]
            heappush(self._order, number)
        else:
            slot.append(entry)

    def take(self, now_ns: int) -> list[_E]:
        """Take the entries of the earliest slot, in order; nothing when that is not over yet."""
        if not self._order or self._order[0] >= now_ns >> _SLOT:
            return []
        entries = self._slots.pop(heappop(self._order))
        entries.sort()
        return entries

    def next_ns(self) -> int | None:
        """When there will be something to take; None while there is nothing."""
        return self._order[0] + 1 << _SLOT if self._order else None
