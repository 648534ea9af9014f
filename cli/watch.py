"""`loadgen watch`: the report of a run while it goes on, from another terminal."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from stat import S_ISREG
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.endpoint_settings import seconds
from cli.report import Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.report import Report

LEAST_PAUSE: Final = 3.0
"""A pause lasts at least so many times as long as the reading before it: that has a quarter of the time."""

_LOOK_S: Final = 0.1
"""How often it looks whether the run is over, or has begun."""


def watch(
    run: Run,
    *,
    interval: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="How often to read the log; a large one is read less often.",
        ),
    ] = 2.0,
    wait: Annotated[
        float,
        typer.Option(parser=seconds, metavar="TIME", help="How long to wait for a run that has not begun."),
    ] = 30.0,
    json: Annotated[bool, typer.Option("--json", help="Print a report as JSON a line.")] = False,
) -> None:
    """Show a run while it goes on, and its report when it is over.

    The log is only read: the run does not notice. The exit code is that of the run; Ctrl-C ends the watching,
    with 130, and not the run.

    [bold]Examples[/bold]

    loadgen watch runs/20260101-120000-llama

    loadgen watch RUN --json | jq --unbuffered .throughput.qps
    """
    from cli.perf import outcome
    from cli.pipe import end_with_the_reader
    from cli.series.series import require_run

    end_with_the_reader()
    require_run(run)
    _await_log(run, wait)
    final = _watched(run, interval, json=json)
    raise typer.Exit(outcome(final))


def _watched(run: Path, interval_s: float, *, json: bool) -> Report:
    """Show the run until it is over, and then its report; return that."""
    from cli.judging import make_report
    from cli.watch_view import Lines, Screen, json_line

    if json:
        for report in _while_it_runs(run, interval_s):
            sys.stdout.write(json_line(report))
            sys.stdout.flush()
    else:
        with Screen() if sys.stdout.isatty() else Lines() as view:
            for report in _while_it_runs(run, interval_s):
                view.show(report)
    final = make_report(run, None)
    if json:
        sys.stdout.write(json_line(final))
    else:
        from cli.show import show

        show(final)
    return final


def _while_it_runs(run: Path, interval_s: float) -> Iterator[Report]:
    """The report so far, again and again; what it takes the reader to show one counts as reading."""
    from cli.judging import make_report
    from cli.run_folder import folder_of
    from recorder.lock import is_held

    folder = folder_of(run).resolve()
    while is_held(folder):
        started_s = time.monotonic()
        yield make_report(run, None)
        now_s = time.monotonic()
        pause_s = max(started_s + interval_s - now_s, LEAST_PAUSE * (now_s - started_s))
        while (left_s := now_s + pause_s - time.monotonic()) > 0 and is_held(folder):
            time.sleep(min(left_s, _LOOK_S))


def _await_log(run: Path, wait_s: float) -> None:
    """Return when there is a log.

    Raises:
        LogError: There is something else, or none that this version reads, or none came in time.
    """
    from recorder.errors import NotALogError
    from recorder.store import log_path, verify

    give_up_s = time.monotonic() + wait_s
    while True:
        try:
            verify(log_path(run))
        except NotALogError:
            if time.monotonic() >= give_up_s or not _may_become_one(log_path(run)):
                raise
            time.sleep(min(_LOOK_S, wait_s))
        else:
            return


def _may_become_one(log: Path) -> bool:
    """Tell whether there is nothing yet, or a log that is just being made: an empty file."""
    with suppress(FileNotFoundError):
        found = log.stat()
        return S_ISREG(found.st_mode) and not found.st_size
    return True
