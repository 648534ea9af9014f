"""Conducting a suite for `loadgen run` and `loadgen resume`, and the summary on the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import typer

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.cli.terminal.show import publish_series_verdicts
from loadgen.cli.terminal.suite_table import as_text
from loadgen.sessions.arguments import program
from loadgen.sessions.errors import printable
from loadgen.sessions.series.suite.run_suite import run_suite
from loadgen.sessions.series.suite.secret_variables import require_resumable
from loadgen.sessions.series.suite.summary import summed_up
from loadgen.sessions.settings.verdict_options import most_severe

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series_outcome import SeriesResult
    from loadgen.sessions.settings.resume import ResumeSettings


def resume_suite(folder: Path, series: Series, settings: ResumeSettings) -> NoReturn:
    """Resume a suite at the first incomplete run.

    Raises:
        UsageError: It cannot be resumed; nothing has been sent then.
        typer.Exit: With the most severe exit code of the runs.
    """
    require_resumable(folder, series, settings)
    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    conduct_suite(folder, series, settings.api_key, terminal, json=settings.json)


def conduct_suite(
    folder: Path, series: Series, key: str | None, terminal: Terminal, *, json: bool, compact: bool = False
) -> NoReturn:
    """Conduct the incomplete runs, and summarize all runs.

    Raises:
        UsageError: Another process runs them.
        typer.Exit: With the most severe exit code of the runs.
    """
    ended = run_suite(folder, series, key, terminal)
    _tell(folder, series, ended, json=json, compact=compact)
    together = publish_series_verdicts(folder, ended.outcomes, quiet=json)
    raise typer.Exit(most_severe([ended.exit_code, together]))


def _tell(folder: Path, series: Series, ended: SeriesResult, *, json: bool, compact: bool) -> None:
    summary = summed_up(folder, series, ended)
    if json:
        import orjson

        sys.stdout.write(
            orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
        )
        return
    sys.stdout.write(as_text(folder, series, ended.outcomes, compact=compact))
    shown, done = printable(str(folder)), len(ended.outcomes)
    if done < len(series.points) and not ended.interrupted:
        sys.stdout.write(
            "The suite ended after a run that failed (stop_on_failure); "
            f"to continue: {program()} resume {shown}\n"
        )
