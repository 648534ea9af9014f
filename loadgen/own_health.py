"""How the load generator itself is doing: its own delay must never pass for the server's."""

from __future__ import annotations

import asyncio
import gc
import time
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Self

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.progress import Progress
    from loadgen.turn import Emit

INTERVAL_S: Final = 1.0
_TICK_S: Final = 0.05
_NS_PER_MS: Final = 1e6


class GcPauses:
    """Measures the collector's pauses; a context manager.

    Attributes:
        longest_ms: The longest since it was last set to 0.
    """

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._started_ns = 0

    def __enter__(self) -> Self:
        gc.callbacks.append(self._on_gc)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._on_gc)

    def _on_gc(self, phase: str, _info: dict[str, Any]) -> None:
        now_ns = time.monotonic_ns()
        if phase == "start":
            self._started_ns = now_ns
        else:
            self.longest_ms = max(self.longest_ms, (now_ns - self._started_ns) / _NS_PER_MS)


async def watch(emit: Emit, progress: Progress) -> None:
    """Emit a TELEMETRY event with source `client` every second, until cancelled.

    `loop_lag` is how much later than asked the event loop runs a timer of 50 ms; an idle loop is up to a
    millisecond late, because its poll counts in milliseconds. `cpu_share` is of one core, over all threads.
    """
    with GcPauses() as pauses:
        while True:
            second = Second(pauses)
            try:
                await second.pass_by()
            finally:
                # The last one is cut short, and counts all the same.
                if second.lags_ms:
                    emit(Event(EventType.TELEMETRY, time.monotonic_ns(), data=second.reading(progress)))


class Second:
    """One interval of watching.

    Args:
        pauses: Knows what the collector did; its longest pause starts anew.

    Attributes:
        lags_ms: How late each timer was.
    """

    def __init__(self, pauses: GcPauses) -> None:
        self.lags_ms: list[float] = []
        self._pauses = pauses
        self._pauses.longest_ms = 0.0
        self._wall_s = time.monotonic()
        self._cpu_s = time.process_time()

    async def pass_by(self) -> None:
        """Let the interval pass, one tick after the other."""
        loop = asyncio.get_running_loop()
        while time.monotonic() - self._wall_s < INTERVAL_S:
            due_s = loop.time() + _TICK_S
            await asyncio.sleep(_TICK_S)
            self.lags_ms.append(max(0.0, loop.time() - due_s) * 1e3)

    def reading(self, progress: Progress) -> dict[str, Any]:
        """The TELEMETRY payload."""
        wall_s, cpu_s = time.monotonic() - self._wall_s, time.process_time() - self._cpu_s
        return {
            "source": "client",
            "loop_lag_p50_ms": round(median(self.lags_ms), 3),
            "loop_lag_max_ms": round(max(self.lags_ms), 3),
            "cpu_share": round(cpu_s / wall_s, 3),
            "gc_pause_max_ms": round(self._pauses.longest_ms, 3),
            "in_flight": progress.in_flight,
        }
