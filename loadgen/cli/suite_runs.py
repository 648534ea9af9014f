"""Suites on the terminal: the plan, and the runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.cli.terminal.series_table import suite_tables
from loadgen.cli.terminal.show import publish_series_verdicts
from loadgen.cli.terminal.streams import print_json
from loadgen.sessions.arguments import program
from loadgen.sessions.errors import printable
from loadgen.sessions.series.suite.matrix import MatrixRun, shown
from loadgen.sessions.series.suite.run_suite import run_suite
from loadgen.sessions.series.suite.secret_variables import require_resumable
from loadgen.sessions.series.suite.summary import summed_up
from loadgen.sessions.settings.verdict_options import most_severe
from reporter.render.console_page import block, draw, tables
from reporter.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series_outcome import SeriesResult
    from loadgen.sessions.settings.resume import ResumeSettings

_AXES = ("model", "benchmark", "load", "repeat")


def plan_table(title: str, entries: Sequence[MatrixRun], *, width: int, color: bool) -> str:
    """The matrix as a table: common options above, the other options of a run in the run's row."""
    options = [shown(entry) for entry in entries]
    common = {
        key: value
        for key, value in options[0].items()
        if all(each.get(key, ...) == value for each in options)
    }
    axes = [axis for axis in _AXES if axis in entries[0].axes]
    named = (Column(axis, justify="left") for axis in axes)
    columns = (Column("run"), *named, Column("its own options", justify="left", folds=True))
    rows = tuple(
        (str(number), *(str(entry.axes[axis]) for axis in axes), _words(each, common))
        for number, (entry, each) in enumerate(zip(entries, options, strict=True), start=1)
    )
    return draw(
        [
            [block("suite", title)],
            [block("every run", *(f"{key} = {_word(value)}" for key, value in common.items()))],
            tables(Table(columns, rows), width=width),
        ],
        width=width,
        color=color,
    )


def _words(options: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_word(value)}" for key, value in options.items() if key not in common)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def resume_suite(folder: Path, series: Series, settings: ResumeSettings) -> NoReturn:
    """Resume a suite at the first incomplete run."""
    require_resumable(folder, series, settings)
    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    conduct_suite(folder, series, settings.api_key, terminal, json=settings.json)


def conduct_suite(
    folder: Path, series: Series, key: str | None, terminal: Terminal, *, json: bool, compact: bool = False
) -> NoReturn:
    """Conduct the incomplete runs, and summarize all runs."""
    ended = run_suite(folder, series, key, terminal)
    _tell(folder, series, ended, json=json, compact=compact)
    together = publish_series_verdicts(folder, ended.outcomes, quiet=json)
    raise SystemExit(most_severe([ended.exit_code, together]))


def _tell(folder: Path, series: Series, ended: SeriesResult, *, json: bool, compact: bool) -> None:
    summary = summed_up(folder, series, ended)
    if json:
        print_json(summary)
        return
    sys.stdout.write(suite_tables(folder, series, ended.outcomes, compact=compact))
    shown, done = printable(str(folder)), len(ended.outcomes)
    if done < len(series.points) and not ended.interrupted:
        sys.stdout.write(
            "The suite ended after a run that failed (stop_on_failure); "
            f"to continue: {program()} resume {shown}\n"
        )
