"""Printing: as wide as the terminal and in colour on one, plain and of a fixed width elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.report import Report

PLAIN_WIDTH: Final = 100
_WIDEST: Final = 140


def show(report: Report, *, summary_only: bool = False, by: Sequence[str] = ()) -> None:
    """Print the console report on standard output."""
    from reporter.render.console import render

    sys.stdout.write(render(report, summary_only=summary_only, by=by, **page()))


def show_verdict(verdict: Mapping[str, Any]) -> None:
    """Print a verdict on standard output."""
    from reporter.render.verdict import render

    sys.stdout.write(render(verdict, **page()))


def program() -> str:
    """How the user can start this program again: by its name where that is found, else by its path."""
    return "loadgen" if shutil.which("loadgen") else sys.argv[0]


def page() -> dict[str, Any]:
    """Width and colour for where the output goes."""
    if not sys.stdout.isatty():
        return {"width": PLAIN_WIDTH, "color": False}
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return {"width": width, "color": "NO_COLOR" not in os.environ}
