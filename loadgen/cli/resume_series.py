"""Resuming a series, by the function of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.series import SERIES, SeriesKind, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from loadgen.sessions.series.series import Series
    from loadgen.sessions.settings.resume import ResumeSettings

    Resume = Callable[[Path, Series, ResumeSettings], None]


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
    _RESUMES[series.kind]()(folder, series, settings)


def _sweep() -> Resume:
    from loadgen.cli.sweep import resume_sweep

    return resume_sweep


def _search() -> Resume:
    from loadgen.cli.search import resume_search

    return resume_search


def _suite() -> Resume:
    from loadgen.cli.suite_runs import resume_suite

    return resume_suite


def _audit() -> Resume:
    from loadgen.cli.audit import resume_audit

    return resume_audit


_RESUMES: Final[Mapping[SeriesKind, Callable[[], Resume]]] = {
    SeriesKind.SWEEP: _sweep,
    SeriesKind.SEARCH: _search,
    SeriesKind.SUITE: _suite,
    SeriesKind.AUDIT: _audit,
}
