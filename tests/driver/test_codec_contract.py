"""What every protocol keeps: the same tests for all of them, each in its own words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, completions, messages, responses
from loadgen.driver.client.codec import Generation, Usage
from loadgen.driver.client.plain_json import PlainJson, PlainSSE
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import MalformedResponseError, RequestFailedError
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loadgen.driver.client.codec import Codec

    Split = Callable[[bytes, Iterable[int]], list[bytes]]

SAMPLE = Sample(0, "why?", system="be brief")


@dataclass(frozen=True)
class Dialect:
    """How a protocol says what all of them can say.

    Attributes:
        codec: Under test.
        start: The frames before the first token.
        says: The frame of a piece of text.
        ends: The frames of a stream's end: why it stopped, and that it took 7 input and 5 output tokens.
        whole: A complete response with a text, the same reason and the same counts.
        counts: What of the counts it can tell.
        thinks: The frame of a piece of reasoning, where the protocol has it.
        calls: The frames of a call of `f` with the arguments `{}`.
        fails: Frames of an error that says `boom`.
        bad: Frames and responses that are not the protocol's.
    """

    codec: Codec
    start: list[Any]
    says: Callable[[str], Any]
    ends: list[Any]
    whole: Callable[[str], Any]
    counts: Usage
    fails: list[Any]
    bad: list[Any]
    reason: str = "stop"
    thinks: Callable[[str], Any] | None = None
    calls: list[Any] | None = None


def choice(**members: Any) -> dict[str, Any]:
    """A frame with one choice."""
    return {"choices": [{"index": 0, "finish_reason": None, **members}]}


OPENAI_USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 5,
    "completion_tokens_details": {"reasoning_tokens": 3},
    "prompt_tokens_details": {"cached_tokens": 2},
}
OPENAI_ERRORS = [{"error": {"message": "boom", "code": 500}}, {"error": "boom"}]

CHAT = Dialect(
    chat_completions,
    start=[choice(delta={"role": "assistant", "content": ""})],
    says=lambda text: choice(delta={"content": text}),
    ends=[choice(delta={}, finish_reason="stop"), {"choices": [], "usage": OPENAI_USAGE}],
    whole=lambda text: choice(message={"content": text}, finish_reason="stop") | {"usage": OPENAI_USAGE},
    counts=Usage(7, 5, 3, 2),
    thinks=lambda text: choice(delta={"reasoning_content": text}),
    calls=[
        choice(delta={"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}),
        choice(delta={"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
    ],
    fails=OPENAI_ERRORS,
    bad=[
        7,
        [],
        {"choices": 7},
        choice(delta=7, message=7),
        choice(delta={"content": 7}, message={"content": 7}),
    ],
)
COMPLETIONS = Dialect(
    completions,
    start=[],
    says=lambda text: choice(text=text),
    ends=[choice(text="", finish_reason="stop"), {"choices": [], "usage": OPENAI_USAGE}],
    whole=lambda text: choice(text=text, finish_reason="stop") | {"usage": OPENAI_USAGE},
    counts=Usage(7, 5, 3, 2),
    fails=OPENAI_ERRORS,
    bad=[7, [], {"choices": 7}, choice(text=7)],
)

RESPONSE_USAGE = {
    "input_tokens": 7,
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
    "input_tokens_details": {"cached_tokens": 2},
}


def response(*output: Any) -> dict[str, Any]:
    """A complete response of OpenAI's Responses."""
    return {"status": "completed", "error": None, "output": list(output), "usage": RESPONSE_USAGE}


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event, which says itself what it is."""
    return {"type": kind, **members}


def message(text: str) -> dict[str, Any]:
    """An output item."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
