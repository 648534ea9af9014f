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
from recorder.event import EventType
from recorder.lifecycle import TERMINAL, violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recorder.event import Event

REQUESTS = 120
CONCURRENCY = 12


def test_the_client_sees_what_the_server_did() -> None:
    """One end for each request, the one that the server's truth demands; counts add up on both sides."""
    events: list[Event] = []
    with start_mock(scenario="chaos", fault_share=0.5, seed=3) as mock:
        asyncio.run(_ask(mock.url, events))
        ends = [event for event in events if event.type in TERMINAL]
        unheard = set(_unheard(ends))
        truth = {record.request_id: record for record in mock.truth(REQUESTS - len(unheard))}
    assert violations(events) == []
    assert len({event.sample_uuid for event in ends}) == len(ends) == REQUESTS
    assert {event.sample_uuid for event in ends} - unheard <= truth.keys()
    assert len(unheard) <= [record.scenario for record in truth.values()].count("length_too_short_late")
    seen = {
        event.sample_uuid: "completed" if event.type is EventType.COMPLETE else event.data["error"]
        for event in ends
        if event.data is not None
    }
    heard = {uuid: name for uuid, name in seen.items() if uuid not in unheard}
    assert {uuid: name for uuid, name in heard.items() if name not in truth[uuid].expect} == {}
    # Who came after an unasked response has no other.
    own = {uuid for uuid, record in truth.items() if record.scenario != AFTER_UNASKED} - unheard
    completed = Counter(truth[uuid].outcome for uuid in own)["completed"]
    assert completed == [seen[uuid] for uuid in own].count("completed")
    assert 0 < completed < REQUESTS


def _unheard(ends: list[Event]) -> Iterator[str | None]:
    """Requests that met the rest of a response of too short a length, on the connection of that response.

    The client reused it before it had decoded that the answer was not whole, which depends on how busy it is;
    the server closes it and may never read the request.
    """
    for event in ends:
        data = event.data or {}
        if data.get("error") == "malformed_frame" and data.get("first_byte_ns") is None:
            yield event.sample_uuid


async def _ask(url: str, events: list[Event]) -> None:
    transport = HttpTransport(endpoint(url, {}), Timeouts(total_s=30))
    runner = RequestRunner(transport, chat_completions, Generation("m"), events.append)
    samples = iter([Sample(number, "why?") for number in range(REQUESTS)])

    async def user() -> None:
        for sample in samples:
            await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")

    await asyncio.gather(*(user() for _ in range(CONCURRENCY)))
    await transport.close()
