"""Measured against a server in another process that knows when it sent what, on the same clock."""

from __future__ import annotations

import time
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from loadgen.driver.client import chat_completions, completions
from loadgen.driver.client.arrival import timestamp_source
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.turn import RequestRunner
from loadgen.mock_endpoint import start_mock
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint import MockProcess

MS = 1_000_000
BUSY_S = 0.05
SAMPLES = [Sample(0, "one two three"), Sample(1, "four five", system="be brief")]


@pytest.fixture(scope="module", params=["http", "https"])
def mock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A mock endpoint with short answers: in clear, and over TLS."""
    pem: Path = tmp_path_factory.mktemp("tls") / "server.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    tls = {"tls_cert": pem} if request.param == "https" else {}
    with start_mock(ttft="20ms", itl="2ms", tokens="8", **tls) as process:
        yield process


def measure(
    run: Any,
    url: str,
    codec: Any,
    *,
    tell: Callable[[Event], None] = lambda _: None,
    **generation: Any,
) -> list[Event]:
    """The events of one request for each sample, one after the other; `tell` hears of each at once."""
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        tell(event)

    async def scenario() -> None:
        transport = HttpTransport(endpoint(url, {}, verify=False), Timeouts(30))
        runner = RequestRunner(transport, codec, Generation("m", **generation), emit)
        for sample in SAMPLES:
            body = runner.prepare(sample)
            await runner.run(sample, body, time.monotonic_ns(), "performance")
        await transport.close()

    run(scenario())
    assert violations(events) == []
    return events


def truths(mock: MockProcess, events: list[Event]) -> list[Any]:
    """What the server knows of each of these requests, in their order."""
    ids = dict.fromkeys(event.sample_uuid for event in events)
    deadline = time.monotonic() + 60
    while True:
        earlier = {truth.request_id: truth for truth in mock.truth()}
        if ids.keys() <= earlier.keys() or time.monotonic() > deadline:
            return [earlier[request_id] for request_id in ids]


@pytest.mark.parametrize("codec", [chat_completions, completions])
def test_a_stream_s_moments_are_the_server_s(run: Any, mock: MockProcess, codec: Any) -> None:
    """Everything in its order, on both sides of the wire; counts and texts as they were sent."""
    events = measure(run, mock.url, codec)
    for k, truth in enumerate(truths(mock, events)):
        issued, sent, first_chunk, complete = events[4 * k : 4 * k + 4]
        data = complete.data
        assert complete.type is EventType.COMPLETE, data
        moments = [issued.data["scheduled_ns"], issued.at_ns, sent.at_ns, data["first_byte_ns"]]
        moments += [data["first_token_ns"], data["last_token_ns"], complete.at_ns]
        assert moments == sorted(moments)
        assert first_chunk.at_ns == data["first_token_ns"]
        assert sent.at_ns <= truth.received_ns
        assert (data["chunks"], data["output_tokens"]) == (len(truth.chunk_ns), truth.tokens) == (8, 8)
        assert (data["input_tokens"], data["finish_reason"]) == (truth.input_tokens, truth.finish_reason)
        assert len(data["texts"]["output"].split()) == 8
        gaps = array("I", data["chunk_gaps_us"])
        arrivals = [sent.at_ns + offset * 1000 for offset in accumulate(gaps)]
        for arrived, left in zip(arrivals, truth.chunk_ns, strict=True):
            assert arrived >= left - MS // 10  # half a microsecond of rounding, and the offset of two clocks


@pytest.mark.skipif(
    timestamp_source() != "kernel",
    reason="only kernel stamps (SO_TIMESTAMPING, Linux) say when bytes arrived at a busy client; "
    "elsewhere it stamps its reads, which are late, and says so",
)
def test_a_busy_client_does_not_move_the_moments(run: Any, mock: MockProcess) -> None:
    """The first token arrives while the client does something else for long; its stamp is the arrival's."""
    earlier = len(mock.truth())

    def block_until_the_answer_lies_there(event: Event) -> None:
        if event.type is EventType.REQUEST_SENT:
            mock.truth(earlier + 1 + event.data["reused"])
            time.sleep(BUSY_S)

    events = measure(run, mock.url, chat_completions, tell=block_until_the_answer_lies_there)
    for k, truth in enumerate(truths(mock, events)):
        data = events[4 * k + 3].data
        assert truth.chunk_ns[0] - MS <= data["first_token_ns"] <= truth.done_ns + BUSY_S * 1e9 / 2
        # The compiled loop reads while Python is busy.
        assert COMPILED or data["coalesced"] > 0


def test_an_answer_in_one_piece(run: Any, mock: MockProcess) -> None:
    """Asked for without a stream, it has text and counts and no times of tokens."""
    events = measure(run, mock.url, chat_completions, stream=False, max_tokens=3)
    assert [event.type.name for event in events] == ["LOADGEN_ISSUE_CALLED", "REQUEST_SENT", "COMPLETE"] * 2
    for complete, truth in zip(events[2::3], truths(mock, events), strict=True):
        data = complete.data
        assert (data["stream"], data["chunks"], data["first_token_ns"]) == (False, 0, None)
        assert (data["output_tokens"], data["finish_reason"]) == (3, "length")
        assert truth.received_ns <= data["first_byte_ns"] <= complete.at_ns
