"""What a client asks for, and why it is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loadgen.mock_endpoint.ask import RefusedRequest, read_chat, read_completion

HELLO = [{"role": "user", "content": "hello"}]


def test_a_conversation_is_read() -> None:
    """The question is the last user message, or the result of a tool after it; all words count."""
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "first question"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "second one"}, {"type": "image_url"}]},
        {"role": "tool", "content": "a result"},
    ]
    ask = read_chat(orjson.dumps({"messages": messages, "stream": True, "temperature": 0.5}), [])
    assert (ask.question, ask.input_tokens, ask.stream) == ("tool: a result", 8, True)
    assert (ask.model, ask.max_tokens, ask.include_usage) == ("mock", None, False)


@pytest.mark.parametrize(
    ("prompt", "question", "input_tokens"),
    [("one two", "one two", 2), (["one two"], "one two", 2), ([5, 6, 7], "", 3), ([[5, 6, 7]], "", 3)],
)
def test_a_prompt_is_read(prompt: Any, question: str, input_tokens: int) -> None:
    """A prompt is a text or a list of token ids, bare or as the only one of a list."""
    ask = read_completion(orjson.dumps({"prompt": prompt}), [])
    assert (ask.question, ask.input_tokens) == (question, input_tokens)


def test_the_new_name_of_the_limit_counts() -> None:
    """Where both names are sent, max_completion_tokens is the limit."""
    ask = read_chat(orjson.dumps({"messages": HELLO, "max_tokens": 5, "max_completion_tokens": 9}), [])
    assert ask.max_tokens == 9


def test_a_request_without_a_model_gets_the_first_one() -> None:
    """A model that is not named is the server's first."""
    assert read_chat(orjson.dumps({"messages": HELLO}), ["a", "b"]).model == "a"


def test_any_model_is_known_to_a_server_without_names() -> None:
    """Without its own names, the server answers under the name that it is asked for."""
    assert read_chat(orjson.dumps({"messages": HELLO, "model": "anything"}), []).model == "anything"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "messages must be a list"),
        ({"messages": []}, "messages must be a list"),
        ({"messages": "hello"}, "messages must be a list"),
        ({"messages": ["hello"]}, "messages must be a list"),
        ({"messages": [{"role": "user", "content": 7}]}, "content must be a text"),
        ({"messages": HELLO, "max_tokens": 0}, "max_tokens must be at least 1"),
        ({"messages": HELLO, "max_tokens": "9"}, "max_tokens must be a whole number"),
        ({"messages": HELLO, "stream": "yes"}, "stream must be true or false"),
        ({"messages": HELLO, "model": 7}, "model must be a text"),
        ({"messages": HELLO, "n": 2}, "one answer per request"),
        ({"messages": HELLO, "min_tokens": -1}, "min_tokens must be from 0"),
        ({"messages": HELLO, "min_tokens": 3, "max_tokens": 2}, "min_tokens must be from 0"),
        ({"messages": HELLO, "ignore_eos": 1}, "ignore_eos must be true or false"),
        ({"messages": HELLO, "stream_options": {"include_usage": True}}, "only allowed when stream is true"),
    ],
)
def test_a_bad_request_is_refused(fields: dict[str, Any], message: str) -> None:
    """What is not a chat completion request gets a 400 that says why."""
    with pytest.raises(RefusedRequest) as raised:
        read_chat(orjson.dumps(fields), [])
    assert raised.value.status == 400
    assert message in raised.value.message


@pytest.mark.parametrize("prompt", [None, 7, [], ["one", "two"], [1, "two"], [[1], [2]]])
def test_a_bad_prompt_is_refused(prompt: Any) -> None:
    """A prompt that is neither one text nor one list of token ids gets a 400."""
    with pytest.raises(RefusedRequest, match="prompt must be one text") as raised:
        read_completion(orjson.dumps({"prompt": prompt}), [])
    assert raised.value.status == 400


@pytest.mark.parametrize(
    ("body", "message"), [(b"{", "not JSON"), (b"[]", "not a JSON object"), (b"", "not JSON")]
)
def test_what_is_not_json_is_refused(body: bytes, message: str) -> None:
    """A body that is not a JSON object gets a 400."""
    with pytest.raises(RefusedRequest, match=message) as raised:
        read_chat(body, [])
    assert raised.value.status == 400


def test_an_unknown_model_is_refused() -> None:
    """A model that is not among the names gets a 404 with OpenAI's code, and the names."""
    with pytest.raises(RefusedRequest, match="`c` does not exist; the server has a, b") as raised:
        read_chat(orjson.dumps({"messages": HELLO, "model": "c"}), ["a", "b"])
    assert (raised.value.status, raised.value.code) == (404, "model_not_found")
