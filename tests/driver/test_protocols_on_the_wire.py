"""Each protocol over real connections: what a server is sent, and what comes of its answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import EventType
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from recorder.event import Event

SAMPLE = Sample(0, "why?")


def named(*payloads: Any) -> bytes:
    """Events with their names, as the protocols with typed events send them."""
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (payload["type"].encode(), orjson.dumps(payload)) for payload in payloads
    )


RESPONSES = named(
    {"type": "response.created", "sequence_number": 0, "response": {"status": "in_progress"}},
    {"type": "response.reasoning_text.delta", "sequence_number": 1, "delta": "hm"},
    {"type": "response.output_text.delta", "sequence_number": 2, "delta": "hi"},
    {"type": "response.completed", "response": {"status": "completed", "usage": {"output_tokens": 2}}},
)
MESSAGES = named(
    {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)
SSE = b'data: {"token":{"text":"h"}}\n\ndata: {"token":{"text":"i"},"n":2}\n\n'


@pytest.mark.parametrize(
    ("protocol", "options", "path", "body", "cut"),
    [
        (
            "responses",
            {},
            "/v1/responses",
            RESPONSES,
            RESPONSES[: RESPONSES.index(b"event: response.completed")],
        ),
        ("messages", {}, "/v1/messages", MESSAGES, MESSAGES[: MESSAGES.index(b"event: message_delta")]),
        ("sse", {"path": "/stream", "text_at": "token.text", "tokens_at": "n"}, "/v1/stream", SSE, None),
    ],
)
def test_streams(
    run: Any,
    serve: Any,
    connect: Any,
    wire: Any,
    protocol: str,
    options: Any,
    path: str,
    body: bytes,
    cut: bytes | None,
) -> None:
    """A success with its figures; cut short in order it is a failure, in those that announce their end."""
    codec, events = codec_of(protocol, options), []

    async def scenario() -> list[bytes]:
        async with (
            serve([wire.chunked(body)], [wire.chunked(cut or body)]) as server,
            connect(server.url) as link,
        ):
            runner = RequestRunner(link, codec, Generation("m"), events.append)
            for _ in range(2):
                await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")
            requests: list[bytes] = server.requests
            return requests

    head, _, question = run(scenario())[0].partition(b"\r\n\r\n")
    assert head.startswith(f"POST {path} HTTP/1.1\r\n".encode())
    assert orjson.loads(question) == codec.request(SAMPLE, Generation("m"))
    assert violations(events) == []
    whole, second = (event for event in events if event.type in {EventType.COMPLETE, EventType.ERROR})
    assert whole.type is EventType.COMPLETE
    assert (whole.data["texts"]["output"], whole.data["output_tokens"], whole.data["chunks"]) == ("hi", 2, 2)
    assert whole.data["first_token_ns"] <= whole.data["first_visible_ns"] <= whole.data["last_token_ns"]
    assert second.data.get("error") == ("truncated" if cut else None)
    assert second.data["texts"]["output"] == "hi"


def test_one_json_text(run: Any, serve: Any, connect: Any, wire: Any) -> None:
    """A success without times; what fails inside it has a name as in a stream."""
    events: list[Event] = []
    answers = [{"text": "hi", "why": "stop"}, {"error": "boom"}, {"text": ["hi"]}, {"text": ""}]

    async def scenario() -> None:
        async with serve(*([wire.json(answer)] for answer in answers)) as server, connect(server.url) as link:
            runner = RequestRunner(
                link, codec_of("json", {"finish_at": "why"}), Generation("m"), events.append
            )
            for _ in answers:
                await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")

    run(scenario())
    ends = [event.data for event in events if event.type in {EventType.COMPLETE, EventType.ERROR}]
    assert [end.get("error") for end in ends] == [None, "error_frame", "malformed_frame", "empty_response"]
    assert (ends[0]["texts"]["output"], ends[0]["finish_reason"], ends[0]["first_token_ns"]) == (
        "hi",
        "stop",
        None,
    )
    assert "at `text` there is no text" in ends[2]["message"]
