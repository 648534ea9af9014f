"""KServe v2 inference: `POST /v2/models/NAME/infer`, or `ModelInfer` and `ModelStreamInfer` over gRPC.

The names of tensors are those of Triton's backends of vLLM and TensorRT-LLM; `--extra-body` replaces members,
such as `inputs`, whose texts may be the placeholders of `--body`. An answer without a tensor of texts has
results in place of tokens, as vectors have.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.client.codec import Delta, bearer, joined_prompt, read_error, require_texts
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.plain_json import fill
from loadgen.driver.client.server_json import members
from loadgen.driver.errors import CannotAskError, MalformedResponseError, RequestFailedError
from loadgen.plugins.kserve.messages import INFER, SERVICE, STREAM, infer_request
from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.codec import Generation
    from loadgen.plugins.kserve.grpc_connection import GrpcConnection
    from workloads.sample import Sample

_OUTPUT: Final = "text_output"
_TENSORS: Final = (
    ("text_input", "BYTES", "{prompt}"),
    ("max_tokens", "INT32", "{max_tokens}"),
    ("temperature", "FP32", "{temperature}"),
)
_STREAM: Final = ("stream", "BOOL", True)


class KserveInfer:
    """The protocol of KServe v2 over HTTP."""

    path: ClassVar[str] = "/infer"
    title: ClassVar[str] = "KServe v2 inference; --url http://HOST:PORT/v2/models/NAME"
    models: ClassVar[str | None] = None
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    stream: ClassVar[str] = "never"
    tensors: ClassVar[Sequence[tuple[str, str, Any]]] = _TENSORS
    checks: ClassVar[str] = "kserve_checks"

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any] | bytes:
        """The request body; raise `CannotAskError` for conversations, tools, tokens and unknown tensors."""
        return self._tensors(sample, generation)

    def _tensors(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        require_texts(sample, "kserve")
        if sample.chat is not None or sample.tools:
            raise CannotAskError("conversations and tools go with --protocol chat, not with kserve")
        values = {
            "prompt": joined_prompt(sample),
            "model": generation.model,
            "max_tokens": generation.most_tokens(sample),
            "temperature": generation.sampled_at(sample),
            "seed": generation.seed,
        }
        own: dict[str, Any] = {}
        if "inputs" not in generation.extra_body:
            inputs = [
                {"name": name, "shape": [1, 1], "datatype": datatype, "data": [value]}
                for name, datatype, value in self.tensors
            ]
            own = {"inputs": inputs, "outputs": [{"name": _OUTPUT}]}
        body: dict[str, Any] = fill(generation.extended(own), values)
        # A tensor whose only value is absent is left out.
        body["inputs"] = [each for each in body.get("inputs", ()) if each.get("data") != []]
        return body

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The prompt for the log."""
        return {"prompt": joined_prompt(sample)}

    def chunk(self, payload: Any) -> Delta:
        """Read a response, raise `MalformedResponseError` for a foreign one."""
        return self.whole(payload)

    def whole(self, payload: Any) -> Delta:
        """Read the texts of the output, else the numbers.

        Raises:
            MalformedResponseError: The response is a foreign one.
            RequestFailedError: A number is not finite.
        """
        response = members(payload)
        if (error := read_error(response)) is not None:
            return Delta(error=error)
        outputs = response.get("outputs")
        tensors = [each for each in outputs if isinstance(each, dict)] if isinstance(outputs, list) else []
        if not tensors:
            return self._without_outputs()
        texts = [each for each in tensors if each.get("datatype") == "BYTES"]
        named = next((each for each in texts if each.get("name") == _OUTPUT), next(iter(texts), None))
        if named is None:
            return Delta(facts={"results": _results(tensors[0])})
        data = named.get("data")
        if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
            raise MalformedResponseError(f"output {named.get('name')} has no list of texts")
        return Delta(content="".join(data))

    def _without_outputs(self) -> Delta:
        raise MalformedResponseError("no output tensor")


class KserveGrpc(KserveInfer):
    """The protocol of KServe v2 over gRPC: a request, a response."""

    path: ClassVar[str] = f"{SERVICE}{INFER}"
    title: ClassVar[str] = "KServe v2 inference over gRPC; --url grpc://HOST:PORT"
    rooted: ClassVar[bool] = True
    scheme: ClassVar[str] = "grpc"
    content_type: ClassVar[str] = "application/grpc"

    def __init__(self) -> None:
        grpc_connection()

    def request(self, sample: Sample, generation: Generation) -> bytes:
        """The message of a request; raises as `KserveInfer.request`."""
        return infer_request(generation.model, self._tensors(sample, generation))


class TritonGrpc(KserveGrpc):
    """Triton's stream over gRPC: `ModelStreamInfer`, a message for each response of a decoupled model."""

    path: ClassVar[str] = f"{SERVICE}{STREAM}"
    title: ClassVar[str] = "Triton's stream over gRPC; --url grpc://HOST:PORT"
    stream: ClassVar[str] = "always"
    tensors: ClassVar[Sequence[tuple[str, str, Any]]] = (*_TENSORS, _STREAM)

    def _without_outputs(self) -> Delta:
        return Delta()  # the final response of a decoupled model


def grpc_connection() -> type[GrpcConnection]:
    """The class of connections for gRPC.

    Raises:
        UsageError: A package of the extra is missing.
    """
    with importing("gRPC", "grpc"):
        import google.protobuf  # noqa: F401 (its messages are made on use)

        from loadgen.plugins.kserve.grpc_connection import GrpcConnection
    return GrpcConnection


def _results(tensor: Mapping[str, Any]) -> dict[str, int]:
    """The size of a tensor of numbers: rows, and numbers in a row."""
    name, shape, data = tensor.get("name"), tensor.get("shape"), tensor.get("data")
    if not isinstance(shape, list) or not shape or not isinstance(data, list):
        raise MalformedResponseError(f"output {name} has no shape and data")
    numbers = _flat(data)
    if not numbers or not all(type(number) in {int, float, bool} and isfinite(number) for number in numbers):
        raise RequestFailedError(Failure.WRONG_RESULTS, f"output {name} has not only finite numbers")
    dimensions = int(shape[-1])
    return {"count": len(numbers) // dimensions if dimensions else 0, "dimensions": dimensions}


def _flat(data: list[Any]) -> list[Any]:
    return [number for each in data for number in (_flat(each) if isinstance(each, list) else [each])]
