"""What single protocols have in addition to what all of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions, completions, messages, responses, server_json
from loadgen.driver.client.codec import Delta, Generation, Usage
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.client.plain_json import PlainJson, PlainSSE
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import MalformedResponseError
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec

SAMPLE = Sample(0, "why?", system="be brief")
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
OPENAI_USAGE = {"prompt_tokens": 7, "completion_tokens": 5}
RESPONSE_USAGE = {
    "input_tokens": 7,
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
    "input_tokens_details": {"cached_tokens": 2},
}


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event, which says itself what it is."""
    return {"type": kind, **members}


def choice(**members: Any) -> dict[str, Any]:
    """A frame with one choice."""
    return {"choices": [{"index": 0, "finish_reason": None, **members}]}


def answer(codec: Codec, *payloads: Any) -> ParsedResponse:
    """What a stream of these frames says, each of which came at its own time."""
    received = ResponseStream(codec)
    received.start(event_stream=True)
    for at_ns, payload in enumerate(payloads, 1):
        received.receive([b"data: " + orjson.dumps(payload) + b"\n\n"], [at_ns])
    for _ in received.decode():
        pass
    return received.answer


def test_how_each_protocol_names_things() -> None:
    """The bodies of the protocols that have their own names."""
    full = Generation("m", max_tokens=5, temperature=0.0)
    common = {"model": "m", "stream": True, "temperature": 0.0}
    assert responses.request(SAMPLE, full) == {
        **common,
        "input": "why?",
        "instructions": "be brief",
        "max_output_tokens": 5,
    }
    asked = [{"role": "user", "content": "why?"}]
    assert messages.request(SAMPLE, full) == {
        **common,
        "messages": asked,
        "system": "be brief",
        "max_tokens": 5,
    }
    assert messages.request(SAMPLE, Generation("m"))["max_tokens"] == messages.DEFAULT_MAX_TOKENS


def test_how_each_protocol_takes_the_key() -> None:
    """As a bearer token; the Messages in their own header too, and never without their version."""
    for name in PROTOCOLS:
        codec = codec_of(name, {})
        version = {"anthropic-version": "2023-06-01"} if name == "messages" else {}
        assert codec.headers(None) == version
        own = {"x-api-key": "k"} if name == "messages" else {}
        assert codec.headers("k") == {**version, **own, "Authorization": "Bearer k"}


@pytest.mark.parametrize(
    ("status", "details", "reason", "error"),
    [
        ("completed", None, "completed", None),
        ("incomplete", {"reason": "max_output_tokens"}, "max_output_tokens", None),
        ("incomplete", None, "incomplete", None),
        ("failed", None, "failed", "the response is failed"),
        ("cancelled", None, "cancelled", "the response is cancelled"),
    ],
)
def test_how_responses_end(status: str, details: Any, reason: str, error: str | None) -> None:
    """By the event's name and the response's own status; both say the same, and one may be missing."""
    message = {"status": status, "incomplete_details": details, "usage": RESPONSE_USAGE}
    for payload in (message, {name: value for name, value in message.items() if name != "status"}):
        delta = responses.chunk(event(f"response.{status}", response=payload))
        assert (delta.finish_reason, delta.error, delta.done) == (reason, error, True)
        assert delta.usage == Usage(7, 5, 3, 2)
    assert responses.whole(message | {"output": []}).finish_reason == reason


def test_what_a_whole_response_can_hold() -> None:
    """Reasoning, of which the summary stands where there is no text, refusals, and calls."""
    thought = {"type": "reasoning", "summary": [{"text": "in short"}], "content": [{"text": "at length"}]}
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    delta = responses.whole(
        {"output": [thought, refusal, CALL | {"arguments": "{}"}, {"type": "web_search_call"}]}
    )
    assert (delta.content, delta.reasoning) == ("no", "at length")
    assert [call["function"] for call in delta.tool_calls] == [{"name": "f", "arguments": "{}"}]
    assert responses.whole({"output": [thought | {"content": None}]}).reasoning == "in short"
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}},
    ]
    delta = messages.whole({"type": "message", "content": blocks})
    assert (delta.reasoning, delta.tool_calls[0]["function"]["arguments"]) == ("hm", '{"x":1}')


