"""Going on with a series: whoever made it knows how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli.errors import UsageError
from cli.series.series import SERIES, Kind, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cli.resume_settings import ResumeSettings
    from cli.series.series import Series

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
    from cli.sweep import resume_sweep

    return resume_sweep


def _search() -> Resume:
    from cli.search import resume_search

    return resume_search


def _suite() -> Resume:
    from cli.suite.resuming import resume

    return resume


def _audit() -> Resume:
    from cli.audit import resume_audit

    return resume_audit


_RESUMES: Final[Mapping[Kind, Callable[[], Resume]]] = {
    Kind.SWEEP: _sweep,
    Kind.SEARCH: _search,
    Kind.SUITE: _suite,
    Kind.AUDIT: _audit,
}
