"""The note that a session is stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from loadgen.driver.stop import Stop
    from loadgen.sessions.observer import Observer


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
