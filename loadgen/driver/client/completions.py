"""OpenAI completions: `POST /v1/completions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.chat_completions import first_choice, read_usage, request_body, with_others
from loadgen.driver.client.codec import Delta, Generation, bearer, joined_prompt, read_error
from loadgen.driver.client.server_json import read_reason, text
from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from workloads.sample import Sample

path: Final = "/completions"
models: Final = "/models"
announces_end: Final = True
cumulative: Final = False
headers = bearer


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample; raise `CannotAskError` for conversations and tools."""
    if sample.chat is not None or sample.tools:
        raise CannotAskError(
            "a conversation, or a question with tools, goes with --protocol chat; --protocol completions "
            "knows neither"
        )
    if sample.token_ids is not None:
        return request_body(sample, generation, prompt=list(sample.token_ids))
    return request_body(sample, generation, prompt=joined_prompt(sample))


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts for the log."""
    if sample.token_ids is not None:
        return {"token_ids": list(sample.token_ids)}
    return {"prompt": joined_prompt(sample)}


def chunk(payload: Any) -> Delta:
    """Read one frame of a stream, or a complete response, of equal shape."""
    choice = first_choice(payload)
    usage, error = read_usage(payload, choice), read_error(payload)
    if choice is None:
        return with_others(Delta(usage=usage, error=error), payload, "text")
    finish_reason, aborted = read_reason(choice.get("finish_reason"))
    error = error or (read_error(choice) if choice.get("error") else aborted)
    delta = Delta(
        content=text(choice.get("text")),
        finish_reason=finish_reason,
        usage=usage,
        error=error,
        silent=choice.get("text") == "" and finish_reason is None and error is None,
    )
    return with_others(delta, payload, "text")


whole = chunk
