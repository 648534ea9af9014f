"""Streams in the shapes in which real servers, gateways and proxies send them, on an exact timetable.

Sixteen tokens, the first 20 ms after the request and then one every 5 ms, unless the shape says otherwise:
the time to the first token is 20 ms, 5 ms pass between tokens, and the last comes after 95 ms.
"""

from __future__ import annotations

import asyncio
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import head
from loadgen.driver.requests.turn import RequestRunner
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.client.exchange import Exchange
    from recorder.event import Event

MS = 1_000_000
SENT_NS = 1_000 * MS
TOKENS = 16

Timetable = "list[tuple[float, bytes]]"


@dataclass
class Replay:
    """A transport that has a response arrive on a timetable: ms after the request, and bytes."""

    timetable: Timetable
    cut: bool = False
    endpoint = endpoint("replay", {})

    async def send(self, _: bytes, exchange: Exchange) -> None:
        """Replay it."""
        exchange.sent(SENT_NS)
        exchange.head(head(200, ((b"content-type", b"text/event-stream"),)), SENT_NS)
        at_ns = SENT_NS
        for after_ms, data in self.timetable:
            at_ns = SENT_NS + round(after_ms * MS)
            exchange.body([data], [at_ns])
        if self.cut:
            exchange.failed(Failure.TRUNCATED, "cut", at_ns)
        else:
            exchange.ended(at_ns, framed=True)

    async def close(self) -> None:
        """Nothing is open."""


def event(payload: Any, end: bytes = b"\n\n") -> bytes:
    """One event."""
    return b"data: " + orjson.dumps(payload) + end


def delta(end: bytes = b"\n\n", **message: Any) -> bytes:
    """The event of one delta."""
    return event({"choices": [{"index": 0, "delta": message, "finish_reason": None}]}, end)


def tokens(end: bytes = b"\n\n", thinking: str = "", of: int = TOKENS) -> Timetable:
    """Sixteen tokens, the first eight of them in the member that is named."""
    member = [thinking or "content"] * 8 + ["content"] * 8
    return [(20 + 5 * k, delta(end, **{member[k]: f" {k}"})) for k in range(of)]


STOP = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": TOKENS}})
USAGE_OF_9 = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}})
DONE = b"data: [DONE]\n\n"
END = [(95, STOP), (95, USAGE), (95, DONE)]
ROLE = (0, delta(role="assistant", content=""))
WITH_USAGE = event(
    {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": TOKENS},
    },
)
PINGS = [(1, b": ping\n\n"), (11, b": ping\n\n")]
IN_LINES = b'data: {"choices":\ndata: [{"delta":\ndata: {"content": "x"}}]}\n\n'


def tool_call(k: int) -> bytes:
    """A part of a tool call."""
    part = {"index": 0, "function": {"arguments": f" {k}"}}
    return delta(tool_calls=[part | {"id": "a", "type": "function"} if k == 0 else part])


def in_pieces(timetable: Timetable) -> Timetable:
    """Every byte in a separate read, all in the same moment."""
    return [(at_ms, data[i : i + 1]) for at_ms, data in timetable for i in range(len(data))]


def turn(timetable: Timetable, *, cut: bool = False) -> tuple[Event, Any]:
    """The last event of a turn that was answered so, and its outcome."""
    events: list[Event] = []
    runner = RequestRunner(Replay(timetable, cut), chat_completions, Generation("m"), events.append)
    outcome = asyncio.run(runner.run(Sample(0, "why?"), b"{}", SENT_NS, "performance"))
    assert violations(events) == []
    return events[-1], outcome


def figures(last: Event) -> tuple[float, ...]:
    """Time to the first token, time per output token and time to the last token, in ms."""
    data = last.data
    first, final = data["first_token_ns"], data["last_token_ns"]
    count = data["output_tokens"] or data["chunks"]
    return (first - SENT_NS) / MS, (final - first) / MS / (count - 1), (final - SENT_NS) / MS


@pytest.mark.parametrize(
    "timetable",
    [
        pytest.param([*tokens(), *END], id="plain"),
        pytest.param([ROLE, *tokens(), *END], id="a role-only chunk at 0 ms"),
        pytest.param([*tokens(thinking="reasoning_content"), *END], id="reasoning_content first"),
        pytest.param([*tokens(thinking="reasoning"), *END], id="reasoning first"),
        pytest.param([*PINGS, *tokens(), *END], id="comments before the first token"),
        pytest.param([*tokens(), (95, STOP), (145, USAGE), (145, DONE)], id="usage 50 ms late"),
        pytest.param([*tokens(), *END[:2], (145, DONE)], id="[DONE] 50 ms late"),
        pytest.param([*tokens(b"\r\n\r\n"), *END], id="CRLF between events"),
        pytest.param([*tokens(b"\r\r"), *END], id="CR between events"),
        pytest.param([(20 + 5 * k, tool_call(k)) for k in range(TOKENS)] + END, id="tool calls only"),
        pytest.param([*tokens(), (95, STOP), (95, DONE)], id="no usage"),
        pytest.param([*tokens(), (95, STOP), (95, USAGE)], id="no [DONE]"),
        pytest.param([*tokens(), (95, WITH_USAGE)], id="usage on the last chunk"),
        pytest.param([(20 + 5 * k, IN_LINES) for k in range(TOKENS)] + END, id="several data lines"),
        pytest.param(in_pieces([ROLE, *tokens(b"\r\n\r\n"), *END]), id="byte by byte"),
        pytest.param(
            [(index, b"event: x\nid: 7\n" + data) for index, data in [*tokens(), *END]], id="names and ids"
        ),
        pytest.param([*tokens(), (95, STOP), (95, DONE[:-2])], id="no blank line after the last"),
        pytest.param(
            [(k / 100, delta(content=None)) for k in range(1500)] + [*tokens(), *END],
            id="thousands of nothings",
        ),
    ],
)
def test_shapes_that_change_nothing(timetable: Timetable) -> None:
    """However the stream looks, the figures are the same."""
    last, outcome = turn(timetable)
    assert (last.type.name, outcome.failure) == ("COMPLETE", None), last.data
    assert figures(last) == (20, 5, 95)
    assert outcome.ttft_ms == 20
    assert outcome.output_tokens == TOKENS
    assert last.at_ns == SENT_NS + timetable[-1][0] * MS


