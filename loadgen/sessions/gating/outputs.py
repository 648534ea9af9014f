"""The files of a verdict: JUnit XML, Markdown, and the summary of a job of GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import require_no_log, write_whole
from loadgen.sessions.formats import render
from loadgen.sessions.observer import SILENT, Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reporter.render.named_verdict import NamedVerdict

JUNIT: Final = "junit.xml"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
OPEN_FILES: Final = Path("/dev/fd")
"""The folder of this process's open files, by their descriptors."""


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
    """Write junit.xml next to the report, and the other requested files.

    A file that an option names must be written. The others are derived like `report.json`: where one cannot
    be written, a note says so. None is written into an object store.

    Args:
        parts: The verdicts.
        folder: The folder of the run or the series.
        junit: The requested path of JUnit XML.
        markdown: The requested path of a summary.
        scored: Runs without a verdict that have scores: JUnit XML has those too.
        environment: Says where the summary of a job of GitHub Actions is.
        observer: Gets a note of a derived file that could not be written.

    Raises:
        SetupError: A requested file cannot be written.
        UsageError: Both have one path, or that of a log.
    """
    if junit is not None and markdown is not None and junit.resolve() == markdown.resolve():
        raise UsageError(f"--junit and --markdown both name {junit}: give two different files")
    xml = render("verdict", "junit", [*parts, *scored])
    if junit is not None:
        write_output("--junit", junit, xml)
    if markdown is not None:
        write_output("--markdown", markdown, render("verdict", "md", parts))
    derived = folder / JUNIT
    if folder.is_dir() and (junit is None or junit.absolute() != derived.absolute()):
        _note(derived, lambda: write_whole(derived, xml.encode()), observer)
    if parts and (named := environment.get(SUMMARY)):
        _note(Path(named), lambda: _append(Path(named), render("verdict", "md", parts)), observer)


def write_output(option: str, path: Path, content: str) -> None:
    """Write the file of an option, whose folder is created."""
    require_no_log(option, path)
    try:
        if path.parent == OPEN_FILES:
            with os.fdopen(os.dup(int(path.name)), "w", encoding="utf-8") as file:
                file.write(content)
            return
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
    """Append to the summary of the step, up to the size that GitHub accepts."""
    from reporter.render.markdown import MOST_BYTES, fitting

    with path.open("a", encoding="utf-8") as file:
        file.write(fitting(summary, MOST_BYTES - file.tell()))
