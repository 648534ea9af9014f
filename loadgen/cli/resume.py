"""`loadgen resume`: an interrupted run, finished."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import SERIES, SeriesKind, is_series, read
from workloads.registry import entries, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.resume import ResumeSettings


def resume(settings: ResumeSettings) -> None:
    """Finish a run that was interrupted, killed or stopped, without repeating answered requests.

    The run must have had a number of requests, not only a duration. Its settings are in its log, except
    secrets. A failed request counts as a result and is not repeated; the report is of the whole run, and the
    exit code is that of [bold]loadgen perf[/bold].

    The answers of a run of benchmarks are scored when they are complete; interrupted scoring is continued.

    A sweep, a search or a suite continues at its first unfinished run, which is moved aside and run again.

    [bold]Example[/bold]

    loadgen resume runs/20260101-120000-llama
    """
    if is_series(settings.run):
        resume_series(settings)
        return
    _resume_run(settings)


def _resume_run(settings: ResumeSettings) -> None:
    from loadgen.cli.perf import finish
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.resuming import finish_run

    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    with redirect_stdout(sys.stderr):  # Ray prints news of the cluster
        outcome = finish_run(settings, terminal)
    finish(*outcome)


_MODULES: Final[Mapping[SeriesKind, str]] = {
    SeriesKind.SWEEP: "sweep",
    SeriesKind.SEARCH: "search",
    SeriesKind.SUITE: "suite_runs",
    SeriesKind.AUDIT: "audit",
}
"""The module of `loadgen.cli` with `resume_KIND`, imported on use; plug-ins have the other kinds."""


def resume_series(settings: ResumeSettings) -> None:
    """Run the incomplete points of a series, and summarize the series."""
    folder = settings.run.parent if settings.run.name == SERIES else settings.run
    if settings.prompts is not None:
        raise UsageError("--prompts: a series may have several files of prompts; put them where they were")
    series = read(folder)
    if series.kind not in _MODULES:
        load(entries("series")[series.kind]).resume(folder, series, settings)
        return
    module = import_module(f"loadgen.cli.{_MODULES[series.kind]}")
    getattr(module, f"resume_{series.kind}")(folder, series, settings)
