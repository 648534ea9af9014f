"""A request for vectors or scores as a sample: several inputs, and perhaps a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from lazy_dataclasses import dataclass
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSample(Sample):
    """The inputs of one request.

    Attributes:
        inputs: The texts to embed or to classify, or the documents.
        query: The query that documents are ranked by; None for embeddings and classes.
        keeps: Whether the log has the vectors of the response; it always has scores.
        expected: The results of an earlier run, as JSON has them; None without one.
    """

    inputs: tuple[str, ...]
    query: str | None = None
    keeps: bool = False
    expected: tuple[Any, ...] | None = None

    def content(self) -> list[Any]:
        """All that is asked, for a checksum."""
        return [self.inputs, self.query]


def inputs_of(sample: Sample) -> tuple[str, ...]:
    """The inputs of a sample; the prompt of one that has no others."""
    return sample.inputs if isinstance(sample, VectorSample) else (sample.prompt,)


def query_of(sample: Sample) -> str:
    """The query of a sample; the prompt of one that has no other."""
    return (sample.query or "") if isinstance(sample, VectorSample) else sample.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRequests(Sequence[VectorSample]):
    """Requests with inputs from a sequence of texts, each made at every access.

    Attributes:
        texts: The inputs of all requests, one after the other.
        firsts: The place of the first input of each request, and the end.
        queries: A query for each request; empty without.
        keeps: See `VectorSample`.
    """

    texts: Sequence[Sample]
    firsts: Sequence[int]
    queries: Sequence[Sample] = ()
    keeps: bool = False

    def __len__(self) -> int:
        return len(self.firsts) - 1

    @overload
    def __getitem__(self, index: int, /) -> VectorSample: ...
    @overload
    def __getitem__(self, index: slice, /) -> Sequence[VectorSample]: ...
    def __getitem__(self, index: int | slice, /) -> VectorSample | Sequence[VectorSample]:
        """The requests in these places."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        places = range(self.firsts[number], self.firsts[number + 1])
        return VectorSample(
            index=number,
            inputs=tuple(self.texts[place].prompt for place in places),
            query=self.queries[number].prompt if self.queries else None,
            keeps=self.keeps,
        )

    def examples(self) -> Sequence[VectorSample]:
        """One request: the others differ in their texts alone."""
        return [self[0]]


def logged(sample: Sample) -> Mapping[str, Any]:
    """The texts of a sample for the log."""
    texts: dict[str, Any] = {"inputs": list(inputs_of(sample))}
    if isinstance(sample, VectorSample):
        if sample.query is not None:
            texts["query"] = sample.query
        if sample.expected is not None:
            texts["expected"] = list(sample.expected)
    return texts
