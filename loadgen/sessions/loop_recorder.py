"""The recorder of a running event loop: waiting for the disk is reported, and limited."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol

from loadgen.sessions.observer import SILENT, Observer
from recorder.writer import CLOSE_TIMEOUT_S, EventRecorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from loadgen.driver.stop import Stop
    from recorder.event import Event

WARN_AFTER_S: Final = 5.0
"""After this time without progress of the disk a warning is printed, and again after each further one."""

GIVE_UP_AFTER_S: Final = 3.0
"""How long a disk may make no progress while a user who has interrupted twice waits for it."""

PART: Final = 2000
"""The number of events that are queued at once."""

_LOOKS: Final = 20
"""How often it is looked whether to warn, in that time."""

_LOOK_AGAIN_S: Final = 0.001  #: the first request waits for the log


@asynccontextmanager
async def recording(recorder: EventRecorder, stop: Stop, observer: Observer = SILENT) -> AsyncIterator[None]:
    """Create the log, record while the context lasts, and close the log.

    Raises:
        LogExistsError, LogNotMadeError: The log exists, or cannot be created.
        WriterStalledError: The disk does not answer, and waiting for it was ended.
        WriterError: The log could not be written.
    """
    made = recorder.begin()
    warning = asyncio.create_task(_warn(recorder, observer))
    try:
        await _patiently(recorder, made.is_set, stop)
        if not made.is_set():
            recorder.close(patience_s=0)
        recorder.require_made()
        try:
            yield
        finally:
            recorder.finish()
            await _patiently(recorder, lambda: recorder.ended, stop)
    finally:
        warning.cancel()
        recorder.close(patience_s=0)


async def put_all(recorder: EventRecorder, events: Iterable[Event], stop: Stop) -> None:
    """Write many events before anything else happens, a part at a time, so that the queue stays short."""
    for number, event in enumerate(events, 1):
        is_last = number % PART == 0
        recorder.put(event, force_commit=is_last)
        if is_last:
            await _patiently(recorder, lambda: not recorder.waiting, stop)


async def _patiently(recorder: EventRecorder, done: Callable[[], bool], stop: Stop) -> None:
    """Wait for a condition, until waiting has become pointless."""
    while not done():
        patience_s = GIVE_UP_AFTER_S if stop.aborting.is_set() else CLOSE_TIMEOUT_S
        if recorder.stalled_s > patience_s:
            return
        await asyncio.sleep(_LOOK_AGAIN_S)


async def _warn(recorder: EventRecorder, observer: Observer) -> None:
    """Warn when the disk makes no progress."""
    worth_a_word_s = WARN_AFTER_S
    while True:
        await asyncio.sleep(WARN_AFTER_S / _LOOKS)
        stalled_s = recorder.stalled_s
        if stalled_s > worth_a_word_s:
            worth_a_word_s += WARN_AFTER_S
            observer.note(
                f"warning: the disk has not taken anything for {stalled_s:.0f} s; about "
                f"{recorder.unwritten} events wait to be written"
            )
        elif stalled_s < WARN_AFTER_S:
            worth_a_word_s = WARN_AFTER_S


class InFlight(Protocol):
    """A source of the number of requests in flight."""

    @property
    def in_flight(self) -> int:
        """The reported number of requests in flight."""


async def announce_stop(stop: Stop, pool: InFlight, observer: Observer) -> None:
    """Announce the drain, and the way to abort; quietly except after a user's request to stop."""
    await stop.draining.wait()
    if stop.aborting.is_set():
        return
    if stop.reason == "interrupted":
        observer.note(f"stopping: {pool.in_flight} requests in flight; Ctrl-C again abandons them")
    else:
        observer.progress(f"stopping: {pool.in_flight} requests in flight; Ctrl-C abandons them")
