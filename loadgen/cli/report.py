"""`loadgen report`: the report of a run, computed from its log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast, get_args

import typer

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import JSON, TEXT
from loadgen.sessions.settings.definitions import (
    LatencyOrigin,
    PercentileMethod,
    Percentiles,
    Summary,
    TpotDenominator,
    TpotEnd,
    Verbose,
    chosen,
    percentiles_of,
)
from loadgen.sessions.settings.formats import Json, ReportFormat, chosen_format
from loadgen.sessions.settings.on_invalid import OnInvalid
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.prices import Prices
from loadgen.sessions.settings.run_argument import RunOrSeries
from loadgen.sessions.settings.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

Method = Literal["linear", "lower", "loadgen_floor", "nearest_rank"]
METHODS: Final = get_args(Method)


def report(
    run: RunOrSeries,
    *,
    form: ReportFormat = TEXT,
    json: Json = False,
    summary: Summary = False,
    verbose: Verbose = False,
    by: Annotated[
        list[str] | None,
        Option(
            "--by",
            metavar="WHAT",
            help="Break the figures down by phase, endpoint, turn, stage, time or a tag; may be repeated.",
        ),
    ] = None,
    tpot: Annotated[
        Literal["request", "token"],
        Option(help="Weigh TPOT by requests or by tokens."),
    ] = "request",
    percentiles: Percentiles = None,
    percentile_method: PercentileMethod = None,
    latency_origin: LatencyOrigin = None,
    tpot_denominator: TpotDenominator = None,
    tpot_end: TpotEnd = None,
    tokenizer: Tokenizer = None,
    prices: Prices = None,
    on_invalid: OnInvalid = None,
    stats: Annotated[
        bool,
        Option("--stats", help="Break scores down by the categories of their benchmarks: subjects, levels."),
    ] = False,
    scoring_pass: Annotated[
        int | None,
        Option(
            "--pass",
            metavar="N",
            help="Show the scores of that scoring pass, not the last one; report.json is not changed.",
        ),
    ] = None,
) -> None:
    """Report a run, or the table and the summary of a sweep, a search or a suite.

    Everything is computed from the log, so this works after a crash, any number of times, and rewrites
    report.json. Exit 4 when the run is invalid, or a score is undetermined because answers
    could not be judged.

    [bold]Examples[/bold]

    loadgen report runs/20260101-120000-llama

    loadgen report RUN --json | jq .ttft_ms.p99

    loadgen report RUN --by endpoint --by time
    """
    from loadgen.sessions.run.breakdowns import require_breakdowns, score_groups

    form = chosen_format(form, json=json)
    if form != TEXT and (by or stats):
        raise UsageError(f"--format {form} has every breakdown: leave {'--by' if by else '--stats'} out")
    from loadgen.cli.terminal.observer import Terminal
    from loadgen.cli.terminal.pipe import end_with_the_reader
    from loadgen.cli.terminal.show import show
    from loadgen.sessions.run.report import write_report
    from loadgen.sessions.series.series import is_series
    from loadgen.sessions.settings.prices import load as load_prices
    from loadgen.sessions.settings.tokenizer import load
    from reporter.report_options import ReportOptions, TPOTReportingMode

    end_with_the_reader()
    if is_series(run):
        of_a_run: dict[str, object] = {
            "--by": by,
            "--tokenizer": tokenizer,
            "--prices": prices,
            "--stats": stats or None,
        }
        of_a_run |= {"--percentiles": percentiles, "--pass": scoring_pass, "--on-invalid": on_invalid}
        raise typer.Exit(_report_series(run, of_a_run, form))
    if percentiles in METHODS:
        sys.stderr.write(
            f"note: --percentiles {percentiles}: the method is --percentile-method now; "
            "--percentiles lists the percentiles to report, and takes a method for one more release\n"
        )
        percentiles, percentile_method = None, cast("Method", percentiles)
    made = write_report(
        run,
        None,
        options=ReportOptions(
            tokenizer=load(tokenizer),
            tpot_reporting_mode=TPOTReportingMode[f"{tpot.upper()}_WEIGHTED"],
            percentile_method=percentile_method,
            percentiles=percentiles_of(percentiles),
            scoring_pass=scoring_pass,
            prices=load_prices(prices),
            on_invalid=on_invalid,
        ),
        observer=Terminal(),
        choice=chosen(
            {
                "latency_origin": latency_origin,
                "tpot_denominator": tpot_denominator,
                "tpot_end": tpot_end,
            }
        ),
    )
    require_breakdowns(made, by or ())
    told_apart = [*(by or ()), *(score_groups(made) if stats else ())]
    show(made, form=form, summary_only=summary, verbose=verbose, by=list(dict.fromkeys(told_apart)))
    from reporter.accuracy.undetermined import undetermined

    if not made.validity.stands or undetermined(made.accuracy):
        from rulesets.exit_codes import ExitCode

        raise typer.Exit(ExitCode.INVALID)


def _report_series(run: Path, of_a_run: Mapping[str, object], form: str) -> int:
    from loadgen.cli.report_series import show_series
    from loadgen.sessions.run.run_folder import folder_of

    if options := [option for option, value in of_a_run.items() if value is not None]:
        raise UsageError(f"{options[0]}: applies to a run; {run} is a series of runs, so name one of them")
    if form not in {TEXT, JSON}:
        raise UsageError(f"--format {form}: applies to a run; a series has {TEXT} and {JSON}")
    return show_series(folder_of(run), json=form == JSON)
