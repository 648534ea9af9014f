"""The pauses of users: lengths, and users in a pause."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from loadgen.driver.system.clock import Clock
    from workloads.distribution_notation import Sampler

_SECOND: Final = 1_000_000_000
PACE: Final = "every:"
"""The prefix of a time from request to request, rather than from an answer to the next request."""


class ThinkTime:
    """Pauses between an answer and the next question, or the pace of a user's requests.

    Attributes:
        some: Whether a user pauses at all.
        is_pace: Whether lengths are from request to request.
    """

    def __init__(self, spec: str | None, seed: int, clock: Clock) -> None:
        self.is_pace = spec is not None and spec.startswith(PACE)
        self._always_ns, self._draw = (0, None) if spec is None else _read(spec.removeprefix(PACE))
        self.some = self._always_ns != 0
        self._seed = seed
        self._clock = clock
        self._thinkers: set[asyncio.Task[Any]] = set()

    def due_ns(self, number: int, turn: int, last_due_ns: int) -> int:
        """The time at which the request after a turn is due, now that the turn is over.

        With a pace that is one length after the turn was due, or now.
        """
        now_ns, length_ns = self._clock.now_ns(), self.length_ns(number, turn)
        return max(now_ns, last_due_ns + length_ns) if self.is_pace else now_ns + length_ns

    def length_ns(self, number: int, turn: int) -> int:
        """The length of the pause after a turn, or of the pace: independent of worker and order."""
        if self._draw is None:
            return self._always_ns
        return round(self._draw(Random(f"{self._seed}/{number}/{turn}")) * _SECOND)  # noqa: S311 (no secret)

    async def until(self, due_ns: int) -> None:
        """Pause until a moment; raise CancelledError when no question is left."""
        thinker = asyncio.current_task()
        assert thinker is not None  # noqa: S101 (who awaits is a task)
        self._thinkers.add(thinker)
        try:
            await self._clock.sleep_until(due_ns)
        finally:
            self._thinkers.discard(thinker)

    def end(self) -> None:
        """End all pauses: no question is left."""
        for thinker in tuple(self._thinkers):
            thinker.cancel()


def _read(spec: str) -> tuple[int, Sampler | None]:
    """A constant pause in ns, or a sampler of seconds; few loads have pauses."""
    from workloads.distribution_notation import Constant, duration

    draw = duration(spec)
    return (round(draw.value * _SECOND), None) if isinstance(draw, Constant) else (-1, draw)
