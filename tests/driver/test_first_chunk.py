"""How long the text of the first chunk is: what one needs to count the tokens that came after it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Delta, Usage
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.client.stream import ResponseStream


def streamed(*deltas: dict[str, Any]) -> ParsedResponse:
    """What comes of a stream of these deltas."""
    body = b"".join(b"data: " + orjson.dumps({"choices": [{"delta": delta}]}) + b"\n\n" for delta in deltas)
    stream = ResponseStream(chat_completions)
    stream.start(event_stream=True)
    for at_ns, piece in enumerate(body.splitlines(keepends=True), start=1):
        stream.receive([piece], [at_ns])
    for _ in stream.decode():
        pass
    return stream.answer


def call(arguments: str, name: str | None = None) -> dict[str, Any]:
    """A part of a tool call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{"index": 0, "function": function}]}


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        (({"role": "assistant", "content": ""}, {"content": "añ"}, {"content": "bcd"}), {"content": 2}),
        (({"reasoning_content": "hmm"}, {"content": "bcd"}), {"reasoning": 3}),
        (({"reasoning_content": "hmm", "content": "a"}, {"content": "bcd"}), {"reasoning": 3, "content": 1}),
        ((call("", "f"), call('{"a": 1}')), {"tool_call": 0}),
        ((call('{"a"', "f"), call(": 1}")), {"tool_call": 4}),
        (({"role": "assistant"},), None),
    ],
)
def test_it_is_that_of_the_first_chunk_with_something(
    deltas: tuple[dict[str, Any], ...], expected: dict[str, int] | None
) -> None:
    """In characters, of each category that it has; of a tool call its arguments, behind its name."""
    assert streamed(*deltas).first_chunk == expected


def test_usage_that_comes_with_the_first_chunk() -> None:
    """Counts its tokens, where a server sends its counts so far with each chunk."""
    answer = ParsedResponse()
    for tokens in (4, 7):
        answer.add(Delta(content="abcd", usage=Usage(output_tokens=tokens)), tokens)
    assert answer.first_chunk == {"content": 4, "tokens": 4}


def test_what_was_not_streamed_has_no_chunk() -> None:
    """Nor has an answer that never began."""
    answer = ParsedResponse()
    answer.add(Delta(content="all of it"), None)
    assert answer.first_chunk is None
    assert ParsedResponse().first_chunk is None


@given(texts=st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=150))
def test_however_long_the_stream_is(texts: list[str]) -> None:
    """It is the start of the whole text, and what is left of it came later."""
    answer = streamed(*({"content": text} for text in texts))
    assert answer.first_chunk == {"content": len(texts[0])}
    assert "".join(answer.content)[len(texts[0]) :] == "".join(texts[1:])
