"""A pool of graders, each with a thread for results.

Graders are processes of this machine, or of the nodes of a cluster.
"""

from __future__ import annotations

import threading
import time
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, Protocol, Self

from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from loadgen.sessions.scoring.grader import Result
    from loadgen.sessions.scoring.grading_work import Grading

TICK_S: Final = 0.25
"""How often an empty list of results is given, so that the caller can show that it waits."""

BATCHES_A_GRADER: Final = 2
"""Batches per grader: one in work, and the next one."""

FIRST_BATCH: Final = 8
MOST_AT_ONCE: Final = 256
BATCH_S: Final = 0.05
"""The time that a batch should take: little to repeat if the grader is lost, and few messages."""


class GraderLostError(SetupError):
    """A grader and its machine are gone: the batch has no results."""


class Grader(Protocol):
    """Grades one batch at a time."""

    def grade(self, batch: Sequence[Grading], give: Callable[[list[Result]], None]) -> None:
        """Grade a batch; pass results on as soon as available.

        Raises:
            GraderLostError: It has gone; nothing of the batch was passed on.
            SetupError, ExtraError: It cannot grade here; the message says why.
        """

    def kill(self) -> None:
        """Abandon the grading in progress."""

    def close(self) -> None:
        """End an idle grader."""


class Pool:
    """Graders that share the work; a context manager that ends the graders."""

    def __init__(self, graders: Sequence[Grader]) -> None:
        self._graders = graders
        self._left = len(graders)
        self._todo: SimpleQueue[list[Grading] | None] = SimpleQueue()
        self._done: SimpleQueue[list[Result] | Exception | None] = SimpleQueue()
        self._closing = threading.Event()
        self._losing = threading.Lock()
        self._pace_s = 0.0
        self._threads = [
            threading.Thread(target=self._serve, args=(grader,), name=f"grading-{number}", daemon=True)
            for number, grader in enumerate(graders)
        ]

    def results(self, gradings: Iterator[Grading]) -> Iterator[list[Result]]:
        """Grade, and yield results in any order, sometimes an empty list.

        Raises:
            SetupError: A process does not start.
            ExtraError: A grader needs a package, or a model, that is missing.
            GraderLostError: No grader is left.
        """
        for thread in self._threads:
            thread.start()
        out = 0
        while True:
            while out < BATCHES_A_GRADER * len(self._threads) and (batch := self._batch(gradings)):
                self._todo.put(batch)
                out += 1
            if not out:
                return
            try:
                came = self._done.get(timeout=TICK_S)
            except Empty:
                came = []
            if isinstance(came, Exception):
                raise came
            if came is None:
                out -= 1
            else:
                yield came

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        begun = [thread for thread in self._threads if thread.ident is not None]
        for _ in begun:
            self._todo.put(None)
        while any(thread.is_alive() for thread in begun):
            # Idle graders end by themselves; busy ones are killed if their results are not wanted any more.
            for grader in self._graders if error else ():
                grader.kill()
            for thread in begun:
                thread.join(TICK_S / len(begun))

    def _batch(self, gradings: Iterator[Grading]) -> list[Grading]:
        batch_size = max(1, min(MOST_AT_ONCE, int(BATCH_S / self._pace_s))) if self._pace_s else FIRST_BATCH
        return list(islice(gradings, batch_size))

    # In the thread of a grader…

    def _serve(self, grader: Grader) -> None:
        try:
            while (batch := self._todo.get()) is not None and not self._closing.is_set():
                since = time.monotonic()
                try:
                    grader.grade(batch, self._done.put)
                except GraderLostError as error:
                    self._lose(batch, error)
                    return
                self._pace_s = (time.monotonic() - since) / len(batch)
                self._done.put(None)
        except Exception as error:  # noqa: BLE001 (raised again where the results are waited for)
            self._done.put(error)
        finally:
            grader.close()

    def _lose(self, batch: list[Grading], error: GraderLostError) -> None:
        """Leave the batch of a grader that is gone to the others, if there are any."""
        with self._losing:
            self._left -= 1
            if self._left:
                self._todo.put(batch)
            else:
                self._done.put(error)
