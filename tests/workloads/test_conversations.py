"""Recorded conversations are cut into turns, and nothing of them is lost or added."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import golden
from workloads.columns import Columns
from workloads.conversation_sample import ConversationSample
from workloads.conversations import read_conversation
from workloads.errors import WorkloadError
from workloads.prompts import load_prompts
from workloads.sample import Sample


def says(role: str, content: str = "x", **more: Any) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": content, **more}


SYSTEM, USER, ANSWER = says("system", "s"), says("user", "u"), says("assistant", "a")
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = says("tool", "r", tool_call_id="c1")


@st.composite
def recordings(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Conversations as models have them: perhaps a greeting, and turns, the last perhaps unanswered."""
    texts = st.text(min_size=1).filter(str.strip)
    messages = draw(st.lists(st.sampled_from([SYSTEM, says("developer", "d"), ANSWER]), max_size=2))
    asking = st.lists(st.sampled_from(["user", "system"]), max_size=2).map(lambda roles: [*roles, "user"])
    for roles in draw(st.lists(asking, min_size=1, max_size=4)):
        messages += [says(role, draw(texts)) for role in roles]
        messages.append(says("assistant", draw(texts)))
    return messages[: draw(st.sampled_from([len(messages), len(messages) - 1]))]


def played(messages: list[dict[str, Any]]) -> list[list[Any]]:
    """The contexts of all turns of a conversation, with the recorded answers."""
    opening, follow_ups = read_conversation("here", messages, "all")
    sample = ConversationSample(0, chat=opening, follow_ups=follow_ups)
    contexts = [sample.messages()]
    for turn in follow_ups:
        assert turn.recorded is not None
        sample = sample.after(turn.recorded)
        contexts.append(sample.messages())
    return contexts


@given(messages=recordings())
def test_played_with_the_recorded_answers(messages: list[dict[str, Any]]) -> None:
    """The contexts are exactly the recorded ones: what came before each answer to a caller."""
    asked = [number for number, message in enumerate(messages) if message["role"] == "user"]
    answered = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
    before = [messages[:number] for number in answered if number > asked[0]]
    assert played(messages) == (before if messages[-1]["role"] == "assistant" else [*before, messages])


@given(messages=recordings())
def test_first_and_last_are_the_ends_of_all(messages: list[dict[str, Any]]) -> None:
    """The first turn is what all turns begin with, the last what they end with."""
    contexts = played(messages)
    assert list(read_conversation("here", messages, "first").opening) == contexts[0]
    assert list(read_conversation("here", messages, "last").opening) == contexts[-1]


@given(messages=recordings())
def test_the_log_gets_each_message_once(messages: list[dict[str, Any]]) -> None:
    """The new messages of the turns, with the answers between them, are the conversation."""
    opening, follow_ups = read_conversation("here", messages, "all")
    sample = ConversationSample(0, chat=opening, follow_ups=follow_ups)
    payload = sample.new_messages()
    for number, turn in enumerate(follow_ups, start=1):
        assert turn.recorded is not None
        sample = sample.after(turn.recorded)
        assert sample.turn == number
        payload += [turn.recorded, *sample.new_messages()]
    assert payload == sample.messages()


def test_results_of_tools_are_a_turn() -> None:
    """The result of a tool asks for an answer, as a user does."""
    messages = [USER, CALLING, RESULT, ANSWER, USER]
    assert [len(context) for context in played(messages)] == [1, 3, 5]
    opening, follow_ups = read_conversation("here", messages, "all")
    assert opening == (USER,)
    assert [turn.messages for turn in follow_ups] == [(RESULT,), (USER,)]
    assert [turn.recorded for turn in follow_ups] == [{"role": "assistant", "tool_calls": [CALL]}, ANSWER]


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    """ShareGPT, by whatever names it calls who speaks, reads as OpenAI's format does."""
    file = tmp_path / "q.jsonl"
    speakers = [("system", "human", "gpt", "human"), ("system", "user", "ChatGPT", "user")]
    rows: list[Any] = [
        {"messages": [SYSTEM, USER, ANSWER, USER]},
        *(
            {"conversations": [{"from": who, "value": what} for who, what in zip(names, "suau", strict=True)]}
            for names in speakers
        ),
        {"conversation": [SYSTEM, USER, ANSWER, USER]},
        {"prompt": [SYSTEM, USER, ANSWER, USER]},
    ]
    read = []
    for row in rows:
        file.write_text(json.dumps(row), encoding="utf-8")
        read.append(load_prompts(file).samples[0])
    assert read == [read[0]] * len(rows)
    assert read[0].chat == (SYSTEM, USER, ANSWER, USER)
    assert read[0].prompt == "u"


def test_a_plain_question_is_one(tmp_path: Path) -> None:
    """A conversation that a prompt and a system prompt say is asked like them, by any protocol."""
    file = tmp_path / "q.jsonl"
    file.write_text(
        "\n".join(json.dumps({"messages": message}) for message in ([USER, ANSWER], [SYSTEM, USER])),
        encoding="utf-8",
    )
    assert load_prompts(file).samples == (Sample(0, "u"), Sample(1, "u", "s"))


