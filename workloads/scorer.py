"""The scoring of answers by a benchmark: pure functions of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from workloads.answer import Answer
    from workloads.score import Score

Reference = Mapping[str, Any]
"""What an answer is compared with; see `Question.reference`."""

HARNESS: Final = "harness"
"""The name of the scorer of all imported results: the harness scored them."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure that a benchmark is known by.

    Attributes:
        name: How rules and reports call it, after the task: `accuracy.ifeval.prompt_loose`.
        sql: A DuckDB aggregate over the task's rows of the view `scores`: `avg(value)`, `avg(value) FILTER
            (tags['difficulty'] = 'easy')`, `sum(metrics['kept']) / sum(metrics['asked'])`. A row is one
            issued sample; `value` is 0 where no answer came.
        unit: `share` (between 0 and 1), or a plain `number`.
        better: Which way is better.
    """

    name: str
    sql: str = "avg(value)"
    unit: Literal["share", "number"] = "share"
    better: Literal["higher", "lower"] = "higher"


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to a judge about one answer.

    Attributes:
        key: Tells the inquiries about one answer apart: `verdict`, `ab`, `ba`.
        messages: The prompt, as chat messages.
        max_tokens: The most that the judge may say.
        temperature: Of its sampling.
        extra_body: Further members of the request: a `response_format`, for one.
    """

    key: str
    messages: tuple[Mapping[str, Any], ...]
    max_tokens: int | None = None
    temperature: float | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scorer:
    """One definition of a right answer.

    Attributes:
        name: `official` for the benchmark's own; any other has a name that says what it is.
        version: Grows whenever a score could change.
        grade: Judges one answer. Pure: the same reference and answer give the same score, always. Where a
            judge is needed it reads `Answer.judged`, and says `pending` while that has not all it needs.
        definition: Where the definition is from: repository and commit, or paper.
        headlines: The figures of a whole run; the first is the score of the task.
        ask: What a judge is to be asked; None where no judge is needed.
        judge: The name and version of the judge's prompts, and the judge that is official.
        runs_code: Whether it runs what the model wrote: only where that is allowed.
        own_containers: Whether that is in containers of the benchmark's own images, wherever `--sandbox` says
            that other programs run.
        seconds: The most that judging one answer may take; None for the limit of the session.
        note: What a reader of the score should know.
        require: Raises what is missing here to judge an answer to a question, by its reference: `ExtraError`
            for a package, `SourceError` for a model. It is called for every question before the first answer
            is judged, so it must be quick. None where judging an empty answer to one question shows it.
    """

    name: str
    version: int
    grade: Callable[[Reference, Answer], Score]
    definition: str
    headlines: tuple[Headline, ...] = (Headline("accuracy"),)
    ask: Callable[[Reference, Answer], Sequence[Inquiry]] | None = None
    judge: str = ""
    runs_code: bool = False
    own_containers: bool = False
    seconds: float | None = None
    note: str = ""
    require: Callable[[Reference], None] | None = None
