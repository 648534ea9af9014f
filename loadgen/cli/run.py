"""`loadgen run`: the runs of a suite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.series.suite.source import SuiteSource
    from loadgen.sessions.settings.run import RunSettings


def run(settings: RunSettings) -> None:
    """Run a suite: every model with every benchmark under every load of a file, into one folder.

    [bold]loadgen init[/bold] writes a file to begin with. A flag overrides the environment, which overrides
    the file; in the file a load overrides its benchmark, which overrides its model, which overrides the
    defaults. [bold]loadgen resume FOLDER[/bold] continues an interrupted suite at its first unfinished run.

    Exit code: the most severe of the runs: 4 when one is invalid, else 1 when one misses a requirement, else
    5 when one is inconclusive, else 0.

    [bold]Examples[/bold]

    loadgen run suite.toml --dry-run

    loadgen run suite.toml --model-filter 'llama*' --duration 30s --out results

    loadgen run --all --model llama --url $URL -n 10 --out results
    """
    from loadgen.sessions.series.suite.runner import chosen_entries, folder_of_suite, remarks, suite_to_run

    source, suite, left_out = suite_to_run(settings)
    entries = chosen_entries(settings, source, suite)
    for note in (*left_out, *remarks(source, suite, entries)):
        _note(note)
    if settings.dry_run:
        _dry_run(settings, source, suite, entries)
        return
    from loadgen.cli.suite_runs import conduct_suite
    from loadgen.cli.terminal.observer import Terminal
    from loadgen.sessions.files.series_file import new_series_folder
    from loadgen.sessions.series.suite.keys import from_environment, named, secrets_of
    from loadgen.sessions.series.suite.runner import name_of, series_of, sound

    folder = new_series_folder(folder_of_suite(settings, source, suite), name_of(source, suite))
    keys = named(entries)
    points = sound(
        source, entries, secrets_of(keys, from_environment()), left_out=_note if settings.all else None
    )
    series = series_of(
        source,
        suite,
        points,
        keys,
        cooldown_s=suite.run.cooldown if settings.cooldown is None else settings.cooldown,
        stop_on_failure=suite.run.stop_on_failure
        if settings.stop_on_failure is None
        else settings.stop_on_failure,
        sample_files=settings.all,
    )
    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    conduct_suite(
        *(folder, series, from_environment(), terminal), json=settings.json, compact=settings.compact
    )


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


def _dry_run(settings: RunSettings, source: SuiteSource, suite: Suite, entries: Sequence[MatrixRun]) -> None:
    from loadgen.cli.terminal.observer import Terminal
    from loadgen.cli.terminal.show import page
    from loadgen.cli.terminal.suite_plan import as_text
    from loadgen.sessions.run.preflight import warn_of
    from loadgen.sessions.series.options import Secrets
    from loadgen.sessions.series.suite.keys import named, unset
    from loadgen.sessions.series.suite.matrix import as_rows
    from loadgen.sessions.series.suite.runner import name_of, sound

    terminal = Terminal()
    sound(
        *(source, entries, lambda _: Secrets(), lambda ready, name: warn_of(ready, terminal, name)),
        left_out=_note if settings.all else None,
    )
    for variable in unset(named(entries)):
        sys.stderr.write(f"note: {variable} is not set; the suite takes a secret from it\n")
    if settings.json:
        import orjson

        plan = {"suite": name_of(source, suite), "file": str(source.path), "runs": as_rows(entries)}
        sys.stdout.write(orjson.dumps(plan, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
        return
    title = f"{name_of(source, suite)}, {len(entries)} runs, from {source.path}"
    sys.stdout.write(as_text(title, entries, **page()))
