"""`loadgen watch`: a run in progress, from another terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import seconds
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.run_argument import RunOrSeries

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report


def watch(
    run: RunOrSeries,
    *,
    interval: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="How often to read the log; a large one is read less often.",
        ),
    ] = 2.0,
    wait: Annotated[
        float,
        Option(parser=seconds, metavar="TIME", help="How long to wait for a run that has not started."),
    ] = 30.0,
    json: Json = False,
) -> None:
    """Show a run in progress, and the report at the end.

    A terminal shows what [bold]loadgen perf[/bold] shows, elsewhere there is a line per reading. Of a sweep,
    a search or a suite, each run in turn, and the summary at the end. The log is only read, without an effect
    on the run. The exit code is that of the run; Ctrl-C ends the watching, with 130, and not the run.

    [bold]Examples[/bold]

    loadgen watch runs/20260101-120000-llama

    loadgen watch RUN --json | jq --unbuffered .throughput.qps
    """
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.files.series_file import is_series
    from loadgen.sessions.run.watching import await_log
    from loadgen.sessions.run_session import outcome

    end_with_the_reader()
    await_log(run, wait)
    if is_series(run):
        from loadgen.cli.watch_series import watch_series
        from loadgen.sessions.files.run_folder import folder_of

        raise SystemExit(
            watch_series(
                folder_of(run), lambda run_folder: _follow(run_folder, interval, wait, json=json), json=json
            )
        )
    final = _watched(run, interval, json=json)
    raise SystemExit(outcome(final))


def _watched(run: Path, interval_s: float, *, json: bool) -> Report:
    """Show the run until the end, and then the report; return the report."""
    from loadgen.sessions.run.report_of_log import make_report
    from reporter.render.json import render

    _show_while_it_runs(run, interval_s, json=json)
    final = make_report(run, None)
    if json:
        sys.stdout.write(render(final, indented=False))
    else:
        from loadgen.cli.terminal.show import print_as

        print_as("report", "text", final, run=run)
    return final


def _follow(run: Path, interval_s: float, wait_s: float, *, json: bool) -> None:
    """Show a run of a series until the end; as JSON, then also the report."""
    from loadgen.sessions.run.report_of_log import make_report
    from loadgen.sessions.run.watching import await_log
    from reporter.render.json import render

    await_log(run, wait_s)
    _show_while_it_runs(run, interval_s, json=json)
    if json:
        sys.stdout.write(render(make_report(run, None), indented=False))
        sys.stdout.flush()


def _show_while_it_runs(run: Path, interval_s: float, *, json: bool) -> None:
    from loadgen.cli.terminal.watch_view import is_rewritable, show_block, show_line
    from loadgen.sessions.run.watching import reports_while_it_runs
    from reporter.render.json import render

    if not json and is_rewritable():
        show_block(run, interval_s)
        return
    for report in reports_while_it_runs(run, interval_s):
        if json:
            sys.stdout.write(render(report, indented=False))
            sys.stdout.flush()
        else:
            show_line(report)
