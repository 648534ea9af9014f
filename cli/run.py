"""`loadgen run`: the runs of a suite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cli.run_settings import RunSettings
    from cli.suite.document import Suite
    from cli.suite.matrix import Entry
    from cli.suite.source import Source


def run(settings: RunSettings) -> None:
    """Run a suite: every model with every benchmark under every load of a file, into one folder.

    [bold]loadgen init[/bold] writes a file to begin with. A flag goes before the environment, and that before
    the file; in it a load goes before its benchmark, that before its model, and that before the defaults. A
    suite that was interrupted goes on at its first unfinished run with [bold]loadgen resume FOLDER[/bold].

    Exit code: the gravest of the runs: 4 when one is invalid, else 1 when one misses a requirement, else 5
    when one is inconclusive, else 0.

    [bold]Examples[/bold]

    loadgen run suite.toml --dry-run

    loadgen run suite.toml --model-filter 'llama*' --duration 30s --out results
    """
    from cli.suite.mistakes import suite_of
    from cli.suite.source import read

    source = read(settings.suite)
    suite = suite_of(source)
    entries = _entries(settings, source, suite)
    _note_overruled(entries)
    if settings.dry_run:
        _dry_run(settings, source, suite, entries)
        return
    from cli.series.series import new_series_folder
    from cli.suite.keys import from_environment, named, secrets_of
    from cli.suite.running import conduct, name_of, series_of, sound

    folder = new_series_folder(_out(settings, source, suite), name_of(source, suite))
    known = named(entries)
    points = sound(source, entries, secrets_of(known, from_environment()))
    series = series_of(
        source,
        suite,
        points,
        known,
        cooldown_s=suite.run.cooldown if settings.cooldown is None else settings.cooldown,
        stop_on_failure=suite.run.stop_on_failure
        if settings.stop_on_failure is None
        else settings.stop_on_failure,
    )
    conduct(folder, series, from_environment(), json=settings.json, quiet=settings.quiet)


def _entries(settings: RunSettings, source: Source, suite: Suite) -> tuple[Entry, ...]:
    from cli.errors import UsageError
    from cli.suite.flags import above
    from cli.suite.matrix import Choice, matrix

    repeat = suite.run.repeat if settings.repeat is None else settings.repeat
    if repeat < 1:
        raise UsageError(f"--repeat {repeat}: must be 1 or more")
    choice = Choice(settings.model_filter, settings.benchmark_filter, settings.load_filter, repeat)
    flags = above(settings.set, {"requests": settings.requests, "duration": settings.duration})
    return matrix(source, suite, flags, choice)


def _out(settings: RunSettings, source: Source, suite: Suite) -> Path | None:
    if settings.out is not None or not suite.run.out:
        return settings.out
    return source.path.parent / suite.run.out


def _note_overruled(entries: Sequence[Entry]) -> None:
    """Say when the environment goes before the file: it may have been set for something else."""
    from cli.errors import printable
    from cli.suite.option import variables

    known = {variable for names in variables().values() for variable in names}
    overruled = {
        (places[-1], name)
        for entry in entries
        for name, places in entry.merged.origins.items()
        if places[-1] in known and len(places) > 1
    }
    for variable, name in sorted(overruled):
        sys.stderr.write(printable(f"note: {variable} goes before the {name} of the file\n"))


def _dry_run(settings: RunSettings, source: Source, suite: Suite, entries: Sequence[Entry]) -> None:
    from cli.gating.foreseen import warn_of
    from cli.series.options import Secrets
    from cli.show import page
    from cli.suite.dry_run import as_rows, as_text
    from cli.suite.keys import named, unset
    from cli.suite.running import name_of, sound

    sound(source, entries, lambda _: Secrets(), warn_of)
    for variable in unset(named(entries)):
        sys.stderr.write(f"note: {variable} is not set; the suite takes a secret from it\n")
    if settings.json:
        import orjson

        told = {"suite": name_of(source, suite), "file": str(source.path), "runs": as_rows(entries)}
        sys.stdout.write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
        return
    title = f"{name_of(source, suite)}, {len(entries)} runs, from {source.path}"
    sys.stdout.write(as_text(title, entries, **page()))
