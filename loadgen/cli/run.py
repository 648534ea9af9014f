"""`loadgen run`: the runs of a suite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from loadgen.cli.terminal.streams import print_json

if TYPE_CHECKING:
    from loadgen.cli.terminal.progress_observer import Terminal
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
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.series.suite.run_suite import new_suite

    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    if settings.dry_run:
        _dry_run(settings, terminal)
        return
    from loadgen.cli.suite_runs import conduct_suite
    from loadgen.sessions.series.suite.secret_variables import from_environment

    conduct_suite(
        *(*new_suite(settings, terminal), from_environment(), terminal),
        json=settings.json,
        compact=settings.compact,
    )


def _dry_run(settings: RunSettings, terminal: Terminal) -> None:
    from loadgen.cli.suite_runs import plan_table
    from loadgen.cli.terminal.show import page
    from loadgen.sessions.run.preflight import warn_of
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series.suite.chosen_runs import name_of, sound
    from loadgen.sessions.series.suite.matrix import as_rows
    from loadgen.sessions.series.suite.run_suite import planned_suite
    from loadgen.sessions.series.suite.secret_variables import named, unset

    source, suite, entries, note = planned_suite(settings, terminal)
    sound(
        *(source, entries, lambda _: Secrets(), lambda ready, name: warn_of(ready, terminal, name)),
        left_out=note if settings.all else None,
    )
    for variable in unset(named(entries)):
        note(f"{variable} is not set; the suite takes a secret from it")
    if settings.json:
        plan = {"suite": name_of(source, suite), "file": str(source.path), "runs": as_rows(entries)}
        print_json(plan)
        return
    title = f"{name_of(source, suite)}, {len(entries)} runs, from {source.path}"
    sys.stdout.write(plan_table(title, entries, **page()))
