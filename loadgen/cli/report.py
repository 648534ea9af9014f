"""`loadgen report`: the report of a run, computed from the log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast, get_args

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import TEXT, format_facts, require_format
from loadgen.sessions.settings.definition_options import (
    LatencyOrigin,
    PercentileMethod,
    Percentiles,
    Summary,
    TpotDenominator,
    TpotEnd,
    TraceDetail,
    Verbose,
    chosen,
    percentiles_of,
)
from loadgen.sessions.settings.format_options import Json, ReportFormat, chosen_format
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.price_options import Prices
from loadgen.sessions.settings.run_argument import RunOrSeries
from loadgen.sessions.settings.tokenizer_options import Tokenizer, load
from loadgen.sessions.settings.verdict_options import OnInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.report import Report
    from reporter.report_options import ReportOptions

Method = Literal["linear", "lower", "loadgen_floor", "nearest_rank"]
METHODS: Final = get_args(Method)


def report(
    run: RunOrSeries,
    *,
    form: ReportFormat = TEXT,
    output: Annotated[
        Path | None,
        Option("--output -o", metavar="FILE", help="Write the report to this file. Default: print it."),
    ] = None,
    json: Json = False,
    summary: Summary = False,
    verbose: Verbose = False,
    trace_detail: TraceDetail = False,
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
        Option("--stats", help="Break scores down by benchmark categories: subjects, levels."),
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

    loadgen report RUN --format html -o report.html
    """
    form = chosen_format(form, json=json)
    _require_text(form, output, traces=trace_detail, breakdown="--by" if by else "--stats" if stats else "")
    from loadgen.cli.terminal.show import show_as
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.files.run_folder import require_no_log
    from loadgen.sessions.files.series_file import is_series
    from loadgen.sessions.settings.price_options import load as load_prices
    from loadgen.sessions.trace_listing import trace_lines
    from reporter.report_options import ReportOptions, TPOTReportingMode

    end_with_the_reader()
    require_no_log("--output", output)
    if is_series(run):
        of_a_run: dict[str, object] = {
            "--by": by,
            "--tokenizer": tokenizer,
            "--prices": prices,
            "--stats": stats or None,
            "--trace-detail": trace_detail or None,
        }
        of_a_run |= {"--percentiles": percentiles, "--pass": scoring_pass, "--on-invalid": on_invalid}
        raise SystemExit(_report_series(run, of_a_run, form, output))
    require_format("report", form)
    if percentiles in METHODS:
        sys.stderr.write(
            f"note: --percentiles {percentiles}: the method is --percentile-method now; "
            "--percentiles lists the percentiles to report, and takes a method for one more release\n"
        )
        percentiles, percentile_method = None, cast("Method", percentiles)
    options = ReportOptions(
        tokenizer=load(tokenizer),
        tpot_reporting_mode=TPOTReportingMode[f"{tpot.upper()}_WEIGHTED"],
        percentile_method=percentile_method,
        percentiles=percentiles_of(percentiles),
        scoring_pass=scoring_pass,
        prices=load_prices(prices),
        on_invalid=on_invalid,
    )
    choice = chosen(
        {
            "latency_origin": latency_origin,
            "tpot_denominator": tpot_denominator,
            "tpot_end": tpot_end,
        }
    )
    made, further = _made(run, form, options, choice)
    require_breakdowns(made, by or ())
    breakdowns = list(dict.fromkeys([*(by or ()), *(score_groups(made) if stats else ())]))
    show_as("report", form, made, output, summary_only=summary, verbose=verbose, by=breakdowns, **further)
    sys.stdout.writelines(trace_lines(run) if trace_detail else ())
    from reporter.accuracy.undetermined import undetermined

    if not made.validity.stands or undetermined(made.accuracy):
        from rulesets.exit_codes import ExitCode

        raise SystemExit(ExitCode.INVALID)


def _require_text(form: str, output: Path | None, *, traces: bool, breakdown: str) -> None:
    if traces and (form != TEXT or output):
        raise UsageError("--trace-detail is text on standard output: leave --format, --json and --output out")
    if form != TEXT and breakdown:
        raise UsageError(f"--format {form} has every breakdown: leave {breakdown} out")


def _made(
    run: Path, form: str, options: ReportOptions, choice: Mapping[str, Any]
) -> tuple[Report, dict[str, Any]]:
    """The report, and the further options of its format: the run, or the contents of its log."""
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.run.repeat import commands_of_page
    from loadgen.sessions.run.report_of_log import write_report, write_report_with_contents

    if not format_facts(form).shows_log:
        return write_report(run, None, options=options, choice=choice, observer=Terminal()), {"run": run}
    made, contents = write_report_with_contents(run, options, choice=choice, observer=Terminal())
    return made, {"contents": contents, **commands_of_page(run, form)}


def _report_series(run: Path, of_a_run: Mapping[str, object], form: str, output: Path | None) -> int:
    from loadgen.cli.report_series import show_series
    from loadgen.sessions.files.run_folder import folder_of

    if options := [option for option, value in of_a_run.items() if value is not None]:
        raise UsageError(
            f"{options[0]}: applies to a run; {run} is a series of runs: name a run in the series"
        )
    return show_series(folder_of(run), form, output)


def score_groups(made: Report) -> Sequence[str]:
    """The categories by which the benchmarks of a run break scores down."""
    tags = [tag for score in made.accuracy for tag in score.groups]
    if not tags:
        raise UsageError(
            "--stats: no benchmark of this run has categories to break scores down by; leave it out"
        )
    return tags


def require_breakdowns(made: Report, by: Sequence[str]) -> None:
    """Refuse a breakdown that a report does not have."""
    from reporter.render.breakdown_tables import names

    if missing := [name for name in by if name not in names(made)]:
        raise UsageError(
            f"--by {missing[0]}: no such breakdown in the run; choose {', '.join(names(made)) or 'none'}"
        )
