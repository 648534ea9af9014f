"""The options of `loadgen sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel

SWEEP: Final = Panel("Sweep")


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepSettings:
    """The options of `loadgen sweep` in addition to those of `loadgen perf`."""

    concurrency: str | None = SWEEP.option(
        "Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP.",
        flags="-- -c",
        metavar="N,N,…",
    )
    rate: str | None = SWEEP.option(
        "Open loop: a run for each of these rates, or FIRST:LAST:STEP.", flags="-- -r", metavar="R,R,…"
    )
    vary: list[str] = SWEEP.option(
        "One run for each value of any option, e.g. max-tokens=64,128; separate values that contain "
        "commas by semicolons. Repeatable: every combination.",
        [],
        metavar="OPTION=V,V,…",
    )
    cooldown: Seconds = SWEEP.option("The pause between two runs.", 0.0)
    out: Path | None = SWEEP.option("The folder of all runs; runs/<time>-sweep by default.")
    plot: bool = SWEEP.switch("Draw pareto.svg; needs the extra `plot`.")
    json: Json = False
    quiet: bool = SWEEP.switch("No progress.", "-q")
