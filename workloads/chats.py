"""Messages of conversations in OpenAI's format, with a check for each role, and in ShareGPT's.

Nothing is fetched: images are references, and stay as they are. Members that are null are left out: a Parquet
file has them for everything that a message of another role has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.errors import PromptError, did_you_mean
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Message

SPEAKERS: Final[Mapping[str, str]] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "system": "system",
}
"""Who a message is `from` in ShareGPT's form, and the role of the same in OpenAI's."""

ROLES: Final = ("system", "developer", "user", "assistant", "tool")

_REFERENCE: Final = re.compile(r"(https?://|data:|file://)", re.IGNORECASE)


def role_of(place: str, message: Mapping[str, Any]) -> str:
    """The role of a message; raise `PromptError` for none, or an unknown one."""
    role = message.get("role")
    if role not in ROLES:
        shown = "no role" if role is None else f"the role {role!r}"
        near = did_you_mean(role, ROLES) if isinstance(role, str) else ""
        raise PromptError(f"{place}: {shown}, where one of {', '.join(ROLES)} should be{near}")
    return str(role)


def read_message(place: str, message: Mapping[str, Any]) -> Message:
    """A checked message, without null members; raise `PromptError` for an empty or odd one."""
    fields: dict[str, Any] = without_nulls(message)
    role, content = fields.get("role"), fields.get("content")
    calls = fields.get("tool_calls")
    if calls:
        if role != "assistant":
            raise PromptError(f"{place}: `tool_calls` in a message of {role}; only the assistant calls tools")
        _check_calls(place, calls)
    if role == "tool" and not isinstance(fields.get("tool_call_id"), str):
        raise PromptError(f"{place}: the result of a tool without the `tool_call_id` that it answers")
    if isinstance(content, list):
        for number, part in enumerate(content, start=1):
            _check_part(f"{place}, part {number}", part)
    elif not isinstance(content, str | None):
        raise PromptError(f"{place}: `content` is {kind(content)}, where a text or a list of parts should be")
    if not (calls or fields.get("refusal") or role == "tool" or _says(content)):
        raise PromptError(f"{place}: the content is empty; fill it in or drop the row")
    return {**fields, "content": content or ""} if role == "tool" else fields


def read_tools(place: str, value: object) -> tuple[Mapping[str, Any], ...]:
    """The callable tools: a list of objects, or JSON of a list, or null; raise `PromptError` for others."""
    if isinstance(value, str) and value.strip():
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise PromptError(f"{place}: not JSON ({error.msg}), where a list of tools should be") from error
    if not value:
        return ()
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise PromptError(f"{place}: {kind(value)}, where a list of tools, objects all, should be")
    return tuple(without_nulls(value))


def without_nulls(value: Any) -> Any:
    """A JSON value without null members."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(element) for element in value] if isinstance(value, list) else value


def _says(content: str | list[Any] | None) -> bool:
    return bool(content.strip() if isinstance(content, str) else content)


def _check_part(place: str, part: Any) -> None:
    """Look at a part of a message's content; of kinds that other servers have added, nothing is known."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise PromptError(f"{place}: {kind(part)}, where an object with a `type` should be")
    if part["type"] == "text" and not isinstance(part.get("text"), str):
        raise PromptError(f"{place}: a part of the type text without a `text`")
    if part["type"] == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else None
        if not isinstance(url, str) or not _REFERENCE.match(url):
            raise PromptError(
                f"{place}: an image is a reference here: "
                '{"type": "image_url", "image_url": {"url": …}} with an http:, https:, data: or file: URL'
            )


def _check_calls(place: str, calls: Any) -> None:
    for number, call in enumerate(calls if isinstance(calls, list) else [calls], start=1):
        function = call.get("function") if isinstance(call, dict) else None
        members = (
            (call.get("id"), function.get("name"), function.get("arguments"))
            if isinstance(function, dict)
            else (None,)
        )
        if not all(isinstance(member, str) for member in members):
            raise PromptError(
                f"{place}, tool call {number}: a call needs an `id` and a `function` with `name` and "
                "`arguments` (JSON in a string)"
            )


def is_sharegpt(message: Mapping[str, Any]) -> bool:
    """Whether a message is in ShareGPT's form: `from` and `value`."""
    return "from" in message


def in_openai_format(place: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """The message in OpenAI's format; raise `PromptError` for an unknown speaker."""
    speaker = message["from"]
    role = SPEAKERS.get(speaker.lower()) if isinstance(speaker, str) else None
    if role is None:
        raise PromptError(f"{place}: from {speaker!r}, where one of {', '.join(SPEAKERS)} should be")
    return {"role": role, "content": message.get("value")}
