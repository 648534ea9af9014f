"""The window: the span of time that throughput is counted over.

Latencies are about every measured request that completed, also in the drain after the window: to leave out
what the window's end interrupted would leave out the slow ones. Rates need a span, and this is it.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass
from reporter.log.sql_files import quoted
from reporter.report import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["duration", "requests", "cut_off", "running"]
"""Of a run's own window; definitions may name another one (`reporter.windows.rate_window`)."""

ENDED_EARLY: Final = frozenset({"overloaded", "gate_lost"})
"""What ends a run and then gives up what is in flight: its last completion says nothing of its rate."""

TIMER_NS: Final = 1_000_000
"""How much too early the timer that ends a duration may go off."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The moments of a segment that determine the window, in ns; None for moments that never came.

    Attributes:
        ended: `completed`, what else ended it (such as `interrupted`), or, for a log without TEST_ENDED,
            `running` or `cut_off`.
        started_ns: PHASE_STARTED of the performance phase.
        duration_s: The duration that was asked for.
        stopped_ns: STOP_PERFORMANCE_TRACKING: issuing ended.
        last_event_ns: The last that the log knows of.
    """

    ended: str
    started_ns: int | None
    duration_s: float | None
    stopped_ns: int | None
    first_issue_ns: int | None
    last_completion_ns: int | None
    last_end_ns: int | None
    last_event_ns: int | None

    @property
    def issuing(self) -> tuple[int, int] | None:
        """From when to when measured requests were issued, as far as is known; None if that never began."""
        until_ns = self.last_event_ns if self.stopped_ns is None else self.stopped_ns
        return None if self.started_ns is None or until_ns is None else (self.started_ns, until_ns)


def window(run: Timeline) -> Window:
    """Decide the window.

    - A run that is running or was cut off: from the first issue to the last event, or to where its duration
      ended.
    - A duration that was used up, or that an interrupt or a lost worker shortened, and any run that overload
      or a lost gate ended: from the start of the performance phase, for that duration, or until issuing
      stopped.
    - Else, also where the requests ran out before the duration: from the first issue to the last completion
      (to the last failure where nothing completed).
    """
    kind, start_ns, end_ns = _span(run)
    if run.first_issue_ns is None or start_ns is None or end_ns is None:
        return Window(kind, None, None, None)
    return Window(kind, (end_ns - start_ns) / 1e9, start_ns, end_ns)


def together(windows: Sequence[Window]) -> Window:
    """The windows of all segments as one, as long as their sum: gaps do not count.

    Its kind is that of the last segment.
    """
    kind = windows[-1].kind if windows else "cut_off"
    spans = [window for window in windows if window.duration_s is not None]
    if not spans:
        return Window(kind, None, None, None)
    duration_s = sum(span.duration_s or 0.0 for span in spans)
    return Window(kind, duration_s, spans[0].start_ns, spans[-1].end_ns)


def windows_sql(windows: Sequence[Window], whole: Window) -> str:
    """SQL that puts windows in the place of a run's own, for the views of a connection."""
    rows = [f"({segment}, {_values(part)})" for segment, part in enumerate(windows, start=1)]
    listed = ", ".join(rows) or f"(NULL, {_values(whole)})"
    return (
        f"CREATE OR REPLACE TEMP TABLE windows AS FROM (VALUES {listed})\n"
        "    AS windows(segment, kind, duration_s, start_ns, end_ns);\n"
        f"CREATE OR REPLACE TEMP TABLE measured_window AS FROM (VALUES ({_values(whole)}))\n"
        "    AS whole(kind, duration_s, start_ns, end_ns);\n"
    )


def _values(part: Window) -> str:
    duration = "NULL" if part.duration_s is None else f"'{part.duration_s!r}'"
    times = ("NULL" if time_ns is None else str(time_ns) for time_ns in (part.start_ns, part.end_ns))
    return ", ".join((quoted(part.kind), f"{duration}::DOUBLE", *(f"{time}::BIGINT" for time in times)))


def issuing_s(runs: Sequence[Timeline]) -> float | None:
    """For how long measured requests were issued, in all segments together; None where that never began."""
    spans = [(run, *run.issuing) for run in runs if run.issuing]
    if not spans:
        return None
    return sum((_until_ns(run, until_ns) - since_ns) / 1e9 for run, since_ns, until_ns in spans)


def _until_ns(run: Timeline, until_ns: int) -> int:
    """The end of issuing: at the requested duration, if the timer ended the issuing."""
    due_ns = _due_ns(run)
    return until_ns if due_ns is None or until_ns < due_ns - TIMER_NS else due_ns


def _span(run: Timeline) -> tuple[Kind, int | None, int | None]:
    due_ns = _due_ns(run)
    if run.ended in {"cut_off", "running"}:
        return (
            "running" if run.ended == "running" else "cut_off",
            run.first_issue_ns,
            _earliest(run.last_event_ns, due_ns),
        )
    if due_ns is not None and (run.stopped_ns is None or run.stopped_ns >= due_ns - TIMER_NS):
        return "duration", run.started_ns, due_ns
    if run.ended in ENDED_EARLY or (due_ns is not None and run.ended != "completed"):
        return "duration", run.started_ns, run.stopped_ns
    last_ns = run.last_end_ns if run.last_completion_ns is None else run.last_completion_ns
    return "requests", run.first_issue_ns, last_ns


def _due_ns(run: Timeline) -> int | None:
    if run.started_ns is None or run.duration_s is None or not isfinite(run.duration_s):
        return None
    return run.started_ns + round(run.duration_s * 1e9)


def _earliest(*moments: int | None) -> int | None:
    return min((moment for moment in moments if moment is not None), default=None)
