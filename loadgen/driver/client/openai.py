"""The common part of OpenAI's chat completions and completions: request, `usage`, choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import Delta, Generation, Usage
from loadgen.driver.client.server_json import count, counted, place
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.server_json import JsonPlace
    from workloads.sample import Sample

_INPUT: Final = (place("prompt_tokens"), place("input_tokens"))
_OUTPUT: Final = (place("completion_tokens"), place("output_tokens"))
_REASONING: Final = (
    place("completion_tokens_details.reasoning_tokens"),
    place("output_tokens_details.reasoning_tokens"),
    place("reasoning_tokens"),  # SGLang
)
_CACHED: Final = (
    place("prompt_tokens_details.cached_tokens"),
    place("input_tokens_details.cached_tokens"),
    place("cached_tokens"),  # Moonshot
    place("prompt_cache_hit_tokens"),  # DeepSeek
)
_GROQ: Final = place("x_groq.usage")


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
    return generation.extended(body)


def read_usage(payload: Mapping[str, Any], choice: Mapping[str, Any] | None = None) -> Usage | None:
    """Read the token counts of a frame, from any of the known places: Groq and Moonshot have their own."""
    usage = payload.get("usage")
    if not usage and "x_groq" in payload:
        usage = _GROQ.find(payload)
    if not usage and choice is not None:
        usage = choice.get("usage")
    return token_counts(usage)


def token_counts(usage: Any) -> Usage | None:
    """Read `usage` by the names of chat completions or of Responses; other values than counts are skipped."""
    if not isinstance(usage, dict) or not usage:
        return None
    return Usage(
        _first(usage, _INPUT),
        _first(usage, _OUTPUT),
        _first(usage, _REASONING),
        _first(usage, _CACHED),
        count(usage, "total_tokens"),
    )


def first_choice(payload: Any) -> Mapping[str, Any] | None:
    """The choice with index 0, which is the answer; None in a frame without it, such as the usage frame.

    Raises:
        MalformedResponseError: There are choices, but not in the protocol's shape.
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


def with_others(delta: Delta, payload: Mapping[str, Any], member: str) -> Delta:
    """Add which further choices a frame adds text to, in a `member` of a choice."""
    choices = payload.get("choices")
    if not choices or (len(choices) == 1 and not choices[0].get("index")):
        return delta
    further = [choice for choice in choices if isinstance(choice, dict) and choice.get("index")]
    indexes = (counted(choice["index"]) for choice in further if _has_text(choice.get(member)))
    return delta._replace(others=tuple(filter(None, indexes)))


def _has_text(part: Any) -> bool:
    """Whether a choice's text, or an object of texts, has more than a role."""
    if isinstance(part, dict):
        return any(value for name, value in part.items() if name != "role")
    return bool(part)


def _first(counts: Mapping[str, Any], places: Sequence[JsonPlace]) -> int | None:
    """The first count at any of the places."""
    # A loop, since generator expressions double the cost, and each response has four of these.
    for member in places:
        if (number := counted(member.find(counts))) is not None:
            return number
    return None
