"""`loadgen score`: the answers of a run, scored from its log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from cli.score_settings import ScoreSettings
    from cli.scoring.options import ScoringOptions
    from cli.scoring.scoring import Scoring


def score(settings: ScoreSettings) -> None:
    """Score the stored answers of a run, and report it.

    Everything is read from the log: neither the endpoint nor the data of the benchmark is needed, only a
    judge where a benchmark takes one. Each call is a scoring pass of its own, which is added to the log;
    nothing is overwritten, and a pass that was interrupted or killed is gone on with. Exit 4 when the run is
    invalid; 130 when it was interrupted, and then what was scored stays.

    [bold]Examples[/bold]

    loadgen score runs/20260101-120000-llama

    loadgen score RUN --scorer mmlu_pro=official_random

    loadgen score RUN --eval graders:exact

    loadgen score RUN --pass 1
    """
    from cli.judging import write_report
    from cli.perf import outcome
    from cli.pipe import end_with_the_reader
    from cli.prices import load
    from cli.series.series import require_run
    from cli.show import show

    settings.check()
    prices = load(settings.prices)
    end_with_the_reader()
    require_run(settings.run)
    if settings.pass_number is None:
        from cli.scoring.scoring import score_run

        try:
            scoring = score_run(settings.run, options_of(settings))
        except KeyboardInterrupt:
            sys.stderr.write("interrupted: the same command goes on with what is left to score\n")
            raise
        if not settings.quiet:
            sys.stderr.write(told(scoring))
    report = write_report(settings.run, None, scoring_pass=settings.pass_number, prices=prices)
    if settings.json:
        from reporter.render.json import render

        sys.stdout.write(render(report))
    else:
        show(report)
    raise typer.Exit(outcome(report))


def options_of(settings: ScoreSettings) -> ScoringOptions:
    """How the answers are scored.

    Raises:
        UsageError: The judge's key cannot be read.
    """
    from cli.scoring.options import ScoringOptions
    from cli.scoring_options import judge_of

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
        judge_model=settings.judge_model,
        reparse=settings.reparse,
        grader_timeout_s=settings.grader_timeout,
        processes=settings.processes,
        quiet=settings.quiet,
    )


def told(scoring: Scoring) -> str:
    """What a pass has come to, as a line for the user."""
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(scoring.graded.items()))
    before = f"; {scoring.found:,} were there before" if scoring.found else ""
    return f"pass {scoring.number}: {counts or 'nothing was left to score'}{before}\n"
