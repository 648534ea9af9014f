"""A benchmark: the source of the questions, the prompts, and the scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from workloads.question import Question
    from workloads.scorer import Scorer
    from workloads.sources import FileRow

Category = Literal[
    "agentic",
    "chat",
    "coding",
    "instructions",
    "knowledge",
    "long-context",
    "mathematics",
    "other",
    "rag",
    "reasoning",
    "use-case",
]
"""What kind of ability a benchmark is about; `rag`: answers from documents, or facts looked up."""

MultiTurn = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], Any]
"""A benchmark's reaction: from the row's data and the conversation so far, the answer included, to the user's
next message (a text, or messages); None ends the dialogue."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a benchmark are.

    Attributes:
        files: Globs that find the file in a folder of data (`--data`), the best first, relative to the folder
            and to a sub-folder of the task's name: `test.jsonl*`. Of the first glob that finds any, all files
            are read, in the order of their names.
        hub: The dataset of Hugging Face, `OWNER/NAME`; None where it is not there.
        config: Its configuration; None for the only one.
        split: Its split.
        revision: The commit that this definition was written for; None where none has been pinned.
        columns: What a row must have; `FileRow` errors name what is missing.
        rows: How many rows the official data has; None where it varies.
        licence: Of the data, and whether it is gated.
        repository: Globs of the files of the hub's repository, which are taken as they are where the hub
            cannot tell rows, or where one file after the other is to be read. `files` finds them in any of
            its folders.
        urls: Where the files are when they are not on the hub. `files` must find them by their last parts.
        own: A file of the user's, in place of all of these.
        read: Makes rows of the plain bytes of a file without rows: a text, or Python source.
        packaged: The folder of files that come with the package; a file of that name in a folder of data goes
            before it.
    """

    files: tuple[str, ...]
    hub: str | None = None
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    columns: tuple[str, ...] = ()
    rows: int | None = None
    licence: str = ""
    repository: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    own: str | None = None
    packaged: Path | None = None
    read: Callable[[Path, bytes], Iterator[FileRow]] | None = None


@dataclass(frozen=True, slots=True)
class Typical:
    """The typical length of a question and an answer, for estimates of a benchmark's duration.

    Attributes:
        input_tokens: Of a question with everything that is sent with it, in all of its turns.
        output_tokens: Of an answer by a model that does not reason at length, in all turns.
        questions: About how many there are, where `Source.rows` does not say.
    """

    input_tokens: int
    output_tokens: int
    questions: int | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input for making questions.

    Attributes:
        rows: The rows of the benchmark, each with all columns that it must have.
        more: Reads the rows of a further source (`Workload.further`) by its name; read when it is called.
        options: The task's options, each as given or by default (`Workload.options`).
        data: The folder of data that was named; None where there is none.
        paths: The files of a further source by its name, for what reads them when it runs.
        notes: Takes what a reader of the score should know about the data, a sentence each.
    """

    rows: Iterator[FileRow]
    more: Callable[[str], Sequence[FileRow]]
    options: Mapping[str, Any]
    data: Path | None = None
    notes: list[str] = field(default_factory=list)
    paths: Callable[[str], Sequence[Path]] = lambda _name: ()


@dataclass(frozen=True, slots=True)
class Workload:
    """A benchmark: the source of its rows, the questions, and the scorers.

    Attributes:
        name: As it is called on the command line.
        title: What it asks, in a few words.
        version: Of its prompts; grows whenever what is asked changes.
        source: Its rows.
        questions: Makes questions of rows, in their order, one after the other, or raises a `WorkloadError`.
        scorers: The first is the default, and the official one.
        further: More rows that prompts are made of, by name: `dev` for examples.
        options: What can be said about it, `TASK:name=value`, with the defaults, which are official; the type
            of a default is that of the value.
        max_tokens: The most output tokens that the benchmark allows; None for no limit.
        temperature: The sampling temperature of the benchmark; None where it names none.
        groups: The tags that scores are grouped by in a report.
        subsets: Of a benchmark that is published in several parts: the source of each, by the value of the
            option `subset`. That of the default is `source`.
        tier: 1 for a core benchmark, 2 for long contexts and several turns, 3 for tools and agents, 4 for
            what runs in containers.
        category: What kind of ability it is about.
        typical: How long its questions and answers usually are; None where it is not known.
        extra: The extra of this package that its official scorer needs (`math`); empty for none.
        user: Whether another model plays users.
        sandbox: Where commands of its episodes run: `local` where the session chooses, `docker` where it has
            its own images; empty for none.
        multi_turn: Where the benchmark reacts to answers: from a question's reference and the conversation so
            far to what the user says next, None at the end; see `MultiTurn`.
        about: Prompt, options and rules of the scorers, in Markdown.
        checked: How the official rule was compared with the publisher's.
        unverified: What could not be compared.
    """

    name: str
    title: str
    version: int
    source: Source
    questions: Callable[[Inputs], Iterator[Question]]
    scorers: tuple[Scorer, ...]
    further: Mapping[str, Source] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    temperature: float | None = None
    groups: tuple[str, ...] = ()
    subsets: Mapping[str, Source] = field(default_factory=dict)
    tier: Literal[1, 2, 3, 4] = 1
    category: Category = "other"
    typical: Typical | None = None
    extra: str = ""
    user: bool = False
    sandbox: Literal["", "local", "docker"] = ""
    multi_turn: MultiTurn | None = None
    about: str = ""
    checked: str = ""
    unverified: str = ""
