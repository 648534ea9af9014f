"""W3C Trace Context on every transport: what the server was sent is what the log has."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.requests import attempt as module
from loadgen.driver.requests.attempt import Retries
from loadgen.driver.requests.cache_buster import TraceContext
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import Event, EventType
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = Sample(0, "why?")
_TRACEPARENT = re.compile(rb"\r\ntraceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-01\r\n")


@pytest.fixture
def sent(
    run: Any, serve: Any, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[bytes], list[Event]]]:
    """Take one turn: the requests that the server was sent, and the events."""
    monkeypatch.setattr(module, "FIRST_WAIT_S", 0.01)

    def sent(*scripts: Any, trace_context: bool) -> tuple[list[bytes], list[Event]]:
        async def scenario() -> tuple[list[bytes], list[Event]]:
            events: list[Event] = []
            async with serve(*scripts) as server, connect(server.url) as transport:
                runner = RequestRunner(
                    *(transport, chat_completions, Generation("m"), events.append),
                    retries=Retries(3, 10.0),
                    trace_context=trace_context,
                )
                await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")
                return server.requests, events

        return run(scenario())

    return sent


def test_each_attempt_is_a_span_of_the_same_trace(sent: Any, wire: Any) -> None:
    """In the headers, and with the same ids in the log."""
    requests, events = sent([wire.sized(b"busy", 503)], [wire.chunked(wire.STREAM)], trace_context=True)
    received = [match.groups() for request in requests if (match := _TRACEPARENT.search(request))]
    assert len(received) == 2
    (issued,) = (event.data for event in events if event.type is EventType.LOADGEN_ISSUE_CALLED)
    spans = [event.data["span_id"] for event in events if event.type is EventType.REQUEST_SENT]
    assert received == [(issued["trace_id"].encode(), span.encode()) for span in spans]
    assert spans[0] != spans[1]


def test_without_the_option_there_is_none(sent: Any, wire: Any) -> None:
    """Neither in the headers nor in the log."""
    (request,), events = sent([wire.chunked(wire.STREAM)], trace_context=False)
    assert b"traceparent" not in request
    assert not any({"trace_id", "span_id"} & set(event.data or ()) for event in events)


def test_ids_are_random() -> None:
    """No two requests, also of different workers, are in one trace."""
    traces = [TraceContext.new() for _ in range(1000)]
    assert len({trace.trace_id for trace in traces}) == len({trace.span_id for trace in traces}) == 1000
    again = traces[0].next_attempt()
    assert again.trace_id == traces[0].trace_id
    assert again.span_id != traces[0].span_id
