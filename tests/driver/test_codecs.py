"""What the protocols' pieces mean, in every shape in which servers send them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, completions, server_json
from loadgen.driver.client.codec import Delta, Generation, Usage
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.errors import MalformedResponseError
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec

CODECS = [chat_completions, completions]
TOKEN_COUNTS = {
    "prompt_tokens": 7,
    "completion_tokens": 5,
    "completion_tokens_details": {"reasoning_tokens": 3},
    "prompt_tokens_details": {"cached_tokens": 2},
}


def chat(delta: Any, **choice: Any) -> Delta:
    """Read a chat frame with this delta."""
    return chat_completions.chunk({"choices": [{"index": 0, "delta": delta, **choice}]})


@pytest.mark.parametrize(
    ("delta", "meaning"),
    [
        ({"role": "assistant"}, Delta()),
        ({"role": "assistant", "content": ""}, Delta(silent=True, opens=True)),
        ({"role": "assistant", "content": None}, Delta()),
        ({}, Delta()),
        (None, Delta()),
        ({"content": "hi"}, Delta(content="hi")),
        ({"content": " "}, Delta(content=" ")),
        ({"content": "", "reasoning_content": "hm"}, Delta(reasoning="hm")),
        ({"content": None, "reasoning": "hm"}, Delta(reasoning="hm")),
        ({"reasoning_content": None, "reasoning": "hm"}, Delta(reasoning="hm")),
        ({"reasoning_content": "hm", "reasoning": "hm"}, Delta(reasoning="hm")),
        ({"content": "", "thinking": "hm"}, Delta(reasoning="hm")),
        ({"reasoning_text": "hm"}, Delta(reasoning="hm")),
        ({"content": None, "refusal": "no"}, Delta(content="no")),
        ({"content": "a", "reasoning": "b"}, Delta(content="a", reasoning="b")),
        ({"tool_calls": None}, Delta()),
        ({"tool_calls": [{"index": 0}]}, Delta(tool_calls=[{"index": 0}])),
    ],
)
def test_chat_deltas(delta: Any, meaning: Delta) -> None:
    """What a delta adds, by whatever name."""
    assert chat(delta) == meaning


@pytest.mark.parametrize(
    ("delta", "token"),
    [({"role": "assistant", "content": ""}, False), ({"content": " "}, True), ({"refusal": "no"}, True)]
    + [({key: "x"}, True) for key in ("content", "reasoning", "reasoning_content")]
    + [({"tool_calls": [{"index": 0, "function": {"name": "f"}}]}, True), ({"tool_calls": []}, False)],
)
def test_what_a_token_is(delta: Any, token: bool) -> None:  # noqa: FBT001 (a case, not a switch)
    """Text, reasoning and tool calls are generated; a role is not."""
    assert chat(delta).carries_token is token


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("choices", [{}, {"choices": []}, {"choices": None}])
def test_the_usage_frame_has_no_choices(codec: Codec, choices: dict[str, Any]) -> None:
    """Usage comes in its own frame, whose choices are empty, null or missing."""
    delta = codec.chunk({**choices, "usage": TOKEN_COUNTS})
    assert delta == Delta(usage=Usage(7, 5, 3, 2))
    assert not delta.carries_token


def test_usage_may_ride_on_the_last_chunk() -> None:
    """Text, finish reason and usage in one frame."""
    payload = {
        "choices": [{"delta": {"content": "."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5, "completion_tokens_details": None},
    }
    assert chat_completions.chunk(payload) == Delta(".", "", (), "stop", Usage(7, 5))
    last = completions.chunk({"choices": [{"text": ".", "finish_reason": "length"}], "usage": TOKEN_COUNTS})
    assert last == Delta(".", finish_reason="length", usage=Usage(7, 5, 3, 2))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("value", [None, -1, 1.5, "7.5", "-7", "9" * 5000, True, [], {}])
def test_what_is_not_a_count_is_not_said(codec: Codec, value: Any) -> None:
    """A count that is not one is as good as missing, and does not take the others with it."""
    usage = codec.chunk({"usage": {"prompt_tokens": value, "completion_tokens": 5}}).usage
    assert usage == Usage(None, 5)


@pytest.mark.parametrize(
    ("sent", "logged"),
    [
        ("9007199254740991", 2**53 - 1),
        ("9" * 18, 2**53),
        ("9" * 30, 2**53),
        ("1e19", 2**53),
        ("7.0", 7),
        ('"7"', 7),
    ],
)
def test_counts_in_other_notations_and_counts_that_cannot_be_true_are_logged(sent: str, logged: int) -> None:
    """Gateways write counts as floats and as texts; the report refuses what cannot be true."""
    payload = server_json.loads(f'{{"usage": {{"prompt_tokens": {sent}, "completion_tokens": 5}}}}'.encode())
    assert chat_completions.chunk(payload).usage == Usage(logged, 5)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("usage", [None, {}, [], "many", 7])
def test_null_usage_counts_as_missing(codec: Codec, usage: Any) -> None:
    """Null usage in every chunk, as some servers send it, says nothing, and neither does an empty one."""
    assert codec.chunk({"choices": [], "usage": usage}).usage is None


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"error": {"message": "out of memory", "type": "x", "code": 500}}, "out of memory"),
        ({"error": {"message": None, "code": 500}}, "500"),
        ({"error": {"type": "x"}}, "{'type': 'x'}"),
        ({"error": "out of memory"}, "out of memory"),
        ({"error": ["a"]}, "['a']"),
        ({"error": 500}, "500"),
        ({"object": "error", "message": "out of memory", "code": 500}, "out of memory"),
        ({"object": "error"}, "{'object': 'error'}"),
        ({"error": None, "choices": []}, None),
        ({"error": {}, "choices": []}, None),
        ({"error": "late", "choices": [{}]}, "late"),
        ({"choices": [{"finish_reason": "stop", "error": {"code": 502, "message": "upstream"}}]}, "upstream"),
    ],
)
def test_errors_inside_a_body(codec: Codec, payload: Any, error: str | None) -> None:
    """The shapes in which servers report an error after the status was sent."""
    assert codec.chunk(payload).error == error
    assert codec.whole(payload).error == error


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "payload",
    [
        *(None, [], "text", 7, True),
        *({"choices": choices} for choices in ("x", 7, {"0": {}}, ["x"], [None], [[]])),
        {"choices": [{"delta": {"content": 7}, "message": {"content": 7}, "text": 7}]},
        {"choices": [{"finish_reason": ["stop"]}]},
        {"choices": [{"finish_reason": {"type": 7}}]},
        {"choices": [{"finish_reason": 7}]},
    ],
)
def test_other_shapes_are_malformed(codec: Codec, payload: Any) -> None:
    """What is not of the protocol's shape is reported."""
    for read in (codec.chunk, codec.whole):
        with pytest.raises(MalformedResponseError):
            read(payload)


