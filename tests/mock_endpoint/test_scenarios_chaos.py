"""The mix of short answers and faults, asked by the client: the server says beforehand what it must see."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.turn import RequestRunner
from loadgen.mock_endpoint import start_mock
from loadgen.mock_endpoint.scenarios.chaos import AFTER_UNASKED
from recorder.event import TERMINAL, EventType
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from recorder.event import Event

REQUESTS = 120
CONCURRENCY = 12


def test_the_client_sees_what_the_server_did() -> None:
    """One end for each request, the one that the server's truth demands; counts add up on both sides."""
    events: list[Event] = []
    with start_mock(scenario="chaos", fault_share=0.5, seed=3) as mock:
        asyncio.run(_ask(mock.url, events))
        sends = [event for event in events if event.type is EventType.REQUEST_SENT]
        # Requests that met the end of a kept connection are known by the id of the second time.
        ids = {(event.data or {}).get("request_id", event.sample_uuid): event.sample_uuid for event in sends}
        records = mock.truth(len(sends))
    truth = {ids[record.request_id]: record for record in sorted(records, key=lambda each: each.received_ns)}
    ends = [event for event in events if event.type in TERMINAL]
    assert violations(events) == []
    assert sorted(event.sample_uuid or "" for event in ends) == sorted(uuid or "" for uuid in truth)
    seen = {
        event.sample_uuid: "completed" if event.type is EventType.COMPLETE else event.data["error"]
        for event in ends
        if event.data is not None
    }
    assert {uuid: name for uuid, name in seen.items() if name not in truth[uuid].expect} == {}
    # Who came after an unasked response has no other.
    own = {uuid for uuid, record in truth.items() if record.scenario != AFTER_UNASKED}
    completed = Counter(truth[uuid].outcome for uuid in own)["completed"]
    assert completed == [seen[uuid] for uuid in own].count("completed")
    assert 0 < completed < REQUESTS


async def _ask(url: str, events: list[Event]) -> None:
    transport = HttpTransport(endpoint(url, {}), Timeouts(timeout_s=30))
    runner = RequestRunner(transport, chat_completions, Generation("m"), events.append)
    samples = iter([Sample(number, "why?") for number in range(REQUESTS)])

    async def user() -> None:
        for sample in samples:
            await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")

    await asyncio.gather(*(user() for _ in range(CONCURRENCY)))
    await transport.close()
