"""The check that a process may open a connection for each request in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.driver.load import in_flight, limit_of
from loadgen.driver.shard import Shard
from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from loadgen.sessions.run.preparation import Prepared

SPARE_FILES: Final = 64
"""File descriptors for everything but connections."""


def require_descriptors(prepared: Prepared, limit: int, nodes: int = 1) -> None:
    """Check that a process may open a connection for each request in flight.

    Each of several endpoints may get this many connections, because they are kept.

    Args:
        prepared: The session.
        limit: How many files a process may open.
        nodes: On how many machines.

    Raises:
        SetupError: It may not open as many.
    """
    plan, workers = prepared.plan, prepared.workers
    streams, bound = in_flight(plan.load, plan.count), limit_of(plan.load)
    if bound is not None:
        streams = min(streams or bound, bound)
    connections = max((streams or 0) * len(prepared.targets), prepared.perf.client.connect_ahead)
    wanted = Shard(0, workers * nodes).of(connections) + SPARE_FILES
    if wanted > limit:
        more = "give more --workers, " if limit > SPARE_FILES else ""
        raise SetupError(
            f"{connections} connections need {wanted} open files per process (--workers {workers}), above "
            f"the limit of {limit}; raise the limit (`ulimit -n {wanted}`), {more}or put on less load",
        )
