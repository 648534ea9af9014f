"""The mock endpoint's vectors and scores: a function of the texts alone, so that a test knows the truth."""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from functools import lru_cache
from hashlib import shake_256
from math import nan, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.ask import RefusedRequest, read_completion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.options import MockOptions

    Json = dict[str, Any]
    Make = Callable[["_Asked"], Any]

DIMENSIONS: Final = 32
"""The dimension of vectors, unless the request names one."""

MOST_DIMENSIONS: Final = 8192
_CLASSES: Final = 3


@lru_cache(maxsize=4096)
def vector(text: str, dimensions: int = DIMENSIONS) -> tuple[float, ...]:
    """The vector of a text: of length 1, in 32-bit floats."""
    words = array("I", shake_256(text.encode()).digest(4 * dimensions))
    numbers = [word / 2**31 - 1 for word in words]
    length = sqrt(_product(numbers, numbers))
    return tuple(array("f", (number / length for number in numbers)))


def relevance(query: str, document: str) -> float:
    """The score of a document for a query, from 0 to 1."""
    return (1 + _product(vector(query), vector(document))) / 2


def _product(left: Iterable[float], right: Iterable[float]) -> float:
    return float(sum(map(mul, left, right)))


def probabilities(text: str) -> list[float]:
    """The probabilities of the classes of a text."""
    weights = [1 + number for number in vector(text)[:_CLASSES]]
    return [weight / sum(weights) for weight in weights]


