"""The stored calibration of this machine, and the warning of a plan beyond it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.observer import SILENT, Observer
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.plan import Plan
    from loadgen.sessions.capacity import Calibration


def calibration_file() -> Path:
    """`calibration.json` under `$XDG_CACHE_HOME/loadgen`, by default `~/.cache/loadgen`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadgen" / "calibration.json"


def save(calibration: Calibration) -> None:
    """Store a calibration in place of the previous one, atomically."""
    path = calibration_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, orjson.dumps(calibration.to_dict(), option=orjson.OPT_INDENT_2))


def saved() -> Calibration | None:
    """The stored calibration of this machine; None if missing or unreadable."""
    try:
        stored = calibration_file().read_bytes()
    except (OSError, RuntimeError):
        return None
    from loadgen.sessions.capacity import Calibration, this_machine

    try:
        calibration = Calibration.of_dict(orjson.loads(stored))
    except (KeyError, TypeError, ValueError):
        return None
    return calibration if calibration.machine == this_machine() else None


def warn_beyond(plan: Plan, put: Callable[[Event], object], at_ns: int, observer: Observer = SILENT) -> None:
    """Warn of a plan that exceeds the capacity of this machine, in the log and to the observer."""
    if (calibration := saved()) is None:
        return
    from loadgen.sessions.capacity import exceeds

    if (message := exceeds(calibration, plan)) is None:
        return
    remedy = "put on less load, or give the client more CPU; `loadgen calibrate` measures its capacity again"
    put(
        Event(
            EventType.FINDING,
            at_ns,
            data={
                "code": "beyond_calibration",
                "severity": "warning",
                "message": f"{message[0].upper()}{message[1:]}.",
                "remedy": f"{remedy[0].upper()}{remedy[1:]}.",
            },
        ),
    )
    observer.progress(f"warning: {message}; {remedy}")
