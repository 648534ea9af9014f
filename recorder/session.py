"""The opening of a log: the session, and the clocks at the start of each segment."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

ASIDE: Final = frozenset({"scoring", "judging"})
"""What the `kind` of a segment's environment says in which answers were judged:
it is not part of the run itself."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The identity of the current boot; empty where the system has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Session:
    """The facts at the start of a log; for a further segment, the clocks and environment of that segment."""

    session_id: str = field(default_factory=lambda: uuid4().hex)  #: names the session
    #: CLOCK_MONOTONIC at the start; with `started_wall_ns` it anchors every other time.
    started_at_ns: int = field(default_factory=time.monotonic_ns)
    started_wall_ns: int = field(default_factory=time.time_ns)  #: the same moment in ns since the epoch
    #: The resolved settings, without secrets: all that is needed to repeat the run.
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)  #: versions, host, timestamp source
    boot_id: str = field(default_factory=boot_id)  #: names what the monotonic clock counts from


@dataclass(frozen=True, slots=True)
class Before:
    """The known facts of the earlier segments."""

    started_at_ns: int
    started_wall_ns: int
    boot_id: str
    shift_ns: int
    last_ns: int


def shift(before: Before, now: Session) -> int:
    """The shift of a further segment's times, so that all segments follow one clock.

    While the machine stays on, its monotonic clock goes on. After a restart, or on another machine, the wall
    clock tells how much time has passed; one that was set back since cannot make the segments overlap.
    """
    if before.boot_id and before.boot_id == now.boot_id:
        return before.shift_ns
    passed_ns = now.started_wall_ns - before.started_wall_ns
    began_ns = max(before.started_at_ns + passed_ns, before.last_ns + 1)
    return before.shift_ns + began_ns - now.started_at_ns
