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
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Sample

path: Final = "/chat/completions"


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample."""
    return request_body(generation, messages=sample.messages())


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts as the log keeps them."""
    return {"messages": sample.messages()}


def chunk(payload: Any) -> Delta:
    """Read one frame of a stream."""
    return _read(payload, "delta")


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


def _tool_calls(said: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    calls = said.get("tool_calls")
    if not calls:
        return ()
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise MalformedError("`tool_calls` is not a list of calls or parts of them")
    return calls


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("index"), int | None)
        and isinstance(call.get("function"), dict | None)
    )
