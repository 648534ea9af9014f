"""Faults by the hundred leave nothing behind; `make chaos` compares outcomes with the server's truth."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.client.transport import load_transport
from loadgen.driver.issuing import Issuer
from loadgen.driver.load import Closed
from loadgen.driver.phase import Phase
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.system.clock import system_clock
from loadgen.mock_endpoint.process import MockProcess, start_mock
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recorder.event import Event

FILES = Path("/proc/self/fd")
REQUESTS = 300


@pytest.fixture(scope="module")
def chaos_mock() -> Iterator[MockProcess]:
    """An endpoint half of whose answers are faults."""
    with start_mock(scenario="chaos", fault_share=0.5, seed=5) as mock:
        yield mock


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux",
    reason="counts the open sockets in /proc/self/fd, which only Linux has",
)
@pytest.mark.parametrize("transport", ["native", "aiohttp"])
def test_nothing_is_left(chaos_mock: MockProcess, transport: str) -> None:
    """When the transport is closed there is no task, no socket and no thread more than before."""
    load, timeouts = Closed(16), Timeouts(30.0, 10.0)
    plan = Plan(load, REQUESTS, None, 0, Generation("mock"), "chat", 3, timeouts)
    events: list[Event] = []
    left: list[tuple[int, int, int]] = []

    def look() -> None:
        left.append((len(asyncio.all_tasks()), len(os.listdir(FILES)), threading.active_count()))  # noqa: PTH208 (a count)

    async def scenario() -> None:
        clock = system_clock()
        look()
        client = load_transport(transport)(endpoint(chaos_mock.url, {}), timeouts)
        runner = RequestRunner(client, chat_completions, plan.generation, events.append)
        issuer = Issuer(plan, RequestSource((Sample(0, "a"),)), runner, clock)
        await issuer.issue(Phase("performance", clock.now_ns(), REQUESTS))
        await issuer.settle()
        await client.close()
        await asyncio.sleep(0)
        look()
        clock.close()

    asyncio.run(scenario())
    ended = [event for event in events if event.type.name in {"COMPLETE", "ERROR"}]
    assert len(ended) == REQUESTS
    assert {event.type.name for event in ended} == {"COMPLETE", "ERROR"}
    before, after = left
    assert after == before
