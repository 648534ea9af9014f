"""The options of `loadgen run`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.endpoint_settings import seconds

MATRIX: Final = "Matrix"
OPTIONS: Final = "Options of the runs"
RESULT: Final = "Result"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """What can be said to `loadgen run`; field by field an option."""

    suite: Annotated[Path, typer.Argument(help="The suite: a .toml or .yaml file.", show_default=False)]

    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Check everything, print the runs, send nothing.", rich_help_panel=MATRIX
        ),
    ] = False
    model_filter: Annotated[
        list[str],
        typer.Option(
            metavar="GLOB", help="Only the models whose names match; repeatable.", rich_help_panel=MATRIX
        ),
    ] = field(default_factory=list)
    benchmark_filter: Annotated[
        list[str],
        typer.Option(metavar="GLOB", help="Likewise of benchmarks.", rich_help_panel=MATRIX),
    ] = field(default_factory=list)
    load_filter: Annotated[
        list[str],
        typer.Option(metavar="GLOB", help="Likewise of loads.", rich_help_panel=MATRIX),
    ] = field(default_factory=list)
    repeat: Annotated[
        int | None,
        typer.Option(metavar="N", help="Do each run so many times.", rich_help_panel=MATRIX),
    ] = None

    set: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="An option of loadgen perf for all runs, e.g. max-tokens=64; repeatable.",
            rich_help_panel=OPTIONS,
        ),
    ] = field(default_factory=list)
    requests: Annotated[
        int | None,
        typer.Option("--requests", "-n", help="The same as --set requests=N.", rich_help_panel=OPTIONS),
    ] = None
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            "-d",
            parser=seconds,
            metavar="TIME",
            help="The same as --set duration=TIME.",
            rich_help_panel=OPTIONS,
        ),
    ] = None

    cooldown: Annotated[
        float | None,
        typer.Option(
            parser=seconds, metavar="TIME", help="The pause between two runs.", rich_help_panel=RESULT
        ),
    ] = None
    stop_on_failure: Annotated[
        bool | None,
        typer.Option(
            help="End the suite after a run that is invalid or misses a requirement.",
            rich_help_panel=RESULT,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of all runs; runs/<time>-<name> by default.", rich_help_panel=RESULT),
    ] = None
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the summary, or the matrix, as JSON.", rich_help_panel=RESULT),
    ] = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=RESULT),
    ] = False
