"""`loadgen search`: the highest rate, or number of users, that meets the requirements."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError
from cli.failure_settings import share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.resume_settings import ResumeSettings
    from cli.series.options import Secrets
    from cli.series.series import Point, Series

SEARCH: Final = "Search"

REPLACED: Final = frozenset(
    {"offline", "stages", "trace", "trace_speed", "requests", "sessions", "passes", "repeats"}
    | {"duration", "stop_on_overload", "steady", "max_concurrency", "abort_on_fail"}
)
"""Options of `loadgen perf` that a search decides itself, or that would hide what it looks for."""

_SPAN: Final = re.compile(r"([0-9.e+]*?)\.\.([0-9.e+]*)")
_MOST: Final = {"rate": 100_000.0, "concurrency": 10_000.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """What can be said to `loadgen search` beside what `loadgen perf` takes."""

    require: Annotated[
        list[str],
        typer.Option(
            metavar="RULE",
            help="What is to be met, e.g. 'ttft:p(99)<2s'; repeatable.",
            rich_help_panel=SEARCH,
        ),
    ] = field(default_factory=list)
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            "-r",
            metavar="LOW..HIGH",
            help="Search a rate; either end can be left out. The default, from 1.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    concurrency: Annotated[
        str | None,
        typer.Option(
            "--concurrency",
            "-c",
            metavar="LOW..HIGH",
            help="Search a number of users in a closed loop instead.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    within: Annotated[
        float,
        typer.Option(
            parser=share,
            metavar="SHARE",
            show_default="3%",
            help="How near to each other what meets the requirements and what does not have to come.",
            rich_help_panel=SEARCH,
        ),
    ] = 0.03
    point_duration: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            show_default="12s",
            help="How long a thorough trial is at least; it is longer where answers take long, or where a "
            "percentile needs more requests.",
            rich_help_panel=SEARCH,
        ),
    ] = 12.0
    budget: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            show_default="15m",
            help="How long the search may take.",
            rich_help_panel=SEARCH,
        ),
    ] = 900.0
    cooldown: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            show_default="0",
            help="The pause between two trials.",
            rich_help_panel=SEARCH,
        ),
    ] = 0.0
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of all trials; runs/<time>-search by default.", rich_help_panel=SEARCH),
    ] = None
    json: Annotated[
        bool, typer.Option("--json", help="Print search.json instead of the table.", rich_help_panel=SEARCH)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=SEARCH)] = False

    def __post_init__(self) -> None:
        if self.rate is not None and self.concurrency is not None:
            raise UsageError("--rate and --concurrency contradict each other: a search is for one of them")
        if not 0.001 <= self.within <= 1:  # noqa: PLR2004 (a thousandth is nearer than any trial tells)
            raise UsageError(f"--within {self.within:g}: must be from 0.1% to 100%")
        if not 1 <= self.point_duration <= self.budget:
            raise UsageError(
                f"--point-duration {self.point_duration:g} s: must be at least 1 s, and no more than the "
                f"--budget of {self.budget:g} s"
            )

    @property
    def axis(self) -> str:
        """What is searched."""
        return "rate" if self.concurrency is None else "concurrency"


def search(settings: SearchSettings, perf: Mapping[str, Any]) -> None:
    """Find the highest rate, or number of users, that meets every requirement.

    Short trials bracket it; longer ones, repeated while chance could have made their verdict, narrow it down.
    An endpoint that falls behind the rate has missed, whatever its latencies are. Each trial is a run of its
    own, in one folder; [bold]loadgen resume FOLDER[/bold] goes on with a search that was interrupted. Exit 0
    when it was found, 1 when it is not within the bounds, 4 when the client was the limit, 5 when it is not
    clear.

    [bold]Examples[/bold]

    loadgen search --url $URL --model llama --require 'ttft:p(99)<2s' --require 'tpot:p(99)<80ms'

    loadgen search --url $URL --model llama --require 'latency:p(95)<10s' --concurrency 1..256 --json
    """
    from cli.searching.requirements import required_of
    from cli.series.options import Secrets
    from cli.series.series import Kind, Series, new_series_folder

    required_of(settings.require, perf["ruleset"], perf["scenario"], perf["model"], perf["skip"])
    low, high = _span(settings)
    secrets = Secrets(perf["api_key"], tuple(perf["header"]), perf["judge_api_key"])
    folder = new_series_folder(settings.out, "search")
    definition = {
        "axis": settings.axis,
        "low": low,
        "high": high,
        "within": settings.within,
        "point_s": settings.point_duration,
        "budget_s": settings.budget,
        "common": asdict(_common(settings, perf, low)),
    }
    series = Series(Kind.SEARCH, definition, (), settings.cooldown)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet)


def resume_search(folder: Path, series: Series, given: ResumeSettings) -> None:
    """Go on with a search; it has its whole budget again."""
    from cli.series.options import Secrets

    secrets = Secrets(given.api_key, tuple(given.header), given.judge_api_key)
    _conduct(folder, series, secrets, json=given.json, quiet=given.quiet)


def _common(settings: SearchSettings, perf: Mapping[str, Any], low: float) -> Point:
    """What all trials have in common, as a point of the lowest load."""
    from cli.perf_settings import PerfSettings
    from cli.series.options import point_of

    load = int(low) if settings.axis == "concurrency" else f"{low:g}"
    options = {**perf, "require": settings.require, settings.axis: load, "duration": settings.point_duration}
    return point_of("every trial", {}, PerfSettings(**options))


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool) -> None:
    import sys

    from cli.errors import printable
    from cli.searching.seeking import seek
    from cli.series.series import lay

    found = seek(folder, series, secrets, quiet=quiet)
    lay(folder / "search.json", found.to_dict())
    if json:
        sys.stdout.write((folder / "search.json").read_text())
    else:
        from cli.searching.table import table

        print(table(found), end="")
    if not quiet:
        print(f"\nThe search is in {printable(str(folder))}", file=sys.stderr)
    raise typer.Exit(found.exit_code)


def _span(settings: SearchSettings) -> tuple[float, float]:
    """The lowest and the highest load."""
    axis, text = settings.axis, settings.rate or settings.concurrency or ".."
    match = _SPAN.fullmatch(text.strip())
    try:
        low, high = (float(match[1] or 1), float(match[2] or _MOST[axis])) if match else (0.0, 0.0)
    except ValueError:
        low, high = 0.0, 0.0
    whole = axis == "rate" or (low.is_integer() and high.is_integer())
    if not (0 < low < high <= _MOST[axis] and whole):
        numbers = "numbers" if axis == "rate" else "whole numbers"
        raise UsageError(
            f"--{axis} {text}: write LOW..HIGH, two {numbers} above 0 and up to {_MOST[axis]:g}, the lower "
            "one first; either can be left out"
        )
    return low, high
