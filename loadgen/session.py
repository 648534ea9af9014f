"""A whole session: its phases, one after the other. A crew issues; the session says when and what."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen.phase import Phase
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.clock import Clock
    from loadgen.plan import Plan
    from loadgen.progress import Progress
    from loadgen.stop import Stop
    from loadgen.turn import Emit

_SECOND: Final = 1_000_000_000


class Crew(Protocol):
    """Who issues the requests: one process or several (`loadgen.workers.crew.ProcessCrew`).

    Attributes:
        progress: Counters for the live view.
        lead_ns: How long before its start a phase must be announced, so that nobody starts late.
    """

    progress: Progress

    @property
    def lead_ns(self) -> int:
        """See above."""

    async def issue(self, phase: Phase) -> int:
        """Issue a phase from its start until a limit is reached or a stop; return how many were scheduled."""

    async def settle(self) -> None:
        """Await everything that is in flight."""

    def stop(self) -> None:
        """Issue nothing more."""

    def abort(self) -> None:
        """Give up what is in flight."""


class Session:
    """Runs a plan.

    Args:
        plan: What to do.
        crew: Issues the requests.
        emit: Where session events go.
        clock: The time.
        stop: Says when to end early.
    """

    def __init__(self, plan: Plan, crew: Crew, emit: Emit, clock: Clock, stop: Stop) -> None:
        self._plan = plan
        self._crew = crew
        self._emit = emit
        self._clock = clock
        self._stop = stop

    async def run(self) -> None:
        """Run every phase; return when the last request is over."""
        self._tell(EventType.TEST_STARTED)
        heeding = asyncio.create_task(self._heed_stops())
        try:
            if self._plan.warmup:
                await self._warm_up()
            await self._measure()
            await self._drain()
        finally:
            heeding.cancel()
        self._tell(EventType.TEST_ENDED, reason=self._stop.reason or "completed")

    # The phases…

    async def _warm_up(self) -> None:
        requests = self._plan.warmup
        start_ns = self._start_phase("warmup", self._crew.lead_ns, requests=requests)
        await self._issue(Phase("warmup", start_ns, requests))
        await self._crew.settle()
        self._tell(EventType.PHASE_ENDED, phase="warmup")

    async def _measure(self) -> None:
        duration_s, requests = self._plan.duration_s, self._plan.requests
        start_ns = self._start_phase(
            "performance",
            self._crew.lead_ns,
            duration_s=duration_s,
            requests=requests,
        )
        end_ns = None if duration_s is None else start_ns + round(duration_s * _SECOND)
        phase = Phase("performance", start_ns, requests, end_ns, first_sample=self._plan.warmup)
        scheduled = await self._issue(phase)
        self._tell(EventType.STOP_PERFORMANCE_TRACKING, reason=self._why_over(phase), scheduled=scheduled)
        self._tell(EventType.PHASE_ENDED, phase="performance")

    async def _drain(self) -> None:
        self._start_phase("drain")
        await self._crew.settle()
        self._tell(EventType.PHASE_ENDED, phase="drain")

    def _start_phase(self, phase: str, lead_ns: int = 0, **data: Any) -> int:
        start_ns = self._clock.now_ns() + lead_ns
        self._emit(Event(EventType.PHASE_STARTED, start_ns, data={"phase": phase, **data}))
        self._crew.progress.phase = phase
        self._crew.progress.phase_started_ns = start_ns
        return start_ns

    async def _issue(self, phase: Phase) -> int:
        """Have a phase issued, unless everything is to end; return how many requests were scheduled."""
        scheduled = 0 if self._stop.draining.is_set() else await self._crew.issue(phase)
        # A phase that was announced ahead does not end before it starts.
        await self._clock.sleep_until(phase.start_ns)
        return scheduled

    def _why_over(self, phase: Phase) -> str:
        return "duration" if phase.is_over(self._clock.now_ns()) else self._stop.reason or "requests"

    async def _heed_stops(self) -> None:
        await self._stop.draining.wait()
        self._crew.stop()
        await self._stop.aborting.wait()
        self._crew.abort()

    def _tell(self, kind: EventType, **data: Any) -> None:
        self._emit(Event(kind, self._clock.now_ns(), data=data or None))