def test_a_system_prompt_in_its_own_column(tmp_path: Path) -> None:
    """It goes before the messages; nulls, as Parquet has them, are left out; so is what comes after."""
    file = tmp_path / "q.jsonl"
    named = {**USER, "tool_calls": None, "name": "Ann"}
    file.write_text(json.dumps({"messages": [named, ANSWER], "system": "s", "tools": "[]"}), encoding="utf-8")
    (sample,) = load_prompts(file).samples
    assert sample == Sample(0, "u", chat=(SYSTEM, {**USER, "name": "Ann"}))


def test_images_and_tools_stay_as_they_are(tmp_path: Path) -> None:
    """References are kept, nothing is fetched; tools may be JSON or its text."""
    image = {"type": "image_url", "image_url": {"url": "https://nowhere.invalid/a.png", "detail": "low"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    file = tmp_path / "q.jsonl"
    rows = [{"messages": [asked], "tools": [tool]}, {"messages": [asked], "tools": json.dumps([tool])}]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, second = load_prompts(file).samples
    assert (first.chat, first.tools) == ((asked,), (tool,))
    assert second.tools == first.tools


def test_output_lengths_hold_for_every_turn(tmp_path: Path) -> None:
    """The column bounds each answer of the row's conversation."""
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"messages": [USER, ANSWER, USER], "n": 7}), encoding="utf-8")
    (sample,) = load_prompts(file, Columns(output="n"), "all").samples
    assert (sample.max_tokens, sample.after(ANSWER).max_tokens) == (7, 7)


def test_both_columns(tmp_path: Path) -> None:
    """Where a file has prompts and conversations, the conversations are asked if turns were asked for."""
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"prompt": "p", "messages": [USER]}), encoding="utf-8")
    assert load_prompts(file).samples[0].prompt == "p"
    assert load_prompts(file, take="last").samples[0].prompt == "u"


BAD: dict[str, tuple[dict[str, Any], str | None]] = {
    "empty": ({"messages": []}, None),
    "no-user": ({"messages": [SYSTEM, ANSWER]}, None),
    "text": ({"messages": [USER, "a"]}, None),
    "no-role": ({"messages": [{"content": "a"}]}, None),
    "role": ({"messages": [says("usr")]}, None),
    "blank": ({"messages": [USER, says("assistant", " "), USER]}, "last"),
    "null": ({"messages": [{"role": "user", "content": None}]}, None),
    "number": ({"messages": [{"role": "user", "content": 7}]}, None),
    "part": ({"messages": [{"role": "user", "content": ["a"]}]}, None),
    "text-part": ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, None),
    "image": (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a.png"}}]}]},
        None,
    ),
    "two-answers": ({"messages": [USER, ANSWER, ANSWER, USER]}, "all"),
    "result-without-id": ({"messages": [USER, CALLING, says("tool")]}, None),
    "result-of-nothing": ({"messages": [USER, ANSWER, RESULT]}, None),
    "user-calls": ({"messages": [{**USER, "tool_calls": [CALL]}]}, None),
    "call": ({"messages": [USER, {**CALLING, "tool_calls": [{"id": "c1", "function": {}}]}, USER]}, None),
    "tools": ({"messages": [USER], "tools": ["f"]}, None),
    "tools-text": ({"messages": [USER], "tools": "[f]"}, None),
    "two-systems": ({"messages": [SYSTEM, USER], "system": "other"}, None),
    "speaker": ({"conversations": [{"from": "alice", "value": "a"}]}, None),
    "nothing-said": ({"conversations": [{"from": "human", "value": ""}]}, None),
    "not-a-conversation": ({"prompt": "a"}, "all"),
    "tokens-as-conversation": ({"token_ids": [1]}, "all"),
    "tokens-and-system": ({"token_ids": [1], "system": "s"}, None),
    "token": ({"token_ids": [1, -2]}, None),
    "token-kind": ({"input_ids": [1, True]}, None),
}
GOLDEN = Path(__file__).with_name("golden") / "bad_chats.txt"


def test_complaints_about_conversations(tmp_path: Path) -> None:
    """Each gets a sentence with the file, the line, the message, and what is wrong with it."""
    lines = []
    for name, (row, take) in BAD.items():
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(row), encoding="utf-8")
        with pytest.raises(WorkloadError) as caught:
            load_prompts(file, take=take)  # type: ignore[arg-type]  # a parametrized literal
        message = f"{type(caught.value).__name__}: {caught.value}".replace(f"{tmp_path}/", "")
        # What the parser says of what is not JSON differs from one of its versions to the next.
        lines.append(re.sub(r"not JSON \([^)]+\)", "not JSON (…)", message))
    golden.check(GOLDEN, "\n".join(lines) + "\n")


@pytest.mark.parametrize("take", ["first", "last"])
def test_what_is_not_sent_need_not_be_sound(tmp_path: Path, take: Any) -> None:
    """Answers in succession, and what comes after all that is asked, do not matter."""
    file = tmp_path / "q.jsonl"
    file.write_text(
        json.dumps({"messages": [USER, ANSWER, ANSWER, USER, says("assistant", "")]}), encoding="utf-8"
    )
    assert len(load_prompts(file, take=take).samples[0].messages()) == {"first": 1, "last": 4}[take]
