"""The span that rates are counted over, where the definitions name another one than the run's own window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import all_figures
from reporter.report import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog
    from reporter.report import SteadyState
    from rulesets.definitions import WindowKind

OFFLINE: Final = "offline"

_RATES: Final = """\
SELECT
    completions / duration_s AS requests_per_s,
    if(n = 0, coalesce(output_tokens, 0), output_tokens) / duration_s AS output_tokens_per_s,
    output_tokens_per_s + if(n = 0, coalesce(input_tokens, 0), input_tokens) / duration_s
        AS total_tokens_per_s,
    n
FROM measured_window, (
    SELECT
        count(*) FILTER (completed) AS n,
        count(*) FILTER (in_window){first} AS completions,
        sum(input_tokens) AS input_tokens,
        sum_of_tokens(output_tokens) AS output_tokens
    FROM arrived{where}
)"""


def over_defined_window(
    log: OpenLog, kind: WindowKind, steady: SteadyState | None, load: str | None
) -> OpenLog:
    """The log with rates over the window named by the definitions.

    Args:
        log: With the run's own window.
        kind: `run`; `steady_state`; `tracked`, until issuing ended; `last_issued_done`, as MLPerf LoadGen:
            until the request issued last is done, or offline, where all are issued at once, the last one; or
            `first_user_done`, as MLPerf's agentic inference: until a user has finished the last session.
        steady: The steady state of the run.
        load: The kind of the load.

    Returns:
        A log whose window has no length where there is none of that kind.
    """
    if kind == "steady_state":
        return _over_steady_state(log, steady)
    if kind == "last_issued_done":
        return _over_last_issued(log, load)
    if kind == "tracked":
        return _over_tracked(log)
    if kind == "first_user_done":
        return _over_first_user(log)
    return log


def rates(*, first_uncounted: bool = False, where: str = "") -> str:
    """The query of the rates over the window, and of how many requests completed.

    Args:
        first_uncounted: See `is_first_uncounted`.
        where: SQL for a part of the requests.
    """
    first = " - (SELECT count(duration_s) FROM windows)" if first_uncounted else ""
    return _RATES.format(first=first, where=f" WHERE {where}" if where else "")


def is_first_uncounted(window: Window, load: Mapping[str, Any]) -> bool:
    """Whether a rate leaves one completion of each segment out: LoadGen counts from the first query on.

    MLPerf LoadGen, results.cc, PerformanceSummary: (n - 1) / t for the scenario Server, n / t for Offline.
    """
    return window.kind == "last_issued_done" and load.get("kind") != OFFLINE


def _over_steady_state(log: OpenLog, steady: SteadyState | None) -> OpenLog:
    """Only a run of one segment has a steady state."""
    whole = log.window
    window = Window("steady_state", None, None, None)
    if steady and steady.found and None not in (whole.start_ns, steady.start_s, steady.end_s):
        # Moments count from where the window starts, or from where the first request was due before that.
        due_ns = all_figures(log, "loadgen_spans")[0]["start_ns"]
        since_ns = min(moment_ns for moment_ns in (whole.start_ns, due_ns) if moment_ns is not None)
        start_ns, end_ns = (
            since_ns + round((moment_s or 0.0) * 1e9) for moment_s in (steady.start_s, steady.end_s)
        )
        window = Window("steady_state", (end_ns - start_ns) / 1e9, start_ns, end_ns)
    return log.with_windows([window], window)


def _over_tracked(log: OpenLog) -> OpenLog:
    """From the start of the performance phase to STOP_PERFORMANCE_TRACKING, in each segment."""
    kind: Final = "tracked"
    spans = [timeline.issuing for timeline in log.timelines]
    parts = [
        Window(kind, None, None, None) if span is None else Window(kind, (span[1] - span[0]) / 1e9, *span)
        for span in spans
    ]
    issued = [span for span in spans if span is not None]
    duration_s = sum((end_ns - start_ns) / 1e9 for start_ns, end_ns in issued)
    whole = (
        Window(kind, duration_s, issued[0][0], issued[-1][1]) if issued else Window(kind, None, None, None)
    )
    return log.with_windows(parts, whole)


def _over_first_user(log: OpenLog) -> OpenLog:
    """From the start of the performance phase until the first user has finished the last session."""
    kind: Final = "first_user_done"
    log.load(("sessions",))
    (span,) = all_figures(log, kind)
    start_ns, end_ns = span["start_ns"], span["end_ns"]
    if start_ns is None or end_ns is None:
        window = Window(kind, None, None, None)
    else:
        window = Window(kind, (end_ns - start_ns) / 1e9, start_ns, end_ns)
    return log.with_windows([window], window)


def _over_last_issued(log: OpenLog, load: str | None) -> OpenLog:
    """The window up to the last completion, including those after the last issue."""
    kind: Final = "last_issued_done"
    parts, total_s, ends = [], 0.0, []
    for span in all_figures(log, "loadgen_spans"):
        start_ns, last_ns = span["start_ns"], span["last_completion_ns"]
        end_ns = span["last_done_ns" if load == OFFLINE else "last_issued_done_ns"]
        if None in (start_ns, end_ns, last_ns) or end_ns <= start_ns:
            parts.append(Window(kind, None, None, None))
            continue
        parts.append(Window(kind, (end_ns - start_ns) / 1e9, start_ns, max(last_ns, end_ns)))
        total_s += (end_ns - start_ns) / 1e9
        ends.append(end_ns)
    timed = [part for part in parts if part.duration_s is not None]
    whole = Window(kind, total_s, timed[0].start_ns, ends[-1]) if timed else Window(kind, None, None, None)
    return log.with_windows(parts, whole)
