"""OpenAI completions: `POST /v1/completions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.client.codec import Delta, Generation, first_choice, read_error, read_usage, request_body, text

if TYPE_CHECKING:
    from workloads.sample import Sample

path: Final = "/completions"


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample."""
    return request_body(generation, prompt=_prompt(sample))


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts as the log keeps them."""
    return {"prompt": _prompt(sample)}


def chunk(payload: Any) -> Delta:
    """Read one frame of a stream."""
    choice = first_choice(payload)
    usage, error = read_usage(payload), read_error(payload)
    if choice is None:
        return Delta(usage=usage, error=error)
    return Delta(
        content=text(choice.get("text")),
        finish_reason=text(choice.get("finish_reason")) or None,
        usage=usage,
        error=error,
    )


whole = chunk
"""A complete response has the shape of a frame."""


def _prompt(sample: Sample) -> str:
    return sample.prompt if sample.system is None else f"{sample.system}\n\n{sample.prompt}"
