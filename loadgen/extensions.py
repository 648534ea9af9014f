"""The contracts of plug-ins in other packages (docs/adding-a-benchmark.md)."""

from __future__ import annotations

from loadgen.driver.client.codec import Codec, Delta, Generation, Usage, bearer, joined_prompt, read_error
from loadgen.driver.errors import CannotAskError
from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from loadgen.sessions.settings.option import Argument, Option
from workloads.answer import Answer
from workloads.arrivals import ArrivalProcess
from workloads.cells import letter, tag, text, texts, whole
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError, ExtraError, MalformedError, SourceError, TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status, failed, graded, pending, unparsed, unreadable
from workloads.scorer import Headline, Inquiry, Reference, Scorer
from workloads.sources import FileRow
from workloads.workload import Inputs, Source, Typical, Workload

__all__ = [
    "Answer",
    "Argument",
    "ArrivalProcess",
    "Attempt",
    "CannotAskError",
    "Codec",
    "ColumnError",
    "Delta",
    "EpisodeProgram",
    "EpisodeSample",
    "ExtraError",
    "FileRow",
    "Generation",
    "HarnessResults",
    "Headline",
    "Inputs",
    "Inquiry",
    "LoadFormat",
    "LoadResults",
    "MalformedError",
    "Option",
    "Question",
    "RecordedRequest",
    "Reference",
    "ResultFormat",
    "Sample",
    "Score",
    "Scorer",
    "Source",
    "SourceError",
    "Status",
    "TaskError",
    "Typical",
    "Usage",
    "Workload",
    "bearer",
    "failed",
    "graded",
    "joined_prompt",
    "letter",
    "pending",
    "read_error",
    "tag",
    "text",
    "texts",
    "unparsed",
    "unreadable",
    "whole",
]
