"""The options of the output: where the result goes, and how much of it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from loadgen.sessions.settings.definitions import Summary, Verbose
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import RESULT, Option


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputSettings:
    """Options of the output."""

    out: Annotated[
        Path | None,
        Option(help="Folder of the run. Default: runs/<time>-<model>.", panel=RESULT),
    ] = None
    sample_results: Annotated[
        Literal["jsonl", "csv", "parquet"] | None,
        Option(
            help="Write a row per request into the run's folder: samples.jsonl, .csv or .parquet.",
            panel=RESULT,
        ),
    ] = None
    summary: Summary = False
    verbose: Verbose = False
    json: Json = False
    quiet: Annotated[
        bool,
        Option("--quiet -q", help="No progress.", panel=RESULT),
    ] = False
    no_live: Annotated[
        bool,
        Option(
            "--no-live",
            help="On a terminal, too, a line of progress every few seconds, not a block that is rewritten.",
            panel=RESULT,
        ),
    ] = False
