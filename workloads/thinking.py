"""Reasoning that a server leaves in the text of an answer, between tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TAGS: Final[Mapping[str, str]] = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""The tags by model: its opening one, and the closing one."""

_FIRST_CHARACTERS: Final = frozenset(tag[0] for tag in TAGS)
_OPENED_BY_TEMPLATE: Final = ("</think>", "</seed:think>", "[/THINK]", "◁/think▷")
"""Closing tags whose opening one may be the end of the prompt, by the model's chat template."""

MARKS: Final = (*TAGS, *_OPENED_BY_TEMPLATE)
"""The marks of reasoning in tags; a text without any mark has no such reasoning."""


def answer_start(text: str) -> int:
    """The start of the answer in a text, after leading reasoning; the end of the text without one."""
    start = 0
    while (end := _end_of_thinking(text, start)) is not None:
        start = end
    if start:
        return start
    for tag in _OPENED_BY_TEMPLATE:
        end = text.find(tag)
        if end >= 0 and tag.replace("/", "", 1) not in text[:end]:
            return end + len(tag)
    return 0


def without_thinking(text: str) -> str:
    """The text of an answer, without reasoning in tags before it."""
    start = answer_start(text)
    return text[start:].lstrip() if start else text


def _end_of_thinking(text: str, start: int) -> int | None:
    """The end of the tags that open at a place, after white space; None where none do."""
    while start < len(text) and text[start].isspace():
        start += 1
    if text[start : start + 1] not in _FIRST_CHARACTERS:
        return None
    for opening, closing in TAGS.items():
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            return len(text) if end < 0 else end + len(closing)
    return None
