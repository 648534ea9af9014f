"""What waits for the writer, in order: a queue that knows how many events and how many bytes it holds."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from recorder import schema
from recorder.event import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Batch(NamedTuple):
    """Rows that are ready to be written, since when the first has waited (monotonic), and their bytes."""

    rows: Sequence[schema.Row]
    since_s: float
    size: int


class Flush:
    """Asks the writer to commit what came before it, and to say so."""

    def __init__(self) -> None:
        self.done = threading.Event()


class Stop(Flush):
    """The sentinel: drains the queue and ends the writer."""


Item = Event | Batch | Flush


@dataclass(slots=True)
class _Batched:
    """Counts the rows of batches, less one each, because the queue counts a batch as one; and their bytes.

    Each instance has one thread that writes it.
    """

    rows: int = 0
    size: int = 0

    def count(self, batch: Batch) -> None:
        self.rows += len(batch.rows) - 1
        self.size += batch.size


class Backlog:
    """The queue in front of the writer. Anybody puts events, one thread puts batches, the writer takes."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Item] = SimpleQueue()
        self._brought, self._taken = _Batched(), _Batched()

    @property
    def events(self) -> int:
        """About how many events wait."""
        return self._queue.qsize() + self._brought.rows - self._taken.rows

    @property
    def size(self) -> int:
        """How many bytes of batches wait."""
        return self._brought.size - self._taken.size

    def put(self, item: Item) -> None:
        """Queue something. Never blocks."""
        if isinstance(item, Batch):
            self._brought.count(item)
        self._queue.put(item)

    def take(self) -> Item:
        """Take the first, and wait for it where there is none."""
        return self._counted(self._queue.get())

    def take_at_once(self) -> Item:
        """Take the first.

        Raises:
            queue.Empty: There is none.
        """
        return self._counted(self._queue.get_nowait())

    def _counted(self, item: Item) -> Item:
        if isinstance(item, Batch):
            self._taken.count(item)
        return item


def rows_of(items: Iterable[Event | Batch]) -> list[schema.Row]:
    """Encode what is not a row yet."""
    rows: list[schema.Row] = []
    for item in items:
        if isinstance(item, Event):
            rows.append(schema.row(item))
        else:
            rows += item.rows
    return rows
