"""The profiler of the server under test: started before the measured phase, stopped after the drain.

vLLM and SGLang answer `POST /start_profile` and `POST /stop_profile`, and write the trace on their machine.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from recorder.event import Event, EventType
from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.system.clock import Clock

_START_S: Final = 30.0
_STOP_S: Final = 600.0
"""A server answers when the trace is written, which takes minutes for a large one."""

_REMEDY: Final = (
    "Start vLLM with --profiler-config or VLLM_TORCH_PROFILER_DIR, SGLang with SGLANG_TORCH_PROFILER_DIR; or "
    "omit --server-profile."
)


class ServerProfiler:
    """Runs the profiler of each server; see `loadgen.driver.load_session.PhaseHook`.

    A server without a profiler is a finding and does not stop the run.

    Args:
        targets: The endpoints.
        emit: Logs an event.
        clock: The time.
    """

    def __init__(self, targets: Sequence[Endpoint], emit: Emit, clock: Clock) -> None:
        self._targets = {target.origin: target for target in targets}
        self._emit = emit
        self._clock = clock

    async def before(self, phase: str) -> None:
        """Start the profilers before the measured phase; servers that refuse are not asked again."""
        if phase != "performance":
            return
        failed = await self._ask_all("start_profile", _START_S)
        self._targets = {origin: target for origin, target in self._targets.items() if origin not in failed}
        if self._targets:
            self._find(
                "server_profiled",
                f"The profiler of {', '.join(self._targets)} ran in the measured phase: every figure "
                "contains the overhead.",
                "Measure again without --server-profile for figures that count.",
            )

    async def after(self, phase: str) -> None:
        """Stop the profilers after the drain."""
        if phase == "drain":
            await self._ask_all("stop_profile", _STOP_S)

    async def _ask_all(self, operation: str, timeout_s: float) -> list[str]:
        """Ask each server; return the origins of those that failed, each of which is a finding."""
        asked = (
            asyncio.to_thread(_failure, f"{origin}/{operation}", target, timeout_s)
            for origin, target in self._targets.items()
        )
        failures = dict(zip(self._targets, await asyncio.gather(*asked), strict=True))
        for origin, failure in failures.items():
            if failure is not None:
                message = f"POST {origin}/{operation} failed: {failure}."
                self._find("server_not_profiled", message, _REMEDY)
        return [origin for origin, failure in failures.items() if failure is not None]

    def _find(self, code: str, message: str, remedy: str) -> None:
        finding = {"code": code, "severity": "warning", "message": message, "remedy": remedy}
        self._emit(Event(EventType.FINDING, self._clock.now_ns(), data=finding))


def _failure(url: str, target: Endpoint, timeout_s: float) -> str | None:
    """Send a POST without a body; return the failure, or None for a success."""
    try:
        scrape(ScrapeTarget(url, target.headers, target.verify, timeout_s, "POST"))
    except ScrapeError as error:
        return str(error)
    return None
