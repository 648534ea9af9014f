"""Conversations in the form of ShareGPT: who a message is `from`, and its `value`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from workloads.errors import PromptError

if TYPE_CHECKING:
    from collections.abc import Mapping

SPEAKERS: Final[Mapping[str, str]] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "system": "system",
}
"""Who speaks, in the words of such files and in OpenAI's."""


def is_sharegpt(message: Mapping[str, Any]) -> bool:
    """Whether a message is in this form."""
    return "from" in message


def in_openai_format(place: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """The message in OpenAI's format.

    Raises:
        PromptError: The speaker is unknown.
    """
    speaker = message["from"]
    role = SPEAKERS.get(speaker.lower()) if isinstance(speaker, str) else None
    if role is None:
        raise PromptError(f"{place}: from {speaker!r}, where one of {', '.join(SPEAKERS)} should be")
    return {"role": role, "content": message.get("value")}
