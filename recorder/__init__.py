"""The log: every lifecycle event of a run, written by one thread to one SQLite file."""

from recorder.event import Event, EventType
from recorder.writer import EventRecorder

__all__ = ["Event", "EventRecorder", "EventType"]