@pytest.mark.parametrize(
    "delta",
    [
        *("x", 7, ["x"], {"content": ["x"]}, {"reasoning": {"text": "x"}}, {"refusal": True}),
        *({"tool_calls": calls} for calls in ("x", 7, {"index": 0}, ["x"], [None])),
        *({"tool_calls": [{"index": 0, "function": function}]} for function in ("f", 7, ["f"])),
    ],
)
def test_malformed_chat_deltas(delta: Any) -> None:
    """A delta and its members have their types."""
    with pytest.raises(MalformedResponseError):
        chat(delta)


def test_a_whole_answer() -> None:
    """A response that is not a stream: the message instead of a delta."""
    message = {"role": "assistant", "content": "hi", "reasoning_content": "hm"}
    payload = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": TOKEN_COUNTS}
    assert chat_completions.whole(payload) == Delta("hi", "hm", (), "stop", Usage(7, 5, 3, 2))
    assert completions.whole({"choices": [{"text": "hi"}]}) == Delta("hi")


def merged(*parts: Any) -> list[dict[str, Any]]:
    """The tool calls of an answer that came in these parts, one a delta."""
    answer = ParsedResponse()
    for at_ns, part in enumerate(parts):
        answer.add(chat({"tool_calls": [part]}), at_ns)
    return answer.tool_calls


def test_tool_calls_are_merged_by_their_index() -> None:
    """The parts of two calls, one after the other or mixed, make two calls."""
    first = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    second = {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}}
    calls = merged(
        first,
        {"index": 0, "function": {"arguments": '{"x"'}},
        second,
        {"index": 1, "function": {"arguments": "}"}},
        {"index": 0, "function": {"arguments": ":1}"}},
    )
    assert [call["function"] for call in calls] == [
        {"name": "f", "arguments": '{"x":1}'},
        {"name": "g", "arguments": "{}"},
    ]
    assert [call["id"] for call in calls] == ["a", "b"]


