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
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from loadgen.sessions.settings.cluster import ClusterSettings
    from rulesets.ruleset import Ruleset
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


def without_score(rules: Ruleset, accuracy: Mapping[str, Any], skip: Collection[str]) -> Iterator[str]:
    """The rules that need a score that no task of the run has, a sentence each."""
    from rulesets.quantity import SCORES
    from rulesets.scores import named

    there, tasks = named(list(_expected(accuracy))), [str(task["name"]) for task in accuracy["tasks"]]
    for target in rules.targets:
        name = target.metric.removeprefix(SCORES)
        fails = target.severity == "fail" and target.on_missing != "skip"
        if name == target.metric or not fails or {target.id, "accuracy"} & set(skip) or name in there:
            continue
        instead = did_you_mean(name, there) or f"; it scores {', '.join(tasks)}"
        yield f"the run will have no score {name!r}, which {target.id} needs{instead}"


def _expected(accuracy: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """`accuracy` of the future report, with the names alone."""
    from reporter.accuracy.repeated import pass_figures
    from reporter.values.scorer_definitions import defined
    from reporter.values.task_score import TaskScore, unknown_headlines

    pass_at, hat, _ = pass_figures([(accuracy["repeats"], 0, 1)])
    for task_facts in accuracy["tasks"]:
        task, name = str(task_facts["task"]), str(task_facts["name"])
        own = accuracy["scorers"].get(task)
        for scorer in (*([] if own is None else [own]), *accuracy["evals"]):
            definition = defined(name, scorer)
            yield TaskScore(
                task=task,
                name=name,
                scorer=scorer,
                version=None,
                definition="",
                judge="",
                judge_model=None,
                official=definition.official,
                pass_=None,
                issued=0,
                headlines=unknown_headlines(definition),
                pass_at=pass_at,
                pass_hat=hat,
            ).to_dict()
