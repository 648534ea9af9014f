"""Texts of prompts and responses for a person, from the JSON in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from reporter.json_values import document, members, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REST: Final = 200_000
"""The most characters that a page keeps after the first ones: prompts of long contexts are longer."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text.

    Attributes:
        text: The first characters.
        length: The characters of the whole.
        rest: The characters after `text`, as many as there is room for.
    """

    text: str
    length: int
    rest: str = ""

    @property
    def left_out(self) -> int:
        """How many characters follow."""
        return self.length - len(self.text) - len(self.rest)


NO_TEXT = Excerpt("", 0)
"""Of a request that has none."""


def excerpt(text: str | None, limit: int) -> Excerpt:
    """The first `limit` characters of a text, and the rest."""
    return NO_TEXT if text is None else Excerpt(text[:limit], len(text), text[limit : limit + _REST])


_USER: Final = "user"


def prompt_in_words(stored: str | None) -> str | None:
    """A prompt: the text, or the messages of a chat, each after the role if there are several.

    Args:
        stored: The JSON of the event `LOADGEN_ISSUE_CALLED`; None where the log has no text.
    """
    asked = members(document(stored)) if stored else {}
    if (prompt := text(asked.get("prompt"))) is not None:
        return prompt
    messages = [message for message in asked.get("messages") or () if isinstance(message, dict)]
    if len(messages) == 1 and messages[0].get("role") == _USER:
        return _content(messages[0])
    if messages:
        return "\n\n".join(f"[{message.get('role')}] {_content(message)}" for message in messages)
    tokens = asked.get("token_ids")
    return f"{len(tokens)} token ids: {_json(tokens)}" if isinstance(tokens, list) else None


def response_in_words(stored: str | None) -> Mapping[str, str]:
    """The parts of a response: reasoning, output and tool calls, where present."""
    parts = members(document(stored)) if stored else {}
    calls = parts.get("tool_calls")
    named = {
        "reasoning": text(parts.get("reasoning")),
        "output": text(parts.get("output")),
        "tool calls": _json(calls) if calls else None,
    }
    return {name: part for name, part in named.items() if part}


def reference_in_words(stored: str | None) -> str | None:
    """The reference for scoring: the single value, or the whole as JSON."""
    reference = members(document(stored)).get("reference") if stored else None
    if not reference:
        return None
    if isinstance(reference, dict) and len(reference) > 1:
        # Judges are given the question again.
        reference = {name: value for name, value in reference.items() if name != "question"}
    values = list(reference.values()) if isinstance(reference, dict) else [reference]
    if len(values) == 1 and isinstance(values[0], str | int | float):
        return str(values[0])
    return _json(reference)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(_parts(content))
    words = text(content) or ""
    calls = message.get("tool_calls")
    return "\n".join(filter(None, (words, _json(calls) if calls else "")))


def _parts(content: list[Any]) -> Iterator[str]:
    """The parts of a message: texts unchanged, other parts by kind."""
    for part in map(members, content):
        yield text(part.get("text")) or f"({part.get('type')})"


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
