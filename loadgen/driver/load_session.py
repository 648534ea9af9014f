"""A whole session: the phases in order. Workers issue requests; the session controls the phases."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen.driver.phase import Phase
from loadgen.driver.stop import DRAIN_OVER
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock

_SECOND: Final = 1_000_000_000


class WorkerGroup(Protocol):
    """The issuer of requests: one process or several (`loadgen.driver.workers.pool.WorkerPool`).

    Attributes:
        lead_ns: How long before its start a phase must be announced, so that no worker starts late.
    """

    progress: SessionProgress

    @property
    def lead_ns(self) -> int:
        """See above."""

    async def issue(self, phase: Phase) -> int:
        """Issue a phase from the start until a limit or a stop; return the number of scheduled requests."""

    async def settle(self) -> None:
        """Await everything that is in flight."""

    def stop(self) -> None:
        """Stop issuing."""

    def abort(self, reason: str | None = None) -> None:
        """Cancel requests in flight; the log keeps the reason, by default an interrupt."""


class PhaseHook(Protocol):
    """Work around the phases, such as requests that steer the server."""

    async def before(self, phase: str) -> None:
        """Prepare a phase; the phase starts when this returns."""

    async def after(self, phase: str) -> None:
        """Follow a phase that has ended."""


class LoadSession:
    """Runs a plan."""

    def __init__(
        self,
        plan: Plan,
        pool: WorkerGroup,
        emit: Emit,
        clock: Clock,
        stop: Stop,
        hooks: Sequence[PhaseHook] = (),
    ) -> None:
        self._plan = plan
        self._pool = pool
        self._emit = emit
        self._clock = clock
        self._stop = stop
        self._hooks = hooks
        self._drain_over = False

    async def run(self) -> None:
        """Run every phase; return when the last request has ended."""
        self._tell(EventType.TEST_STARTED)
        heeding = asyncio.create_task(self._heed_stops())
        try:
            if self._plan.warmup or self._plan.warmup_s is not None:
                await self._warm_up()
            await self._measure()
            await self._drain()
        finally:
            heeding.cancel()
        self._tell(EventType.TEST_ENDED, reason=self._stop.reason or "completed")

    async def _warm_up(self) -> None:
        duration_s = self._plan.warmup_s
        requests = self._plan.warmup if duration_s is None else None
        start_ns = await self._start_phase(
            "warmup", self._pool.lead_ns, duration_s=duration_s, requests=requests
        )
        first = 0 if self._plan.first or self._plan.warmup_rounds else -1
        for _ in range(self._plan.warmup_rounds or 1):
            start_ns = max(start_ns, self._clock.now_ns())
            await self._issue(Phase("warmup", start_ns, requests, _later(start_ns, duration_s), first))
            await self._pool.settle()
        await self._end_phase("warmup")

    async def _measure(self) -> None:
        duration_s, requests = self._plan.duration_s, self._plan.count
        start_ns = await self._start_phase(
            "performance",
            self._pool.lead_ns,
            duration_s=duration_s,
            requests=self._plan.requests,
            sessions=self._plan.sessions,
        )
        phase = Phase("performance", start_ns, requests, _later(start_ns, duration_s), self._plan.first)
        scheduled = await self._issue(phase)
        self._tell(EventType.STOP_PERFORMANCE_TRACKING, reason=self._why_over(phase), scheduled=scheduled)
        await self._end_phase("performance")

    async def _drain(self) -> None:
        """Await requests in flight up to the drain's limit; log the requests never issued or cancelled."""
        start_ns = await self._start_phase("drain")
        progress = self._pool.progress
        bounding = asyncio.create_task(self._bound_drain(start_ns))
        await self._pool.settle()
        bounding.cancel()
        await asyncio.gather(bounding, return_exceptions=True)
        if self._drain_over and progress.given_up:
            from loadgen.driver.ending import drain_over

            self._find(drain_over(progress.given_up, self._plan.drain_s or 0.0))
        if progress.cut:
            from loadgen.driver.ending import conversations_cut

            self._find(conversations_cut(progress.cut, progress.never_asked, progress.sessions))
        await self._end_phase("drain")

    async def _bound_drain(self, start_ns: int) -> None:
        if (drain_s := self._plan.drain_s) is not None:
            await self._clock.sleep_until(start_ns + round(drain_s * _SECOND))
            self._drain_over = True
            self._pool.abort(DRAIN_OVER)

    async def _start_phase(self, phase: str, lead_ns: int = 0, **data: Any) -> int:
        for hook in self._hooks:
            await hook.before(phase)
        start_ns = self._clock.now_ns() + lead_ns
        self._emit(Event(EventType.PHASE_STARTED, start_ns, data={"phase": phase, **data}))
        self._pool.progress.phase = phase
        self._pool.progress.phase_started_ns = start_ns
        return start_ns

    async def _end_phase(self, phase: str) -> None:
        self._tell(EventType.PHASE_ENDED, phase=phase)
        for hook in self._hooks:
            await hook.after(phase)

    async def _issue(self, phase: Phase) -> int:
        """Issue a phase, unless the session is to end; return how many requests were scheduled."""
        scheduled = 0 if self._stop.draining.is_set() else await self._pool.issue(phase)
        # A phase that was announced ahead does not end before it starts.
        await self._clock.sleep_until(phase.start_ns)
        return scheduled

    def _why_over(self, phase: Phase) -> str:
        return "duration" if phase.is_over(self._clock.now_ns()) else self._stop.reason or "requests"

    async def _heed_stops(self) -> None:
        await self._stop.draining.wait()
        self._pool.stop()
        await self._stop.aborting.wait()
        self._pool.abort()

    def _find(self, finding: Mapping[str, Any]) -> None:
        self._emit(Event(EventType.FINDING, self._clock.now_ns(), data=finding))

    def _tell(self, kind: EventType, **data: Any) -> None:
        self._emit(Event(kind, self._clock.now_ns(), data=data or None))


def _later(start_ns: int, duration_s: float | None) -> int | None:
    return None if duration_s is None else start_ns + round(duration_s * _SECOND)
