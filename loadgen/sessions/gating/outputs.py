"""The files of a verdict: JUnit XML, Markdown, and the summary of a job of GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.formats import render
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.run_folder import require_no_log
from loadgen.sessions.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.sessions.observer import Observer
    from reporter.render.judged import NamedVerdict

JUNIT: Final = "junit.xml"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"


def write_verdicts(
    parts: Sequence[NamedVerdict],
    folder: Path,
    *,
    junit: Path | None = None,
    markdown: Path | None = None,
    scored: Sequence[NamedVerdict] = (),
    environment: Mapping[str, str] = os.environ,
    observer: Observer = SILENT,
) -> None:
    """Write junit.xml next to the report, and whatever else was asked for.

    A file that was asked for by name must come to be. One that nobody named is derived like `report.json`:
    where it cannot be written, a note says so.

    Args:
        parts: The verdicts.
        folder: Of the run, or of the series.
        junit: Where JUnit XML was asked for.
        markdown: Where a summary was asked for.
        scored: Runs without a verdict that have scores: JUnit XML has those too.
        environment: Says where the summary of a job of GitHub Actions is.
        observer: Hears of a derived file that could not be written.

    Raises:
        SetupError: A file that was asked for cannot be written.
        UsageError: Both were asked for in one place, or in that of a log.
    """
    if junit is not None and markdown is not None and junit.resolve() == markdown.resolve():
        raise UsageError(f"--junit and --markdown both name {junit}: give each a file of its own")
    xml, summary = render("verdict", "junit", [*parts, *scored]), render("verdict", "markdown", parts)
    for option, path, content in (("--junit", junit, xml), ("--markdown", markdown, summary)):
        if path is not None:
            require_no_log(option, path)
            lay(option, path, content)
    derived = folder / JUNIT
    if junit is None or junit.absolute() != derived.absolute():
        _note(derived, lambda: write_whole(derived, xml.encode()), observer)
    if not parts:
        return
    if named := environment.get(SUMMARY):
        _note(Path(named), lambda: _append(Path(named), summary), observer)


def lay(option: str, path: Path, content: str) -> None:
    """Write what an option asks for; its folder is made.

    Raises:
        SetupError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # a pipe, or /dev/stdout
            path.write_text(content, encoding="utf-8")
        else:
            write_whole(path.resolve(), content.encode())
    except OSError as error:
        raise SetupError(f"{option} {path}: cannot be written ({error.strerror})") from error


def _note(path: Path, write: Callable[[], None], observer: Observer) -> None:
    try:
        write()
    except OSError as error:
        observer.note(f"note: {path} was not written ({error.strerror})")


def _append(path: Path, summary: str) -> None:
    """Add to what other commands of the step have written; GitHub takes only so much of it in all."""
    from reporter.render.markdown import MOST_BYTES, fitting

    with path.open("a", encoding="utf-8") as file:
        file.write(fitting(summary, MOST_BYTES - file.tell()))
