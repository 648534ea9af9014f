"""Ending a session early by counters: a spent error budget, an overloaded endpoint."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from loadgen.driver.stop import ERROR_BUDGET, OVERLOADED

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.overload_detection import OverloadWatch
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock


class EarlyEnd:
    """A watch over the counters of a session, which can end the session."""

    def __init__(
        self, plan: Plan, stop: Stop, emit: Emit, clock: Clock, abort: Callable[[str | None], None]
    ) -> None:
        self._budget = plan.budget
        self._has_positions = plan.warmup_rounds > 0
        self._stop = stop
        self._emit = emit
        self._clock = clock
        self._abort = abort
        self._overload: OverloadWatch | None = None
        if plan.stop_on_overload:
            from loadgen.driver.overload_detection import OverloadWatch

            self._overload = OverloadWatch(plan.load)
        self._grace: asyncio.TimerHandle | None = None

    def look(self, progress: SessionProgress) -> None:
        """Look at new counters, in the running event loop."""
        if self._stop.reason is None and (spent := self._budget.spent(progress)) is not None:
            from loadgen.driver.ending import budget_spent

            self._emit(budget_spent(spent, progress, self._clock.now_ns()))
            self._stop.drain(ERROR_BUDGET)
        if self._has_positions and progress.warmup_failed and self._stop.reason is None:
            from loadgen.driver.incomplete_warmup import end_session

            end_session(progress.warmup_failed, self._stop, self._emit, self._clock.now_ns())
        if self._overload is not None and progress.phase == "performance" and self._stop.reason is None:
            self._heed_overload(self._overload, progress)

    def _heed_overload(self, watch: OverloadWatch, progress: SessionProgress) -> None:
        """End the session when the endpoint falls behind, and soon after abandon requests in flight."""
        from loadgen.driver import overload_detection

        now_ns = self._clock.now_ns()
        seen = watch.look(now_ns, progress.issued, progress.ended)
        if seen is not None:
            self._emit(overload_detection.finding(seen, now_ns))
            self._stop.drain(OVERLOADED)
            later = asyncio.get_running_loop().call_later
            self._grace = later(overload_detection.GRACE_S, self._abort, OVERLOADED)

    def cancel(self) -> None:
        """Give up nothing any more: the session is over."""
        if self._grace is not None:
            self._grace.cancel()