@pytest.mark.parametrize("kind", ["response.refusal.delta", "response.reasoning_summary_text.delta"])
def test_further_deltas_of_responses(kind: str) -> None:
    """A refusal is content; the summary of reasoning is reasoning."""
    delta = responses.chunk(event(kind, delta="x"))
    assert (delta.content or delta.reasoning) == "x"
    assert bool(delta.reasoning) is ("reasoning" in kind)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("function_call", "function_call_arguments"),
        ("custom_tool_call", "custom_tool_call_input"),
        ("mcp_call", "mcp_call_arguments"),
        ("code_interpreter_call", "code_interpreter_call_code"),
    ],
)
def test_calls_of_responses(kind: str, message: str) -> None:
    """Whatever is called, what it is called with has been generated."""
    answer = ParsedResponse()
    item = {"type": kind, "id": "c", "name": "f"}
    answer.add(responses.chunk(event("response.output_item.added", output_index=1, item=item)), 1)
    for at_ns, part in enumerate(["x", "y"], start=2):
        answer.add(responses.chunk(event(f"response.{message}.delta", output_index=1, delta=part)), at_ns)
    assert [call["function"] for call in answer.tool_calls] == [{"name": "f", "arguments": "xy"}]
    assert answer.token_ns == [1, 2, 3]


def test_reasoning_tokens_next_to_the_others() -> None:
    """As SGLang has them; where there are details, they count."""
    usage = {"prompt_tokens": 1, "completion_tokens": 9, "reasoning_tokens": 5}
    assert chat_completions.chunk({"choices": [], "usage": usage}).usage == Usage(1, 9, 5, None)
    usage |= {"completion_tokens_details": {"reasoning_tokens": 4}}
    assert chat_completions.chunk({"choices": [], "usage": usage}).usage == Usage(1, 9, 4, None)


COUNTED = {"prompt_tokens": 12, "completion_tokens": 1}
THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 386}}


@pytest.mark.parametrize(
    ("usage", "generated"),
    [
        (COUNTED, 1),
        (COUNTED | {"total_tokens": 13}, 1),
        # Reasoning in addition: as the total says, or because it is more than all.
        (COUNTED | THOUGHT | {"total_tokens": 399}, 387),
        (COUNTED | THOUGHT, 387),
        ({"prompt_tokens": 12, "completion_tokens": 500, "total_tokens": 898} | THOUGHT, 886),
        # Reasoning within.
        ({"prompt_tokens": 12, "completion_tokens": 500, "total_tokens": 512} | THOUGHT, 500),
        ({"prompt_tokens": 12, "completion_tokens": 500} | THOUGHT, 500),
        # A total that nothing explains changes nothing.
        (COUNTED | {"total_tokens": 399}, 1),
        # The total alone, and counts of 0 with it.
        ({"prompt_tokens": 12, "total_tokens": 20}, 8),
        ({"prompt_tokens": 12, "completion_tokens": 0, "total_tokens": 20}, 8),
        ({"total_tokens": 20}, None),
        ({"input_tokens": 12, "output_tokens": 8}, 8),
    ],
)
def test_output_tokens_of_each_dialect(usage: dict[str, Any], generated: int | None) -> None:
    """Reasoning is counted once, whether the server's output has it or not."""
    counts = chat_completions.chunk({"choices": [], "usage": usage}).usage
    assert counts is not None
    assert counts.generated_tokens == generated
    assert counts.excludes_reasoning is (generated in (387, 886))


@pytest.mark.parametrize("codec", [chat_completions, completions])
def test_usage_has_several_places(codec: Codec) -> None:
    """In the frame, in the answer's choice (Moonshot), or in a member of Groq's; of each choice its own."""
    counts = {"prompt_tokens": 7, "completion_tokens": 5, "cached_tokens": 2}
    end = {"index": 0, "delta": {}, "text": "", "finish_reason": "stop"}
    other = {"index": 1, "usage": {"prompt_tokens": 7, "completion_tokens": 9}}
    for frame in (
        {"choices": [], "usage": counts},
        {"choices": [end | {"usage": counts}], "usage": None},
        {"choices": [end | {"usage": counts}, other]},
        {"choices": [end], "x_groq": {"id": "q", "usage": counts}},
    ):
        assert codec.chunk(frame).usage == Usage(7, 5, None, 2)


@pytest.mark.parametrize("codec", [responses, messages])
def test_events_of_later_versions_say_nothing(codec: Codec) -> None:
    """A protocol grows; an unknown event is not a fault."""
    for payload in (event("response.later"), event("content_block_delta", delta={"type": "later_delta"}), {}):
        assert codec.chunk(payload) == Delta()


