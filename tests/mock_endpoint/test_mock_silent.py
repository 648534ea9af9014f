"""Tokens that take as long as others and are counted, and that no chunk shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Wire


MS = 1_000_000
CALLS = [{"name": "search", "arguments": '{"text": "one two three"}'}, {"name": "stop", "arguments": "{}"}]


def asked(wire: Wire, **fields: Any) -> tuple[list[Any], dict[str, int]]:
    """The choices of a stream, and its usage."""
    wire.ask(stream_options={"include_usage": True}, **fields)
    assert wire.read_head().startswith(b"HTTP/1.1 200")
    events = wire.read_events()
    return [event["choices"][0] for event in events[:-1]], events[-1]["usage"]


@pytest.mark.parametrize("itl", ["5ms", "0"])
@pytest.mark.parametrize("tokens_per_chunk", [1, 2])
def test_an_end_of_sequence_token(
    connect: Callable[[MockProcess], Wire],
    itl: str,
    tokens_per_chunk: int,
) -> None:
    """It is one token more in usage, and the finish reason comes with it."""
    with start_mock(
        ttft="10ms", itl=itl, tokens="4", count_eos=True, tokens_per_chunk=tokens_per_chunk
    ) as mock:
        choices, usage = asked(connect(mock))
        wire = connect(mock)
        wire.ask(stream=False)
        _, whole = wire.read_json()
        truth = mock.truth(2)[0]
    chunks = 4 // tokens_per_chunk
    assert [choice["finish_reason"] for choice in choices] == [None] * (1 + chunks) + ["stop"]
    assert usage["completion_tokens"] == whole["usage"]["completion_tokens"] == truth.tokens == 5
    assert whole["choices"][0]["message"]["content"] == " A mock endpoint answers"
    assert (len(truth.chunk_ns), len(truth.silent_ns)) == (chunks, 1)
    gaps = 4 if itl == "5ms" else 0
    assert truth.silent_ns[0] >= truth.received_ns + (10 + 5 * gaps) * MS - 1000
    assert truth.chunk_ns[-1] <= truth.silent_ns[0] <= truth.done_ns


def test_a_limit_comes_before_the_end(connect: Callable[[MockProcess], Wire]) -> None:
    """An answer that a limit cuts has no end-of-sequence token; nor has one that ignores it."""
    with start_mock(ttft="0", itl="0", tokens="4", count_eos=True) as mock:
        for fields in ({"max_tokens": 3}, {"max_tokens": 4}, {"max_tokens": 6, "ignore_eos": True}):
            choices, usage = asked(connect(mock), **fields)
            assert choices[-1]["finish_reason"] == "length"
            assert usage["completion_tokens"] == fields["max_tokens"]
        _, usage = asked(connect(mock), max_tokens=5)
    assert usage["completion_tokens"] == 5


def test_an_empty_answer(connect: Callable[[MockProcess], Wire], tmp_path: Path) -> None:
    """The end of the sequence may come first."""
    script = tmp_path / "script.jsonl"
    script.write_text('{"reply": ""}\n')
    with start_mock(ttft="1ms", itl="1ms", replies=script, count_eos=True) as mock:
        choices, usage = asked(connect(mock))
        (truth,) = mock.truth(1)
    assert [choice["delta"].get("content") for choice in choices] == ["", None]
    assert (usage["completion_tokens"], truth.chunk_ns, len(truth.silent_ns)) == (1, [], 1)


def test_tool_calls_that_are_held_back(connect: Callable[[MockProcess], Wire], tmp_path: Path) -> None:
    """They arrive in one chunk, when the last of their words is due."""
    script = tmp_path / "script.jsonl"
    script.write_bytes(orjson.dumps({"reply": "I look.", "tool_calls": CALLS}))
    with start_mock(ttft="10ms", itl="5ms", replies=script, hold_calls=True) as mock:
        choices, usage = asked(connect(mock))
        (truth,) = mock.truth(1)
    calls = [choice["delta"]["tool_calls"] for choice in choices if "tool_calls" in choice["delta"]]
    assert [[call["function"]["name"] for call in chunk] for chunk in calls] == [["search", "stop"]]
    assert [call["function"]["arguments"] for call in calls[0]] == [call["arguments"] for call in CALLS]
    # Two of text; of the calls "search", three words in each half of the arguments, "stop" and "{}".
    assert usage["completion_tokens"] == truth.tokens == 2 + 5 + 2
    assert (len(truth.chunk_ns), len(truth.silent_ns)) == (3, 6)
    assert truth.chunk_ns[2] >= truth.received_ns + (10 + 8 * 5) * MS - 1000
