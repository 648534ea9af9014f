"""The runs of a suite, one after the other, and what they amount to together."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import typer

from cli.errors import PASS, UsageError, exit_code, printable
from cli.gating.outcome import gravest
from cli.gating.together import told_of
from cli.series.options import point_of, prepared
from cli.series.running import run_series
from cli.series.series import Kind, Series
from cli.suite.keys import Named, secrets_of
from cli.suite.summary import summed_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cli.preparing import Prepared
    from cli.series.options import Secrets
    from cli.series.outcome import Ended, Outcome
    from cli.series.series import Point
    from cli.suite.document import Suite
    from cli.suite.matrix import Entry
    from cli.suite.source import Source


def name_of(source: Source, suite: Suite) -> str:
    """What a suite is called: as it says, else as its file."""
    return suite.meta.name or source.path.stem


def sound(
    source: Source,
    entries: Sequence[Entry],
    secrets: Callable[[str], Secrets],
    tell: Callable[[Prepared, str], None] | None = None,
) -> tuple[Point, ...]:
    """Prepare every run, its prompts and its rules included, and send nothing.

    Args:
        source: The file, for messages.
        entries: Its runs.
        secrets: Those of a run, by its name.
        tell: Gets each run and its name, once where it is repeated.

    Returns:
        What the runs are to do.

    Raises:
        UsageError: One cannot be done; the message names the file, the run, and who said what.
    """
    points: list[Point] = []
    for entry in entries:
        try:
            points.append(_sound(entry, secrets(entry.name), tell))
        except Exception as error:
            if exit_code(error) is None:
                raise
            told = f"{source.path}: {entry.name}: {error}{entry.merged.blamed(str(error))}"
            raise UsageError(told) from error
    return tuple(points)


def _sound(entry: Entry, secrets: Secrets, tell: Callable[[Prepared, str], None] | None) -> Point:
    whole = replace(entry.settings, api_key=secrets.api_key, header=list(secrets.header))
    point = point_of(entry.name, entry.axes, whole)
    if entry.axes.get("repeat", 1) == 1:
        ready = prepared(point, secrets)
        if tell is not None:
            tell(ready, entry.name)
    return point


def series_of(
    source: Source,
    suite: Suite,
    points: tuple[Point, ...],
    known: Named,
    *,
    cooldown_s: float,
    stop_on_failure: bool,
) -> Series:
    """The series that a suite is: all that is needed to go on with it without its file, but no secret.

    Args:
        source: The file.
        suite: What it says.
        points: Its runs.
        known: The environment variables that hold the secrets of each.
        cooldown_s: The pause between two runs.
        stop_on_failure: Whether a run that fails is the last.
    """
    definition = {
        "name": name_of(source, suite),
        "description": suite.meta.description,
        "file": str(source.path.absolute()),
        "sha256": source.sha256,
        "secrets": known,
        "stop_on_failure": stop_on_failure,
    }
    return Series(Kind.SUITE, definition, points, cooldown_s)


def conduct(folder: Path, series: Series, key: str | None, *, json: bool, quiet: bool) -> NoReturn:
    """Do every run that is not done, and sum all of them up.

    Args:
        folder: That of the suite.
        series: What it is.
        key: The key of runs for which the file names no variable.
        json: Print the summary as JSON.
        quiet: No progress.

    Raises:
        UsageError: Another process does them.
        typer.Exit: With the exit code of the gravest run.
    """
    secrets = secrets_of(series.definition["secrets"], key)
    stop = _failed if series.definition["stop_on_failure"] else None
    ended = run_series(folder, series, lambda point: secrets(point.name), quiet=quiet, stop_after=stop)
    _tell(folder, series, ended, json=json)
    together = told_of(folder, ended.outcomes, quiet=json)
    raise typer.Exit(gravest([ended.exit_code, together]))


def _failed(outcome: Outcome) -> bool:
    return outcome.exit_code != PASS


def _tell(folder: Path, series: Series, ended: Ended, *, json: bool) -> None:
    told = summed_up(folder, series, ended)
    if json:
        import orjson

        sys.stdout.write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
        return
    if ended.outcomes:
        from cli.series.table import table

        sys.stdout.write("\n" + table(ended.outcomes))
    shown, done = printable(str(folder)), len(ended.outcomes)
    sys.stdout.write(f"\n{done} of {len(series.points)} runs are done, in {shown}\n")
    if done < len(series.points) and not ended.interrupted:
        from cli.show import program

        sys.stdout.write(
            "The suite ended after a run that failed (stop_on_failure); "
            f"go on with: {program()} resume {shown}\n"
        )
