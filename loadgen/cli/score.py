"""`loadgen score`: the answers of a run, scored from the log."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from loadgen.sessions.formats import JSON, TEXT

if TYPE_CHECKING:
    from loadgen.sessions.settings.score import ScoreSettings


def score(settings: ScoreSettings) -> None:
    """Score the stored answers of a run, and report the run.

    Everything is read from the log: neither the endpoint nor the data of the benchmark is needed, only a
    judge where a benchmark takes one. Each call is its own scoring pass, which is added to the log;
    nothing is overwritten, and a pass that was interrupted or killed is continued. What scorers need
    on this machine (packages, models, permission to run code) is checked before the first answer is scored.

    Exit 4 when the run is invalid, or a score undetermined because answers could not be judged; 130 when it
    was interrupted, and then what was scored stays.

    [bold]Examples[/bold]

    loadgen score runs/20260101-120000-llama

    loadgen score RUN --scorer mmlu_pro=official_random

    loadgen score RUN --eval graders:exact

    loadgen score RUN --pass 1
    """
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.cli.terminal.show import print_as
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.files.series_file import require_run
    from loadgen.sessions.run.report_of_log import write_report
    from loadgen.sessions.run_session import outcome
    from loadgen.sessions.settings.price_options import load
    from reporter.report_options import ReportOptions
    from rulesets.exit_codes import ExitCode

    settings.check()
    terminal = Terminal(quiet=settings.quiet)
    prices = load(settings.prices)
    end_with_the_reader()
    require_run(settings.run)
    scoring = None
    if settings.pass_number is None:
        from loadgen.sessions.scoring.scoring_pass import score_run
        from loadgen.sessions.settings.score import options_of

        try:
            with redirect_stdout(sys.stderr):  # Ray prints news of the cluster
                scoring = score_run(settings.run, options_of(settings), terminal)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted: the same command continues with what is left to score\n")
            raise
        terminal.progress(scoring.summary)
    report = write_report(
        settings.run,
        None,
        options=ReportOptions(
            scoring_pass=settings.pass_number, prices=prices, on_invalid=settings.on_invalid
        ),
        observer=terminal,
    )
    print_as("report", JSON if settings.json else TEXT, report, run=settings.run)
    is_left_out = scoring is not None and scoring.is_left_out(report.accuracy)
    raise SystemExit(outcome(report) or (ExitCode.INVALID if is_left_out else ExitCode.PASS))
