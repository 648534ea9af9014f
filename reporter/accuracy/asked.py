"""The benchmark tasks of a run, and the scoring passes to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from reporter.errors import OptionError
from reporter.json_values import document, members, number, text, texts, whole

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

_REPORTED: Final = "SELECT pass, task, scorer FROM reported_passes"

_UNSCORED: Final = """
    SELECT count(*) FILTER (value IS NULL), count(*) FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""

FINISHED: Final = "completed"
"""The end of a pass that went over all answers."""


@dataclass(frozen=True, slots=True)
class RunTask:
    """One task of a run.

    Attributes:
        task: The task as given, with its options.
        groups: The tags that scores are broken down by.
        count: The number of questions; None where the log does not have it.
        rows: How many rows its data had; None where not all of them were read.
        published: How many rows its data has where it is published; None where that is unknown.
        pass_threshold: From which value on an attempt passes.
        drawn: Where its questions were drawn: the `seed`, the `groups`, and `of` how many.
        system_prompt: The text of `--system-prompt` ahead of each question; None without it.
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
        number: The number of the pass, from 1.
        judge: The prompts of its judge, and the judge that is official; empty where none is needed.
        ended: `completed`, or how the pass was cut short.
        outdated: Whether requests were issued after it began, as the run was resumed.
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
        """The isolation of programs, joined by `+`; None if not logged."""
        return text(self.options.get("sandbox"))

    @property
    def sandbox_image(self) -> str | None:
        """The image of the programs' containers; None without containers."""
        return text(members(self.options.get("sandbox_image")).get("image"))

    @property
    def judge_model(self) -> str | None:
        """The model of the counted replies; None without a judge, or where the latest reply counts."""
        return text(members(self.options.get("judge")).get("model")) if self.judge else None

    @property
    def judge_sampling(self) -> str:
        """The settings that replaced the sampling of the judge's prompts, in words; empty for none."""
        judge = members(self.options.get("judge")) if self.judge else {}
        named = {"temperature": judge.get("temperature"), "at most": judge.get("max_tokens")}
        parts = [f"{name} {value:g}" for name, value in named.items() if isinstance(value, int | float)]
        return ", ".join(parts) + (" tokens" if named["at most"] is not None else "")


def asked(settings: Mapping[str, Any]) -> list[RunTask]:
    """The tasks of a run, in the order given."""
    accuracy = members(settings.get(_KEY))
    threshold = number(accuracy.get("pass_threshold"))
    tasks = accuracy.get("tasks")
    facts_of_tasks = [members(entry) for entry in tasks] if isinstance(tasks, list) else []
    return [
        RunTask(
            task=str(entry.get("task")),
            name=text(entry.get("name")) or str(entry.get("task")).partition(":")[0],
            options=members(entry.get("options")),
            groups=tuple(texts(entry.get("groups"))),
            count=whole(entry.get("count")),
            rows=whole(entry.get("rows")),
            published=whole(entry.get("published")),
            pass_threshold=1.0 if threshold is None else threshold,
            notes=tuple(texts(entry.get("notes"))),
            drawn=members(entry.get("drawn")),
            system_prompt=text(entry.get("system_prompt")),
        )
        for entry in facts_of_tasks
    ]


@dataclass(frozen=True, slots=True)
class StoppedScorer:
    """The last pass of a scorer, where that was not finished, or has scored less than the reported one.

    Attributes:
        done: How many answers have a score, or need none.
        reported: The number of the reported pass; None where the pass was not finished.
    """

    number: int
    task: str
    scorer: str
    done: int
    total: int
    reported: int | None = None


def passes(log: OpenLog, wanted: int | None = None) -> list[ScorerPass]:
    """The passes to report: one scoring pass, or of every scorer that of the view `reported_passes`.

    Raises:
        OptionError: The pass does not exist.
    """
    all_passes = _all(log)
    if wanted is not None:
        return _of(all_passes, wanted)
    reported = set(log.execute(_REPORTED).fetchall())
    return [
        scorer_pass
        for scorer_pass in all_passes
        if (scorer_pass.number, scorer_pass.task, scorer_pass.scorer) in reported
    ]


def stopped(log: OpenLog) -> list[StoppedScorer]:
    """The scorers whose last pass was not finished, or is not the reported one."""
    latest = {(scorer_pass.task, scorer_pass.scorer): scorer_pass for scorer_pass in _all(log)}
    reported = {(task, scorer): number for number, task, scorer in log.execute(_REPORTED).fetchall()}
    halves = []
    for scorer_pass in sorted(latest.values(), key=lambda scorer_pass: scorer_pass.number):
        number, task, scorer = scorer_pass.number, scorer_pass.task, scorer_pass.scorer
        shown = reported.get((task, scorer))
        if scorer_pass.ended != FINISHED:
            ((done, total),) = log.execute(_PROGRESS, [number, task, scorer]).fetchall()
            halves.append(StoppedScorer(number, task, scorer, done, total))
        elif shown != number:
            ((unscored, total),) = log.execute(_UNSCORED, [number, task, scorer]).fetchall()
            halves.append(StoppedScorer(number, task, scorer, total - unscored, total, shown))
    return halves


def _all(log: OpenLog) -> list[ScorerPass]:
    """Every scorer of every pass, by the numbers of the passes."""
    return [
        ScorerPass(which, task, scorer, version, source, judge, ended, members(document(options)), outdated)
        for which, task, scorer, version, source, judge, ended, options, outdated in log.execute(
            _PASSES
        ).fetchall()
    ]


def _of(all_passes: Sequence[ScorerPass], wanted: int) -> list[ScorerPass]:
    numbers = sorted({scorer_pass.number for scorer_pass in all_passes})
    if wanted not in numbers:
        there = f"there are {', '.join(map(str, numbers))}" if numbers else "answers were not scored yet"
        raise OptionError(f"the run has no scoring pass {wanted}: {there}")
    return [scorer_pass for scorer_pass in all_passes if scorer_pass.number == wanted]
