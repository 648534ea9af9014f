"""Going on with a series: whoever made it knows how."""

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


def resume_series(given: ResumeSettings) -> None:
    """Run those points of a series that have not been run to their end, and sum it up.

    Raises:
        UsageError: It is none, or an option has no meaning for it.
        typer.Exit: With its exit code.
    """
    folder = given.run.parent if given.run.name == SERIES else given.run
    if given.prompts is not None:
        raise UsageError("--prompts: a series may have several files of prompts; lay them where they were")
    series = read(folder)
    _RESUMES[series.kind]()(folder, series, given)


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
