"""The writer's queue: ordered, with a count of queued events and bytes."""

from __future__ import annotations

import math
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from lazy_dataclasses import dataclass, field
from recorder import schema
from recorder.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Batch(NamedTuple):
    """Rows that are ready to be written."""

    rows: Sequence[schema.Row]
    since_s: float
    size: int
    #: Everything that happened before is in this batch or came before it; 0 where that is not said.
    complete_until_ns: int = 0


class Flush:
    """A request to commit everything queued before, and to signal the commit."""

    def __init__(self) -> None:
        self.done = threading.Event()


class StopSentinel(Flush):
    """The sentinel: drains the queue and ends the writer."""


Item = Event | Batch | Flush


@dataclass(slots=True)
class Drained:
    """The events and flushes taken from the queue for one commit."""

    items: list[Event | Batch] = field(default_factory=list)
    flushes: list[Flush] = field(default_factory=list)
    events: int = 0
    #: Since when the first of the batches has waited (monotonic); infinity without batches.
    since_s: float = math.inf
    emptied: bool = False
    complete_until_ns: int = 0  #: the greatest of the batches'; 0 without any


@dataclass(slots=True)
class _Batched:
    """The rows of batches, less one per batch (the queue counts a batch as one), and the bytes of batches.

    Each instance has one thread that writes it.
    """

    rows: int = 0
    size: int = 0

    def count(self, batch: Batch) -> None:
        self.rows += len(batch.rows) - 1
        self.size += batch.size


class Backlog:
    """The queue in front of the writer. Anybody puts events, one thread brings batches, the writer takes."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Item] = SimpleQueue()
        #: Queues an event or a flush; never blocks. It is the queue's own: it is called for every event.
        self.put: Callable[[Event | Flush], None] = self._queue.put
        self._brought, self._taken = _Batched(), _Batched()

    @property
    def events(self) -> int:
        """About how many events wait."""
        return self._queue.qsize() + self._brought.rows - self._taken.rows

    @property
    def size(self) -> int:
        """How many bytes of batches wait."""
        return self._brought.size - self._taken.size

    def put_batch(self, batch: Batch) -> None:
        """Queue a batch. Never blocks."""
        self._brought.count(batch)
        self._queue.put(batch)

    def take(self, patience_s: float) -> Item:
        """Take the first entry, waiting while the queue is empty; raise `queue.Empty` after the timeout."""
        return self._counted(self._queue.get(timeout=patience_s))

    def take_at_once(self) -> Item:
        """Take the first entry, or raise `queue.Empty`."""
        return self._counted(self._queue.get_nowait())

    def take_with(self, first: Item, most_events: int, most_bytes: int) -> Drained:
        """Take the entries queued behind the first, up to a number of events or bytes."""
        taken, item, size = Drained(), first, 0
        while True:
            if isinstance(item, Event):
                taken.items.append(item)
                taken.events += 1
            elif isinstance(item, Batch):
                taken.items.append(item)
                taken.events += len(item.rows)
                taken.since_s = min(taken.since_s, item.since_s)
                taken.complete_until_ns = max(taken.complete_until_ns, item.complete_until_ns)
                size += item.size
            else:
                taken.flushes.append(item)
            if taken.events >= most_events or size >= most_bytes:
                return taken
            try:
                item = self.take_at_once()
            except Empty:
                taken.emptied = True
                return taken

    def _counted(self, item: Item) -> Item:
        if isinstance(item, Batch):
            self._taken.count(item)
        return item


def rows_of(items: Iterable[Event | Batch]) -> list[schema.Row]:
    """Encode the events that are not rows yet."""
    rows: list[schema.Row] = []
    for item in items:
        if isinstance(item, Event):
            rows.append(schema.row(item))
        else:
            rows += item.rows
    return rows
