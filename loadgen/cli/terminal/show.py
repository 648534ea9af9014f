"""Printing: as wide as the terminal and in color on one, plain and of a fixed width elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from loadgen.cli.terminal.github import on_github
from loadgen.sessions.formats import FORMATS, render

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.formats import Subject

PLAIN_WIDTH: Final = 100
_WIDEST: Final = 140


def show_as(subject: Subject, form: str, value: Any, output: Path | None, **options: Any) -> None:
    """Print a value in a format, or write the value to a file."""
    if output is None:
        print_as(subject, form, value, **options)
        return
    from loadgen.sessions.gating.outputs import write_output

    write_output("--output", output, render(subject, form, value, **options))


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
