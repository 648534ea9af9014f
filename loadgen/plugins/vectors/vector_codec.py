"""What the protocols for vectors and scores have in common: requests, and the check of a response."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from array import array
from base64 import b64decode
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client import server_json
from loadgen.driver.client.codec import Delta, Usage, bearer, read_error
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import CannotAskError, MalformedResponseError, RequestFailedError
from loadgen.plugins.vectors.vector_sample import VectorSample, inputs_of, logged, query_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableSet, Sequence

    from loadgen.driver.client.codec import Generation
    from workloads.sample import Sample

Encoding = Literal["float", "base64"]
Result = tuple[Any, Any]
"""The index of an input, and what the response has for it: a score, or a vector in any encoding."""

_FLOAT_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCodec(ABC):
    """A protocol for vectors or scores, one for each input.

    Attributes:
        encoding: The encoding of vectors that is asked for; None for the server's default.
        dimensions: The dimension of vectors that is asked for; None for the model's.
        expected: How many results a response must have.
        keeps: Whether vectors go to the log.
        padding: The share of padding in a batch of the inputs.
    """

    encoding: Encoding | None = None
    dimensions: int | None = None
    expected: int = 1
    keeps: bool = False
    padding: float = 0.0

    title: ClassVar[str] = ""
    path: ClassVar[str] = ""
    models: ClassVar[str | None] = "/models"
    rooted: ClassVar[bool] = False
    stream: ClassVar[str] = "never"
    inputs: ClassVar[Literal["batch", "query"]] = "batch"
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    makes_vectors: ClassVar[bool] = True
    encodings: ClassVar[tuple[Encoding, ...]] = ()
    takes_dimensions: ClassVar[bool] = False

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body for the inputs of a sample; raise `CannotAskError` for chats and tokens."""
        if sample.chat is not None or sample.token_ids is not None or sample.tools:
            raise CannotAskError("conversations, tokens and tools have no place in a request for vectors")
        return generation.extended(self.body(generation.model, sample))

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The texts of a sample for the log."""
        return dict(logged(sample))

    def reader(self, sample: Sample) -> VectorCodec:
        """The protocol for the response to a sample, which demands a result for each input."""
        keeps = isinstance(sample, VectorSample) and sample.keeps
        inputs = inputs_of(sample)
        return replace(self, expected=len(inputs), keeps=keeps, padding=_padding(inputs, query_of(sample)))

    def chunk(self, payload: Any) -> Delta:
        """Refuse a stream: raise `MalformedResponseError`."""
        del payload
        raise MalformedResponseError("a stream, where one JSON text belongs")

    def decode(self, body: bytes, deviations: MutableSet[str]) -> Delta:
        """Read a response, and time it.

        Raises:
            JSONDecodeError, MalformedResponseError: The response is not one of this protocol.
            RequestFailedError: Results are missing, not finite, or of different dimensions.
        """
        begun_ns = time.perf_counter_ns()
        payload = server_json.loads(body, deviations)
        delta = self.whole(payload)._replace(statements=server_json.statements(payload))
        if delta.facts is not None:
            delta.facts["results"]["parse_ms"] = (time.perf_counter_ns() - begun_ns) / 1e6
        return delta

    def whole(self, payload: Any) -> Delta:
        """Read a response decoded from JSON; raise as `decode`."""
        error = read_error(payload) if isinstance(payload, dict) else None
        if error is not None:
            return Delta(error=error)
        results = _in_order(self.results(payload), self.expected)
        facts: dict[str, Any] = {"results": {"count": len(results), "padding": self.padding}}
        if self.makes_vectors:
            results = [_vector(place, result) for place, result in enumerate(results)]
            facts["results"]["dimensions"] = _dimensions(results)
        else:
            _require_finite("score", results)
        if self.keeps or not self.makes_vectors:
            facts["texts"] = {"results": results}
        return Delta(usage=Usage(self.input_tokens(payload)), facts=facts)

    @abstractmethod
    def body(self, model: str, sample: Sample) -> dict[str, Any]:
        """The request body."""

    @abstractmethod
    def results(self, payload: Any) -> Iterable[Result]:
        """The results of a response, in any order; raise `MalformedResponseError` for foreign ones."""

    def input_tokens(self, payload: Any) -> int | None:
        """The server's count of input tokens."""
        usage = payload.get("usage") if isinstance(payload, dict) else None
        prompt_tokens = server_json.count(usage, "prompt_tokens")
        return server_json.count(usage, "total_tokens") if prompt_tokens is None else prompt_tokens


