"""How many worker processes a load needs, where the user has not said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from loadgen.driver.load import Open, in_flight
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from loadgen.driver.load import Load

STREAMS_A_WORKER: Final = 500
"""How many requests in flight at once are one worker's."""

RATE_A_WORKER: Final = 1000.0
"""How many requests per second are one worker's."""


def workers_for(load: Load, requests: int | None, cpus: int, nodes: int = 1) -> int:
    """One worker, and one more for each further 500 requests in flight or 1,000 requests per second.

    Of the `cpus` of this process, or of each node, one is left to the parent, which writes the log.
    """
    peak_rate = load.peak_rate if isinstance(load, Open) else None
    if peak_rate is not None:
        wanted = peak_rate / RATE_A_WORKER / nodes
    else:
        wanted = (in_flight(load, requests) or 1) / STREAMS_A_WORKER / nodes
    return 1 + sum(worker < wanted for worker in range(1, cpus - 1))


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1
