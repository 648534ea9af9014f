"""A unique text at the beginning of a prompt, new to every prefix cache."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workloads.sample import Message, Sample


def new_salt() -> str:
    """A text that no request had before, of this run or another: 64 random bits."""
    return token_hex(8)


def salted(sample: Sample, salt: str) -> Sample:
    """The question with a salt at the start of the endpoint's input.

    Args:
        sample: A question in words; what follows on its answer keeps the salt where it is.
        salt: See `new_salt`.
    """
    if sample.chat:
        first, *others = sample.chat
        return replace(sample, chat=(_salted_message(first, salt), *others))
    if sample.system is not None:
        return replace(sample, system=f"{salt} {sample.system}")
    return replace(sample, prompt=f"{salt} {sample.prompt}")


def _salted_message(message: Message, salt: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list | tuple):
        # Parts: texts, images…
        return {**message, "content": [{"type": "text", "text": salt}, *content]}
    return {**message, "content": f"{salt} {content or ''}"}
