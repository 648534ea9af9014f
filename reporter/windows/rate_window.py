"""The span that rates are counted over, where the definitions name another one than the run's own window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import all_figures, measure, set_windows, timelines
from reporter.report import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection

    from reporter.report import SteadyState
    from rulesets.definitions import WindowKind

OFFLINE: Final = "offline"


def own_window(connection: DuckDBPyConnection) -> Window:
    """The run's own window, which an opened log has unless other definitions have been there."""
    found = current(connection)
    if found.kind in {"steady_state", "last_issued_done", "tracked"}:
        measure(connection)
        return current(connection)
    return found


def current(connection: DuckDBPyConnection) -> Window:
    """The window that the views of an opened log have now."""
    return Window(*connection.execute("FROM measured_window").fetchall()[0])


def redefine(
    connection: DuckDBPyConnection, kind: WindowKind, steady: SteadyState | None, load: str | None
) -> Window:
    """Let the views count rates over what the definitions name.

    Args:
        connection: An opened log, with the run's own window.
        kind: `run`; `steady_state`; `tracked`, until issuing ended; or `last_issued_done`, as MLPerf LoadGen:
            until the request issued last is done, or offline, where all are issued at once, the last one.
        steady: The steady state, as it was found.
        load: The kind of the load.

    Returns:
        The window, without a length where there is none of that kind.
    """
    if kind == "steady_state":
        return _to_steady_state(connection, steady)
    if kind == "last_issued_done":
        return _to_last_issued(connection, load)
    if kind == "tracked":
        return _to_tracked(connection)
    return current(connection)


def uncounted(window: Window, load: Mapping[str, Any], segments: int) -> int:
    """How many completions a rate leaves out: of LoadGen's n queries from the first on, one in each segment.

    MLPerf LoadGen, results.cc, PerformanceSummary: (n - 1) / t for the scenario Server, n / t for Offline.
    """
    return segments if window.kind == "last_issued_done" and load.get("kind") != OFFLINE else 0


def _to_steady_state(connection: DuckDBPyConnection, steady: SteadyState | None) -> Window:
    """Only a run of one segment has a steady state."""
    whole = current(connection)
    found = Window("steady_state", None, None, None)
    if steady and steady.found and None not in (whole.start_ns, steady.start_s, steady.end_s):
        # Moments count from where the window starts, or from where the first request was due before that.
        due_ns = all_figures(connection, "loadgen_spans")[0]["start_ns"]
        since_ns = min(one for one in (whole.start_ns, due_ns) if one is not None)
        start_ns, end_ns = (
            since_ns + round((moment_s or 0.0) * 1e9) for moment_s in (steady.start_s, steady.end_s)
        )
        found = Window("steady_state", (end_ns - start_ns) / 1e9, start_ns, end_ns)
    set_windows(connection, [found], found)
    return found


def _to_tracked(connection: DuckDBPyConnection) -> Window:
    """From the start of the performance phase to STOP_PERFORMANCE_TRACKING, in each segment."""
    kind: Final = "tracked"
    spans = [timeline.issuing for timeline in timelines(connection)]
    parts = [
        Window(kind, None, None, None) if span is None else Window(kind, (span[1] - span[0]) / 1e9, *span)
        for span in spans
    ]
    known = [span for span in spans if span is not None]
    duration_s = sum((end_ns - start_ns) / 1e9 for start_ns, end_ns in known)
    whole = Window(kind, duration_s, known[0][0], known[-1][1]) if known else Window(kind, None, None, None)
    set_windows(connection, parts, whole)
    return whole


def _to_last_issued(connection: DuckDBPyConnection, load: str | None) -> Window:
    """All that completed counts, also what did after the last one issued was done."""
    kind: Final = "last_issued_done"
    parts, total_s, ends = [], 0.0, []
    for span in all_figures(connection, "loadgen_spans"):
        start_ns, last_ns = span["start_ns"], span["last_completion_ns"]
        end_ns = span["last_done_ns" if load == OFFLINE else "last_issued_done_ns"]
        if None in (start_ns, end_ns, last_ns) or end_ns <= start_ns:
            parts.append(Window(kind, None, None, None))
            continue
        parts.append(Window(kind, (end_ns - start_ns) / 1e9, start_ns, max(last_ns, end_ns)))
        total_s += (end_ns - start_ns) / 1e9
        ends.append(end_ns)
    there = [part for part in parts if part.duration_s is not None]
    whole = Window(kind, total_s, there[0].start_ns, ends[-1]) if there else Window(kind, None, None, None)
    set_windows(connection, parts, whole)
    return whole
