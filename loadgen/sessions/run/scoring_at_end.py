"""Scoring at the end of a session, with requirements checked before the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.arguments import program
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.scoring.choice import choose
from loadgen.sessions.scoring.judge import judge_endpoint
from loadgen.sessions.scoring.scorer_requirements import require_all
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.scoring_choices import JudgeEndpoint, ScoringChoices, judge_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from loadgen.sessions.settings.cluster import ClusterSettings
    from workloads.dataset import Dataset
    from workloads.scorer import Scorer


def scoring_of(tasks: TaskSettings, cluster: ClusterSettings | None = None) -> ScoringChoices:
    """How the answers of a session are scored."""
    return ScoringChoices(
        scorers=tuple(tasks.scoring.scorer),
        evals=tuple(tasks.scoring.eval_function),
        allow_code_execution=tasks.scoring.allow_code_execution,
        judge=judge_of(tasks.judge),
        data=tasks.data,
        sandbox=tasks.scoring.place,
        ray=None if cluster is None else cluster.ray,
        nodes=None if cluster is None else cluster.nodes,
    )


def accuracy_settings(tasks: TaskSettings, passes: int | None, dataset: Dataset) -> Mapping[str, Any] | None:
    """The log's facts on benchmarks and scoring; None without benchmarks.

    The scorers' requirements are checked, so that no request is wasted.
    """
    if not tasks.task:
        return None
    options = scoring_of(tasks)
    chosen = choose(tasks.task, options)
    require_all(chosen, _references(dataset))
    return {
        "tasks": [dict(task) for task in dataset.tasks],
        "scorers": {
            scorer.task: scorer.scorer.name for scorer in chosen if scorer.scorer.name not in options.evals
        },
        "evals": list(options.evals),
        "repeats": tasks.repeats or passes or 1,
        "pass_threshold": tasks.pass_threshold,
        "judge": _judge_facts(options.judge),
    }


def warn_of_no_judge(tasks: TaskSettings, observer: Observer) -> None:
    """Warn before a session that the answers will stay unscored without a judge."""
    if not tasks.task or tasks.judge.judge_url is not None:
        return
    chosen = choose(tasks.task, scoring_of(tasks))
    if asking := [scorer.task for scorer in chosen if scorer.scorer.ask is not None]:
        observer.progress(
            f"note: {', '.join(asking)}: no judge is given, so answers stay unscored; later, give "
            "`loadgen score` --judge-url and --judge-model"
        )


def score(tasks: TaskSettings, cluster: ClusterSettings, folder: Path, observer: Observer = SILENT) -> None:
    """Score the answers of a session, into the session's log, where measured."""
    try:
        scoring = score_run(folder, scoring_of(tasks, cluster), observer)
    except BaseException:
        observer.note(
            f"The answers are in {folder}, not all of them scored; to continue: {program()} resume {folder}",
            apart=True,
        )
        raise
    observer.progress(scoring.summary)


def running_scorers(tasks: TaskSettings) -> Sequence[Scorer]:
    """The scorers of a session that run model-written code."""
    if not tasks.task:
        return ()
    return [entry.scorer for entry in choose(tasks.task, scoring_of(tasks)) if entry.scorer.runs_code]


def _references(dataset: Dataset) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for task in dataset.tasks:
        for question in dataset.questions[task["first"] : task["first"] + task["count"]]:
            yield task["task"], question.reference


def _judge_facts(judge: JudgeEndpoint | None) -> Mapping[str, Any] | None:
    if judge is None:
        return None
    return {"url": judge_endpoint(judge).url, **judge.facts()}
