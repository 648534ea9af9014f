"""The requests of a phase, and the share of a shard of all workers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of issuing, with requests numbered from 0 over all workers.

    Where samples are conversations, conversations are counted instead of requests.
    """

    name: str  #: `warmup` or `performance`
    start_ns: int
    requests: int | None = None  #: the number of requests; None where only time ends it
    end_ns: int | None = None  #: nothing is scheduled from here on; None where only the count ends it
    #: The number in the session that request 0 has; request k has the k-th after it. Below 0, for a warm-up
    #: that time ends: request k then has the k-th before it. So it goes back through the samples from the
    #: last one on, and reaches the measured ones as late as possible.
    first: int = 0

    def number(self, request: int) -> int:
        """The number in the session of a request of this phase."""
        return self.first + request if self.first >= 0 else self.first - request

    def has(self, request: int) -> bool:
        """Whether the phase has a request of this number."""
        return self.requests is None or request < self.requests

    def is_over(self, at_ns: int) -> bool:
        """Whether the phase has ended at a moment."""
        return self.end_ns is not None and at_ns >= self.end_ns


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of one worker or one node; by default the whole load."""

    worker: int = 0  #: the number of the worker, or of the node, from 0
    workers: int = 1

    def of(self, number: int) -> int:
        """How many of a number are this worker's; the first workers take the remainder."""
        return number // self.workers + (self.worker < number % self.workers)

    def out_of(self, things: Iterable[_T]) -> Iterator[_T]:
        """This worker's part of a sequence: every N-th element, from the worker's number on."""
        return islice(things, self.worker, None, self.workers)

    def part(self, worker: int, workers: int) -> Shard:
        """The part of a worker of this node: neighbouring things are of different nodes."""
        return Shard(worker * self.workers + self.worker, workers * self.workers)


@dataclass(frozen=True, slots=True)
class RequestNumbers:
    """The request numbers of one node's users in a closed loop: in every round of all users, their numbers.

    A node with twice as many users as another takes twice as many numbers, and all nodes together take each
    number once.
    """

    users: int
    node: Shard = Shard()  #: which node; a number of users is its own by `node.of(users)`

    def number(self, claimed: int) -> int:
        """The number that is claimed as the k-th on this node, from 0."""
        if self.node.workers == 1:
            return claimed
        turn, user = divmod(claimed, self.node.of(self.users))
        return turn * self.users + user * self.node.workers + self.node.worker