RESPONSES = Dialect(
    responses,
    start=[
        event("response.created", response={"status": "in_progress", "error": None, "output": []}),
        event("response.in_progress", response={"status": "in_progress"}),
        event("response.output_item.added", output_index=0, item={"type": "message", "content": []}),
        event("response.content_part.added", part={"type": "output_text", "text": ""}),
    ],
    says=lambda text: event("response.output_text.delta", item_id="m", output_index=0, delta=text),
    ends=[
        event("response.output_text.done", text="all of it again"),
        event("response.output_item.done", item=message("and again")),
        event("response.completed", response=response(message("and again"))),
    ],
    whole=lambda text: response(message(text)),
    counts=Usage(7, 5, 3, 2),
    reason="completed",
    thinks=lambda text: event("response.reasoning_text.delta", delta=text),
    calls=[
        event("response.output_item.added", output_index=1, item=CALL),
        event("response.function_call_arguments.delta", output_index=1, delta="{}"),
        event("response.function_call_arguments.done", output_index=1, arguments="{}"),
    ],
    fails=[
        event("error", code="server_error", message="boom", param=None),
        event("response.failed", response={"status": "failed", "error": {"message": "boom"}}),
        {"error": {"message": "boom"}},
    ],
    bad=[
        *(7, [], {"no": "type"}, {"type": 7}),
        event("response.output_text.delta", delta=7),
        event("response.completed", response=7),
        event("response.completed", output=7),
    ],
)

ANTHROPIC_USAGE = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 5}
STOPPED = {"stop_reason": "end_turn", "usage": ANTHROPIC_USAGE}
MESSAGES = Dialect(
    messages,
    start=[
        event("message_start", message={"content": [], "usage": ANTHROPIC_USAGE | {"output_tokens": 1}}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("ping"),
    ],
    says=lambda text: event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}),
    ends=[
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "x"}),
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5}),
        event("message_stop"),
    ],
    whole=lambda text: {"content": [{"type": "text", "text": text}], **STOPPED},
    counts=Usage(7, 5, None, 2),
    reason="end_turn",
    thinks=lambda text: event("content_block_delta", delta={"type": "thinking_delta", "thinking": text}),
    calls=[
        event("content_block_start", index=1, content_block={"type": "tool_use", "id": "c", "name": "f"}),
        event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": ""}),
        event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": "{}"}),
    ],
    fails=[event("error", error={"type": "overloaded_error", "message": "boom"}), {"error": "boom"}],
    bad=[
        *(7, [], {"content": [7]}),
        event("content_block_delta", delta=7),
        event("content_block_delta", delta={"type": "text_delta", "text": 7}),
    ],
)


def plain(codec: Codec) -> Dialect:
    """A protocol that is described: tokens and the reason are next to the text."""
    return Dialect(
        codec,
        start=[{"meta": {}}],
        says=lambda text: {"out": [{"text": text}]},
        ends=[{"meta": {"n": 5, "why": "stop"}}],
        whole=lambda text: {"out": [{"text": text}], "meta": {"n": 5, "why": "stop"}},
        counts=Usage(None, 5),
        fails=OPENAI_ERRORS,
        bad=[7, "text", {"out": [{"text": 7}]}, {"meta": {"why": ["stop"]}}],
    )


PLACES = {"text_at": "out.0.text", "tokens_at": "meta.n", "finish_at": "meta.why"}
SSE, JSON = plain(PlainSSE(**PLACES)), plain(PlainJson(**PLACES))

DIALECTS = {
    "chat": CHAT,
    "completions": COMPLETIONS,
    "responses": RESPONSES,
    "messages": MESSAGES,
    "sse": SSE,
    "json": JSON,
}
EACH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
TEXTS = st.lists(
    st.text(min_size=1, max_size=6) | st.sampled_from(['"', "\\", 'a","b', "é😀", "stop"]), max_size=9
)


def frames(payloads: Iterable[Any]) -> bytes:
    """Payloads as a stream sends them, with their names where they have any."""
    named = ((payload.get("type") if isinstance(payload, dict) else None, payload) for payload in payloads)
    return b"".join(
        (b"event: %b\n" % name.encode() if isinstance(name, str) else b"")
        + b"data: "
        + orjson.dumps(payload)
        + b"\n\n"
        for name, payload in named
    )


def stream(codec: Codec, pieces: Iterable[bytes], *, lessons: int | None = None) -> ResponseStream:
    """A response that came in these pieces, each at its own time, decoded to its end."""
    received = ResponseStream(codec)
    if lessons is not None:
        received._lessons = lessons
    received.start(event_stream=True)
    for at_ns, piece in enumerate(pieces, 1):
        received.receive([piece], [at_ns])
    for _ in received.decode():
        pass
    return received


