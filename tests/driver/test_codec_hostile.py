"""What no protocol's codec may do, whatever a server sends: raise anything but that it is malformed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.client.codec import Delta
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import MalformedResponseError, RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec

PLACES = {"text_at": "out.0.text", "tokens_at": "meta.n", "finish_at": "meta.why"}
CODECS = [codec_of(name, PLACES if entry.described else {}) for name, entry in PROTOCOLS.items()]
EACH = pytest.mark.parametrize("codec", CODECS, ids=PROTOCOLS)

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**63) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_PARTS = (
    *(
        "choices",
        "delta",
        "message",
        "text",
        "content",
        "thinking",
        "finish_reason",
        "usage",
        "error",
        "type",
    ),
    *("response", "item", "output", "status", "incomplete_details", "output_index", "index", "content_block"),
    *(
        "partial_json",
        "input",
        "name",
        "id",
        "function",
        "tool_calls",
        "stop_reason",
        "out",
        "meta",
        "n",
        "why",
    ),
)
_TYPES = (
    *("response.completed", "response.failed", "response.output_text.delta", "response.reasoning_text.delta"),
    *(
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "message_start",
        "message_delta",
    ),
    *(
        "content_block_start",
        "content_block_delta",
        "message_stop",
        "text_delta",
        "thinking_delta",
        "tool_use",
    ),
    *("function_call", "custom_tool_call", "reasoning", "message", "text", "input_json_delta", "error"),
)
NEARLY = st.recursive(
    ANY | st.sampled_from(_TYPES),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_PARTS), inner, max_size=5),
    max_leaves=14,
)
PAYLOAD = st.builds(
    lambda payload, kind: payload | ({"type": kind} if kind else {}),
    st.dictionaries(st.sampled_from(_PARTS), NEARLY, max_size=6),
    st.none() | st.sampled_from(_TYPES),
)


@EACH
@settings(max_examples=20)
@given(payloads=st.lists(PAYLOAD | ANY, max_size=3))
def test_any_json_is_read_or_malformed(codec: Codec, payloads: list[Any]) -> None:
    """No JSON makes another exception than the one that is announced, nor what the log could not keep."""
    answer = ParsedResponse()
    for payload in payloads:
        for read in (codec.chunk, codec.whole):
            try:
                delta = read(payload)
            except MalformedResponseError:
                continue
            assert isinstance(delta, Delta)
            answer.add(delta, 1)
    orjson.dumps([*answer.content, *answer.reasoning, *answer.tool_calls, answer.finish_reason, answer.error])


@EACH
@given(
    body=st.binary(max_size=40),
    shape=st.sampled_from([b"%b", b"data: %b\n\n", b"event: error\ndata: %b\n\n"]),
)
def test_any_bytes_are_an_answer_or_a_failure(codec: Codec, body: bytes, shape: bytes) -> None:
    """Garbage ends a request by name; it never raises anything else."""
    received = ResponseStream(codec)
    received.start(event_stream=True)
    try:
        received.receive([shape % body], [1])
        deque(received.decode(), maxlen=0)
    except RequestFailedError as error:
        assert error.failure == Failure.MALFORMED_FRAME  # noqa: PT017 (there may be none)


@EACH
def test_endless_nesting_is_not_reported_as_a_client_bug(codec: Codec) -> None:
    """As deep as a decoder lets through."""
    deep: Any = orjson.loads(b'[{"text":' * 400 + b"1" + b"}]" * 400)
    hostile = [
        {"type": "message", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": deep}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": deep}}]}}]},
        {"choices": [{"delta": {"content": [{"type": "thinking", "thinking": deep}]}}]},
        {"out": deep, "meta": {"why": "x"}},
    ]
    for payload in hostile:
        for read in (codec.chunk, codec.whole):
            answer = ParsedResponse()
            try:
                answer.add(read(payload), 1)
            except MalformedResponseError:
                continue
            orjson.dumps(answer.tool_calls)
