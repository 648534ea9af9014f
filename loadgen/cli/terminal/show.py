"""Printing: as wide as the terminal and in color on one, plain and of a fixed width elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.sessions.formats import TEXT, Subject, format_facts, render
from loadgen.sessions.gating.outputs import write_output, write_verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.render.named_verdict import NamedVerdict

_ON_GITHUB: Final = "GITHUB_ACTIONS"


def on_github(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a job of GitHub Actions."""
    return environment.get(_ON_GITHUB) == "true"


PLAIN_WIDTH: Final = 100
_WIDEST: Final = 140


def show_as(subject: Subject, form: str, value: Any, output: Path | None, **options: Any) -> None:
    """Print a value in a format, or write the value to a file."""
    if output is None:
        print_as(subject, form, value, **options)
        return

    write_output("--output", output, render(subject, form, value, **options))


def print_as(subject: Subject, form: str, value: Any, **options: Any) -> None:
    """Print text that may quote a server; on GitHub Actions without commands for the runner."""
    text = render(subject, form, value, **options, **page())
    if on_github() and format_facts(form).is_quoted:
        from reporter.render.annotations import inert

        text = inert(text)
    sys.stdout.write(text)


def page() -> dict[str, Any]:
    """Width and color for where the output goes."""
    if not sys.stdout.isatty():
        return {"width": PLAIN_WIDTH, "color": False}
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return {"width": width, "color": "NO_COLOR" not in os.environ}


def publish_verdicts(
    parts: Sequence[NamedVerdict],
    folder: Path,
    *,
    junit: Path | None = None,
    markdown: Path | None = None,
    scored: Sequence[NamedVerdict] = (),
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Write the files of verdicts, and on GitHub Actions annotations; see `write_verdicts`."""
    write_verdicts(
        parts,
        folder,
        junit=junit,
        markdown=markdown,
        scored=scored,
        environment=environment,
        observer=Terminal(),
    )
    if parts and on_github(environment):
        sys.stderr.write(render("verdict", "github", parts))


def publish_series_verdicts(folder: Path, outcomes: Sequence[PointOutcome], *, quiet: bool) -> int:
    """Write the verdicts of a completed series, including the rules over all runs."""
    from loadgen.sessions.series.sweep_evidence import verdicts_of

    verdicts = verdicts_of(outcomes)
    if verdicts.parts or verdicts.scored:
        publish_verdicts(verdicts.parts, folder, scored=verdicts.scored)
    if verdicts.together and not quiet:
        print_as("verdict", TEXT, verdicts.together)
    return verdicts.exit_code
