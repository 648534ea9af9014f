"""The options of `loadgen run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import RESULT, Argument, Panel
from loadgen.sessions.settings.output import NoLive

MATRIX: Final = Panel("Matrix")
OPTIONS: Final = Panel("Options of the runs")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """The options of `loadgen run`, one per field."""

    suite: Annotated[
        Path | None, Argument(help="The suite: a .toml or .yaml file. Omit with --all.", show_default=False)
    ] = None

    all: bool = MATRIX.switch(
        "Every benchmark that can be asked here, of --model. -n draws N questions of each, and the folder "
        "gets BENCHMARK_MODEL.jsonl of each."
    )
    model: str | None = MATRIX.option("With --all: the model.", metavar="NAME")
    url: str | None = MATRIX.option("With --all: the endpoint.", metavar="URL")
    dry_run: bool = MATRIX.switch("Check everything, print the runs, send nothing.")
    model_filter: list[str] = MATRIX.option(
        "Only models with this name, this text in the name, or a matching glob; repeatable.",
        [],
        metavar="NAME",
    )
    benchmark_filter: list[str] = MATRIX.option(
        "Only benchmarks with this name, this text in the name, or a matching glob; repeatable.",
        [],
        metavar="NAME",
    )
    load_filter: list[str] = MATRIX.option(
        "Only loads with this name, this text in the name, or a matching glob; repeatable.",
        [],
        metavar="NAME",
    )
    repeat: int | None = MATRIX.option("Repeat each run N times.")

    set: list[str] = OPTIONS.option(
        "An option of loadgen perf for all runs, e.g. max-tokens=64; repeatable.", [], metavar="KEY=VALUE"
    )
    requests: int | None = OPTIONS.option("Short for --set requests=N; with --all, samples=N.", flags="-- -n")
    duration: Seconds | None = OPTIONS.option("Short for --set duration=TIME.", flags="-- -d")

    cooldown: Seconds | None = RESULT.option("The pause between two runs.")
    stop_on_failure: bool | None = RESULT.option(
        "End the suite after a run that is invalid or misses a requirement."
    )
    out: Path | None = RESULT.option("The folder of all runs; runs/<time>-<name> by default.")
    compact: bool = RESULT.switch("One table with a row per run, including scores.")
    json: Json = False
    quiet: bool = RESULT.switch("No progress.", "-q")
    no_live: NoLive = False

    def __post_init__(self) -> None:
        if self.all == (self.suite is not None):
            raise UsageError("name a suite, or every benchmark with --all --model NAME: one of the two")
        if not self.all and (self.model or self.url):
            raise UsageError("--model and --url apply to --all: a suite names its models and their endpoints")
