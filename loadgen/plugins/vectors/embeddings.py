"""Vectors and classes: OpenAI's embeddings, Infinity's, Cohere's, and vLLM's pooling and classification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from loadgen.driver.client import server_json
from loadgen.driver.errors import MalformedResponseError
from loadgen.plugins.vectors.vector_codec import Encoding, Result, VectorCodec, indexed
from loadgen.plugins.vectors.vector_sample import inputs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workloads.sample import Sample

_BOTH: tuple[Encoding, ...] = ("float", "base64")


class Embeddings(VectorCodec):
    """OpenAI: `POST /v1/embeddings`, also of vLLM, SGLang, TEI and llama.cpp."""

    title: ClassVar[str] = "OpenAI embeddings"
    path: ClassVar[str] = "/embeddings"
    encodings: ClassVar[tuple[Encoding, ...]] = _BOTH
    takes_dimensions: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return _openai_body(self, model, sample)

    def results(self, payload: Any) -> Iterable[Result]:
        """The vectors of a response."""
        return indexed(server_json.members(payload).get("data"), "`data`", "embedding")


class Infinity(Embeddings):
    """Infinity: `POST /embeddings`, with the modality of the inputs."""

    title: ClassVar[str] = "Infinity embeddings"
    rooted: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return {**_openai_body(self, model, sample), "modality": "text"}


class CohereEmbed(VectorCodec):
    """Cohere: `POST /v2/embed`."""

    title: ClassVar[str] = "Cohere embed"
    path: ClassVar[str] = "/v2/embed"
    models: ClassVar[str | None] = "/v1/models"
    rooted: ClassVar[bool] = True
    encodings: ClassVar[tuple[Encoding, ...]] = _BOTH
    takes_dimensions: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        dimension = {} if self.dimensions is None else {"output_dimension": self.dimensions}
        return {
            "model": model,
            "texts": list(inputs_of(sample)),
            "input_type": "search_document",
            "embedding_types": [self.encoding or "float"],
            **dimension,
        }

    def results(self, payload: Any) -> Iterable[Result]:
        """The vectors of a response, of the type that was asked for."""
        embeddings = server_json.members(payload).get("embeddings")
        by_type = {"float": embeddings} if isinstance(embeddings, list) else embeddings
        vectors = server_json.members(by_type, "`embeddings`").get(self.encoding or "float")
        if not isinstance(vectors, list):
            raise MalformedResponseError(f"`embeddings` has no list of type {self.encoding or 'float'}")
        return enumerate(vectors)

    def input_tokens(self, payload: Any) -> int | None:
        """The server's count of input tokens."""
        units = (payload.get("meta") or {}).get("billed_units")
        return server_json.count(units, "input_tokens")


class Pooling(VectorCodec):
    """vLLM: `POST /pooling`, a vector or a matrix for each input."""

    title: ClassVar[str] = "vLLM pooling"
    path: ClassVar[str] = "/pooling"
    models: ClassVar[str | None] = "/v1/models"
    rooted: ClassVar[bool] = True
    encodings: ClassVar[tuple[Encoding, ...]] = _BOTH
    takes_dimensions: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return _openai_body(self, model, sample)

    def results(self, payload: Any) -> Iterable[Result]:
        """The vectors of a response."""
        return indexed(server_json.members(payload).get("data"), "`data`", "data")


class Classify(VectorCodec):
    """vLLM: `POST /classify`, the probabilities of classes for each input."""

    title: ClassVar[str] = "vLLM classification"
    path: ClassVar[str] = "/classify"
    models: ClassVar[str | None] = "/v1/models"
    rooted: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return {"model": model, "input": list(inputs_of(sample))}

    def results(self, payload: Any) -> Iterable[Result]:
        """The probabilities of a response."""
        return indexed(server_json.members(payload).get("data"), "`data`", "probs")


def _openai_body(codec: VectorCodec, model: str, sample: Sample) -> dict[str, Any]:
    inputs = list(inputs_of(sample))
    options = {"encoding_format": codec.encoding, "dimensions": codec.dimensions}
    return {"model": model, "input": inputs, **{name: value for name, value in options.items() if value}}
