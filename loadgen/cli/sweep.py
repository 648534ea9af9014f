"""`loadgen sweep`: one run for each value of an option, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.settings.resume import ResumeSettings
    from loadgen.sessions.settings.sweep import SweepSettings


def sweep(settings: SweepSettings, perf: Mapping[str, Any]) -> None:
    """Run one load for each value of an option, and show the runs in one table.

    Each point is a separate run, in one folder; [bold]loadgen resume FOLDER[/bold] continues an
    interrupted sweep. The table has throughput (output tok/s), interactivity (tok/s that one user
    sees), their Pareto front, and its knee. The exit code is the most severe of the runs: 4 over 1 over
    5 over 0; rules over all runs together count like one more run.

    [bold]Examples[/bold]

    loadgen sweep --url $URL --model llama --concurrency 1,2,4,8,16,32 -n 200 --cooldown 5s

    loadgen sweep --url $URL --model llama --rate 5:50:5 --duration 60s --plot

    loadgen sweep --url $URL --model llama -c 4,16 --vary max-tokens=64,256
    """
    from loadgen.sessions.series.sweep.run_sweep import new_sweep

    _conduct(*new_sweep(settings, perf), json=settings.json, quiet=settings.quiet, live=not perf["no_live"])


def resume_sweep(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Run the points of a sweep that are not complete."""
    from loadgen.sessions.series.point_options import Secrets

    secrets = Secrets(settings.api_key, tuple(settings.header), settings.judge_api_key)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet, live=not settings.no_live)


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool, live: bool) -> None:
    import sys

    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.cli.terminal.show import publish_series_verdicts
    from loadgen.sessions.errors import printable
    from loadgen.sessions.series.sweep.run_sweep import run_sweep
    from loadgen.sessions.series.sweep.sweep_files import SWEEP
    from loadgen.sessions.settings.verdict_options import most_severe

    ended = run_sweep(folder, series, secrets, Terminal(quiet=quiet, live=live))
    if ended.interrupted:
        raise SystemExit(ended.exit_code)
    if json:
        sys.stdout.write((folder / SWEEP).read_text())
    else:
        from loadgen.cli.terminal.series_table import sweep_tables

        sys.stdout.write(sweep_tables(ended.outcomes))
    together = publish_series_verdicts(folder, ended.outcomes, quiet=json)
    if not quiet:
        print(f"\nThe sweep is in {printable(str(folder))}", file=sys.stderr)
    raise SystemExit(most_severe([ended.exit_code, together]))
