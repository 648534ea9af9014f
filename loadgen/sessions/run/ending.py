"""The end of a log that has everything but an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.run.preparation import Prepared


def end_log(prepared: Prepared, folder: Path) -> None:
    """Close a log that has everything but an end: a segment in which nothing was left to do."""
    import time

    from loadgen.sessions.run.environment import environment
    from recorder.event import EventType
    from recorder.store import LOG_NAME
    from recorder.writer import EventRecorder

    with EventRecorder(
        path=folder / LOG_NAME, environment=environment(), resume=True, after_seq=prepared.after_seq
    ) as recorder:
        recorder.record_event(EventType.TEST_STARTED, time.monotonic_ns())
        recorder.record_event(EventType.TEST_ENDED, time.monotonic_ns(), data={"reason": "completed"})
