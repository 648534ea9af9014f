"""`loadgen resume`: an interrupted run, finished."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.series import SERIES, SeriesKind, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.run.preparation import Prepared
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
    from loadgen.sessions.series.series import is_series

    if is_series(settings.run):
        resume_series(settings)
        return
    _resume_run(settings)


def _resume_run(settings: ResumeSettings) -> None:
    from loadgen.cli.perf import finish
    from loadgen.cli.terminal.observer import Terminal
    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.run.ending import end_log
    from loadgen.sessions.run.resumption import prepare_resumption, resumable, resumed_settings
    from loadgen.sessions.run.run_folder import folder_of
    from loadgen.sessions.run.scores import score
    from loadgen.sessions.run.session import conduct, reported, score_if_over

    terminal = Terminal(quiet=settings.quiet, live=not settings.no_live)
    run, folder = resumable(settings.run), folder_of(settings.run)
    if run.ended == "completed":
        settings_of_run = resumed_settings(settings, run)
        score(settings_of_run.tasks, folder, terminal)
        finish(reported(folder, None, settings_of_run, observer=terminal), folder, settings_of_run)
    prepared, broken = prepare_resumption(settings, run), None
    if prepared.left:
        if not settings.quiet:
            sys.stderr.write(_announcement(prepared))
        if prepared.perf.verdict.abort_on_fail:
            sys.stderr.write("note: --abort-on-fail does not watch a resumed run; it continues to its end\n")
        with WorkerLauncher(prepared.perf.client.transport) as launcher:
            broken = conduct(prepared, launcher, folder, terminal)
    else:
        end_log(prepared, folder)
    score_if_over(prepared, folder, broken, terminal)
    report = reported(folder, broken, prepared.perf, observer=terminal)
    finish(report, folder, prepared.perf)


def _announcement(prepared: Prepared) -> str:
    from loadgen.sessions.errors import printable

    what = "requests" if prepared.plan.sessions is None else "conversations"
    where = printable(" and ".join(target.url for target in prepared.targets))
    return f"resuming: {prepared.plan.count} {what} remaining for {where}\n"


_MODULES: Final[Mapping[SeriesKind, str]] = {
    SeriesKind.SWEEP: "sweep",
    SeriesKind.SEARCH: "search",
    SeriesKind.SUITE: "suite_runs",
    SeriesKind.AUDIT: "audit",
    SeriesKind.OPTIMIZATION: "optimize",
}
"""The module of `loadgen.cli` with `resume_KIND`, which is imported on use."""


def resume_series(settings: ResumeSettings) -> None:
    """Run the points of a series that are not complete, and sum it up.

    Raises:
        UsageError: The folder is not a series, or an option does not apply to it.
        typer.Exit: With its exit code.
    """
    folder = settings.run.parent if settings.run.name == SERIES else settings.run
    if settings.prompts is not None:
        raise UsageError("--prompts: a series may have several files of prompts; put them where they were")
    series = read(folder)
    module = import_module(f"loadgen.cli.{_MODULES[series.kind]}")
    getattr(module, f"resume_{series.kind}")(folder, series, settings)
