"""The health of the load generator: client overhead must never count as the server's delay."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.system.cpu_time import CpuTime
from loadgen.driver.system.memory import GcPauses
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from loadgen.driver.requests.turn import Emit

INTERVAL_S: Final = 1.0
_TICK_S: Final = 0.05

FEWEST_TICKS: Final = 10
"""How many ticks a median needs: in a run of 60 ms one late tick would be the median."""


async def watch(emit: Emit, more: Callable[[], Mapping[str, Any]]) -> None:
    """Emit a TELEMETRY event of source `client` every second, until cancelled.

    `loop_lag` is how much later than asked the event loop runs a timer of 50 ms; an idle loop is up to a
    millisecond late, because its poll counts in milliseconds. For the shares see `system/cpu_time.py`.
    """
    cpu = CpuTime()
    with GcPauses() as pauses:
        while True:
            lags_ms: list[float] = []
            pauses.longest_ms = 0.0
            try:
                await _second(lags_ms)
            finally:
                # The last second is cut short, and counts too.
                if lags_ms:
                    data = {
                        "source": "client",
                        **loop_lag(lags_ms),
                        "gc_pause_max_ms": round(pauses.longest_ms, 3),
                        **cpu.reading(),
                        **more(),
                    }
                    emit(Event(EventType.TELEMETRY, time.monotonic_ns(), data=data))


def loop_lag(lags_ms: Iterable[float]) -> dict[str, float]:
    """The lateness of the ticks of an event loop: the maximum, and a median where there are enough."""
    ordered = sorted(lags_ms)
    longest = {"loop_lag_max_ms": round(ordered[-1], 3)}
    if len(ordered) < FEWEST_TICKS:
        return longest
    return {"loop_lag_p50_ms": round(ordered[len(ordered) // 2], 3), **longest}


async def watch_parent(emit: Emit) -> None:
    """Emit a TELEMETRY event of source `parent` every second, until cancelled."""
    cpu = CpuTime()
    while True:
        started_s = time.monotonic()
        try:
            await asyncio.sleep(INTERVAL_S)
        finally:
            # A share of a very short time is meaningless.
            if time.monotonic() - started_s > _TICK_S:
                data = {"source": "parent", **cpu.reading()}
                emit(Event(EventType.TELEMETRY, time.monotonic_ns(), data=data))


async def _second(lags_ms: list[float]) -> None:
    """Let a second pass, one tick after the other, and note how late each was."""
    loop = asyncio.get_running_loop()
    end_s = time.monotonic() + INTERVAL_S
    while time.monotonic() < end_s:
        due_s = loop.time() + _TICK_S
        await asyncio.sleep(_TICK_S)
        lags_ms.append(max(0.0, loop.time() - due_s) * 1e3)
