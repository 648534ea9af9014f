"""The options of `loadgen run`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.output import NoLive

MATRIX: Final = "Matrix"
OPTIONS: Final = "Options of the runs"
RESULT: Final = "Result"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """The options of `loadgen run`, one per field."""

    suite: Annotated[
        Path | None, Argument(help="The suite: a .toml or .yaml file. Omit with --all.", show_default=False)
    ] = None

    all: Annotated[
        bool,
        Option(
            "--all",
            help="Every benchmark that can be asked here, of --model. -n draws N questions of each, and the "
            "folder gets BENCHMARK_MODEL.jsonl of each.",
            panel=MATRIX,
        ),
    ] = False
    model: Annotated[str | None, Option(metavar="NAME", help="With --all: the model.", panel=MATRIX)] = None
    url: Annotated[str | None, Option(metavar="URL", help="With --all: the endpoint.", panel=MATRIX)] = None
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Check everything, print the runs, send nothing.", panel=MATRIX),
    ] = False
    model_filter: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="Only models with this name, this text in the name, or a matching glob; repeatable.",
            panel=MATRIX,
        ),
    ] = field(default_factory=list)
    benchmark_filter: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="Only benchmarks with this name, this text in the name, or a matching glob; repeatable.",
            panel=MATRIX,
        ),
    ] = field(default_factory=list)
    load_filter: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="Only loads with this name, this text in the name, or a matching glob; repeatable.",
            panel=MATRIX,
        ),
    ] = field(default_factory=list)
    repeat: Annotated[
        int | None,
        Option(metavar="N", help="Repeat each run N times.", panel=MATRIX),
    ] = None

    set: Annotated[
        list[str],
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="An option of loadgen perf for all runs, e.g. max-tokens=64; repeatable.",
            panel=OPTIONS,
        ),
    ] = field(default_factory=list)
    requests: Annotated[
        int | None,
        Option("--requests -n", help="Short for --set requests=N; with --all, samples=N.", panel=OPTIONS),
    ] = None
    duration: Annotated[
        float | None,
        Option(
            "--duration -d",
            parser=seconds,
            metavar="TIME",
            help="Short for --set duration=TIME.",
            panel=OPTIONS,
        ),
    ] = None

    cooldown: Annotated[
        float | None,
        Option(parser=seconds, metavar="TIME", help="The pause between two runs.", panel=RESULT),
    ] = None
    stop_on_failure: Annotated[
        bool | None,
        Option(
            help="End the suite after a run that is invalid or misses a requirement.",
            panel=RESULT,
        ),
    ] = None
    out: Annotated[
        Path | None,
        Option(help="The folder of all runs; runs/<time>-<name> by default.", panel=RESULT),
    ] = None
    compact: Annotated[
        bool, Option("--compact", help="One table with a row per run, including scores.", panel=RESULT)
    ] = False
    json: Json = False
    quiet: Annotated[
        bool,
        Option("--quiet -q", help="No progress.", panel=RESULT),
    ] = False
    no_live: NoLive = False

    def __post_init__(self) -> None:
        if self.all == (self.suite is not None):
            raise UsageError("name a suite, or every benchmark with --all --model NAME: one of the two")
        if not self.all and (self.model or self.url):
            raise UsageError("--model and --url apply to --all: a suite names its models and their endpoints")
