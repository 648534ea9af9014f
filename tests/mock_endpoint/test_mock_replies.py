"""The file of scripted replies."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint.errors import RepliesError
from loadgen.mock_endpoint.replies import MockReply, Replies, load, split
from loadgen.mock_endpoint.token import ExtendedToken, ToolCallPart, joined, text_of

if TYPE_CHECKING:
    from pathlib import Path


@given(st.text())
def test_tokens_join_to_the_text(text: str) -> None:
    """Splitting loses nothing and makes no empty token."""
    assert "".join(split(text)) == text
    assert all(split(text))


def test_a_token_is_a_word_with_the_space_before_it() -> None:
    """Words keep their leading white space; what trails is its own token."""
    assert split("The answer  is\n42 ") == ("The", " answer", "  is", "\n42", " ")


def test_a_file_is_read(tmp_path: Path) -> None:
    """Each line is one reply; empty lines are skipped; what is absent has its default."""
    file = tmp_path / "replies.jsonl"
    file.write_text('{"match": "2+2", "reply": "It is 4", "ttft": "1s", "itl": "2ms"}\n\n{"status": 503}\n')
    first, second = load(file)
    assert (first.match, first.tokens(), first.status) == ("2+2", ("It", " is", " 4"), None)
    assert first.ttft is not None
    assert first.itl is not None
    rng = Random(0)  # noqa: S311 (reproducible draws, no secrets)
    assert (first.ttft(rng), first.itl(rng)) == (1.0, 0.002)
    assert (second.match, second.tokens(), second.ttft, second.itl) == ("", (), None, None)
    assert (second.status, second.error) == (503, "a scripted failure")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"replay": "x"}', "unknown key 'replay'; possible are prompt, match, reply"),
        ('{"reply": 7}', "reply is not a text"),
        ('{"status": "429"}', "status is not a whole number"),
        ('{"status": 200}', "status 200 is not a failure"),
        ('{"match": "x"}', "or a status, not both and not none"),
        ('{"prompt": "x"}', "or a status, not both and not none"),
        ('{"reply": "x", "status": 429}', "or a status, not both and not none"),
        ('{"tool_calls": [], "status": 429}', "or a status, not both and not none"),
        ('{"prompt": "x", "match": "y", "reply": "z"}', "either a prompt (the whole question) or a match"),
        ('{"tool_calls": {"name": "f"}}', "tool_calls is not a list"),
        ('{"tool_calls": [{"name": "f"}, {"arguments": "{}"}]}', "tool_calls, number 2, is not"),
        ('{"tool_calls": [{"function": null}]}', "tool_calls, number 1, is not"),
        ('{"reply": "x", "ttft": "5"}', "'5' has no unit"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    """The message names the file, the line, and what is wrong."""
    file = tmp_path / "replies.jsonl"
    file.write_text(f'{{"reply": "fine"}}\n\n{line}\n')
    with pytest.raises(RepliesError) as raised:
        load(file)
    assert f"{file}, line 3" in str(raised.value)
    assert complaint in str(raised.value)


def test_a_prompt_goes_before_a_part_of_it(tmp_path: Path) -> None:
    """A whole prompt is looked up first, those that are said twice take turns; else the first match wins."""
    file = tmp_path / "replies.jsonl"
    lines = [
        {"match": "2", "reply": "a match"},
        {"prompt": "2+2", "reply": "4"},
        {"prompt": "2+2", "reply": "four"},
        {"prompt": "", "reply": "to nothing"},
        {"reply": "to the rest"},
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    replies = Replies(load(file))

    def text(question: str) -> str:
        reply = replies.to(question)
        return "" if reply is None else reply.text

    assert [text("2+2") for _ in range(3)] == ["4", "four", "4"]
    assert text("2+2 ") == "a match"
    assert text("") == "to nothing"
    assert text("3") == "to the rest"


def test_calls_are_taken_as_people_write_them(tmp_path: Path) -> None:
    """With a name and arguments as an object, or as OpenAI's API has them; they end the answer by default."""
    file = tmp_path / "replies.jsonl"
    plain = {"name": "add", "arguments": {"a": [1, 2]}}
    whole = {"id": "x", "type": "function", "function": {"name": "now", "arguments": "not JSON"}}
    file.write_bytes(orjson.dumps({"tool_calls": [plain, whole, {"name": "none"}]}))
    (reply,) = load(file)
    assert reply.calls == (
        ToolCallPart(0, "call_0", "add", '{"a":[1,2]}'),
        ToolCallPart(1, "x", "now", "not JSON"),
        ToolCallPart(2, "call_2", "none", "{}"),
    )
    assert reply.finish_reason == "tool_calls"


@given(st.text(), st.text(), st.lists(st.text(), max_size=3), st.integers(1, 9))
def test_however_they_are_put_together_tokens_are_the_answer(
    text: str, reasoning: str, arguments: list[str], size: int
) -> None:
    """Tokens, one by one or several as one, join to the reasoning, the text and the calls of a reply."""
    calls = tuple(
        ToolCallPart(index, f"call_{index}", "f", argument) for index, argument in enumerate(arguments)
    )
    reply = MockReply(None, "", text, reasoning, calls, "stop", None, None, None, "")
    tokens = reply.tokens()
    pieces = [joined(tokens[begin : begin + size]) for begin in range(0, len(tokens), size)]
    for whole in (joined(tokens), joined(pieces)):
        assert text_of(whole) == text
        assert isinstance(whole, str) or (whole.reasoning, whole.calls) == (reasoning, calls)
        assert isinstance(whole, ExtendedToken) == bool(reasoning or calls)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is named, with the reason."""
    with pytest.raises(RepliesError, match=r"none\.jsonl cannot be read: No such file"):
        load(tmp_path / "none.jsonl")
