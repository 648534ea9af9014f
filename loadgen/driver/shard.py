"""What one worker does of a load that several share. Pure: it depends on nothing but the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Shard:
    """One worker's part; by default all of it.

    Attributes:
        worker: Which one, from 0.
        workers: Of how many.
    """

    worker: int = 0
    workers: int = 1

    def of(self, number: int) -> int:
        """How many of so many are this worker's; the first workers take what does not divide."""
        return number // self.workers + (self.worker < number % self.workers)

    def out_of(self, things: Iterable[_T]) -> Iterator[_T]:
        """Which things are this worker's: every N-th, from its own number on."""
        return islice(things, self.worker, None, self.workers)
