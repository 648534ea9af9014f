"""The log: every lifecycle event of a run, written by one thread to one SQLite file.

The recorder is imported on first use: a worker process has events, but starts without SQLite.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from recorder.event import Event, EventType, SampleEvent, SessionEvent

if TYPE_CHECKING:
    from recorder.writer import EventRecorder

__all__ = ["Event", "EventRecorder", "EventType", "SampleEvent", "SessionEvent"]

_HOMES = {"writer": ("EventRecorder",)}
"""The modules that the names live in."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
