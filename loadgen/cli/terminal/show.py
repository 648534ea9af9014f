"""Printing: as wide as the terminal and in colour on one, plain and of a fixed width elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.render.judged import NamedVerdict
    from reporter.report import Report

PLAIN_WIDTH: Final = 100
_WIDEST: Final = 140


def show(
    report: Report, *, summary_only: bool = False, verbose: bool = False, by: Sequence[str] = ()
) -> None:
    """Print the console report on standard output."""
    from reporter.render.console import render

    _write(render(report, summary_only=summary_only, verbose=verbose, by=by, **page()))


def show_verdicts(parts: Sequence[NamedVerdict], *, full: bool = False) -> None:
    """Print verdicts on standard output; of several runs a line each, unless all of it is asked for."""
    from reporter.render.verdict import render

    _write(render(parts, full=full, **page()))


def _write(text: str) -> None:
    """Print what may quote a server: on GitHub Actions without what its runner takes for a command."""
    from loadgen.cli.terminal.github import on_github
    from reporter.render.annotations import inert

    sys.stdout.write(inert(text) if on_github() else text)


def page() -> dict[str, Any]:
    """Width and colour for where the output goes."""
    if not sys.stdout.isatty():
        return {"width": PLAIN_WIDTH, "color": False}
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return {"width": width, "color": "NO_COLOR" not in os.environ}
