"""The mock endpoint through the official client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint import start_mock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import openai
    from openai.types.chat import ChatCompletionMessageParam

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is 2+2?"}]
ANSWER = "It is 4, of course."
LOOK_UP = "What is the weather?"
CALL = '{"name": "weather", "arguments": {"city": "Ulm"}}'
LOOKING: list[ChatCompletionMessageParam] = [{"role": "user", "content": LOOK_UP}]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    """A client of an endpoint that has a key, one model, and a script."""
    import openai  # takes as long as collecting hundreds of tests

    file: Path = tmp_path_factory.mktemp("script") / "replies.jsonl"
    busy = '{"match": "busy", "status": 429, "error": "slow down"}'
    call = f'{{"prompt": "{LOOK_UP}", "reasoning": "I look.", "tool_calls": [{CALL}]}}'
    file.write_text(f'{{"match": "2+2", "reply": "{ANSWER}"}}\n{busy}\n{call}\n')
    options = {"ttft": "1ms", "itl": "0", "tokens": "6", "api_key": "k", "models": ["small"], "replies": file}
    with (
        start_mock(**options) as mock,
        openai.OpenAI(base_url=mock.url, api_key="k", max_retries=0) as opened,
    ):
        yield opened


@pytest.mark.slow
def test_chat_in_one_piece(client: openai.OpenAI) -> None:
    """An answer in one piece has the text, the finish reason and the usage."""
    answer = client.chat.completions.create(model="small", messages=QUESTION)
    assert answer.choices[0].message.content == ANSWER
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (
        3,
        5,
        8,
    )


def test_chat_as_a_stream(client: openai.OpenAI) -> None:
    """A stream gives the same text in pieces, then the finish reason, then the usage."""
    with client.chat.completions.create(
        model="small",
        messages=QUESTION,
        stream=True,
        stream_options={"include_usage": True},
    ) as stream:
        *chunks, last = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].delta.content for chunk in chunks] == [
        "",
        "It",
        " is",
        " 4,",
        " of",
        " course.",
        None,
    ]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens == 5


def test_chat_that_is_cut(client: openai.OpenAI) -> None:
    """The limit of tokens cuts the text and sets the finish reason."""
    answer = client.chat.completions.create(model="small", messages=QUESTION, max_completion_tokens=3)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("It is 4,", "length")


def test_completion_in_one_piece(client: openai.OpenAI) -> None:
    """The older protocol is answered too."""
    answer = client.completions.create(model="small", prompt="Say 2+2", max_tokens=2)
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == ("It is", "length")
    assert answer.usage is not None
    assert answer.usage.total_tokens == 4


def test_completion_as_a_stream(client: openai.OpenAI) -> None:
    """The older protocol streams its text."""
    with client.completions.create(model="small", prompt="2+2", stream=True) as stream:
        chunks = list(stream)
    assert "".join(chunk.choices[0].text for chunk in chunks) == ANSWER
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * 5 + ["stop"]


def test_an_unscripted_question_has_a_drawn_length(client: openai.OpenAI) -> None:
    """What no line of the script matches gets as many tokens as were drawn."""
    answer = client.completions.create(model="small", prompt="anything else")
    assert answer.usage is not None
    assert answer.usage.completion_tokens == len(answer.choices[0].text.split()) == 6


def test_models_are_listed(client: openai.OpenAI) -> None:
    """The list of models holds the names that are served."""
    assert [model.id for model in client.models.list()] == ["small"]


def test_an_unknown_model(client: openai.OpenAI) -> None:
    """The client understands that the model does not exist."""
    import openai

    with pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="large", messages=QUESTION)
    assert raised.value.code == "model_not_found"


def test_a_wrong_key(client: openai.OpenAI) -> None:
    """The client understands that its key is wrong, for questions as for the list of models."""
    import openai

    intruder = client.with_options(api_key="guessed")
    with pytest.raises(openai.AuthenticationError) as raised:
        intruder.chat.completions.create(model="small", messages=QUESTION)
    assert raised.value.code == "invalid_api_key"
    with pytest.raises(openai.AuthenticationError):
        intruder.models.list()


def test_a_bad_request(client: openai.OpenAI) -> None:
    """The client understands that its request is wrong, and the message says why."""
    import openai

    with pytest.raises(openai.BadRequestError, match="messages must be a list with at least one message"):
        client.chat.completions.create(model="small", messages=[])


def test_a_scripted_failure(client: openai.OpenAI) -> None:
    """A scripted status arrives as that failure, with its message."""
    import openai

    with pytest.raises(openai.RateLimitError, match="slow down"):
        client.completions.create(model="small", prompt="are you busy?", stream=True)


@pytest.mark.slow
def test_a_call_in_one_piece(client: openai.OpenAI) -> None:
    """An answer that calls a tool has no content, but the call, and what was thought before it."""
    answer = client.chat.completions.create(model="small", messages=LOOKING).choices[0]
    assert answer.finish_reason == "tool_calls"
    assert answer.message.content is None
    assert answer.message.to_dict()["reasoning_content"] == "I look."
    assert answer.message.tool_calls is not None
    (call,) = (tool_call.to_dict() for tool_call in answer.message.tool_calls)
    assert call["function"] == {"name": "weather", "arguments": '{"city":"Ulm"}'}


def test_a_call_as_a_stream(client: openai.OpenAI) -> None:
    """The reasoning comes first, then the head of the call, then its arguments, in their own chunks."""
    with client.chat.completions.create(model="small", messages=LOOKING, stream=True) as stream:
        deltas = [chunk.choices[0].delta.to_dict() for chunk in stream]
    head = {"name": "weather", "arguments": ""}
    assert deltas[1:] == [
        {"reasoning_content": "I"},
        {"reasoning_content": " look."},
        {"tool_calls": [{"index": 0, "id": "call_0", "type": "function", "function": head}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city":"Ulm"}'}}]},
        {},
    ]


def test_a_completion_has_text_alone(client: openai.OpenAI) -> None:
    """A protocol that knows neither reasoning nor tools gets what there is of text, here nothing."""
    answer = client.completions.create(model="small", prompt=LOOK_UP)
    assert answer.choices[0].text == ""
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 0
