"""The end of a session of which the warm-up is incomplete."""

from __future__ import annotations

from typing import Final

from recorder.event import Event, EventType

WARMUP_FAILED: Final = "warmup_failed"
"""The reason of the end; also the code of the finding."""


def warmup_failed(failed: int, at_ns: int) -> Event:
    """The finding that sessions were not brought to their positions, so that none was measured."""
    data = {
        "code": WARMUP_FAILED,
        "severity": "error",
        "message": f"{failed} requests of the warm-up failed, so nothing was measured: each session has to "
        "reach its start.",
        "remedy": "Check the endpoint (`loadgen check`) and its longest context, or give a longer "
        "--warmup-drain.",
    }
    return Event(EventType.FINDING, at_ns, data=data)