def test_counts_of_messages_come_in_two_parts() -> None:
    """The prompt's at the start, where 0 says nothing; the output's at the end, perhaps with the others."""

    def counted(*usages: dict[str, Any]) -> Usage:
        start = event("message_start", message={"usage": usages[0]})
        ends = [event("message_delta", delta={}, usage=usage) for usage in usages[1:]]
        return answer(messages, start, *ends).usage

    start = {
        "input_tokens": 5,
        "cache_read_input_tokens": 2,
        "cache_creation_input_tokens": 1,
        "output_tokens": 1,
    }
    assert counted(start) == Usage(8, None, None, 2)
    assert counted(start, {"output_tokens": 9}) == Usage(8, 9, None, 2)
    assert counted({"input_tokens": 0}, {"input_tokens": 8, "output_tokens": 9}) == Usage(8, 9)
    assert counted(start, {"input_tokens": 0, "output_tokens": 9}) == Usage(8, 9, None, 2)


def test_each_event_may_have_the_whole_text_so_far() -> None:
    """What is new of it counts; repeated text is not a token, and a text may take a part of itself back."""
    codec = PlainSSE(cumulative=True, tokens_at="n")
    texts = [("", 0), ("a", 1), ("ab\ufffd", 2), ("ab\ufffd", 2), ("abé", 3)]
    arguments = answer(codec, *({"text": text, "n": n} for text, n in texts))
    assert (arguments.content, arguments.token_ns) == (["abé"], [2, 3, 5])
    assert (arguments.first_visible_ns, arguments.usage.output_tokens) == (2, 3)


@pytest.mark.parametrize(
    ("value", "reason"),
    [("stop", "stop"), ("", None), (None, None), (False, None), (True, "true"), (2, "2")],
)
def test_a_reason_may_be_a_word_or_a_yes(value: Any, reason: str | None) -> None:
    """Where a server says no more than that it is over."""
    assert PlainJson(finish_at="done").chunk({"text": "a", "done": value}).finish_reason == reason


def test_a_system_prompt_has_its_place_or_precedes_the_prompt() -> None:
    """It is never lost."""
    apart = PlainJson(body={"s": "{system}", "p": "{prompt}"})
    assert apart.request(SAMPLE, Generation("m")) == {"s": "be brief", "p": "why?"}
    assert apart.request(Sample(0, "why?"), Generation("m")) == {"p": "why?"}
    together = PlainJson(body={"p": "Q: {prompt} A:"})
    assert together.request(SAMPLE, Generation("m")) == {"p": "Q: be brief\n\nwhy? A:"}


def test_several_answers_to_one_question() -> None:
    """The one with index 0 is the answer; of the others is known that there are chunks of them."""
    frame = [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]
    assert chat_completions.chunk({"choices": frame}) == Delta(content="A", others=(1,))
    assert chat_completions.chunk({"choices": frame[:1]}) == Delta(others=(1,))
    role = {"index": 1, "delta": {"role": "assistant", "content": ""}}
    assert chat_completions.chunk({"choices": [role]}) == Delta()
    assert chat_completions.chunk({"choices": frame[:1], "usage": OPENAI_USAGE}).usage == Usage(7, 5)
    other = {"index": 2, "text": "B", "finish_reason": "stop"}
    assert completions.chunk({"choices": [other]}) == Delta(others=(2,))
    with pytest.raises(MalformedResponseError):
        chat_completions.chunk({"choices": [frame[0], "x"]})


def test_content_may_be_a_list_of_parts() -> None:
    """As some gateways send it: texts are content, thoughts are reasoning, other parts are neither."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "b"},
    ]
    assert chat_completions.chunk(choice(delta={"content": parts})) == Delta(content="ab", reasoning="hm")
    assert chat_completions.whole(choice(message={"content": parts})).content == "ab"
    assert chat_completions.chunk(choice(delta={"content": []})) == Delta()


def test_a_call_is_kept_in_plain_values() -> None:
    """Arguments that are an object, as some servers send them, are kept as JSON."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": {"x": [1]}}, "extra": {"y": 2}}
    delta = chat_completions.chunk(choice(delta={"tool_calls": [call]}))
    assert delta.tool_calls == [
        call | {"function": {"name": "f", "arguments": '{"x":[1]}'}, "extra": '{"y":2}'}
    ]


@pytest.mark.parametrize(
    ("choice", "silent"),
    [
        ({"delta": {"content": ""}}, Delta(silent=True)),
        ({"delta": {"content": "", "tool_calls": None, "role": None}}, Delta(silent=True)),
        ({"delta": {"content": "", "role": "assistant"}}, Delta(silent=True, opens=True)),
        ({"delta": {"content": ""}, "finish_reason": "stop"}, Delta(finish_reason="stop")),
        ({"delta": {"content": None}}, Delta()),
        ({"delta": {"reasoning_content": ""}}, Delta()),
        ({"delta": {"content": "", "reasoning_content": "hm"}}, Delta(reasoning="hm")),
        ({"delta": {}}, Delta()),
    ],
)
def test_what_a_silent_chunk_is(choice: Any, silent: Delta) -> None:
    """It names the content, has none, and says nothing else but perhaps the role."""
    assert chat_completions.chunk({"choices": [choice]}) == silent


