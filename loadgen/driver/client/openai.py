"""What OpenAI's chat completions and completions have in common: the request, `usage`, choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.driver.client.codec import Generation, Usage
from loadgen.driver.client.server_json import count
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Sample


def request_body(sample: Sample, generation: Generation, **question: Any) -> dict[str, Any]:
    """The members that the OpenAI protocols share, around the question."""
    max_tokens = generation.most_tokens(sample)
    body: dict[str, Any] = {"model": generation.model, **question, "stream": generation.stream}
    if generation.stream:
        body["stream_options"] = {"include_usage": True}
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
        if generation.ignore_eos:
            # No parameters of OpenAI's, but of vLLM, SGLang and others.
            body |= {"ignore_eos": True, "min_tokens": max_tokens}
    if (temperature := generation.sampled_at(sample)) is not None:
        body["temperature"] = temperature
    if generation.seed is not None:
        body["seed"] = generation.seed
    return body | dict(generation.extra_body) if generation.extra_body else body


def read_usage(payload: Mapping[str, Any]) -> Usage | None:
    """Read OpenAI's `usage` member; anything that is not a count is taken as not said."""
    usage = payload.get("usage")
    if not isinstance(usage, dict) or not usage:
        return None
    reasoning_tokens = count(usage.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(
        count(usage, "prompt_tokens"),
        count(usage, "completion_tokens"),
        # SGLang has it next to the others.
        count(usage, "reasoning_tokens") if reasoning_tokens is None else reasoning_tokens,
        count(usage.get("prompt_tokens_details"), "cached_tokens"),
    )


def first_choice(payload: Any) -> Mapping[str, Any] | None:
    """The choice that an answer consists of; None in a frame without one, such as the usage frame.

    Where several answers to one question were asked for, the one with index 0 is the answer.

    Raises:
        MalformedError: There are choices, but not in the protocol's shape.
    """
    if not isinstance(payload, dict):
        raise MalformedResponseError("not a JSON object")
    choices = payload.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list):
        raise MalformedResponseError("`choices` is not a list of objects")
    for choice in choices:
        if not isinstance(choice, dict):
            raise MalformedResponseError("`choices` is not a list of objects")
        if not choice.get("index"):
            return choice
    return None
