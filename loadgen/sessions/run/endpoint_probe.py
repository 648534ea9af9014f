"""The requests before a run: whether an endpoint is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transports import load_transport
from loadgen.driver.probe import Prober

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.plan import Plan

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two requests before a run: more than a connection may take, so that an unreachable endpoint
is distinguished from a silent one."""


async def require_ready(plan: Plan, transport_name: str, target: Endpoint) -> None:
    """Check an endpoint; a slow one is assumed to be ready.

    Args:
        plan: The session's.
        transport_name: The client's transport.
        target: The endpoint.

    Raises:
        UnreachableError, RejectedError: It is not ready.
    """
    transport = load_transport(transport_name)(target, plan.timeouts.within(PROBE_TIMEOUT_S))
    try:
        codec = codec_of(plan.protocol, plan.protocol_options)
        await Prober(transport, codec, plan.generation).require_ready()
    finally:
        await transport.close()
