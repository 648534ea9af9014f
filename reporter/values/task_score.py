"""The score of a run in one benchmark by one scorer: an element of `accuracy` in report.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lazy_dataclasses import asdict, dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.values.scorer_definitions import Definition

Better = Literal["higher", "lower"]
Unit = Literal["share", "number"]
Method = Literal["wilson", "normal", "clustered"]


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The confidence interval of a score over all possible questions of the kind.

    Attributes:
        level: The confidence, such as 0.95.
        method: `wilson` for one value of 0 or 1 per question, or over questions whose spread is unknown;
            `normal`, by the standard error, for other values; `clustered`, by the standard error over
            questions, where each was sent several times.
    """

    low: float
    high: float
    level: float
    method: Method


@dataclass(frozen=True, slots=True)
class HeadlineFigure:
    """A main figure of a benchmark.

    Attributes:
        value: Samples without a value count as 0; None where it is undefined.
        best: Its value if all of these were right; None where that is unknown, or there are none.
        unit: A `share` between 0 and 1, or a plain `number`.
        n: The number of samples that it is the mean of; None where it is not a mean.
        standard_error: In the same unit; None where it is not a mean, has a single question, or is
            unknown because samples have no value.
        interval: None as above.
        effective: As how many independent samples these count; None where it is not a share.
    """

    value: float | None
    best: float | None
    unit: Unit
    better: Better
    n: int | None
    standard_error: float | None
    interval: ConfidenceInterval | None
    effective: int | None


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The mean value of the samples that have a tag's value.

    Attributes:
        unscored: How many of them have no value, which count as 0.
        standard_error: As for a headline.
        interval: As above.
    """

    issued: int
    unscored: int
    value: float
    standard_error: float | None
    interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class SampleStatistics:
    """Statistics of the values of the samples that have one.

    Attributes:
        std: Their standard deviation, of the samples as a population (divided by n).
    """

    n: int
    mean: float
    median: float
    std: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class RepeatStatistics:
    """Statistics of the mean values of the repeats of a benchmark, one value per repeat.

    Attributes:
        values: The mean value of each repeat that has every question, the first one first.
        std: Their standard deviation, as a population (divided by their number).
    """

    values: list[float]
    mean: float
    median: float
    std: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class TaskScore:
    """The score of one task by one scorer; docs/metrics.md has every key.

    Attributes:
        task: The task as given, with its options.
        scorer: The definition of a right answer; None where nothing was scored.
        version: Of the scorer.
        definition: Where it is from.
        judge: The prompts of its judge, and the judge that is official; empty where none is needed.
        judge_model: The model whose replies count; None without a judge, or where the latest reply counts.
        official: Whether the scorer is the benchmark's own; None where there is none, as for the user's data.
        pass_: The scoring pass; None where nothing was scored.
        issued: The samples, which are what the score is over.
        scored: How many were scored; with the next four these are all.
        unparsed: … have an answer that is not in the required form.
        missing: … have none, as the request failed.
        infra_error: … could not be judged, or failed because of the client.
        judge_pending: … wait for a judge.
        unscored: How many have no value: these two together, or all where nothing was scored.
        judge_unparsed: How many have a reply of the judge that could not be parsed; by the benchmark's rule
            they have a value, or are an `infra_error`.
        questions: The number of different questions.
        repeats: How often each was sent at most.
        value: The first headline.
        best: Its value if all samples without a value were right; None where all have one.
        value_without_unparsed: `value` without the samples of `judge_unparsed`; None where there are none.
        statistics: Of the samples' values; None where no sample has one.
        over_repeats: Of the repeats' means; None unless there are several whole repeats, all of them scored.
        headlines: All main figures of the benchmark.
        groups: By tag and its value.
        tokens_per_sample: The mean length of outputs, in tokens, where it is known.
        truncated: The share of samples whose answer was cut at the limit of tokens.
        refused: The share that the server's filter of content ended.
        pass_threshold: From which value on an attempt passes.
        pass_at: By k, the chance that one of k attempts passes, over the questions with k attempts or more.
        pass_hat: As above, that all of k pass.
        excluded: By k, how many questions have fewer attempts, and are in neither.
    """

    task: str
    name: str
    scorer: str | None
    version: int | None
    definition: str
    judge: str
    judge_model: str | None
    official: bool | None
    pass_: int | None
    issued: int
    scored: int = 0
    unparsed: int = 0
    missing: int = 0
    infra_error: int = 0
    judge_pending: int = 0
    unscored: int = 0
    judge_unparsed: int = 0
    questions: int = 0
    repeats: int = 0
    value: float | None = None
    best: float | None = None
    value_without_unparsed: float | None = None
    interval: ConfidenceInterval | None = None
    standard_error: float | None = None
    statistics: SampleStatistics | None = None
    over_repeats: RepeatStatistics | None = None
    headlines: dict[str, HeadlineFigure] = field(default_factory=dict)
    groups: dict[str, dict[str, GroupScore]] = field(default_factory=dict)
    tokens_per_sample: float | None = None
    truncated: float | None = None
    refused: float | None = None
    pass_threshold: float = 1.0
    pass_at: dict[str, float] = field(default_factory=dict)
    pass_hat: dict[str, float] = field(default_factory=dict)
    excluded: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As in report.json: `pass_` is `pass` there, which cannot be a name in Python."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


def unknown_headlines(definition: Definition) -> dict[str, HeadlineFigure]:
    """The main figures of a benchmark that was not scored: none has a value."""
    return {
        headline.name: HeadlineFigure(None, None, headline.unit, headline.better, None, None, None, None)
        for headline in definition.headlines
    }


def plain(scores: Iterable[TaskScore]) -> list[dict[str, Any]]:
    """Scores in the form of report.json, for rules."""
    return [score.to_dict() for score in scores]
