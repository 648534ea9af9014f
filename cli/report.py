"""`loadgen report`: the report of a run, computed anew from its log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.errors import UsageError
from cli.prices import Prices
from cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Report

Run = Annotated[Path, typer.Argument(help="The run's folder, or its events.db.", show_default=False)]


def report(
    run: Run,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Only the head and the totals.")] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="Break the figures down by phase, endpoint, turn, stage, time or a tag; may be repeated.",
        ),
    ] = None,
    tpot: Annotated[
        Literal["request", "token"],
        typer.Option(help="Weigh TPOT by requests or by tokens."),
    ] = "request",
    percentiles: Annotated[
        Literal["linear", "lower", "loadgen_floor", "nearest_rank"] | None,
        typer.Option(help="How percentiles are taken: linear, or as the run's rules say."),
    ] = None,
    tokenizer: Tokenizer = None,
    prices: Prices = None,
    stats: Annotated[
        bool,
        typer.Option(
            "--stats", help="Break scores down by what their benchmarks tell apart: subjects, levels."
        ),
    ] = False,
    scoring_pass: Annotated[
        int | None,
        typer.Option(
            "--pass",
            metavar="N",
            help="Tell the scores of that scoring pass, not the last one; report.json stays.",
        ),
    ] = None,
) -> None:
    """Report a run.

    Everything is computed from the log, so this works after a crash, as often as wanted, and writes
    report.json anew. Exit 4 when the run is invalid.

    [bold]Examples[/bold]

    loadgen report runs/20260101-120000-llama

    loadgen report RUN --json | jq .ttft_ms.p99

    loadgen report RUN --by endpoint --by time
    """
    if json and (by or stats):
        raise UsageError(f"--json prints every breakdown: leave {'--by' if by else '--stats'} out")
    from cli.judging import write_report
    from cli.pipe import end_with_the_reader
    from cli.prices import load as load_prices
    from cli.series.series import require_run
    from cli.tokenizer import load
    from reporter.metrics import TPOTReportingMode

    end_with_the_reader()
    require_run(run)
    made = write_report(
        run,
        None,
        tokenizer=load(tokenizer),
        tpot_reporting_mode=TPOTReportingMode[f"{tpot.upper()}_WEIGHTED"],
        percentile_method=percentiles,
        scoring_pass=scoring_pass,
        prices=load_prices(prices),
    )
    _require(made, by or ())
    told_apart = [*(by or ()), *(_told_apart(made) if stats else ())]
    _print(made, json=json, summary=summary, by=list(dict.fromkeys(told_apart)))
    if not made.validity.valid:
        from cli.errors import INVALID

        raise typer.Exit(INVALID)


def _told_apart(made: Report) -> Sequence[str]:
    """What the benchmarks of a run tell scores apart by.

    Raises:
        UsageError: Nothing.
    """
    tags = [tag for score in made.accuracy for tag in score["groups"]]
    if not tags:
        raise UsageError("--stats: no benchmark of this run tells scores apart by anything; leave it out")
    return tags


def _require(made: Report, by: Sequence[str]) -> None:
    """Refuse what a report is not broken down by."""
    from reporter.render.breakdown import names

    if missing := [name for name in by if name not in names(made)]:
        raise UsageError(
            f"--by {missing[0]}: this run has nothing of that kind to tell apart; there is "
            f"{', '.join(names(made)) or 'nothing at all'}"
        )


def _print(made: Report, *, json: bool, summary: bool, by: Sequence[str]) -> None:
    if json:
        from reporter.render.json import render

        sys.stdout.write(render(made))
    else:
        from cli.show import show

        show(made, summary_only=summary, by=by)
