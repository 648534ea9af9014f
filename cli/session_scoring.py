"""Scoring at the end of a session: what it takes is looked at before the session, and kept in its log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cli.errors import printable
from cli.scoring.choosing import choose
from cli.scoring.options import ScoringOptions
from cli.scoring_options import judge_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from cli.perf_settings import PerfSettings
    from cli.scoring.choosing import Chosen
    from cli.scoring.options import Judge
    from workloads.dataset import Dataset


def scoring_of(settings: PerfSettings) -> ScoringOptions:
    """How the answers of a session are scored.

    Raises:
        UsageError: The judge's key cannot be read.
    """
    return ScoringOptions(
        scorers=tuple(settings.scorer),
        evals=tuple(settings.eval_function),
        allow_code_execution=settings.allow_code_execution,
        judge=judge_of(
            settings.judge_url,
            settings.judge_model,
            settings.judge_api_key,
            settings.judge_concurrency,
            settings.judge_timeout,
        ),
        quiet=settings.quiet,
    )


def accuracy_settings(settings: PerfSettings, dataset: Dataset) -> Mapping[str, Any] | None:
    """What the log keeps of the benchmarks of a session, and of how they are scored; None where it has none.

    What it takes to score them is tried, so that nobody is asked in vain.

    Raises:
        TaskError: There is no such scorer, or it may not do what it has to.
        EvalError: An eval function cannot be used.
        ExtraError: A scorer takes a package that is not installed.
        UsageError: The judge's URL or key cannot be used.
    """
    if not settings.task:
        return None
    options = scoring_of(settings)
    chosen = choose(settings.task, options)
    _try(dataset, chosen)
    return {
        "tasks": [dict(task) for task in dataset.tasks],
        "scorers": {one.task: one.scorer.name for one in chosen if one.scorer.name not in options.evals},
        "evals": list(options.evals),
        "repeats": settings.repeats or settings.passes or 1,
        "pass_threshold": settings.pass_threshold,
        "judge": _judge_facts(options.judge),
    }


def warn_of_no_judge(settings: PerfSettings) -> None:
    """Say before a session that its answers will have no score for want of a judge."""
    if not settings.task or settings.judge_url is not None or settings.quiet:
        return
    chosen = choose(settings.task, scoring_of(settings))
    if asking := [one.task for one in chosen if one.scorer.ask is not None]:
        sys.stderr.write(
            f"note: {printable(', '.join(asking))}: a judge is needed, and none is given: the answers stay "
            "unscored until `loadgen score` is given --judge-url and --judge-model\n"
        )


def score(settings: PerfSettings, folder: Path) -> None:
    """Score the answers that a session has brought, into its log.

    Raises:
        KeyboardInterrupt: Somebody ended it; what was scored is kept.
        Exception: See `cli.scoring`.
    """
    from cli.score import told
    from cli.scoring.scoring import score_run

    try:
        scoring = score_run(folder, scoring_of(settings))
    except BaseException:
        from cli.show import program

        shown = printable(str(folder))
        sys.stderr.write(
            f"\nThe answers are in {shown}, not all of them scored; go on with: {program()} resume {shown}\n"
        )
        raise
    if not settings.quiet:
        sys.stderr.write(told(scoring))


def _try(dataset: Dataset, chosen: Iterable[Chosen]) -> None:
    """Grade an empty answer to the first question of each task: what a grader lacks is known by that."""
    from workloads.answer import Answer

    first = {task["task"]: dataset.questions[task["first"]] for task in dataset.tasks}
    for one in chosen:
        if not one.scorer.runs_code and ":" not in one.scorer.name:
            question = first[one.task]
            answer = Answer("", messages=tuple(question.sample.messages()))
            one.scorer.grade(question.reference, answer)


def _judge_facts(judge: Judge | None) -> Mapping[str, str] | None:
    """What the log keeps of a judge.

    Raises:
        UsageError: Its URL or its key cannot be used.
    """
    if judge is None:
        return None
    from cli.scoring.judging import judge_endpoint

    return {"url": judge_endpoint(judge).url, "model": judge.model}