def test_the_role_opens_a_stream_once() -> None:
    """Some servers repeat it in every chunk: then only the first of them is not a token."""
    answer = ParsedResponse()
    for at_ns, message in enumerate(["", "", "a"]):
        answer.add(chat_completions.chunk(choice(delta={"role": "assistant", "content": message})), at_ns)
    answer.add(Delta(usage=Usage(output_tokens=2)), 3)
    assert (answer.silent_ns, answer.arrivals) == ([1], [1, 2])


@pytest.mark.parametrize(
    ("choice", "silent"),
    [
        ({"text": ""}, True),
        ({"text": "", "finish_reason": "stop"}, False),
        ({"text": "a"}, False),
        ({}, False),
    ],
)
def test_what_a_silent_chunk_of_completions_is(choice: Any, silent: bool) -> None:  # noqa: FBT001 (a case)
    """As above: with `text`."""
    assert completions.chunk({"choices": [choice]}).silent is silent


def test_a_codec_can_be_made_again() -> None:
    """What the log says of it is enough: it is all JSON."""
    options = {"path": "/x", "body": {"q": "{prompt}"}, "text_at": "a.0", "cumulative": True}
    codec = codec_of("sse", orjson.loads(orjson.dumps(options)))
    assert codec == PlainSSE(path="/x", body={"q": "{prompt}"}, text_at="a.0", cumulative=True)
    assert codec_of("json", {}) == PlainJson()
    assert codec_of("messages", {}) is messages


def test_frames_with_a_number_each_have_no_template() -> None:
    """Then each is read by itself, and the attempts to do better end."""
    received = ResponseStream(responses)
    received.start(event_stream=True)
    for k in range(80):
        delta = event("response.output_text.delta", delta=str(k), sequence_number=k)
        received.receive([b"data: " + orjson.dumps(delta) + b"\n\n"], [k + 1])
    for _ in received.decode():
        pass
    assert received._lessons == 0
    assert "".join(received.answer.content) == "".join(map(str, range(80)))


HALF, OTHER = (
    b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}',
    b'{"choices":[{"delta":{"content":"\\ude00b"}}]}',
)


def test_a_character_cut_in_two_is_not_a_protocol_error() -> None:
    """Gateways that count in UTF-16 send its halves in two frames: neither half is a character."""
    received = ResponseStream(chat_completions)
    received.start(event_stream=True)
    received.receive([b"data: " + HALF + b"\n\n", b"data: " + OTHER + b"\n\n"], [1, 2])
    for _ in received.decode():
        pass
    assert received.answer.content == ["a\ufffd", "\ufffdb"]
    assert received.answer.token_ns == [1, 2]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ud83d"', "\ufffd"),
        (rb'"\uDE00x"', "\ufffdx"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (rb'"\\ud83d \ud83d"', "\\ud83d \ufffd"),
        (rb'"\ud83d\n\u0041"', "\ufffd\nA"),
        (b'\xef\xbb\xbf"a"', "a"),
    ],
)
def test_halves_of_characters_in_json(written: bytes, read: str) -> None:
    """A half is U+FFFD; whole characters, and backslashes that only look like one, stay; a mark does not."""
    assert server_json.loads(written) == read


@pytest.mark.parametrize(
    "broken", [b"", b"{", rb'"\ud8"', rb'"\ud83d', b'"\xed\xa0\xbd"', rb'{"\ud83d": nan}', b"[NaN"]
)
def test_invalid_json_stays_invalid(broken: bytes) -> None:
    """Nothing else is forgiven."""
    with pytest.raises(orjson.JSONDecodeError):
        server_json.loads(broken)


def test_a_function_call_of_the_older_form() -> None:
    """One call without an id, in a stream and whole; a call that is a text is malformed."""
    function = {"name": "f", "arguments": "{}"}
    for read, member in ((chat_completions.chunk, "delta"), (chat_completions.whole, "message")):
        delta = read(choice(**{member: {"function_call": function}}, finish_reason="function_call"))
        assert [dict(call) for call in delta.tool_calls] == [{"index": 0, "function": function}]
    with pytest.raises(MalformedResponseError):
        chat_completions.chunk(choice(delta={"function_call": "f"}))
