"""Scores of documents for a query: rerank of vLLM, Jina, Cohere, Infinity, SGLang, TEI and NIM, and score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from loadgen.driver.client import server_json
from loadgen.plugins.vectors.vector_codec import Result, VectorCodec, indexed
from loadgen.plugins.vectors.vector_sample import inputs_of, query_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workloads.sample import Sample


class Rerank(VectorCodec):
    """vLLM, Jina and Cohere: `POST /v1/rerank` or `/v2/rerank`, by the version in the base URL."""

    title: ClassVar[str] = "rerank of vLLM, Jina and Cohere"
    path: ClassVar[str] = "/rerank"
    inputs: ClassVar[Literal["batch", "query"]] = "query"
    makes_vectors: ClassVar[bool] = False

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return {"model": model, "query": query_of(sample), "documents": list(inputs_of(sample))}

    def results(self, payload: Any) -> Iterable[Result]:
        """The scores of a response."""
        return indexed(server_json.members(payload).get("results"), "`results`", "relevance_score", "score")

    def input_tokens(self, payload: Any) -> int | None:
        """The server's count of input tokens."""
        tokens = VectorCodec.input_tokens(self, payload)
        billed = ((payload.get("meta") or {}).get("billed_units")) if tokens is None else None
        return tokens if billed is None else server_json.count(billed, "input_tokens")


class InfinityRerank(Rerank):
    """Infinity: `POST /rerank`."""

    title: ClassVar[str] = "Infinity rerank"
    models: ClassVar[str | None] = "/models"
    rooted: ClassVar[bool] = True


class SglangRerank(Rerank):
    """SGLang: `POST /v1/rerank`, which answers with a list."""

    title: ClassVar[str] = "SGLang rerank"

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body, which names no model: the server has one."""
        del model
        documents = list(inputs_of(sample))
        return {"query": query_of(sample), "documents": documents, "return_documents": False}

    def results(self, payload: Any) -> Iterable[Result]:
        """The scores of a response."""
        return indexed(payload, "the response", "score")

    def input_tokens(self, payload: Any) -> int | None:
        """The sum of the counts of all documents."""
        counts = [server_json.count(row.get("meta_info"), "prompt_tokens") for row in payload]
        return None if None in counts else sum(filter(None, counts))


class TeiRerank(Rerank):
    """Text Embeddings Inference: `POST /rerank`, which counts no tokens."""

    title: ClassVar[str] = "TEI rerank"
    models: ClassVar[str | None] = None
    rooted: ClassVar[bool] = True

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body, which names no model: the server has one."""
        del model
        texts = list(inputs_of(sample))
        return {"query": query_of(sample), "texts": texts, "raw_scores": False, "truncate": True}

    def results(self, payload: Any) -> Iterable[Result]:
        """The scores of a response."""
        return indexed(payload, "the response", "score")

    def input_tokens(self, payload: Any) -> int | None:
        """None: the response has no count."""
        del payload
        return None


class NimRanking(Rerank):
    """NVIDIA NIM: `POST /v1/ranking`."""

    title: ClassVar[str] = "NIM ranking"
    path: ClassVar[str] = "/ranking"

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        passages = [{"text": text} for text in inputs_of(sample)]
        return {"model": model, "query": {"text": query_of(sample)}, "passages": passages}

    def results(self, payload: Any) -> Iterable[Result]:
        """The scores of a response, which are logits."""
        return indexed(server_json.members(payload).get("rankings"), "`rankings`", "logit")


class VllmScore(Rerank):
    """vLLM: `POST /v1/score`, one text compared with several."""

    title: ClassVar[str] = "vLLM score"
    path: ClassVar[str] = "/score"

    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""
        return {"model": model, "text_1": query_of(sample), "text_2": list(inputs_of(sample))}

    def results(self, payload: Any) -> Iterable[Result]:
        """The scores of a response."""
        return indexed(server_json.members(payload).get("data"), "`data`", "score")