def outcome_of(codec: Codec, pieces: Iterable[bytes], *, lessons: int | None = None) -> tuple[Any, ...]:
    """What a response says, times aside; or the failure that it is."""
    try:
        answer = stream(codec, pieces, lessons=lessons).answer
    except RequestFailedError as error:
        return (error.failure,)
    texts = ("".join(answer.content), "".join(answer.reasoning), answer.tool_calls)
    return (*texts, answer.finish_reason, answer.usage, answer.done, answer.error, len(answer.token_ns))


def test_every_protocol_is_under_test() -> None:
    """A protocol in the table has its dialect here; a preset is its protocol with options."""
    protocols = {name: entry for name, entry in PROTOCOLS.items() if not entry.preset_of}
    assert list(DIALECTS) == list(protocols)
    fixed = [name for name, entry in protocols.items() if not entry.described]
    assert [DIALECTS[name].codec for name in fixed] == [codec_of(name, {}) for name in fixed]
    assert {name: type(DIALECTS[name].codec) for name in protocols.keys() - set(fixed)} == {
        name: type(codec_of(name, {})) for name in protocols.keys() - set(fixed)
    }


@EACH
@given(texts=TEXTS, places=st.lists(st.integers(0, 5000), max_size=6))
def test_any_text_comes_through(splits: Split, dialect: Dialect, texts: list[str], places: list[int]) -> None:
    """In any split of the bytes; with the reason, the counts, and as many tokens as there were pieces."""
    body = frames([*dialect.start, *map(dialect.says, texts), *dialect.ends])
    expected = ("".join(texts), "", [], dialect.reason, dialect.counts)
    for pieces in ([body], splits(body, places)):
        content, reasoning, calls, reason, usage, _, error, count = outcome_of(dialect.codec, pieces)
        assert (content, reasoning, calls, reason, usage) == expected
        assert (error, count) == (None, len(texts))


@EACH
@given(text=st.text(max_size=20))
def test_any_text_comes_through_whole(dialect: Dialect, text: str) -> None:
    """A response that is not a stream has the same figures, and no times."""
    received = ResponseStream(dialect.codec)
    received.start(event_stream=False)
    received.receive([orjson.dumps(dialect.whole(text))], [1])
    for _ in received.decode():
        pass
    answer = received.answer
    assert ("".join(answer.content), answer.finish_reason, answer.usage) == (
        text,
        dialect.reason,
        dialect.counts,
    )
    assert (answer.token_ns, answer.silent_ns) == ([], [])
    # It is whole because it is JSON, also where HTTP says nothing of its end.
    assert not received.lacks_end(framed=False)


@EACH
def test_what_an_end_is(dialect: Dialect) -> None:
    """A stream of a protocol with finish reasons lacks an end without one, `[DONE]` or not."""
    tokens = [*dialect.start, dialect.says("a")]
    assert dialect.codec.announces_end
    for framed in (True, False):
        assert stream(dialect.codec, [frames(tokens)]).lacks_end(framed=framed)
        assert stream(dialect.codec, [frames(tokens), b"data: [DONE]\n\n"]).lacks_end(framed=framed)
        assert not stream(dialect.codec, [frames([*tokens, *dialect.ends])]).lacks_end(framed=framed)
    # Nothing but a comment is not a stream that was cut, but an empty one; if HTTP says that it is over.
    assert not stream(dialect.codec, [b": ping\n\n"]).lacks_end(framed=True)
    assert stream(dialect.codec, [b": ping\n\n"]).lacks_end(framed=False)


def test_a_described_protocol_without_a_place_of_finish_reasons_ends_with_its_response() -> None:
    """Nothing in the stream says whether the answer is complete: HTTP does."""
    codec = codec_of("sse", {"text_at": "text"})
    assert not codec.announces_end
    assert not stream(codec, [frames([{"text": "a"}])]).lacks_end(framed=True)