def test_indexes_may_begin_anywhere_and_come_in_any_order() -> None:
    """An index is a name, not a place."""
    calls = merged(
        {"index": 5, "function": {"name": "f", "arguments": "1"}},
        {"index": 2, "function": {"name": "g", "arguments": "2"}},
        {"index": 5, "function": {"arguments": "1"}},
    )
    assert [call["function"]["arguments"] for call in calls] == ["11", "2"]


def test_calls_without_an_index_stay_apart() -> None:
    """Some servers send whole calls without an index."""
    assert len(merged({"function": {"name": "f"}}, {"function": {"name": "f"}})) == 2


@pytest.mark.parametrize("empty", [None, {}])
def test_a_part_may_have_no_function(empty: Any) -> None:
    """Null functions and null arguments add nothing, first or last."""
    start = {"index": 0, "id": "a", "function": empty}
    part = {"index": 0, "function": {"name": "f", "arguments": "{}"}}
    nothing = {"index": 0, "function": {"arguments": None}}
    for calls in (merged(start, part, nothing, start), merged(nothing, part), merged(part, {"index": 0})):
        assert [call["function"] for call in calls] == [{"name": "f", "arguments": "{}"}]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**64) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def nearly(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any JSON, or an object with some of these members."""
    return JSON | st.fixed_dictionaries({}, optional=members)


CALL = nearly(index=JSON | st.integers(-1, 2), id=JSON, function=nearly(name=JSON, arguments=JSON))
MESSAGE = nearly(
    content=JSON,
    refusal=JSON,
    reasoning=JSON,
    reasoning_content=JSON,
    tool_calls=JSON | st.lists(CALL, max_size=3),
)
CHOICE = nearly(delta=MESSAGE, message=MESSAGE, text=JSON, finish_reason=JSON)
PAYLOAD = nearly(
    choices=JSON | st.lists(CHOICE, max_size=2),
    error=nearly(message=JSON, code=JSON),
    object=st.just("error") | JSON,
    usage=nearly(prompt_tokens=JSON, completion_tokens=JSON, completion_tokens_details=JSON),
)


@pytest.mark.parametrize("codec", CODECS)
@given(payloads=st.lists(PAYLOAD, max_size=3))
@example(payloads=[{"usage": [{"prompt_tokens": 7}]}, {"usage": 7}, {"choices": [[{}]]}, {"choices": [7]}])
def test_any_json_is_read_or_malformed(codec: Codec, payloads: list[Any]) -> None:
    """No JSON makes another exception than the one that is announced, nor a value of another type."""
    answer = ParsedResponse()
    for payload in payloads:
        assert isinstance(server_json.statements(payload), dict | None)
        for read in (codec.chunk, codec.whole):
            try:
                delta = read(payload)
            except MalformedResponseError:
                continue
            answer.add(delta, 1)
            assert isinstance(delta.finish_reason, str | None)
            assert isinstance(delta.error, str | None)
    assert isinstance("".join([*answer.content, *answer.reasoning]), str)


@pytest.mark.parametrize("codec", CODECS)
def test_requests(codec: Codec) -> None:
    """What is not chosen is left to the server, and what was asked for by name wins."""
    sample = Sample(0, "why?", system="be brief")
    plain = codec.request(sample, Generation("m", stream=False))
    assert set(plain) - {"messages", "prompt"} == {"model", "stream"}
    extra = {"stream_options": None, "top_k": 1}
    full = Generation("m", max_tokens=5, temperature=0.0, extra_body=extra)
    chosen = {"model": "m", "stream": True, "max_tokens": 5, "temperature": 0.0}
    assert codec.request(sample, full) == {**codec.asked(sample), **chosen, "top_k": 1}


def test_what_is_asked() -> None:
    """A system prompt is its own message, or stands before the prompt."""
    sample = Sample(0, "why?", system="be brief")
    assert [m["content"] for m in chat_completions.asked(sample)["messages"]] == ["be brief", "why?"]
    assert completions.asked(sample) == {"prompt": "be brief\n\nwhy?"}
    assert completions.asked(Sample(0, "why?")) == {"prompt": "why?"}
