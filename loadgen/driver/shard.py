"""One worker's part of a load. Pure: it depends only on the numbers."""

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
        worker: The worker's number, from 0.
        workers: The number of workers.
    """

    worker: int = 0
    workers: int = 1

    def of(self, number: int) -> int:
        """How many of a number are this worker's; the first workers take the remainder."""
        return number // self.workers + (self.worker < number % self.workers)

    def out_of(self, things: Iterable[_T]) -> Iterator[_T]:
        """The things that are this worker's: every N-th, from its own number on."""
        return islice(things, self.worker, None, self.workers)
