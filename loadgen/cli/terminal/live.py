"""The view of a running session, on standard error: one line that is rewritten, or a line every few seconds.

It has a thread of its own, so that a terminal that does not take output holds up nothing, and draws one line
itself: a redraw by rich takes milliseconds of the interpreter, which the requests would have to wait for.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from typing import TYPE_CHECKING, Final, Self

from loadgen.cli.terminal.status_line import StatusLine, bar

if TYPE_CHECKING:
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import Progress

_PLAIN_WIDTH: Final = 120
_SECOND_NS: Final = 1e9


class LiveView:
    """Shows the progress of a session while it is open; a context manager.

    Args:
        progress: What to show.
        plan: Says how much there is to do.
        quiet: Show nothing.
    """

    def __init__(self, progress: Progress, plan: Plan, *, quiet: bool) -> None:
        self._progress = progress
        self._plan = plan
        self._status = StatusLine()
        self._ended = threading.Event()
        self._thread = None if quiet else threading.Thread(target=self._run, name="live-view", daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        with self._status as status:
            while not self._ended.wait(status.interval_s):
                width = shutil.get_terminal_size().columns - 1 if status.is_terminal else _PLAIN_WIDTH
                status.write(line(self._progress, self._plan, time.monotonic_ns(), width))


def line(progress: Progress, plan: Plan, now_ns: int, width: int = _PLAIN_WIDTH) -> str:
    """One line: how far, how fast, how well.

    Args:
        progress: The counters.
        plan: What there is to do.
        now_ns: The time, CLOCK_MONOTONIC.
        width: The most characters; the bar goes first, then what stands last.
    """
    elapsed_s = (
        max((now_ns - progress.phase_started_ns) / _SECOND_NS, 1e-9) if progress.phase_started_ns else 0.0
    )
    ttft_ms = progress.ttft_ms()
    parts = [f"{progress.phase:<11}"]
    if progress.phase == "performance":
        parts.append(bar(_share(progress, plan, elapsed_s)))
    parts.append(f"{progress.completed} done")
    if progress.phase == "performance":
        parts.append(f"{progress.ended / elapsed_s:.1f}/s")
    parts.append(f"{progress.in_flight} in flight")
    if ttft_ms is not None:
        parts.append(f"TTFT {ttft_ms:.1f} ms")
    parts.append(f"{progress.errors.total()} errors" + _most_common(progress))
    parts.append(f"{elapsed_s:.0f} s")
    whole = "  ".join(parts)
    if len(whole) > width:
        whole = re.sub(r"[█░]+ +", "", whole)
    return whole[:width]


def _share(progress: Progress, plan: Plan, elapsed_s: float) -> float:
    """The part of the plan that is done: of the limit that is nearer."""
    shares = [0.0]
    if plan.sessions is not None:
        shares.append(progress.sessions / plan.sessions)
    elif plan.requests is not None:
        shares.append(progress.ended / plan.requests)
    if plan.duration_s is not None:
        shares.append(elapsed_s / plan.duration_s)
    return min(1.0, max(shares))


def _most_common(progress: Progress) -> str:
    """The most frequent failure, if there is one."""
    worst = progress.errors.most_common(1)
    return f" ({worst[0][0]})" if worst else ""
