"""Where a verdict goes besides the console: JUnit XML, Markdown, and what GitHub Actions shows."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli.errors import SetupError, UsageError, printable
from cli.run_folder import require_no_log
from cli.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reporter.render.judged import Judged

JUNIT: Final = "junit.xml"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
_ON_GITHUB: Final = "GITHUB_ACTIONS"


def on_github(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a job of GitHub Actions, whose runner reads commands out of all output."""
    return environment.get(_ON_GITHUB) == "true"


def tell(
    parts: Sequence[Judged],
    folder: Path,
    *,
    junit: Path | None = None,
    markdown: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Lay junit.xml beside the report, and tell whoever else is there to be told.

    A file that was asked for by name must come to be. One that nobody named is derived like `report.json`:
    where it cannot be written, a note says so.

    Args:
        parts: The verdicts.
        folder: Of the run, or of the series.
        junit: Where JUnit XML was asked for.
        markdown: Where a summary was asked for.
        environment: Says whether this is GitHub Actions, and where its summary is.

    Raises:
        SetupError: A file that was asked for cannot be written.
        UsageError: Both were asked for in one place, or in that of a log.
    """
    if junit is not None and markdown is not None and junit.resolve() == markdown.resolve():
        raise UsageError(f"--junit and --markdown both name {junit}: give each a file of its own")
    from reporter.render import annotations
    from reporter.render.junit import render as as_junit
    from reporter.render.markdown import render as as_markdown

    xml, summary = as_junit(parts), as_markdown(parts)
    for option, path, content in (("--junit", junit, xml), ("--markdown", markdown, summary)):
        if path is not None:
            require_no_log(option, path)
            lay(option, path, content)
    derived = folder / JUNIT
    if junit is None or junit.absolute() != derived.absolute():
        _note(derived, lambda: write_whole(derived, xml.encode()))
    if named := environment.get(SUMMARY):
        _note(Path(named), lambda: _append(Path(named), summary))
    if on_github(environment):
        sys.stderr.write(annotations.render(parts))


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


def _note(path: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        sys.stderr.write(f"note: {printable(str(path))} was not written ({error.strerror})\n")


def _append(path: Path, summary: str) -> None:
    """Add to what other commands of the step have written; GitHub takes only so much of it in all."""
    from reporter.render.markdown import MOST_BYTES, fitting

    with path.open("a", encoding="utf-8") as file:
        file.write(fitting(summary, MOST_BYTES - file.tell()))