def test_the_first_output_follows_the_reasoning() -> None:
    """Eight tokens of it, and then the answer."""
    for member in ("reasoning", "reasoning_content"):
        last, _ = turn([*tokens(thinking=member), *END])
        assert last.data["first_output_ns"] == SENT_NS + 60 * MS
        assert last.data["texts"]["reasoning"] == "".join(f" {k}" for k in range(8))


def test_four_tokens_a_chunk() -> None:
    """Four chunks, sixteen tokens: the time per token is that of tokens where the server counts them."""
    last, outcome = turn([(20 * k, delta(content=" a b c d")) for k in range(1, 5)] + END)
    assert figures(last) == (20, 4, 80)
    assert (last.data["chunks"], outcome.output_tokens) == (4, TOKENS)


SILENT = [(20 + 5 * k, delta(content="")) for k in range(4)]


def test_tokens_without_text() -> None:
    """They are tokens where the server's count says so: all figures have them, and the first text its own."""
    last, outcome = turn([ROLE, *SILENT, *tokens()[4:], *END])
    assert figures(last) == (20, 5, 95)
    assert outcome.ttft_ms == 20
    data = last.data
    assert (data["silent_chunks"], data["silent_tokens"], data["chunks"]) == (4, True, TOKENS)
    assert data["first_output_ns"] == SENT_NS + 20 * MS
    assert data["first_visible_ns"] == SENT_NS + 40 * MS
    assert list(array("I", data["chunk_gaps_us"])) == [20_000, *[5_000] * 15]
    # One token more than chunks is the one that ends the text.
    last, _ = turn([ROLE, *SILENT[1:], *tokens()[4:], *END])
    assert (last.data["silent_tokens"], figures(last)[0]) == (True, 25)


@pytest.mark.parametrize("end", [[(95, STOP), (95, DONE)], [(95, STOP), (95, USAGE_OF_9), (95, DONE)]])
def test_silence_that_no_count_bears_out(end: Timetable) -> None:
    """Without a count, or against it, an empty text is not a token."""
    last, outcome = turn([ROLE, *SILENT, *tokens()[4:], *end])
    data = last.data
    assert (data["silent_chunks"], data["silent_tokens"], data["chunks"]) == (4, False, 12)
    assert outcome.ttft_ms == 40
    assert data["first_token_ns"] == data["first_output_ns"] == data["first_visible_ns"] == SENT_NS + 40 * MS
    assert list(array("I", data["chunk_gaps_us"])) == [40_000, *[5_000] * 11]


def test_silence_belongs_to_the_text_that_follows() -> None:
    """To reasoning, where that follows: then it is not output. Silence between texts is a token like any."""
    thinking = tokens(thinking="reasoning")
    last, _ = turn([*SILENT, *thinking[4:], *END])
    assert last.data["first_token_ns"] == SENT_NS + 20 * MS
    assert last.data["first_output_ns"] == last.data["first_visible_ns"] == SENT_NS + 60 * MS
    hushed = [*thinking[:8], (60, delta(content="")), *thinking[9:]]
    last, _ = turn([*hushed, *END])
    assert figures(last) == (20, 5, 95)
    assert last.data["first_output_ns"] == SENT_NS + 60 * MS
    assert last.data["first_visible_ns"] == SENT_NS + 65 * MS


def test_only_silence_counts_as_no_answer() -> None:
    """Whatever the server counts."""
    last, outcome = turn([ROLE, *[(20 + 5 * k, delta(content="")) for k in range(TOKENS)], *END])
    assert outcome.failure == "empty_answer"
    assert last.data["silent_chunks"] == TOKENS


def test_a_cut_after_eight_tokens() -> None:
    """A failure, with what had come."""
    last, outcome = turn(tokens(of=8), cut=True)
    assert (outcome.failure, last.data["error"], last.data["chunks"]) == ("truncated", "truncated", 8)


def test_an_error_after_eight_tokens() -> None:
    """A status of 200 does not make it a success."""
    last, outcome = turn([*tokens(of=8), (60, event({"error": {"message": "boom"}})), (60, DONE)])
    assert (outcome.failure, last.data["message"]) == ("error_frame", "boom")
    assert last.data["texts"]["output"] == "".join(f" {k}" for k in range(8))
