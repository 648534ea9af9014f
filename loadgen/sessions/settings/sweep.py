"""The options of `loadgen sweep`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option

SWEEP: Final = "Sweep"


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepSettings:
    """The options of `loadgen sweep` in addition to those of `loadgen perf`."""

    concurrency: Annotated[
        str | None,
        Option(
            "--concurrency -c",
            metavar="N,N,…",
            help="Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP.",
            panel=SWEEP,
        ),
    ] = None
    rate: Annotated[
        str | None,
        Option(
            "--rate -r",
            metavar="R,R,…",
            help="Open loop: a run for each of these rates, or FIRST:LAST:STEP.",
            panel=SWEEP,
        ),
    ] = None
    vary: Annotated[
        list[str],
        Option(
            metavar="OPTION=V,V,…",
            help="One run for each value of any option, e.g. max-tokens=64,128; separate values that "
            "contain commas by semicolons. Repeatable: every combination.",
            panel=SWEEP,
        ),
    ] = field(default_factory=list)
    cooldown: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="The pause between two runs.",
            show_default="0",
            panel=SWEEP,
        ),
    ] = 0.0
    out: Annotated[
        Path | None,
        Option(help="The folder of all runs; runs/<time>-sweep by default.", panel=SWEEP),
    ] = None
    plot: Annotated[
        bool,
        Option("--plot", help="Draw pareto.svg; needs the extra `plot`.", panel=SWEEP),
    ] = False
    json: Json = False
    quiet: Annotated[bool, Option("--quiet -q", help="No progress.", panel=SWEEP)] = False
