"""OpenAI chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import (
    Delta,
    Generation,
    Usage,
    bearer,
    logged_messages,
    read_error,
    require_texts,
)
from loadgen.driver.client.server_json import (
    count,
    counted,
    media_tokens,
    objects,
    place,
    read_reason,
    text,
    written,
)
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.server_json import JsonPlace
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
    error = error or (read_error(choice) if choice.get("error") else aborted)
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
        next(filter(None, (text(message.get(name)) for name in _REASONING_TEXT)), thought),
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


_REASONING_TEXT: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
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
    """Read the token counts of a frame, from any of the known places: Groq and Moonshot have special ones."""
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
        media_tokens(usage),
    )


def first_choice(payload: Any) -> Mapping[str, Any] | None:
    """The choice with index 0, or None; raise `MalformedResponseError` for choices of another shape."""
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
