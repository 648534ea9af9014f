"""The log: every lifecycle event of a run, written by one thread to one SQLite file."""

from typing import TYPE_CHECKING, Any

from recorder.event import Event, EventType, SampleEvent, SessionEvent

if TYPE_CHECKING:
    from recorder.writer import EventRecorder

__all__ = ["Event", "EventRecorder", "EventType", "SampleEvent", "SessionEvent"]


def __getattr__(name: str) -> Any:
    """Load the recorder on use: a worker process has events, but starts without SQLite."""
    if name == "EventRecorder":
        from recorder.writer import EventRecorder

        return EventRecorder
    raise AttributeError(f"module 'recorder' has no attribute {name!r}")
