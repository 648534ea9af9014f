"""The benchmark scores of an opened log."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reporter.accuracy.asked import asked, passes, stopped
from reporter.accuracy.headlines import headlines, without_unparsed
from reporter.accuracy.notes import notes, of_stopped, of_unparsed
from reporter.accuracy.repeated import pass_figures
from reporter.accuracy.score_rows import SampleCounts, attempts, counts, not_scored, with_graded_rows
from reporter.accuracy.spread import groups
from reporter.errors import OptionError
from reporter.log.run_head import logged_settings
from reporter.values.scorer_definitions import defined
from reporter.values.task_score import RepeatStatistics, SampleStatistics, TaskScore, unknown_headlines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.accuracy.asked import RunTask, ScorerPass, StoppedScorer
    from reporter.log.database import OpenLog
    from reporter.values.scorer_definitions import Definition

_OVER_SAMPLES: Final = """
    SELECT count(value), favg(value), median(value), stddev_pop(value), min(value), max(value)
    FROM graded
    WHERE entry = $entry"""

# A repeat counts where it has every question: others would be scores of different questions.
_OVER_REPEATS: Final = """
    SELECT favg(value)
    FROM scores JOIN entries USING (pass, task, scorer)
    WHERE entry = $entry
    GROUP BY attempt
    HAVING count(*) = $questions
    ORDER BY attempt"""


def over_samples(graded: OpenLog, entry: int) -> SampleStatistics | None:
    """Statistics of the samples' values; None where no sample has one."""
    n, *figures = graded.execute(_OVER_SAMPLES, {"entry": entry}).fetchall()[0]
    return SampleStatistics(n, *figures) if n else None


def over_repeats(graded: OpenLog, counts: SampleCounts) -> RepeatStatistics | None:
    """Statistics of the mean value of each repeat; None with fewer than two whole ones.

    None also while samples have no value: which repeat they would raise is not known.
    """
    if counts.repeats < 2 or counts.unscored:  # noqa: PLR2004 (a spread takes two)
        return None
    parameters = {"entry": counts.entry, "questions": counts.questions}
    values = [value for (value,) in graded.execute(_OVER_REPEATS, parameters).fetchall()]
    if len(values) < 2:  # noqa: PLR2004 (an interval needs two)
        return None
    return RepeatStatistics(
        values=values,
        mean=statistics.fmean(values),
        median=statistics.median(values),
        std=statistics.pstdev(values),
        min=min(values),
        max=max(values),
    )


def accuracy(log: OpenLog, scoring_pass: int | None = None) -> list[TaskScore]:
    """The scores of a run: one element for each task and scorer.

    Args:
        log: An opened log, with `SCORED` where `asks_benchmarks` (reporter/log/subjects.py).
        scoring_pass: The only pass that is reported; by default of each scorer the last that was finished.
            One that stopped half-way gives a note on its task only.

    Returns:
        Empty without a benchmark. A task that was not scored has no value.

    Raises:
        OptionError: The pass does not exist.
        HeadlineError: A scorer has a figure that is not an aggregate.
    """
    tasks = asked(logged_settings(log))
    if not tasks:
        if scoring_pass is not None:
            raise OptionError(f"unknown scoring pass {scoring_pass}: the run asked no benchmark")
        return []
    scored = passes(log, scoring_pass)
    names = {task.task: task.name for task in tasks}
    definitions = [
        defined(names.get(scorer_pass.task, scorer_pass.task), scorer_pass.scorer) for scorer_pass in scored
    ]
    aggregates = [headline.sql for definition in definitions for headline in definition.headlines]
    graded = with_graded_rows(log, scored, aggregates)
    counted = counts(graded)
    halves = stopped(log) if scoring_pass is None else []
    task_scores: list[TaskScore] = []
    for task in tasks:
        entries = [
            entry
            for entry, scorer_pass in enumerate(scored)
            if scorer_pass.task == task.task and entry in counted
        ]
        entries.sort(key=lambda entry: not definitions[entry].official)
        current = [entry for entry in entries if scoring_pass is not None or not scored[entry].outdated]
        scores = [
            _score(graded, task, scored[entry], definitions[entry], counted[entry]) for entry in current
        ]
        if not current and scoring_pass is None:
            outdated = scored[entries[-1]] if entries else None
            scores = [_not_scored(log, task, outdated)]
        task_scores += _with_stopped(scores, [score for score in halves if score.task == task.task])
    return task_scores


def _score(
    graded: OpenLog,
    task: RunTask,
    scored: ScorerPass,
    definition: Definition,
    counted: SampleCounts,
) -> TaskScore:
    entry = counted.entry
    figures = headlines(graded, entry, scored, definition.headlines, counted)
    first = figures[definition.headlines[0].name]
    unread = counted.judge_unparsed
    without = without_unparsed(graded, entry, scored, definition.headlines[0]) if unread else None
    pass_at, hat, excluded = pass_figures(
        attempts(graded, entry, task.pass_threshold) if first.value is not None else []
    )
    return TaskScore(
        task=task.task,
        name=task.name,
        scorer=scored.scorer,
        version=scored.version,
        definition=scored.definition,
        judge=scored.judge,
        judge_model=scored.judge_model,
        official=definition.official,
        pass_=scored.number,
        value=first.value,
        best=first.best,
        interval=first.interval,
        standard_error=first.standard_error,
        statistics=over_samples(graded, entry),
        over_repeats=over_repeats(graded, counted),
        headlines=figures,
        groups=groups(graded, entry, task.task, task.groups),
        pass_threshold=task.pass_threshold,
        pass_at=pass_at,
        pass_hat=hat,
        excluded=excluded,
        value_without_unparsed=without,
        notes=[
            *of_unparsed(counted, first.value, without),
            *notes(task, scored, definition, counted, excluded),
        ],
        **_of_samples(counted),
    )


def _with_stopped(scores: Sequence[TaskScore], halves: Sequence[StoppedScorer]) -> list[TaskScore]:
    """The scores of a task, with notes of the passes that stopped half-way.

    A note goes to the score of the same scorer, or else to the first.
    """
    names = [score.scorer for score in scores]
    stopped_notes: dict[int, list[str]] = {}
    for half in halves:
        position = names.index(half.scorer) if half.scorer in names else 0
        stopped_notes.setdefault(position, []).append(of_stopped(half))
    return [
        replace(score, notes=[*stopped_notes.get(position, ()), *score.notes])
        for position, score in enumerate(scores)
    ]


def _not_scored(log: OpenLog, task: RunTask, outdated: ScorerPass | None) -> TaskScore:
    """A task without scores for all answers."""
    definition, counted = defined(task.name, None), not_scored(log, task.task)
    return TaskScore(
        task=task.task,
        name=task.name,
        scorer=None,
        version=None,
        definition="",
        judge="",
        judge_model=None,
        official=definition.official,
        pass_=None,
        headlines=unknown_headlines(definition),
        pass_threshold=task.pass_threshold,
        notes=list(notes(task, outdated, definition, counted, {})),
        **_of_samples(counted),
    )


_SAMPLES: Final = (
    *("issued", "scored", "unparsed", "missing", "infra_error", "judge_pending", "unscored"),
    "judge_unparsed",
    *("questions", "repeats", "tokens_per_sample", "truncated", "refused"),
)


def _of_samples(counted: SampleCounts) -> dict[str, Any]:
    return {name: getattr(counted, name) for name in _SAMPLES}
