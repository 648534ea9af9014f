"""A cap on idle time: pauses that move forward together when no request is in flight for too long."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.driver.requests.session_turns import SessionTurns

AHEAD_NS: Final = 100_000_000
"""How long before the end of the cap pauses are moved, so that their requests are made in time."""


class Pause:
    """The pause before a turn.

    Args:
        due_ns: The end.

    Attributes:
        due_ns: The end, which caps move forward.
        moved_ns: How far it has been moved.
    """

    def __init__(self, due_ns: int) -> None:
        self.due_ns = due_ns
        self.moved_ns = 0
        self._is_capped = False
        self._moved = asyncio.Event()

    @contextmanager
    def held_by(self, caps: Sequence[IdleCap], turns: SessionTurns) -> Iterator[None]:
        """Let caps move the pause meanwhile."""
        self._is_capped = bool(caps)
        with ExitStack() as held:
            for cap in caps:
                held.enter_context(cap.holding(self, turns))
            yield

    def move_forward(self, by_ns: int) -> None:
        """End the pause earlier."""
        self.due_ns -= by_ns
        self.moved_ns += by_ns
        self._moved.set()

    async def end(self, turns: SessionTurns, ahead_ns: int = 0) -> str | None:
        """Wait for the end, or a time before it; return why no turn may follow, or None.

        Raises:
            asyncio.CancelledError: There is nothing more to ask.
        """
        if not self._is_capped:
            return await turns.until(self.due_ns - ahead_ns)
        while True:
            self._moved.clear()
            waiting = asyncio.create_task(turns.until(self.due_ns - ahead_ns))
            moving = asyncio.create_task(self._moved.wait())
            try:
                await asyncio.wait((waiting, moving), return_when=asyncio.FIRST_COMPLETED)
                if waiting.done():
                    return waiting.result()
            finally:
                waiting.cancel()
                moving.cancel()


class IdleCap:
    """The cap on the idle time of some sessions.

    Args:
        cap_ns: How long no request may be in flight while a pause is pending.
    """

    def __init__(self, cap_ns: int) -> None:
        self._cap_ns = cap_ns
        self._in_flight = 0
        self._idle_since_ns = 0
        self._pauses: dict[Pause, SessionTurns] = {}
        self._watch: asyncio.Task[None] | None = None

    def began(self) -> None:
        """Note a request that leaves."""
        self._in_flight += 1
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def ended(self, now_ns: int) -> None:
        """Note a request that has ended."""
        self._in_flight -= 1
        self._idle_since_ns = now_ns
        self._look()

    @contextmanager
    def holding(self, pause: Pause, turns: SessionTurns) -> Iterator[None]:
        """Move a pause, while it is pending, together with the others."""
        if not self._pauses:
            self._idle_since_ns = max(self._idle_since_ns, turns.scheduled_ns)
        self._pauses[pause] = turns
        self._look()
        try:
            yield
        finally:
            del self._pauses[pause]

    def _look(self) -> None:
        if self._watch is None and self._pauses and not self._in_flight:
            self._watch = asyncio.create_task(self._watch_idle_time(next(iter(self._pauses.values()))))

    async def _watch_idle_time(self, turns: SessionTurns) -> None:
        try:
            while self._pauses:
                until_ns = self._idle_since_ns + self._cap_ns
                await turns.until(until_ns - min(AHEAD_NS, self._cap_ns))
                self._end_first_at(until_ns)
                await turns.until(until_ns)
                self._idle_since_ns = until_ns
        finally:
            if self._watch is asyncio.current_task():
                self._watch = None

    def _end_first_at(self, at_ns: int) -> None:
        """Move all pauses forward by the same time, so that the first one ends at a moment."""
        by_ns = min((pause.due_ns for pause in self._pauses), default=at_ns) - at_ns
        for pause in self._pauses if by_ns > 0 else ():
            pause.move_forward(by_ns)
