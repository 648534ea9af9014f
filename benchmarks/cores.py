"""The cores: the client runs on one, the server and the observers on another."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Cores:
    """The core of each side; None where processes cannot be pinned."""

    client: int | None
    server: int | None

    def __str__(self) -> str:
        if self.client is None:
            return (
                "nothing pinned: this needs Linux and two cores, so client and server get in each other's way"
            )
        return f"client pinned to core {self.client}, server and benchmark to core {self.server}"


def choose() -> Cores:
    """Two different cores of those that this process may use: the server gets the first."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return Cores(usable[-1], usable[0]) if len(usable) > 1 else Cores(None, None)


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Have this thread, and whatever it starts, run on one core; None changes nothing."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
