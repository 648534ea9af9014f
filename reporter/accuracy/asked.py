"""What a run asked of benchmarks, and which scoring passes are to be told of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.errors import OptionError
from reporter.kinds import document, members, number, text, texts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog


_KEY: Final = "accuracy"

_PASSES: Final = """
    SELECT
        pass,
        task,
        scorer,
        version,
        coalesce(definition, ''),
        coalesce(judge, ''),
        ended,
        coalesce(options::VARCHAR, '{}'),
        started_ns < coalesce(issued_ns, 0)
    FROM passes
    LEFT JOIN (
        SELECT task, max(issued_ns) AS issued_ns FROM questions JOIN asked USING (prompt_id) GROUP BY task
    ) USING (task)
    ORDER BY pass, task, scorer"""

_PROGRESS: Final = """
    SELECT count(*) FILTER (reason IS DISTINCT FROM 'not scored yet'), count(*)
    FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""

FINISHED: Final = "completed"
"""How a pass ended that has judged all answers."""


@dataclass(frozen=True, slots=True)
class RunTask:
    """One task of a run.

    Attributes:
        task: As it was asked for, with its options.
        name: The benchmark.
        options: Of it.
        groups: The tags that scores are told apart by.
        count: How many questions there are to be asked; None where the log does not say.
        rows: How many rows its data had; None where not all of them were read.
        published: How many rows its data has where it is published; None where that is not known.
        pass_threshold: From which value on an attempt passes.
        notes: What there is to know about its data, a sentence each.
        drawn: Where its questions were drawn: the `seed`, the `groups`, and `of` how many.
        system_prompt: What `--system-prompt` put ahead of each question; None where it was not given.
    """

    task: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    count: int | None = None
    rows: int | None = None
    published: int | None = None
    pass_threshold: float = 1.0
    notes: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class ScorerPass:
    """One scorer of one scoring pass.

    Attributes:
        number: Of the pass, from 1.
        task: What it scored.
        scorer: Its name.
        version: Of the scorer.
        definition: Where that is from.
        judge: The prompts of its judge, and the judge that is official; empty where none is needed.
        ended: `completed`, or how the pass was cut short.
        options: What was said about the pass.
        outdated: Whether answers were asked for after it began, as the run was resumed.
    """

    number: int
    task: str
    scorer: str
    version: int | None
    definition: str
    judge: str
    ended: str
    options: Mapping[str, Any] = field(default_factory=dict)
    outdated: bool = False

    @property
    def sandbox(self) -> str | None:
        """What isolated programs that were run, with `+` between; None where the log does not say."""
        return text(self.options.get("sandbox"))

    @property
    def judge_model(self) -> str | None:
        """The model whose word counts; None where none is needed, or whichever answered last."""
        return text(members(self.options.get("judge")).get("model")) if self.judge else None

    @property
    def judge_sampling(self) -> str:
        """What replaced the sampling of the judge's prompts, in words; empty for nothing."""
        judge = members(self.options.get("judge")) if self.judge else {}
        named = {"temperature": judge.get("temperature"), "at most": judge.get("max_tokens")}
        parts = [f"{name} {value:g}" for name, value in named.items() if isinstance(value, int | float)]
        return ", ".join(parts) + (" tokens" if named["at most"] is not None else "")


def of_benchmarks(settings: Mapping[str, Any]) -> bool:
    """Whether the questions of a run are those of benchmarks, by the settings that its log opens with."""
    return bool(members(settings.get(_KEY)).get("tasks"))


def asked(settings: Mapping[str, Any]) -> list[RunTask]:
    """The tasks of a run, in the order in which they were named."""
    accuracy = members(settings.get(_KEY))
    threshold = number(accuracy.get("pass_threshold"))
    tasks = accuracy.get("tasks")
    known = [members(one) for one in tasks] if isinstance(tasks, list) else []
    return [
        RunTask(
            task=str(one.get("task")),
            name=text(one.get("name")) or str(one.get("task")).partition(":")[0],
            options=members(one.get("options")),
            groups=tuple(texts(one.get("groups"))),
            count=whole(one.get("count")),
            rows=whole(one.get("rows")),
            published=whole(one.get("published")),
            pass_threshold=1.0 if threshold is None else threshold,
            notes=tuple(texts(one.get("notes"))),
            drawn=members(one.get("drawn")),
            system_prompt=text(one.get("system_prompt")),
        )
        for one in known
    ]


@dataclass(frozen=True, slots=True)
class StoppedScorer:
    """One scorer of a scoring pass that was not finished, and that no finished one has followed.

    Attributes:
        number: Of the pass.
        task: What it scored.
        scorer: Its name.
        done: How many answers it has a score of, or need none.
        total: How many answers there are.
    """

    number: int
    task: str
    scorer: str
    done: int
    total: int


def passes(log: OpenLog, wanted: int | None = None) -> list[ScorerPass]:
    """What is to be reported: one scoring pass, or of every scorer the last pass that was finished.

    Args:
        log: An opened log with the view `scores`.
        wanted: The number of the only pass that is wanted, finished or not.

    Raises:
        OptionError: The pass does not exist.
    """
    found = _all(log)
    if wanted is not None:
        return _of(found, wanted)
    latest = {(one.task, one.scorer): one for one in found if one.ended == FINISHED}
    return sorted(latest.values(), key=lambda one: one.number)


def stopped(log: OpenLog) -> list[StoppedScorer]:
    """The scorers whose last pass was not finished.

    Args:
        log: An opened log with the view `scores`.
    """
    latest = {(one.task, one.scorer): one for one in _all(log)}
    return [
        StoppedScorer(one.number, one.task, one.scorer, *_progress(log, one))
        for one in sorted(latest.values(), key=lambda one: one.number)
        if one.ended != FINISHED
    ]


def _progress(log: OpenLog, one: ScorerPass) -> tuple[int, int]:
    parameters = [one.number, one.task, one.scorer]
    ((done, total),) = log.execute(_PROGRESS, parameters).fetchall()
    return done, total


def _all(log: OpenLog) -> list[ScorerPass]:
    """Every scorer of every pass, by the numbers of the passes."""
    return [
        ScorerPass(which, task, scorer, version, source, judge, ended, members(document(options)), outdated)
        for which, task, scorer, version, source, judge, ended, options, outdated in log.execute(
            _PASSES
        ).fetchall()
    ]


def _of(found: Sequence[ScorerPass], wanted: int) -> list[ScorerPass]:
    numbers = sorted({one.number for one in found})
    if wanted not in numbers:
        there = f"there are {', '.join(map(str, numbers))}" if numbers else "its answers were not scored yet"
        raise OptionError(f"the run has no scoring pass {wanted}: {there}")
    return [one for one in found if one.number == wanted]
