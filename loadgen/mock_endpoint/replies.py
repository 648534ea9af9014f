"""Scripted replies: a JSONL file with answers by request.

A line is a JSON object:

    prompt         answer requests whose last user message (or prompt) is this, to the letter
    match          answer requests whose last user message (or prompt) contains this; without both, any
    reply          the text of the answer
    reasoning      what is distinguished from it as reasoning, ahead of it
    tool_calls     a list of {"name", "arguments"}, or of calls as OpenAI's API has them, after it
    finish_reason  why the answer ends; by default `tool_calls` where there are any, else `stop`
    ttft           a distribution that takes the place of --ttft
    itl            a distribution that takes the place of --itl
    status         fail instead, with this HTTP status (400 to 599), at once or after `ttft`
    error          the message of that failure

A line with `prompt` goes before those without; several with the same prompt take turns. Of the others the
first that matches wins. A line has an answer (a reply, reasoning or tool calls) or a status.
"""

from __future__ import annotations

import re
from itertools import cycle, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.errors import RepliesError
from loadgen.mock_endpoint.token import SILENT, ExtendedToken, ToolCallPart
from workloads import distribution_notation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.mock_endpoint.token import Token

_TYPES: Final[Mapping[str, type]] = {
    "prompt": str,
    "match": str,
    "reply": str,
    "reasoning": str,
    "tool_calls": list,
    "finish_reason": str,
    "ttft": str,
    "itl": str,
    "status": int,
    "error": str,
}
_WORDS: Final[Mapping[type, str]] = {int: "a whole number", str: "a text", list: "a list"}
_ANSWERS: Final = ("reply", "reasoning", "tool_calls")
_FAILURES: Final = range(400, 600)
_TOKEN: Final = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class MockReply:
    """The answer to a request.

    Attributes:
        prompt: What the question must be; None where that does not matter.
        match: What the question must contain; the empty string is in every question.
        text: The answer.
        reasoning: What is distinguished from it.
        calls: The tools that it calls.
        finish_reason: Why it ends, if nothing cuts it.
        ttft: Draws the seconds to the first token; None keeps the server's distribution.
        itl: As above: the seconds between tokens.
        status: Fail with this HTTP status; None answers.
        error: The message of the failure.
    """

    prompt: str | None
    match: str
    text: str
    reasoning: str
    calls: tuple[ToolCallPart, ...]
    finish_reason: str
    ttft: distribution_notation.Sampler | None
    itl: distribution_notation.Sampler | None
    status: int | None
    error: str

    def tokens(self, *, holds_calls: bool = False) -> tuple[Token, ...]:
        """The answer in tokens: reasoning, text, and two for each tool call: head and arguments.

        Args:
            holds_calls: The calls are as many tokens as they have words, and the last one has them all.
        """
        if not (self.reasoning or self.calls):
            return split(self.text)
        thoughts = (ExtendedToken(reasoning=word) for word in split(self.reasoning))
        if self.calls and holds_calls:
            words = sum(len(split(f"{call.name} {call.arguments}")) for call in self.calls)
            held = repeat(SILENT, words - 1)
            return (*thoughts, *split(self.text), *held, ExtendedToken(calls=self.calls))
        heads = ((ToolCallPart(call.index, call.id, call.name), call) for call in self.calls)
        parts = (
            ExtendedToken(calls=(part,))
            for head, call in heads
            for part in (head, ToolCallPart(call.index, arguments=call.arguments))
        )
        return (*thoughts, *split(self.text), *parts)


class Replies:
    """All replies of a file, found by the question.

    Args:
        replies: In the order of the file.
    """

    def __init__(self, replies: Sequence[MockReply]) -> None:
        by_prompt: dict[str, list[MockReply]] = {}
        for reply in replies:
            if reply.prompt is not None:
                by_prompt.setdefault(reply.prompt, []).append(reply)
        self._scripted: Mapping[str, Iterator[MockReply]] = {
            prompt: cycle(turns) for prompt, turns in by_prompt.items()
        }
        self._others = [reply for reply in replies if reply.prompt is None]

    def to(self, question: str) -> MockReply | None:
        """The reply to a question; None where none matches."""
        if question in self._scripted:
            return next(self._scripted[question])
        return next((reply for reply in self._others if reply.match in question), None)


def split(text: str) -> tuple[str, ...]:
    """Split a text into tokens: words with the white space before. Joined, the tokens are the text."""
    return tuple(_TOKEN.findall(text))


def load(path: str | Path) -> list[MockReply]:
    """Read a replies file. Empty lines are skipped.

    Raises:
        RepliesError: The file or one of its lines cannot be used; the message names file and line.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise RepliesError(f"{path} cannot be read: {error.strerror}") from error
    return [_line(text, f"{path}, line {number}") for number, text in enumerate(lines, 1) if text.strip()]


def _line(text: bytes, where: str) -> MockReply:
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RepliesError(f"{where} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise RepliesError(f'{where} is not a JSON object such as {{"match": "2+2", "reply": "4"}}')
    try:
        _check(fields)
        calls = tuple(_call(index, call) for index, call in enumerate(fields.get("tool_calls", ())))
        ttft, itl = (
            distribution_notation.duration(fields[key]) if key in fields else None for key in ("ttft", "itl")
        )
    except ValueError as error:
        raise RepliesError(f"{where}: {error}") from error
    return MockReply(
        prompt=fields.get("prompt"),
        match=fields.get("match", ""),
        text=fields.get("reply", ""),
        reasoning=fields.get("reasoning", ""),
        calls=calls,
        finish_reason=fields.get("finish_reason", "tool_calls" if calls else "stop"),
        ttft=ttft,
        itl=itl,
        status=fields.get("status"),
        error=fields.get("error", "a scripted failure"),
    )


def _call(index: int, call: Any) -> ToolCallPart:
    """A tool call, as an element of a list."""
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
        raise ValueError(f'tool_calls, number {index + 1}, is not {{"name": …, "arguments": …}}')
    arguments = function.get("arguments", {})
    written = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    return ToolCallPart(index, str(call.get("id") or f"call_{index}"), function["name"], written)


def _check(fields: dict[str, Any]) -> None:
    for key, value in fields.items():
        if key not in _TYPES:
            raise ValueError(f"unknown key {key!r}; possible are {', '.join(_TYPES)}")
        if type(value) is not _TYPES[key]:
            raise ValueError(f"{key} is not {_WORDS[_TYPES[key]]}")
    if "prompt" in fields and "match" in fields:
        raise ValueError(
            "a line has either a prompt (the whole question) or a match (a part of the question)"
        )
    if any(key in fields for key in _ANSWERS) == ("status" in fields):
        raise ValueError(
            "a line has either a reply (or reasoning, or tool_calls) or a status, not both and not none"
        )
    if "status" in fields and fields["status"] not in _FAILURES:
        raise ValueError(f"status {fields['status']} is not a failure, which has 400 to 599")
