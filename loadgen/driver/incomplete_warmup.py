"""The end of a session of which the warm-up is incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.stop import Stop

WARMUP_FAILED: Final = "warmup_failed"
"""The reason of the end; also the code of the finding."""


def end_session(failed: int, stop: Stop, emit: Emit, at_ns: int) -> None:
    """End a session of which not all sessions were brought to their positions, with a finding."""
    data = {
        "code": WARMUP_FAILED,
        "severity": "error",
        "message": f"{failed} requests of the warm-up failed, so nothing was measured: each session has to "
        "reach its start.",
        "remedy": "Check the endpoint (`loadgen check`) and its longest context, or give a longer "
        "--warmup-drain.",
    }
    emit(Event(EventType.FINDING, at_ns, data=data))
    stop.drain(WARMUP_FAILED)
