"""The verdicts of a command: files, annotations of GitHub Actions, and the terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from loadgen.cli.terminal.github import on_github
from loadgen.cli.terminal.observer import Terminal
from loadgen.cli.terminal.show import print_as
from loadgen.sessions.formats import TEXT, render
from loadgen.sessions.gating.outputs import write_verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.render.named_verdict import NamedVerdict


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
    """Write the verdicts of a completed series, including the rules over all runs.

    Args:
        folder: The folder of the series.
        outcomes: The outcomes of its runs.
        quiet: Print nothing.

    Returns:
        The exit code of the rules over all runs.
    """
    from loadgen.sessions.series.sweep_evidence import verdicts_of

    verdicts = verdicts_of(outcomes)
    if verdicts.parts or verdicts.scored:
        publish_verdicts(verdicts.parts, folder, scored=verdicts.scored)
    if verdicts.together and not quiet:
        print_as("verdict", TEXT, verdicts.together)
    return verdicts.exit_code
