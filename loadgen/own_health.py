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
    loop = asyncio.get_running_loop()
    with GcPauses() as pauses:
        while True:
            wall, cpu, lags_ms = time.monotonic(), time.process_time(), []
            while time.monotonic() - wall < INTERVAL_S:
                due = loop.time() + _TICK_S
                await asyncio.sleep(_TICK_S)
                lags_ms.append(max(0.0, loop.time() - due) * 1e3)
            reading = {
                "source": "client",
                "loop_lag_p50_ms": round(median(lags_ms), 3),
                "loop_lag_max_ms": round(max(lags_ms), 3),
                "cpu_share": round((time.process_time() - cpu) / (time.monotonic() - wall), 3),
                "gc_pause_max_ms": round(pauses.longest_ms, 3),
                "in_flight": progress.in_flight,
            }
            pauses.longest_ms = 0.0
            emit(Event(EventType.TELEMETRY, time.monotonic_ns(), data=reading))
