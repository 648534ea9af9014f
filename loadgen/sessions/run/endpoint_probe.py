"""The conditions of the first request: an endpoint that answers, and enough descriptors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transport import load_transport
from loadgen.driver.errors import UnreachableError
from loadgen.driver.load import in_flight
from loadgen.driver.phase import Shard
from loadgen.driver.probe import Prober
from loadgen.sessions.errors import SetupError
from loadgen.sessions.settings.endpoint_options import DEFAULT_URL, EndpointSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.plan import Plan
    from loadgen.sessions.run.preparation import Prepared

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two requests before a run: more than a connection may take, so that an unreachable endpoint
is distinguished from a silent one."""


async def require_ready(plan: Plan, transport_name: str, target: Endpoint) -> None:
    """Check an endpoint; a slow one is assumed to be ready."""
    transport = load_transport(transport_name)(target, plan.timeouts.within(PROBE_TIMEOUT_S))
    try:
        codec = codec_of(plan.protocol, plan.protocol_options)
        await Prober(transport, codec, plan.generation).require_ready()
    finally:
        await transport.close()


@contextmanager
def default_url_named(settings: EndpointSettings) -> Iterator[None]:
    """Note that the URL of an unreachable endpoint is the default, where so."""
    try:
        yield
    except UnreachableError as error:
        if settings.url:
            raise
        raise UnreachableError(
            f"no --url was given, nor LOADGEN_URL; tried {DEFAULT_URL}: {error}"
        ) from error


SPARE_FILES: Final = 64
"""File descriptors for everything but connections."""


def require_descriptors(prepared: Prepared, limit: int, nodes: int = 1) -> None:
    """Check that a process may open a connection for each request in flight.

    Each of several endpoints may get this many connections, because they are kept.
    """
    plan, workers = prepared.plan, prepared.workers
    streams, bound = in_flight(plan.load, plan.count), plan.load.limit
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
