"""The options of the output: where the result goes, and how much of it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

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
    summary: Summary = False
    verbose: Verbose = False
    json: Json = False
    quiet: Annotated[
        bool,
        Option("--quiet -q", help="No progress.", panel=RESULT),
    ] = False
