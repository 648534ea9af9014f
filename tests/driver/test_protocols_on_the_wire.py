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


def plain(*payloads: Any) -> bytes:
    """Events without names."""
    return b"".join(b"data: " + orjson.dumps(payload) + b"\n\n" for payload in payloads)


def chat(reason: Any, **more: Any) -> bytes:
    """A token, a finish reason, and `[DONE]`."""
    token = {"choices": [{"delta": {"content": "hi"}}]}
    return plain(token, {"choices": [{"delta": {}, "finish_reason": reason}], **more}) + b"data: [DONE]\n\n"


def sglang(reason: Any) -> bytes:
    """A token of SGLang's own stream, with a finish reason, and `[DONE]`."""
    return plain({"text": "hi", "meta_info": {"finish_reason": reason}}) + b"data: [DONE]\n\n"


def ending(protocol: str, old: bytes, new: bytes) -> bytes:
    """The stream of a protocol that ends in another way."""
    body = RESPONSES if protocol == "responses" else MESSAGES
    assert old in body
    return body.replace(old, new)


OLLAMA = {"text_at": "response", "finish_at": "done_reason"}
ENDINGS = (
    ("chat", {}, chat("stop"), None),
    ("chat", {}, chat("length"), None),
    ("chat", {}, chat("content_filter"), None),
    ("chat", {}, chat("a new one"), None),
    ("chat", {}, chat("abort"), "aborted"),
    ("chat", {}, chat("backend_error"), "aborted"),
    ("chat", {}, chat(None), "truncated"),
    ("chat", {}, chat(""), "truncated"),
    ("chat", {}, chat("error", error={"message": "boom"}), "error_frame"),
    ("chat", {}, chat({"type": "stop"}), None),
    ("chat", {}, chat({"type": "abort"}), "aborted"),
    ("chat", {}, chat({"type": "abort", "status_code": 503, "message": "boom"}), "error_frame"),
    ("sglang", {}, sglang({"type": "stop", "matched": 2}), None),
    ("sglang", {}, sglang({"type": "length", "length": 1}), None),
    ("sglang", {}, sglang({"type": "abort", "status_code": None, "message": "boom"}), "error_frame"),
    ("sglang", {}, sglang({"type": "abort"}), "aborted"),
    ("sglang", {}, sglang(None), "truncated"),
    ("sse", {}, plain({"text": "hi"}), None),
    ("sse", {}, plain({"text": "hi"}, {"code": 503, "message": "boom"}), "error_frame"),
    ("sse", OLLAMA, b'{"response":"hi"}\n{"response":"","done":true,"done_reason":"stop"}\n', None),
    ("sse", OLLAMA, b'{"response":"hi"}\n{"response":"","done":true,"done_reason":"load"}\n', "aborted"),
    ("sse", OLLAMA, b'{"response":"hi"}\n{"response":" you"}\n', "truncated"),
    ("sse", OLLAMA, b'{"response":"hi"}\n{"error":"boom"}\n', "error_frame"),
    ("messages", {}, ending("messages", b'"end_turn"', b'"refusal"'), None),
    ("messages", {}, ending("messages", b'"end_turn"', b'"error"'), "aborted"),
    ("messages", {}, ending("messages", b'"end_turn"', b"null"), "truncated"),
    ("responses", {}, ending("responses", b'"status":"completed"', b'"status":"incomplete"'), "aborted"),
    ("responses", {}, ending("responses", b'"status":"completed"', b'"status":"cancelled"'), "error_frame"),
    ("responses", {}, ending("responses", b"response.completed", b"response.failed"), "error_frame"),
)


@pytest.mark.parametrize(("protocol", "options", "body", "failure"), ENDINGS)
def test_endings(
    run: Any,
    serve: Any,
    connect: Any,
    wire: Any,
    protocol: str,
    options: Any,
    body: bytes,
    failure: str | None,
) -> None:
    """Streams that did not finish fail, in whichever way a server says so; their tokens are kept."""
    events: list[Event] = []

    async def scenario() -> None:
        async with serve([wire.chunked(body)]) as server, connect(server.url) as link:
            runner = RequestRunner(link, codec_of(protocol, options), Generation("m"), events.append)
            await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")

    run(scenario())
    data = events[-1].data
    assert (data.get("error"), data["texts"]["output"][:2]) == (failure, "hi"), data.get("message")
    assert failure != "error_frame" or protocol == "responses" or "boom" in data["message"]