@pytest.mark.parametrize("dialect", [RESPONSES, MESSAGES], ids=["responses", "messages"])
def test_nothing_follows_an_end_of_the_protocol(dialect: Dialect) -> None:
    """Its last event is what `[DONE]` is elsewhere; its name may be missing next to the payload."""
    body = frames([dialect.says("a"), *dialect.ends, dialect.says("b")])
    for item in (body, b"\n".join(line for line in body.split(b"\n") if not line.startswith(b"event:"))):
        answer = stream(dialect.codec, [item]).answer
        assert (answer.content, answer.done) == (["a"], True)


@EACH
def test_errors_are_errors(dialect: Dialect) -> None:
    """In a stream, where what came before them stands, and as the whole response."""
    for payload in dialect.fails:
        answer = stream(dialect.codec, [frames([*dialect.start, dialect.says("a"), payload])]).answer
        assert (answer.error, answer.content) == ("boom", ["a"])
    for payload in dialect.fails:
        if payload.get("type") != "response.failed":
            assert dialect.codec.whole(payload).error == "boom"


@EACH
def test_other_shapes_are_malformed(dialect: Dialect) -> None:
    """What is not the protocol's is reported, never ignored."""
    for payload in dialect.bad:
        with pytest.raises(MalformedResponseError):
            dialect.codec.chunk(payload)
    for payload in (7, "text", None):
        with pytest.raises(MalformedResponseError):
            dialect.codec.whole(payload)


@pytest.mark.parametrize(
    "dialect", [d for d in DIALECTS.values() if d.thinks], ids=[n for n, d in DIALECTS.items() if d.thinks]
)
def test_reasoning_content_and_calls_have_their_own_moments(dialect: Dialect) -> None:
    """Each has its moment: the first token, the first output, the first that can be seen."""
    assert dialect.thinks is not None
    assert dialect.calls is not None
    thoughts = [dialect.thinks("hm"), dialect.thinks("so")]
    pieces = [frames([item]) for item in [*dialect.start, *thoughts, *dialect.calls, dialect.says("a")]]
    answer = stream(dialect.codec, pieces).answer
    first = len(dialect.start) + 1
    assert (answer.arrivals[0], answer.first_output_ns) == (first, first + 2)
    assert answer.first_visible_ns == len(pieces)
    assert ("".join(answer.reasoning), answer.content) == ("hmso", ["a"])
    called = {"name": "f", "arguments": "{}"}
    assert [(call["id"], call["function"]) for call in answer.tool_calls] == [("c", called)]
    assert len(answer.token_ns) == 2 + 2 + 1


@EACH
@given(texts=TEXTS)
def test_a_template_makes_no_difference(dialect: Dialect, texts: list[str]) -> None:
    """Frames that differ in their text alone are read many at a time, with the same result."""
    pieces = [frames([dialect.says(text)]) for text in ["a", *texts]]
    quick = stream(dialect.codec, pieces)
    slow = stream(dialect.codec, pieces, lessons=0)
    # Of what comes later, a text can be in its frame twice, and then there is nothing to learn from it.
    assert stream(dialect.codec, pieces[:1])._template is not None
    assert (quick.answer.content, quick.answer.token_ns) == (slow.answer.content, slow.answer.token_ns)
    assert quick.answer.first_visible_ns == slow.answer.first_visible_ns == 1


@EACH
def test_requests(dialect: Dialect) -> None:
    """Prompt, system prompt and what was chosen are in it, by whatever names; what was said by name wins."""
    chosen = Generation("m", max_tokens=5, temperature=0.5, extra_body={"top_k": 1, "model": "other"})
    body = dialect.codec.request(SAMPLE, chosen)
    text = orjson.dumps(body).decode()
    assert "why?" in text
    assert "be brief" in text
    assert (body["top_k"], body["model"], body["temperature"]) == (1, "other", 0.5)
    assert 5 in body.values()
    without = replace(chosen, extra_body=dict.fromkeys([*body, "no_such"]) | {"top_k": 1})
    assert dialect.codec.request(SAMPLE, without) == {"top_k": 1}
    plain_body = dialect.codec.request(Sample(0, "why?"), Generation("m", stream=False))
    assert "be brief" not in str(plain_body)
    assert 5 not in plain_body.values()
    assert "temperature" not in plain_body
    texts = dialect.codec.asked(SAMPLE)
    assert texts.keys() <= {"messages", "prompt"}
    assert "be brief" in str(texts)
