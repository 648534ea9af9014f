"""The health of the load generator: client overhead must never count as the server's delay."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

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
    millisecond late, because its poll counts in milliseconds. For the shares see `CpuTime`.
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


_TASKS: Final = "/proc/self/task"
_NS: Final = 1e9


class CpuTime:
    """The CPU use of this process, over all threads, between two readings."""

    def __init__(self) -> None:
        self._wall_s = time.monotonic()
        self._used_s = time.process_time()
        self._waited_s = waited_s()

    def reading(self) -> dict[str, Any]:
        """The shares since the last reading: `cpu_share`, of one core, and `cpu_wait_share`.

        The latter is the share of the time that threads were ready to run and had no CPU; None where unknown.
        """
        before = self._wall_s, self._used_s, self._waited_s
        self._wall_s, self._used_s, self._waited_s = time.monotonic(), time.process_time(), waited_s()
        wall_s = max(self._wall_s - before[0], 1e-9)
        wait_share = None
        if self._waited_s is not None and before[2] is not None:
            # The wait of a thread that has ended since is not in the sum any more.
            wait_share = round(max(0.0, self._waited_s - before[2]) / wall_s, 3)
        return {"cpu_share": round((self._used_s - before[1]) / wall_s, 3), "cpu_wait_share": wait_share}


def waited_s() -> float | None:
    """How long the threads of this process have waited for a CPU so far; None where the system does not say.

    Linux counts it in the second field of a thread's `schedstat`, in nanoseconds.
    """
    waited_ns: list[int] = []
    with suppress(OSError):
        for task in os.listdir(_TASKS):  # noqa: PTH208 (a worker starts without pathlib)
            with suppress(OSError), open(f"{_TASKS}/{task}/schedstat", "rb") as figures:  # noqa: PTH123 (often)
                waited_ns.append(int(figures.read().split()[1]))
    return sum(waited_ns) / _NS if waited_ns else None
