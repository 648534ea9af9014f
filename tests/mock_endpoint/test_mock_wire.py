"""The bytes that a client gets, seen through a bare socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Wire


TEXT = " A mock endpoint answers every question with"
"""The first words of the usual answer: eight tokens with the one that follows."""


def contents(events: list[Any]) -> list[Any]:
    """The content of each chat chunk, None where there is none."""
    return [event["choices"][0]["delta"].get("content") for event in events if event["choices"]]


def test_a_chat_stream(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A chat stream is a role chunk, a chunk a token, a finish reason, and [DONE]; all share id and model."""
    wire = connect(instant)
    wire.ask(model="any/thing")
    head = wire.read_head().lower()
    assert head.startswith(b"http/1.1 200 ok")
    assert b"content-type: text/event-stream" in head
    assert b"transfer-encoding: chunked" in head
    events = wire.read_events()
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(contents(events)[:-1]).startswith(TEXT)
    assert len(events) == 1 + 8 + 1
    assert [event["choices"][0]["finish_reason"] for event in events] == [None] * 9 + ["stop"]
    assert events[-1]["choices"][0]["delta"] == {}
    assert len({(event["id"], event["created"]) for event in events}) == 1
    assert {event["object"] for event in events} == {"chat.completion.chunk"}
    assert {event["model"] for event in events} == {"any/thing"}
    assert all("usage" not in event for event in events)


def test_a_chat_stream_with_usage(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """With include_usage the last event has the counts and no choices, the others a null."""
    wire = connect(instant)
    wire.ask(stream_options={"include_usage": True}, max_tokens=5)
    wire.read_head()
    *others, last = wire.read_events()
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    assert [event["usage"] for event in others] == [None] * 7
    assert others[-1]["choices"][0]["finish_reason"] == "length"


def test_a_completion_stream(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A completion stream has text instead of deltas, and no role chunk."""
    wire = connect(instant)
    wire.ask("/v1/completions", stream_options={"include_usage": True})
    wire.read_head()
    *events, last = wire.read_events()
    assert len(events) == 8 + 1
    assert "".join(event["choices"][0]["text"] for event in events).startswith(TEXT)
    assert {event["object"] for event in events} == {"text_completion"}
    assert events[-1]["choices"] == [{"index": 0, "text": "", "logprobs": None, "finish_reason": "stop"}]
    assert last["usage"] == {"prompt_tokens": 1, "completion_tokens": 8, "total_tokens": 9}


def test_text_is_sent_as_it_is(connect: Callable[[MockProcess], Wire], tmp_path: Path) -> None:
    """Quotes, line ends, NULs and other scripts survive the encoding, and so does a model's strange name."""
    text = 'say "hi"\n\n\0 \N{SLIGHTLY SMILING FACE} \N{CJK UNIFIED IDEOGRAPH-4F60} data: [DONE]'
    file = tmp_path / "replies.jsonl"
    file.write_bytes(orjson.dumps({"reply": text}))
    with start_mock(ttft="0", itl="0", replies=file) as mock:
        wire = connect(mock)
        wire.ask(model='m"\0')
        wire.read_head()
        events = wire.read_events()
    assert "".join(contents(events)[:-1]) == text
    assert {event["model"] for event in events} == {'m"\0'}


@pytest.mark.parametrize(("role_chunk", "roles"), [("first", 1), ("early", 1), ("none", 0)])
def test_the_role_chunk_is_chosen(
    connect: Callable[[MockProcess], Wire],
    role_chunk: str,
    roles: int,
) -> None:
    """A chat stream starts with the role chunk unless it is to have none."""
    with start_mock(ttft="0", itl="0", tokens="3", role_chunk=role_chunk) as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_head()
        events = wire.read_events()
    assert [("role" in event["choices"][0]["delta"]) for event in events] == [True] * roles + [False] * 4


def test_an_early_role_chunk_does_not_wait(connect: Callable[[MockProcess], Wire]) -> None:
    """An early role chunk arrives although the first token is an hour away."""
    with start_mock(ttft="3600s", role_chunk="early") as mock:
        wire = connect(mock)
        wire.ask()
        assert wire.read_until(b'"role":"assistant"').startswith(b"HTTP/1.1 200")


def test_an_event_carries_many_tokens(connect: Callable[[MockProcess], Wire]) -> None:
    """With three tokens a chunk, eight tokens are three events, and the usage still counts tokens."""
    with start_mock(ttft="0", itl="0", tokens="8", tokens_per_chunk=3, role_chunk="none") as mock:
        wire = connect(mock)
        wire.ask(stream_options={"include_usage": True})
        wire.read_head()
        *events, last = wire.read_events()
        (truth,) = mock.truth(1)
    assert contents(events) == [" A mock endpoint", " answers every question", " with the", None]
    assert last["usage"]["completion_tokens"] == 8
    assert (len(truth.chunk_ns), truth.tokens) == (3, 8)


def test_an_empty_reply_has_no_token(connect: Callable[[MockProcess], Wire], tmp_path: Path) -> None:
    """A scripted empty reply is a role chunk and a finish reason."""
    file = tmp_path / "replies.jsonl"
    file.write_text('{"reply": "", "ttft": "0"}')
    with start_mock(replies=file) as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_head()
        events = wire.read_events()
        (truth,) = mock.truth(1)
    assert contents(events) == ["", None]
    assert (truth.chunk_ns, truth.tokens, truth.outcome) == ([], 0, "completed")


def test_one_connection_serves_many(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """Streams, answers in one piece and refusals follow each other on one connection."""
    wire = connect(instant)
    for _ in range(2):
        wire.ask(request_id="the-id")
        assert b"X-Request-Id: the-id\r\n" in wire.read_head()
        assert len(wire.read_events()) == 10
        wire.ask(stream=False)
        assert wire.read_json()[0] == 200
        wire.send(b"{")
        assert wire.read_json()[0] == 400


def test_a_long_prompt_is_taken(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A prompt of several megabytes is a prompt like any other."""
    wire = connect(instant)
    wire.ask("/v1/completions", prompt="word " * 1_000_000, stream=False)
    status, answer = wire.read_json()
    assert (status, answer["usage"]["prompt_tokens"]) == (200, 1_000_000)


def test_a_compressed_body_is_refused(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
) -> None:
    """A compressed body is refused, whatever is in it."""
    wire = connect(instant)
    wire.send(b"not gzip at all", Content_Encoding="gzip")
    status, answer = wire.read_json()
    assert status == 415
    assert answer["error"]["type"] == "invalid_request_error"
