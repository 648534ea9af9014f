"""What a load generator of one's own records its events with; docs/python.md has an example."""

from __future__ import annotations

from recorder import EventRecorder, EventType, payloads

__all__ = ["EventRecorder", "EventType", "payloads"]
