"""Resuming a series, by the function of its kind."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.series import SERIES, SeriesKind, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.resume import ResumeSettings

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
