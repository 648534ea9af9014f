"""OpenAI chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.client.codec import (
    Delta,
    Generation,
    MalformedError,
    first_choice,
    read_error,
    read_usage,
    request_body,
    says_no_more,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Sample

path: Final = "/chat/completions"

_TEXT: Final = frozenset({"role", "content"})


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample."""
    return request_body(generation, messages=sample.messages())


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts as the log keeps them."""
    return {"messages": sample.messages()}


def chunk(payload: Any) -> Delta:
    """Read one frame of a stream."""
    return _read(payload, "delta")


def only_text(payload: Any) -> str:
    """The text of a frame that has a text and nothing else to say; empty for any other."""
    try:
        choice = payload["choices"][0]
        delta = choice["delta"]
        content = delta["content"]
    except (LookupError, TypeError):
        return ""
    if len(delta) > 1 and any(value for name, value in delta.items() if name not in _TEXT):
        return ""
    plain = type(content) is str and says_no_more(payload, choice)
    return content if plain else ""


def whole(payload: Any) -> Delta:
    """Read a complete response that is not a stream."""
    return _read(payload, "message")


def _read(payload: Any, member: str) -> Delta:
    choice = first_choice(payload)
    usage, error = read_usage(payload), read_error(payload)
    if choice is None:
        return Delta(usage=usage, error=error)
    said = choice.get(member) or {}
    if not isinstance(said, dict):
        raise MalformedError(f"`{member}` is not an object")
    return Delta(
        content=text(said.get("content")) or text(said.get("refusal")),
        # DeepSeek, SGLang and older vLLM call it reasoning_content, OpenRouter and newer vLLM reasoning.
        reasoning=text(said.get("reasoning_content")) or text(said.get("reasoning")),
        tool_calls=_tool_calls(said),
        finish_reason=text(choice.get("finish_reason")) or None,
        usage=usage,
        error=error,
    )


def _tool_calls(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = said.get("tool_calls") or []
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise MalformedError("`tool_calls` is not a list of calls or parts of them")
    return calls


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("index"), int | None)
        and isinstance(call.get("function"), dict | None)
    )
