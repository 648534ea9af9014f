"""Printing: as wide as the terminal and in color on one, plain and of a fixed width elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from loadgen.cli.terminal.github import on_github
from loadgen.sessions.formats import FORMATS, TEXT, render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.formats import Subject
    from reporter.render.named_verdict import NamedVerdict
    from reporter.report import Report

PLAIN_WIDTH: Final = 100
_WIDEST: Final = 140


def show(report: Report, *, form: str = TEXT, output: Path | None = None, **options: Any) -> None:
    """Print a report in a format of `loadgen.sessions.formats`, or write the report to a file."""
    show_as("report", form, report, output, **options)


def show_as(subject: Subject, form: str, value: Any, output: Path | None, **options: Any) -> None:
    """Print a value in a format, or write the value to a file."""
    if output is None:
        print_as(subject, form, value, **options)
        return
    from loadgen.sessions.gating.outputs import write_output

    write_output("--output", output, render(subject, form, value, **options))


def show_verdicts(parts: Sequence[NamedVerdict], *, form: str = TEXT, **options: Any) -> None:
    """Print verdicts on standard output; of several runs a line each, unless full output is requested."""
    print_as("verdict", form, parts, **options)


def print_as(subject: Subject, form: str, value: Any, **options: Any) -> None:
    """Print text that may quote a server; on GitHub Actions without commands for the runner."""
    text = render(subject, form, value, **options, **page())
    if on_github() and FORMATS[form].is_quoted:
        from reporter.render.annotations import inert

        text = inert(text)
    sys.stdout.write(text)


def page() -> dict[str, Any]:
    """Width and color for where the output goes."""
    if not sys.stdout.isatty():
        return {"width": PLAIN_WIDTH, "color": False}
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return {"width": width, "color": "NO_COLOR" not in os.environ}
