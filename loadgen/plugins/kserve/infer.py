"""KServe v2 inference over HTTP: `POST /v2/models/NAME/infer`, texts as tensors of bytes, without a stream.

The names of tensors are those of Triton's backends of vLLM and TensorRT-LLM; `--extra-body` replaces members,
such as `inputs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.client.codec import Delta, bearer, joined_prompt, read_error, require_texts
from loadgen.driver.client.server_json import members
from loadgen.driver.errors import CannotAskError, MalformedResponseError

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Generation
    from workloads.sample import Sample

_OUTPUT: Final = "text_output"


class KserveInfer:
    """The protocol of KServe v2 for a model that takes and returns texts."""

    path: ClassVar[str] = "/infer"
    title: ClassVar[str] = "KServe v2 inference; --url http://HOST:PORT/v2/models/NAME"
    models: ClassVar[str | None] = None
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    stream: ClassVar[str] = "never"

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body; raise `CannotAskError` for conversations, tools and tokens."""
        require_texts(sample, "kserve")
        if sample.chat is not None or sample.tools:
            raise CannotAskError("conversations and tools go with --protocol chat, not with kserve")
        tensors = [_tensor("text_input", "BYTES", joined_prompt(sample))]
        if (limit := generation.most_tokens(sample)) is not None:
            tensors.append(_tensor("max_tokens", "INT32", limit))
        if (temperature := generation.sampled_at(sample)) is not None:
            tensors.append(_tensor("temperature", "FP32", temperature))
        return generation.extended({"inputs": tensors, "outputs": [{"name": _OUTPUT}]})

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The prompt for the log."""
        return {"prompt": joined_prompt(sample)}

    def chunk(self, payload: Any) -> Delta:
        """Read a response, raise `MalformedResponseError` for a foreign one."""
        return self.whole(payload)

    def whole(self, payload: Any) -> Delta:
        """Read the texts of the output; raise `MalformedResponseError` for a foreign response."""
        response = members(payload)
        if (error := read_error(response)) is not None:
            return Delta(error=error)
        outputs = response.get("outputs")
        tensors = [each for each in outputs if isinstance(each, dict)] if isinstance(outputs, list) else []
        texts = [each for each in tensors if each.get("datatype") == "BYTES"]
        named = next((each for each in texts if each.get("name") == _OUTPUT), next(iter(texts), {}))
        data = named.get("data")
        if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
            raise MalformedResponseError("no output tensor has texts")
        return Delta(content="".join(data))


def _tensor(name: str, datatype: str, value: str | float) -> dict[str, Any]:
    """A tensor of one value."""
    return {"name": name, "shape": [1, 1], "datatype": datatype, "data": [value]}
