"""OpenAI chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import (
    Delta,
    Generation,
    bearer,
    logged_messages,
    read_error,
    read_reason,
    require_texts,
)
from loadgen.driver.client.openai import first_choice, read_usage, request_body, with_others
from loadgen.driver.client.server_json import objects, text, written
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Sample

path: Final = "/chat/completions"
models: Final = "/models"
announces_end: Final = True
cumulative: Final = False
headers = bearer


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample."""
    require_texts(sample, "chat")
    body = request_body(sample, generation, messages=sample.messages())
    return {"tools": list(sample.tools), **body} if sample.tools else body


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts for the log."""
    return logged_messages(sample)


def chunk(payload: Any) -> Delta:
    """Read one frame of a stream."""
    choice = first_choice(payload)
    delta = with_others(_read(payload, choice, "delta"), payload, "delta")
    if delta.content or choice is None or delta.finish_reason or delta.error or delta.carries_token:
        return delta
    members = choice.get("delta") or {}
    if members.get("content") != "" or any(members[name] for name in members if name != "role"):
        return delta
    return delta._replace(silent=True, opens=bool(members.get("role")))


def whole(payload: Any) -> Delta:
    """Read a complete response that is not a stream."""
    return with_others(_read(payload, first_choice(payload), "message"), payload, "message")


def _read(payload: Mapping[str, Any], choice: Mapping[str, Any] | None, member: str) -> Delta:
    usage = read_usage(payload, choice)
    error = read_error(payload)
    if choice is None:
        return Delta(usage=usage, error=error)
    message = choice.get(member) or {}
    if not isinstance(message, dict):
        raise MalformedResponseError(f"`{member}` is not an object")
    finish_reason, aborted = read_reason(choice.get("finish_reason"))
    error = error or aborted
    content = message.get("content")
    if len(message) <= 1 and (type(content) is str or not message):
        # Nearly all frames of a stream.
        return Delta(content or "", "", (), finish_reason, usage, error)
    thought = ""
    if isinstance(content, list):
        thought = "".join(_joined(part.get("thinking")) for part in objects(content, "`content`"))
        content = _joined(content)
    return Delta(
        text(content) or text(message.get("refusal")),
        # DeepSeek, SGLang and older vLLM call it reasoning_content, OpenRouter and newer vLLM reasoning.
        text(message.get("reasoning_content")) or text(message.get("reasoning")) or thought,
        _tool_calls(message),
        finish_reason,
        usage,
        error,
    )


def _joined(value: Any) -> str:
    """A text, or the joined texts of a list of parts, as sent by some gateways."""
    if isinstance(value, list):
        return "".join(text(part.get("text")) for part in objects(value, "`content`"))
    return text(value)


def _tool_calls(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):
        # The form before `tool_calls`: one call, without an id.
        calls = [{"index": 0, "function": message["function_call"]}]
    if not calls:
        return ()
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise MalformedResponseError("`tool_calls` is not a list of calls or parts of them")
    return [_plain_call(call) for call in calls]


def _plain_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call of plain values, since the log has one form of calls."""
    plain = _plain({name: value for name, value in call.items() if name != "function"})
    return plain if call.get("function") is None else plain | {"function": _plain(call["function"])}


def _plain(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: written(value) if isinstance(value, dict | list) else value for name, value in part.items()}


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("index"), int | None)
        and isinstance(call.get("function"), dict | None)
    )
