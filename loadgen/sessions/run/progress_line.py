"""The counters of a session as one line: how far, how fast, how well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.number_text import bar

if TYPE_CHECKING:
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress

PLAIN_WIDTH: Final = 120
_SECOND_NS: Final = 1e9


def progress_line(
    progress: SessionProgress, plan: Plan, now_ns: int, width: int = PLAIN_WIDTH, score: str = ""
) -> str:
    """One line: how far, how fast, how well."""
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
    if score:
        parts.append(f"score {score}")
    parts.append(f"{progress.in_flight} in flight")
    if ttft_ms is not None:
        parts.append(f"TTFT {ttft_ms:.1f} ms")
    parts.append(f"{progress.errors.total()} errors" + _most_common(progress))
    parts.append(f"{elapsed_s:.0f} s")
    whole = "  ".join(parts)
    if len(whole) > width:
        whole = re.sub(r"[█░]+ +", "", whole)
    return whole[:width]


def _share(progress: SessionProgress, plan: Plan, elapsed_s: float) -> float:
    """The part of the plan that is done: of the limit that is nearer."""
    shares = [0.0]
    if plan.sessions is not None:
        shares.append(progress.sessions / plan.sessions)
    elif plan.requests is not None:
        shares.append(progress.ended / plan.requests)
    if plan.duration_s is not None:
        shares.append(elapsed_s / plan.duration_s)
    return min(1.0, max(shares))


def _most_common(progress: SessionProgress) -> str:
    """The most frequent failure, if there is one."""
    worst = progress.errors.most_common(1)
    return f" ({worst[0][0]})" if worst else ""
