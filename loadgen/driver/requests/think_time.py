"""The pauses of users: lengths, and users in a pause."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from loadgen.driver.system.clock import Clock
    from workloads.distribution_notation import Sampler

_SECOND: Final = 1_000_000_000


class ThinkTime:
    """Pauses between an answer and the next question."""

    def __init__(self, spec: str | None, seed: int, clock: Clock) -> None:
        self._always_ns, self._draw = (0, None) if spec is None else _read(spec)
        self.some = self._always_ns != 0
        self._seed = seed
        self._clock = clock
        self._thinkers: set[asyncio.Task[Any]] = set()

    def pause_ns(self, number: int, turn: int) -> int:
        """The length of the pause after a turn: independent of worker and order."""
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
