"""The options of `loadgen search`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.definition_options import OF_ONE_REPORT
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Rule, Seconds, Share
from loadgen.sessions.settings.option import Panel

SEARCH: Final = Panel("Search")


REPLACED: Final = frozenset(
    {"offline", "stages", "requests", "sessions", "passes", "repeats"}
    | {"duration", "stop_on_overload", "steady", "max_concurrency", "abort_on_fail"}
    | OF_ONE_REPORT
)
"""Options of `loadgen perf` that a search sets itself, or that would hide the limit."""


SPAN: Final = re.compile(r"([0-9.e+]*?)\.\.([0-9.e+]*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """The options of `loadgen search` in addition to those of `loadgen perf`."""

    require: list[Rule] = SEARCH.option("A target, e.g. 'ttft:p(99)<2s'; repeatable.", [])
    rate: str | None = SEARCH.option(
        "Search a rate; either end can be left out. The default, from 1.", flags="-- -r", metavar="LOW..HIGH"
    )
    concurrency: str | None = SEARCH.option(
        "Search a number of users in a closed loop instead.", flags="-- -c", metavar="LOW..HIGH"
    )
    within: Share = SEARCH.option(
        "The precision: how close the highest load that passes and the lowest that fails must be.", 0.03
    )
    point_duration: Seconds = SEARCH.option(
        "Minimum duration of a thorough trial; longer for long answers, or if a percentile needs more "
        "requests.",
        12.0,
        "-- -d",
    )
    budget: Seconds = SEARCH.option("The time budget of the search.", 900.0)
    cooldown: Seconds = SEARCH.option("The pause between two trials.", 0.0)
    out: Path | None = SEARCH.option("The folder of all trials; runs/<time>-search by default.")
    json: Json = False
    quiet: bool = SEARCH.switch("No progress.", "-q")

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