def mock_results(path: str, body: bytes, options: MockOptions) -> tuple[MockRequest, bytes]:
    """Answer a request for vectors or scores.

    Args:
        path: The path of the request.
        body: The body.
        options: The behavior, with the fault.

    Returns:
        The request as one for a completion, by which the time of the answer is planned, and the answer.

    Raises:
        RefusedRequest: The request has no inputs, or names an unknown model.
    """
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RefusedRequest(400, f"The body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise RefusedRequest(400, "The body is not a JSON object")
    asked = _Asked(fields)
    prompt = "\n".join(f"{asked.query}\n{text}" if asked.query else text for text in asked.texts)
    completion = {
        "prompt": prompt,
        "max_tokens": 1,
        **({"model": fields["model"]} if "model" in fields else {}),
    }
    ask = read_completion(orjson.dumps(completion), options.models, options.refuse)
    for name in options.refuse:
        if name in fields:
            raise RefusedRequest(422, f"{name}: Extra inputs are not permitted", param=name)
    answer = _MAKERS[path](asked)
    tokens = len(prompt) if options.result_fault == "characters" else ask.input_tokens
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    _spoil(answer, options.result_fault)
    if isinstance(answer, dict) and "meta" not in answer:
        answer |= {"model": ask.model, "usage": usage}
    elif isinstance(answer, dict):
        answer["meta"] = {"billed_units": {"input_tokens": tokens}}
    written = json.dumps(answer).encode() if options.result_fault == "nan" else orjson.dumps(answer)
    return ask, written


class _Asked:
    """The inputs of a request in any dialect."""

    def __init__(self, fields: Json) -> None:
        texts = next((fields[name] for name in _INPUTS if name in fields), None)
        texts = [texts] if isinstance(texts, str) else texts
        texts = [_text(text) for text in texts] if isinstance(texts, list) else None
        if not texts or None in texts:
            raise RefusedRequest(422, f"The request has no texts: give a list as one of {', '.join(_INPUTS)}")
        self.fields = fields
        self.texts: Sequence[str] = [text for text in texts if text is not None]
        self.query = _text(next((fields[name] for name in _QUERIES if name in fields), "")) or ""
        dimensions = fields.get("dimensions") or fields.get("output_dimension") or DIMENSIONS
        if type(dimensions) is not int or not 1 <= dimensions <= MOST_DIMENSIONS:
            raise RefusedRequest(400, f"dimensions must be from 1 to {MOST_DIMENSIONS}")
        types = fields.get("embedding_types") or ["float"]
        self.encoding = fields.get("encoding_format") or types[0]
        self.vectors = [_encoded(vector(text, dimensions), self.encoding) for text in self.texts]

    def scores(self, name: str) -> list[Json]:
        """The scores by falling relevance, under a name."""
        scored = enumerate(relevance(self.query, text) for text in self.texts)
        return sorted(({"index": index, name: score} for index, score in scored), key=lambda row: -row[name])


_INPUTS: Final = ("input", "texts", "documents", "passages", "text_2", "items")
_QUERIES: Final = ("query", "text_1")


def _text(value: Any) -> str | None:
    """A text, also one in an object, as NIM has it."""
    value = value.get("text") if isinstance(value, dict) else value
    return value if isinstance(value, str) else None


def _encoded(numbers: tuple[float, ...], encoding: str) -> Any:
    return b64encode(array("f", numbers).tobytes()).decode() if encoding == "base64" else list(numbers)


def _embeddings(asked: _Asked) -> Json:
    rows = enumerate(asked.vectors)
    return {"object": "list", "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in rows]}


def _pooling(asked: _Asked) -> Json:
    rows = enumerate(asked.vectors)
    return {"object": "list", "data": [{"object": "pooling", "index": i, "data": v} for i, v in rows]}


def _classes(asked: _Asked) -> Json:
    rows = enumerate(map(probabilities, asked.texts))
    return {
        "object": "list",
        "data": [{"index": i, "label": "LABEL_0", "probs": p, "num_classes": len(p)} for i, p in rows],
    }


def _cohere(asked: _Asked) -> Json:
    return {"id": "mock", "embeddings": {asked.encoding: asked.vectors}, "meta": {}}


def _rerank(asked: _Asked) -> Any:
    """A rerank: a list where the request has TEI's texts, or names no model as SGLang's need not."""
    if "texts" in asked.fields:
        return asked.scores("score")
    if "model" not in asked.fields:
        tokens = {i: len(f"{asked.query} {text}".split()) for i, text in enumerate(asked.texts)}
        return [
            {**row, "document": "", "meta_info": {"prompt_tokens": tokens[row["index"]]}}
            for row in asked.scores("score")
        ]
    return {"id": "mock", "results": asked.scores("relevance_score")}


def _ranking(asked: _Asked) -> Json:
    return {"rankings": asked.scores("logit")}


def _score(asked: _Asked) -> Json:
    rows = sorted(asked.scores("score"), key=lambda row: int(row["index"]))
    return {"object": "list", "data": [{"object": "score", **row} for row in rows]}


_MAKERS: Final[dict[str, Make]] = {
    "/v1/embeddings": _embeddings,
    "/embeddings": _embeddings,
    "/v2/embed": _cohere,
    "/pooling": _pooling,
    "/classify": _classes,
    **dict.fromkeys(("/rerank", "/v1/rerank", "/v2/rerank"), _rerank),
    "/v1/ranking": _ranking,
    **dict.fromkeys(("/score", "/v1/score"), _score),
}


def _spoil(answer: Any, fault: str | None) -> None:
    """Put a fault into the last result of an answer."""
    if fault in {None, "characters"}:
        return
    lists = answer if isinstance(answer, list) else next(v for k, v in answer.items() if k in _RESULTS)
    rows: list[Any] = next(iter(lists.values())) if isinstance(lists, dict) else lists
    if fault == "missing":
        rows.pop()
        return
    last = rows[-1]
    key = next(name for name in _VALUES if name in last) if isinstance(last, dict) else None
    value = last if key is None else last[key]
    if fault == "nan" and isinstance(value, str):
        value = b64encode(array("f", [nan]).tobytes() + b64decode(value)[4:]).decode()
    elif fault == "nan":
        value = [nan, *value[1:]] if isinstance(value, list) else nan
    elif isinstance(value, list):
        value = value[:-1]
    elif isinstance(value, str):
        value = b64encode(bytes(4)).decode()
    rows[-1] = value if key is None else {**last, key: value}


_RESULTS: Final = ("data", "results", "rankings", "embeddings")
_VALUES: Final = ("embedding", "data", "probs", "relevance_score", "score", "logit")
