"""From an opened log to what it scored in benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.accuracy.asked import asked, of_benchmarks, passes
from reporter.accuracy.definitions import defined
from reporter.accuracy.groups import groups
from reporter.accuracy.headlines import headlines
from reporter.accuracy.notes import notes
from reporter.accuracy.repeated import pass_figures
from reporter.accuracy.rows import Counts, attempts, counts, gather, not_scored
from reporter.accuracy.task_score import HeadlineFigure, TaskScore
from reporter.errors import OptionError
from reporter.kinds import document, members, whole

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from reporter.accuracy.asked import Asked, Pass
    from reporter.accuracy.definitions import Definition

TABLES: Final = ("scores",)
"""What has to be loaded of a log first, where its questions are those of benchmarks."""


def asks_benchmarks(connection: DuckDBPyConnection) -> bool:
    """Whether the questions of an opened log are those of benchmarks."""
    return of_benchmarks(_settings(connection))


def asks_again(connection: DuckDBPyConnection) -> bool:
    """Whether they are those of benchmarks, and each is asked several times on purpose."""
    told = _settings(connection)
    return of_benchmarks(told) and (whole(members(told["accuracy"]).get("repeats")) or 1) > 1


def accuracy(connection: DuckDBPyConnection, scoring_pass: int | None = None) -> list[dict[str, Any]]:
    """What a run scored: one element for each task and scorer, as report.json has it.

    Args:
        connection: An opened log, with `TABLES` where `asks_benchmarks`.
        scoring_pass: The only pass that is told of; by default of each scorer the last that was finished.

    Returns:
        Nothing where nothing was asked of a benchmark. A task that was not scored is there without a value.

    Raises:
        OptionError: There is no such pass.
        HeadlineError: A scorer names a figure that is no aggregate.
    """
    tasks = asked(_settings(connection))
    if not tasks:
        if scoring_pass is not None:
            raise OptionError(f"there is no scoring pass {scoring_pass}: nothing was asked of a benchmark")
        return []
    scored = passes(connection, scoring_pass)
    names = {task.task: task.name for task in tasks}
    told = [defined(names.get(one.task, one.task), one.scorer) for one in scored]
    gather(connection, scored, [headline.sql for one in told for headline in one.headlines])
    counted = counts(connection)
    found = []
    for task in tasks:
        its = [at for at, one in enumerate(scored) if one.task == task.task and at in counted]
        its.sort(key=lambda at: not told[at].official)
        known = [at for at in its if scoring_pass is not None or not scored[at].outdated]
        found += [_score(connection, task, scored[at], told[at], counted[at]) for at in known]
        if not known and scoring_pass is None:
            outdated = scored[its[-1]] if its else None
            found.append(_not_scored(connection, task, outdated))
    connection.execute("DROP TABLE graded")
    return [one.to_dict() for one in found]


def _settings(connection: DuckDBPyConnection) -> dict[str, Any]:
    ((told,),) = connection.execute("SELECT any_value(settings) FROM session").fetchall()
    return members(document(told)) if told else {}


def _score(
    connection: DuckDBPyConnection, task: Asked, scored: Pass, told: Definition, counted: Counts
) -> TaskScore:
    entry = counted.entry
    figures = headlines(connection, entry, scored, told.headlines, counted)
    first = figures[told.headlines[0].name]
    at, hat, excluded = pass_figures(
        attempts(connection, entry, task.pass_threshold) if first.value is not None else []
    )
    return TaskScore(
        task=task.task,
        name=task.name,
        scorer=scored.scorer,
        version=scored.version,
        definition=scored.definition,
        judge=scored.judge,
        judge_model=scored.judge_model,
        official=told.official,
        pass_=scored.number,
        value=first.value,
        best=first.best,
        interval=first.interval,
        standard_error=first.standard_error,
        headlines=figures,
        groups=groups(connection, entry, task.task, task.groups),
        pass_threshold=task.pass_threshold,
        pass_at=at,
        pass_hat=hat,
        excluded=excluded,
        notes=list(notes(task, scored, told, counted, excluded)),
        **_of_samples(counted),
    )


def _not_scored(connection: DuckDBPyConnection, task: Asked, outdated: Pass | None) -> TaskScore:
    """A task without a score of all its answers.

    Args:
        connection: An opened log.
        task: It.
        outdated: The pass that has scored some of them; None where none has.
    """
    told, counted = defined(task.name, None), not_scored(connection, task.task)
    return TaskScore(
        task=task.task,
        name=task.name,
        scorer=None,
        version=None,
        definition="",
        judge="",
        judge_model=None,
        official=told.official,
        pass_=None,
        headlines={
            one.name: HeadlineFigure(None, None, one.unit, one.better, None, None, None, None)
            for one in told.headlines
        },
        pass_threshold=task.pass_threshold,
        notes=list(notes(task, outdated, told, counted, {})),
        **_of_samples(counted),
    )


_SAMPLES: Final = (
    *("issued", "scored", "unparsed", "missing", "infra_error", "judge_pending", "unscored"),
    *("questions", "repeats", "tokens_per_sample", "truncated", "refused"),
)


def _of_samples(counted: Counts) -> dict[str, Any]:
    return {name: getattr(counted, name) for name in _SAMPLES}
