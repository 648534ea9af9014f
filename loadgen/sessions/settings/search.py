"""The options of `loadgen search`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.definitions import OF_ONE_REPORT
from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.failures import share
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.task_names import canonical_rule

SEARCH: Final = "Search"


REPLACED: Final = frozenset(
    {"offline", "stages", "trace", "trace_speed", "trace_format", "requests", "sessions", "passes", "repeats"}
    | {"duration", "stop_on_overload", "steady", "max_concurrency", "abort_on_fail"}
    | OF_ONE_REPORT
)
"""Options of `loadgen perf` that a search sets itself, or that would hide the limit."""


SPAN: Final = re.compile(r"([0-9.e+]*?)\.\.([0-9.e+]*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """The options of `loadgen search` in addition to those of `loadgen perf`."""

    require: Annotated[
        list[str],
        Option(
            parser=canonical_rule,
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<2s'; repeatable.",
            panel=SEARCH,
        ),
    ] = field(default_factory=list)
    rate: Annotated[
        str | None,
        Option(
            "--rate -r",
            metavar="LOW..HIGH",
            help="Search a rate; either end can be left out. The default, from 1.",
            panel=SEARCH,
        ),
    ] = None
    concurrency: Annotated[
        str | None,
        Option(
            "--concurrency -c",
            metavar="LOW..HIGH",
            help="Search a number of users in a closed loop instead.",
            panel=SEARCH,
        ),
    ] = None
    within: Annotated[
        float,
        Option(
            parser=share,
            metavar="SHARE",
            show_default="3%",
            help="The precision: how close the highest load that passes and the lowest that fails must be.",
            panel=SEARCH,
        ),
    ] = 0.03
    point_duration: Annotated[
        float,
        Option(
            "--point-duration -d",
            parser=seconds,
            metavar="TIME",
            show_default="12s",
            help="Minimum duration of a thorough trial; longer for long answers, or if a percentile "
            "needs more requests.",
            panel=SEARCH,
        ),
    ] = 12.0
    budget: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            show_default="15m",
            help="The time budget of the search.",
            panel=SEARCH,
        ),
    ] = 900.0
    cooldown: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            show_default="0",
            help="The pause between two trials.",
            panel=SEARCH,
        ),
    ] = 0.0
    out: Annotated[
        Path | None,
        Option(help="The folder of all trials; runs/<time>-search by default.", panel=SEARCH),
    ] = None
    json: Json = False
    quiet: Annotated[bool, Option("--quiet -q", help="No progress.", panel=SEARCH)] = False

    def __post_init__(self) -> None:
        if self.rate is not None and self.concurrency is not None:
            raise UsageError("--rate and --concurrency contradict each other: give only one")
        if not 0.001 <= self.within <= 1:  # noqa: PLR2004 (a thousandth is nearer than any trial tells)
            raise UsageError(f"--within {self.within:g}: must be from 0.1% to 100%")
        if not 1 <= self.point_duration <= self.budget:
            raise UsageError(
                f"--point-duration {self.point_duration:g} s: must be at least 1 s, and no more than the "
                f"--budget of {self.budget:g} s"
            )

    @property
    def axis(self) -> str:
        """The searched option."""
        return "rate" if self.concurrency is None else "concurrency"
