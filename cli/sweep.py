"""`loadgen sweep`: the same run for each value of an option, laid beside each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.resume_settings import ResumeSettings
    from cli.series.options import Secrets
    from cli.series.series import Point, Series

SWEEP: Final = "Sweep"


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepSettings:
    """What can be said to `loadgen sweep` beside what `loadgen perf` takes."""

    concurrency: Annotated[
        str | None,
        typer.Option(
            "--concurrency",
            "-c",
            metavar="N,N,…",
            help="Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP.",
            rich_help_panel=SWEEP,
        ),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            "-r",
            metavar="R,R,…",
            help="Open loop: a run for each of these rates, or FIRST:LAST:STEP.",
            rich_help_panel=SWEEP,
        ),
    ] = None
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="OPTION=V,V,…",
            help="A run for each value of any option, e.g. max-tokens=64,128; semicolons separate values "
            "that have commas in them. Repeatable: every combination.",
            rich_help_panel=SWEEP,
        ),
    ] = field(default_factory=list)
    cooldown: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="The pause between two runs.",
            show_default="0",
            rich_help_panel=SWEEP,
        ),
    ] = 0.0
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of all runs; runs/<time>-sweep by default.", rich_help_panel=SWEEP),
    ] = None
    plot: Annotated[
        bool,
        typer.Option("--plot", help="Draw pareto.svg; needs the extra `plot`.", rich_help_panel=SWEEP),
    ] = False
    json: Annotated[
        bool, typer.Option("--json", help="Print sweep.json instead of the table.", rich_help_panel=SWEEP)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=SWEEP)] = False


def sweep(settings: SweepSettings, perf: Mapping[str, Any]) -> None:
    """Run the same load for each value of an option, and lay the runs beside each other.

    Each point is a run of its own, in one folder; [bold]loadgen resume FOLDER[/bold] goes on with a sweep
    that was interrupted. The table has throughput (output tokens/s), interactivity (tokens/s that one user
    sees), their Pareto front, and its knee. The exit code is the gravest of the runs: 4 over 1 over 5 over
    0; what a ruleset demands of all runs together counts like one more.

    [bold]Examples[/bold]

    loadgen sweep --url $URL --model llama --concurrency 1,2,4,8,16,32 -n 200 --cooldown 5s

    loadgen sweep --url $URL --model llama --rate 5:50:5 --duration 60s --plot

    loadgen sweep --url $URL --model llama -c 4,16 --vary max-tokens=64,256
    """
    from cli.series.options import Secrets
    from cli.series.series import Kind, Series, new_series_folder
    from cli.sweeping.points import points_of

    secrets = Secrets(perf["api_key"], tuple(perf["header"]), perf["judge_api_key"])
    points = points_of(settings, perf)
    _require_plot(wanted=settings.plot)
    folder = new_series_folder(settings.out, "sweep")
    series = Series(Kind.SWEEP, {"plot": settings.plot}, points, settings.cooldown)
    _require_sound(points, secrets)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet)


def resume_sweep(folder: Path, series: Series, given: ResumeSettings) -> None:
    """Run the points of a sweep that have not been run to their end."""
    from cli.series.options import Secrets

    secrets = Secrets(given.api_key, tuple(given.header), given.judge_api_key)
    _require_plot(wanted=series.definition["plot"])
    _require_sound(series.points, secrets)
    _conduct(folder, series, secrets, json=given.json, quiet=given.quiet)


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool) -> None:
    import sys

    from cli.errors import printable
    from cli.gating.outcome import gravest
    from cli.gating.together import told_of
    from cli.series.running import run_series
    from cli.sweeping.result import lay, show

    ended = run_series(folder, series, lambda _: secrets, quiet=quiet)
    if ended.interrupted:
        raise typer.Exit(ended.exit_code)
    lay(folder, ended.outcomes, plot=series.definition["plot"])
    show(folder, ended.outcomes, json=json)
    together = told_of(folder, ended.outcomes, quiet=json)
    if not quiet:
        print(f"\nThe sweep is in {printable(str(folder))}", file=sys.stderr)
    raise typer.Exit(gravest([ended.exit_code, together]))


def _require_sound(points: tuple[Point, ...], secrets: Secrets) -> None:
    from cli.series.options import check

    check(points, lambda _: secrets)


def _require_plot(*, wanted: bool) -> None:
    from importlib.util import find_spec

    if wanted and find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'llm-loadgen[plot]'")
