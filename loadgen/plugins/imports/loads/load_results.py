"""The recorded requests and figures of another load generator's run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request as recorded; None for what the format lacks. Times are seconds from the request's start.

    Attributes:
        start_s: The start, from the start of the run.
        error: The failure, in words; None for a success.
        first_token_s: The first token; None for an answer that was not streamed.
        gaps_s: The times between chunks with tokens.
        last_token_s: The last token, where `gaps_s` is unknown.
        chunks: The number of chunks with tokens, where `gaps_s` is unknown.
        end_s: The end.
        input_tokens: The tokens of the prompt.
        output_tokens: The tokens of the answer, reasoning included.
        cached_tokens: The tokens of the prompt that a cache had.
        reasoning_tokens: The tokens of the answer that are reasoning.
        output: The text of the answer.
    """

    start_s: float | None = None
    error: str | None = None
    first_token_s: float | None = None
    gaps_s: Sequence[float] | None = None
    last_token_s: float | None = None
    chunks: int | None = None
    end_s: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResults:
    """The results of a run.

    Attributes:
        requests: In the order of issue; empty where the file has figures alone.
        figures: The program's own figures, keyed as in report.json: summaries as `{count, mean, p50, …}` by
            metric, rates, and the numbers of `completed` and `failed` requests.
        duration_s: The time that rates are over.
        model: The model; None where the file does not name it.
        load: The load, as in `settings.load` of a log.
        started: The start of the run.
        facts: What else the file says of the run.
        notes: Sentences on what the file lacks.
    """

    requests: Sequence[RecordedRequest] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float | None = None
    model: str | None = None
    load: Mapping[str, Any] = field(default_factory=dict)
    started: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LoadFormat:
    """The results of one load generator.

    Attributes:
        name: As `loadgen import` calls it.
        title: What it reads, in a few words.
        definition: Repository and version that the format is from.
        read: Reads all runs of a file or a folder.
        of_requests: What differs from docs/metrics.md in records of requests, by the name of the figure.
        of_figures: What differs besides in the program's own figures.
    """

    name: str
    title: str
    definition: str
    read: Callable[[Path], Sequence[LoadResults]]
    of_requests: Mapping[str, str]
    of_figures: Mapping[str, str]