def _padding(inputs: Sequence[str], query: str) -> float:
    """The share of padding if all inputs, each with the query, were as long as the longest."""
    lengths = [len(query) + len(text) for text in inputs]
    return round(1 - sum(lengths) / (len(lengths) * max(lengths)), 4) if any(lengths) else 0.0


def indexed(rows: Any, what: str, *names: str) -> Iterator[Result]:
    """The results in a list of objects, by the first of some names that a row has."""
    for number, row in enumerate(server_json.objects(rows, what)):
        value = next((row[name] for name in names if name in row), None)
        yield row.get("index", number), value


def _in_order(results: Iterable[Result], expected: int) -> list[Any]:
    """The results by the index of their input, each once."""
    by_index: dict[Any, Any] = {}
    for index, result in results:
        if type(index) is not int or not 0 <= index < expected:
            raise wrong(f"a result for input {index!r}, and the request has {expected}, from 0 on")
        if index in by_index:
            raise wrong(f"two results for input {index}")
        by_index[index] = result
    if missing := [place for place in range(expected) if by_index.get(place) is None]:
        raise wrong(f"{expected - len(missing)} results for {expected} inputs: none for input {missing[0]}")
    return [by_index[place] for place in range(expected)]


def _vector(place: int, result: Any) -> list[Any]:
    """A vector, or the rows of a matrix, as a list of finite numbers."""
    if isinstance(result, str):
        result = _decoded(place, result)
    if not isinstance(result, list) or not result:
        raise wrong(f"input {place}: {type(result).__name__}, where a vector belongs")
    if isinstance(result[0], list):
        for row in result:
            _require_finite(f"input {place}: number", row)
        _dimensions(result)
    else:
        _require_finite(f"input {place}: number", result)
    return result


def _decoded(place: int, text: str) -> list[float]:
    """The numbers of a vector in base64: 32-bit floats, the low byte first."""
    try:
        data = b64decode(text, validate=True)
    except ValueError as error:
        raise wrong(f"input {place}: not base64: {error}") from error
    if len(data) % _FLOAT_BYTES:
        raise wrong(f"input {place}: {len(data)} bytes, which 32-bit floats do not divide into")
    numbers = array("f", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def _dimensions(vectors: Sequence[Any]) -> int:
    """The dimension that all vectors have; of matrices that of their rows."""
    rows = [vector[0] if isinstance(vector[0], list) else vector for vector in vectors]
    sizes = [len(row) for row in rows]
    for place, size in enumerate(sizes):
        if size != sizes[0]:
            raise wrong(f"vectors of {sizes[0]} and {size} dimensions, of inputs 0 and {place}")
    return sizes[0]


def _require_finite(what: str, numbers: Any) -> None:
    """Demand numbers, all finite. Their sum says so at once, unless it overflows."""
    try:
        if isfinite(sum(numbers)):
            return
    except TypeError:
        pass
    for place, number in enumerate(numbers if isinstance(numbers, list) else [numbers]):
        if type(number) not in (int, float) or not isfinite(number):
            raise wrong(f"{what} {place} is {number!r}, not a finite number")


def wrong(message: str) -> RequestFailedError:
    """The failure of a complete response whose results do not fit the request."""
    return RequestFailedError(Failure.WRONG_RESULTS, message)
