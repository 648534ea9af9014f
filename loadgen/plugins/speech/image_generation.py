"""Image generation: `POST /v1/images/generations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Delta, bearer, joined_prompt, read_error
from loadgen.driver.client.server_json import members, objects
from loadgen.driver.errors import CannotAskError, MalformedResponseError

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Generation
    from workloads.sample import Sample


class ImageGeneration:
    """The protocol of OpenAI, SGLang and vLLM-Omni."""

    path: ClassVar[str] = "/images/generations"
    title: ClassVar[str] = "OpenAI image generation"
    models: ClassVar[str | None] = "/models"
    stream: ClassVar[str] = "never"
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    dataset: ClassVar[str] = "texts_without_tokens"

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body; `--extra-body` chooses the number and the size of images."""
        if sample.chat is not None or sample.token_ids is not None:
            raise CannotAskError("an image is made of a text: give texts")
        return generation.extended({"model": generation.model, "prompt": joined_prompt(sample), "n": 1})

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The text for the log."""
        return {"prompt": joined_prompt(sample)}

    def chunk(self, payload: Any) -> Delta:
        """Refuse a stream of events: raise `MalformedResponseError`."""
        del payload
        raise MalformedResponseError("a stream, where one JSON text belongs")

    def whole(self, payload: Any) -> Delta:
        """Count the images of a response."""
        response = members(payload)
        error = read_error(response)
        images = [each for each in objects(response.get("data") or [], "`data`") if _has_image(each)]
        usage = chat_completions.token_counts(response.get("usage"))
        return Delta(usage=usage, error=error, facts={"images_out": len(images)} if images else None)


def _has_image(member: Any) -> bool:
    return bool(member.get("b64_json") or member.get("url"))


IMAGES: Final = ImageGeneration()
