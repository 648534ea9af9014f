"""`loadgen report`: the report of a run, computed anew from its log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from reporter.report import Report

Run = Annotated[Path, typer.Argument(help="The run's folder, or its events.db.", show_default=False)]


def report(
    run: Run,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Only the head and the totals.")] = False,
    tpot: Annotated[
        Literal["request", "token"],
        typer.Option(help="Weigh TPOT by requests or by tokens."),
    ] = "request",
    percentiles: Annotated[
        Literal["linear", "loadgen_floor", "nearest_rank"],
        typer.Option(help="How percentiles are taken."),
    ] = "linear",
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="NAME|FOLDER", help="Count tokens with it where the server did not."),
    ] = None,
) -> None:
    """Report a run.

    Everything is computed from the log, so this works after a crash, as often as wanted, and writes
    report.json anew. Exit 4 when the run is invalid.

    [bold]Examples[/bold]

    loadgen report runs/20260101-120000-llama

    loadgen report RUN --json | jq .ttft_ms.p99
    """
    from cli.judging import write_report
    from cli.run_folder import log_of
    from reporter.metrics import TPOTReportingMode

    made = write_report(
        log_of(run),
        None,
        tokenizer=None if tokenizer is None else _tokenizer(tokenizer),
        tpot_reporting_mode=TPOTReportingMode[f"{tpot.upper()}_WEIGHTED"],
        percentile_method=percentiles,
    )
    _print(made, json=json, summary=summary)
    if not made.validity.valid:
        from cli.errors import INVALID

        raise typer.Exit(INVALID)


def _print(made: Report, *, json: bool, summary: bool) -> None:
    if json:
        from reporter.render.json import render

        print(render(made))
    else:
        from cli.show import show

        show(made, summary_only=summary)


def _tokenizer(name: str) -> Any:
    """Load a tokenizer: transformers takes its time, so only who needs one pays for it."""
    from transformers import AutoTokenizer

    from cli.errors import UsageError

    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise UsageError(f"--tokenizer {name}: cannot be loaded ({error})") from error
